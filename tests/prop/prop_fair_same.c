/*
 * One run, one result: whole simulations of every fair version give the same counters whether segments run inline or
 * as events, and whether idle ticks are run or applied in closed form. With audits, on mixed loads.
 */
#include "wbtest.h"

#include "fair.h"
#include "simtest.h"

static const char *const machines[] = {
    "topology = \"[numa] pack:1 l2:1 core:4 pu:1\";",
    "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";",
    "topology = \"pack:2 [numa] l3:1 core:2 pu:2\";",
};
#define PIPE_AND_HOGS "{ kind = \"pipe_latency\"; instances = 2; }, { kind = \"hog\"; count = 2; background = true; }"
#define PERIODIC_AND_PIPE "{ kind = \"periodic\"; count = 6; }, { kind = \"pipe_bw\"; }"
#define NICE_ONES "{ kind = \"periodic\"; count = 3; nice = 5; }, { kind = \"hog\"; count = 3; nice = -3; }"
#define PINNED_PIPE "{ kind = \"pipe_latency\"; cpus = \"0\"; }"
static const char *const loads[] = {PIPE_AND_HOGS, PERIODIC_AND_PIPE, (NICE_ONES ", " PINNED_PIPE)};

/* Sanitizers make each simulation ten times as long: one machine has to do for them. */
#ifdef __SANITIZE_ADDRESS__
#define MACHINES 1u
#else
#define MACHINES WB_ARRAY_SIZE(machines)
#endif

static uint64_t fingerprint(const char *text, const char *const *sets, bool no_inline, bool no_elide)
{
    const struct wb_run_options opt = {.no_inline = no_inline, .no_elide = no_elide, .audit = true};
    return simtest_fingerprint(text, sets, &opt);
}

static void same_in_every_way(enum fair_release v, const char *const *sets)
{
    for (size_t m = 0; m < MACHINES; m++) {
        for (size_t l = 0; l < WB_ARRAY_SIZE(loads); l++) {
            char text[1024];
            (void)snprintf(text, sizeof text,
                           "schema = 1;\nmachine : { %s };\nkernel : { base = \"linux-%s\"; };\n"
                           "run : { duration = \"20 ms\"; seed = %zu; };\nworkload = ( %s );\n",
                           machines[m], fair_version[v].name, m * 10 + l, loads[l]);
            uint64_t plain = fingerprint(text, sets, false, false);
            bool events = fingerprint(text, sets, true, false) == plain,
                 ticks = fingerprint(text, sets, false, true) == plain;
            if (!events || !ticks)
                fail_msg("%s, machine %zu, load %zu: %s", fair_version[v].name, m, l, events ? "elision" : "inlining");
        }
    }
}

static void tickless(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) same_in_every_way(v, NULL);
}

static void ticking(void **state)
{
    static const char *const sets[] = {"policy.nohz=false", NULL};
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) same_in_every_way(v, sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tickless), cmocka_unit_test(ticking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
