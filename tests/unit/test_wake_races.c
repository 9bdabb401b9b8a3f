/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* A race between a waker and the migration thread that moves the wakee, walked through in small steps of time and
 * audited, under kernels that wake with and without the runqueue's lock. The wakee must get through. (Masks that change
 * at any time: prop_unix_bytes.c, prop_net_bytes.c.) */
#include "scripted.h"
#include "simtest.h"

static const char *const kernels[] = {"linux-2.6.11", "linux-2.6.24", "linux-2.6.36", "linux-5.4", "linux-5.15",
                                      "linux-6.1",    "linux-6.6",    "linux-6.12",   "linux-6.18"};

static void run(struct script *scripts, uint32_t n, const char *kernel, const char *kind)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "machine : { topology = \"[numa] pack:4 l2:1 core:1 pu:1\"; };\nkernel : { base = \"%s\"; preempt = true; };",
        kernel);
    struct scripted s = {.script = scripts, .n = n, .kind = kind};
    scripted_build(&s, text);
    assert_int_equal(wb_sim_run(s.sim), WB_RUN_DONE);
    for (uint32_t i = 0; i < n; i++) assert_true(scripts[i].ended);
    scripted_free(&s);
}

/* The wakee has run ahead of the hog and sleeps in its queue (6.12). The migration thread takes it away just when its
 * waker, who has seen it queued, gets the lock of the queue that it is no longer in. */
static void a_queued_sleeper_moves_before_its_waker_has_the_lock(void **state)
{
    (void)state;
    static const struct script_op sleeper[] = {{SCRIPT_RUN, 2 * WB_MS}, {SCRIPT_READ, 1}, {SCRIPT_DONE, 0}};
    static const struct script_op hog[] = {{SCRIPT_RUN, 8 * WB_MS}, {SCRIPT_DONE, 0}};
    for (size_t k = 0; k < WB_ARRAY_SIZE(kernels); k++) {
        for (sim_time d = 0; d < 6 * WB_US; d += 60 * WB_NS) {
            const struct script_op waker[] = {
                {SCRIPT_SLEEP, 2500 * WB_US}, {SCRIPT_BIND, 1}, {SCRIPT_RUN, d}, {SCRIPT_WRITE, 1}, {SCRIPT_DONE, 0}};
            struct script scripts[] = {{.op = sleeper, .cpu = 0, .reads = true},
                                       {.op = hog, .cpu = 0, .start = WB_US},
                                       {.op = waker, .cpu = 1, .writes = true}};
            run(scripts, 3, kernels[k], NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queued_sleeper_moves_before_its_waker_has_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
