/* Simulate, write the trace, import it, replay it: each task computes as long as before. wb-link: all */
#include "wbtest.h"

#include "import.h"
#include "registry.h"
#include "simtest.h"
#include "simtrace.h"

#define SCENARIO \
    "schema = 1; machine : { base = \"smp2\"; }; kernel : { base = \"linux-6.12\"; };\n" \
    "workload = ( { kind = \"custom\"; name = \"w\"; channels = [ \"p\", \"q\" ];\n" \
    "  tasks = ( { name = \"a\"; nice = 3; program = [ \"loop %d\", \"run exp(50 us)\", \"write p 1 B\", \"readall q " \
    "1 B\", " \
    "\"end\" ]; },\n" \
    "            { name = \"b\"; program = [ \"loop %d\", \"readall p 1 B\", \"run uniform(10 us, 40 us)\", \"write " \
    "q 1 " \
    "B\", \"end\" ]; },\n" \
    "            { name = \"c\"; program = [ \"loop 20\", \"sleep 1 ms\", \"run 100 us\", \"end\" ]; } ); } );"

struct trip {
    struct simtest sim;
    struct trace *t;
    struct import *m;
    struct wb_key_registry *keys;
    struct wb_diag *d;
};

static struct trip make(int loops, const struct import_options *o)
{
    struct trip x = {.keys = cli_keys_new(), .d = wb_diag_new()};
    struct trace_health h;
    char scenario[2048];
    (void)snprintf(scenario, sizeof scenario, SCENARIO, loops, loops);
    char *text = simtrace_text(scenario, NULL, &x.sim);
    x.t = trace_read_text("simulated", text, strlen(text), x.d);
    assert_non_null(x.t);
    assert_int_equal(trace_infer(x.t, &h), 0);
    assert_null(trace_health_broken(&h)); /* our own traces are whole */
    trace_health_free(&h);
    x.m = import_make(x.t, o, x.d);
    assert_non_null(x.m);
    (void)strcpy(x.m->machine, "smp2");
    (void)strcpy(x.m->kernel, "linux-6.12");
    free(text);
    return x;
}

static void unmake(struct trip *x)
{
    import_free(x->m);
    trace_free(x->t);
    simtest_free(&x->sim);
    wb_keys_free(x->keys);
    wb_diag_free(x->d);
}

static const struct import_task *task_of(const struct trip *x, char first, uint32_t *at)
{
    for (uint32_t i = 0; i < x->m->n; i++) {
        if (x->m->task[i].name[0] != first) continue;
        *at = i;
        return &x->m->task[i];
    }
    fail_msg("no task %c", first);
    return NULL;
}

/* Recorded run times are those of the simulation. */
static void recorded_as_simulated(void **state)
{
    (void)state;
    struct trip x = make(100, &(struct import_options){0});
    assert_int_equal(x.m->n, 3);
    for (uint32_t i = 0; i < wb_ntasks(x.sim.sim); i++) {
        const struct wb_task *t = wb_task_of(x.sim.sim, i);
        uint32_t at;
        if (strlen(wb_task_name(t)) != 1) continue;
        const struct import_task *p = task_of(&x, wb_task_name(t)[0], &at);
        assert_near((double)p->run_ns, (double)wb_task_totals(t)->run_total / WB_NS, 2000.0);
        assert_int_equal(p->nice, t->nice);
    }
    unmake(&x);
}

/* Within `part` of each task's time, and 5 % of the length. */
static void trip_within(int loops, double part)
{
    struct trip x = make(loops, &(struct import_options){0});
    struct replay_result r;
    assert_int_equal(import_settle(x.m, cli_models(), x.keys, x.d), 0);
    assert_int_equal(replay_run(x.m, NULL, cli_models(), x.keys, x.d, &r), 0);
    assert_true(r.finished);
    for (uint32_t i = 0; i < x.m->n; i++) {
        double want = (double)x.m->task[i].run_ns;
        assert_near((double)r.task[i].run_ns, want, part * want);
    }
    assert_near((double)r.length_ns, (double)x.m->length_ns, 0.05 * (double)x.m->length_ns);
    replay_free(&r);
    unmake(&x);
}

static void exact_programs(void **state)
{
    (void)state;
    trip_within(300, 0.01);
}

static void folded_programs(void **state)
{
    (void)state;
    trip_within(2500, 0.05);
}

static void another_kernel_another_machine(void **state)
{
    (void)state;
    struct trip x = make(100, &(struct import_options){0});
    struct replay_result r;
    struct wb_overrides over = {.kernel = "linux-2.6.24", .machine = "smp16"};
    assert_int_equal(replay_run(x.m, &over, cli_models(), x.keys, x.d, &r), 0);
    assert_true(r.finished);
    replay_free(&r);
    unmake(&x);
}

/* Half of the recording; programs of tasks that go on are cut, and nobody waits for ever. */
static void windows_do_not_hang(void **state)
{
    (void)state;
    for (uint64_t from = 0; from < 8000000; from += 1700000) {
        struct trip x =
            make(100, &(struct import_options){.from_ns = from, .to_ns = from + 4000000, .keep_cpus = true});
        struct replay_result r;
        assert_int_equal(replay_run(x.m, NULL, cli_models(), x.keys, x.d, &r), 0);
        assert_true(r.finished);
        replay_free(&r);
        unmake(&x);
    }
}

static void nothing_there(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    const char *text = "x-1 [000] d..2. 1.000000: sched_waking: comm=y pid=2 prio=120 target_cpu=000\n";
    struct trace *t = trace_read_text("text", text, strlen(text), d);
    assert_null(import_make(t, &(struct import_options){0}, d));
    assert_null(import_make(t, &(struct import_options){.section = "none"}, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 2);
    trace_free(t);
    wb_diag_free(d);
}

/* A child begins when it was forked: by sched_wakeup_new, by sched_process_fork alone, or when it is first seen. */
static void children_begin_when_forked(void **state)
{
    (void)state;
    static const char text[] =
        "# tracer: nop\n"
        "  p-1  [000] d..2.  1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
        "next_comm=p next_pid=1 next_prio=120\n"
        "  p-1  [000] .....  1.001000: sched_process_fork: comm=p pid=1 child_comm=q child_pid=2\n"
        "  p-1  [000] d..2.  1.001010: sched_wakeup_new: comm=q pid=2 prio=120 target_cpu=000\n"
        "  p-1  [000] .....  1.002000: sched_process_fork: comm=p pid=1 child_comm=r child_pid=3\n"
        "  p-1  [000] d..2.  1.003000: sched_switch: prev_comm=p prev_pid=1 prev_prio=120 prev_state=S ==> "
        "next_comm=q next_pid=2 next_prio=120\n"
        "  q-2  [000] d..2.  1.004000: sched_switch: prev_comm=q prev_pid=2 prev_prio=120 prev_state=S ==> "
        "next_comm=r next_pid=3 next_prio=120\n"
        "  r-3  [000] d..2.  1.005000: sched_switch: prev_comm=r prev_pid=3 prev_prio=120 prev_state=S ==> "
        "next_comm=s next_pid=4 next_prio=120\n"
        "  s-4  [000] d..2.  1.006000: sched_switch: prev_comm=s prev_pid=4 prev_prio=120 prev_state=S ==> "
        "next_comm=swapper/0 next_pid=0 next_prio=120\n";
    struct trip x = {.d = wb_diag_new()};
    const uint64_t want[4] = {0, 1000000, 2000000, 5000000};
    x.t = trace_read_text("forks", text, sizeof text - 1, x.d);
    assert_non_null(x.t);
    x.m = import_make(x.t, &(struct import_options){0}, x.d);
    assert_non_null(x.m);
    assert_int_equal(x.m->n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at;
        assert_true(task_of(&x, "pqrs"[i], &at)->start_ns == want[i]);
    }
    import_free(x.m);
    trace_free(x.t);
    wb_diag_free(x.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_as_simulated),
        cmocka_unit_test(exact_programs),
        cmocka_unit_test(folded_programs),
        cmocka_unit_test(another_kernel_another_machine),
        cmocka_unit_test(windows_do_not_hang),
        cmocka_unit_test(nothing_there),
        cmocka_unit_test(children_begin_when_forked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
