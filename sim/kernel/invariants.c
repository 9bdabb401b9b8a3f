/* invariants.c - what a scheduler should not let happen, counted. See invariants.h for what that is. */
#include "reserve.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

/* ---- clocks ---- */

static sim_time watch_read(const struct wb_sim *s, const struct idle_watch *w)
{
    return w->idle ? w->clock + s->now : w->clock;
}

static sim_time own_read(const struct wb_sim *s, cpu_id c)
{
    const struct invariants *v = &s->invariants;
    return v->idle[c] ? v->own[c] + s->now : v->own[c];
}

void invariants_idle(struct wb_sim *s, cpu_id cpu, bool idle)
{
    struct invariants *v = &s->invariants;
    sim_time step = idle ? 0 - s->now : s->now;
    v->idle[cpu] = idle;
    v->own[cpu] += step;
    for (uint32_t i = v->first[cpu]; i < v->first[cpu + 1]; i++) {
        struct idle_watch *w = v->touched[i];
        if (idle ? !w->idle++ : !--w->idle) w->clock += step;
    }
}

/* ---- waits ---- */

enum { FAULTS_ONE_CPU = 1, FAULTS_WATCH = 2 };

static struct fault_wait *wait_at(const struct invariants *v, uint32_t number)
{
    return (struct fault_wait *)(void *)(v->waits + (size_t)(number - 1) * v->wait_bytes);
}

static uint32_t wait_take(struct invariants *v)
{
    uint32_t i = v->wait_free;
    if (i)
        v->wait_free = (uint32_t)wait_at(v, i)->beside;
    else
        i = ++v->wait_fresh;
    return i;
}

static void wait_give(struct invariants *v, uint32_t number)
{
    wait_at(v, number)->beside = v->wait_free;
    v->wait_free = number;
}

static struct idle_watch *watch_of_mask(struct invariants *v, const struct wb_cpumask *allowed)
{
    for (uint32_t i = 0; i < v->nwatches; i++)
        if (v->watch[i].mask == allowed || wb_mask_equal(v->watch[i].mask, allowed)) return &v->watch[i];
    return NULL; /* one CPU: no other could run it */
}

void invariants_allowed(struct wb_sim *s, const struct wb_task *t)
{
    s->invariants.task[t->id].watch = 0;
}

static struct idle_watch *watch_of(struct invariants *v, const struct task_faults *f)
{
    return f->watch < FAULTS_WATCH ? NULL : &v->watch[f->watch - FAULTS_WATCH];
}

static struct idle_watch *find_watch(struct invariants *v, struct task_faults *f, const struct wb_task *t)
{
    if (!f->watch) {
        const struct idle_watch *w = watch_of_mask(v, t->allowed);
        f->watch = w ? (uint32_t)(w - v->watch) + FAULTS_WATCH : FAULTS_ONE_CPU;
    }
    return watch_of(v, f);
}

/* The clocks that matter, as they are now. */
static void take_marks(struct wb_sim *s, struct wb_task *t)
{
    struct invariants *v = &s->invariants;
    struct task_faults *f = &v->task[t->id];
    sim_time *m = wait_at(v, f->wait)->mark;
    const struct idle_watch *mine = find_watch(v, f, t);
    m[v->levels] = own_read(s, t->cpu);
    if (mine != v->watch) {
        m[0] = mine ? watch_read(s, mine) : 0;
        return;
    }
    struct idle_watch **w = v->by_level + (size_t)t->cpu * v->levels;
    for (uint32_t l = 0; l < v->levels; l++) m[l] = watch_read(s, w[l]);
}

/* Lowest domain of the CPU that has all of a mask. */
static uint32_t covering_level(const struct wb_sim *s, cpu_id cpu, const struct wb_cpumask *mask)
{
    uint32_t l = 0;
    WB_FOR_EACH_SD(sd, &s->cpu[cpu].rq)
    {
        if (wb_mask_subset(mask, sd->span)) return l;
        l++;
    }
    return s->invariants.levels - 1;
}

/* How long another CPU was idle since the marks were taken; the time goes to its levels. */
static sim_time time_beside(struct wb_sim *s, const struct wb_task *t, cpu_id cpu)
{
    struct invariants *v = &s->invariants;
    const struct task_faults *f = &v->task[t->id];
    const struct idle_watch *mine = watch_of(v, f);
    const sim_time *m = wait_at(v, f->wait)->mark;
    sim_time below = own_read(s, cpu) - m[v->levels], own = below;
    if (!mine) return 0;
    if (mine != v->watch) {
        sim_time d = watch_read(s, mine) - m[0] - own;
        if (d) v->level_time[covering_level(s, cpu, mine->mask)] += d;
        return d;
    }
    struct idle_watch **w = v->by_level + (size_t)cpu * v->levels;
    sim_time all = watch_read(s, w[v->levels - 1]) - m[v->levels - 1];
    if (all == own) return 0;
    for (uint32_t l = 0; l < v->levels; l++) {
        sim_time d = watch_read(s, w[l]) - m[l];
        v->level_time[l] += d - below;
        below = d;
    }
    return all - own;
}

static void blame(struct invariants *v, struct task_faults *f, enum wb_fault_kind kind, sim_time length)
{
    if (!f->account) f->account = ++v->naccounts;
    struct fault_account *a = &v->accounts[f->account - 1];
    a->count[kind]++;
    v->count[kind]++;
    if (kind > WB_FAULT_STARVATION) return;
    a->total[kind] += length;
    v->total[kind] += length;
    a->longest[kind] = WB_MAX(a->longest[kind], length);
    v->longest[kind] = WB_MAX(v->longest[kind], length);
}

static void end_wait(struct wb_sim *s, const struct wb_task *t)
{
    struct invariants *v = &s->invariants;
    struct task_faults *f = &v->task[t->id];
    sim_time beside = wait_at(v, f->wait)->beside + time_beside(s, t, t->cpu), waited = s->now - t->queued_at;
    wait_give(v, f->wait);
    f->wait = 0;
    if (beside) blame(v, f, WB_FAULT_IDLE_WHILE_WAITING, beside);
    if (waited > v->bound) blame(v, f, WB_FAULT_STARVATION, waited);
}

void invariants_wait(struct wb_sim *s, struct wb_task *t)
{
    struct invariants *v = &s->invariants;
    struct task_faults *f = &v->task[t->id];
    if (t->kthread) return;
    if (!f->wait) f->wait = wait_take(v);
    wait_at(v, f->wait)->beside = 0;
    take_marks(s, t);
}

void invariants_run(struct wb_sim *s, struct wb_task *t)
{
    struct invariants *v = &s->invariants;
    struct task_faults *f = &v->task[t->id];
    if (f->wait) end_wait(s, t);
    if (!wb_mask_test(t->allowed, t->cpu) && !t->in_migrate_list && !t->kthread) blame(v, f, WB_FAULT_AFFINITY, 0);
}

void invariants_moved(struct wb_sim *s, struct wb_task *t, cpu_id from)
{
    const struct invariants *v = &s->invariants;
    uint32_t wait = v->task[t->id].wait;
    if (!wait) return;
    wait_at(v, wait)->beside += time_beside(s, t, from);
    take_marks(s, t);
}

void invariants_pingpong(struct wb_sim *s, struct wb_task *t, enum wb_migration kind, uint32_t depth)
{
    struct invariants *v = &s->invariants;
    v->pingpong_kind[kind]++;
    v->pingpong_depth[depth]++;
    blame(v, &v->task[t->id], WB_FAULT_PINGPONG, 0);
}

/* ---- begin and end of counting ---- */

void invariants_start(struct wb_sim *s)
{
    struct invariants *v = &s->invariants;
    for (uint32_t i = 0; i < s->ntasks; i++) {
        struct task_faults *f = &v->task[i];
        f->account = 0;
        if (!f->wait) continue;
        wait_at(v, f->wait)->beside = 0;
        take_marks(s, s->task[i]);
    }
    memset(v->accounts, 0, v->naccounts * sizeof *v->accounts);
    v->naccounts = 0;
    memset(v->level_time, 0, v->levels * sizeof *v->level_time);
    memset(v->pingpong_depth, 0, v->levels * sizeof *v->pingpong_depth);
    memset(v->pingpong_kind, 0, sizeof v->pingpong_kind);
    memset(v->count, 0, sizeof v->count);
    memset(v->total, 0, sizeof v->total);
    memset(v->longest, 0, sizeof v->longest);
}

void invariants_finish(struct wb_sim *s)
{
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->invariants.task[i].wait) end_wait(s, s->task[i]);
}

/* ---- who ---- */

static const struct fault_account *account_of(const struct invariants *v, uint32_t id)
{
    static const struct fault_account none;
    return v->task[id].account ? &v->accounts[v->task[id].account - 1] : &none;
}

static uint64_t weight_of(const struct invariants *v, uint32_t id, enum wb_fault_kind kind)
{
    const struct fault_account *a = account_of(v, id);
    return kind <= WB_FAULT_STARVATION ? a->total[kind] : a->count[kind];
}

/* Keeps `best` sorted, worst task first; of equals the one that was created first. */
static size_t insert(struct wb_sim *s, uint32_t *best, size_t n, uint32_t id, enum wb_fault_kind kind)
{
    const struct invariants *v = &s->invariants;
    uint64_t w = weight_of(v, id, kind);
    size_t at = n;
    if (!w) return n;
    while (at && weight_of(v, best[at - 1], kind) < w) at--;
    if (at == INVARIANTS_WORST) return n;
    if (n < INVARIANTS_WORST) n++;
    for (size_t i = n - 1; i > at; i--) best[i] = best[i - 1];
    best[at] = id;
    return n;
}

size_t invariants_worst(struct wb_sim *s, struct wb_fault *out)
{
    size_t n = 0;
    for (int k = 0; k < WB_FAULT_KINDS; k++) {
        uint32_t best[INVARIANTS_WORST] = {0};
        size_t found = 0;
        for (uint32_t i = 0; i < s->ntasks; i++) found = insert(s, best, found, i, (enum wb_fault_kind)k);
        for (size_t i = 0; i < found; i++) {
            const struct fault_account *f = account_of(&s->invariants, best[i]);
            const struct wb_task *t = s->task[best[i]];
            struct wb_fault *o = &out[n++];
            *o = (struct wb_fault){.kind = (enum wb_fault_kind)k, .count = f->count[k]};
            (void)snprintf(o->task, sizeof o->task, "%.47s-%u", wb_task_name(t), t->pid);
            if (k > WB_FAULT_STARVATION) continue;
            o->total = f->total[k];
            o->longest = f->longest[k];
        }
    }
    return n;
}

/* ---- building ---- */

/* Watches are found by the first CPU of their mask, so that thousands of cores do not look at each other's. */
static struct idle_watch *watch_span(struct wb_sim *s, const struct wb_cpumask *m, struct idle_watch **of_first)
{
    struct invariants *v = &s->invariants;
    if (wb_mask_equal(m, s->all_cpus)) return v->watch;
    cpu_id first = wb_mask_first(m);
    for (uint32_t l = 0; l < v->levels; l++) {
        struct idle_watch *w = of_first[(size_t)first * v->levels + l];
        if (w && wb_mask_equal(w->mask, m)) return w;
    }
    v->watch[v->nwatches] = (struct idle_watch){.mask = m, .idle = wb_mask_count(m)};
    return &v->watch[v->nwatches++];
}

static void watch_domains(struct wb_sim *s)
{
    struct invariants *v = &s->invariants;
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct idle_watch **mine = v->by_level + (size_t)c * v->levels;
        uint32_t l = 0;
        WB_FOR_EACH_SD(sd, &s->cpu[c].rq) mine[l++] = watch_span(s, sd->span, v->by_level);
        while (l < v->levels) mine[l++] = v->watch;
    }
}

/* For each CPU the watches that have it, one list behind the other. */
static void index_watches(struct wb_sim *s)
{
    struct invariants *v = &s->invariants;
    v->first = wb_sim_alloc(s, (s->ncpus + 2) * sizeof *v->first);
    for (uint32_t i = 0; i < v->nwatches; i++)
        WB_FOR_EACH_CPU (c, v->watch[i].mask) v->first[c + 2]++;
    for (cpu_id c = 0; c < s->ncpus; c++) v->first[c + 2] += v->first[c + 1];
    v->touched = wb_sim_alloc(s, (v->first[s->ncpus + 1] + 1) * sizeof *v->touched);
    for (uint32_t i = 0; i < v->nwatches; i++)
        WB_FOR_EACH_CPU (c, v->watch[i].mask) v->touched[v->first[c + 1]++] = &v->watch[i];
}

static void take_pools(struct wb_sim *s)
{
    struct invariants *v = &s->invariants;
    v->ntasks = s->ntasks;
    v->wait_bytes = (uint32_t)(sizeof(struct fault_wait) + (v->levels + 1) * sizeof(sim_time));
    v->waits = reserve_take((size_t)v->ntasks * v->wait_bytes);
    v->accounts = reserve_take(v->ntasks * sizeof *v->accounts);
    WB_MEMORY(v->waits && v->accounts, "out of memory for the waits of %u tasks", v->ntasks);
}

void invariants_free(struct wb_sim *s)
{
    const struct invariants *v = &s->invariants;
    reserve_give(v->waits, (size_t)v->ntasks * v->wait_bytes);
    reserve_give(v->accounts, v->ntasks * sizeof *v->accounts);
}

size_t invariants_touched(const struct wb_sim *s)
{
    const struct invariants *v = &s->invariants;
    return reserve_touched(v->waits, (size_t)v->ntasks * v->wait_bytes) +
           reserve_touched(v->accounts, v->ntasks * sizeof *v->accounts);
}

void invariants_init(struct wb_sim *s)
{
    struct invariants *v = &s->invariants;
    v->levels = s->ndepths + 1;
    v->bound = (sim_time)wb_cfg_int(s->cfg, "run.starvation_bound");
    v->watch = wb_sim_alloc(s, (1 + (size_t)s->ncpus * s->ndepths + s->nmasks) * sizeof *v->watch);
    v->watch[v->nwatches++] = (struct idle_watch){.mask = s->all_cpus, .idle = s->ncpus};
    v->by_level = wb_sim_alloc(s, (size_t)s->ncpus * v->levels * sizeof(struct idle_watch *));
    watch_domains(s);
    for (uint32_t i = 0; i < s->nmasks; i++) {
        uint32_t n = wb_mask_count(s->masks[i]);
        if (n < 2 || watch_of_mask(v, s->masks[i])) continue;
        v->watch[v->nwatches++] = (struct idle_watch){.mask = s->masks[i], .idle = n};
    }
    index_watches(s);
    v->own = wb_sim_alloc(s, s->ncpus * sizeof *v->own);
    v->idle = wb_sim_alloc(s, s->ncpus * sizeof *v->idle);
    for (cpu_id c = 0; c < s->ncpus; c++) v->idle[c] = true;
    v->task = wb_sim_alloc(s, s->ntasks * sizeof *v->task);
    take_pools(s);
    v->level_time = wb_sim_alloc(s, v->levels * sizeof *v->level_time);
    v->pingpong_depth = wb_sim_alloc(s, v->levels * sizeof *v->pingpong_depth);
}
