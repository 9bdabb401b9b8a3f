/*
 * fair_place_fork.c - where children start and where exec() goes.
 *
 * Linux 2.6.23 .. 2.6.36 sched_balance_self, select_task_rq_fair: least loaded group and CPU. 5.4 find_idlest_group:
 * runnable load, then spare capacity. 5.5 and later (sched_balance_find_dst_group from 6.10 on): groups by type. All
 * descend from the highest domain with the flag.
 */
#include "fair.h"
#include "fair_groups.h"
#include "fair_placing.h"
#include "ladder.h"

/* ---- 2.6.23 .. 2.6.36 ---- */

static uint64_t source(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx)
{
    return fair_source_load(fair_of(x), fair_rq(rq), idx);
}

static uint64_t target(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx)
{
    return fair_target_load(fair_of(x), fair_rq(rq), idx);
}

static uint64_t now(const struct wb_exec *x, const struct wb_rq *rq)
{
    return fair_cpu_load(fair_of(x), fair_rq(rq));
}

static const struct ladder_loads loads = {.source = source, .target = target, .now = now, .scale = WEIGHT_NICE_0};

/* ---- what a CPU would be without the task ---- */

static struct wb_rq *look(struct ladder_descent *d, cpu_id c)
{
    if (c != d->x->cpu) wb_scan_rq(d->x, c);
    d->scanned++;
    return wb_rq(d->x->sim, c);
}

/* The CPU whose load has its own as a part: none before it was ever queued. */
static cpu_id own_cpu(const struct fair_task *p)
{
    return p->attached ? p->t->cpu : WB_NO_CPU;
}

static bool counted_there(const struct wb_rq *rq, const struct fair_task *p)
{
    return rq->cpu == own_cpu(p);
}

/* The looks at a whole group at once, when it has nothing of the task (fair_rows.h). False: not so. */
static bool look_at_rows(struct ladder_descent *d, const struct wb_sg *g, struct fair_row_sum *sum)
{
    struct fair_sim *f = fair_of(d->x);
    cpu_id own = own_cpu(fair_task(d->t));
    if (!f->rows.row || (own != WB_NO_CPU && wb_mask_test(&g->mask, own))) return false;
    wb_scan_rqs(d->x, &g->mask);
    d->scanned += g->weight;
    *sum = fair_rows_sum(d->x->sim, f, g);
    return true;
}

static uint64_t load_without(const struct fair_sim *f, const struct wb_rq *rq, const struct fair_task *p)
{
    uint64_t load = fair_cpu_load(f, fair_rq(rq));
    return counted_there(rq, p) ? load - WB_MIN(load, fair_task_h_load(p)) : load;
}

static uint64_t spare_without(const struct fair_sim *f, const struct wb_rq *rq, const struct fair_task *p)
{
    uint64_t capacity = fair_capacity(f, rq->cpu), util = fair_cpu_util_without(f, fair_rq(rq), p);
    return capacity - WB_MIN(capacity, util);
}

/* ---- 5.4 ---- */

struct spare {
    uint64_t runnable, avg, room; /* loads per capacity; most spare capacity of one CPU */
};

static struct spare sum_queues(struct ladder_descent *d, const struct wb_sg *g)
{
    const struct fair_sim *f = fair_of(d->x);
    struct spare s = {0};
    cpu_id c = g->first;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = look(d, c);
        s.runnable += fair_cpu_load(f, fair_rq(rq));
        s.avg += fair_rq(rq)->avg.load_avg;
        s.room = WB_MAX(s.room, spare_without(f, rq, fair_task(d->t)));
    }
    return s;
}

static struct spare sum_spare(struct ladder_descent *d, const struct wb_sg *g)
{
    struct fair_row_sum sum;
    struct spare s;
    if (look_at_rows(d, g, &sum))
        s = (struct spare){.runnable = sum.load, .avg = sum.load_avg, .room = sum.room};
    else
        s = sum_queues(d, g);
    s.runnable = s.runnable * PELT_SCALE / g->power;
    s.avg = s.avg * PELT_SCALE / g->power;
    return s;
}

struct spare_pick {
    struct spare here, best;
    struct wb_sg *idlest, *roomy;
    uint64_t room, margin, scale;
    bool numa;
};

static void see_spare(struct spare_pick *k, struct wb_sg *g, const struct spare *s)
{
    if (!k->idlest || k->best.runnable > s->runnable + k->margin) {
        k->best = *s;
        k->idlest = g;
    } else if (s->runnable < k->best.runnable + k->margin && 100 * k->best.avg > k->scale * s->avg) {
        k->best.avg = s->avg; /* about as many run: blocked load decides */
        k->idlest = g;
    }
    if (k->room >= s->room) return;
    k->room = s->room;
    k->roomy = g;
}

static struct wb_sg *decide_spare(const struct spare_pick *k)
{
    if (!k->idlest) return NULL;
    if (k->numa && k->best.runnable + k->margin >= k->here.runnable) return NULL;
    if (k->best.runnable > k->here.runnable + k->margin) return NULL;
    if (k->here.runnable < k->best.runnable + k->margin && 100 * k->here.avg < k->scale * k->best.avg) return NULL;
    return k->idlest;
}

static struct wb_sg *group_by_spare(struct ladder_descent *d, const struct wb_sd *sd)
{
    uint32_t pct = sd->level->imbalance_pct;
    struct spare_pick k = {.here = {.runnable = UINT64_MAX / 256, .avg = UINT64_MAX / 256},
                           .margin = (uint64_t)WEIGHT_NICE_0 * (pct - 100) / 100,
                           .scale = 100 + (pct - 100) / 2,
                           .numa = sd->flags & WB_SD_NUMA};
    wb_charge_fn(d->x, d->fn);
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = wb_sd_group(sd, i);
        if (wb_mask_next_and(&g->mask, d->t->allowed, g->first) == WB_NO_CPU) continue;
        struct spare s = sum_spare(d, g);
        if (i == 0)
            k.here = s;
        else
            see_spare(&k, g, &s);
    }
    /* A new task's utilisation is not known yet: it goes by load. */
    uint64_t half = fair_task(d->t)->avg.util_avg / 2; /* task_util(): without the estimate */
    if (d->flag != WB_SD_FORK) {
        if (k.here.room > half && k.scale * k.here.room > 100 * k.room) return NULL;
        if (k.room > half) return k.roomy;
    }
    return decide_spare(&k);
}

/* ---- 5.5 and later ---- */

static void add_queue(const struct ladder_descent *d, struct fair_group *s, const struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(d->x);
    const struct fair_task *p = fair_task(d->t);
    bool there = counted_there(rq, p), queued = there && d->t->on_rq;
    s->load += load_without(f, rq, p);
    s->util += fair_cpu_util_without(f, fair_rq(rq), p);
    uint64_t runnable = fair_cpu_runnable(fair_rq(rq));
    s->runnable += there ? runnable - WB_MIN(runnable, p->avg.runnable_avg) : runnable;
    s->h_nr += fair_nr_runnable(f, fair_rq(rq)) - queued;
    s->nr += rq->nr_running - queued;
    bool idle = rq->nr_running == (uint32_t)queued && !rq->wake_list && (wb_idle_cpu(rq) || rq->curr == d->t);
    s->idle_cpus += idle;
    if (s->misfit && fair_fits(fair_task_util_est(f, p), fair_capacity(f, rq->cpu))) s->misfit = 0;
}

static void add_queues(struct ladder_descent *d, struct fair_group *s)
{
    cpu_id c = s->sg->first;
    for (uint32_t n = 0; n < s->sg->weight; n++, c = wb_mask_next(&s->sg->mask, c + 1)) add_queue(d, s, look(d, c));
}

/* idle_cpu_without of an empty queue. */
static bool idle_without(const struct fair_sim *f, const struct wb_rq *rq, const struct wb_task *t)
{
    (void)f;
    return !rq->wake_list && (wb_idle_cpu(rq) || rq->curr == t);
}

static void add_rows(struct ladder_descent *d, struct fair_group *s, const struct fair_row_sum *sum)
{
    s->load = sum->load;
    s->util = sum->util;
    s->runnable = sum->runnable;
    s->h_nr = sum->h_nr;
    s->nr = sum->nr;
    if (sum->empty) s->idle_cpus = fair_rows_idle(d->x->sim, fair_of(d->x), s->sg, d->t, idle_without);
}

static void sum_group(struct ladder_descent *d, const struct wb_sd *sd, struct wb_sg *g, struct fair_group *s)
{
    struct fair_row_sum sum;
    *s = (struct fair_group){.sg = g, .capacity = g->power, .weight = g->weight};
    s->misfit = sd->flags & WB_SD_ASYM_CAPACITY ? 1 : 0;
    if (!s->misfit && look_at_rows(d, g, &sum))
        add_rows(d, s, &sum);
    else
        add_queues(d, s);
    s->type = fair_group_type(sd->level->imbalance_pct, s);
    bool busy = s->type == FAIR_GROUP_FULLY_BUSY || s->type == FAIR_GROUP_OVERLOADED;
    if (busy) s->avg_load = s->load * PELT_SCALE / s->capacity;
}

static uint64_t biggest(const struct fair_sim *f, const struct wb_sg *g)
{
    uint64_t max = 0;
    WB_FOR_EACH_CPU (c, &g->mask) max = WB_MAX(max, fair_capacity(f, c));
    return max;
}

/* update_pick_idlest. */
static bool idler(const struct fair_sim *f, const struct fair_group *a, const struct fair_group *than)
{
    if (a->type != than->type) return a->type < than->type;
    switch (a->type) {
    case FAIR_GROUP_OVERLOADED:
    case FAIR_GROUP_FULLY_BUSY: return than->avg_load > a->avg_load;
    case FAIR_GROUP_MISFIT: return biggest(f, than->sg) < biggest(f, a->sg);
    case FAIR_GROUP_HAS_SPARE:
        if (than->idle_cpus != a->idle_cpus) return than->idle_cpus < a->idle_cpus;
        return than->util > a->util;
    default: return false;
    }
}

/* Nodes: keep the task near its parent while few run there. */
static bool kept_on_node(const struct ladder_descent *d, const struct wb_sd *sd, const struct fair_group *local,
                         const struct fair_group *idlest)
{
    const struct fair_sim *f = fair_of(d->x);
    uint32_t threshold = fair_numa_threshold(f, sd, sd->span_weight, local->weight), allowed = 0;
    WB_FOR_EACH_CPU_AND (c, &local->sg->mask, d->t->allowed) allowed++;
    if (f->bal.numa == FAIR_NUMA_LLCS) threshold = WB_MIN(threshold, allowed);
    uint64_t apart = local->idle_cpus > idlest->idle_cpus ? local->idle_cpus - idlest->idle_cpus
                                                          : idlest->idle_cpus - local->idle_cpus;
    uint64_t running = local->nr + (f->bal.numa == FAIR_NUMA_SOURCE ? 0 : 1);
    if (f->bal.numa != FAIR_NUMA_LLCS) return fair_numa_allowed(f, running, threshold);
    return !fair_numa_adjust(f, apart, running, threshold);
}

static struct wb_sg *decide_types(const struct ladder_descent *d, const struct wb_sd *sd,
                                  const struct fair_group *local, const struct fair_group *idlest)
{
    const struct fair_sim *f = fair_of(d->x);
    uint32_t pct = sd->level->imbalance_pct;
    uint64_t margin = (uint64_t)WEIGHT_NICE_0 * (pct - 100) / 100;
    if (local->type != idlest->type) return local->type < idlest->type ? NULL : idlest->sg;
    switch (local->type) {
    case FAIR_GROUP_OVERLOADED:
    case FAIR_GROUP_FULLY_BUSY:
        if (sd->flags & WB_SD_NUMA && idlest->avg_load + margin >= local->avg_load) return NULL;
        if (idlest->avg_load >= local->avg_load + margin) return NULL;
        return 100 * local->avg_load <= pct * idlest->avg_load ? NULL : idlest->sg;
    case FAIR_GROUP_MISFIT: return biggest(f, local->sg) >= biggest(f, idlest->sg) ? NULL : idlest->sg;
    case FAIR_GROUP_HAS_SPARE:
        if (sd->flags & WB_SD_NUMA && kept_on_node(d, sd, local, idlest)) return NULL;
        return local->idle_cpus >= idlest->idle_cpus ? NULL : idlest->sg;
    default: return NULL;
    }
}

static struct wb_sg *group_by_type(struct ladder_descent *d, const struct wb_sd *sd)
{
    struct fair_group local = {0}, s;
    struct fair_group idlest = {.avg_load = UINT32_MAX, .type = FAIR_GROUP_OVERLOADED};
    wb_charge_fn(d->x, d->fn);
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = wb_sd_group(sd, i);
        if (wb_mask_next_and(&g->mask, d->t->allowed, g->first) == WB_NO_CPU) continue;
        sum_group(d, sd, g, &s);
        if (i == 0)
            local = s;
        else if (idler(fair_of(d->x), &s, &idlest))
            idlest = s;
    }
    if (!idlest.sg || !local.sg) return idlest.sg; /* without the local group: affinity */
    return decide_types(d, sd, &local, &idlest);
}

/* ---- a CPU of the group ---- */

/* Among idle CPUs the one that sleeps lightest, then who went idle last. */
static bool fresher(const struct ladder_descent *d, cpu_id a, cpu_id than)
{
    struct wb_sim *s = d->x->sim;
    const struct fair_rq *ra = fair_rq(wb_rq(s, a)), *rt = fair_rq(wb_rq(s, than));
    uint64_t at = fair_ns(d->x);
    const struct wb_idle_state *sa = wb_idle_state_at(wb_machine_of(s), (at - ra->idle_stamp) * WB_NS);
    const struct wb_idle_state *st = wb_idle_state_at(wb_machine_of(s), (at - rt->idle_stamp) * WB_NS);
    if (sa != st) return sa < st;
    return ra->idle_stamp > rt->idle_stamp;
}

/* find_idlest_group_cpu: SCHED_IDLE only at once (5.5+), idle, least loaded. */
static cpu_id idlest_in(struct ladder_descent *d, const struct wb_sg *g)
{
    const struct fair_sim *f = fair_of(d->x);
    uint64_t min_load = UINT64_MAX;
    cpu_id idle = WB_NO_CPU, sched_idle = WB_NO_CPU, least = d->cpu;
    if (g->weight == 1) return g->first;
    WB_FOR_EACH_CPU_AND (c, &g->mask, d->t->allowed) {
        const struct wb_rq *rq = wb_rq(d->x->sim, c);
        if (fair_joins_idle(f, d->t, rq)) {
            if (f->pr->fork == FAIR_FORK_TYPES) return c;
            if (sched_idle == WB_NO_CPU) sched_idle = c;
        } else if (fair_idle_cpu(f, rq)) {
            if (idle == WB_NO_CPU || fresher(d, c, idle)) idle = c;
        } else if (idle == WB_NO_CPU && fair_cpu_load(f, fair_rq(rq)) < min_load) {
            min_load = fair_cpu_load(f, fair_rq(rq));
            least = c;
        }
    }
    if (idle != WB_NO_CPU) return idle;
    return sched_idle != WB_NO_CPU ? sched_idle : least;
}

/* ---- the hooks ---- */

static bool descend(struct ladder_descent *d)
{
    static const struct {
        struct wb_sg *(*group)(struct ladder_descent *d, const struct wb_sd *sd);
        cpu_id (*pick)(struct ladder_descent *d, const struct wb_sg *g);
    } forms[] = {
        [FAIR_FORK_LOADS] = {ladder_idlest_group, ladder_idlest_cpu},
        [FAIR_FORK_SPARE] = {group_by_spare, idlest_in},
        [FAIR_FORK_TYPES] = {group_by_type, idlest_in},
    };
    struct fair_sim *f = fair_of(d->x);
    d->group = forms[f->pr->fork].group;
    d->pick = forms[f->pr->fork].pick;
    d->flag_mask = f->bal.ladder.flag_mask;
    d->loads = &loads;
    d->fn = f->pl.fn_find_idlest;
    return ladder_descend(d);
}

/* select_task_rq_fair of 5.4, on machines of several capacities. */
bool fair_place_slow(struct placing *k)
{
    struct ladder_descent d = {.x = k->x, .t = k->p->t, .cpu = k->here->cpu, .flag = WB_SD_BALANCE_WAKE};
    if (k->f->v->release != FAIR_5_4 || !descend(&d)) return false;
    k->target = d.cpu;
    k->scanned += d.scanned;
    return true;
}

struct wb_choice fair_place_fork(struct wb_exec *x, struct wb_task *child)
{
    struct ladder_descent d = {.x = x, .t = child, .cpu = x->cpu, .flag = WB_SD_FORK};
    bool asked = !fair_is_rt(child) && descend(&d);
    fair_task(child)->pl.recent_used_cpu = x->cpu; /* wake_up_new_task, 4.16+ */
    struct wb_choice c = {.cpu = d.cpu, .rule = FAIR_R_FORK_LOCAL, .scanned = d.scanned};
    if (asked) c.rule = d.cpu == x->cpu ? FAIR_R_FORK_STAY : FAIR_R_FORK_IDLEST;
    if (wb_mask_test(child->allowed, c.cpu)) return c;
    /* Born with a mask of its own: as if it had called sched_setaffinity() at once. */
    c.cpu = wb_mask_first(child->allowed);
    c.rule = FAIR_R_FORK_AFFINITY;
    return c;
}

struct wb_choice fair_place_exec(struct wb_exec *x, struct wb_task *t)
{
    struct ladder_descent d = {.x = x, .t = t, .cpu = x->cpu, .flag = WB_SD_EXEC};
    bool asked = !fair_is_rt(t) && descend(&d);
    struct wb_choice c = {.cpu = d.cpu, .rule = FAIR_R_EXEC_NO_DOMAIN, .scanned = d.scanned};
    if (asked) c.rule = d.cpu == x->cpu ? FAIR_R_EXEC_STAY : FAIR_R_EXEC_MOVE;
    if (!wb_mask_test(t->allowed, c.cpu)) c.cpu = x->cpu;
    return c;
}
