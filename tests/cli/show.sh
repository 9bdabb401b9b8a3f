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
sed -n 2p out | grep -qE '^[0-9.]+ ms to [0-9.]+ ms: ' || fail "the second line does not say which window it is: $(sed -n 2p out)"
tr '\n' ' ' <out | grep -qE 'Another window: +--from [0-9.]+ms --to [0-9.]+ms' || fail "it does not say how to choose another"
[ "$(grep -c '^cpu[0-3] ' out)" = 4 ] || fail "not one row per CPU"
[ "$(LC_ALL=C awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ] || fail "wider than 80 columns"
grep -q 'A bw_pipe-rd  B bw_pipe-wr  C hog  \. idle' out || fail "legend: $(tail -1 out)"
cp out first
want 0 '^cpu3 ' timeline pair.cfg
cmp -s out first || fail "the same view twice gives other bytes"
want 0 'C hog' timeline pair.cfg --width 40
[ "$(LC_ALL=C awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 40 ] || fail "wider than 40 columns"

# The story: a pull by balancing after the warm-up, with the mark of the task that arrives; the same window by hand.
cat >apart.cfg <<'CFG'
schema = 1;
machine : { base = "itanium2-tiger4"; };
kernel : { base = "linux-2.6.10"; };
workload = ( { kind = "pipe_bw"; message = "64 KiB"; total = "8 MiB"; } );
run : { duration = "300 ms"; warmup = "50 ms"; };
CFG
want 0 'balancing takes bw_pipe-(rd|wr) from cpu[0-3] to' timeline apart.cfg --ascii --width 200
awk '$2 == "ms" && $3 == "to" { n++; exit !($1 >= 50 && $4 > $1) } END { if (!n) exit 1 }' out || fail "the window is before the warm-up ends: $(sed -n 2p out)"
grep -qE '^cpu[0-3] .*\|' out || fail "nobody arrives in the window: $(cat out)"
sed '2d' out >story
read -r from to < <(sed -nE '2s/^([0-9.]+) ms to ([0-9.]+) ms:.*/\1 \2/p' out)
want 0 'cpu3' timeline apart.cfg --ascii --width 200 --from "${from}ms" --to "${to}ms"
cmp -s out story || fail "the same window named by hand looks different"
"$WAKEBAL" plot apart.cfg --kind timeline --terminal >out 2>err || fail "plot --kind timeline"
grep -q "^Window: $from ms to $to ms: the first move after the warm-up" err || fail "plot and show choose other windows: $(cat err)"
grep -qE 'replication 0; [0-9]+ wakeups, [1-9][0-9]* migrations; the first move' out || fail "the picture does not say what it shows: $(tail -3 out)"
# Nobody moves: a switch; a map that keeps its millisecond.
want 0 'no task is moved: the first switch' timeline hog
want 0 'bw_pipe-(rd|wr) from cpu' map apart.cfg

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

# Levels and flags are called as that kernel calls them.
want 0 'MC \{0-3,8-11\}  NUMA \{0-15\}' domains nehalem-ep -k linux-6.18
grep -q 'flags .* SHARE_CPUCAPACITY SHARE_LLC ' out || fail "6.18: names of flags: $(grep flags out)"
grep -qE 'LOAD_BALANCE|power|indexes' out && fail "6.18: things of old kernels: $(grep -E 'LOAD_BALANCE|power|indexes' out)"
want 0 'MC \{0-7,128-135\}  PKG \{0-63,128-191\}  NUMA' domains epyc-7763-2s -k linux-6.12
want 0 'MC \{0-7,128-135\}  DIE \{0-63,128-191\}  NUMA' domains epyc-7763-2s -k linux-6.6
grep -q 'SHARE_CPUCAPACITY SHARE_PKG_RESOURCES' out || fail "6.6: names of flags: $(grep flags out)"
want 0 'flags .*SHARE_CPUPOWER' domains nehalem-ep -k linux-2.6.36
grep -q '^  indexes ' out || fail "2.6.36 has load indexes"

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
