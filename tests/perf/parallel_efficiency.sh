#!/bin/bash
# How much of the cores a study uses: efficiency = T1 / (cores * Tn) of one study, by threads (-j) and by ranks (mpirun -n).
#   tests/perf/parallel_efficiency.sh [RUNS] [CORES]     WAKEBAL: the program (build/release/wakebal)
# A measurement, no test of ctest: on a busy machine it says nothing. Best of ROUNDS (2) rounds each, which take turns.
# Exit 4 when threads reach less than 0.95 or ranks less than 0.90.
set -u
w=${WAKEBAL:-$(dirname "$0")/../../build/release/wakebal}
w=$(readlink -f "$w")
runs=${1:-40} cores=${2:-2} rounds=${ROUNDS:-2}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
[ $((runs % 4)) = 0 ] || { echo "RUNS must be a multiple of 4" >&2; exit 2; }
study="pipe --vary workload.message=1KiB,4KiB,16KiB,64KiB -r $((runs / 4)) --duration ${DURATION:-1s} --warmup none -q"

# milliseconds JOBS COMMAND...: of the study into an empty file
milliseconds() {
    local from jobs=$1
    shift
    rm -f "$tmp"/s.db*
    from=$(date +%s%N)
    "$@" sweep $study -j "$jobs" -o "$tmp/s.db" >"$tmp/out" 2>&1 || { cat "$tmp/out" >&2; exit 1; }
    echo $((($(date +%s%N) - from) / 1000000))
}
least() { [ -z "$1" ] || [ "$2" -lt "$1" ] && echo "$2" || echo "$1"; }

one="" threads="" ranks=""
mpi=$(dirname "$w")/wakebal-mpi
[ -x "$mpi" ] && command -v mpirun >/dev/null || mpi=""
for ((i = 0; i < rounds; i++)); do
    one=$(least "$one" "$(milliseconds 1 "$w")")
    threads=$(least "$threads" "$(milliseconds "$cores" "$w")")
    [ -z "$mpi" ] || ranks=$(least "$ranks" "$(milliseconds 1 mpirun -n "$cores" "$mpi")")
done
awk -v n="$cores" -v runs="$runs" -v one="$one" -v threads="$threads" -v ranks="${ranks:-0}" 'BEGIN {
    printf "%d runs, one thread: %.2f s\n", runs, one / 1000
    t = one / (n * threads); printf "%d threads: %.2f s, efficiency %.3f (at least 0.95)\n", n, threads / 1000, t
    bad = t < 0.95
    if (ranks) { r = one / (n * ranks); printf "%d ranks:   %.2f s, efficiency %.3f (at least 0.90)\n", n, ranks / 1000, r; bad = bad || r < 0.9 }
    exit bad ? 4 : 0 }'
