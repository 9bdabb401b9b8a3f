#!/bin/bash
# compare: what it says of studies, runs and exports, in every style, and its exit codes.
. "$(dirname "$0")/lib_experiment.sh"
axes="--vary workload.message=1KiB,4KiB --duration 20ms --warmup none -q"
code 0 $w sweep pipe $axes -r 6 -o "$tmp/base.db" --export-json "$tmp/base.json"
code 0 $w sweep pipe $axes -r 6 -S 99 -o "$tmp/other.db"
code 0 $w sweep pipe $axes -r 6 -k linux-2.6.10 -o "$tmp/small.db"
code 0 $w run pipe --duration 20ms --warmup none -q -r 5 --export-json "$tmp/one.json"

# The same thing: exactly the same, from the study or from its export.
code 0 $w compare "$tmp/base.db" "$tmp/base.json"
has "$tmp/out" "same"
hasnt "$tmp/out" "better"
hasnt "$tmp/out" "worse"
has "$tmp/out" "by pairs with common seeds"
# The same thing with other seeds: independent samples, no star.
code 0 $w compare "$tmp/base.db" "$tmp/other.db"
has "$tmp/out" "by independent samples (Welch)"
has "$tmp/out" "no clear change"
grep -Eq '(better|worse|changed)  \*' "$tmp/out" && fail "other seeds look like a change"
# Another kernel knob: the size comes first, with its interval; stars last.
code 0 $w compare "$tmp/base.db" "$tmp/small.db" --metrics bandwidth
grep -Eq 'bandwidth@pipe.* %  *[-+][0-9.]+ % \([-+].* \.\. .*\)  (better|worse|no clear change)' "$tmp/out" || fail "no change with interval"
code 0 $w compare "$tmp/base.db" --by workload.message --metrics bandwidth --detect 1%
has "$tmp/out" "1KiB"
has "$tmp/out" "n for 1 %"
has "$tmp/out" "better  "

code 2 $w compare "$tmp/base.json"
has "$tmp/err" "wakebal compare study.db --by KEY"

for style in mmtests benchstat markdown csv; do
    code 0 $w compare "$tmp/base.db" "$tmp/small.db" --metrics bandwidth,run_delay --style $style
    cp "$tmp/out" "$tmp/$style"
done
grep -Eq '^Hmean +workload.message=1KiB .*\( +0\.00%\)' "$tmp/mmtests" || fail "mmtests: throughput"
grep -Eq '^Amean +workload.message=4KiB ' "$tmp/mmtests" || fail "mmtests: time"
grep -q '^Stddev' "$tmp/mmtests" || fail "mmtests: spread"
grep -Eq '(~|[-+][0-9.]+%) +\(p=[01]\.[0-9]{3} n=6\+6\)' "$tmp/benchstat" || fail "benchstat"
[ "$(grep -c '^|' "$tmp/markdown")" = 6 ] || fail "markdown: $(grep -c '^|' "$tmp/markdown") lines"
[ "$(awk -F, '{print NF}' "$tmp/csv" | sort -u)" = 18 ] || fail "csv: columns"
[ "$(wc -l <"$tmp/csv")" = 5 ] || fail "csv: rows"
# mmtests: positive is better, whichever way the figure goes.
awk -F, 'NR > 1 && $2 == "run_delay" && $1 ~ /1KiB/ {print ($10 > 0) ? "worse" : "better"}' "$tmp/csv" >"$tmp/way"
grep -E '^Amean .*1KiB' "$tmp/mmtests" | grep -q -- '-[0-9.]*%[)*]$' && got=worse || got=better
[ "$got" = "$(cat "$tmp/way")" ] || fail "mmtests: sign of a time"

# --fail-if: on the interval.
code 0 $w compare base="$tmp/base.db" new="$tmp/base.json" --fail-if 'any worse than base'
code 4 $w compare base="$tmp/base.db" --by workload.message --metrics bandwidth --fail-if 'bandwidth changed by 5%'
has "$tmp/err" "failed: "
code 0 $w compare "$tmp/base.db" --by workload.message --metrics bandwidth --fail-if 'bandwidth worse than 1KiB by 3%'
code 0 $w compare "$tmp/base.db" --by workload.message --metrics bandwidth --fail-if 'bandwidth worse than base by 3%'
code 2 $w compare "$tmp/base.db" "$tmp/other.db" --fail-if 'bandwidth worse than nobody by 3%'
code 2 $w compare "$tmp/base.db" "$tmp/other.db" --fail-if 'nonsense worse than base by 3%'
code 2 $w compare "$tmp/base.db" "$tmp/other.db" --fail-if 'bandwidth is bad'
code 2 $w compare "$tmp/base.db" "$tmp/other.db" --metrics bandwith
has "$tmp/err" "Did you mean 'bandwidth'?"
code 2 $w compare "$tmp/base.db" "$tmp/other.db" --style tabel
has "$tmp/err" "Did you mean 'table'?"
code 2 $w compare "$tmp/base.db"
code 2 $w compare "$tmp/base.db" --by nothing
code 3 $w compare "$tmp/base.db" "$tmp/none.db"
echo '{"schema": "else/1"}' >"$tmp/else.json"
code 3 $w compare "$tmp/base.db" "$tmp/else.json"
has "$tmp/err" "is no result of wakebal"
echo 'not json' >"$tmp/text"
code 3 $w compare "$tmp/base.db" "$tmp/text"
# Three columns; one of them lacks a point.
code 0 $w compare "$tmp/base.db" "$tmp/other.db" "$tmp/one.json" --metrics bandwidth
has "$tmp/out" "only in the base"
has "$tmp/out" "of the base"
# Standard output that takes nothing.
[ -c /dev/full ] && { $w compare "$tmp/base.db" "$tmp/other.db" --style csv >/dev/full 2>"$tmp/err"; [ $? = 9 ] || fail "full output"; }

# --- another model's study can be compared, if not continued
cp "$tmp/base.db" "$tmp/old.db"
sum=$(printf 'model\n0.0.1+123456789abc\n' | sha256sum | cut -d' ' -f1)
sqlite3 "$tmp/old.db" "UPDATE study SET value = '0.0.1+123456789abc', sum = '$sum' WHERE key = 'model'"
code 0 $w compare "$tmp/old.db" "$tmp/base.db" --metrics bandwidth
# Two studies of the same thing with other seeds: of hundreds of figures at most 5 % look different at the 5 % level, and no star is given.
same="pipe --vary workload.message=1KiB,16KiB --vary machine.base=smp2,smp16 -r 6 --duration 10ms --warmup none -q"
code 0 $w sweep $same --seed 1 -o "$tmp/one.db"
code 0 $w sweep $same --seed 77 -o "$tmp/two.db"
code 0 $w compare "$tmp/one.db" "$tmp/two.db" --metrics all --style csv
sed -E 's/"[^"]*"/point/' "$tmp/out" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    $c["p"] ~ /^[0-9]/ { n++; odd += $c["p"] < 0.05; star += $c["p_holm"] < 0.05 }
    END { printf "%d figures, %d below 5 %%, %d after correction\n", n, odd, star; exit !(n >= 200 && odd <= n / 20 && !star) }' || fail "equal studies look different"
finish
