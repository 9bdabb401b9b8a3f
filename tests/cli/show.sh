#!/bin/bash
# `wakebal show`: views, windows, refusals.
set -u
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0

fail() {
    echo "FAILED: $*"
    bad=1
}
# want CODE PATTERN ARGS...: exit code, and a line of stdout or stderr that matches.
want() {
    local code=$1 pattern=$2
    shift 2
    "$WAKEBAL" show "$@" >out 2>err
    local got=$?
    [ $got = "$code" ] || fail "show $*: exit $got, not $code: $(head -3 err)"
    cat out err | grep -qE -- "$pattern" || fail "show $*: no line matches $pattern: $(head -5 out err)"
}

cat >pair.cfg <<'CFG'
schema = 1;
title = "a pair and a hog";
machine : { base = "itanium2-tiger4"; };
kernel : { base = "linux-2.6.11"; };
workload = ( { kind = "pipe_bw"; message = "64 KiB"; total = "8 MiB"; }, { kind = "hog"; } );
CFG

want 0 '^cpu3 ' timeline pair.cfg
sed -n 2p out | grep -q '^from ' || fail "the first line does not say where the window begins"
[ "$(grep -c '^cpu[0-3] ' out)" = 4 ] || fail "not one row per CPU"
[ "$(LC_ALL=C awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ] || fail "wider than 80 columns"
grep -q 'A bw_pipe-rd  B bw_pipe-wr  C hog  \. idle' out || fail "legend: $(tail -1 out)"
cp out first
want 0 '^cpu3 ' timeline pair.cfg
cmp -s out first || fail "the same view twice gives other bytes"
want 0 'C hog' timeline pair.cfg --width 40
[ "$(LC_ALL=C awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 40 ] || fail "wider than 40 columns"

want 0 '^\s*(\*?[A-Z.][0-9]? *)+ +0\.[0-9]{9} secs  A0 => bw_pipe' map pair.cfg
want 0 '^  hog:[0-9]+ +\| +[0-9]+\.[0-9]{6} \|' latency pair.cfg --from 1ms --to 20ms
want 0 '^ +0\.[0-9]{9} \[000[0-3]\]  bw_pipe-(rd|wr)\[' timehist pair.cfg
want 0 '^\+- L3 6 MiB' topology pair.cfg --ascii
"$WAKEBAL" new machine own >/dev/null
want 0 '^\+- L3 16 MiB' topology own.cfg --ascii
want 0 '^cpu' domains own.cfg
want 0 '^\+- L3 6 MiB' topology -m itanium2-tiger4 --ascii
want 2 "of which scenario is 'timeline'" timeline -m itanium2-tiger4
want 2 "of which scenario is 'topology'" topology
want 0 '^cpu0-3: [A-Z]+ \{0-3\}' domains pair.cfg
grep -qE '^  groups +\{2\} power 128, \{3\} power 128, \{0\}' out && fail "groups of CPU 0 begin with its own"
want 0 '^[A-Z]+ of cpu2, depth 0: \{0-3\}' domains pair.cfg --cpu 2
grep -qE '^  groups +\{2\} power 128, \{3\} power 128, \{0\}' out || fail "groups of CPU 2 begin with its own"

want 2 "unknown view 'timelin'" timelin pair.cfg
grep -q "did you mean 'timeline'" err || fail "no suggestion"
want 2 "'3x': not a unit of time" map pair.cfg --from 3x
want 2 'ends .* before it begins' map pair.cfg --from 3ms --to 2ms
want 2 "from 30 to 10000" map pair.cfg --width 5
want 2 'CPUs 0 to 3' domains pair.cfg --cpu 9
want 2 'nothing happens in this window; the run ends at' timeline pair.cfg --from 100s
want 3 "no scenario or file" domains nowhere
want 2 . timeline
exit $bad
