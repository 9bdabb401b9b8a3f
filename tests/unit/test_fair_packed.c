/*
 * The packing rule in whole simulations: the probe with which it was measured on a 2-CPU guest. Every 2 ms a waker
 * computes for its duty, wakes a task that slept on its CPU, and sleeps; how many of the wakees stay with it? Measured:
 * up to 60 % duty 98 % and more, from 70 % on none; mainline: none at any duty. wb-link: all
 */
#include "wbtest.h"

#include "simtest.h"
#include "wakebal/kernel.h"
#include "wakebal/trace.h"

static const char text[] =
    "schema = 1; machine : { base = \"smp2\"; }; kernel : { base = \"%s\"; };\n"
    "run : { start_spread = \"0 ms\"; };\n"
    "workload = ( { kind = \"custom\"; name = \"probe\"; events = [ \"go 0\" ];\n"
    "  tasks = ( { name = \"waker\"; cpus = \"0\"; program = [ \"loop 300\", \"timer 2 ms\", \"run %u us\", \"wake go "
    "sync\", "
    "\"end\" ]; },\n"
    "            { name = \"wakee\"; program = [ \"pin %u\", \"loop 100\", \"wait go\", \"run %u us\", \"end\", \"pin "
    "0-1\", \"loop 200\", \"wait go\", \"run %u us\", \"end\" ]; } ); } );\n";

/* Share of the wakee's wakeups that put it on the waker's CPU, of those that found it on the CPU where it was kept for
 * 200 ms: 0 is the waker's. */
static double there(const char *kernel, unsigned duty_us, unsigned wakee_us, unsigned kept)
{
    char scenario[2048];
    const struct wb_run_options opt = {.trace_capacity = 200000, .trace_to = WB_TIME_NEVER};
    (void)snprintf(scenario, sizeof scenario, text, kernel, duty_us, kept, wakee_us, wakee_us);
    struct simtest t = simtest_build(scenario, NULL, &opt);
    (void)wb_sim_run(t.sim);
    const struct wb_trace *trace = wb_sim_result(t.sim)->trace;
    unsigned found = 0, here = 0;
    for (uint64_t i = 0; i < trace->written; i++) {
        const struct wb_trace_record *r = &trace->ring[i];
        if (r->type != WB_TR_WAKING || strcmp(wb_task_name(wb_task_of(t.sim, r->task)), "wakee") != 0) continue;
        if (r->when < (kept ? 201 : 205) * WB_MS || r->c >> 16 != kept) continue; /* free, and averages have settled */
        found++;
        here += r->a == r->cpu;
    }
    simtest_free(&t);
    return found ? (double)here / found : -1;
}

static double stay(const char *kernel, unsigned duty_us, unsigned wakee_us)
{
    return there(kernel, duty_us, wakee_us, 0);
}

/* The wakee is kept on CPU 0 for 200 ms. Once it has left, its previous CPU is idle, and it does not come back. */
static void light_wakers_keep_their_wakees(void **state)
{
    (void)state;
    assert_near(stay("linux-6.18-packed", 100, 5), 1, 0.02);
    assert_near(stay("linux-6.18-packed", 800, 5), 1, 0.02);
    assert_near(stay("linux-6.18-packed", 1200, 5), 1, 0.02);
    assert_near(stay("linux-6.18-packed", 1300, 5), 1, 0.02);  /* 65 %: 0.990 measured */
    assert_near(stay("linux-6.18-packed", 100, 800), 1, 0.05); /* the wakee's own work counts too, and leaves room */
}

static void heavy_wakers_do_not(void **state)
{
    (void)state;
    assert_true(stay("linux-6.18-packed", 1350, 5) < 0.02); /* 67.5 %: 0.002 measured */
    assert_true(stay("linux-6.18-packed", 1450, 5) < 0.02);
    assert_true(stay("linux-6.18-packed", 1700, 5) < 0.02);
}

/* Who uses little comes from the other, idle CPU at the first wakeup; who uses a quarter of a CPU never does. */
static void small_wakees_come(void **state)
{
    (void)state;
    static const char tenth[] = "linux-6.18-packed\"; policy : { pack_small = \"10 %\"; }; title = \"t";
    assert_near(there(tenth, 400, 20, 1), 1, 0);
    assert_near(there(tenth, 400, 500, 1), 0, 0);
    assert_near(there(tenth, 1700, 20, 1), 0, 0); /* no room there */
    assert_near(there("linux-6.18-packed", 400, 20, 1), 0, 0);
}

static void mainline_never_packs(void **state)
{
    (void)state;
    for (unsigned duty = 200; duty <= 1800; duty += 400) {
        assert_true(stay("linux-6.18", duty, 5) < 0.02);
        assert_true(stay("linux-6.12", duty, 5) < 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_wakers_keep_their_wakees),
        cmocka_unit_test(heavy_wakers_do_not),
        cmocka_unit_test(small_wakees_come),
        cmocka_unit_test(mainline_never_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
