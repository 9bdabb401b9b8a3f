#!/bin/bash
# `wakebal run`: summary, sweeps, exports, determinism, exit codes.
. "$(dirname "$0")/lib_experiment.sh"
cat >"$tmp/pipe.cfg" <<'E'
schema = 1;
title = "two ends of a pipe";
machine : { base = "smp2"; };
kernel : { base = "linux-2.6.11-i386"; };
workload = ( { kind = "pipe_bw"; message = "4 KiB"; cpus = "0"; start = "0 s"; } );
run : { duration = "20 ms"; warmup = "none"; window = "2 ms"; replications : { min = 2; max = 2; }; };
E

# The summary says what, how well, and how it was calibrated.
code 0 $w run "$tmp/pipe.cfg"
for text in "Machine" "UNCALIBRATED" "linux-2.6.11" "Bandwidth" "replications" "Wakeup to running" "Migrations" \
    "Idle while work waited" "Try: wakebal"; do has "$tmp/out" "$text"; done
code 0 $w run pipe $quick
has "$tmp/out" "Bandwidth"
code 0 $w run hog $quick
code 0 $w run "$tmp/pipe.cfg" --profile
has "$tmp/out" "samples"

# What a command line overrides is not printed as what runs.
code 0 $w run hackbench --set workload.from_cmd='hackbench 1 process 2' -r 1
has "$tmp/out" "hackbench: from_cmd hackbench 1 process 2"
grep -q 'groups 10' "$tmp/out" && fail "the summary names the preset's groups, the command's run"

# Same bytes for any number of jobs; another seed changes them.
code 0 $w run "$tmp/pipe.cfg" -r 5 -j 1 --export-json "$tmp/a.json"
code 0 $w run "$tmp/pipe.cfg" -r 5 -j 4 --export-json "$tmp/b.json"
cmp "$tmp/a.json" "$tmp/b.json" || fail "the number of jobs changes the result"
code 0 $w run "$tmp/pipe.cfg" -r 5 -S 99 --export-json "$tmp/c.json"
cmp -s "$tmp/a.json" "$tmp/c.json" && fail "the seed changes nothing"
has "$tmp/a.json" '"schema": "wakebal.result/1"'
has "$tmp/a.json" '"name": "bandwidth"'
hasnt "$tmp/a.json" NaN
grep -qiE '[0-9]{4}-[0-9]{2}-[0-9]{2}|/tmp/' "$tmp/a.json" && fail "a date or a path in the result"

# Data on stdout leaves the summary out; a sweep is a list.
code 0 $w run "$tmp/pipe.cfg" --export-json -
head -c 1 "$tmp/out" | grep -q '{' || fail "something before the JSON"
hasnt "$tmp/out" "Machine  "
code 0 $w run "$tmp/pipe.cfg" --vary workload.message=1KiB,4KiB --vary workload.cpus=0,free --where 'workload.message < 4 KiB' \
    --export-json "$tmp/s.json" --export-csv "$tmp/s.csv" --export-markdown "$tmp/s.md" --export-data "$tmp/s.dat"
has "$tmp/s.json" '"schema": "wakebal.results/1"'
[ "$(grep -c '"wakebal.result/1"' "$tmp/s.json")" = 2 ] || fail "two points were wanted"
has "$tmp/out" "Summary"
head -1 "$tmp/s.csv" | grep -q '^workload.cpus,workload.message,workload,metric,unit,better,n,mean,ci_low' || fail "CSV head"
has "$tmp/s.csv" "free,1KiB,pipe_bw,bandwidth,B/s,higher,2,"
has "$tmp/s.md" "| bandwidth "
awk -F'|' '/^\|/ { n[NF]++ } END { exit length(n) != 1 }' "$tmp/s.md" || fail "Markdown rows of different width"
code 0 $w run "$tmp/pipe.cfg" --vary workload.message=1KiB,4KiB --dry-run
has "$tmp/out" "2 points"
code 0 $w run "$tmp/pipe.cfg" --print-config
has "$tmp/out" "message"

# Expectations and --fail-if look at the interval.
code 4 $w run "$tmp/pipe.cfg" -q --fail-if 'bandwidth > 1 kB/s'
has "$tmp/err" "expectation violated"
code 0 $w run "$tmp/pipe.cfg" -q --fail-if 'bandwidth < 1 kB/s'
code 2 $w run "$tmp/pipe.cfg" -q --fail-if 'bandwidth ~ 3'
code 2 $w run "$tmp/pipe.cfg" -q --fail-if 'bandwidth < 3 parsecs'
code 2 $w run "$tmp/pipe.cfg" -q --fail-if 'no_such_figure < 3'
code 0 $w run "$tmp/pipe.cfg" -q -r 5 --fail-if "bandwidth worse than $tmp/a.json by 1%"
sed '/"name": "bandwidth"/,/"confidence"/ s/"mean": [0-9.]*/"mean": 9e12/; /"name": "bandwidth"/,/"confidence"/ s/^ *[0-9.]*,$/9e12,/' \
    "$tmp/a.json" >"$tmp/fast.json"
code 4 $w run "$tmp/pipe.cfg" -q -r 5 --fail-if "bandwidth worse than $tmp/fast.json by 1%"
sed 's/^run :/expect = ( { metric = "bandwidth"; min = "900 GB\/s"; } );\nrun :/' "$tmp/pipe.cfg" >"$tmp/expect.cfg"
code 4 $w run "$tmp/expect.cfg" -q
has "$tmp/err" "expected at least 900 GB/s"

# What should not happen is said when it does, and only then.
cat >"$tmp/hogs.cfg" <<'CFG'
schema = 1;
machine : { base = "smp2"; topology = "pack:1 l3:1(size=16MiB) core:3 pu:1"; };
kernel : { base = "linux-5.4"; };
workload = ( { kind = "hog"; count = 4; chunk = "1 ms"; chunks = 100000; } );
run : { seed = 1; duration = "10 s"; warmup = "none"; starvation_bound = "4 ms"; replications : { min = 1; max = 1; }; };
CFG
code 4 $w run "$tmp/hogs.cfg" --fail-if 'starvation > 0' --export-json "$tmp/hogs.json"
has "$tmp/out" "waits of more than 4 ms, longest"
has "$tmp/out" "moves back within 10 ms by:  periodic 100 %; across:  MC 100 %; most: hog-"
grep -q '"kind": "starvation"' "$tmp/hogs.json" || fail "JSON does not say who starved"
code 0 $w run "$tmp/hogs.cfg" --set run.starvation_bound=100s
hasnt "$tmp/out" "Starved"

# Exit codes.
code 2 $w run
code 2 $w run "$tmp/pipe.cfg" --no-such-option
code 3 $w run "$tmp/absent.cfg"
code 3 $w run "$tmp/pipe.cfg" --set workload.mesage=4KiB
has "$tmp/err" "did you mean"
code 6 $w run pipe -q -r 2..3 --precision 0.01% --duration 20ms --warmup none --vary run.start_spread=5ms
code 9 $w run "$tmp/pipe.cfg" -q --export-json "$tmp/no/such/folder/x.json"
has "$tmp/err" "cannot write"
ls "$tmp" | grep -q '\.part\.' && fail "a half-written file was left"
timeout -s INT 1 $w run pipe -q -r 100000 --duration 1s --precision 0.01% >"$tmp/out" 2>"$tmp/err"
case $? in 130 | 124) ;; *) fail "interrupted, but not 130" ;; esac

# The trace of one replication.
code 0 $w run "$tmp/pipe.cfg" -q --trace=1ms..2ms "$tmp/t.txt"
head -1 "$tmp/t.txt" | grep -qx '# tracer: nop' || fail "no ftrace head"
has "$tmp/t.txt" "sched_switch:"
code 2 $w run "$tmp/pipe.cfg" -q --trace=2ms..1ms "$tmp/t.txt"
code 2 $w run "$tmp/pipe.cfg" -q "$tmp/t.txt"
# Any scheduler over any kernel of its system: a version that is the kernel's own scheduler's says nothing of another.
for pair in linux-2.6.11:cfs linux-6.1:eevdf linux-6.1:o1 linux-6.18:cfs freebsd-5.2:eevdf freebsd-5.2-ule:bsd4; do
    code 0 $w run pipe -q -m smp2 -k "${pair%:*}" -p "${pair#*:}" -r 2 --duration 1ms --warmup none
done
code 0 $w run pipe -k linux-6.1 -p eevdf --print-config
has "$tmp/out" 'policy.version                           = "6.12"   # default'

finish
