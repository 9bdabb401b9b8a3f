/* Every hook of policy.h is called by the engine, with a policy that has a use for each, and nothing is lost by it. */
#include "wbtest.h"

#include "simtest.h"
#include "testpol.h"
#include "wakebal/kernel.h"

/* ---- a workload that does what tasks can do: run, sleep, yield, fork, exec, change its mask, exit ---- */

struct deeds {
    struct wb_task *child;
    const struct wb_cpumask *narrow, *wide;
    struct wb_progress *rounds;
    struct wb_waitq *gate;
    uint32_t instance;
};

struct deeds_frame {
    struct wb_frame h;
    const struct deeds *d;
    struct wb_stream r;
    uint32_t round;
    bool is_child;
};

static enum wb_ret deeds_step(struct wb_exec *x, void *frame)
{
    struct deeds_frame *f = frame;
    WB_BEGIN(f);
    for (f->round = 0; f->is_child ? f->round < 4 : true; f->round++) {
        WB_USER(x, f, (1 + wb_draw_below(&f->r, 2000)) * WB_US);
        WB_CALL(x, f, wb_sleep_until(x, wb_now(x) + (1 + wb_draw_below(&f->r, 3000)) * WB_US));
        if (f->round % 3 == 0) WB_CALL(x, f, wb_yield(x));
        if (f->round % 5 == 1) WB_CALL(x, f, wb_exec_image(x));
        if (f->round % 7 == 2) WB_CALL(x, f, wb_set_affinity(x, x->task, f->d->narrow));
        if (f->round % 7 == 3) WB_CALL(x, f, wb_set_affinity(x, x->task, f->d->wide));
        if (f->round == 1 && !f->is_child) WB_CALL(x, f, wb_fork(x, f->d->child));
        if (f->round % 2) WB_CALL(x, f, wb_wake_up(x, f->d->gate, WB_ASLEEP, 0, WB_WF_SYNC));
        wb_progress_add(x, f->d->rounds, 1);
    }
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

/* Waits at the gate; the others wake it at random times, also just as it goes to sleep. */
struct waiter_frame {
    struct wb_frame h;
    const struct deeds *d;
    struct wb_wait_entry e;
};

static enum wb_ret waiter_step(struct wb_exec *x, void *frame)
{
    struct waiter_frame *f = frame;
    WB_BEGIN(f);
    for (;;) {
        f->e.task = x->task;
        WB_CALL(x, f, wb_prepare_to_wait(x, f->d->gate, &f->e, false, WB_INTERRUPTIBLE));
        WB_CALL(x, f, wb_schedule(x));
        WB_CALL(x, f, wb_finish_wait(x, f->d->gate, &f->e));
        WB_USER(x, f, 20 * WB_US);
    }
    WB_END();
}

static const struct wb_cpumask *mask(struct wb_sim *s, uint64_t bits)
{
    uint64_t w = bits;
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = 1, .w = &w};
    return wb_mask_keep(s, &m);
}

static void make_task(struct wb_sim *s, struct deeds *d, uint32_t i, bool child)
{
    void *frame;
    struct wb_task_spec spec = {.name = "deeds",
                                .step = deeds_step,
                                .frame_bytes = sizeof(struct deeds_frame),
                                .instance = d->instance,
                                .start_cpu = i % wb_ncpus(s),
                                .dormant = child};
    struct wb_task *t = wb_task_new(s, &spec, &frame);
    struct deeds_frame *f = frame;
    f->d = d;
    f->is_child = child;
    f->r = wb_sim_stream(s, t->id, WB_PURPOSE('d', 'e', 'e', 'd'));
    if (child) d->child = t;
}

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance,
                 struct wb_diag *diag)
{
    static const struct wb_metric_spec rounds = {
        .name = "rounds", .unit = "1/s", .better = WB_BETTER_HIGHER, .help = "Rounds."};
    struct wb_waitq *gate = wb_sim_alloc(s, sizeof *gate);
    struct wb_progress *progress = wb_progress_new(s, instance, &rounds);
    uint32_t n = (uint32_t)wb_cfg_int(cfg, wb_cfg_path("%s.actors", path));
    (void)diag;
    wb_waitq_init(s, gate);
    for (uint32_t i = 0; i < n; i++) {
        struct deeds *d = wb_sim_alloc(s, sizeof *d);
        *d = (struct deeds){.instance = instance,
                            .rounds = progress,
                            .gate = gate,
                            .wide = mask(s, 15),
                            .narrow = mask(s, 1u << (i % 3 + 1) | 8)};
        make_task(s, d, i, true);
        make_task(s, d, i, false);
        if (i % 2) continue;
        void *frame;
        struct wb_task_spec spec = {.name = "waiter",
                                    .step = waiter_step,
                                    .frame_bytes = sizeof(struct waiter_frame),
                                    .instance = instance,
                                    .start_cpu = WB_NO_CPU};
        (void)wb_task_new(s, &spec, &frame);
        ((struct waiter_frame *)frame)->d = d;
    }
    return 0;
}

static const struct wb_key deeds_keys[] = {
    {.path = "workload.actors",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "100",
     .def = "6",
     .only = "deeds",
     .help = "How many.",
     .source = "tests"},
};
static const struct wb_workload_ops deeds_ops = {
    .abi = 1,
    .kind = "deeds",
    .help = "All that tasks can do.",
    .keys = deeds_keys,
    .nkeys = 1,
    .frame_need = sizeof(struct deeds_frame) + sizeof(struct waiter_frame) + 512,
    .build = build,
};

/* ---- the tests ---- */

static const char text[] = "schema = 1;\n"
                           "machine : { topology = \"[numa] pack:2 l2:2 core:1 pu:1\"; };\n"
                           "kernel : { scheduler = \"testpol\"; hz = 1000; ttwu = \"pi_lock\"; };\n"
                           "workload = ( { kind = \"deeds\"; } );\n"
                           "run : { duration = \"1 s\"; warmup = \"none\"; };\n";

static const char *const all_on[] = {"policy.delay_dequeue=true", "policy.queue_remote=true", "policy.tickless=true",
                                     "policy.softirq=true",       "policy.active=true",       NULL};
static const char *const ticking[] = {"policy.delay_dequeue=true", "policy.softirq=true", "policy.active=true",
                                      "workload.actors=2", NULL};

static const char *const mostly_idle[] = {"workload.actors=1", NULL};

static void add_counts(uint64_t *sum, const char *const *sets, bool audit)
{
    struct wb_run_options opt = {.audit = audit};
    struct simtest t = simtest_build(text, sets, &opt);
    char buf[64];
    (void)wb_sim_run(t.sim);
    testpol_ops.describe(t.sim, wb_rq(t.sim, 0), NULL, buf, sizeof buf);
    for (int i = 0; i < TP_HOOKS; i++) sum[i] += testpol_counts(t.sim)[i];
    simtest_free(&t);
}

static void every_hook_is_called(void **state)
{
    (void)state;
    uint64_t sum[TP_HOOKS] = {0};
    add_counts(sum, all_on, true);
    add_counts(sum, ticking, true);
    add_counts(sum, mostly_idle, false); /* ticks are skipped */
    for (int i = 0; i < TP_HOOKS; i++)
        if (!sum[i]) fail_msg("%s was never needed", testpol_hook_name[i]);
    assert_int_equal(sum[TP_INIT], 3);
    assert_int_equal(sum[TP_DOMAINS_BUILT], 3);
    assert_int_equal(sum[TP_FORK], sum[TP_PLACE_FORK]);
}

/* A policy without balancers, remote queueing, tickless idle: optional hooks may be missing. */
static void optional_hooks_may_be_missing(void **state)
{
    (void)state;
    static struct wb_policy_ops bare;
    static const struct wb_policy_ops *const policies[] = {&bare, NULL};
    const struct wb_policy_ops *const *saved = simtest_policies;
    bare = testpol_ops;
    bare.balance_newidle = bare.balance_periodic = bare.balance_nohz = bare.balance_active = NULL;
    bare.queue_remote = NULL;
    bare.idle_enter = NULL;
    bare.idle_exit = NULL;
    bare.switched = NULL;
    bare.task_changed = NULL;
    bare.domains_built = NULL;
    bare.describe = NULL;
    bare.tick_idle_for = NULL;
    bare.tick_closed = NULL;
    simtest_policies = policies;
    struct simtest t = simtest_build(text, NULL, NULL);
    (void)wb_sim_run(t.sim);
    assert_true(simtest_metric(&t, 0, "rounds") > 0);
    simtest_free(&t);
    simtest_policies = saved;
}

static uint32_t overlaid;
static bool overlay_check(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    overlaid++;
    return testpol_ops.check_preempt(x, rq, t, flags, rule);
}

/* A partial table laid over a base: its hooks replace, the rest falls through. */
static void overlays_replace_single_hooks(void **state)
{
    (void)state;
    const struct wb_policy_ops over = {
        .abi = WB_POLICY_ABI, .size = sizeof over, .name = "over", .check_preempt = overlay_check};
    struct wb_run_options opt = {.overlay = &over};
    struct simtest t = simtest_build(text, NULL, &opt);
    (void)wb_sim_run(t.sim);
    assert_true(overlaid > 0);
    assert_true(testpol_counts(t.sim)[TP_ENQUEUE] > 0);
    simtest_free(&t);
}

/* Inline run-ahead and tick elision change no byte under this policy either. */
static void run_ahead_and_elision_do_not_show(void **state)
{
    (void)state;
    struct wb_run_options plain = {0}, events = {.no_inline = true}, ticks = {.no_elide = true};
    uint64_t fp = simtest_fingerprint(text, ticking, &plain);
    assert_int_equal(fp, simtest_fingerprint(text, ticking, &events));
    assert_int_equal(fp, simtest_fingerprint(text, ticking, &ticks));
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    static const struct wb_workload_ops *const workloads[] = {&deeds_ops, NULL};
    simtest_policies = policies;
    simtest_workloads = workloads;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hook_is_called),
        cmocka_unit_test(optional_hooks_may_be_missing),
        cmocka_unit_test(overlays_replace_single_hooks),
        cmocka_unit_test(run_ahead_and_elision_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
