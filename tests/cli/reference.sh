#!/bin/bash
# docs/scenario-reference.md is what the key table says; every code that is printed is explained.
# After a change of the key table: tests/cli/reference.sh --refresh
set -u
source=${WB_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
wakebal=${WAKEBAL:-$source/build/release/wakebal}
page=$source/docs/scenario-reference.md
[ -x "$wakebal" ] || { echo "there is no $wakebal: build it, or name it in WAKEBAL"; exit 1; }
unset WAKEBAL_PATH
if [ "${1:-}" = --refresh ]; then
    "$wakebal" list keys --markdown >"$page"
    exit
fi
failed=0
if ! diff <("$wakebal" list keys --markdown) "$page" >/dev/null; then
    echo "docs/scenario-reference.md is out of date: WAKEBAL=$wakebal tests/cli/reference.sh --refresh"
    failed=1
fi
cd "$source" || exit 1
for code in $(grep -rhoE '"[EW][0-9]{3}"' --include='*.c' sim cli models plots validate | tr -d '"' | sort -u); do
    "$wakebal" help "$code" >/dev/null 2>&1 || { echo "wakebal help $code explains nothing"; failed=1; }
done
# The examples of the guide are scenarios.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
awk -v dir="$tmp" '/^```cfg/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (dir "/" n ".cfg") }' docs/scenario-files.md
for file in "$tmp"/*.cfg; do
    "$wakebal" check "$file" >/dev/null || { echo "an example of docs/scenario-files.md is wrong"; failed=1; }
done
exit "$failed"
