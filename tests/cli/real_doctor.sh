#!/bin/bash
# `wakebal doctor`: form of the lines, JSON, exit codes. What it finds depends on the machine and is not asked.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0

fail() {
    echo "FAILED: $*"
    bad=1
}

"$WAKEBAL" doctor --watch 200ms >out 2>err
code=$?
[ $code = 0 ] || [ $code = 8 ] || fail "exit $code, not 0 or 8"
[ -s err ] && fail "stderr: $(head -3 err)"
fails=$(grep -cE '^  fail  ' out)
{ [ "$fails" = 0 ] && [ $code = 0 ]; } || { [ "$fails" -gt 0 ] && [ $code = 8 ]; } || fail "$fails fails, exit $code"
# Every line is a finding, a meaning, a fix, or the sum.
grep -vE '^  (ok  |note|warn|fail)  |^        |^[0-9]+ ok, [0-9]+ note, [0-9]+ warn, [0-9]+ fail' out && fail "a line of another form"
[ "$(grep -cE '^  (ok  |note|warn|fail)  ' out)" -ge 10 ] || fail "few findings"
# What is not just ok says what it means, and what is missing is not just ok.
awk '/^  (note|warn|fail)  / { if (open) exit 1; open = 1; next } /^        / { open = 0; next } { if (open) exit 1 }' out || fail "a note without a meaning"
grep -iE '^  ok .*(cannot|not here|not told|not shown|not reachable|no /proc)' out && fail "an absence is called ok"
grep -q $'\033' out && fail "colour in a file"

"$WAKEBAL" doctor --json --watch 0s >out.json 2>err
code=$?
[ $code = 0 ] || [ $code = 8 ] || fail "--json: exit $code"
if command -v python3 >/dev/null; then
    python3 - <<'PY' || fail "--json"
import json
j = json.load(open('out.json'))
assert j['schema'] == 'wakebal.doctor/1' and j['load'] is None
assert len(j['host']['fingerprint']) == 16 and j['host']['cpus'] >= 1
levels = ['ok', 'note', 'warn', 'fail']
assert j['level'] == max((f['level'] for f in j['findings']), key=levels.index)
for f in j['findings']:
    assert f['level'] in levels and f['text'] and (f['level'] == 'ok') == (not f['meaning']), f
PY
fi
"$WAKEBAL" doctor -q --watch 0s >quiet 2>&1
grep -qE '^  ok' quiet && fail "-q prints what is ok"
"$WAKEBAL" doctor -v --watch 0s >verbose 2>&1
[ "$(wc -l <verbose)" -gt "$(wc -l <quiet)" ] || fail "-v says no more than -q"
"$WAKEBAL" doctor --watch soon >out 2>err
[ $? = 2 ] || fail "--watch soon: not 2"
"$WAKEBAL" doctor word >out 2>err
[ $? = 2 ] || fail "a word too many: not 2"

[ $bad = 0 ] && echo "doctor: fine"
exit $bad
