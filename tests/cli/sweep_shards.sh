#!/bin/bash
# The same bytes whoever does the work: -j1, -j2, four shards joined, in fixed and in adaptive studies; ranks too
# where wakebal-mpi was built.
. "$(dirname "$0")/lib_experiment.sh"
fixed="hog --vary workload.chunk=1ms,2ms,3ms --vary workload.nice=0..2 -r 3 --duration 20ms -q"
adaptive="pipe --vary workload.message=1KiB,4KiB,16KiB --vary machine.base=smp2,smp16 -r 2..8 --precision 0.5% --duration 10ms -q"

same() { # NAME CODE STUDY...
    local name=$1 want=$2 k
    shift 2
    code "$want" $w run "$@" --export-json "$tmp/$name.json"
    code "$want" $w sweep "$@" -j 1 -o "$tmp/$name-j1.db" --export-json "$tmp/$name-j1.json"
    code "$want" $w sweep "$@" -j 2 -o "$tmp/$name-j2.db" --export-json "$tmp/$name-j2.json"
    for k in 1 2 3 4; do code 0 $w sweep "$@" -o "$tmp/$name/" --shard $k/4; done
    code 0 $w merge "$tmp/$name/"
    cp "$tmp/out" "$tmp/$name.merge"
    code "$want" $w sweep "$@" -o "$tmp/$name/" --export-json "$tmp/$name-sh.json" --progress json
    # Nothing was left to do after joining.
    local kept ran
    ran=$(grep -o '"runs_done":[0-9]*' "$tmp/err" | tail -1 | cut -d: -f2)
    kept=$(grep -o '"runs_kept":[0-9]*' "$tmp/err" | tail -1 | cut -d: -f2)
    [ -n "$ran" ] && [ "$ran" = "$kept" ] || fail "$name: $((ran - kept)) runs were missing after joining"
    for v in j1 j2 sh; do cmp "$tmp/$name.json" "$tmp/$name-$v.json" || fail "$name: $v differs"; done
}
same fixed 0 $fixed
has "$tmp/fixed.merge" "runs from 4 files"
same adaptive 6 $adaptive

# Shards of a study with a fixed number share the runs evenly, and together have each exactly once.
for k in 1 2 3 4; do $w sweep $fixed --list --shard $k/4 | cut -f2-; done >"$tmp/shards"
$w sweep $fixed --list | cut -f2- | sort >"$tmp/all"
sort "$tmp/shards" | cmp - "$tmp/all" || fail "the shards are not the study"
[ "$(wc -l <"$tmp/all")" = 27 ] || fail "$(wc -l <"$tmp/all") runs listed"
[ "$($w sweep $fixed --list --shard 4/4 | wc -l)" = 6 ] || fail "shard 4 of 4"
# No share has the same points in every replication, also where their number is a multiple of the shards'.
even="hog --vary workload.chunk=1ms,2ms,3ms,4ms -r 4"
for k in 1 2; do
    $w sweep $even --list --shard $k/2 >"$tmp/list"
    [ "$(wc -l <"$tmp/list")" = 8 ] || fail "shard $k of 2 has $(wc -l <"$tmp/list") runs of 16"
    for c in 1ms 2ms 3ms 4ms; do [ "$(grep -c "chunk=$c" "$tmp/list")" = 2 ] || fail "shard $k of 2: $(grep -c "chunk=$c" "$tmp/list") runs of $c"; done
done
# First replication 0 of every point.
[ "$($w sweep $fixed --list | head -9 | grep -c "replication 0")" = 9 ] || fail "not replication-major"
$w sweep $fixed --list=3 -o "$tmp/my study/" >"$tmp/out"
has "$tmp/out" "-o '$tmp/my study/'"
has "$tmp/out" " --shard 3/3"
has "$tmp/out" "# when all are done: wakebal merge"
for k in 0/4 5/4 1/0 x 1; do code 2 $w sweep $fixed --shard $k; done
code 2 $w sweep $fixed --shard 1/2 --export-csv "$tmp/x.csv"
# Joining what does not belong together.
code 0 $w sweep pipe -r 2 --duration 5ms -q -o "$tmp/pipe.db"
code 3 $w merge -o "$tmp/both.db" "$tmp/fixed-j1.db" "$tmp/pipe.db"
has "$tmp/err" "does not fit: its name is 'pipe'"
code 3 $w merge -o "$tmp/both.db" "$tmp/nothing.db"

mpi=$(dirname "$w")/wakebal-mpi
# The MPI library leaks on purpose: a leak checker would blame us.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
if [ -x "$mpi" ] && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    for s in fixed adaptive; do
        want=0
        [ $s = adaptive ] && want=6
        code $want mpirun -n 2 "$mpi" sweep ${!s} -o "$tmp/$s-mpi.db" --export-json "$tmp/$s-mpi.json"
        cmp "$tmp/$s.json" "$tmp/$s-mpi.json" || fail "$s: two ranks differ"
        ls "$tmp/$s-mpi.db".* >/dev/null 2>&1 && fail "$s: parts are left"
    done
    code 3 mpirun -n 2 "$mpi" sweep $fixed -o "$tmp/pipe.db"
    # A rank's part that a kill left behind is taken over, by any number of ranks.
    { timeout -s KILL 0.5 mpirun -n 2 "$mpi" sweep $adaptive -o "$tmp/killed.db"; } >/dev/null 2>&1
    for _ in 1 2 3 4 5 6 7 8 9 10; do # orphaned ranks end by themselves
        pgrep -f "sweep.*-o $tmp/killed.db" >/dev/null || break
        sleep 1
    done
    code 6 mpirun -n 3 "$mpi" sweep $adaptive -o "$tmp/killed.db" --export-json "$tmp/killed.json"
    ls "$tmp/killed.db".rank* >/dev/null 2>&1 && fail "parts are left after a kill"
    cmp "$tmp/adaptive.json" "$tmp/killed.json" || fail "ranks after a kill differ"
    # One rank of three dies, then the first, which joins the parts: mpirun says so and ends the others, which keep what they
    # have; every file can be read; the same command takes over and ends as if nothing had been.
    long="pipe --vary workload.message=4KiB,16KiB,64KiB,256KiB -r 30 --duration 100ms -q"
    code 0 $w sweep $long -o "$tmp/whole.db" --export-json "$tmp/whole.json"
    runs_kept() { for f in "$tmp"/dying.db "$tmp"/dying.db.rank-?-of-3; do
        [ -e "$f" ] && sqlite3 "$f" "SELECT count(*) FROM run" 2>/dev/null; done | awk '{ n += $1 } END { print n + 0 }'; }
    # rank_of PID: the rank of a process of this sweep, or nothing.
    rank_of() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = wakebal-mpi ] && tr '\0' '\n' <"/proc/$1/environ" 2>/dev/null |
        sed -n 's/^OMPI_COMM_WORLD_RANK=//p'; }
    kept=0
    for victim in 2 0; do
        mpirun -n 3 "$mpi" sweep $long -o "$tmp/dying.db" >"$tmp/out" 2>"$tmp/err" &
        pid=$!
        for _ in $(seq 300); do
            [ "$(runs_kept)" -gt $kept ] && break
            sleep 0.05
        done
        for p in $(pgrep -f "sweep.*-o $tmp/dying.db"); do
            [ "$(rank_of "$p")" = $victim ] && kill -9 "$p"
        done
        wait $pid
        got=$?
        [ $got = 137 ] || fail "mpirun says $got when rank $victim is killed"
        grep -q "signal 9" "$tmp/err" || fail "mpirun does not say that rank $victim was killed: $(head -3 "$tmp/err")"
        for _ in $(seq 20); do
            pgrep -f "sweep.*-o $tmp/dying.db" >/dev/null || break
            sleep 0.5
        done
        now=$(runs_kept)
        [ "$now" -ge $kept ] || fail "after rank $victim died $now runs are left of $kept"
        kept=$now
        for f in "$tmp"/dying.db "$tmp"/dying.db.rank-?-of-3; do
            [ -e "$f" ] || continue
            [ "$(sqlite3 "$f" "PRAGMA integrity_check" 2>&1)" = ok ] || fail "$f is damaged after rank $victim died"
        done
    done
    [ $kept -gt 0 ] && [ $kept -lt 120 ] || fail "$kept of 120 runs were kept: the kills came at no useful time"
    code 0 mpirun -n 3 "$mpi" sweep $long -o "$tmp/dying.db" --export-json "$tmp/dying.json"
    cmp "$tmp/whole.json" "$tmp/dying.json" || fail "a study of which two ranks died differs"
    ls "$tmp/dying.db".* >/dev/null 2>&1 && fail "parts are left after ranks died: $(ls "$tmp")"
else
    echo "wakebal-mpi is not built: ranks not tried"
fi
finish
