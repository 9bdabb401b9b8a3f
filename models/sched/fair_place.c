/*
 * fair_place.c - where a woken task goes: the three forms, and whether its wakeup is queued there.
 *
 * Linux 2.6.23, 2.6.24 kernel/sched.c try_to_wake_up; 2.6.35, 2.6.36 kernel/sched_fair.c select_task_rq_fair; 5.4 ..
 * 6.18 kernel/sched/fair.c select_task_rq_fair, kernel/sched/core.c select_task_rq, ttwu_queue_cond. How the target is
 * chosen is in fair_place_affine.c, the search for an idle CPU in fair_place_idle.c.
 */
#include "fair_placing.h"

#include <string.h>

const struct fair_place_rules fair_place_rules[FAIR_RELEASES] = {
    [FAIR_2_6_23] = {.form = FAIR_PLACE_LOADS},
    [FAIR_2_6_24] = {.form = FAIR_PLACE_LOADS, .sync_cold = true},
    [FAIR_2_6_35] = {.form = FAIR_PLACE_SIBLINGS},
    [FAIR_2_6_36] = {.form = FAIR_PLACE_SIBLINGS},
#define CACHES .form = FAIR_PLACE_CACHES
#define LATER \
    CACHES, .fork = FAIR_FORK_TYPES, .idle_prev = true, .merged_scan = true, .kthread_stays = true, .queue_idle = true
    [FAIR_5_4] = {CACHES, .fork = FAIR_FORK_SPARE, .wake_cap = true, .recent_kept = true},
    [FAIR_5_15] = {LATER},
    [FAIR_6_1] = {LATER, .recent_unseen = true},
    [FAIR_6_6] = {LATER, .current_cpu = true},
    [FAIR_6_12] = {LATER, .current_cpu = true, .cluster = true},
    [FAIR_6_18] = {LATER, .current_cpu = true, .cluster = true},
};

/* Between 5.4 and 5.15. One pass for cores and CPUs came with 5.12 (9fe1f127b913), the idle previous CPU's precedence
 * in wake_affine_idle with 5.11 (d8fcb81f1acf), the wakee's own last CPU as its recent one with 5.15 (89aafd67f28c):
 * until then it was the CPU from which it had last woken somebody. */
static const struct {
    const char *name;
    struct fair_place_rules rules;
} between[] = {
    {"5.10", {CACHES, .fork = FAIR_FORK_TYPES, .kthread_stays = true, .queue_idle = true, .recent_kept = true}},
    {"5.13", {LATER, .recent_kept = true}},
};

/* ---- 2.6.23, 2.6.24 ---- */

static void place_by_loads(struct placing *k)
{
    k->target = place_target_loads(k);
    if (!k->f->pl.wake_idle) return;
    struct ladder_idle_search w = {.x = k->x,
                                   .allowed = k->p->t->allowed,
                                   .seen = {k->here->cpu, k->prev->cpu},
                                   .flag_mask = k->f->bal.ladder.flag_mask,
                                   .climbs = true,
                                   .nr_guard = true};
    const struct wb_rq *rq = wb_rq(k->x->sim, k->target);
    cpu_id idle = ladder_wake_idle(&w, rq);
    k->scanned += w.scanned;
    if (idle == WB_NO_CPU) {
        k->where = wb_idle_cpu(rq) ? FAIR_W_IDLE : FAIR_W_TARGET;
        return;
    }
    k->target = idle;
    k->where = w.depth ? FAIR_W_FAR : FAIR_W_NEAR;
}

/* ---- 2.6.35, 2.6.36 ---- */

static void place_by_siblings(struct placing *k)
{
    struct wb_sd *sd = place_affine_domain(k, false);
    k->target = k->prev->cpu;
    if (!sd) return;
    k->target = place_target_sibling(k, sd);
    place_idle_sibling(k);
}

/* ---- 5.4 and later ---- */

static void place_by_caches(struct placing *k)
{
    struct fair_task *waker = fair_task(k->x->task);
    place_record_wakee(k, waker);
    k->target = k->prev->cpu;
    struct wb_sd *sd = place_affine_domain(k, true);
    bool wanted = k->how != FAIR_H_WIDE && k->how != FAIR_H_UNFIT && k->how != FAIR_H_NOT_ALLOWED;
    if (sd) k->target = place_target_cache(k, sd);
    if (!sd && k->how != FAIR_H_SAME && fair_place_slow(k))
        k->where = FAIR_W_IDLEST;
    else if (place_packed(k))
        k->where = FAIR_W_PACKED;
    else
        place_idle_in_cache(k);
    if (k->f->pr->recent_kept && wanted) waker->pl.recent_used_cpu = k->here->cpu;
}

static void (*const forms[])(struct placing *k) = {
    [FAIR_PLACE_LOADS] = place_by_loads,
    [FAIR_PLACE_SIBLINGS] = place_by_siblings,
    [FAIR_PLACE_CACHES] = place_by_caches,
};

/* ---- the hook ---- */

/* select_fallback_rq: the affinity mask has changed while it slept. A CPU of the same node if there is one. */
static cpu_id fallback(struct wb_exec *x, const struct wb_task *t, cpu_id near)
{
    uint32_t n;
    const cpu_id *member = wb_topo_members(wb_topo(x->sim), WB_LVL_NODE, near, &n);
    for (uint32_t i = 0; i < n; i++)
        if (wb_mask_test(t->allowed, member[i])) return member[i];
    return wb_mask_first(t->allowed);
}

static bool bound(const struct wb_task *t)
{
    cpu_id first = wb_mask_first(t->allowed);
    return wb_mask_next(t->allowed, first + 1) == WB_NO_CPU;
}

struct wb_choice fair_place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    struct fair_sim *f = fair_of(x);
    if (w->task->on_cpu) return (struct wb_choice){.cpu = w->prev_cpu, .rule = FAIR_R_STILL_RUNNING};
    if (bound(w->task)) return (struct wb_choice){.cpu = wb_mask_first(w->task->allowed), .rule = FAIR_R_ONE_CPU};
    if (fair_is_rt(w->task)) { /* the model's real-time tasks do not look for another CPU */
        bool stays = wb_mask_test(w->task->allowed, w->prev_cpu);
        return (struct wb_choice){.cpu = stays ? w->prev_cpu : fallback(x, w->task, w->prev_cpu),
                                  .rule = FAIR_R_RT_STAYS};
    }
    if (w->flags & WB_WF_CURRENT_CPU && f->pr->current_cpu && wb_mask_test(w->task->allowed, w->this_cpu))
        return (struct wb_choice){.cpu = w->this_cpu, .rule = FAIR_R_CURRENT_CPU};
    struct placing k = {.x = x, .f = f, .w = w, .p = fair_task(w->task), .scanned = 1};
    k.prev = wb_rq(x->sim, w->prev_cpu);
    k.here = wb_rq(x->sim, w->this_cpu);
    bool exiting = f->v->release >= FAIR_5_4 && x->task->exiting; /* 24d0c1d6e65f, 4.16 */
    k.sync = f->pl.sync && w->flags & WB_WF_SYNC && !exiting;
    k.seen[0] = w->this_cpu;
    k.nseen = 1;
    forms[f->pr->form](&k);
    if (!wb_mask_test(w->task->allowed, k.target)) {
        k.target = fallback(x, w->task, w->prev_cpu);
        k.where = FAIR_W_FALLBACK;
    }
    return (struct wb_choice){.cpu = k.target, .rule = (wb_rule)FAIR_R_AT(k.how, k.where), .scanned = k.scanned};
}

/* ttwu_queue_cond. Up to 2.6.36 there is no wake list. */
static bool shares_l2(const struct wb_exec *x, cpu_id cpu)
{
    const struct wb_topology *t = wb_topo(x->sim);
    return wb_topo_shares(t, WB_LVL_CORE, x->cpu, cpu) || wb_topo_shares(t, WB_LVL_CLUSTER, x->cpu, cpu);
}

bool fair_queue_remote(struct wb_exec *x, const struct wb_wakeup *w, cpu_id cpu)
{
    const struct fair_sim *f = fair_of(x);
    (void)w;
    if (f->v->release <= FAIR_2_6_36 || !fair_on(f, FAIR_F_TTWU_QUEUE) || cpu == x->cpu) return false;
    if (!place_shares_cache(f, x->cpu, cpu) || (f->pl.queue_l2 && !shares_l2(x, cpu))) return true;
    return f->pr->queue_idle && !wb_rq(x->sim, cpu)->nr_running;
}

/* ---- start ---- */

static struct wb_sd *highest_sharing(const struct wb_rq *rq)
{
    struct wb_sd *found = NULL;
    WB_FOR_EACH_SD(sd, rq)
    {
        if (!(sd->flags & WB_SD_SHARE_PKG)) break;
        found = sd;
    }
    return found;
}

/* update_top_cache_domain. */
static void take_seat(struct wb_sim *s, struct fair_sim *f, cpu_id c, struct fair_llc *llc)
{
    const struct wb_rq *rq = wb_rq(s, c);
    struct fair_seat *seat = &f->pl.seat[c];
    seat->llc = highest_sharing(rq);
    seat->llc_id = seat->llc ? wb_mask_first(seat->llc->span) : c;
    seat->llc_size = seat->llc ? seat->llc->span_weight : 1;
    seat->share_id = seat->llc_id;
    seat->shared = seat->llc ? &llc[seat->llc_id] : NULL;
    WB_FOR_EACH_SD(sd, rq)
    {
        if (!(sd->flags & WB_SD_CLUSTER)) continue;
        f->pl.clusters = f->pr->cluster;
        seat->share_id = wb_mask_first(sd->span);
        break;
    }
    if (!seat->shared) return;
    /* The machine has been idle: all CPUs busy until they say otherwise, everything may be scanned. */
    *seat->shared =
        (struct fair_llc){.nr_busy = seat->llc_size, .nr_idle_scan = seat->llc_size, .has_idle_cores = f->pl.smt};
}

static uint8_t search_of(const struct wb_config *cfg)
{
    static const char *const words[] = {[FAIR_SEARCH_CORES] = "cores", [FAIR_SEARCH_BUDDY] = "buddy"};
    const char *word = wb_cfg_has(cfg, "policy.idle_search") ? wb_cfg_str(cfg, "policy.idle_search") : "first";
    for (size_t i = 0; i < WB_ARRAY_SIZE(words); i++)
        if (words[i] && !strcmp(words[i], word)) return (uint8_t)i;
    return FAIR_SEARCH_FIRST;
}

static const struct fair_place_rules *rules_of(const struct fair_sim *f, const struct wb_config *cfg)
{
    const char *word = wb_cfg_has(cfg, "policy.placement") ? wb_cfg_str(cfg, "policy.placement") : "";
    for (size_t i = 0; i < WB_ARRAY_SIZE(between); i++)
        if (!strcmp(word, between[i].name)) return &between[i].rules;
    return &fair_place_rules[f->v->release];
}

int fair_place_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct fair_sim *f = wb_policy_data(s);
    (void)d;
    f->pr = rules_of(f, cfg);
    bool smt = !wb_cfg_has(cfg, "kernel.sched_smt") || wb_cfg_bool(cfg, "kernel.sched_smt");
    f->pl.smt = smt && wb_topo(s)->nsmt > 1;
    f->pl.wake_idle = fair_given_bool(cfg, "policy.wake_idle", smt);
    f->pl.sync = fair_given_bool(cfg, "policy.sync_wakeups", true);
    f->pl.skips_delayed = fair_given_bool(cfg, "policy.sync_skips_delayed", f->v->release >= FAIR_6_18);
    f->pl.idle_spreads =
        wb_cfg_has(cfg, "policy.idle_wakee") && !strcmp(wb_cfg_str(cfg, "policy.idle_wakee"), "spreads");
    f->pl.queue_l2 = wb_cfg_has(cfg, "policy.wake_queue") && !strcmp(wb_cfg_str(cfg, "policy.wake_queue"), "l2");
    f->pl.search = search_of(cfg);
    fair_pack_init(f, cfg);
    f->pl.wide = fair_given_bool(cfg, "policy.wake_wide", true);
    if (wb_cfg_has(cfg, "policy.start_flips")) f->pl.start_flips = (uint32_t)wb_cfg_int(cfg, "policy.start_flips");
    f->pl.scratch = (struct wb_cpumask){.ncpus = f->ncpus, .nwords = WB_CPUMASK_WORDS(f->ncpus)};
    f->pl.scratch.w = wb_sim_alloc(s, f->pl.scratch.nwords * sizeof(uint64_t));
    f->pl.seat = wb_sim_alloc(s, f->ncpus * sizeof *f->pl.seat);
    memset(f->pl.seat, 0, f->ncpus * sizeof *f->pl.seat);
    struct fair_llc *llc = wb_sim_alloc(s, f->ncpus * sizeof *llc);
    for (cpu_id c = 0; c < f->ncpus; c++) take_seat(s, f, c, llc);
    f->pl.fn_affine =
        wb_fn_id(s, f->pr->form == FAIR_PLACE_LOADS ? "wake_idle" : "wake_affine", WB_CAT_WAKEUP, 15 * WB_NS);
    f->pl.fn_siblings = wb_fn_id(s, "select_idle_sibling", WB_CAT_WAKEUP, 10 * WB_NS);
    f->pl.fn_find_idlest = wb_fn_id(s, "find_idlest_group", WB_CAT_BALANCE, 80 * WB_NS);
    return 0;
}
