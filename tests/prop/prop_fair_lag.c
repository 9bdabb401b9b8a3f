/*
 * EEVDF against its definition: V, eligibility and choice recomputed over all tasks after each step of random
 * programs; lag within its bound while the set of tasks stands, and clamped when one leaves.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core
 */
#include "wbtest.h"

#include "fairtest.h"
#include "propcheck.h"

enum { TASKS = 12 };
enum op { PASS, SLEEP, WAKE, YIELD, NICE, OPS };

struct world {
    enum fair_release v;
    struct wb_sim *s;
    struct wb_task *task[TASKS];
    sim_time next_tick;
};

static struct wb_exec *here(struct world *w)
{
    return fake_exec(w->s, 0);
}
static struct wb_rq *queue(struct world *w)
{
    return &w->s->rq[0];
}

static void resched(struct world *w)
{
    if (queue(w)->need_resched || (queue(w)->curr == queue(w)->idle && queue(w)->nr_running))
        fake_schedule(w->s, 0, WB_RUNNING);
}

/* Time passes, with its ticks. */
static void pass(struct world *w, sim_time t)
{
    sim_time end = w->s->now + t;
    while (w->next_tick <= end) {
        w->s->now = w->next_tick;
        w->next_tick += wb_tick_ps(w->s);
        w->s->ops->tick(fake_exec_irq(w->s, 0, WB_LEVEL_HARDIRQ), queue(w));
        (void)here(w);
        resched(w);
    }
    w->s->now = end;
}

static void wake(struct world *w, struct wb_task *t)
{
    wb_rule rule;
    if (t->state == WB_RUNNING && !t->delayed) return;
    if (fair_test_wake(w->s, t, 0, &rule)) queue(w)->need_resched = true;
    resched(w);
}

static void act(struct world *w, const struct prop_op *o)
{
    struct wb_task *t = w->task[o->a % TASKS], *curr = queue(w)->curr;
    switch ((enum op)o->kind) {
    case PASS: pass(w, o->b % (6 * WB_MS)); break;
    case SLEEP:
        if (curr != queue(w)->idle) fake_schedule(w->s, 0, WB_INTERRUPTIBLE);
        break;
    case WAKE: wake(w, t); break;
    case YIELD:
        if (curr == queue(w)->idle) break;
        w->s->ops->yield(here(w), queue(w));
        fake_schedule(w->s, 0, WB_RUNNING);
        break;
    case NICE:
        t->nice = (int8_t)((int)(o->b % 20) - 10);
        w->s->ops->task_changed(here(w), t);
        resched(w);
        break;
    case OPS: break;
    }
}

/* ---- the definition ---- */

static bool counts(const struct fair_task *p)
{
    return p->on_rq;
}

/* sum of w_i * (v_i - reference) and of w_i over all queued tasks, the running one among them. */
static void sums(const struct world *w, uint64_t reference, int64_t *sum, int64_t *weight)
{
    *sum = *weight = 0;
    for (int i = 0; i < TASKS; i++) {
        const struct fair_task *p = fair_task(w->task[i]);
        if (!counts(p)) continue;
        *sum += (int64_t)(p->vruntime - reference) * (int64_t)p->weight.value;
        *weight += (int64_t)p->weight.value;
    }
}

static double virtual_lag(const struct world *w, const struct fair_task *p)
{
    int64_t sum, weight;
    sums(w, p->vruntime, &sum, &weight);
    return (double)sum / (double)weight; /* V - v */
}

static bool sums_agree(const struct world *w, char *why, size_t n)
{
    const struct fair_rq *r = fair_test_rq(w->s, 0);
    int64_t sum = 0, weight = 0, all = 0;
    uint32_t nr = 0, delayed = 0;
    for (int i = 0; i < TASKS; i++) {
        const struct fair_task *p = fair_task(w->task[i]);
        if (!counts(p)) continue;
        nr++;
        delayed += p->delayed;
        all += (int64_t)p->weight.value;
        if (p == r->curr) continue;
        sum += (int64_t)(p->vruntime - r->min_vruntime) * (int64_t)p->weight.value;
        weight += (int64_t)p->weight.value;
    }
    if (sum != r->sum_lag || weight != r->sum_weight)
        return snprintf(why, n, "sum %ld, not %ld", (long)r->sum_lag, (long)sum), false;
    if (nr != r->nr || delayed != r->nr_delayed || nr != w->s->rq[0].nr_running || all != (int64_t)r->load.value)
        return snprintf(why, n, "counts %u of %u", r->nr, nr), false;
    return true;
}

static bool eligibility_agrees(const struct world *w, char *why, size_t n)
{
    const struct fair_rq *r = fair_test_rq(w->s, 0);
    for (int i = 0; i < TASKS; i++) {
        const struct fair_task *p = fair_task(w->task[i]);
        if (!counts(p)) continue;
        int64_t sum, weight;
        sums(w, p->vruntime, &sum, &weight);
        if (fair_eligible(r, p) != (sum >= 0))
            return snprintf(why, n, "task %u: eligible %d", p->t->id, sum >= 0), false;
    }
    return true;
}

/* Earliest deadline among the eligible in the tree, then the running task if it is earlier or protected. */
static bool choice_agrees(struct world *w, char *why, size_t n)
{
    struct fair_rq *r = fair_test_rq(w->s, 0);
    const struct fair_task *best = NULL, *curr = r->curr && r->curr->on_rq ? r->curr : NULL;
    if (!r->nr) return true;
    for (int i = 0; i < TASKS; i++) {
        const struct fair_task *p = fair_task(w->task[i]);
        if (!counts(p) || p == curr || !fair_eligible(r, p)) continue;
        if (!best || fair_before(p->deadline, best->deadline)) best = p;
    }
    const struct fair_task *got = fair_eevdf_order.choose(here(w), queue(w));
    if (r->nr == 1) return got->on_rq || (snprintf(why, n, "the only one"), false);
    bool able = curr && fair_eligible(r, curr);
    bool guarded =
        able && (w->v == FAIR_6_18 ? fair_before(curr->vruntime, curr->vprot) : curr->vprot == curr->deadline);
    bool earlier = able && (!best || fair_before(curr->deadline, best->deadline));
    if (guarded || earlier ? got == curr : got != curr && best && got->deadline == best->deadline) return true;
    return snprintf(why, n, "task %u chosen", got->t->id), false;
}

static struct world world_new(enum fair_release v, const char *machine, const char *const *sets)
{
    struct world w = {.v = v, .s = fair_test_new(v, machine, sets)};
    w.next_tick = wb_tick_ps(w.s) / 3;
    for (int i = 0; i < TASKS; i++) w.task[i] = fair_test_fork(w.s, 0, (i * 7) % 11 - 5, WB_CLASS_NORMAL);
    fake_schedule(w.s, 0, WB_RUNNING);
    return w;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    for (enum fair_release v = FAIR_6_6; v <= FAIR_6_18; v++) {
        struct world w = world_new(v, FAIR_SMP(1), NULL);
        bool ok = true;
        for (size_t i = 0; i < n && ok; i++) {
            act(&w, &ops[i]);
            char what[120] = "";
            ok = sums_agree(&w, what, sizeof what) && eligibility_agrees(&w, what, sizeof what) &&
                 choice_agrees(&w, what, sizeof what);
            if (!ok) snprintf(why, nwhy, "%s, after op %zu: %s", fair_version[v].name, i, what);
        }
        fake_free(w.s);
        if (!ok) return false;
    }
    return true;
}

static struct prop_op make(struct prop_rng *r)
{
    static const uint8_t kinds[] = {PASS, PASS, PASS, SLEEP, SLEEP, WAKE, WAKE, WAKE, YIELD, NICE};
    return (struct prop_op){.kind = kinds[prop_below(r, sizeof kinds)], .a = prop_u64(r), .b = prop_u64(r)};
}

static void every_step_follows_the_definition(void **state)
{
    static const struct property p = {.name = "eevdf", .ops_max = 300, .make = make, .run = run};
    (void)state;
    assert_true(prop_check(&p, 40));
}

/*
 * While the set of tasks stands: -r_max <= lag <= r_max in service time (Stoica and Abdel-Wahab 1995, theorem 1),
 * where a request of one slice may be served to the tick after its end: r_max = slice + tick. It supposes requests
 * that a tick can serve, so 8 CPUs (3 ms, 2.8 ms) at 1000 ticks a second; with 0.75 ms served in ticks of 4 ms the
 * kernels do leave it, by more the more tasks there are.
 */
static void lag_stays_within_its_bound(void **state)
{
    static const char *const sets[] = {"kernel.hz=1000", NULL};
    (void)state;
    for (enum fair_release v = FAIR_6_6; v <= FAIR_6_18; v++) {
        double largest = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct prop_rng r = {seed};
            struct world w = world_new(v, FAIR_SMP(8), sets);
            const struct fair_sim *f = fair_test_sim(w.s);
            double bound = (double)(f->base_slice + f->tick_ns), worst = 0;
            for (int i = 0; i < TASKS; i++) {
                w.task[i]->nice = (int8_t)((int)prop_below(&r, 12) - 6);
                w.s->ops->task_changed(here(&w), w.task[i]);
            }
            pass(&w, 500 * WB_MS);
            for (int step = 0; step < 1000; step++) {
                pass(&w, prop_below(&r, 8 * WB_MS));
                for (int i = 0; i < TASKS; i++) {
                    const struct fair_task *p = fair_task(w.task[i]);
                    double lag = virtual_lag(&w, p) * (double)p->weight.value / 1024;
                    worst = WB_MAX(worst, lag < 0 ? -lag : lag);
                }
            }
            largest = WB_MAX(largest, worst / bound);
            fake_free(w.s);
        }
        if (largest > 1) fail_msg("%s: lag is %.3f of its bound", fair_version[v].name, largest);
        assert_true(largest > 0.5); /* the test sees lag at all */
    }
}

/* Who leaves takes at most two slices or a tick of lag along, in its own virtual time. */
static void lag_is_clamped_when_leaving(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_6_6; v <= FAIR_6_18; v++) {
        struct world w = world_new(v, FAIR_SMP(1), NULL);
        const struct fair_sim *f = fair_test_sim(w.s);
        struct prop_rng r = {7};
        for (int step = 0; step < 20000; step++) {
            struct prop_op o = make(&r);
            if (o.kind == NICE) continue; /* it scales the lag of sleepers */
            act(&w, &o);
            for (int i = 0; i < TASKS; i++) {
                struct fair_task *p = fair_task(w.task[i]);
                int64_t limit = (int64_t)fair_virtual(f, WB_MAX(2 * p->slice, f->tick_ns), p);
                if (!p->on_rq) assert_in_range(p->vlag + limit, 0, 2 * limit + 2);
            }
        }
        fake_free(w.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_follows_the_definition),
        cmocka_unit_test(lag_stays_within_its_bound),
        cmocka_unit_test(lag_is_clamped_when_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
