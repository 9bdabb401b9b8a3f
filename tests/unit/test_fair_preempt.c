/* Wakeup preemption: situations worked out by hand, by version and rule. One CPU: no number is scaled.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define MS 1000000ll

enum { N = WB_CLASS_NORMAL, B = WB_CLASS_BATCH, I = WB_CLASS_IDLE };

/* A runs; p has just been queued `lead` ns of virtual time (2.6.23: key) to the left of it. */
struct situation {
    enum fair_release from, to;
    const char *what;
    int curr, curr_nice, wakee, wakee_nice;
    int64_t lead;
    uint32_t flags;
    enum fair_rule rule;
    bool preempts;
};

static void move_to(struct wb_sim *s, struct wb_task *t, uint64_t vruntime, uint64_t deadline)
{
    struct fair_rq *r = fair_test_rq(s, t->cpu);
    struct fair_task *p = fair_task(t);
    bool in_tree = p->in_tree;
    fair_tree_del(fair_test_sim(s), r, p);
    p->vruntime = vruntime;
    p->deadline = deadline;
    if (in_tree) fair_tree_add(fair_test_sim(s), r, p);
}

static struct wb_sim *stage(enum fair_release v, const struct situation *x, const char *const *sets,
                            struct wb_task **curr, struct wb_task **wakee)
{
    struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), sets);
    *curr = fair_test_fork(s, 0, x->curr_nice, (enum wb_sched_class)x->curr);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), *curr);
    *wakee = fair_test_fork(s, 0, x->wakee_nice, (enum wb_sched_class)x->wakee);
    s->rq[0].need_resched = false;
    move_to(s, *wakee, fair_task(*curr)->vruntime - (uint64_t)x->lead, 0);
    return s;
}

static void judge(enum fair_release v, const struct situation *x, struct wb_sim *s, struct wb_task *wakee)
{
    wb_rule rule = 0;
    bool yes = s->ops->check_preempt(fake_exec(s, 0), &s->rq[0], wakee, x->flags, &rule);
    if (rule != x->rule || yes != x->preempts)
        fail_msg("%s, %s: %s (%d), expected %s (%d)", fair_version[v].name, x->what, fair_rules[rule], yes,
                 fair_rules[x->rule], x->preempts);
}

static void play(const struct situation *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (enum fair_release v = table[i].from; v <= table[i].to; v++) {
            struct wb_task *curr, *wakee;
            struct wb_sim *s = stage(v, &table[i], NULL, &curr, &wakee);
            judge(v, &table[i], s, wakee);
            fake_free(s);
        }
    }
}

/* ---- 2.6.23: wakeup granularity 1 ms, batch 25 ms, latency 20 ms ---- */

static void wait_runtime_2_6_23(void **state)
{
    static const struct situation table[] = {
#define V FAIR_2_6_23, FAIR_2_6_23
        {V, "equal keys", N, 0, N, 0, 0, 0, FAIR_R_KEY_NEAR, false},
        {V, "right of the running task", N, 0, N, 0, -5 * MS, 0, FAIR_R_KEY_NEAR, false},
        {V, "exactly the granularity", N, 0, N, 0, MS, 0, FAIR_R_KEY_NEAR, false},
        {V, "one more", N, 0, N, 0, MS + 1, 0, FAIR_R_KEY_FAR, true},
        {V, "far left", N, 0, N, 0, 50 * MS, 0, FAIR_R_KEY_FAR, true},
        {V, "sync on the waker's CPU", N, 0, N, 0, 50 * MS, WB_WF_SYNC, FAIR_R_SYNC_UNCHECKED, false},
        {V, "batch wakee within 25 ms", N, 0, B, 0, 25 * MS, 0, FAIR_R_KEY_NEAR, false},
        {V, "batch wakee beyond", N, 0, B, 0, 25 * MS + 1, 0, FAIR_R_KEY_FAR, true},
        {V, "batch running task makes no difference", B, 0, N, 0, MS + 1, 0, FAIR_R_KEY_FAR, true},
        {V, "idle-class wakee is one with little weight", N, 0, I, 0, MS + 1, 0, FAIR_R_KEY_FAR, true},
        {V, "idle-class running task: 1 ms * 2 / 1024 = 1953 ns", I, 0, N, 0, 1953, 0, FAIR_R_KEY_NEAR, false},
        {V, "idle-class running task, one more", I, 0, N, 0, 1954, 0, FAIR_R_KEY_FAR, true},
        {V, "nice 5 running: 1 ms * 335 / 1024 = 327148 ns", N, 5, N, 0, 327148, 0, FAIR_R_KEY_NEAR, false},
        {V, "nice 5 running, one more", N, 5, N, 0, 327149, 0, FAIR_R_KEY_FAR, true},
        {V, "nice -5 running: 1 ms * 1024 / 3121 = 328099 ns", N, -5, N, 0, 328099, 0, FAIR_R_KEY_NEAR, false},
        {V, "nice -5 running, one more", N, -5, N, 0, 328101, 0, FAIR_R_KEY_FAR, true},
        {V, "the wakee's nice does not count: 5", N, 0, N, 5, MS + 1, 0, FAIR_R_KEY_FAR, true},
        {V, "the wakee's nice does not count: -5", N, 0, N, -5, MS, 0, FAIR_R_KEY_NEAR, false},
        {V, "fork, far left", N, 0, N, 0, MS + 1, WB_WF_FORK, FAIR_R_CHILD_FIRST, true},
        {V, "fork, near", N, 0, N, 0, MS, WB_WF_FORK, FAIR_R_KEY_NEAR, false},
#undef V
    };
    (void)state;
    play(table, WB_ARRAY_SIZE(table));
}

/* Once it has run latency / n = 10 ms, any lead is enough. */
static void granularity_is_gone_after_the_ideal_time_2_6_23(void **state)
{
    static const struct situation near_ = {FAIR_2_6_23, 0, "ran 10 ms", N, 0, N, 0, 1, 0, FAIR_R_KEY_NEAR, false},
                                  gone = {FAIR_2_6_23, 0, "ran longer", N, 0, N, 0, 1, 0, FAIR_R_KEY_FAR, true};
    struct wb_task *curr, *wakee;
    (void)state;
    struct wb_sim *s = stage(FAIR_2_6_23, &near_, NULL, &curr, &wakee);
    fair_task(curr)->sum_exec = fair_task(curr)->prev_sum_exec + 10 * MS;
    judge(FAIR_2_6_23, &near_, s, wakee);
    fair_task(curr)->sum_exec++;
    judge(FAIR_2_6_23, &gone, s, wakee);
    fake_free(s);
}

/* ---- 2.6.24: 10 ms, scaled by the running task's weight ---- */

static void vruntime_2_6_24(void **state)
{
    static const struct situation table[] = {
#define V FAIR_2_6_24, FAIR_2_6_24
        {V, "equal", N, 0, N, 0, 0, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "to the right", N, 0, N, 0, -MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "exactly the granularity", N, 0, N, 0, 10 * MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "one more", N, 0, N, 0, 10 * MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "sync is checked like any other", N, 0, N, 0, 10 * MS + 1, WB_WF_SYNC, FAIR_R_VRUNTIME_FAR, true},
        {V, "sync and near", N, 0, N, 0, MS, WB_WF_SYNC, FAIR_R_VRUNTIME_NEAR, false},
        {V, "a long sleeper's whole credit", N, 0, N, 0, 20 * MS, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "batch wakee", N, 0, B, 0, 100 * MS, 0, FAIR_R_BATCH_WAKEE, false},
        {V, "batch running", B, 0, N, 0, 10 * MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "idle-class wakee is compared", N, 0, I, 0, 10 * MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "idle-class wakee, near", N, 0, I, 0, 10 * MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "idle-class running: 10 ms * 1024 / 2 = 5.12 s", I, 0, N, 0, 5120 * MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "idle-class running, more", I, 0, N, 0, 5121 * MS, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "nice 5 running: 10 ms * 1024 / 335 = 30.567 ms", N, 5, N, 0, 30566000, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "nice 5 running, more", N, 5, N, 0, 30569000, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "nice -5 running: 3.281 ms", N, -5, N, 0, 3280000, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "nice -5 running, more", N, -5, N, 0, 3282000, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "the wakee's nice does not count: 5", N, 0, N, 5, 10 * MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "the wakee's nice does not count: -5", N, 0, N, -5, 10 * MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "fork, child to the left", N, 0, N, 0, 1, WB_WF_FORK, FAIR_R_CHILD_FIRST, true},
        {V, "fork, child to the right: rescheduled all the same", N, 0, N, 0, -1, WB_WF_FORK, FAIR_R_PARENT_FIRST,
         true},
#undef V
    };
    (void)state;
    play(table, WB_ARRAY_SIZE(table));
}

/* ---- 2.6.35 .. 6.1: 1 ms, scaled by the wakee's weight ---- */

static void vruntime_2_6_35_to_6_1(void **state)
{
    static const struct situation table[] = {
#define V FAIR_2_6_35, FAIR_6_1
#define OLD FAIR_2_6_35, FAIR_2_6_36
#define NEW FAIR_5_4, FAIR_6_1
        {V, "equal", N, 0, N, 0, 0, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "to the right", N, 0, N, 0, -MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "exactly the granularity", N, 0, N, 0, MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "one more", N, 0, N, 0, MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "a sleeper's credit of half a latency", N, 0, N, 0, 3 * MS, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "sync makes no difference: far", N, 0, N, 0, MS + 1, WB_WF_SYNC, FAIR_R_VRUNTIME_FAR, true},
        {V, "sync makes no difference: near", N, 0, N, 0, MS, WB_WF_SYNC, FAIR_R_VRUNTIME_NEAR, false},
        {V, "nice 5 wakee: 1 ms * 1024 / 335 = 3.0567 ms", N, 0, N, 5, 3056000, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "nice 5 wakee, more", N, 0, N, 5, 3057000, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "nice -5 wakee: 0.3281 ms", N, 0, N, -5, 328000, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "nice -5 wakee, more", N, 0, N, -5, 328200, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "the running task's nice does not count: 5", N, 5, N, 0, MS, 0, FAIR_R_VRUNTIME_NEAR, false},
        {V, "the running task's nice does not count: -5", N, -5, N, 0, MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "batch wakee", N, 0, B, 0, 50 * MS, 0, FAIR_R_BATCH_WAKEE, false},
        {V, "batch wakee, batch running", B, 0, B, 0, 50 * MS, 0, FAIR_R_BATCH_WAKEE, false},
        {V, "batch running", B, 0, N, 0, MS + 1, 0, FAIR_R_VRUNTIME_FAR, true},
        {V, "idle-class wakee", N, 0, I, 0, 50 * MS, 0, FAIR_R_IDLE_WAKEE, false},
        {V, "idle-class running", I, 0, N, 0, -50 * MS, 0, FAIR_R_IDLE_CURR, true},
        {V, "both idle-class", I, 0, I, 0, 50 * MS, 0, FAIR_R_IDLE_WAKEE, false},
        {OLD, "batch wakee, idle-class running: the wakee's class comes first", I, 0, B, 0, 50 * MS, 0,
         FAIR_R_BATCH_WAKEE, false},
        {NEW, "batch wakee, idle-class running: the running one's comes first", I, 0, B, 0, -MS, 0, FAIR_R_IDLE_CURR,
         true},
        {V, "fork is no special case", N, 0, N, 0, MS + 1, WB_WF_FORK, FAIR_R_VRUNTIME_FAR, true},
        {V, "fork, near", N, 0, N, 0, 0, WB_WF_FORK, FAIR_R_VRUNTIME_NEAR, false},
#undef V
#undef OLD
#undef NEW
    };
    (void)state;
    play(table, WB_ARRAY_SIZE(table));
}

static void pending_reschedule_ends_the_test(void **state)
{
    static const struct situation x = {0, 0, "resched", N, 0, N, 0, 50 * MS, 0, FAIR_R_RESCHED_ALREADY, false},
                                  old = {0, 0, "not asked", N, 0, N, 0, 50 * MS, 0, FAIR_R_VRUNTIME_FAR, true};
    (void)state;
    for (enum fair_release v = FAIR_2_6_24; v < FAIR_RELEASES; v++) {
        struct wb_task *curr, *wakee;
        struct wb_sim *s = stage(v, &x, NULL, &curr, &wakee);
        s->rq[0].need_resched = true;
        judge(v, v == FAIR_2_6_24 ? &old : &x, s, wakee);
        fake_free(s);
    }
}

static void preemption_can_be_off(void **state)
{
    static const struct situation off = {0, 0, "off", N, 0, N, 0, 50 * MS, 0, FAIR_R_NO_PREEMPTION, false},
                                  idle = {0, 0, "idle curr", I, 0, N, 0, 0, 0, FAIR_R_IDLE_CURR, true},
                                  idle_off = {0, 0, "idle curr, off", I, 0, N, 0, 0, 0, FAIR_R_NO_PREEMPTION, false};
    const char *old[] = {"policy.features=[\"NO_WAKEUP_PREEMPT\"]", NULL},
               *new[] = {"policy.features=[\"NO_WAKEUP_PREEMPTION\"]", NULL};
    (void)state;
    for (enum fair_release v = FAIR_2_6_24; v < FAIR_RELEASES; v++) {
        struct wb_task *curr, *wakee;
        struct wb_sim *s = stage(v, &off, v <= FAIR_2_6_36 ? old : new, &curr, &wakee);
        judge(v, &off, s, wakee);
        fake_free(s);
        s = stage(v, &idle, v <= FAIR_2_6_36 ? old : new, &curr, &wakee);
        /* 6.12 asks for the feature first */
        judge(v, v == FAIR_2_6_24 || v >= FAIR_6_12 ? &idle_off : &idle, s, wakee);
        fake_free(s);
    }
}

static void idle_cpu_and_real_time(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
        wb_rule rule;
        struct wb_task *t = fair_test_fork(s, 1, 0, WB_CLASS_NORMAL);
        assert_true(s->ops->check_preempt(fake_exec(s, 0), &s->rq[1], t, 0, &rule));
        assert_int_equal(rule, FAIR_R_CPU_IDLE);
        fake_schedule(s, 1, WB_RUNNING);
        struct wb_task *stop = s->rq[1].stopper;
        assert_true(s->ops->check_preempt(fake_exec(s, 0), &s->rq[1], stop, 0, &rule));
        assert_int_equal(rule, FAIR_R_RT);
        fake_enqueue(s, stop, WB_ENQ_WAKEUP);
        assert_ptr_equal(fake_schedule(s, 1, WB_RUNNING), stop);
        assert_false(s->ops->check_preempt(fake_exec(s, 0), &s->rq[1], t, 0, &rule));
        assert_int_equal(rule, FAIR_R_RT_CURR);
        fake_free(s);
    }
}

/* ---- EEVDF: base slice 0.75 ms (6.18: 0.70) ---- */

/* Virtual run times and deadlines of the running task, the wakee and a third one, in us from the running task's
 * vruntime. Equal weights: V is the mean of the vruntimes. */
struct eevdf {
    enum fair_release from, to;
    const char *what;
    int64_t wakee, wakee_deadline, third, third_deadline, curr_deadline;
    bool used_up; /* the running task has begun another request without being switched */
    bool parity_off;
    enum fair_rule rule;
    bool preempts;
};

static struct wb_sim *eevdf_stage(enum fair_release v, const struct eevdf *x, struct wb_task **wakee)
{
    const char *off[] = {"policy.features=[\"NO_RUN_TO_PARITY\"]", NULL};
    static const struct situation plain = {.curr = N, .wakee = N};
    struct wb_task *curr;
    struct wb_sim *s = stage(v, &plain, x->parity_off ? off : NULL, &curr, wakee);
    struct wb_task *third = fair_test_fork(s, 0, 0, WB_CLASS_NORMAL);
    uint64_t at = fair_task(curr)->vruntime;
    struct fair_task *c = fair_task(curr);
    s->rq[0].need_resched = false;
    move_to(s, *wakee, at + (uint64_t)(x->wakee * 1000), at + (uint64_t)(x->wakee_deadline * 1000));
    move_to(s, third, at + (uint64_t)(x->third * 1000), at + (uint64_t)(x->third_deadline * 1000));
    c->deadline = at + (uint64_t)(x->curr_deadline * 1000);
    /* Protected: up to the deadline; in 6.18 without RUN_TO_PARITY for a base slice. */
    c->vprot = x->used_up ? c->vruntime : c->deadline;
    return s;
}

static void eevdf_decisions(void **state)
{
    static const struct eevdf table[] = {
#define V FAIR_6_6, FAIR_6_18
        {V, "running task protected, wakee eligible and earlier", -100, 400, 100, 850, 750, false, false,
         FAIR_R_EEVDF_PROTECTED, false},
        {V, "request used up, wakee earlier", -100, 400, 100, 850, 750, true, false, FAIR_R_EEVDF_PICKED, true},
        {V, "request used up, wakee's deadline later", -100, 800, 100, 850, 750, true, false, FAIR_R_EEVDF_LATER,
         false},
        {V, "request used up, equal deadlines: the one in the tree", -100, 750, 100, 850, 750, true, false,
         FAIR_R_EEVDF_PICKED, true},
        {V, "running task past V: no protection", -300, 400, -200, 550, 750, false, false, FAIR_R_EEVDF_PICKED, true},
        {V, "running task past V, wakee later than the third", -300, 600, -200, 550, 750, false, false,
         FAIR_R_EEVDF_LATER, false},
        {V, "running task past V, wakee's deadline later than its own", -300, 900, -200, 550, 750, false, false,
         FAIR_R_EEVDF_LATER, false},
        {V, "wakee ahead of V", 300, 400, -100, 650, 750, false, false, FAIR_R_EEVDF_INELIGIBLE, false},
        {V, "wakee ahead of V, request used up", 300, 400, -100, 650, 750, true, false, FAIR_R_EEVDF_INELIGIBLE, false},
        {V, "wakee exactly at V is eligible", 0, 400, 0, 650, 750, true, false, FAIR_R_EEVDF_PICKED, true},
        {V, "wakee a microsecond ahead of V", 1, 400, 0, 650, 750, true, false, FAIR_R_EEVDF_INELIGIBLE, false},
        {V, "running task exactly at V is eligible: protected", 0, 400, 0, 650, 750, false, false,
         FAIR_R_EEVDF_PROTECTED, false},
        {V, "far behind but protected all the same", -5000, -4250, 6000, 6750, 750, false, false,
         FAIR_R_EEVDF_PROTECTED, false},
        {V, "long sleeper, running task past V", -5000, -4250, 1000, 1750, 750, false, false, FAIR_R_EEVDF_PICKED,
         true},
        {V, "third one is due first", -100, 400, -100, 300, 750, true, false, FAIR_R_EEVDF_LATER, false},
        {V, "third one is due first but ahead", -100, 400, 200, 300, 750, true, false, FAIR_R_EEVDF_PICKED, true},
        {V, "third one is due first but ahead; V reaches the running task", -200, 400, 200, 300, 750, true, false,
         FAIR_R_EEVDF_PICKED, true},
        {FAIR_6_6, FAIR_6_12, "no parity: earliest deadline", -100, 400, 100, 850, 750, false, true,
         FAIR_R_EEVDF_PICKED, true},
        {FAIR_6_6, FAIR_6_12, "no parity: later deadline", -100, 800, 100, 850, 750, false, true, FAIR_R_EEVDF_LATER,
         false},
        {FAIR_6_18, FAIR_6_18, "no parity: a base slice is protected", -100, 400, 100, 850, 750, false, true,
         FAIR_R_EEVDF_PROTECTED, false},
        {FAIR_6_18, FAIR_6_18, "no parity: then by deadline", -100, 400, 100, 850, 750, true, true, FAIR_R_EEVDF_PICKED,
         true},
        {V, "V just reaches the running task: no protection a microsecond before", -301, 400, 300, 850, 750, false,
         false, FAIR_R_EEVDF_PICKED, true},
#undef V
    };
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        for (enum fair_release v = table[i].from; v <= table[i].to; v++) {
            struct wb_task *wakee;
            struct wb_sim *s = eevdf_stage(v, &table[i], &wakee);
            const struct situation x = {.what = table[i].what, .rule = table[i].rule, .preempts = table[i].preempts};
            judge(v, &x, s, wakee);
            fake_free(s);
        }
    }
}

/* From the wakeup that preempts until schedule() the running task does 300 us more: kernels that keep the clock charge
 * them to the one that comes, and so does a running task that goes to sleep meanwhile. A wakeup that does not preempt
 * leaves the clock to schedule(). */
static void rest_of_the_call_is_the_wakees(void **state)
{
    static const struct situation x = {.what = "asks for a reschedule", .wakee_nice = 0, .lead = 200 * MS};
    (void)state;
    for (enum fair_release v = FAIR_2_6_24; v <= FAIR_6_18; v++)
        for (int sleeps = 0; sleeps < 2; sleeps++) {
            struct wb_task *a, *b;
            wb_rule rule = 0;
            struct wb_sim *s = stage(v, &x, NULL, &a, &b);
            const uint64_t rest = 300000, own = 100000, before = fair_task(a)->sum_exec;
            bool keeps = v > FAIR_2_6_36;
            if (!s->ops->check_preempt(fake_exec(s, 0), &s->rq[0], b, 0, &rule))
                fail_msg("%s: %s", fair_version[v].name, fair_rules[rule]);
            s->rq[0].need_resched = true;
            fair_test_pass(s, (sim_time)rest * WB_NS);
            assert_ptr_equal(fake_schedule(s, 0, sleeps ? WB_INTERRUPTIBLE : WB_RUNNING), b);
            assert_int_equal(fair_task(a)->sum_exec - before, keeps ? 0 : rest);
            fair_test_pass(s, (sim_time)own * WB_NS);
            (void)fake_schedule(s, 0, WB_INTERRUPTIBLE); /* nobody asked for this one */
            assert_int_equal(fair_task(b)->sum_exec, own + (keeps ? rest : 0));
            fake_free(s);
        }
}

/* No reschedule is asked for: nothing is kept. */
static void without_a_request_all_is_charged(void **state)
{
    static const struct situation x = {.what = "behind", .wakee_nice = 0, .lead = -1 * MS};
    (void)state;
    for (enum fair_release v = FAIR_2_6_24; v <= FAIR_6_18; v++) {
        struct wb_task *a, *b;
        wb_rule rule = 0;
        struct wb_sim *s = stage(v, &x, NULL, &a, &b);
        uint64_t before = fair_task(a)->sum_exec;
        assert_false(s->ops->check_preempt(fake_exec(s, 0), &s->rq[0], b, 0, &rule));
        fair_test_pass(s, 300 * WB_US);
        (void)fake_schedule(s, 0, WB_RUNNING);
        assert_int_equal(fair_task(a)->sum_exec - before, 300000);
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_runtime_2_6_23),
        cmocka_unit_test(granularity_is_gone_after_the_ideal_time_2_6_23),
        cmocka_unit_test(vruntime_2_6_24),
        cmocka_unit_test(vruntime_2_6_35_to_6_1),
        cmocka_unit_test(pending_reschedule_ends_the_test),
        cmocka_unit_test(preemption_can_be_off),
        cmocka_unit_test(idle_cpu_and_real_time),
        cmocka_unit_test(eevdf_decisions),
        cmocka_unit_test(rest_of_the_call_is_the_wakees),
        cmocka_unit_test(without_a_request_all_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
