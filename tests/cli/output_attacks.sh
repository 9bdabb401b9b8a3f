#!/bin/bash
# Outputs that would destroy something, and names that would do something: refused or harmless, and said in plain letters.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2
short="-r 2 --duration 20ms --warmup none"

# An export may not replace the study that it comes from, under whatever name.
mkdir in
code 0 $w sweep pipe $quick -o s.db
code 0 $w sweep pipe $quick -o in/
ln -s s.db alias
cp s.db before.db
for option in --export-json --export-csv --export-markdown --export-data --manifest; do
    for name in s.db ./s.db alias "$tmp/s.db"; do
        code 2 $w sweep pipe $quick -o s.db $option "$name"
        has err "is the study; an export would destroy it"
    done
    code 2 $w sweep pipe $quick -o in/ $option in/study.db
    code 2 $w sweep pipe $quick -o new.db $option new.db
    [ ! -e new.db ] || fail "new.db was made"
done
cmp -s s.db before.db || fail "the study was changed"
# A manifest that cannot be written is told before anything runs.
code 9 $w run pipe $quick --manifest in
has err "Nothing was run"

# The name of the file that is written beside and then renamed can be guessed: what lies there is not followed.
echo precious >victim
(
    for p in $(seq 1 60); do ln -s victim "g.json.part.$((BASHPID + p))" 2>/dev/null; done
    $w run pipe $quick --export-json g.json
) >out 2>err
[ "$(cat victim)" = precious ] || fail "a planted link was followed"
rm -f g.json.part.*

# A link as output is written through: its target is what is meant. A loop of links is refused.
ln -s target.json link.json
: >target.json
code 0 $w run pipe $quick --export-json link.json
[ -L link.json ] && [ -s target.json ] || fail "a link was replaced"
ln -s l2 l1
ln -s l1 l2
code 9 $w run pipe $quick --export-json l1
code 9 $w sweep pipe $quick -o l1
code 9 $w report pipe $quick -o l1

# Names with line feeds and escapes: no message passes them on.
evil=$(printf 'a\n\033[31mb')
printf '{"\033[31mx' >bad.json
n=0
while IFS= read -r words; do
    # shellcheck disable=SC2086
    eval "$w $words" >out 2>err </dev/null && fail "fine: $words"
    LC_ALL=C grep -q $'[\001-\010\013-\037]' out err && fail "control characters pass through: $words"
    [ -s err ] || [ -s out ] || fail "not a word: $words"
    n=$((n + 1))
done <<'L'
run pipe $quick --export-json "$evil/x"
run "$evil"
run pipe $quick --fail-if "bandwidth worse than $evil by 3%"
run pipe $quick -p "$evil"
run pipe $quick --set "$evil"
run pipe $quick -m "$evil"
sweep pipe $quick -o "$evil/x"
plot "$evil.json"
plot bad.json
plot pipe --kind "$evil"
report "$evil.json"
report bad.json
compare "$evil" "$evil"
compare bad.json bad.json
merge "$evil" -o m.db
rerun "$evil"
conform "$evil"
import "$evil"
topology --from-hwloc "$evil"
validate --calibration "$evil"
calibrate --check "$evil"
reproduce ia64-bw-pipe-2005 --expected "$evil"
reproduce ia64-bw-pipe-2005 --expected bad.json
reproduce "$evil"
help "$evil"
list "$evil"
"$evil"
L
[ $n = 27 ] || fail "$n commands"

# Nor do the lines that say what was made.
evil=$(printf 'e\033[31m\302\2331m')
n=0
$w import "$WB_SOURCE_DIR/tests/traces/guest_612_2s2c2t.txt" -q -o "$evil.cfg"
while IFS= read -r words; do
    eval "$w $words" >out 2>err </dev/null || fail "exit $?: $words"
    LC_ALL=C grep -aqP '[\x01-\x08\x0b-\x1f]|\xc2[\x80-\x9f]' out err && fail "control characters of a name of its own: $words"
    n=$((n + 1))
done <<'L'
run pipe $short --trace -o "$evil.trace"
run pipe $short --export-json "$evil.json" --manifest "$evil.manifest"
sweep pipe $short -o "$evil.db"
sweep pipe $short -o "$evil.2.db" --vary workload.message=1KiB,2KiB
merge -o "$evil.3.db" "$evil.db"
compare "$evil.db" "$evil.json"
report "$evil.json" -o "$evil.html"
rerun "$evil.manifest"
import "$WB_SOURCE_DIR/tests/traces/guest_612_2s2c2t.txt" -o "$evil.i.cfg"
check "$evil.cfg"
fmt "$evil.cfg"
topology --synthetic "pu:2" -o "$evil.m.cfg"
L
[ $n = 12 ] || fail "$n commands that make something"
code 2 $w new scenario "$evil"
LC_ALL=C grep -aqP '[\x01-\x08\x0b-\x1f]|\xc2[\x80-\x9f]' "$tmp/err" && fail "control characters of a name that is refused"

# Two programs, one output: the later wins, and it is whole.
for i in 1 2 3; do
    $w run pipe $quick --export-json both.json >/dev/null 2>&1 &
    $w run hog $quick --export-json both.json >/dev/null 2>&1 &
    wait
    python3 -m json.tool both.json >/dev/null 2>&1 || ! command -v python3 >/dev/null || fail "two writers left no JSON"
done
ls both.json.part.* 2>/dev/null && fail "parts are left"
finish
