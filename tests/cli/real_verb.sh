#!/bin/bash
# `wakebal real`: each kind runs for real, for a moment; JSON, refusals, interruption. Never asks how fast: the machine may be busy.
set -u
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
    "$WAKEBAL" real "$@" >out 2>err
    local got=$?
    [ $got = "$code" ] || fail "real $*: exit $got, not $code: $(head -3 err)"
    cat out err | grep -qE -- "$pattern" || fail "real $*: no line matches $pattern: $(head -5 out err)"
}
# json EXPRESSION: of out.json, by python's eyes.
json() {
    command -v python3 >/dev/null || return 0
    python3 -c "import json; j = json.load(open('out.json')); assert $1, j" || fail "out.json: $1"
}

quick="--gate off --duration 50ms --warmup 10ms"
want 0 'hackbench .*perf bench sched messaging' --list
want 0 'gettimeofday_trap' --list
for kind in pipe_bw pipe_latency tcp_rr udp_rr unix_rr syscall hog periodic; do
    want 0 "^Running $kind: 1 " $kind $quick --export-json out.json
    json "j['schema'] == 'wakebal.real/1' and j['workload']['kind'] == '$kind' and j['metrics'][0]['value'] > 0 and j['ops'] > 0"
done
want 0 '^  time ' --gate off hackbench --groups 1 --fds 2 --loops 10
want 0 '^  bandwidth ' pipe_bw $quick
want 0 '^  round_trip ' pipe_latency $quick --background hog,nice=10
want 0 '^  beside ' pipe_latency $quick --background hog,nice=10
want 0 'pair, 1 kB request' tcp_rr $quick --request '1000 B'

# A benchmark's own command line.
want 0 '^Running hackbench: 1 group of 3 \+ 3 threads over pipes, 5 loops, 100 B' --gate off -- hackbench -g 1 -f 3 -l 5 -T -p
want 0 '^Running pipe_latency: 1 pair, 4 B' --gate off -- perf bench sched pipe -l 50

# JSON on standard output is nothing but JSON.
"$WAKEBAL" real syscall $quick --export-json - >out.json 2>err || fail "export to -"
json "j['counts']['seconds'] > 0"
[ -s err ] && ! grep -q '^Running' err && fail "no plan on stderr"

# With the gate on, what else ran is told before and after.
want 0 'Meanwhile ' syscall --duration 50ms --warmup 10ms --export-json out.json
json "j['load_before']['seconds'] > 0.4 and 'foreign' in j['load_after']"

want 0 'Running' pipe_bw --dry-run
[ -s out ] && fail "a dry run printed results"
want 2 'say which workload' --gate off
want 2 "did you mean 'message'|Did you mean '--message'" pipe_bw --mesage 4KiB
want 2 "hackbench has no key 'duration'|takes no duration" hackbench --duration 1s
want 2 'out of range' pipe_bw --copies 0
want 2 'CPUs 16000 are asked for' pipe_bw --cpus 16000
want 2 'this command is not known' -- sleep 1
want 2 "'--gate|is not known" pipe_bw --gate maybe
"$WAKEBAL" real syscall $quick -q --export-json /nonexistent/x.json >out 2>err
[ $? = 9 ] || fail "an output that cannot be written: not 9"

# Ctrl-C: exit code 130 at once, nobody is left behind.
"$WAKEBAL" real hackbench --gate off --loops 1000000 >out 2>err &
pid=$!
sleep 0.5
kill -TERM $pid
wait $pid
code=$?
[ $code = 143 ] || fail "terminated: exit $code, not 143"
grep -q 'Nothing was run' err && fail "claims that nothing was run"
# The limit ends it as well.
want 1 'not over in time' hackbench --gate off --loops 1000000 --limit 200ms

[ $bad = 0 ] && echo "real: fine"
exit $bad
