#!/bin/bash
# Too little memory is a refusal of the system: exit 8, what was being made, and the limit. Never an abort.
. "$(dirname "$0")/lib_experiment.sh"
(ulimit -v 2000000 && $w --version) >/dev/null 2>&1 || { echo "skipped: the program does not start under ulimit -v"; exit 0; }

# tight KIB COMMAND...
tight() {
    local kib=$1
    shift
    (ulimit -v "$kib" && exec "$@") >"$tmp/out" 2>"$tmp/err"
    local got=$?
    [ $got = 0 ] && return
    [ $got = 8 ] || { fail "exit $got under $kib KiB: $*"; head -3 "$tmp/err" >&2; return; }
    has "$tmp/err" "out of memory"
    has "$tmp/err" "(ulimit -v)"
    refused=$((refused + 1))
}
for kib in 30000 45000 70000 140000; do
    refused=0
    tight $kib $w run bench-1024x16384 -q -r 2 -j 1 --duration 1ms
    tight $kib $w run pipe -q -r 2 --duration 10ms --vary run.seed=1..20000 --dry-run
    tight $kib $w check bench-1024x16384
done
# At any step: in SQLite, in jansson, while a run is put into words. (One refusal is enough to know that the steps are met.)
refused=0
for kib in $(seq 30000 1500 48000); do
    rm -f "$tmp/s.db"
    tight $kib $w sweep hog --vary workload.chunk=1ms,2ms -r 4 -j 2 --duration 20ms --warmup none -q -o "$tmp/s.db" \
        --export-json "$tmp/s.json"
done
# No threads to be had: those that there are do the work, and the bytes are the same.
code 0 $w run hog -q -r 8 -j 8 --duration 20ms --warmup none --export-json "$tmp/many.json"
(
    ulimit -s 65536 && ulimit -v 140000 # stacks of 64 MiB: one more thread, not seven
    exec $w run hog -q -r 8 -j 8 --duration 20ms --warmup none --export-json "$tmp/few.json"
) >"$tmp/out" 2>"$tmp/err" || { fail "exit $? without threads"; head -3 "$tmp/err" >&2; }
cmp "$tmp/many.json" "$tmp/few.json" || fail "few threads, other bytes"
[ $refused -gt 0 ] || fail "nothing was refused"
finish
