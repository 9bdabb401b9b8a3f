#!/bin/bash
# `wakebal reproduce`: table, verdicts, committed verdicts, pictures.
. "$(dirname "$0")/lib_experiment.sh"
mkdir -p "$tmp/path/cases"
cat >"$tmp/path/cases/tiny.cfg" <<'E'
schema = 1;
title = "a small case";
source = "nobody, nowhere";
machine : { base = "smp2"; };
kernel : { base = "linux-2.6.11-i386"; };
workload = ( { kind = "pipe_bw"; message = "64 KiB"; cpus = "0"; start = "0 s"; } );
run : { duration = "20 ms"; warmup = "none"; window = "2 ms"; replications : { min = 3; max = 3; }; };
variants = ( { name = "old"; set = [ "kernel.pipe=2.6.10" ]; }, { name = "new"; set = [ "kernel.pipe=2.6.11" ]; } );
rows = (
  { name = "same CPU"; class = "consistency"; variant = "new"; metric = "colocated"; published = 1; tolerance = "1 %"; },
  { name = "wakes per 64 KiB"; class = "consistency"; metric = "pipe.wake_plain_writer[new] * 65536 / (bandwidth[new] * measured[new])"; published = 1; tolerance = "10 %"; },
  { name = "new is faster"; class = "predicts"; metric = "bandwidth[new] / bandwidth[old]"; direction = "higher"; reason = "fewer switches"; },
  { name = "new is slower"; class = "predicts"; metric = "bandwidth[new] / bandwidth[old]"; direction = "lower"; },
  { name = "just shown"; class = "consistency"; variant = "new"; metric = "bandwidth"; unit = "B/s"; }
);
E
export WAKEBAL_PATH="$tmp/path"
code 0 $w reproduce tiny --dry-run
has "$tmp/out" "5 rows"
code 4 $w reproduce tiny --export-json "$tmp/r.json" # one prediction fails
has "$tmp/out" "published"
has "$tmp/out" "predictions: 1 pass, 1 fail, 0 undetermined; consistency: 2 of 2"
awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' "$tmp/out" || fail "lines of more than 100 columns"
has "$tmp/r.json" '"schema": "wakebal.cases/1"'
has "$tmp/r.json" '"verdict": "fail"'
[ "$(grep -c '"verdict"' "$tmp/r.json")" = 4 ] || fail "rows without a claim must have no verdict"

# Committed verdicts: agreement is green, failures included; a change in either direction is red.
code 4 $w reproduce tiny -q --write-expected "$tmp/want.json"
code 0 $w reproduce tiny -q --expected "$tmp/want.json"
sed '0,/"fail"/ s/"fail"/"pass"/' "$tmp/want.json" >"$tmp/other.json"
code 4 $w reproduce tiny -q --expected "$tmp/other.json"
has "$tmp/err" "verdict changed: tiny: 'new is slower' was pass and is now fail"
sed 's/"pass"/"fail"/' "$tmp/want.json" >"$tmp/other.json"
code 4 $w reproduce tiny -q --expected "$tmp/other.json"
has "$tmp/err" "was fail and is now pass"
sed 's/"new is slower"/"another row"/' "$tmp/want.json" >"$tmp/other.json"
code 4 $w reproduce tiny -q --expected "$tmp/other.json"
has "$tmp/err" "is now gone"
echo '{}' >"$tmp/other.json"
code 3 $w reproduce tiny -q --expected "$tmp/other.json"
code 3 $w reproduce tiny -q --expected "$tmp/absent.json"

# The same for any number of jobs.
code 4 $w reproduce tiny -j 1 --export-json "$tmp/j1.json"
code 4 $w reproduce tiny -j 3 --export-json "$tmp/j3.json"
cmp "$tmp/j1.json" "$tmp/j3.json" || fail "the number of jobs changes the case"

# Mistakes in a case have a place.
sed 's/bandwidth\[new\] \/ bandwidth\[old\]/bandwidth[nwe] \/ bandwidth[old]/' "$tmp/path/cases/tiny.cfg" >"$tmp/bad.cfg"
code 3 $w reproduce "$tmp/bad.cfg"
has "$tmp/err" "no variant is called 'nwe'"
sed 's/published = 1;/published = "many";/' "$tmp/path/cases/tiny.cfg" >"$tmp/bad.cfg"
code 3 $w reproduce "$tmp/bad.cfg"
has "$tmp/err" "bad.cfg:"
code 3 $w reproduce bw_pipe
has "$tmp/err" "no rows"

if command -v gnuplot >/dev/null; then
    code 4 $w reproduce tiny --plot "$tmp/pictures"
    for f in tiny-windows.png tiny-windows.gp tiny-windows.dat tiny-bars.png tiny-bars.gp tiny-bars.dat; do
        [ -s "$tmp/pictures/$f" ] || fail "no $f"
    done
    (cd "$tmp/pictures" && mv tiny-windows.png old.png && gnuplot tiny-windows.gp && cmp old.png tiny-windows.png) || fail "the script does not draw the same again"
fi
# Variants that are said to be the same are told apart by their names.
if command -v gnuplot >/dev/null; then
    sed 's/{ name = "\(old\|new\)";/{ name = "\1"; help = "one text for all";/g' "$tmp/path/cases/tiny.cfg" >"$tmp/path/cases/alike.cfg"
    code 4 $w reproduce alike -q --plot "$tmp/pictures"
    has "$tmp/pictures/alike-bars.dat" '"old: one text for all"'
    has "$tmp/pictures/alike-bars.dat" '"new: one text for all"'
    ls "$tmp/pictures" | grep -q '^tiny-bars' || fail "pictures of another case are gone"
fi
finish
