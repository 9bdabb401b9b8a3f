#!/bin/bash
# What tripped people in their first hour with the program.
. "$(dirname "$0")/lib_experiment.sh"

# A wrong call says what would be right.
code 2 $w show
has "$tmp/err" "Views: timeline map"
code 2 $w show pipe
has "$tmp/err" "wakebal show timeline pipe"
code 2 $w show map
has "$tmp/err" "of which scenario"
code 3 $w run nosuch
has "$tmp/err" "presets such as pipe and hog"
code 3 $w plot "$tmp/no.json"
has "$tmp/err" "No such file"
hasnt "$tmp/err" ":-1"
code 3 $w plot /etc/passwd
has "$tmp/err" "a file (.json)"

code 2 $w help bandwith
has "$tmp/err" "'bandwidth'"
code 2 $w help pipe_bww
has "$tmp/err" "'pipe_bw'"
code 3 $w plot pipe -r 2 --duration 20ms --terminal
has "$tmp/err" "run.window"

# Help: a sentence and examples come before the options, no wall of brackets.
code 0 $w run --help
sed -n 3p "$tmp/out" | grep -q '^Simulate a scenario' || fail "help does not begin with what the verb does"
[ "$(grep -n 'wakebal run pipe$' "$tmp/out" | head -1 | cut -d: -f1)" -lt "$(grep -n '^Options:' "$tmp/out" | cut -d: -f1)" ] ||
    fail "no example before the options"
hasnt "$tmp/out" "[-k NAME"

# Lists by version, not by letter.
code 0 $w list kernels
[ "$(grep -oE '^linux-(5.4|5.15|6.1|6.12) ' "$tmp/out" | tr -d '\n')" = "linux-5.4 linux-5.15 linux-6.1 linux-6.12 " ] ||
    fail "kernels are not in the order of their versions"

# Points that are identical are said to be, with what that means.
code 0 $w run hog -r 2 --duration 50ms --vary kernel.base=linux-6.12,linux-6.6,linux-6.1
has "$tmp/out" "identical (paired, n=2)"
has "$tmp/out" "Identical: base=linux-6.12 = base=linux-6.6 = base=linux-6.1"
has "$tmp/out" "nothing in which they differ came into play"
code 0 $w run pipe -r 2 --duration 20ms --warmup none --vary kernel.pipe=2.6.10,2.6.11
hasnt "$tmp/out" "dentical"

# A list where one name belongs says how several are compared.
code 2 $w run hog -k linux-6.12,linux-6.1
has "$tmp/err" "--vary kernel.base=linux-6.12,linux-6.1"
code 2 $w run hog -m smp2,smp16
has "$tmp/err" "--vary machine.base=smp2,smp16"
code 2 $w run hog -p cfs,eevdf
has "$tmp/err" "--vary kernel.scheduler=cfs,eevdf"
code 2 $w show map hog -k linux-6.12,linux-6.1
has "$tmp/err" "One at a time"
code 0 $w run hog -q -r 1 --duration 3ms -m 'pack:1 l3:2(indexes=0,1) core:1 pu:1'

# A file where -o wants a folder or a study.
code 2 $w run hog -r 1 --duration 1ms -o "$tmp/x.csv"
has "$tmp/err" "--export-csv $tmp/x.csv"
code 2 $w sweep hog -r 1 --duration 1ms -o "$tmp/x.json"
has "$tmp/err" "--export-json $tmp/x.json"
[ ! -e "$tmp/x.csv" ] && [ ! -e "$tmp/x.json" ] || fail "a refused -o left something"
code 0 $w run hog -q -r 1 --duration 3ms -o "$tmp/x.csv/"
[ -d "$tmp/x.csv" ] || fail "-o x.csv/ makes no folder"
code 0 $w run hog -q -r 1 --duration 3ms -o "$tmp/x.csv"

# hogs is a fragment, which a kind may be taken for; bench has no duration.
code 3 $w run hogs --set workload.kind=hogs
has "$tmp/err" 'a fragment by its name is base = "NAME"'
code 2 $w bench --duration 1s
has "$tmp/err" "Did you mean '--best-of'?"

# Versions that do not exist, even where the load does not ask for them.
code 3 $w run hog --set kernel.pipe=9.9
has "$tmp/err" "6.0 to 6.18, freebsd"
code 3 $w run hog --vary kernel.tcp=6.12,7.1
has "$tmp/err" "--vary kernel.tcp=7.1"
code 3 $w run hog --set kernel.arch=i586
has "$tmp/err" "i386 x86_64 ia64"

# Notes of points are whole; a mean above the p99 is explained.
code 0 $w run hog -r 1 --duration 3ms --warmup 2ms --vary workload.chunk=10ms,20ms
tr -s '\n ' ' ' <"$tmp/out" | grep -q "or one piece of work takes longer" || fail "a note of a point is cut: $(grep -A4 Note "$tmp/out")"
cat >"$tmp/tail.cfg" <<'CFG'
schema = 1;
machine : { base = "smp2"; };
kernel : { base = "linux-6.12"; };
workload = ( { kind = "custom"; name = "tail";
  tasks = ( { name = "t"; program = [ "loop", "start turn", "run table(1 us:299, 100 ms:1)", "stop turn", "end" ]; } ); } );
run : { duration = "2 s"; warmup = "none"; replications : { min = 2; max = 2; }; };
CFG
code 0 $w run "$tmp/tail.cfg"
has "$tmp/out" "the mean is above p99"

# Work that is over before the run is has no slow phase; replications that differ by less than the goal have no outlier.
code 0 $w run semaphores -r 2
hasnt "$tmp/out" "W014"
code 0 $w run pipe -m smp2 -k linux-6.18 --duration 50ms
hasnt "$tmp/out" "W012"

# A kind, as the summary names it.
code 3 $w run pipe_bw
has "$tmp/err" "'pipe_bw' is a kind; ready to run is 'bw_pipe'"
code 3 $w run pipe_latency
has "$tmp/err" "ready to run is 'lat_pipe'"

# The line of the real tool, typed after our verb.
code 2 $w run hackbench 10 process 100
has "$tmp/err" "--set 'workload.from_cmd=hackbench 10 process 100'"

# Points are named by what tells them apart.
code 3 $w run hog --vary machine=smp2,smp16
has "$tmp/err" "to choose one by name: machine.base=smp2"
code 0 $w run hog --duration 10ms -r 2 --vary machine.base=smp2,smp16 --vary kernel.base=linux-6.12,linux-6.18 --vary workload.nice=0,5
has "$tmp/out" "  kernel=linux-6.12, machine=smp16, nice=5 "
has "$tmp/out" "several machines   UNCALIBRATED"
hasnt "$tmp/out" " costs: "

code 0 $w run lat_pipe -m 'pack:1 core:4 pu:2' -k linux-6.18 -r 2 --duration 50ms
hasnt "$tmp/out" "the mean is above p99"

# What a recording holds is a job: its time is the figure.
code 0 $w import "$(dirname "$0")/../traces/pair_packed.txt" -k linux-6.18-packed -m smp2 -q -o "$tmp/imported.cfg"
code 0 $w run "$tmp/imported.cfg" -r 2
grep -qE '^  Time +[0-9.]+ ' "$tmp/out" || fail "the headline of an import: $(sed -n 6p "$tmp/out")"
hasnt "$tmp/out" "Loops"

# A manifest that lacks a file does not propose the name that it lacks.
code 0 $w run hog -q -r 1 --duration 3ms --manifest "$tmp/m.json"
python3 - "$tmp/m.json" <<'E'
import json, sys
m = json.load(open(sys.argv[1]))
m["files"] = [f for f in m["files"] if "linux" not in f["name"]]
json.dump(m, open(sys.argv[1], "w"))
E
code 3 $w rerun "$tmp/m.json"
has "$tmp/err" "the manifest does not hold this file"
hasnt "$tmp/err" "did you mean"

# A view tells which run it shows.
code 0 $w show timeline pipe
head -1 "$tmp/out" | grep -q '^pipe on itanium2-tiger4, linux-2.6.11, seed 1' || fail "no head line: $(head -1 "$tmp/out")"

# The summary tells how long was simulated.
code 0 $w run pipe -r 2 --duration 50ms --warmup 10ms
has "$tmp/out" "50 ms simulated each, of which 40 ms are counted"

code 0 $w run pipe -r 2 --duration 20ms -m 'pack:2 core:2 pu:1'
has "$tmp/out" "pack:2 core:2 pu:1: 4 CPUs"
hasnt "$tmp/out" "itanium2"
# Its costs are generic, not those of a preset's Itanium; a scenario's machine keeps its own.
code 0 $w run pipe -m 'pack:2 core:2 pu:1' --print-config
grep -q '^machine.clock .*smp2.cfg' "$tmp/out" || fail "costs of a topology: $(grep '^machine.clock ' "$tmp/out")"
sed -i 's/"smp2"/"bcm2712"/' "$tmp/tail.cfg"
code 0 $w run "$tmp/tail.cfg" -m 'pack:2 core:2 pu:1' --print-config
grep -q '^machine.clock .*bcm2712.cfg' "$tmp/out" || fail "costs of a scenario's machine: $(grep '^machine.clock ' "$tmp/out")"

# Points that differ by nothing are the same; values of 0 give no infinite ratio.
code 0 $w run hogs -r 3 --duration 400ms --vary run.window=10ms,20ms
has "$tmp/out" "the same as"
has "$tmp/out" "within 1 %"
code 0 $w run hog -r 2 --duration 3ms --set workload.chunk=1ms --set run.start_spread=3ms --vary run.seed=1,2,3
hasnt "$tmp/out" "inf"

# Shares stay shares.
code 0 $w run pipe -r 2 --duration 30ms --vary kernel.pipe=2.6.10,2.6.11 --export-json "$tmp/s.json"
python3 - "$tmp/s.json" <<'E' 2>/dev/null || fail "an interval of a share beyond 0 .. 1"
import json, sys
for r in json.load(open(sys.argv[1]))["results"]:
    for m in r["metrics"]:
        if m["name"] in ("colocated", "idle_while_work_waits") or m["name"].startswith("time."):
            lo, hi = m["ci"] or (0, 1)
            assert 0 <= lo <= hi <= 1, m
E

# -o makes a folder of results; Markdown of several points begins with their comparison.
code 0 $w run pipe $quick --vary workload.message=1KiB,4KiB -o "$tmp/out.d"
for f in json csv md; do [ -s "$tmp/out.d/result.$f" ] || fail "no result.$f"; done
head -1 "$tmp/out.d/result.md" | grep -q '^| point .*| bandwidth |' || fail "no comparison in front"
code 9 $w run pipe $quick -o "$tmp/no/such"

# A picture of nothing leaves nothing.
printf '{"schema":"wakebal.results/1","results":[]}\n' >"$tmp/empty.json"
(cd "$tmp" && $w plot empty.json) >"$tmp/out" 2>"$tmp/err" && fail "a picture of nothing"
has "$tmp/err" "nothing to draw: no result holds a figure of a workload"
ls "$tmp" | grep -q 'empty-.*\.dat' && fail "an empty data file was left"

# hackbench by name is a job: it runs to its end and its figure is the time.
code 0 $w run hackbench -m smp2 -k linux-6.12 --set workload.groups=1 --set workload.loops=2 -r 2
has "$tmp/out" "  Time  "
hasnt "$tmp/out" "  Messages  "
has "$tmp/out" "run --profile hackbench -m smp2 -k linux-6.12"
# A key that from_cmd overrules would change nothing.
for how in "--set workload.trips=5" "--vary workload.trips=5,6"; do
    code 3 $w run perf-bench-sched-pipe $how
    has "$tmp/err" "${how%%=*} has no effect: from_cmd fixes it at 1000000 and wins"
    has "$tmp/err" '|                                   ^~~~~~~~~~'
    has "$tmp/err" "1 error."
    code 3 $w run perf-bench-sched-pipe --dry-run $how
done
cat >"$tmp/cmd.cfg" <<'EOF'
schema = 1;
machine : { base = "smp2"; };
kernel : { base = "linux-6.12"; };
workload = ( { name = "p"; kind = "pipe_bw"; from_cmd = "taskset -c 0 bw_pipe -m 65536 -M 1m"; }, { name = "h"; kind = "hog"; chunks = 10; } );
sweep : { over = ( { set = "workload.p.message"; values = [ "1 KiB", "2 KiB" ]; } ); };
EOF
for verb in check run "sweep -o $tmp/cmd.db"; do
    code 3 $w $verb "$tmp/cmd.cfg"
    has "$tmp/err" "cmd.cfg:4:79: error: sweep workload.p.message has no effect: from_cmd fixes it at 64 KiB and wins"
done
# Taken back, the command fixes nothing.
code 0 $w run "$tmp/cmd.cfg" --set workload.p.from_cmd= --set workload.p.total=1MiB -r 2
has "$tmp/out" "message=2 KiB"
# The table holds the figure of each workload that runs in the foreground, and no other.
code 0 $w run "$tmp/cmd.cfg" --no-sweep --vary workload.h.chunks=10,20 -r 2
has "$tmp/out" "bandwidth of p"
has "$tmp/out" "work of h"
code 0 $w run "$tmp/cmd.cfg" --no-sweep --set workload.h.background=true --vary run.seed=1,2 -r 2
hasnt "$tmp/out" "work of h"
# A value and its interval have one unit and the same decimals.
code 0 $w run pipe --vary workload.message=4KiB,64KiB -r 3 --duration 50ms
grep -qE ' [0-9.,]+ (±|\+-) [0-9.,]+ [kMG]?B/s ' "$tmp/out" || fail "no interval in the unit of its value"
# One hog, and one for each CPU; every kind of load has a name to run by.
code 0 $w run hog -r 2 --duration 50ms -m smp2 --export-csv "$tmp/one.csv"
code 0 $w run hogs -r 2 --duration 50ms -m smp2 --export-csv "$tmp/all.csv"
python3 - "$tmp/one.csv" "$tmp/all.csv" <<'PY' || fail "hogs is not one hog for each of two CPUs"
import csv, sys
one, both = ([float(r['mean']) for r in csv.DictReader(open(f)) if r['metric'] == 'work'][0] for f in sys.argv[1:])
assert 1.9 < both / one < 2.1, (one, both)
PY
code 0 $w run syscall -r 2 --duration 5ms
has "$tmp/out" "Time per call"
# A run that ends before its tasks have been started says so, and does not call it precise.
code 0 $w run hackbench -m smp16 -k linux-6.12 --duration 5ms -r 2
has "$tmp/out" "none were counted: see note W017 below"
has "$tmp/out" "messages of hackbench is 0: let runs last longer"
code 0 $w help W017
# Nothing at all, or half of it: what to type next.
code 2 $w
has "$tmp/err" "wakebal run hackbench"
code 2 $w run
has "$tmp/err" "For example: wakebal run pipe"
code 0 $w list
has "$tmp/out" "wakebal list machines"
code 2 $w help mesage
has "$tmp/err" "Did you mean 'workload.message'?"
# One point is compared with nothing.
code 0 $w run pipe --vary workload.message=4KiB -r 2 --duration 5ms
has "$tmp/out" "1 point;"
hasnt "$tmp/out" "Summary"
# The topology of a machine needs no scenario.
code 0 $w show topology smp2
has "$tmp/out" "L3"
code 3 $w show timeline smp2
# After a forgotten quote the message names the line where it was.
printf 'schema = 1;\ntitle = "a;\nmachine : { base = "smp2"; };\n' >"$tmp/quote.cfg"
code 3 $w check "$tmp/quote.cfg"
has "$tmp/err" "runs on from line 2"
finish
