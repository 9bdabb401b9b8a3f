#!/bin/bash
# Verbs that read recordings: exit codes, JSON, broken input, other kernels; the guest lab's refusals (nothing is booted).
set -u
source=${WB_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
w=${WAKEBAL:-$source/build/release/wakebal}
traces=$source/tests/traces
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0

expect() { # CODE TEXT COMMAND...: its exit code, and a text in what it prints
    local want=$1 text=$2 got
    shift 2
    timeout 120 "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got != "$want" ] || ! grep -q -- "$text" "$tmp/out"; then
        echo "FAILED: exit $got, not $want with '$text': $*"
        head -8 "$tmp/out"
        bad=1
    fi
}

guest=$traces/guest_612_2s2c2t.txt
pair=$traces/pair_packed.txt

expect 0 'all scored' "$w" conform "$guest" --floor '97 %'
expect 0 'linux-6.18-packed' "$w" conform "$pair" -k linux-6.18-packed --topology '[numa] pack:1 l3:1 core:2 pu:1'
expect 0 'missing switches from idle' "$w" conform "$pair" -k linux-6.18-packed
expect 3 'missing switches from idle' "$w" conform "$pair" -k linux-6.18-packed --strict
expect 3 'does not say which kernel' "$w" conform "$pair"
# A simulation's own trace says in comment lines what made it; all else that reads such text passes them over.
"$w" run hackbench -m smp2 -k linux-6.12 -q -r 1 --set workload.groups=1 --set workload.loops=2 --seed 7 --trace -o "$tmp/own.txt" \
    >/dev/null 2>&1 || { echo "FAILED: run --trace"; bad=1; }
for text in version= seed=7 machine=smp2 kernel=linux-6.12 scheduler=eevdf; do
    grep -q "^# wakebal:.*$text" "$tmp/own.txt" || { echo "FAILED: no $text at the head of the trace"; bad=1; }
done
expect 0 'linux-6.12 on "smp2"' "$w" conform "$tmp/own.txt" --floor '97 %'
expect 0 'linux-6.1 on "smp16"' "$w" conform "$tmp/own.txt" -k linux-6.1 -m smp16
expect 0 'base = "smp2"' "$w" import "$tmp/own.txt"
expect 3 'cannot follow a recording' "$w" conform "$pair" -k linux-2.6.11
expect 3 'the machine "smp2" 2 CPUs' "$w" conform "$guest" -m smp2
expect 3 'binary recording' "$w" conform "$traces/broken/binary.dat" -k linux-6.12
expect 3 'cannot read' "$w" conform /nonexistent -k linux-6.12
expect 2 'no share' "$w" conform "$guest" --floor much
# An option that would not be obeyed is not taken.
for verb in conform replay; do
    expect 2 "no option '--export-csv'" "$w" $verb "$guest" --export-csv "$tmp/x.csv"
    expect 2 "no option '--manifest'" "$w" $verb "$guest" --manifest "$tmp/x.json"
done
expect 2 "no option '--export-data'" "$w" real hog --duration 50ms --export-data "$tmp/x.dat"
expect 2 "no option '--keep-samples'" "$w" reproduce --keep-samples
expect 2 'takes a number' "$w" conform "$guest" --first many

gzip -c "$guest" >"$tmp/guest.gz"
"$w" conform "$guest" --export-json "$tmp/a.json" >/dev/null && "$w" conform "$tmp/guest.gz" --export-json "$tmp/b.json" >/dev/null
cmp -s "$tmp/a.json" "$tmp/b.json" || { echo "FAILED: gzip changes the result"; bad=1; }
grep -q '"schema": "wakebal.conform/1"' "$tmp/a.json" || { echo "FAILED: no JSON"; bad=1; }

# Of half a compressed file what is there is used, and the table says so; too little is no recording. A folder is called a folder.
for n in 5 18; do
    head -c "$n" "$tmp/guest.gz" >"$tmp/cut.gz"
    expect 3 'cannot read the recording: its compressed data' "$w" conform "$tmp/cut.gz"
done
for n in $(($(stat -c %s "$tmp/guest.gz") / 2)) $(($(stat -c %s "$tmp/guest.gz") - 1)); do
    head -c "$n" "$tmp/guest.gz" >"$tmp/cut.gz"
    expect 0 'cut off: 1' "$w" conform "$tmp/cut.gz"
    expect 3 'cut off' "$w" conform --strict "$tmp/cut.gz"
done
expect 3 'cannot read the recording: Is a directory' "$w" conform "$tmp"
# Notes cost what they are long, not the square of it: this takes a moment, and took minutes.
{
    printf '### begin a\n### schedstat before\n'
    yes 'cpu1 1' | head -c 12000000
    cat "$guest"
} >"$tmp/long.txt"
timeout 60 "$w" conform "$tmp/long.txt" -q >/dev/null 2>&1
[ $? = 124 ] && { echo "FAILED: a long schedstat note takes for ever"; bad=1; }

# A kernel that is not this one. (The floor is above what it reaches, and below what the right one reaches.)
expect 0 'all scored' "$w" conform "$traces/stream.txt" -k linux-6.18-packed --floor '99.9 %'
expect 0 'all scored' "$w" conform "$guest" --floor 1
expect 5 'agree, fewer than' "$w" conform "$guest" --set 'policy.features=["NO_WA_IDLE", "NO_WA_WEIGHT", "NO_SIS_UTIL"]' \
    --set policy.wake_affine=false --floor 1

for f in "$traces"/broken/*.txt; do
    expect 0 'Recording' "$w" conform "$f" -k linux-6.12
done

# More CPUs than a set has words for: loads of groups are summed ahead then, and questions of what if change the loads.
"$w" run hackbench -m 'pack:2 [numa] l3:1 core:36 pu:1' -k linux-6.12 -q -r 1 --set workload.groups=1 --set workload.loops=1 \
    --set workload.fds=8 --seed 7 --trace -o "$tmp/wide.txt" >/dev/null 2>&1 || { echo "FAILED: run --trace"; bad=1; }
expect 0 'utilisation  *16  100.00 %  of groups, at forks' "$w" conform "$tmp/wide.txt" --floor 1

# Names of a recording may hold what terminals obey: it is shown as question marks.
for words in "conform -k linux-6.1 --first 99" "conform -k linux-2.6.36 --first 99" "import -k linux-6.12" "replay -k linux-6.12"; do
    # shellcheck disable=SC2086
    "$w" ${words%% *} "$traces/broken/control_bytes.txt" ${words#* } >"$tmp/named" 2>&1
    LC_ALL=C grep -aqP '[\x01-\x08\x0b-\x1f\x7f]' "$tmp/named" && { echo "FAILED: $words: control characters of a name"; bad=1; }
done
# The clock of a machine that is up for a year, and one that passes what simulated time can count (2^64 ps).
for up in 31536000 18446729; do
    awk -v up=$up '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { split($i, t, "."); sub($i, sprintf("%d.%s", t[1] + up, t[2])); break } print }' "$guest" >"$tmp/up.txt"
    expect 0 'all scored' "$w" conform "$tmp/up.txt" --floor '99 %'
done

# Recordings as workloads.
expect 0 'replayed ms' "$w" replay "$pair" -k linux-6.18-packed -m smp2 --under linux-6.1
# A task that is not switched out until the end has run too.
ran=$("$w" replay "$traces/guest_612_2s2c2t.txt" -k linux-6.12 | awk '/guestload_/ {print ($3 > 0.9 * $2)}')
[ "$ran" = 1 ] || { echo "FAILED: replay: guestload_273 is said not to have run"; bad=1; }
expect 0 'kind = "custom"' "$w" import "$guest" --section pipe4
"$w" import "$pair" -k linux-6.18-packed -m smp2 -o "$tmp/pair.cfg" -q || { echo "FAILED: import"; bad=1; }
expect 0 'ok' "$w" check "$tmp/pair.cfg"
"$w" fmt --check "$tmp/pair.cfg" >/dev/null || { echo "FAILED: an import is not laid out as fmt does"; bad=1; }
expect 0 'replication' "$w" run "$tmp/pair.cfg" -r 1 -k linux-6.12
# What does not fit a program says how much of it would.
"$w" run hackbench -m smp2 -k linux-6.12 -q -r 1 --set workload.groups=1 --set workload.loops=1200 --seed 7 --trace -o "$tmp/busy.txt" >"$tmp/out" 2>&1
expect 3 'too irregular' "$w" import "$tmp/busy.txt" -o "$tmp/busy.cfg"
window=$(sed -nE 's/.*--window (0\.\.[0-9.]+ms)$/\1/p' "$tmp/out")
expect 0 'run it: wakebal run' "$w" import "$tmp/busy.txt" --window "${window:-none}" -o "$tmp/busy.cfg"
expect 3 'no such section' "$w" import "$guest" --section nothing
expect 3 'no task of the window' "$w" import "$pair" --window 100s..200s
expect 2 'no window' "$w" import "$pair" --window now
expect 3 'missing switches' "$w" import "$pair" --strict

# The guest lab, without booting anything.
expect 2 'do not multiply' "$w" guest --smp 8,sockets=3,cores=2 -o "$tmp/g"
expect 2 'do not multiply' "$w" guest --smp many -o "$tmp/g"
expect 2 'do not divide' "$w" guest --smp 6 --numa 4 -o "$tmp/g"
mkdir "$tmp/empty"
expect 7 'apt-get install qemu-system-x86' env PATH="$tmp/empty" "$w" guest -o "$tmp/g"
printf '#!/bin/sh\nexit 1\n' >"$tmp/empty/qemu-system-x86_64"
chmod +x "$tmp/empty/qemu-system-x86_64"
[ -e "$(dirname "$w")/wakebal-guest-init" ] && {
    expect 2 'no kernel image' env PATH="$tmp/empty" "$w" guest --kernel ./vmlinuz-none --work "$tmp/work" -o "$tmp/g"
    expect 7 'no apt here' env PATH="$tmp/empty" "$w" guest --kernel 6.12 --work "$tmp/work" -o "$tmp/g"
    expect 7 'without a whole report' env PATH="$tmp/empty" "$w" guest --kernel "$guest" --work "$tmp/work" -o "$tmp/g"
}
exit $bad
