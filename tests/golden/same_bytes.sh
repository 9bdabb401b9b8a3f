#!/bin/bash
# Same scenario and seed give the same bytes: with every compiler and optimisation level that runs this test, and for any
# number of jobs. Another seed gives others. (Left-out ticks and segments that run inline: tests/prop/prop_engine.c.)
#
#   same_bytes.sh            compare the results of the scenarios beside this file with same_bytes.sha256
#   same_bytes.sh --update   write that file; the commit then says why the results have changed
#
# Compared is the JSON export without what names the program's version and the text of the files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
w=${WAKEBAL:?}
sums=$here/same_bytes.sha256
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

fail() {
    echo "FAILED: $*" >&2
    bad=1
}

# export NAME OPTIONS...: the JSON of a scenario.
export_json() {
    local name=$1
    shift
    (cd "$tmp" && "$w" run "$here/$name.cfg" -q --progress=never "$@" --export-json -) 2>"$tmp/err" || {
        fail "$name $*: exit $?"
        head -5 "$tmp/err" >&2
    }
}

sum_of() { # FILE
    sed '/^ "costs": \[/,/^ \],/d' "$1" | grep -vE '^ *"(version|scenario_sha256|id)":' | sha256sum | cut -d' ' -f1
}

: >"$tmp/sums"
for cfg in "$here"/*.cfg; do
    name=$(basename "$cfg" .cfg)
    export_json "$name" -j 1 >"$tmp/one"
    export_json "$name" -j 2 >"$tmp/two"
    cmp -s "$tmp/one" "$tmp/two" || fail "$name: -j 1 and -j 2 differ"
    export_json "$name" -j 1 --seed 2 >"$tmp/other"
    [ "$(grep '"fingerprint"' "$tmp/one")" != "$(grep '"fingerprint"' "$tmp/other")" ] || fail "$name: another seed changes nothing"
    grep -q '"fingerprint"' "$tmp/one" || fail "$name: no result"
    echo "$(sum_of "$tmp/one")  $name" >>"$tmp/sums"
done
[ "$(wc -l <"$tmp/sums")" -ge 6 ] || fail "scenarios are missing"

if [ "${1:-}" = --update ]; then
    [ $bad = 0 ] && cp "$tmp/sums" "$sums"
elif ! diff -u "$sums" "$tmp/sums" >&2; then
    fail "results differ from same_bytes.sha256. Meant? Then: WAKEBAL=$w $0 --update"
fi
exit $bad
