#!/bin/bash
# Input that never ends, or never comes: a pipe that nobody writes, devices, `yes`. Every verb that reads a file refuses it
# within seconds and says why; none waits, none fills the memory.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2
source=${WB_SOURCE_DIR:?}
code 0 $w run pipe $quick --export-json r.json
mkfifo nobody
study="pipe -r 2 --duration 5ms -q"

# refused COMMAND...: code 2, 3 or 9 within ten seconds, with a reason. Memory: a gigabyte would be a reserve gone mad.
refused() {
    timeout 10 "$@" >out 2>err </dev/null
    local got=$?
    case $got in
    2 | 3 | 9) [ -s err ] || grep -q error out || fail "exit $got without a word: $*" ;;
    124) fail "still going after 10 s: $*" ;;
    *) fail "exit $got: $*"; head -3 err >&2 ;;
    esac
}
for input in nobody /dev/zero /dev/urandom /dev/null; do
    for verb in "conform" "import" "replay" "compare r.json" "plot" "report" "rerun" "merge" "run" "check" "fmt" \
        "reproduce ia64-bw-pipe-2005 --expected" "sweep $study -o" "topology --from-hwloc" "validate --calibration" "calibrate --check" "run -q pipe -m" \
        "run $study --vary workload.message=@" "run $study -p"; do
        case $verb in
        *@) refused $w $verb$input ;;
        *) refused $w $verb "$input" ;;
        esac
    done
    refused $w run $study --fail-if "bandwidth worse than $input by 3%"
done

# Text that never ends.
refused $w conform <(yes no event here) -k linux-6.12
grep -q 'its first 16 MiB hold no event' out err || fail "endless text: $(cat err)"
refused $w import <(cat /dev/zero)
grep -q 'it is not text' out err || fail "endless zeroes: $(cat err)"
refused $w replay <(yes '# a comment' | gzip -1 -c)
refused $w compare r.json <(yes ' ')
has err "it begins with 64 KiB of blanks"
refused $w compare r.json <(yes '{')
refused $w plot <(yes '[')
refused $w plot <(printf '"'; yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)
refused $w compare r.json nobody
has err "it is empty"
refused $w compare r.json /dev/zero
has err "it is neither a file nor a pipe"

# A pipe that ends is as good as a file.
code 0 $w compare r.json <(cat r.json)
code 0 $w plot <(cat r.json) --kind bars --terminal
code 0 $w import <(cat "$source/tests/traces/pair_packed.txt") -k linux-6.18-packed -m smp2 -o made.cfg -q
# ...but not where it is read twice.
code 2 $w run $study --fail-if "bandwidth worse than <(x) by 3%"
refused $w run $study --fail-if "bandwidth worse than nobody by 3%"
has err "it is a pipe"
finish
