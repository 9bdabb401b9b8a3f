/*
 * fair_wait.c - the first CFS, 2.6.23: who is owed most runs.
 *
 * Linux 2.6.23 kernel/sched_fair.c: __update_curr, update_stats_wait_end, enqueue_sleeper, sched_granularity,
 * niced_granularity, __check_preempt_curr_fair, entity_tick, task_new_fair. The fair clock runs at nice-0 time over
 * the queue's weight. wait_runtime grows while a task waits or sleeps and falls while it runs, by what it ran less
 * what it was entitled to. The key, fair clock at queueing less wait_runtime, is kept in `vruntime`; it changes only
 * when the task is taken out and put back. The running task stays in the tree.
 */
#include "fair.h"

/* What sleepers were given too much is taken from those who run. */
static int64_t repay_bonus(const struct fair_sim *f, struct fair_rq *r, const struct fair_task *curr, int64_t mine)
{
    if (r->sleeper_bonus <= f->min_granularity) return mine;
    int64_t back = (int64_t)WB_MIN((uint64_t)mine, r->sleeper_bonus);
    int64_t room = (int64_t)f->runtime_limit - curr->wait_runtime;
    back = WB_MIN(back, room);
    r->sleeper_bonus -= (uint64_t)back;
    return mine - back;
}

static void owe(const struct fair_sim *f, struct fair_task *p, int64_t delta)
{
    int64_t limit = (int64_t)f->runtime_limit;
    p->wait_runtime = WB_MAX(WB_MIN(p->wait_runtime + delta, limit), -limit);
}

static void charge(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr, uint64_t ran)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    curr->held_exec += ran;
    if (curr->held_exec <= f->stat_granularity) return;
    ran = curr->held_exec;
    curr->held_exec = 0;
    r->exec_clock += ran;
    if (!r->load.value) return;
    int64_t mine = (int64_t)fair_scale(f, ran, curr->weight.value, &r->load);
    mine = repay_bonus(f, r, curr, mine);
    r->fair_clock += fair_scale(f, ran, WEIGHT_NICE_0, &r->load);
    owe(f, curr, mine - (int64_t)ran);
}

/* Fair time to a task's own time: calc_weighted. */
static int64_t weighted(const struct fair_task *p, uint64_t fair)
{
    return (int64_t)(p->weight.value == WEIGHT_NICE_0 ? fair : fair * p->weight.value >> 10);
}

/* A wait that ends, for the CPU or for good, is owed; at most two limits of it. */
static void end_wait(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!p->waits) return;
    p->waits = false;
    p->held_wait += WB_MIN(2 * f->runtime_limit, r->fair_clock - p->wait_start);
    if (p->held_wait < f->stat_granularity) return;
    owe(f, p, weighted(p, p->held_wait));
    p->held_wait = 0;
}

static void start_wait(struct fair_rq *r, struct fair_task *p)
{
    p->waits = true;
    p->wait_start = r->fair_clock;
}

static void set_key(struct fair_rq *r, struct fair_task *p)
{
    int64_t w = p->wait_runtime;
    if (p->weight.value != WEIGHT_NICE_0) { /* own time to fair time, by magnitude */
        uint64_t size = (uint64_t)(w < 0 ? -w : w);
        int64_t fair = (int64_t)((unsigned __int128)size * p->weight.inv >> 22);
        w = w < 0 ? -fair : fair;
    }
    p->vruntime = r->fair_clock - (uint64_t)w;
}

static void credit_sleep(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!p->sleeps) return;
    p->sleeps = false;
    if (p->t->klass == WB_CLASS_BATCH || !fair_on(f, FAIR_F_FAIR_SLEEPERS)) return;
    p->held_sleep += WB_MIN(2 * f->runtime_limit, r->fair_clock - p->sleep_start);
    if (p->held_sleep < f->stat_granularity) return;
    uint64_t fair = p->held_sleep;
    p->held_sleep = 0;
    if (r->sleeper_bonus > f->runtime_limit) return;
    uint64_t load = fair_on(f, FAIR_F_SLEEPER_LOAD_AVG) ? r->cpu_load[2] : r->load.value;
    if (fair_on(f, FAIR_F_SLEEPER_AVG)) fair = fair * load / (load + p->weight.value);
    int64_t before = p->wait_runtime;
    owe(f, p, weighted(p, fair));
    r->sleeper_bonus += (uint64_t)(p->wait_runtime - before);
}

/* ---- granularities ---- */

static uint64_t granularity(const struct fair_sim *f, const struct fair_rq *r)
{
    uint64_t n = r->nr, gran = f->latency;
    return n > 1 ? WB_MAX(gran / n - gran / n / n, f->min_granularity) : gran;
}

/* Negative nice: finer. Positive: less weight, less granularity in key space. */
static int64_t niced(const struct fair_task *p, uint64_t gran)
{
    if (p->weight.value == WEIGHT_NICE_0) return (int64_t)gran;
    if (p->weight.value < WEIGHT_NICE_0) return (int64_t)(p->weight.value * gran >> 10);
    return (int64_t)((unsigned __int128)p->weight.inv * gran >> 22);
}

/* Once the running task has had its latency / n, the smallest lead is enough. */
static bool leads(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p, uint64_t gran)
{
    const struct fair_task *curr = r->curr;
    uint64_t ideal = WB_MAX(f->latency / WB_MAX(r->nr, 1), f->min_granularity);
    if (curr->sum_exec - curr->prev_sum_exec > ideal) gran = 0;
    return (int64_t)(curr->vruntime - p->vruntime) > niced(curr, gran);
}

/* ---- the queue ---- */

/* task_new_fair: the child's key lies just far enough to preempt its parent. */
static void place_child(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    p->vruntime = r->curr->vruntime - (uint64_t)niced(r->curr, granularity(f, r)) - 1;
    if (fair_on(f, FAIR_F_SKIP_INITIAL)) p->waits = false;
    if (fair_on(f, FAIR_F_START_DEBIT)) p->wait_runtime = -(int64_t)(granularity(f, r) / 2);
}

static bool child_first(const struct fair_sim *f, const struct wb_exec *x, const struct wb_rq *rq,
                        const struct fair_task *p)
{
    const struct fair_task *curr = fair_rq(rq)->curr;
    return f->child_runs_first && rq->cpu == x->cpu && curr && curr->on_rq && curr->t->mm != p->t->mm;
}

static void place(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (flags & WB_ENQ_WAKEUP) credit_sleep(f, r, p);
    start_wait(r, p);
    set_key(r, p);
    if (flags & WB_ENQ_NEW && child_first(f, x, rq, p)) place_child(f, r, p);
}

static bool leave(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    struct fair_rq *r = fair_rq(rq);
    if (p != r->curr) end_wait(fair_of(x), r, p);
    if (flags & WB_DEQ_SLEEP) {
        p->sleeps = true;
        p->sleep_start = r->fair_clock;
    }
    return true;
}

static void migrate(struct wb_exec *x, struct fair_task *p, struct fair_rq *from, struct fair_rq *to)
{
    uint64_t shift = to->fair_clock - from->fair_clock;
    (void)x;
    p->wait_start += shift;
    p->sleep_start += shift;
}

static struct fair_task *choose(struct wb_exec *x, struct wb_rq *rq)
{
    (void)x;
    return fair_of_node(fair_rq(rq)->tree.first);
}

static void start(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p)
{
    end_wait(fair_of(x), fair_rq(rq), p);
}

static void stop(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p)
{
    (void)x;
    start_wait(fair_rq(rq), p);
}

static void requeue(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    fair_tree_del(f, r, p);
    set_key(r, p);
    fair_tree_add(f, r, p);
}

static void tick(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    requeue(f, r, curr);
    const struct fair_task *next = fair_of_node(r->tree.first);
    if (next != curr && leads(f, r, next, granularity(f, r))) wb_resched(x, rq);
}

static bool preempts(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t wake_flags, wb_rule *rule)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    uint64_t gran = p->t->klass == WB_CLASS_BATCH ? f->batch_wakeup_granularity : f->wakeup_granularity;
    bool yes = leads(f, r, p, gran);
    *rule = yes ? FAIR_R_KEY_FAR : FAIR_R_KEY_NEAR;
    if (yes && wake_flags & WB_WF_FORK) *rule = FAIR_R_CHILD_FIRST;
    return yes;
}

/* Only its place in the tree is refreshed; sched_compat_yield: behind everybody. */
static void yield(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    fair_update_curr(x, rq);
    if (!f->compat_yield) {
        requeue(f, r, curr);
        return;
    }
    const struct fair_node *last = fair_tree_last(&r->tree);
    if (last == &curr->node || fair_before(last->key, curr->vruntime)) return;
    uint64_t key = last->key + 1;
    fair_tree_del(f, r, curr);
    curr->vruntime = key;
    fair_tree_add(f, r, curr);
}

const struct fair_order_ops fair_wait_order = {
    .charge = charge,
    .place = place,
    .leave = leave,
    .choose = choose,
    .start = start,
    .stop = stop,
    .tick = tick,
    .preempts = preempts,
    .yield = yield,
    .migrate = migrate,
};
