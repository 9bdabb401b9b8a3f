#!/bin/bash
# Each tests/bad/NNN-name.cfg has one mistake; what `wakebal check` says of it must be NNN-name.expected, byte for byte.
# After a change of keys or texts: tests/cli/bad_scenarios.sh --refresh, then read the difference before committing it.
set -u
cd "${WB_SOURCE_DIR:-$(dirname "$0")/../..}/tests/bad" || exit 1
wakebal=${WAKEBAL:-../../build/release/wakebal}
[ -x "$wakebal" ] || { echo "there is no $wakebal: build it, or name it in WAKEBAL"; exit 1; }
unset WAKEBAL_PATH
failed=0 count=0
for file in [0-9]*.cfg; do
    expected=${file%.cfg}.expected
    output=$(NO_COLOR=1 "$wakebal" check "$file" 2>&1 >/dev/null)
    code=$?
    count=$((count + 1))
    # Where the tree lies is not part of the message.
    output=${output//"$(cd ../.. && pwd)"/SOURCE}
    if [ "${1:-}" = --refresh ]; then
        printf '%s\n' "$output" >"$expected"
    elif [ "$code" -ne 3 ]; then
        echo "$file: exit code $code instead of 3"
        failed=$((failed + 1))
    elif ! diff -u "$expected" <(printf '%s\n' "$output"); then
        failed=$((failed + 1))
    elif [ "$(grep -c '^1 error' "$expected")" -ne 1 ]; then
        echo "$expected: must report exactly one mistake"
        failed=$((failed + 1))
    fi
done
echo "$count broken scenarios, $failed failed"
[ "$count" -ge 60 ] && [ "$failed" -eq 0 ]
