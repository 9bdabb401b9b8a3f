#!/bin/bash
# rerun: a manifest is enough, whatever became of the files; --check finds what differs.
. "$(dirname "$0")/lib_experiment.sh"
mkdir "$tmp/there"
cd "$tmp/there"
cat >mine.cfg <<'C'
schema = 1;
title  = "a pipe of mine";
machine : { base = "smp2"; };
kernel : { base = "linux-2.6.22"; };
@include "load.inc"
run : { replications : { min = 2; max = 2; }; duration = "20 ms"; warmup = "none"; };
C
echo 'workload = ( { kind = "pipe_bw"; message = "4 KiB"; } );' >load.inc
printf '1KiB\n2KiB\n' >sizes
code 0 $w run mine.cfg -q -s kernel.hz=250 --export-json r.json --export-csv=r.csv --manifest m.json
code 0 $w sweep mine.cfg -q --vary workload.message=@sizes -o s.db --manifest ms.json --export-json s.json
for m in m.json ms.json s.db; do
    code 0 $w rerun $m --check
    has "$tmp/out" "same: "
done
# The files may go; what was noted is what is read.
cp m.json s.db ..
cd ..
rm -r there
code 0 $w rerun m.json --check
code 0 $w rerun s.db --check
echo 'schema = 1; workload = ( { kind = "hog"; } );' >mine.cfg
code 0 $w rerun m.json --check
rm mine.cfg
# Outputs on demand.
code 0 $w rerun m.json -o "$tmp/again"
grep -q '"sha256": "'"$(sha256sum again/results.json | cut -d' ' -f1)"'"' m.json || fail "the JSON written again differs"
[ -s again/manifest.json ] || fail "no manifest of the repetition"
code 0 $w rerun s.db -o again
[ -s again/study.db ] || fail "no study of the repetition"
ls -d "${TMPDIR:-/tmp}"/wakebal-rerun-* >/dev/null 2>&1 && fail "temporary folders are left"
# Differences are found and named.
sed 's/"fingerprint": "\(..\)/"fingerprint": "00/' m.json >bad.json
code 4 $w rerun bad.json --check
has out "another fingerprint"
code 3 $w rerun none.json
echo '{}' >empty.json
code 3 $w rerun empty.json
has err "no manifest of schema"
sed 's/a pipe of mine/a pipe of thine/' m.json >changed.json
code 3 $w rerun changed.json --check
has err "its sum differs"
# Nothing is written outside the folder: not the trace, not what "-qo FILE" names.
code 0 $w run pipe --trace -r 1 --duration 2ms -qo my.trace --manifest t.json
mkdir elsewhere
(cd elsewhere && $w rerun ../t.json -q >/dev/null 2>&1) || fail "a run with a trace cannot be repeated"
[ -z "$(ls elsewhere)" ] || fail "repeating a run left $(ls elsewhere) here"
rm my.trace
code 0 $w rerun t.json -q -o traced
[ -s traced/trace.txt ] || fail "the trace is not in the folder"
[ -e my.trace ] && fail "the first trace was written again"
sed 's/^ *"run",/"bench",/' m.json >other.json
code 3 $w rerun other.json
finish
