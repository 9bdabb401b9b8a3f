#!/bin/bash
# Who types the commands of README.md in a clone finds it clean afterwards: git ignores what they write.
set -u
source=${WB_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 1
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "no clone of git: nothing to see"; exit 77; }
commands=$(sed -n '/^## First steps/,/^A scenario joins/p' README.md | grep '^build/release/wakebal' | sed 's/ *#.*//')
[ "$(echo "$commands" | wc -l)" -ge 15 ] || { echo "the commands of README.md are not where they were"; exit 1; }

# The files of a command: after -o, after >, and of `new KIND NAME` in the kind's form.
written() {
    echo "$commands" | sed -nE 's/.* -o ([^ ]+).*/\1/p; s/.*> ([^ ]+)$/\1/p; s/.* new policy ([^ ]+).*/\1\/\1.c/p; s/.* new (scenario|machine|kernel|workload) ([^ ]+).*/\2.cfg/p' |
        while read -r name; do
            case $name in
            */*.c) echo "$name" ;;
            */) echo "$name" "${name}result.json" ;;
            *.png) echo "$name" "${name%.png}.gp" "${name%.png}.dat" ;;
            *.*) echo "$name" ;;
            *) echo "$name-machine.cfg" "$name-kernel.cfg" ;; # calibrate
            esac
        done
}
bad=0 n=0
for name in $(written); do
    n=$((n + 1))
    git check-ignore -q "$name" || { echo "README.md writes $name, and git would list it as untracked"; bad=1; }
done
[ $n -ge 7 ] || { echo "only $n files found in README.md"; bad=1; }
# Nothing that belongs to the project is ignored.
git ls-files -ci --exclude-standard | grep . && { echo "tracked, and ignored"; bad=1; }
exit $bad
