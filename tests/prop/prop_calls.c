/*
 * System calls made of random steps: a lone caller takes the sum of what its steps cost, to the picosecond, in kernels
 * for several CPUs and for one; several callers all finish, take each lock as often as the steps say, and are never
 * faster than the longest hold of a lock that they share allows.
 */
#include "propcheck.h"
#include "simtest.h"
#include "wbtest.h"

enum { STEP_F, STEP_G, STEP_SPIN, STEP_XCHG, STEP_MUTEX, STEP_ATOMIC, STEP_READ, STEP_WRITE, STEP_CLOCK, STEPS };

/* Costs in ns, as the scenario below has them: line read 1, write 2, locked 20, plain 7; clock 3 x 11. */
struct price {
    const char *text; /* in the list of steps; %u: how often */
    uint64_t smp, up, hold, locks;
};
static const struct price price[STEPS] = {
    [STEP_F] = {"\"f\"", 100 + 40 + 30, 100 + 14 + 30, 100, 1}, /* its own mutex around it, then g */
    [STEP_G] = {"\"g\"", 30, 30, 0, 0},
    [STEP_SPIN] = {"\"lock L\", \"g\", \"unlock L\"", 20 + 30 + 2, 30, 30, 1}, /* compiled out for one CPU */
    [STEP_XCHG] = {"\"lock X\", \"g\", \"unlock X\"", 20 + 30 + 20, 7 + 30 + 20, 30, 1},
    [STEP_MUTEX] = {"\"lock M\", \"g\", \"g\", \"unlock M\"", 40 + 60, 14 + 60, 60, 1},
    [STEP_ATOMIC] = {"\"atomic N x2\"", 40, 14, 0, 0},
    [STEP_READ] = {"\"read N\"", 1, 1, 0, 0},
    [STEP_WRITE] = {"\"write N\"", 2, 2, 0, 0},
    [STEP_CLOCK] = {"\"clock\"", 33, 33, 0, 0},
};

#define TEXT_MAX 8192

static void scenario(char *buf, const struct prop_op *ops, size_t n, const char *topology, const char *build)
{
    size_t at = (size_t)snprintf(
        buf, TEXT_MAX,
        "schema = 1;\nmachine : { topology = \"%s\"; clock = \"2 GHz\";\n"
        "  line : { read = \"1 ns\"; write = \"2 ns\"; rmw = \"20 ns\"; rmw_plain = \"7 ns\"; transfer : { llc = \"40 "
        "ns\"; }; "
        "};\n  timecounter : { tsc : { read = \"11 ns\"; reads = 3; }; }; };\n"
        "kernel : { base = \"linux-2.6.22\"; hz = 10; build = \"%s\";\n"
        " path : { syscall_entry = \"5 ns\"; syscall_exit = \"0 ns\"; libc_call = \"0 ns\"; mutex_lock = \"0 ns\"; "
        "mutex_unlock = \"0 ns\"; timer_tick = \"0 ns\"; irq_entry = \"0 ns\"; };\n"
        " locks : { L : { kind = \"ticket\"; }; M : { kind = \"mutex_handoff\"; }; F : { kind = \"mutex\"; scope = "
        "\"process\"; }; X : { kind = \"queued\"; xchg = true; irqs_off = true; }; N : { kind = \"line\"; }; };\n"
        " function : { f : { cost = \"100 ns\"; steps = [ \"lock F\", \"self\", \"unlock F\", \"g\" ]; }; g : { cost = "
        "\"30 "
        "ns\"; }; };\n calls : { made : { steps = [ ",
        topology, build);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(buf + at, TEXT_MAX - at, "%s%s", i ? ", " : "", price[ops[i].kind].text);
    (void)snprintf(buf + at, TEXT_MAX - at,
                   " ]; }; }; };\nworkload = ( { kind = \"syscall\"; call = \"made\"; cpus = \"0-%s\"; } );\n"
                   "run : { start_spread = \"0 s\"; };\n",
                   strchr(topology, '4') ? "3" : "0");
}

static uint64_t time_of(const char *text, unsigned calls)
{
    char set[48];
    (void)snprintf(set, sizeof set, "workload.calls=%u", calls);
    struct simtest t = simtest_build(text, (const char *const[]){set, NULL}, NULL);
    (void)wb_sim_run(t.sim);
    uint64_t end = (uint64_t)wb_sim_result(t.sim)->duration;
    simtest_free(&t);
    return end;
}

static bool alone(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static char text[TEXT_MAX];
    uint64_t want[2] = {5, 5};
    for (size_t i = 0; i < n; i++) {
        want[0] += price[ops[i].kind].smp;
        want[1] += price[ops[i].kind].up;
    }
    for (int up = 0; up < 2; up++) {
        scenario(text, ops, n, up ? "pack:1 core:1 pu:1" : "pack:1 l3:1 core:4 pu:1", up ? "up" : "smp");
        uint64_t got = time_of(text, 300) - time_of(text, 100);
        if (got == want[up] * 200 * WB_NS) continue;
        (void)snprintf(why, nwhy, "%s: a call takes %" PRIu64 " ps, its steps %" PRIu64 " ns", up ? "up" : "smp",
                       got / 200, want[up]);
        return false;
    }
    return true;
}

static bool together(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    enum { CALLERS = 4, CALLS = 60 };
    static char text[TEXT_MAX];
    uint64_t locks = 0, hold[STEPS] = {0}, longest = 0, sum = 5;
    for (size_t i = 0; i < n; i++) {
        locks += price[ops[i].kind].locks;
        sum += price[ops[i].kind].smp;
        if (ops[i].kind != STEP_F) hold[ops[i].kind] += price[ops[i].kind].hold; /* F is each process's own */
    }
    for (int k = 0; k < STEPS; k++) longest = WB_MAX(longest, hold[k]);
    scenario(text, ops, n, "pack:1 l3:1 core:4 pu:1", "smp");
    struct simtest t = simtest_build(text, (const char *const[]){"workload.calls=60", "workload.copies=4", NULL},
                                     &(struct wb_run_options){.audit = true});
    enum wb_run_end rc = wb_sim_run(t.sim);
    uint64_t end = (uint64_t)wb_sim_result(t.sim)->duration, least = WB_MAX(longest * CALLERS, sum) * CALLS * WB_NS;
    double took = simtest_metric(&t, 0, "call.locks");
    simtest_free(&t);
    bool fine = !rc && took == (double)(locks * CALLERS * CALLS) && end >= least;
    if (!fine)
        (void)snprintf(why, nwhy, "rc %d, %g locks for %" PRIu64 ", %" PRIu64 " ps, at least %" PRIu64, rc, took,
                       locks * CALLERS * CALLS, end, least);
    return fine;
}

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, STEPS)};
}

static void a_lone_caller_takes_the_sum(void **state)
{
    static const struct property p = {.name = "alone", .ops_max = 24, .make = make, .run = alone};
    (void)state;
    assert_true(prop_check(&p, 20));
}

static void callers_meet_and_finish(void **state)
{
    static const struct property p = {.name = "together", .ops_max = 16, .make = make, .run = together};
    (void)state;
    assert_true(prop_check(&p, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_caller_takes_the_sum),
        cmocka_unit_test(callers_meet_and_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
