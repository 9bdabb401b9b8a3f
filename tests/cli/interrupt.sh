#!/bin/bash
# Ctrl-C: within a second, with what is complete; and what is said when nothing is.
. "$(dirname "$0")/lib_experiment.sh"

# stop SECONDS SIGNAL COMMAND...: exit code in $got, time between signal and end in $took (ms).
stop() {
    local after=$1 signal=$2
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" &
    local pid=$!
    sleep "$after"
    local t0=$(date +%s%N)
    kill -s "$signal" $pid
    wait $pid
    got=$?
    took=$((($(date +%s%N) - t0) / 1000000))
}

stop 1 TERM $w run pipe --duration 1000s -r 2 --export-json "$tmp/x.json"
[ $got = 143 ] || fail "exit $got, not 143"
[ $took -lt 3000 ] || fail "it took $took ms to stop"
has "$tmp/err" "before any replication was complete"
[ -s "$tmp/out" ] && fail "figures of nothing"
[ -e "$tmp/x.json" ] && fail "a result of nothing"

# (A shell without job control starts background jobs with SIGINT ignored: TERM serves.)
stop 2 TERM $w run hog -j 1 --duration 100ms -r 100000 --export-json "$tmp/x.json"
[ $got = 143 ] || fail "exit $got, not 143"
[ $took -lt 3000 ] || fail "it took $took ms to stop"
has "$tmp/err" "complete replications are reported"
has "$tmp/out" "Work"
has "$tmp/x.json" '"interrupted"'

# The terminal is gone: as much is saved. Under nohup it goes on, as a job of a script does on Ctrl-C.
stop 2 HUP $w run hog -j 1 --duration 100ms -r 100000 --export-json "$tmp/hup.json"
[ $got = 129 ] || fail "exit $got, not 129"
has "$tmp/hup.json" '"interrupted"'
for signal in HUP INT; do
    env --ignore-signal=$signal $w run hog -j 1 --duration 100ms -r 100000 >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    sleep 1
    kill -s $signal $pid
    sleep 1
    kill -s TERM $pid || fail "an ignored $signal stopped it"
    wait $pid
done

# In a log: a line now and then, also while no run ends, and none with -q.
stop 3 TERM $w run pipe --duration 1000s -r 2 --warmup none --progress always
grep -qE '^wakebal: 0 of 2 runs done after 00:0[12]$' "$tmp/err" || fail "no sign of life in the log"
code 0 $w run hog -r 3 --duration 10ms
hasnt "$tmp/err" "runs done"
finish
