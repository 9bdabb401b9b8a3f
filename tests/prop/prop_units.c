/* Exact text parses back to the same value; random text never does harm. */
#include "wbtest.h"

#include "propcheck.h"
#include "wakebal/units.h"

enum { ROUND_TRIP, GARBAGE, KINDS };

static struct prop_op make(struct prop_rng *r)
{
    uint64_t v = prop_u64(r) >> prop_below(r, 64);
    if (prop_below(r, 3) == 0) v = v / 1000 * 1000;
    if (prop_below(r, 4) == 0) v = 0 - v;
    return (struct prop_op){.kind = (uint32_t)prop_below(r, KINDS), .a = v, .b = prop_below(r, WB_UNIT_CYCLES + 1)};
}

static bool returns(int64_t value, enum wb_unit unit, char *why, size_t nwhy)
{
    char text[64];
    const char *reason = "";
    size_t at;
    int64_t back = 0;
    wb_format_exact(text, sizeof text, value, unit);
    if (!wb_parse_quantity(text, unit, &back, &reason, &at) && back == value) return true;
    snprintf(why, nwhy, "%lld became '%s' became %lld %s", (long long)value, text, (long long)back, reason);
    return false;
}

static bool garbage(uint64_t seed, enum wb_unit unit, char *why, size_t nwhy)
{
    static const char letters[] = "0123456789..--++eE  numsKMiB/%cyhH\xc2\xb5,";
    struct prop_rng r = {seed};
    char text[40];
    const char *reason = NULL;
    size_t n = (size_t)prop_below(&r, sizeof text), at = 999;
    int64_t v;
    for (size_t i = 0; i < n; i++) text[i] = letters[prop_below(&r, sizeof letters - 1)];
    text[n ? n - 1 : 0] = 0;
    if (!wb_parse_quantity(text, unit, &v, &reason, &at)) return returns(v, unit, why, nwhy);
    if (reason && at <= strlen(text)) return true;
    snprintf(why, nwhy, "'%s' refused without reason or outside the text", text);
    return false;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    for (size_t i = 0; i < n; i++) {
        enum wb_unit unit = (enum wb_unit)ops[i].b;
        if (ops[i].kind == ROUND_TRIP && !returns((int64_t)ops[i].a, unit, why, nwhy)) return false;
        if (ops[i].kind == GARBAGE && !garbage(ops[i].a, unit, why, nwhy)) return false;
    }
    return true;
}

static void text_and_back(void **state)
{
    (void)state;
    const struct property p = {"units", 1000, make, run};
    assert_true(prop_check(&p, 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
