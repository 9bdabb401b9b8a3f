#!/bin/bash
# A study of 200 points (with sanitizers 50) with 5 replications each, killed at random moments and continued, exports the
# same bytes as an undisturbed one. WB_SWEEP_KILLS: how often (8; the long suite takes 50). Prints the seed; WB_SWEEP_SEED
# repeats it.
. "$(dirname "$0")/lib_experiment.sh"
kills=${WB_SWEEP_KILLS:-8}
seed=${WB_SWEEP_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed, $kills kills"
values=20
grep -q __asan_init "$(readlink -f "$w")" && values=5
runs=$((values * 50))
study="hog --vary workload.chunk=1ms..20ms/$values --vary workload.nice=0..9 -r 5 --duration 5ms --warmup none -q"

code 0 $w run $study --export-json "$tmp/whole.json" --export-csv "$tmp/whole.csv"
count() { sqlite3 "$tmp/s.db" "SELECT count(*) FROM run" 2>/dev/null || echo 0; }
done_before=0
progress=0
for ((i = 0; i < kills; i++)); do
    $w sweep $study -o "$tmp/s.db" >/dev/null 2>&1 &
    pid=$!
    # One in five at any moment from the very start on; the others a moment after some more runs were kept, so that all
    # kills together reach the end of the study.
    if [ $((RANDOM % 5)) -gt 0 ]; then
        want=$((done_before + 1 + RANDOM % (runs * 9 / 5 / kills + 1)))
        while [ "$(count)" -lt $want ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
        sleep "0.0$((RANDOM % 10))"
    else
        sleep "0.$(printf %03d $((RANDOM % 400)))"
    fi
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -s "$tmp/s.db" ] || continue
    # What is there can be read at any moment, and never becomes less.
    n=$(count)
    [ "$n" -ge "$done_before" ] || fail "kill $i: $n runs are left of $done_before"
    [ "$n" -gt "$done_before" ] && [ "$n" -lt $runs ] && progress=$((progress + 1))
    done_before=$n
done
echo "$done_before runs survived; $progress kills came while runs were being kept"
[ "$progress" -ge $((kills / 4)) ] || fail "too few kills came in the middle of the study"
code 0 $w sweep $study -o "$tmp/s.db" --export-json "$tmp/s.json" --export-csv "$tmp/s.csv"
cmp "$tmp/whole.json" "$tmp/s.json" || fail "JSON of the continued study differs"
cmp "$tmp/whole.csv" "$tmp/s.csv" || fail "CSV of the continued study differs"
[ "$(sqlite3 "$tmp/s.db" "SELECT count(*) FROM run")" = $runs ] || fail "not $runs runs"
[ ! -e "$tmp/s.db-journal" ] && [ ! -e "$tmp/s.db.lock" ] || fail "files are left beside the study"

# Nothing is run again: the second time costs no simulation, and replications can be added.
code 0 $w sweep $study -o "$tmp/s.db" --progress json
grep -q "\"runs_done\":$runs,\"runs_kept\":$runs" "$tmp/err" || fail "runs were simulated again"
more=${study/-r 5/-r 6}
code 0 $w sweep $more -o "$tmp/s.db" --progress json --export-json "$tmp/six.json"
grep -q "\"runs_done\":$((runs * 6 / 5)),\"runs_kept\":$runs" "$tmp/err" || fail "adding a replication ran more than it"
code 0 $w run $more --export-json "$tmp/six-whole.json"
cmp "$tmp/six.json" "$tmp/six-whole.json" || fail "added replications differ"

# Asked to stop: what is complete is kept and said, exit 143. (A background job of a script ignores Ctrl-C, and so do we then:
# tests/cli/interrupt.sh has that signal.)
slow="hog --vary workload.chunk=1ms..20ms/20 -r 50 --duration 100ms --warmup none"
$w sweep $slow -o "$tmp/int.db" >"$tmp/out" 2>"$tmp/err" &
pid=$!
for _ in $(seq 100); do
    [ "$(sqlite3 "$tmp/int.db" "SELECT count(*) FROM run" 2>/dev/null || echo 0)" -gt 20 ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid
got=$?
[ $got = 143 ] || fail "exit $got after TERM"
has "$tmp/err" "Continue with the same command"
has "$tmp/err" "20/20 points have at least"
code 3 $w sweep pipe -r 2 -o "$tmp/int.db"
has "$tmp/err" "is a study of 'hog', not of 'pipe'"
finish
