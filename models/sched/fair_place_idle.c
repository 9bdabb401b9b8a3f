/*
 * fair_place_idle.c - select_idle_sibling(): an idle CPU near the target.
 *
 * 2.6.35, 2.6.36: the first idle CPU, ascending, of each domain around the target that shares a cache; a larger domain
 * overrides a smaller one until both CPUs of the wakeup are spanned. 5.4: idle core, idle CPU within a budget of the
 * average idle time (SIS_PROP), idle sibling thread. 5.15 and later: sibling of the previous CPU, then one pass over
 * the last-level cache from the target on, limited by its utilisation (SIS_UTIL); from 6.7 on the cluster first.
 */
#include "fair_placing.h"

#include <string.h>

#define NO_LIMIT INT64_MAX

/* ---- 2.6.35, 2.6.36 ---- */

static cpu_id first_idle(struct placing *k, const struct wb_sd *sd)
{
    WB_FOR_EACH_CPU_AND (c, sd->span, k->p->t->allowed)
        if (fair_idle_cpu(k->f, place_look(k, c))) return c;
    return WB_NO_CPU;
}

/* Linux 3.3 to 3.5: the first group of the domain, from the target's own on in ring order, whose CPUs are all idle. */
static cpu_id first_idle_group(struct placing *k, const struct wb_sd *sd)
{
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        const struct wb_sg *g = wb_sd_group(sd, i);
        bool idle = true;
        WB_FOR_EACH_CPU (c, &g->mask) idle = idle && fair_idle_cpu(k->f, place_look(k, c));
        if (!idle) continue;
        WB_FOR_EACH_CPU_AND (c, &g->mask, k->p->t->allowed) return c;
    }
    return WB_NO_CPU;
}

/* Linux 3.6-rc, commit 970e178985ca update_domain_cache(): groups are paired from the first of the domain on; the odd
 * one out at its end goes with the one before it. */
static cpu_id buddy(struct placing *k, const struct wb_sd *sd)
{
    bool right = sd->local % 2 == 0 && sd->local + 1 < sd->ngroups;
    if (sd->ngroups < 2) return WB_NO_CPU;
    cpu_id c = sd->groups[right ? sd->local + 1 : sd->local - 1].first;
    return wb_mask_test(k->p->t->allowed, c) && fair_idle_cpu(k->f, place_look(k, c)) ? c : WB_NO_CPU;
}

/* Both from the last-level cache's domain down. */
static void search_down(struct placing *k)
{
    struct wb_sd *top = NULL;
    WB_FOR_EACH_SD(sd, wb_rq(k->x->sim, k->target))
    {
        if (!(sd->flags & WB_SD_SHARE_PKG)) break;
        top = sd;
    }
    for (struct wb_sd *sd = top; sd; sd = sd->child) {
        cpu_id c = k->f->pl.search == FAIR_SEARCH_BUDDY ? buddy(k, sd) : first_idle_group(k, sd);
        if (c == WB_NO_CPU) continue;
        k->target = c;
        k->where = sd->depth ? FAIR_W_FAR : FAIR_W_NEAR;
        return;
    }
}

void place_idle_sibling(struct placing *k)
{
    cpu_id here = k->here->cpu, prev = k->prev->cpu;
    wb_charge_fn(k->x, k->f->pl.fn_siblings);
    k->where = FAIR_W_IDLE;
    if ((k->target == here || k->target == prev) && fair_idle_cpu(k->f, place_look(k, k->target))) return;
    k->where = FAIR_W_NONE;
    if (k->f->pl.search != FAIR_SEARCH_FIRST) {
        search_down(k);
        return;
    }
    WB_FOR_EACH_SD(sd, wb_rq(k->x->sim, k->target))
    {
        if (!(sd->flags & WB_SD_SHARE_PKG)) break;
        cpu_id c = first_idle(k, sd);
        if (c != WB_NO_CPU) {
            k->target = c;
            k->where = sd->depth ? FAIR_W_FAR : FAIR_W_NEAR;
        }
        if (wb_mask_test(sd->span, here) && wb_mask_test(sd->span, prev)) break;
    }
}

/* ---- the scans of 5.4 and later ---- */

struct scan {
    struct placing *k;
    const struct wb_sd *llc;
    struct fair_llc *shared;
    struct wb_cpumask *left; /* CPUs not looked at yet */
    int64_t nr;              /* budget: looks + 1 */
    cpu_id spare;            /* first idle thread of busy cores */
    bool cores;              /* looking for an idle core */
};

static bool stays_asleep(struct placing *k, cpu_id c)
{
    return fair_idle_cpu(k->f, place_look(k, c));
}

static bool fits(const struct placing *k, cpu_id c)
{
    const struct fair_sim *f = k->f;
    return !f->bal.asym_capacity || f->v->release < FAIR_5_15 ||
           fair_fits(fair_task_util_est(f, k->p), fair_capacity(f, c));
}

static bool take(struct placing *k, cpu_id c, enum fair_where where)
{
    k->target = c;
    k->where = where;
    return true;
}

static cpu_id next_wrap(const struct wb_cpumask *m, cpu_id from, cpu_id start, bool *wrapped)
{
    cpu_id c = *wrapped ? WB_NO_CPU : wb_mask_next(m, from);
    if (c != WB_NO_CPU) return c;
    c = wb_mask_next(m, *wrapped ? from : 0);
    *wrapped = true;
    return c < start ? c : WB_NO_CPU;
}

/* for_each_cpu_wrap over a mask that loses CPUs on the way. */
#define FOR_EACH_WRAP(c, m, start) \
    for (bool wrapped_ = false, *w_ = &wrapped_; w_; w_ = NULL) \
        for (cpu_id c = next_wrap(m, start, start, w_); c != WB_NO_CPU; c = next_wrap(m, c + 1, start, w_))

static void drop_core(const struct scan *s, cpu_id c)
{
    uint32_t n;
    const cpu_id *member = wb_topo_members(wb_topo(s->k->x->sim), WB_LVL_CORE, c, &n);
    for (uint32_t i = 0; i < n; i++) wb_mask_clear(s->left, member[i]);
}

/* select_idle_core, 5.12+: is the whole core of this CPU idle? Remembers the first idle thread met. */
static bool whole_core_idle(struct scan *s, cpu_id core)
{
    struct placing *k = s->k;
    const struct wb_cpumask *allowed = k->p->t->allowed;
    uint32_t n;
    const cpu_id *member = wb_topo_members(wb_topo(k->x->sim), WB_LVL_CORE, core, &n);
    bool idle = true;
    for (uint32_t i = 0; i < n; i++) {
        cpu_id c = member[i];
        bool asleep = stays_asleep(k, c);
        idle = idle && asleep;
        if (s->spare == WB_NO_CPU && wb_mask_test(allowed, c) &&
            (asleep || fair_joins_idle(k->f, k->p->t, wb_rq(k->x->sim, c)))) {
            s->spare = c;
            if (!asleep) break;
        } else if (!asleep && s->spare != WB_NO_CPU) {
            break;
        }
    }
    if (!idle) drop_core(s, core);
    return idle;
}

/* One CPU of the merged pass. True: the search is over. */
static bool consider(struct scan *s, cpu_id c, enum fair_where where)
{
    struct placing *k = s->k;
    if (s->cores) return whole_core_idle(s, c) ? take(k, c, FAIR_W_CORE) : false;
    if (--s->nr <= 0) {
        k->where = FAIR_W_LIMIT;
        return true;
    }
    return place_idle(k, c) ? take(k, c, where) : false;
}

static bool scan_cluster(struct scan *s, cpu_id target)
{
    const struct placing *k = s->k;
    const struct wb_sd *child = s->llc->child;
    if (!k->f->pl.clusters || !child || !(child->flags & WB_SD_CLUSTER)) return false;
    const struct wb_sg *g = wb_sd_group(s->llc, 0);
    FOR_EACH_WRAP(c, &g->mask, target + 1)
    {
        if (wb_mask_test(s->left, c) && consider(s, c, FAIR_W_CLUSTER)) return true;
    }
    for (uint32_t i = s->left->skip; i < s->left->nwords - s->left->tail; i++) s->left->w[i] &= ~g->mask.w[i];
    return false;
}

/* SIS_PROP, 5.12+: the waker's CPU's idle time is aged by the jiffies since it was last idle. */
static void age_idle(const struct placing *k, struct fair_rq *r)
{
    uint64_t tick = k->f->tick_ns, now = fair_ns(k->x) / tick, then = r->wake_stamp / tick;
    if (then >= now) return;
    uint64_t n = now - then;
    r->wake_avg_idle = n < 64 ? r->wake_avg_idle >> n : 0;
    r->wake_stamp = now * tick;
}

static int64_t budget_prop(const struct scan *s, uint64_t avg_idle)
{
    uint64_t cost = s->k->f->pl.seat[s->k->here->cpu].scan_cost + 1, span = s->llc->span_weight * avg_idle;
    return span > 4 * cost ? (int64_t)(span / cost) : 4;
}

/* Time charged since: what the kernels measure with the CPU's clock. */
static uint64_t charged_ns(const struct wb_exec *x)
{
    return wb_charged(x) / WB_NS;
}

static void learn_cost(const struct placing *k, uint64_t ns)
{
    uint64_t *cost = &k->f->pl.seat[k->here->cpu].scan_cost;
    *cost = (uint64_t)((int64_t)*cost + ((int64_t)ns - (int64_t)*cost) / 8);
}

static void fill_left(const struct scan *s)
{
    const struct wb_cpumask *span = s->llc->span, *allowed = s->k->p->t->allowed;
    s->left->skip = span->skip; /* words outside the span keep what they had */
    s->left->tail = span->tail;
    for (uint32_t i = span->skip; i < span->nwords - span->tail; i++) s->left->w[i] = span->w[i] & allowed->w[i];
}

/* select_idle_cpu, 5.12 and later. */
static void scan_merged(struct scan *s)
{
    struct placing *k = s->k;
    struct fair_rq *mine = fair_rq(k->here);
    cpu_id target = k->target;
    bool prop = fair_on(k->f, FAIR_F_SIS_PROP) && !s->cores, over;
    uint64_t before = charged_ns(k->x);
    if (prop) {
        age_idle(k, mine);
        s->nr = budget_prop(s, mine->wake_avg_idle);
    }
    if (fair_on(k->f, FAIR_F_SIS_UTIL)) {
        s->nr = (int64_t)s->shared->nr_idle_scan + 1;
        k->where = FAIR_W_FULL;
        if (s->nr == 1) return;
    }
    k->where = FAIR_W_NONE;
    fill_left(s);
    over = scan_cluster(s, target);
    if (!over) {
        FOR_EACH_WRAP(c, s->left, target + 1)
        {
            over = consider(s, c, FAIR_W_CPU);
            if (over) break;
        }
    }
    if (k->where == FAIR_W_LIMIT || k->where == FAIR_W_CORE || k->where == FAIR_W_CLUSTER) return;
    if (s->cores) {
        s->shared->has_idle_cores = false;
        if (s->spare != WB_NO_CPU) (void)take(k, s->spare, FAIR_W_CPU);
    }
    if (!prop) return;
    uint64_t cost = charged_ns(k->x) - before;
    mine->wake_avg_idle -= WB_MIN(mine->wake_avg_idle, cost);
    learn_cost(k, cost);
}

/* ---- 5.4 ---- */

static bool core_5_4(struct scan *s)
{
    struct placing *k = s->k;
    if (!k->f->pl.smt || !s->shared->has_idle_cores) return false;
    fill_left(s);
    FOR_EACH_WRAP(core, s->left, k->target)
    {
        uint32_t n;
        const cpu_id *member = wb_topo_members(wb_topo(k->x->sim), WB_LVL_CORE, core, &n);
        bool idle = true;
        for (uint32_t i = 0; i < n; i++) idle &= stays_asleep(k, member[i]);
        if (idle) return take(k, core, FAIR_W_CORE);
        drop_core(s, core);
    }
    s->shared->has_idle_cores = false;
    return false;
}

/* The budget goes down before each CPU, the target and those not allowed included. */
static bool cpu_5_4(struct scan *s)
{
    struct placing *k = s->k;
    cpu_id target = k->target, sched_idle = WB_NO_CPU, found = WB_NO_CPU;
    uint64_t avg_idle = fair_rq(k->here)->avg_idle / 512, before = charged_ns(k->x);
    if (!k->f->pl.seat[k->here->cpu].llc) return false;
    if (fair_on(k->f, FAIR_F_SIS_AVG_CPU) && avg_idle < k->f->pl.seat[k->here->cpu].scan_cost + 1) return false;
    if (fair_on(k->f, FAIR_F_SIS_PROP)) s->nr = budget_prop(s, avg_idle);
    FOR_EACH_WRAP(c, s->llc->span, target)
    {
        if (!--s->nr) {
            k->where = FAIR_W_LIMIT;
            return sched_idle != WB_NO_CPU ? take(k, sched_idle, FAIR_W_CPU) : false;
        }
        if (!wb_mask_test(k->p->t->allowed, c)) continue;
        if (stays_asleep(k, c)) {
            found = c;
            break;
        }
        if (sched_idle == WB_NO_CPU && fair_joins_idle(k->f, k->p->t, wb_rq(k->x->sim, c))) sched_idle = c;
    }
    learn_cost(k, charged_ns(k->x) - before);
    return found != WB_NO_CPU ? take(k, found, FAIR_W_CPU) : false;
}

/* select_idle_smt: an idle thread of c's core. */
static bool thread_of(struct scan *s, cpu_id core, enum fair_where where)
{
    struct placing *k = s->k;
    uint32_t n;
    const cpu_id *member = wb_topo_members(wb_topo(k->x->sim), WB_LVL_CORE, core, &n);
    cpu_id sched_idle = WB_NO_CPU;
    if (!k->f->pl.smt) return false;
    for (uint32_t i = 0; i < n; i++) {
        cpu_id c = member[i];
        if (!wb_mask_test(k->p->t->allowed, c) || !wb_mask_test(s->llc->span, c)) continue;
        if (c == core && k->f->pr->merged_scan) continue; /* in another cluster, else it would have been taken */
        if (stays_asleep(k, c)) return take(k, c, where);
        if (!fair_joins_idle(k->f, k->p->t, wb_rq(k->x->sim, c))) continue;
        if (k->f->pr->merged_scan) return take(k, c, where);
        if (sched_idle == WB_NO_CPU) sched_idle = c;
    }
    return sched_idle != WB_NO_CPU ? take(k, sched_idle, where) : false;
}

/* ---- asymmetric capacity, 5.10+ ---- */

/* select_idle_capacity: the first idle CPU that fits, else the biggest idle one, else the target. */
static void by_capacity(struct placing *k, const struct wb_sd *sd)
{
    uint64_t best = 0;
    cpu_id target = k->target;
    FOR_EACH_WRAP(c, sd->span, target)
    {
        if (!wb_mask_test(k->p->t->allowed, c) || !place_idle(k, c)) continue;
        uint64_t capacity = fair_capacity(k->f, c);
        if (fits(k, c)) {
            (void)take(k, c, FAIR_W_CAPACITY);
            return;
        }
        if (capacity <= best) continue;
        best = capacity;
        (void)take(k, c, FAIR_W_CAPACITY);
    }
}

/* ---- select_idle_sibling ---- */

static bool same_cluster(const struct placing *k, cpu_id a, cpu_id b)
{
    return !k->f->pl.clusters || k->f->pl.seat[a].share_id == k->f->pl.seat[b].share_id;
}

/* IO completion: a per-CPU kernel thread wakes its client where it runs itself. */
static bool by_kthread(const struct placing *k)
{
    const struct wb_task *waker = k->x->task;
    return k->f->pr->kthread_stays && waker->kthread && waker->klass != WB_CLASS_SWAPPER &&
           k->x->level == WB_LEVEL_TASK && k->prev == k->here && k->here->nr_running <= 1 &&
           wb_mask_next(waker->allowed, wb_mask_first(waker->allowed) + 1) == WB_NO_CPU && fits(k, k->prev->cpu);
}

/* The CPU it used before the previous one, if idle and near. *far: idle, but in another cluster. 6.1 looks the previous
 * one up in the mask (p->recent_used_cpu is that already; ae2ad293d6be mended it in 6.5 and in 6.1.42). */
static bool by_recent(struct placing *k, cpu_id *far)
{
    cpu_id prev = k->prev->cpu, recent = k->p->pl.recent_used_cpu;
    if (!k->f->pr->recent_kept) k->p->pl.recent_used_cpu = prev;
    if (recent == WB_NO_CPU || recent == prev || recent == k->target) return false;
    if (!place_shares_cache(k->f, recent, k->target)) return false;
    if (!wb_mask_test(k->p->t->allowed, k->f->pr->recent_unseen ? prev : recent)) return false;
    if (!place_idle(k, recent) || !fits(k, recent)) return false;
    if (!same_cluster(k, recent, k->target)) {
        *far = recent;
        return false;
    }
    k->p->pl.recent_used_cpu = prev;
    return take(k, recent, FAIR_W_RECENT);
}

static void search_cache(struct placing *k)
{
    const struct fair_seat *seat = &k->f->pl.seat[k->target];
    struct scan s = {.k = k,
                     .llc = seat->llc,
                     .shared = seat->shared,
                     .left = &k->f->pl.scratch,
                     .nr = NO_LIMIT,
                     .spare = WB_NO_CPU};
    k->where = FAIR_W_NONE;
    if (!seat->llc) return;
    if (!k->f->pr->merged_scan) {
        cpu_id target = k->target;
        if (core_5_4(&s) || cpu_5_4(&s)) return;
        (void)thread_of(&s, target, FAIR_W_SMT);
        return;
    }
    if (k->f->pl.smt) {
        s.cores = seat->shared->has_idle_cores;
        if (!s.cores && place_shares_cache(k->f, k->prev->cpu, k->target) &&
            thread_of(&s, k->prev->cpu, FAIR_W_SIBLING))
            return;
    }
    scan_merged(&s);
}

static bool failed(enum fair_where w)
{
    return w == FAIR_W_NONE || w == FAIR_W_LIMIT || w == FAIR_W_FULL;
}

void place_idle_in_cache(struct placing *k)
{
    cpu_id prev = k->prev->cpu, prev_far = WB_NO_CPU, recent_far = WB_NO_CPU;
    wb_charge_fn(k->x, k->f->pl.fn_siblings);
    k->where = FAIR_W_IDLE;
    if (place_idle(k, k->target) && fits(k, k->target)) return;
    if (prev != k->target && place_shares_cache(k->f, prev, k->target) && place_idle(k, prev) && fits(k, prev)) {
        if (same_cluster(k, prev, k->target)) {
            (void)take(k, prev, FAIR_W_PREV);
            return;
        }
        prev_far = prev;
    }
    if (by_kthread(k)) {
        (void)take(k, prev, FAIR_W_KTHREAD);
        return;
    }
    if (by_recent(k, &recent_far)) return;
    const struct wb_sd *asym = k->f->v->release >= FAIR_5_15 ? k->f->pl.seat[k->target].asym : NULL;
    if (asym) {
        k->where = FAIR_W_NONE;
        by_capacity(k, asym);
        return;
    }
    search_cache(k);
    if (!failed(k->where)) return;
    if (prev_far != WB_NO_CPU)
        (void)take(k, prev_far, FAIR_W_PREV_FAR);
    else if (recent_far != WB_NO_CPU)
        (void)take(k, recent_far, FAIR_W_RECENT_FAR);
}
