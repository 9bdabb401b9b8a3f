#!/bin/bash
# `wakebal report`: every kind of input becomes one file that needs nothing else, and no text of a user acts in it.
# Opened in a browser: report_browser.sh.
. "$(dirname "$0")/lib_experiment.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$tmp" || exit 2

# page FILE: complete, of one piece, pictures with text, one script.
page() {
    [ "$(head -c 15 "$1")" = '<!DOCTYPE html>' ] || fail "$1: no HTML"
    tail -1 "$1" | grep -q '</html>' || fail "$1: not complete"
    [ "$(grep -c '<script>' "$1")" = 1 ] || fail "$1: one script is expected"
    [ "$(grep -o '<svg' "$1" | wc -l)" = "$(grep -o '<desc id=' "$1" | wc -l)" ] || fail "$1: a picture has no description"
    grep -qE '<svg[^>]*>' "$1" && grep -oE '<svg[^>]*>' "$1" | grep -v 'role="img" aria-labelledby="p[0-9]*t p[0-9]*d"' && fail "$1: svg"
    grep -oE '(src|href)="[^"]*"' "$1" | grep -vE '="(#|data:)' && fail "$1: something is to be loaded"
    grep -qE '(nan|inf)[" ]|[MLHV](-?nan|-?inf)' <(grep -oE ' (d|x|y|cx|cy|width|height)="[^"]*"' "$1") && fail "$1: a coordinate is no number"
    true
}

code 0 $w run pipe -q -r 2 --duration 40ms --warmup none --set run.window=2ms --export-json run.json --manifest run-manifest.json
code 0 $w report run.json -o run.html
page run.html
for text in 'Verdict' 'bandwidth is ' 'assumed' 'kernel.path.context_switch' 'Distribution of wake_latency' 'How to repeat'; do
    grep -q "$text" run.html || fail "run.html has no '$text'"
done
grep -qE 'interval [-0-9.,]+ \.\. [0-9.,]+ [GM]B/s; 2' run.html || fail "the verdict's interval has one unit and digits that tell its ends apart"
code 0 $w report run.json -q -o again.html
cmp -s run.html again.html || fail "the same document gives other bytes"
code 0 $w report run.json run-manifest.json -q -o both.html
page both.html
grep -q 'href="#part2"' both.html || fail "two inputs need contents"
grep -q -- '--manifest run-manifest.json' both.html || fail "the command of the manifest is missing"

# a study; what is kept of the costs names the points that differ
code 0 $w sweep pipe -q -r 2 --duration 10ms --warmup none --vary workload.message=4KiB,64KiB --vary kernel.path.context_switch=500cy,900cy -o study.db
code 0 $w report study.db -q
page study.html
for text in 'Of 4 points' 'bandwidth over ' 'wakebal sweep' 'kernel.path.context_switch' 'Files that were read'; do
    grep -q "$text" study.html || fail "study.html has no '$text'"
done
[ "$(grep -c '<tr><td>kernel.path.context_switch' study.html)" = 2 ] || fail "a cost that is varied has a row for each value"

code 0 $w sweep pipe -q -r 2 --duration 10ms --warmup none --vary workload.message=4KiB,64KiB --shard 1/2 -o half.db
code 0 $w report half.db -q
page half.html
grep -q 'The study is not complete' half.html || fail "a shard is not a complete study"

# a scenario is simulated; published cases; a validation
code 0 $w report hog -q --duration 20ms -r 2 -o hog.html
page hog.html
grep -q "<h2 id=\"part1\">Run</h2>" hog.html || fail "a single run is not several points"
code 0 $w reproduce numaimb-two-hogs -q --export-json cases.json
code 0 $w report cases.json -q -o cases.html
page cases.html
for text in 'Published beside simulated' 'class="good">pass' 'Where its costs come from' 'wakebal reproduce'; do
    grep -q "$text" cases.html || fail "cases.html has no '$text'"
done
code 0 $w validate pipe --predict-only -q -m smp2 -k linux-6.1 --export-json predicted.json
code 0 $w report predicted.json -q -o predicted.html
page predicted.html
grep -q 'Predictions only' predicted.html || fail "nothing was measured, and that is to be said"
code 0 $w report "$here/../support/validation.json" -q -o validation.html
page validation.html
for text in '3 of 4 predictions are right' 'class="bad">wrong' 'Predicted and measured: times'; do
    grep -q "$text" validation.html || fail "validation.html has no '$text'"
done

# hostile texts: titles, names, labels
cat >evil.cfg <<'EOF'
schema = 1;
title = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x01\x1b[31m & </title>";
machine : { base = "smp2"; };
kernel : { base = "linux-2.6.11"; };
workload = ( { kind = "hog"; name = "<b>x</b>"; } );
EOF
code 0 $w report evil.cfg -q --duration 10ms -r 1 -o evil.html --title '</title><script>alert(3)</script>'
page evil.html
grep -qE '<(img|b)[ >]|alert\([0-9]\)</script>' evil.html && fail "markup of a title is markup in the page"
grep -q '&lt;b&gt;x&lt;/b&gt;' evil.html || fail "the workload's name is not shown"
LC_ALL=C grep -q $'[\001\033]' evil.html && fail "control characters in the page"

# mistakes
code 2 $w report
code 3 $w report absent.json -o x.html
echo '{"a":1}' >wrong.json
code 3 $w report wrong.json -o x.html
has err "no result, validation, cases or manifest"
echo '{"a":' >broken.json
code 3 $w report broken.json -o x.html
code 3 $w report absent.db -o x.html
code 9 $w report run.json -o no/such/folder/x.html
[ ! -e x.html ] || fail "a report was written in spite of a mistake"
echo '{"schema":"wakebal.result/1"}' >empty.json
code 0 $w report empty.json -q -o empty.html
echo '{"schema":"wakebal.cases/1","cases":[{"rows":[{}]},7]}' >empty.json
code 0 $w report empty.json -q -o empty.html
echo '{"schema":"wakebal.validation/1","cases":[{"predicted":3},null],"summary":[]}' >empty.json
code 0 $w report empty.json -q -o empty.html
echo '{"schema":"wakebal.results/1","results":[{"params":{"a":[1]},"metrics":[{}],"time":[],"run":{"metric":"x"}},{"label":4}]}' >empty.json
code 0 $w report empty.json -q -o empty.html
# JSON under any name.
code 0 $w run pipe -q -r 2 --duration 10ms --warmup none --export-json any.name --manifest any.man
code 0 $w report any.name any.man -q -o any.html
finish
