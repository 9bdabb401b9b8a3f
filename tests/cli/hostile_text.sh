#!/bin/bash
# Titles and names that try to be commands, markup or formulas are shown, never run: terminal, JSON, CSV, Markdown, gnuplot.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2
cat >evil.cfg <<'E'
schema = 1;
title = "x'; system('touch gp1') \"; !touch gp2 `touch sh1` $(touch sh2) <script>alert(1)</script> \\ @HOME _^{} | \x1b[31mred\x07";
machine : { base = "smp2"; name = "=cmd|'/c calc'!A1"; };
kernel : { base = "linux-2.6.11-i386"; name = "`touch sh3`\n[31m"; };
workload = ( { kind = "pipe_bw"; name = "=1+1\",\"x"; message = "4 KiB"; cpus = "0"; } );
run : { duration = "20 ms"; warmup = "none"; window = "2 ms"; replications : { min = 2; max = 2; }; };
E
code 0 $w run evil.cfg --export-json e.json --export-csv e.csv --export-markdown e.md --export-data e.dat
LC_ALL=C grep -q $'[\001-\010\013-\037]' "$tmp/out" && fail "control characters reach the terminal"
LC_ALL=C grep -q $'[\001-\010\013-\037]' e.json e.csv e.md e.dat && fail "control characters in an export"
has e.json '<script>'
has e.csv "\"'=1+1\"\",\"\"x\""
grep -qE '(^|,)"?[=+@]' e.csv && fail "a formula in the CSV"
hasnt e.md '<script>'
awk -F'|' '/^\|/ { gsub(/\\\|/, ""); n[gsub(/\|/, "|")]++ } END { exit length(n) != 1 }' e.md || fail "a name broke the Markdown table"
cat >v.json <<'J'
{"schema": "wakebal.validation/1", "machine": "`touch sh5`", "cases": [{"name": "x'; system('touch gp5') # `touch sh5`\n\u001b[31m", "class": "c'\n; system 'touch gp5'",
  "unit": "'; system('touch gp5')", "metric": "m\"'`touch sh5`", "predicted": {"value": 1, "lo": 0.5, "hi": 2}, "measured": {"median": 3, "p10": 2, "p90": 4},
  "score": {"band": 0.1, "right": false}}]}
J
cat >c.json <<'J'
{"schema": "wakebal.cases/1", "cases": [{"title": "'; system('touch gp6') #", "rows": [{"name": "r'\n`touch sh6`", "unit": "\"; system('touch gp6')",
  "simulated": 1, "sensitivity": [{"key": "k\"\n'`touch sh6`", "low": "'; system('touch gp6')", "high": "\" \\n @HEAD@", "at_low": 0.5, "at_high": 2}]}]}]}
J
cat >t.json <<'J'
{"schema": "wakebal.timeline/1", "title": "'\n!touch gp7", "from_s": 0, "until_s": 1, "cpus": 2, "tasks": ["a' ; system('touch gp7') `touch sh7`\n"],
 "runs": [[0, 0, 0, 0.5], [-1, 0, 0, 1], [0, 99, "x", null], [1e300, 0, 0, 1]], "wakes": [[0, 0, 0.2, 1, 0], [null]], "moves": [[0.1, 0, 1, 0], []]}
J
cat >m.json <<'J'
{"schema": "wakebal.migrations/1", "from_s": 0, "until_s": 1, "cpus": [{"cpu": 0, "domains": [{"level": "'\nsystem('touch gp8')", "first": 0}]},
 {"cpu": 1, "domains": [{"level": "`touch sh8`", "first": 0}]}], "moves": [[0, 1, 3], [-1, 77, 2], ["x"]]}
J
code 0 $w run evil.cfg -q --vary workload.message=4KiB,8KiB --vary "kernel.name=plain,x'; system 'touch gp4' # \`touch sh4\` @HEAD@ \\n" --export-json s.json
if command -v gnuplot >/dev/null; then
    for of in windows:e bars:e cdf:e stacks:e bars:s lines:s heat:s stacks:s scatter:v tornado:c timeline:t migrations:m; do
        kind=${of%:*} from=${of#*:}.json
        code 0 $w plot $from --kind $kind -o "p-$kind"
        [ -s "p-$kind.png" ] || fail "no picture of $kind"
        LC_ALL=C grep -q '`' "p-$kind.gp" && fail "a backquote in the script of $kind"
        code 0 $w plot $from --kind $kind --terminal
        LC_ALL=C grep -q $'[\001-\010\013-\037]' "$tmp/out" && fail "control characters in the terminal plot of $kind"
    done
    code 0 $w plot evil.cfg --kind timeline -o p-line
fi
ls gp4 gp5 gp6 gp7 gp8 sh4 sh5 sh6 sh7 sh8 2>/dev/null && fail "text of a document was run"
ls gp1 gp2 sh1 sh2 sh3 2>/dev/null && fail "text of a scenario was run"

# What terminals obey beyond ASCII (C1: U+009B is CSI) and what reorders a line (U+202E), as title, name and task: nowhere in
# what a person reads. JSON keeps it.
for name in "$(printf 'a\302\2331mb')" "$(printf 'a\342\200\256b\342\201\246c')" '\x1b[31m'; do
    cat >odd.cfg <<E
schema = 1;
title = "$name";
machine : { base = "smp2"; title = "$name"; };
kernel : { base = "linux-6.18"; };
workload = ( { kind = "pipe_bw"; name = "$name"; }, { kind = "custom"; name = "own"; background = true;
  tasks = ( { name = "$name"; program = [ "loop", "run 10 us", "sleep 10 us", "end" ]; } ); } );
run : { duration = "20 ms"; warmup = "none"; window = "2 ms"; replications : { min = 2; max = 2; }; };
E
    code 0 $w run odd.cfg --export-json odd.json --export-csv odd.csv --export-markdown odd.md --export-data odd.dat
    cat "$tmp/out" odd.csv odd.md odd.dat >seen
    for words in "show timeline odd.cfg" "show map odd.cfg" "report odd.json -q -o odd.html" "plot odd.cfg --kind timeline --terminal" "run odd.cfg -q --trace -o odd.trace"; do
        code 0 $w $words
        cat "$tmp/out" >>seen
    done
    cat odd.trace odd.html >>seen
    LC_ALL=C grep -aqP '[\x01-\x08\x0b-\x1f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' seen && fail "a terminal would obey a name"
done

# A figure's name becomes a heading of the report's table of points: one column, and no markup.
if command -v python3 >/dev/null; then
    python3 - <<'J'
import json
name = "<b>owned|x"
def one(k):
    return {"label": "k=%d" % k, "params": {"workload.copies": k}, "run": {"id": "0", "title": "t", "metric": name, "replications": 2},
            "machine": {"name": "m"}, "kernel": {"name": "k"},
            "metrics": [{"name": name, "workload": "w", "unit": "1", "mean": k, "ci": [k - .1, k + .1], "n": 2, "confidence": .95, "sd": .1, "better": "higher"}]}
json.dump({"schema": "wakebal.results/1", "results": [one(1), one(2)]}, open("h.json", "w"))
J
    code 0 $w report h.json -q -o h.html
    hasnt h.html '<b>owned'
    has h.html '&lt;b&gt;owned'
    [ "$(grep -A1 '<caption>Points' h.html | grep -o '<th ' | wc -l)" = 8 ] || fail "a bar in a name makes two columns"
fi

# A title of one megabyte is a title.
{
    printf 'schema = 1;\ntitle = "'
    head -c 1000000 /dev/zero | tr '\0' 'A'
    printf '";\n'
    tail -n +3 evil.cfg
} >big.cfg
code 0 $w run big.cfg --export-json big.json --export-markdown big.md
[ "$(wc -c <big.json)" -gt 1000000 ] || fail "the title was lost"
awk 'length($0) > 400 { exit 1 }' "$tmp/out" || fail "a long title floods the terminal"
command -v gnuplot >/dev/null && code 0 $w plot big.json --kind bars -o big
finish
