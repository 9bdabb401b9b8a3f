#!/bin/bash
# Every command of docs/plots.md runs as it is shown, and makes the picture that stands there.
# --refresh: put the pictures, and the sums that tell when they are stale, into docs/img/plots.
. "$(dirname "$0")/lib_experiment.sh"
doc=${WB_SOURCE_DIR:?}/docs/plots.md
img=$WB_SOURCE_DIR/docs/img/plots
mkdir "$tmp/bin" "$tmp/here"
ln -s "$w" "$tmp/bin/wakebal"
export PATH="$tmp/bin:$PATH"
cd "$tmp/here" || exit 2
cp "$img/validation.json" .
for kind in windows bars cdf lines heat stacks migrations timeline scatter tornado; do
    grep -q "^!\[$kind\](img/plots/$kind.png)" "$doc" || fail "no picture of $kind on the page"
    [ -s "$img/$kind.png" ] || [ "${1-}" = --refresh ] || fail "no docs/img/plots/$kind.png"
done
command -v gnuplot >/dev/null || finish
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$doc" >"$tmp/commands"
n=0
while IFS= read -r line; do
    n=$((n + 1))
    bash -c "$line" >"$tmp/out" 2>"$tmp/err"
    got=$?
    [ $got = 0 ] || { fail "exit $got: $line"; head -5 "$tmp/err" >&2; }
done <"$tmp/commands"
[ $n -ge 10 ] || fail "only $n commands on the page"
# How it is labelled and styled, without numbers: those follow the model and are not asked for.
for gp in *.gp; do grep -E '^set (.*label|title|key|style|palette)' "$gp" | sed -E 's/run [0-9a-f]{8}/run/g; s/[0-9][0-9a-f.]*//g' | sha256sum | sed "s/-\$/$gp/"; done >sums
if [ "${1-}" = --refresh ]; then
    cp ./*.png "$img/" && cp sums "$img/sums"
else
    diff -u "$img/sums" sums || fail "pictures of docs/plots.md are stale: tests/cli/docs_plots.sh --refresh, then look at them"
fi
finish
