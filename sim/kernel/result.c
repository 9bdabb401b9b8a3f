/* result.c - what a run has to tell at its end. */
#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sum(const struct wb_sim *s, struct totals *t)
{
    *t = s->count;
    t->idle_waiting = s->iww.total;
    memcpy(t->migrations, s->migrations, sizeof t->migrations);
}

static size_t base_bytes(const struct wb_sim *s)
{
    return (size_t)WB_CAT_N * s->ncpus * sizeof(sim_time);
}

size_t result_touched(const struct wb_sim *s)
{
    return reserve_touched(s->base->acct, base_bytes(s));
}

static sim_time *base_of(const struct wb_sim *s, cpu_id c, int cat)
{
    return &s->base->acct[(size_t)cat * s->ncpus + c];
}

/* Time under way in segments, spins and halts counts up to now. */
static void settle(struct wb_sim *s)
{
    for (cpu_id i = 0; i < s->ncpus; i++) {
        struct wb_cpu *c = &s->cpu[i];
        tick_catch_up(s, c);
        if (c->ev)
            cpu_settle(s, c);
        else if (c->mode == CPU_HALT)
            acct_add(s, c, WB_FN_IDLE, WB_CAT_IDLE, s->now - c->since);
        else if (c->mode == CPU_SPIN)
            acct_add(s, c, spin_label(c->ctx, WB_FN_SPIN_LOCK), WB_CAT_LOCK, s->now - c->since);
        c->since = s->now;
    }
    iww_update(s, 0, 0);
}

void result_baseline(struct wb_sim *s)
{
    settle(s);
    invariants_start(s);
    sum(s, &s->base->t);
    for (int k = 0; k < WB_CAT_N; k++)
        for (cpu_id c = 0; c < s->ncpus; c++)
            if (s->cpu[c].acct[k]) *base_of(s, c, k) = s->cpu[c].acct[k];
    for (uint32_t i = 0; i < s->nfn; i++) s->fn[i].base = s->fn_time[i];
    for (uint32_t i = 0; i <= s->ndepths; i++) s->base->depth[i] = s->mig_depth[i];
    for (size_t i = 0; i < s->ops->nrules; i++) s->base->rule[i] = s->rule_count[i];
    s->base->at = s->now;
}

static void figure(struct wb_sim *s, const char *name, double v, bool integer)
{
    measure_metric_named(s->m, MEASURE_MACHINE, name, v, integer);
}

static void figure_of(struct wb_sim *s, const char *fmt, const char *what, double v, bool integer)
{
    char name[96];
    (void)snprintf(name, sizeof name, fmt, what);
    for (char *p = name; *p; p++)
        if (*p == ' ') *p = '_';
    const struct wb_metric_def *def = wb_metric_def_find(name);
    WB_CHECK(def, "figure %s is not in the registry", name);
    struct wb_metric_def *mine = result_keep(s, def, name);
    measure_metric(s->m, MEASURE_MACHINE, mine, v, integer);
}

static void figures_of_time(struct wb_sim *s)
{
    double all = (double)(s->now - s->base->at) * s->ncpus;
    for (int k = 0; k < WB_CAT_N; k++) {
        sim_time t = 0;
        for (cpu_id c = 0; c < s->ncpus; c++) t += s->cpu[c].acct[k] - *base_of(s, c, k);
        figure_of(s, "time.%s", wb_cat_name[k], all > 0 ? (double)t / all : NAN, false);
    }
}

static void figures_of_moves(struct wb_sim *s, const struct totals *t)
{
    static const char *const kind[WB_BAL_N] = {"periodic_idle", "periodic_busy", "newidle", "nohz", "active"};
    const struct totals *b = &s->base->t;
    for (int k = 0; k < WB_MIG_N; k++) {
        if (k == WB_MIG_PICK && !s->k.one_rq_lock) continue; /* a queue of several CPUs needs one lock */
        figure_of(s, "migrations.%s", wb_mig_name[k], (double)(t->migrations[k] - b->migrations[k]), true);
    }
    for (uint32_t i = 0; i < s->ndepths; i++) {
        char level[16];
        (void)snprintf(level, sizeof level, "%u", i);
        figure_of(s, "migrations.domain.%s", level, (double)(s->mig_depth[i] - s->base->depth[i]), true);
    }
    for (int k = 0; k < WB_BAL_N; k++) {
        figure_of(s, "balance.%s.calls", kind[k], (double)(t->balance_calls[k] - b->balance_calls[k]), true);
        figure_of(s, "balance.%s.pulled", kind[k], (double)(t->balance_pulled[k] - b->balance_pulled[k]), true);
    }
}

static double seconds(sim_time t)
{
    return (double)t / (double)WB_S;
}

/* What should not happen (invariants.h): these count from the end of the warm-up by themselves. */
static void figures_of_invariants(struct wb_sim *s)
{
    const struct invariants *v = &s->invariants;
    enum { IDLE = WB_FAULT_IDLE_WHILE_WAITING, STARVED = WB_FAULT_STARVATION };
    figure(s, "idle_while_work_waits.waits", (double)v->count[IDLE], true);
    figure(s, "idle_while_work_waits.wait", seconds(v->total[IDLE]), false);
    figure(s, "idle_while_work_waits.longest", seconds(v->longest[IDLE]), false);
    figure(s, "starvation", (double)v->count[STARVED], true);
    figure(s, "starvation.longest", seconds(v->longest[STARVED]), false);
    figure(s, "affinity_violations", (double)v->count[WB_FAULT_AFFINITY], true);
    figure(s, "migrations.pingpong", (double)v->count[WB_FAULT_PINGPONG], true);
    for (uint32_t i = 0; i < v->levels; i++) {
        char level[16] = "none";
        if (i < s->ndepths) (void)snprintf(level, sizeof level, "%u", i);
        figure_of(s, "idle_while_work_waits.domain.%s", level, seconds(v->level_time[i]), false);
        figure_of(s, "migrations.pingpong.domain.%s", level, (double)v->pingpong_depth[i], true);
    }
    for (int k = WB_MIG_NEWIDLE; k <= WB_MIG_ACTIVE; k++)
        figure_of(s, "migrations.pingpong.%s", wb_mig_name[k], (double)v->pingpong_kind[k], true);
}

static void figures(struct wb_sim *s)
{
    struct totals t;
    const struct totals *b = &s->base->t;
    double all = (double)(s->now - s->base->at) * s->ncpus;
    sum(s, &t);
    figure(s, "wakeups.remote", (double)(t.wakeups_remote - b->wakeups_remote), true);
    figure(s, "wakeups.sync", (double)(t.wakeups_sync - b->wakeups_sync), true);
    figure(s, "preemptions", (double)(t.preemptions - b->preemptions), true);
    figure(s, "ipis", (double)(t.ipis - b->ipis), true);
    figure(s, "idle_entries", (double)(t.idle_entries - b->idle_entries), true);
    figure(s, "ticks", (double)(t.ticks - b->ticks), true);
    figure(s, "idle_while_work_waits", all > 0 ? (double)(t.idle_waiting - b->idle_waiting) / all : NAN, false);
    figures_of_invariants(s);
    figures_of_moves(s, &t);
    figures_of_time(s);
}

/* ---- storage of the result ---- */

struct kept {
    struct kept *next;
    struct wb_metric_def def;
    char name[96];
};

struct wb_metric_def *result_keep(struct wb_sim *s, const struct wb_metric_def *def, const char *name)
{
    struct kept *k = calloc(1, sizeof *k);
    WB_MEMORY(k, "out of memory for the result");
    k->def = *def;
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    k->def.name = k->name;
    k->next = s->kept;
    s->kept = k;
    return &k->def;
}

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    WB_MEMORY(p, "out of memory for the result");
    return p;
}

static uint64_t fingerprint(const struct wb_sim *s)
{
    uint64_t h = measure_fingerprint(s->m);
    for (cpu_id c = 0; c < s->ncpus; c++)
        for (int k = 0; k < WB_CAT_N; k++) h = measure_hash(h, s->cpu[c].acct[k]);
    for (uint32_t i = 0; i < s->nfn; i++) h = measure_hash(h, s->fn_time[i]);
    for (size_t i = 0; i < s->ops->nrules; i++) h = measure_hash(h, s->rule_count[i]);
    return measure_hash(h, s->now);
}

static uint32_t count_movable(const struct wb_sim *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->ntasks; i++) {
        const struct wb_task *t = s->task[i];
        if (!t->kthread && wb_mask_count(t->allowed) > 1) n++;
    }
    return n;
}

static void fill_tables(struct wb_sim *s, struct wb_result *r)
{
    r->ncpus = s->ncpus;
    r->cat_time = need(s->ncpus, sizeof *r->cat_time);
    for (cpu_id c = 0; c < s->ncpus; c++)
        for (int k = 0; k < WB_CAT_N; k++) r->cat_time[c][k] = s->cpu[c].acct[k] - *base_of(s, c, k);
    r->nfn = s->nfn;
    r->fn_time = need(s->nfn, sizeof *r->fn_time);
    r->fn_name = need(s->nfn, sizeof *r->fn_name);
    for (uint32_t i = 0; i < s->nfn; i++) {
        r->fn_time[i] = s->fn_time[i] - s->fn[i].base;
        r->fn_name[i] = s->fn[i].name;
    }
    r->movable = count_movable(s);
    r->nrules = s->ops->nrules;
    r->rule_name = need(r->nrules, sizeof *r->rule_name);
    r->rule_count = need(r->nrules, sizeof *r->rule_count);
    for (size_t i = 0; i < r->nrules; i++) {
        r->rule_name[i] = s->ops->rules[i];
        r->rule_count[i] = s->rule_count[i] - s->base->rule[i];
    }
    r->fault = need((size_t)WB_FAULT_KINDS * INVARIANTS_WORST, sizeof *r->fault);
    r->nfaults = invariants_worst(s, r->fault);
}

const struct wb_result *wb_sim_result(struct wb_sim *s)
{
    if (s->result) return s->result;
    settle(s);
    if (!measure_finished(s->m)) measure_finish(s->m, s->now); /* not run, or not to its end */
    invariants_finish(s);
    struct wb_result *r = need(1, sizeof *r);
    r->seed = s->seed;
    r->replication = s->replication;
    r->finished = s->finished || !s->stop_when_done;
    figures(s);
    WB_MEMORY(!measure_result(s->m, r), "out of memory for the result");
    r->events = s->popped;
    r->stale = s->stale;
    r->inlined = s->inlined;
    r->peak_events = s->q.peak;
    r->fingerprint = fingerprint(s);
    fill_tables(s, r);
    if (s->tracing) r->trace = &s->trace;
    return s->result = r;
}

/* Tasks of the kernel come first: two per CPU. */
struct wb_sim_counts wb_sim_counts(const struct wb_sim *s)
{
    struct wb_sim_counts n = {
        .events = s->popped, .stale = s->stale, .inlined = s->inlined, .wakeups = s->count.wakeups};
    for (uint32_t i = 2 * s->ncpus; i < s->ntasks; i++) n.born += s->task[i]->state != WB_NEW;
    return n;
}

void wb_sim_post_segments(struct wb_sim *s, bool all)
{
    s->no_inline = all;
}

void result_free(struct wb_sim *s)
{
    struct wb_result *r = s->result;
    if (s->base) reserve_give(s->base->acct, base_bytes(s));
    while (s->kept) {
        struct kept *k = s->kept;
        s->kept = k->next;
        free(k);
    }
    if (!r) return;
    free(r->cat_time);
    free(r->fn_time);
    free(r->fn_name);
    free(r->rule_name);
    free(r->rule_count);
    free(r->fault);
    free(r);
    s->result = NULL;
}

int result_init(struct wb_sim *s)
{
    s->base = wb_sim_alloc(s, sizeof *s->base);
    if (s->audit) s->audit_scratch = wb_sim_alloc(s, 2 * (size_t)s->ncpus * sizeof *s->audit_scratch);
    s->base->depth = wb_sim_alloc(s, (s->ndepths + 1) * sizeof *s->base->depth);
    s->base->rule = wb_sim_alloc(s, s->ops->nrules * sizeof *s->base->rule);
    s->base->acct = reserve_take(base_bytes(s));
    return s->base->acct ? 0 : -1;
}
