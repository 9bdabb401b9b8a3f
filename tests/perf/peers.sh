#!/bin/bash
# Our real workloads beside the benchmarks that they are counterparts of: interleaved (peer, ours, peer, ours ...), medians, ratio.
#
#   WAKEBAL=build/release/wakebal tests/perf/peers.sh [ROUNDS [ROW-PATTERN]] >table.md
#
# Not part of any test: a time is not a verdict, and the peers are not part of the project. Rows whose peer is missing are left out and
# named. Peers are found on PATH, or by these variables: PERF HACKBENCH LMBENCH (a folder with bw_pipe, lat_pipe, lat_unix; built
# with HAVE_SCHED_SETAFFINITY for the rows on two CPUs) NETPERF NETSERVER. Everything stays on this machine.
#
# On a machine that others use, set BOOST=1 as root: the session's autogroup gets nice -20 for the time of the comparison.
set -u
rounds=${1:-7}
only=${2:-.}
wakebal=${WAKEBAL:-wakebal}
perf=${PERF:-perf}
hackbench=${HACKBENCH:-hackbench}
lmbench=${LMBENCH:-/usr/lib/lmbench/bin/x86_64-linux-gnu}
netperf=${NETPERF:-netperf}
netserver=${NETSERVER:-netserver}
dir=$(mktemp -d)
server=
clean() {
    [ -n "$server" ] && kill "$server" 2>/dev/null
    [ "${BOOST:-0}" = 1 ] && echo 0 2>/dev/null >/proc/self/autogroup
    rm -rf "$dir"
}
trap clean EXIT
command -v "$wakebal" >/dev/null || { echo "no wakebal: set WAKEBAL" >&2; exit 2; }
[ "${BOOST:-0}" = 1 ] && echo -20 >/proc/self/autogroup

# Last number on the last line that matches.
number() { grep -E "$1" | tail -1 | grep -oE '[0-9]+(\.[0-9]+)?' | sed -n "${2:-1}p"; }
# The first figure of our run, in base units.
ours() {
    "$wakebal" real -q --gate off --export-json - "$@" 2>/dev/null |
        awk -F'[:,]' '/"metrics"/ { m = 1 } m && /"value"/ { print $2 + 0; exit }'
}
per() { awk -v v="$1" -v d="$2" 'BEGIN { if (v == "") exit; printf "%.9g\n", v / d }'; }

# Each row: name | unit | peer's command (prints one number in the unit) | ours (likewise).
rows() {
    local n=60000 s=1000000
    echo "pipe ping-pong, CPU 0, processes|us|perf_pipe 0 $n|scaled 1e6 taskset -c 0 perf bench sched pipe -l $n"
    echo "pipe ping-pong, CPU 0, threads|us|perf_pipe 0 $n -T|scaled 1e6 taskset -c 0 perf bench sched pipe -l $n -T"
    echo "pipe ping-pong, CPU 0, lmbench|us|lat lat_pipe SINGLE|scaled 1e6 taskset -c 0 lat_pipe"
    echo "pipe ping-pong, CPUs 0 and 1, lmbench|us|lat lat_pipe UNIQUE|median_time 1e6 pipe_latency --cpus 0,1 --duration 1s"
    echo "AF_UNIX ping-pong, CPU 0, lmbench|us|lat lat_unix SINGLE|median_time 1e6 unix_rr --allowed 0 --duration 1s"
    echo "pipe 64 KiB, CPU 0, lmbench|MB/s|bw SINGLE 64k|median_rate 1e-6 pipe_bw --allowed 0 --duration 1s"
    echo "pipe 4 KiB, CPU 0, lmbench|MB/s|bw SINGLE 4096|median_rate 1e-6 pipe_bw --allowed 0 --message 4KiB --duration 1s"
    echo "pipe 64 KiB, CPUs 0 and 1, lmbench|MB/s|bw UNIQUE 64k|median_rate 1e-6 pipe_bw --writer-cpus 1 --reader-cpus 0 --duration 1s"
    echo "getppid, CPU 0|ns|perf_syscall $s|inverse 1e9 taskset -c 0 perf bench syscall basic -l $s"
    echo "TCP_RR 1 B, CPU 0|1/s|rr TCP_RR 0,0 1,1|scaled 1 netperf -t TCP_RR -l 1 -T 0,0 -- -r 1,1"
    echo "TCP_RR 1 KiB, CPU 0|1/s|rr TCP_RR 0,0 1K,1K|scaled 1 netperf -t TCP_RR -l 1 -T 0,0 -- -r 1K,1K"
    echo "UDP_RR 1 B, CPU 0|1/s|rr UDP_RR 0,0 1,1|scaled 1 netperf -t UDP_RR -l 1 -T 0,0 -- -r 1,1"
    echo "TCP_RR 1 B, CPUs 0 and 1|1/s|rr TCP_RR 0,1 1,1|scaled 1 netperf -t TCP_RR -l 1 -T 0,1 -- -r 1,1"
    local mode
    for mode in "-l 500" "-l 2000 -p" "-l 500 -T" "-l 2000 -T -p"; do
        echo "hackbench -g 2 $mode, CPU 0|s|hack 0 -g 2 $mode|scaled 1 taskset -c 0 hackbench -g 2 $mode"
    done
    echo "hackbench -g 5 -l 400, all CPUs|s|hack free -g 5 -l 400|scaled 1 hackbench -g 5 -l 400"
    echo "hackbench -g 5 -l 800 -p, all CPUs|s|hack free -g 5 -l 800 -p|scaled 1 hackbench -g 5 -l 800 -p"
    echo "perf messaging -g 2 -l 500, CPU 0|s|perf_messaging -g 2 -l 500|scaled 1 taskset -c 0 perf bench sched messaging -g 2 -l 500"
    echo "perf messaging -g 2 -l 2000 -t -p, CPU 0|s|perf_messaging -g 2 -l 2000 -t -p|scaled 1 taskset -c 0 perf bench sched messaging -g 2 -l 2000 -t -p"
}

# --- peers ---
perf_pipe() { per "$(taskset -c "$1" "$perf" bench -f simple sched pipe -l "$2" ${3:-} 2>/dev/null | number . 1)" "$(awk -v n="$2" 'BEGIN { print n / 1e6 }')"; }
perf_messaging() { taskset -c 0 "$perf" bench -f simple sched messaging "$@" 2>/dev/null | number . 1; }
perf_syscall() { per "$(taskset -c 0 "$perf" bench -f simple syscall basic -l "$1" 2>/dev/null | number . 1)" "$(awk -v n="$1" 'BEGIN { print n / 1e9 }')"; }
hack() {
    local where=$1
    shift
    if [ "$where" = free ]; then "$hackbench" "$@"; else taskset -c "$where" "$hackbench" "$@"; fi 2>/dev/null | number '^Time' 1
}
lat() { LMBENCH_SCHED=$2 "$lmbench/$1" -W 200000 -N 5 2>&1 | number latency 1; }
bw() { LMBENCH_SCHED=$1 "$lmbench/bw_pipe" -m "$2" -W 200000 -N 3 2>&1 | number bandwidth 1; }
rr() { "$netperf" -P 0 -t "$1" -H 127.0.0.1 -p 42865 -l 1 -T "$2" -- -r "$3" 2>/dev/null | awk 'NF >= 6 { print $6; exit }'; }

# --- ours ---
scaled() { local k=$1; shift; per "$(ours -- "$@")" "$(awk -v k="$k" 'BEGIN { print 1 / k }')"; }
inverse() { local k=$1; shift; awk -v v="$(ours -- "$@")" -v k="$k" 'BEGIN { if (v > 0) printf "%.9g\n", k / v }'; }
# Median of the windows' rates, as lmbench reports the median of its batches: on a shared machine a mean holds the time of others too.
window() {
    "$wakebal" real -q --gate off --window 50ms --export-json - "$@" 2>/dev/null |
        awk -F'[:,]' '/"windows"/ { m = 1 } m && /"p50"/ { print $2 + 0; exit }'
}
median_rate() { local k=$1; shift; awk -v v="$(window "$@")" -v k="$k" 'BEGIN { if (v > 0) printf "%.9g\n", k * v }'; }
median_time() { local k=$1; shift; awk -v v="$(window "$@")" -v k="$k" 'BEGIN { if (v > 0) printf "%.9g\n", k / v }'; }

if command -v "$netserver" >/dev/null; then
    "$netserver" -D -4 -L 127.0.0.1 -p 42865 >/dev/null 2>&1 &
    server=$! # not of a subshell: it must go when this script goes
    sleep 0.3
fi

rows | grep -E "$only" >"$dir/rows"
for ((round = 1; round <= rounds; round++)); do
    while IFS='|' read -r name unit peer mine <&3; do
        a=$($peer)
        b=$($mine)
        [ -n "$a" ] && printf '%s|%s|peer|%s\n' "$name" "$unit" "$a" >>"$dir/data"
        [ -n "$b" ] && printf '%s|%s|ours|%s\n' "$name" "$unit" "$b" >>"$dir/data"
        [ -t 2 ] && printf '\r%d/%d %-60s' "$round" "$rounds" "$name" >&2
    done 3<"$dir/rows"
done
[ -t 2 ] && echo >&2

# Median [min .. max, spread of the middle half] of each side, and ours over the peer's.
awk -F'|' '
function median(v, n, q,   at, lo) { at = q * (n - 1) + 1; lo = int(at); return lo >= n ? v[n] : v[lo] + (v[lo + 1] - v[lo]) * (at - lo) }
function side(key,   n, v, i, k, t, m) {
    n = split(substr(data[key], 2), v, " ")
    for (i = 2; i <= n; i++) { t = v[i] + 0; for (k = i - 1; k >= 1 && v[k] + 0 > t; k--) v[k + 1] = v[k]; v[k + 1] = t }
    if (!n) return ""
    m = median(v, n, 0.5); med[key] = m; half[key] = (median(v, n, 0.75) - median(v, n, 0.25)) / 2 / m * 100
    return sprintf("%.4g [%.4g .. %.4g, +-%.1f %%]", m, v[1], v[n], half[key])
}
{ if (!($1 in unit)) order[++rows] = $1; unit[$1] = $2; data[$1 "|" $3] = data[$1 "|" $3] " " $4 }
END {
    print "| workload | unit | peer | ours | ours / peer | within the noise |"
    print "|--|--|--|--|--|--|"
    for (i = 1; i <= rows; i++) {
        p = side(order[i] "|peer"); o = side(order[i] "|ours")
        if (p == "" || o == "") { missing = missing "; " order[i]; continue }
        r = med[order[i] "|ours"] / med[order[i] "|peer"]; d = (r - 1) * 100; d = d < 0 ? -d : d
        noise = half[order[i] "|peer"] + half[order[i] "|ours"]; if (noise < 2) noise = 2
        printf "| %s | %s | %s | %s | %.3f | %s |\n", order[i], unit[order[i]], p, o, r, d <= noise ? "yes" : sprintf("no: %.1f %% off, noise %.1f %%", d, noise)
    }
    if (missing != "") print "\nLeft out (one side is not here): " substr(missing, 3)
}' "$dir/data"
