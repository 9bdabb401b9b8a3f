/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* A wakeup that comes while its CPU goes idle (Linux kernel/sched/idle.c do_idle, call_cpuidle): until the CPU halts it
 * watches need_resched, so no interrupt is sent, and the CPU turns round, but starts the tick that it has stopped. */
#include "scripted.h"
#include "simtest.h"

#define STOP (8 * WB_US)
#define RESTART (5 * WB_US)
#define EXIT (40 * WB_US)

struct outcome {
    uint64_t ipis;
    sim_time late; /* from the waker's write being done, or 0, to the wakee's read being done */
    sim_time asleep;
};

/* The reader sleeps at once; the writer on the other CPU writes after `after`. */
static struct outcome wake_after(sim_time after, const char *policy, bool watches)
{
    static const struct script_op sleeper[] = {{SCRIPT_READ, 1}, {SCRIPT_DONE, 0}};
    const struct script_op waker[] = {{SCRIPT_RUN, after}, {SCRIPT_WRITE, 1}, {SCRIPT_RUN, WB_MS}, {SCRIPT_DONE, 0}};
    struct script scripts[] = {{.op = sleeper, .cpu = 0, .reads = true}, {.op = waker, .cpu = 1, .writes = true}};
    struct scripted s = {.script = scripts, .n = 2};
    struct outcome o = {0};
    char text[512];
    snprintf(
        text, sizeof text,
        "machine : { topology = \"[numa] pack:1 l3:1 core:2 pu:1\"; ipi : { send = \"5 us\"; offset = \"4 us\"; };\n"
        "idle : { c1 : { enter = \"0 s\"; exit = \"40 us\"; }; }; };\n"
        "kernel : { base = \"linux-6.18\"; idle_watches = %s; tick_phases = [ \"3 ms\", \"3 ms\" ];\n"
        "path : { tick_nohz_stop = \"8 us\"; tick_nohz_restart = \"5 us\"; }; };\npolicy : { %s };",
        watches ? "true" : "false", policy);
    scripted_build(&s, text);
    assert_int_equal(wb_sim_run(s.sim), WB_RUN_DONE);
    const struct wb_metric *m = wb_result_find(wb_sim_result(s.sim), UINT32_MAX, "ipis");
    assert_non_null(m);
    o.ipis = (uint64_t)m->value;
    for (uint32_t i = 0; i < s.nnotes; i++) {
        if (s.note[i].script == 0 && s.note[i].code == SCRIPT_READ) o.asleep = s.note[i].when;
        if (s.note[i].script == 1 && s.note[i].code == SCRIPT_WRITE) o.late = s.note[i].when;
    }
    o.late = o.asleep > o.late ? o.asleep - o.late : 0;
    scripted_free(&s);
    return o;
}

/* Written while the tick is being stopped: no interrupt, no halt; what is left of the stop, and the restart. */
static void no_interrupt_while_the_tick_is_being_stopped(void **state)
{
    (void)state;
    struct outcome early = wake_after(4 * WB_US, "nohz_at_once = true;", true);
    struct outcome later = wake_after(6 * WB_US, "nohz_at_once = true;", true);
    assert_int_equal(early.ipis, 0);
    assert_int_equal(later.ipis, 0);
    assert_true(early.late > RESTART && early.late < STOP + RESTART);
    /* Both find the CPU at the same place: it runs again at the same time. */
    assert_int_equal(early.asleep, later.asleep);
}

static void an_interrupt_once_it_has_halted(void **state)
{
    (void)state;
    struct outcome o = wake_after(20 * WB_US, "nohz_at_once = true;", true);
    assert_int_equal(o.ipis, 1);
    assert_true(o.late > EXIT - 5 * WB_US); /* sending overlaps the exit */
}

/* Whoever sends no interrupt has been seen before the halt, however close to it. */
static void seen_or_interrupted(void **state)
{
    (void)state;
    uint32_t seen = 0, sent = 0;
    for (sim_time after = 5 * WB_US; after < 12 * WB_US; after += 15 * WB_NS) {
        struct outcome o = wake_after(after, "nohz_at_once = true;", true);
        if (!o.ipis && o.late > STOP + RESTART)
            fail_msg("nobody told a CPU that had halted (%u ns)", (unsigned)(after / WB_NS));
        seen += !o.ipis;
        sent += o.ipis == 1;
    }
    assert_true(seen > 50 && sent > 50);
}

/* Without the watch it halts all the same and is interrupted; with a governor that keeps the tick there is no stop. */
static void counterfactuals(void **state)
{
    (void)state;
    struct outcome blind = wake_after(6 * WB_US, "nohz_at_once = true;", false);
    struct outcome kept = wake_after(6 * WB_US, "", true);
    assert_int_equal(blind.ipis, 1);
    assert_int_equal(kept.ipis, 1);
    assert_true(kept.late > EXIT - 5 * WB_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_interrupt_while_the_tick_is_being_stopped),
        cmocka_unit_test(an_interrupt_once_it_has_halted),
        cmocka_unit_test(seen_or_interrupted),
        cmocka_unit_test(counterfactuals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
