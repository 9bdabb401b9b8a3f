# lib_experiment.sh - helpers of the tests of run, reproduce, plot and bench. Sourced.
set -u
w=${WAKEBAL:?}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
quick="-q -r 2 --duration 20ms --warmup none"

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}
# code WANTED COMMAND...: the exit code is as wanted. Output in $tmp/out and $tmp/err.
code() {
    local want=$1
    shift
    "$@" >"$tmp/out" 2>"$tmp/err"
    local got=$?
    [ $got = "$want" ] || { fail "exit $got, not $want: $*"; head -5 "$tmp/err" >&2; }
}
# has FILE TEXT: the file holds the text.
has() {
    grep -qF -- "$2" "$1" || { fail "no '$2' in $1"; head -20 "$1" >&2; }
}
hasnt() {
    grep -qF -- "$2" "$1" && fail "'$2' in $1"
}
finish() {
    [ $failures = 0 ] && exit 0
    echo "$failures failures" >&2
    exit 1
}
