/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Who computes all the time gets CPU time by its time slice: between two swaps of the arrays each runs for one slice.
 *
 * Linux 2.6.10 .. 2.6.22 kernel/sched.c task_timeslice(): DEF_TIMESLICE (100 ms) times (140 - static priority) / 20,
 * four times that below nice 0, at least MIN_TIMESLICE (5 ms). So hogs of nice n share one CPU as slice(n) : sum of
 * slices, to the tick, over whole rounds; and hogs of equal nice, as many on each CPU, get the same.
 */
#include "wbtest.h"

#include "steptest.h"

#define HZ "1000"

/* The formula above worked out by hand, in ms. */
static const struct {
    int nice;
    unsigned slice_ms;
} slices[] = {{-20, 800}, {-15, 700}, {-10, 600}, {-5, 500}, {-1, 420}, {0, 100},
              {1, 95},    {5, 75},    {10, 50},   {15, 25},  {18, 10},  {19, 5}};

static unsigned slice_of(int nice)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(slices); i++)
        if (slices[i].nice == nice) return slices[i].slice_ms;
    fail_msg("no slice of nice %d in the table", nice);
    return 0;
}

static const char *const versions[] = {"2.6.10", "2.6.11", "2.6.22"};

static void add_hogs(char *text, size_t n, int nice, unsigned count)
{
    size_t at = strlen(text);
    int k =
        snprintf(text + at, n - at, "%s{ name = \"n%zu\"; kind = \"hog\"; count = %u; nice = %d; start = \"0 s\"; }",
                 at ? ",\n  " : "", at, count, nice);
    assert_true(k > 0 && at + (size_t)k < n);
}

static struct simtest build(const char *version, unsigned cpus, const char *hogs, uint32_t replication)
{
    char text[12288];
    int n = snprintf(text, sizeof text,
                     "schema = 1;\nmachine : { topology = \"[numa] pack:1 l3:1 core:%u pu:1\"; %s };\n"
                     "kernel : { base = \"linux-%s\"; hz = " HZ "; policy : { start_bonus = 0; }; path : { %s}; };\n"
                     "workload = ( %s );\nrun : { duration = \"60 s\"; warmup = \"none\"; };\n",
                     cpus, steptest_free_machine, version, steptest_free_paths("o1"), hogs);
    assert_true(n > 0 && (size_t)n < sizeof text);
    return simtest_build_replication(text, NULL, &(struct wb_run_options){.task_totals = true}, replication);
}

/* Time on CPU of all hogs until `when`, in ps, by index; returns how many there are. */
static uint32_t times(struct wb_sim *s, sim_time when, sim_time *ran, uint32_t room)
{
    uint32_t n = 0;
    (void)wb_sim_step_to(s, when);
    for (uint32_t i = 0; i < wb_ntasks(s); i++) {
        const struct wb_task *t = wb_task_of(s, i);
        if (t->klass != WB_CLASS_NORMAL) continue;
        assert_true(n < room);
        ran[n++] = wb_task_totals(t)->run_total + (t->on_cpu ? when - wb_task_totals(t)->run_start : 0);
    }
    return n;
}

/* Each gets its slice a round. Nobody begins as interactive (start_bonus 0): that takes some rounds to wear off. */
static void check_nice(const char *version, const int *nice, uint32_t n)
{
    enum { ROUNDS = 7 };
    char hogs[4096] = "";
    sim_time before[8], after[8], round = 0, from = 2 * WB_S;
    for (uint32_t i = 0; i < n; i++) {
        add_hogs(hogs, sizeof hogs, nice[i], 1);
        round += slice_of(nice[i]) * WB_MS;
    }
    struct simtest t = build(version, 1, hogs, 0);
    assert_int_equal(times(t.sim, from, before, 8), n);
    assert_int_equal(times(t.sim, from + ROUNDS * round, after, 8), n);
    for (uint32_t i = 0; i < n; i++)
        if (after[i] - before[i] != ROUNDS * slice_of(nice[i]) * WB_MS)
            fail_msg("%s, nice %d: %.6f ms in %d rounds of %u", version, nice[i],
                     (double)(after[i] - before[i]) / (double)WB_MS, (int)ROUNDS, slice_of(nice[i]));
    simtest_free(&t);
}

static void shares_by_nice(void **state)
{
    static const int some[] = {-5, 0, 10, 19}, negative[] = {-20, -10, -1}, positive[] = {0, 1, 5, 15, 18};
    (void)state;
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        check_nice(versions[v], some, WB_ARRAY_SIZE(some));
        check_nice(versions[v], negative, WB_ARRAY_SIZE(negative));
        check_nice(versions[v], positive, WB_ARRAY_SIZE(positive));
    }
}

/* Two or three hogs a CPU, spread by the balancer: over whole rounds all get the same. */
static void equals_share_equally(void **state)
{
    (void)state;
    for (unsigned cpus = 1; cpus <= 4; cpus++)
        for (unsigned each = 2; each <= 3; each++) {
            char hogs[512] = "";
            sim_time before[12], after[12], span = 5 * each * 100 * WB_MS;
            add_hogs(hogs, sizeof hogs, 0, cpus * each);
            struct simtest t = build("2.6.11", cpus, hogs, each);
            uint32_t n = times(t.sim, 2 * WB_S, before, 12);
            assert_int_equal(n, cpus * each);
            (void)times(t.sim, 2 * WB_S + span, after, 12);
            for (uint32_t i = 0; i < n; i++)
                if (after[i] - before[i] != span / each)
                    fail_msg("%u hogs on %u CPUs: number %u ran %.3f of %.3f ms", n, cpus, i,
                             (double)(after[i] - before[i]) / (double)WB_MS, (double)(span / each) / (double)WB_MS);
            simtest_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_by_nice),
        cmocka_unit_test(equals_share_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
