#!/bin/bash
# The rules of CONTRIBUTING.md that a script can check. Usage: check_style.sh SOURCE_DIR. Prints each offence; exit 1 if any.
cd "${1:-$(dirname "$0")/../..}" || exit 2

# Tracked files; without git (a release archive) whatever is there.
if git rev-parse --git-dir >/dev/null 2>&1; then
    mapfile -t all < <(git ls-files | while read -r f; do [ -f "$f" ] && echo "$f"; done)
else
    mapfile -t all < <(find . -path ./build -prune -o -type f -print | sed 's|^\./||' | sort)
fi
sources=()
for f in "${all[@]}"; do
    case $f in *.c | *.h) sources+=("$f") ;; esac
done
bad=0

# offence LINES: print what a check found, if anything.
offence() {
    [ -z "$2" ] && return
    echo "== $1"
    printf '%s\n' "$2"
    bad=1
}

# A function is what stands between { and } in the first column.
offence "functions of more than 70 lines" "$(awk '
    /^\{/ { start = FNR }
    /^\}/ { if (start && FNR - start - 1 > 70) print FILENAME ":" start ": " FNR - start - 1 " lines"; start = 0 }
    FNR == 1 { start = 0 }' "${sources[@]}")"

offence "lines of more than 120 columns" "$(LC_ALL=C.UTF-8 awk '
    /clang-format off/ { off = 1 } /clang-format on/ { off = 0 } FNR == 1 { off = 0 }
    !off && length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' "${sources[@]}")"

offence "file names that are not unique" "$(printf '%s\n' "${sources[@]}" | sed 's|.*/||' | sort | uniq -d)"

offence "words that promise work" "$(grep -nwE 'T[O]DO|F[I]XME|X[X]X|H[A]CK' "${sources[@]}" \
    $(printf '%s\n' "${all[@]}" | grep -E '\.(sh|py|cmake|cfg|md|gp)$|CMakeLists.txt$|^bootstrap$' | grep -v '^tests/style/'))"

offence "typedefs of structs, or calls that end the process in a library" "$(
    grep -nE '^typedef (struct|union)' "${sources[@]}"
    grep -nE '\b(exit|_exit|abort|printf|puts|perror)\(' $(printf '%s\n' "${sources[@]}" | grep -E '^(sim|models)/') |
        grep -vE 'sim/core/bug\.c|__attribute__|_exit\(|([a-z_.]|->)(exit|abort|printf|puts)\(|^\S+\s*[/ ]\*')"

# "37.2 %", with a blank, everywhere; only what imitates the tables of benchstat, mmtests and perf writes as they do.
offence "percentages without a blank" "$(grep -nE '(%[-+.*0-9]*l*[diufg]|[0-9])%%' \
    $(printf '%s\n' "${sources[@]}" | grep -E '^(sim|cli|validate|plots|models)/' |
        grep -vE 'compare_styles\.c|profile_table\.c'))"

# Who may include whose private headers; wakebal/*.h is open to all.
allowed() {
    case $1 in
    sim/core) echo "sim/core" ;;
    sim/machine | sim/trace | sim/measure) echo "sim/core $1" ;;
    sim/kernel) echo "sim/core sim/machine sim/measure sim/trace sim/kernel" ;;
    sim/scenario) echo "sim/core sim/scenario" ;;
    sim/experiment) echo "sim/core sim/machine sim/measure sim/trace sim/kernel sim/scenario sim/experiment" ;;
    models/workload) echo "models/workload models/ipc" ;;
    models/*) echo "$1" ;;
    plots) echo "plots sim/experiment sim/core" ;;
    validate) echo "validate sim/experiment models/sched models/ipc models/workload" ;;
    cli) echo "cli plots validate models/sched models/ipc models/workload sim/experiment sim/scenario sim/core" ;;
    sim/include/wakebal) echo "" ;;
    *) echo "any" ;;
    esac
}
declare -A home
for f in "${sources[@]}"; do
    case $f in *.h) home[${f##*/}]=${f%/*} ;; esac
done
includes=$(for f in "${sources[@]}"; do
    may=$(allowed "${f%/*}")
    [ "$may" = any ] && continue
    grep -noE '^#include "[^"]+"' "$f" | while IFS=: read -r line text; do
        name=${text#*\"}
        name=${name%\"}
        case $name in wakebal/*) continue ;; esac
        where=${home[${name##*/}]}
        [ -z "$where" ] && where=unknown
        case " $may " in *" $where "*) ;; *) echo "$f:$line: includes $name of $where" ;; esac
    done
done)
offence "includes that point upward" "$includes"

# only_in HEADER-PATTERN FOLDERS: the library behind the header stays in these folders.
only_in() {
    grep -nE "^#include <$1" "${sources[@]}" | grep -vE "^($2|tests)[/.]"
}
offence "foreign libraries out of their place" "$(
    only_in 'gsl/' 'sim/measure|sim/experiment|validate'
    only_in 'sqlite3\.h|omp\.h' 'sim/experiment'
    only_in 'mpi\.h' 'cli/mpi_main'
    only_in 'libconfig\.h' 'sim/scenario'
    only_in 'hwloc' 'sim/machine|validate'
    only_in 'jansson\.h' 'sim/experiment|sim/scenario|plots|validate|cli')"

if command -v python3 >/dev/null; then
    offence "side effects in arguments that a macro evaluates more than once" "$(
        python3 tests/style/macro_arguments.py "${sources[@]}" 2>&1)"
else
    echo "python3 is not here: arguments of macros were not checked"
fi

# The picture of the house names files that are there.
offence "files in docs/architecture.md that do not exist" "$(
    grep -oE '`[a-z0-9_/*-]+\.(c|h|sh)`' docs/architecture.md | tr -d '`' | sort -u | while read -r name; do
        found=$(printf '%s\n' "${all[@]}" | while read -r f; do
            case $f in $name | */$name) echo "$f" && break ;; esac
        done)
        [ -n "$found" ] || echo "$name"
    done)"

offence "paths and documents of somebody's machine" "$(grep -nE '/(work|home|root)/[a-z]' "${all[@]}" 2>/dev/null |
    grep -vE '^tests/style/|^tests/(bad|fuzz|golden)/|^Binary|^LICENSE')"

if command -v clang-format >/dev/null && clang-format --version | grep -q 'version 14\.'; then
    offence "not as clang-format 14 writes it (tests/style/format.sh does it)" "$(
        clang-format --dry-run "${sources[@]}" 2>&1 | grep 'warning: code should be' | cut -d: -f1 | sort | uniq -c)"
else
    echo "clang-format 14 is not here: the layout was not checked"
fi
[ $bad = 0 ] && echo "${#sources[@]} C files in good order"
exit $bad
