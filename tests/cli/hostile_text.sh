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
if command -v gnuplot >/dev/null; then
    for kind in windows bars cdf; do
        code 0 $w plot e.json --kind $kind -o "p-$kind"
        [ -s "p-$kind.png" ] || fail "no picture of $kind"
        LC_ALL=C grep -q '`' "p-$kind.gp" && fail "a backquote in the script of $kind"
        code 0 $w plot e.json --kind $kind --terminal
        LC_ALL=C grep -q $'[\001-\010\013-\037]' "$tmp/out" && fail "control characters in the terminal plot of $kind"
    done
fi
ls gp1 gp2 sh1 sh2 sh3 2>/dev/null && fail "text of a scenario was run"

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
