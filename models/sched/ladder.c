/* ladder.c - the ladder of scheduling domains: climbing, descending, searching. See ladder.h. */
#include "ladder.h"

#define PINNED_MAX_MS 512u /* MAX_PINNED_INTERVAL */

/* ---- climbing ---- */

void ladder_consider(struct wb_balance *b, uint64_t when)
{
    if (!(b->flags & LADDER_NEXT_SET) || when < b->cookie[LADDER_C_NEXT]) b->cookie[LADDER_C_NEXT] = when;
    b->flags |= LADDER_NEXT_SET;
}

bool ladder_next_due(struct wb_exec *x, struct wb_balance *b, const struct ladder_rules *r, struct wb_sd *sd,
                     struct wb_sd **out)
{
    for (; sd; sd = sd->parent) {
        uint32_t flags = sd->flags & r->flag_mask;
        if (!(flags & WB_SD_LOAD_BALANCE)) continue;
        uint64_t interval = r->interval(x, b, sd);
        bool locked_out = flags & WB_SD_SERIALIZE && *r->serializing;
        if (locked_out || wb_jiffies(x->sim) < sd->last_balance + interval) {
            ladder_consider(b, sd->last_balance + interval);
            continue;
        }
        if (flags & WB_SD_SERIALIZE) {
            *r->serializing = true;
            b->flags |= LADDER_SERIAL;
        }
        b->cookie[LADDER_C_INTERVAL] = interval;
        wb_charge_fn(x, r->fn_visit);
        *out = sd;
        return true;
    }
    return false;
}

void ladder_visited(struct wb_exec *x, struct wb_balance *b, const struct ladder_rules *r, uint64_t interval)
{
    if (b->flags & LADDER_SERIAL) {
        *r->serializing = false;
        b->flags &= ~(uint32_t)LADDER_SERIAL;
    }
    b->sd->last_balance = wb_jiffies(x->sim);
    ladder_consider(b, b->sd->last_balance + interval);
}

/* ---- learning ---- */

void ladder_back_off(struct wb_sd *sd, bool pinned)
{
    if ((pinned && sd->balance_interval_ms < PINNED_MAX_MS) ||
        sd->balance_interval_ms < ladder_ms(sd->level->max_interval))
        sd->balance_interval_ms *= 2;
}

void ladder_hurry(struct wb_sd *sd)
{
    sd->balance_interval_ms = ladder_ms(sd->level->min_interval);
}

void ladder_count_pass(const struct wb_balance *b, bool found)
{
    int i = ladder_stat_index(b);
    if (!b->sd->stats) return;
    b->sd->stats->lb_balanced[i] += !found;
    b->sd->stats->lb_failed[i] += found && !b->moved;
}

bool ladder_may_kick(struct wb_exec *x, const struct wb_balance *b)
{
    const struct wb_rq *busiest = wb_rq(x->sim, b->src);
    return !busiest->active_balance && busiest->stopper;
}

/* ---- finding domains ---- */

struct wb_sd *ladder_covering(const struct wb_rq *rq, cpu_id other)
{
    WB_FOR_EACH_SD(sd, rq)
    if (wb_mask_test(sd->span, other)) return sd;
    return NULL;
}

struct wb_sd *ladder_highest(const struct wb_rq *rq, uint32_t flag, uint32_t mask, uint32_t below)
{
    struct wb_sd *found = NULL;
    WB_FOR_EACH_SD(sd, rq)
    {
        if (sd->span_weight >= below || sd->flags & WB_SD_POWERSAVINGS) break;
        if (sd->flags & mask & flag) found = sd;
    }
    return found;
}

struct wb_sd *ladder_same_level(struct wb_sim *s, cpu_id cpu, const struct wb_sd *as)
{
    WB_FOR_EACH_SD(sd, wb_rq(s, cpu))
    if (sd->level == as->level) return sd;
    return NULL;
}

/* ---- fork and exec ---- */

bool ladder_descend(struct ladder_descent *d)
{
    struct wb_sd *sd = ladder_highest(wb_rq(d->x->sim, d->cpu), d->flag, d->flag_mask, UINT32_MAX);
    if (!sd) return false;
    while (sd) {
        struct wb_sg *g = sd->flags & d->flag_mask & d->flag ? d->group(d, sd) : NULL;
        cpu_id c = g ? d->pick(d, g) : WB_NO_CPU;
        if (c == WB_NO_CPU || c == d->cpu) {
            sd = sd->child;
            continue;
        }
        d->cpu = c;
        sd = ladder_highest(wb_rq(d->x->sim, c), d->flag, d->flag_mask, sd->span_weight);
    }
    return true;
}

static uint64_t group_load(struct ladder_descent *d, const struct wb_sg *g, bool local, uint32_t idx)
{
    uint64_t sum = 0;
    cpu_id c = g->first;
    wb_scan_rqs(d->x, &g->mask);
    d->scanned += g->weight;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = wb_rq(d->x->sim, c);
        sum += local ? d->loads->source(d->x, rq, idx) : d->loads->target(d->x, rq, idx);
    }
    return sum * d->loads->scale / WB_MAX(g->power, 1u);
}

struct wb_sg *ladder_idlest_group(struct ladder_descent *d, const struct wb_sd *sd)
{
    struct wb_sg *idlest = NULL;
    uint64_t this_load = 0, min_load = UINT64_MAX, imbalance = 100 + (sd->level->imbalance_pct - 100) / 2;
    wb_charge_fn(d->x, d->fn);
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = wb_sd_group(sd, i);
        if (wb_mask_next_and(&g->mask, d->t->allowed, g->first) == WB_NO_CPU) continue;
        uint64_t load = group_load(d, g, i == 0, sd->level->forkexec_idx);
        if (i == 0) {
            this_load = load;
        } else if (load < min_load) {
            min_load = load;
            idlest = g;
        }
    }
    return !idlest || 100 * this_load < imbalance * min_load ? NULL : idlest;
}

cpu_id ladder_idlest_cpu(struct ladder_descent *d, const struct wb_sg *g)
{
    uint64_t min_load = UINT64_MAX;
    cpu_id best = WB_NO_CPU;
    for (cpu_id c = wb_mask_next_and(&g->mask, d->t->allowed, g->first); c != WB_NO_CPU;
         c = wb_mask_next_and(&g->mask, d->t->allowed, c + 1)) {
        uint64_t load = d->loads->now(d->x, wb_rq(d->x->sim, c));
        if (load < min_load || (load == min_load && c == d->cpu)) {
            min_load = load;
            best = c;
        }
    }
    return best;
}

/* ---- wakeups of 2.6.22 .. 2.6.24 ---- */

enum ladder_verdict ladder_affine(const struct ladder_pull *p)
{
    uint64_t here = p->sync ? p->here - p->waker : p->here;
    if (here <= p->there && here + p->there_target <= p->per_task) return LADDER_ALONE;
    if (100 * (here + p->wakee) <= p->imbalance * p->there) return LADDER_LOAD;
    return LADDER_NO_PULL;
}

static cpu_id idle_in(struct ladder_idle_search *w, const struct wb_sd *sd)
{
    WB_FOR_EACH_CPU_AND (c, sd->span, w->allowed) {
        if (c != w->seen[0] && c != w->seen[1]) wb_scan_idle(w->x, c);
        w->scanned++;
        if (wb_idle_cpu(wb_rq(w->x->sim, c))) return c;
    }
    return WB_NO_CPU;
}

cpu_id ladder_wake_idle(struct ladder_idle_search *w, const struct wb_rq *rq)
{
    if (wb_idle_cpu(rq) || (w->nr_guard && rq->nr_running > 1)) return WB_NO_CPU;
    WB_FOR_EACH_SD(sd, rq)
    {
        if (!(sd->flags & w->flag_mask & WB_SD_WAKE_IDLE)) break;
        cpu_id c = idle_in(w, sd);
        w->depth = sd->depth;
        if (c != WB_NO_CPU || !w->climbs) return c;
    }
    return WB_NO_CPU;
}

/* ---- powers ---- */

uint32_t ladder_child_power(const struct wb_sd *child)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < child->ngroups; i++) sum += child->groups[i].power;
    return (uint32_t)WB_MIN(sum, UINT32_MAX);
}

uint32_t ladder_power_of_caches(const struct wb_sd *sd, const struct wb_sd *child, const struct wb_sg *g,
                                uint32_t scale)
{
    bool shared = child && child->flags & (WB_SD_SHARE_CPUPOWER | WB_SD_SHARE_PKG);
    if (!child) return scale * g->weight;
    return shared && !(sd->flags & WB_SD_POWERSAVINGS) ? scale : ladder_child_power(child);
}

static void power_of_domain(struct wb_sim *s, struct wb_sd *sd, ladder_power *power)
{
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = &sd->groups[i];
        const struct wb_sd *there = ladder_same_level(s, g->first, sd);
        g->power = power(s, sd, there ? there->child : NULL, g);
    }
}

void ladder_set_powers(struct wb_sim *s, ladder_power *power)
{
    uint32_t depth = 0;
    for (cpu_id c = 0; c < wb_ncpus(s); c++) {
        WB_FOR_EACH_SD(sd, wb_rq(s, c)) depth = WB_MAX(depth, sd->depth);
    }
    for (uint32_t d = 0; d <= depth; d++) {
        for (cpu_id c = 0; c < wb_ncpus(s); c++) {
            WB_FOR_EACH_SD(sd, wb_rq(s, c))
            if (sd->depth == d && !sd->groups[0].power) power_of_domain(s, sd, power);
        }
    }
}
