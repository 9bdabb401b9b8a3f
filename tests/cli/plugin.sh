#!/bin/bash
# The tutorial of docs/plugin-tutorial.md as a user types it, then every way in which a plug-in can be wrong.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cc=${WB_TEST_CC:-cc}
include=$WB_SOURCE_DIR/sim/include
fail() { echo "FAIL: $*"; exit 1; }
expect() { # RC TEXT COMMAND...
    local want=$1 text=$2 rc=0
    shift 2
    "$@" >out 2>&1 || rc=$?
    [ "$rc" = "$want" ] || { cat out; fail "exit $rc instead of $want: $*"; }
    grep -qF -- "$text" out || { cat out; fail "no '$text' from: $*"; }
}
run=("$WAKEBAL" run pipe --progress never -r 2 -m itanium2-tiger4 -k linux-2.6.11)

"$WAKEBAL" new policy stay_home >new.out
grep -q 'cmake -S stay_home' new.out || fail "new does not say how to build"
cmake -S stay_home -B stay_home/build -DCMAKE_C_COMPILER="$cc" >cmake.log 2>&1 || { cat cmake.log; fail "the template does not configure"; }
cmake --build stay_home/build >>cmake.log 2>&1 || { cat cmake.log; fail "the template does not build"; }
[ "$(wc -l <stay_home/stay_home.c)" -le 60 ] || fail "the example has more than 60 lines"
rc=0
"${run[@]}" -v --set kernel.pipe_sync=always --policy stay_home/build/stay_home.so >out 2>&1 || rc=$?
[ "$rc" = 0 ] || [ "$rc" = 6 ] || { cat out; fail "a run with the plug-in: exit $rc"; }
grep -q 'my policy: sync wakeup and the waker is alone' out || { cat out; fail "its rule never decided"; }
id() { "${run[@]}" --duration 5ms "$@" | grep -o '^Run [0-9a-f]*'; }
[ "$(id)" = "$(id)" ] && [ "$(id)" != "$(id --policy stay_home/build/stay_home.so)" ] || fail "a run with a plug-in has the id of one without"
expect 9 "File exists" "$WAKEBAL" new policy stay_home
# A manifest is data: what it asks for is loaded only when this command line names it too.
rc=0
"${run[@]}" --policy stay_home/build/stay_home.so --manifest m.json >out 2>&1 || rc=$?
[ -s m.json ] || fail "no manifest of a run with a plug-in: exit $rc"
expect 3 "name it on this command line as well" "$WAKEBAL" rerun m.json
expect 0 "same" "$WAKEBAL" rerun m.json --check --policy stay_home/build/stay_home.so
expect 2 "cannot name a policy" "$WAKEBAL" new policy '../x'

plugin() { # NAME CODE
    { printf '#include <wakebal/kernel.h>\n#include <wakebal/policy.h>\n'; cat; } >"$1.c"
    "$cc" -std=c17 -shared -fPIC -I "$include" -o "$1.so" "$1.c"
}
table='const struct wb_policy_ops *wb_policy_plugin(void); const struct wb_policy_ops *wb_policy_plugin(void) { return &ops; }'
place='static struct wb_choice place(struct wb_exec *x, const struct wb_wakeup *w)'

plugin abi <<<"static const struct wb_policy_ops ops = {.abi = 99, .size = sizeof ops, .name = \"a\"}; $table"
expect 3 "it was built for ABI 99" "${run[@]}" --policy ./abi.so
plugin size <<<"static const struct wb_policy_ops ops = {.abi = WB_POLICY_ABI, .size = 8, .name = \"a\"}; $table"
expect 3 "its table has 8 bytes" "${run[@]}" --policy ./size.so
plugin empty <<<"static const struct wb_policy_ops ops = {.abi = WB_POLICY_ABI, .size = sizeof ops, .name = \"a\"}; $table"
expect 3 "it replaces no decision" "${run[@]}" --policy ./empty.so
plugin half <<<"static void enq(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t f) { (void)x; (void)rq; (void)t; (void)f; }
static const struct wb_policy_ops ops = {.abi = WB_POLICY_ABI, .size = sizeof ops, .name = \"a\", .enqueue = enq}; $table"
expect 3 "lacks dequeue put_prev pick" "${run[@]}" --policy ./half.so
plugin balance <<<"static const struct wb_balance_ops b; static const struct wb_policy_ops ops = {.abi = WB_POLICY_ABI, .size = sizeof ops, .name = \"a\", .balance_newidle = &b}; $table"
expect 3 "balance_newidle lacks" "${run[@]}" --policy ./balance.so
plugin none <<<"int nothing; int nothing;"
expect 3 "it exports no wb_policy_plugin()" "${run[@]}" --policy ./none.so
plugin null <<<"const struct wb_policy_ops *wb_policy_plugin(void); const struct wb_policy_ops *wb_policy_plugin(void) { return 0; }"
expect 3 "returned NULL" "${run[@]}" --policy ./null.so
expect 3 "there is no such file" "${run[@]}" --policy ./missing.so
echo text >text.so
expect 3 "policy plug-in" "${run[@]}" --policy ./text.so
if ! nm "$WAKEBAL" 2>/dev/null | grep -q __asan_init; then # the sanitizer has handlers of its own
    plugin crash <<<"$place { (void)x; (void)w; volatile int *p = 0; return (struct wb_choice){.cpu = (unsigned)*p}; }
static const struct wb_policy_ops ops = {.abi = WB_POLICY_ABI, .size = sizeof ops, .name = \"a\", .place_wakeup = place}; $table"
    expect 3 "plug-in" "${run[@]}" --policy ./crash.so
    grep -q 'crashed: Segmentation fault' out || { cat out; fail "the crash is not reported as the plug-in's"; }
fi
# A scenario cannot load one.
printf 'schema = 1;\npolicy : { plugin = "./abi.so"; };\nworkload = ( { kind = "hog"; } );\n' >evil.cfg
expect 3 "plugin" "$WAKEBAL" run evil.cfg
echo "plugin: all as documented"
