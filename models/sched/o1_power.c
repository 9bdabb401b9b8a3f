/*
 * o1_power.c - what groups can do (cpu_power), and the power-savings variant of balancing.
 *
 * 2.6.10, 2.6.11 arch_init_sched_domains(): a thread 128, a package of n threads 128 + 128 (n - 1) / 10, a node the
 * sum of its packages. 2.6.22 init_sched_groups_power(): 128 for a group without child domain or whose child shares a
 * core or a cache, so that load spreads over caches first; the sum of the child's groups otherwise, and with power
 * savings.
 */
#include "o1.h"

static uint32_t power_tasks(struct wb_sim *s, const struct wb_sd *sd, const struct wb_sd *child, const struct wb_sg *g)
{
    (void)s;
    (void)sd;
    if (!child) return O1_SCALE * g->weight;
    if (child->flags & WB_SD_SHARE_CPUPOWER) return O1_SCALE + O1_SCALE * (g->weight - 1) / 10;
    return ladder_child_power(child);
}

static uint32_t power_weight(struct wb_sim *s, const struct wb_sd *sd, const struct wb_sd *child, const struct wb_sg *g)
{
    (void)s;
    return ladder_power_of_caches(sd, child, g, O1_SCALE);
}

/* sched_mc_power_savings: the level above the one that shares caches. */
static void mark_power_savings(struct wb_sim *s)
{
    for (cpu_id c = 0; c < wb_ncpus(s); c++) WB_FOR_EACH_SD(sd, wb_rq(s, c))
    if (sd->child && sd->child->flags & WB_SD_SHARE_PKG && !(sd->flags & WB_SD_SHARE_PKG))
        sd->flags |= WB_SD_POWERSAVINGS;
}

/* The machine has been up for long: no CPU has periods to catch up with. */
static void settle_phase(struct wb_sim *s, cpu_id c)
{
    const struct o1_sim *o = wb_policy_data(s);
    struct wb_rq *rq = wb_rq(s, c);
    uint64_t now = wb_jiffies(s);
    WB_FOR_EACH_SD(sd, rq) sd->last_balance = o->v->weighted ? now : now + o1_phase(o, c);
    o1_rq(rq)->next_balance = now;
}

void o1_domains_built(struct wb_sim *s)
{
    const struct o1_sim *o = wb_policy_data(s);
    for (cpu_id c = 0; c < wb_ncpus(s); c++) settle_phase(s, c);
    if (o->power_savings) mark_power_savings(s);
    ladder_set_powers(s, o->v->weighted ? power_weight : power_tasks);
}

/* Collect the group that should be emptied (least loaded) and the one that should be filled (nearly full). */
void o1_power_see(struct o1_power_pick *p, const struct o1_group_sum *s, uint64_t local_nr)
{
    if (s->local && (local_nr >= s->capacity || !local_nr)) p->on = false;
    if (!p->on || s->nr >= s->capacity || !s->nr) return;
    if (s->nr < p->min_nr || (s->nr == p->min_nr && s->g->first < p->min->first)) {
        p->min = s->g;
        p->min_nr = s->nr;
        p->min_load_per_task = s->weight / s->nr;
    }
    if (s->nr > p->leader_nr || (s->nr == p->leader_nr && p->leader && s->g->first > p->leader->first)) {
        p->leader = s->g;
        p->leader_nr = s->nr;
    }
}
