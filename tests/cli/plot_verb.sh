#!/bin/bash
# `wakebal plot`: kinds, formats, files, axes of a study, and a machine without gnuplot.
. "$(dirname "$0")/lib_experiment.sh"
golden=$(dirname "$(readlink -f "$0")")/plot_golden
cd "$tmp" || exit 2
code 0 $w sweep pipe -q -r 2 --duration 20ms --warmup none --set 'run.window=2ms' --vary workload.message=4KiB,64KiB --vary workload.copies=1,2 -o s.db --export-json all.json
code 0 $w run pipe -q -r 2 --duration 20ms --warmup none --set 'run.window=2ms' --vary workload.message=4KiB,64KiB --export-json r.json
mkdir empty
full=$(readlink -f "$w")
PATH=$tmp/empty code 7 "$full" plot r.json --kind bars -o none
has err "gnuplot not found. Data and script were written"
[ -s none.dat ] && [ -s none.gp ] || fail "data and script are to be kept"
PATH=$tmp/empty code 0 "$full" plot r.json --kind bars --terminal # needs no gnuplot

# What is wrong is told.
code 2 $w plot r.json --kind pie
# A word of another program leads to the kind that shows it, not to the one that is spelled alike.
for pair in latency:cdf percentiles:cdf Distribution:cdf gantt:timeline sensitivity:tornado heatmap:heat histgram:cdf bar:bars; do
    code 2 $w plot r.json --kind ${pair%:*}
    grep -q "Did you mean '${pair#*:}'?" err || fail "--kind ${pair%:*} has no hint to ${pair#*:}"
done
has err "One of: windows, bars, cdf, lines, heat, stacks, migrations, timeline, scatter, tornado"
code 2 $w plot r.json --format gif
has err "One of: png, svg, pdf, terminal"
code 3 $w plot absent.json
code 3 $w plot absent.db
echo '{"a":1}' >wrong.json
code 3 $w plot wrong.json
echo '{"a":' >broken.json
code 3 $w plot broken.json
has err "broken.json:"
head -c 3000 s.db >cut.db
code 3 $w plot cut.db
code 3 $w plot r.json --kind bars --metric no_such_figure -o x
has err "nothing to draw"
code 3 $w plot s.db --kind lines --x no_such_key -o x
has err "no axis is called 'no_such_key'; the points differ in workload."
code 3 $w plot s.db --kind scatter -o x
has err "scatter is drawn of wakebal.validation/1"
code 3 $w plot r.json --only message=1KiB -o x
has err "nothing to draw: no point is left"
printf '{"schema":"wakebal.results/1","results":[]}' >empty.json
code 3 $w plot empty.json -o x
has err "nothing to draw: no result holds a figure of a workload"
code 2 $w plot r.json --only message
code 2 $w plot r.json --vary workload.copies=1,2
has err "--only"
code 2 $w plot pipe --kind timeline --from 3ms --to 2ms
code 2 $w plot r.json --from 3ms
ls x.* 2>/dev/null && fail "files of a picture that there is not"

cat >v.json <<'J'
{"schema": "wakebal.validation/1", "machine": "m.cfg", "kernel": "k.cfg", "cases": [
 {"name": "near", "class": "one CPU", "unit": "s", "metric": "round_trip",
  "predicted": {"value": 1e-6, "lo": 0.9e-6, "hi": 1.2e-6}, "measured": {"median": 1.1e-6, "p10": 1e-6, "p90": 1.2e-6},
  "score": {"band": 0.15, "right": true}},
 {"name": "far off", "class": "two CPUs", "unit": "s", "metric": "round_trip",
  "predicted": {"value": 9e-6, "lo": 8e-6, "hi": 12e-6}, "measured": {"median": 4e-6, "p10": 3e-6, "p90": 5e-6},
  "score": {"band": 0.3, "right": false}},
 {"name": "rate", "class": "two CPUs", "unit": "B/s", "metric": "bandwidth",
  "predicted": {"value": 1e9, "lo": 8e8, "hi": 1.2e9}, "measured": {"median": 1.3e9, "p10": 1e9, "p90": 2e9},
  "score": {"band": 0.3, "right": true}}]}
J
cat >c.json <<'J'
{"schema": "wakebal.cases/1", "cases": [{"name": "c", "title": "A case", "rows": [
 {"name": "ratio", "unit": "1", "simulated": 2.0, "ci": [1.9, 2.1], "published": 2.2, "sensitivity_base": 2.05, "sensitivity": [
  {"key": "machine.ipi.entry", "low": "100 ns", "high": "500 ns", "at_low": 1.95, "at_high": 2.1},
  {"key": "machine.idle.halt.exit", "low": "1 us", "high": "9 us", "at_low": 2.6, "at_high": 1.2}]}]}]}
J
cat >t.json <<'J'
{"schema": "wakebal.timeline/1", "title": "two tasks", "from_s": 0.001, "until_s": 0.0013, "cpus": 2, "tasks": ["swapper", "a:1", "b:2"],
 "runs": [[0, 1, 0.001, 0.0011], [1, 2, 0.00105, 0.0012], [0, 1, 0.00125, 0.0013]],
 "wakes": [[0.00104, 0, 0.00105, 1, 2], [0.00119, 1, 0.00125, 0, 1]], "moves": [[0.00104, 0, 1, 2]]}
J
cat >m.json <<'J'
{"schema": "wakebal.migrations/1", "title": "four CPUs", "from_s": 0, "until_s": 2, "cpus": [
 {"cpu": 0, "domains": [{"level": "MC", "first": 0}, {"level": "NODE", "first": 0}]},
 {"cpu": 1, "domains": [{"level": "MC", "first": 1}, {"level": "NODE", "first": 0}]},
 {"cpu": 2, "domains": [{"level": "MC", "first": 0}, {"level": "NODE", "first": 0}]},
 {"cpu": 3, "domains": [{"level": "MC", "first": 1}, {"level": "NODE", "first": 0}]}],
 "moves": [[0, 2, 40], [2, 0, 38], [1, 3, 12], [3, 1, 9], [2, 1, 3]]}
J
# A sweep with round numbers, so that golden terminal pictures do not depend on the model.
python3 - <<'P' 2>/dev/null || cp all.json g.json
import json
cats = {"copy": .3, "syscall": .15, "sched": .05, "tick": .004, "idle": .496}
def metric(name, load, unit, v): return {"name": name, "workload": load, "unit": unit, "n": 5, "mean": v, "ci": [v * .9, v * 1.1], "confidence": .95}
json.dump({"schema": "wakebal.results/1", "results": [{
    "label": "workload.message=%s, machine.base=%s" % (m, b), "params": {"workload.message": m, "machine.base": b},
    "run": {"id": "0123abcd", "title": "round numbers", "metric": "bandwidth", "duration_s": 1, "measured_s": 1},
    "machine": {"name": b}, "kernel": {"name": "linux-x"},
    "metrics": [dict(metric("bandwidth", "p", "B/s", 1e9 * (i + 1) * (j + 1)), windows={"width_s": .25, "values": [[1e9, 2e9, 1.5e9, 1e9]]}),
                dict(metric("wake_latency", None, "s", 2e-6), p50=2e-6, hist={"bins": [[1000000, 2000000, 50 * (i + 1)], [2000000, 4000000, 45], [8000000, 9000000, 5]]})]
               + [metric("time." + c, None, "1", v) for c, v in cats.items()]} for i, m in enumerate(("1 KiB", "8 KiB", "64 KiB")) for j, b in enumerate(("smp2", "smp16"))]},
    open("g.json", "w"))
P

source_of() {
    case $1 in
    scatter) echo v.json ;;
    tornado) echo c.json ;;
    timeline) echo t.json ;;
    migrations) echo m.json ;;
    *) echo g.json ;;
    esac
}
kinds="windows bars cdf lines heat stacks migrations timeline scatter tornado"
text_only="bars heat stacks migrations timeline tornado" # these draw a terminal's picture themselves

# Terminal pictures as they were. wakebal's own need no gnuplot; the others are compared where gnuplot is the 5.4 that made them.
version=$(gnuplot --version 2>/dev/null)
for kind in $kinds; do
    case " $text_only " in
    *" $kind "*) ;;
    *) [[ $version == "gnuplot 5.4"* ]] || continue ;;
    esac
    code 0 $w plot "$(source_of $kind)" --kind $kind --terminal --ascii --color never
    [ -s out ] || fail "nothing on the terminal of $kind"
    LC_ALL=C grep -q $'[\f\033]' out && fail "form feeds or escapes in $kind"
    if [ "${1-}" = --refresh ]; then
        mkdir -p "$golden" && cp out "$golden/$kind.txt"
    else
        diff -u "$golden/$kind.txt" out || fail "the terminal picture of $kind changed (tests/cli/plot_verb.sh --refresh)"
    fi
done
[ "$version" ] || finish

for kind in $kinds; do
    from=$(source_of $kind)
    code 0 $w plot "$from" --kind $kind -o pic-$kind
    [ -s err ] && grep -qv '^Picture: ' err && fail "$kind: $(head -3 err)"
    file=$(head -c 4 pic-$kind.png | od -An -c | tr -d ' ')
    [ "$file" = '211PNG' ] || fail "pic-$kind.png is no PNG"
    [ -s pic-$kind.dat ] && [ -s pic-$kind.gp ] || fail "no data and script of $kind"
    cp pic-$kind.png first.png
    rm pic-$kind.png
    gnuplot pic-$kind.gp >again 2>&1 || fail "gnuplot pic-$kind.gp by hand"
    # In the C locale it warns of degree signs; legends are drawn of what is not there.
    grep -v 'degree sign\|no valid points' again && fail "gnuplot has something to say on $kind"
    cmp -s first.png pic-$kind.png || fail "pic-$kind.gp by hand draws something else"
    code 0 $w plot "$from" --kind $kind -o pic-$kind.svg
    head -c 200 pic-$kind.svg | grep -q '<svg\|<?xml' || fail "pic-$kind.svg is no SVG"
    code 0 $w plot "$from" --kind $kind -o one-$kind.pdf
    cp one-$kind.pdf first.pdf
    code 0 $w plot "$from" --kind $kind -o one-$kind.pdf
    [ "$(head -c 5 one-$kind.pdf)" = '%PDF-' ] || fail "one-$kind.pdf is no PDF"
    cmp -s first.pdf one-$kind.pdf || fail "one-$kind.pdf is different the second time"
done

# A study and its export give the same picture; axes go where they are told.
code 0 $w plot s.db --kind lines --x message --series copies -o of-db
code 0 $w plot all.json --kind lines --x message --series copies -o of-json
cmp -s of-db.dat of-json.dat || fail "a study and its export are drawn differently"
has of-db.dat '"copies=2"'
code 0 $w plot s.db --kind lines --x copies --facets message -o facets
has facets.gp "set title 'message=64KiB'"
# Small multiples of kinds that draw a curve or a row a point: a panel a value, the same look of a curve in all of them.
for kind in cdf windows stacks; do
    code 0 $w plot s.db --kind $kind --facets message -o multi-$kind
    for panel in 4KiB 64KiB; do has multi-$kind.gp "set title 'message=$panel'"; done
    [ -s multi-$kind.png ] || fail "no small multiples of $kind"
    code 0 $w plot s.db --kind $kind --facets message --terminal --ascii --color never
    has out "message=64KiB"
    code 0 $w plot s.db --kind $kind --facets message,copies -o four-$kind.svg
    [ "$(grep -c "^set title '" four-$kind.gp)" -ge 4 ] || fail "four panels of $kind"
    code 3 $w plot s.db --kind $kind --facets no_such_key -o x
    has err "no axis is called 'no_such_key'"
done
[ "$(grep -c ' ls 1 pi' multi-cdf.gp)" = "$(grep -c ' ls 2 pi' multi-cdf.gp)" ] || fail "curves of the panels do not have the same looks"
has multi-windows.gp "title 'copies=2'"
has four-stacks.dat '"message=4KiB, copies=2"'
# What a kind would not obey is not taken.
for option in "cdf --x copies" "windows --series copies" "stacks --metric bandwidth" "heat --series copies" "stacks --x copies"; do
    code 2 $w plot s.db --kind $option -o x
    has err "has no --"
done
code 2 $w plot v.json --facets message -o x
has err "scatter has no --facets"
code 2 $w plot pipe --kind timeline --only copies=1 -o x
ls x.* 2>/dev/null && fail "files of a picture that was refused"
code 0 $w plot s.db --kind heat --x copies --y message --metric wake_latency.p99 -o heat
has heat.gp "wake_latency.p99 (us)"
code 0 $w plot s.db --x message --only copies=2 -o one
has one.gp "kind lines"
grep -c '^# "' one.dat | grep -qx 1 || fail "--only copies=2 leaves one line"

code 0 $w plot r.json -o folder/
[ -s folder/r-bars.png ] || fail "several points are drawn as bars into the folder"
code 0 $w plot pipe $quick --kind windows --set run.window=2ms -o direct.svg
[ -s direct.svg ] || fail "a scenario is drawn directly"
# What has no title is called by its figure; both axes of a terminal have names with units; no curve lies under the frame.
code 0 $w plot pipe $quick --kind windows --set run.window=2ms --terminal
for text in "bandwidth of pipe over time" "bandwidth (GB/s)" "share of time on one CPU" "simulated time (s)"; do has out "$text"; done
grep -q "^ *+-*|\** *$" out && fail "a curve on the frame"
code 0 $w plot pipe $quick --kind cdf --terminal
for text in "distribution of wake_latency" "share of values not above" "wake_latency (us)"; do has out "$text"; done
# Its start is a whole number of microseconds.
code 0 $w plot pipe --kind timeline -o line
grep -Eq "^set xlabel 'time \(us\) from [0-9]+(\.[0-9]{1,3})? ms'" line.gp || fail "a start that nobody can read: $(grep 'set xlabel' line.gp)"
code 0 $w plot pipe --kind timeline --from 2ms --to 5ms -o line
awk '/^# wakeups/ { on = 1; next } /^# migr/ { on = 0 } on && /^[0-9]/ { n++ } END { exit n < 3 }' line.dat || fail "no arrows of wakeups"
code 0 $w plot hogs -q --kind migrations --duration 300ms -m smp16 --terminal
has out "moves in"
finish
