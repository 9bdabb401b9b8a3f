#!/bin/bash
# Every command of docs/studies.md runs as it is shown, in order, and succeeds.
. "$(dirname "$0")/lib_experiment.sh"
doc=${WB_SOURCE_DIR:?}/docs/studies.md
mkdir "$tmp/bin" "$tmp/here"
ln -s "$w" "$tmp/bin/wakebal"
export PATH="$tmp/bin:$PATH"
cd "$tmp/here"
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$doc" >"$tmp/commands"
n=0
while IFS= read -r line; do
    n=$((n + 1))
    # 6 = the precision goal was missed in these short runs: no mistake of the page.
    bash -c "$line" >"$tmp/out" 2>"$tmp/err"
    got=$?
    [ $got = 0 ] || [ $got = 6 ] || { fail "exit $got: $line"; head -5 "$tmp/err" >&2; }
done <"$tmp/commands"
[ $n -ge 20 ] || fail "only $n commands on the page"
has changes.csv "point,metric"
[ -s pipe.csv ] && [ -s parts.json ] && [ -s again/results.json ] || fail "outputs of the page are missing"
finish
