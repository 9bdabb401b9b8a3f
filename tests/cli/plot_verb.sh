#!/bin/bash
# `wakebal plot`: kinds, formats, files, and a machine without gnuplot.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2
code 0 $w run pipe -q -r 2 --duration 20ms --warmup none --set 'run.window=2ms' --vary workload.message=4KiB,64KiB --export-json r.json
mkdir empty
full=$(readlink -f "$w")
PATH=$tmp/empty code 7 "$full" plot r.json --kind bars -o none
has err "gnuplot not found. Data and script were written"
[ -s none.dat ] && [ -s none.gp ] || fail "data and script are to be kept"
PATH=$tmp/empty code 0 "$full" plot r.json --kind bars --terminal # needs no gnuplot
code 2 $w plot r.json --kind pie
has err "One of: windows, bars, cdf"
code 3 $w plot absent.json
echo '{"a":1}' >wrong.json
code 3 $w plot wrong.json
echo '{"a":' >broken.json
code 3 $w plot broken.json
has err "broken.json:"
code 3 $w plot r.json --kind bars --metric no_such_figure -o x
has err "nothing to draw"
command -v gnuplot >/dev/null || finish
for kind in windows bars cdf; do
    code 0 $w plot r.json --kind $kind -o pic-$kind
    file=$(head -c 4 pic-$kind.png | od -An -c | tr -d ' ')
    [ "$file" = '211PNG' ] || fail "pic-$kind.png is no PNG"
    code 0 $w plot r.json --kind $kind --format svg -o pic-$kind
    head -c 200 pic-$kind.svg | grep -q '<svg\|<?xml' || fail "pic-$kind.svg is no SVG"
    code 0 $w plot r.json --kind $kind --terminal
    [ -s out ] || fail "nothing on the terminal"
    LC_ALL=C grep -q $'[\f\033]' out && fail "form feeds or escapes in a file"
done
code 0 $w plot r.json -o folder/
[ -s folder/r-bars.png ] || fail "several points are drawn as bars into the folder"
code 0 $w plot pipe $quick --kind windows --set run.window=2ms -o direct.svg
[ -s direct.svg ] || fail "a scenario is drawn directly"
finish
