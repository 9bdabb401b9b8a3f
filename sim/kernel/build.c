/* build.c - from an effective scenario to a simulation that stands at time 0. See run.h. */
#include "domains.h"
#include "profile.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CPUs ---- */

/* One lock stands behind the locks of all runqueues. It is none of theirs: also the first CPU may take it again. */
static void share_rq_lock(struct wb_sim *s, struct wb_cpu *c)
{
    if (!c->id) s->all_rqs = c->rq.lock;
    wb_spin_alias(&c->rq.lock, &s->all_rqs);
}

/* At first all threads of a core run, on their way to idle. */
static uint32_t first_speed(const struct wb_sim *s, cpu_id id)
{
    uint32_t n;
    (void)wb_topo_members(s->topo, WB_LVL_CORE, id, &n);
    return cpu_speed(s, id, (n - 1) * 1000000ull);
}

static void build_cpu(struct wb_sim *s, cpu_id id)
{
    struct wb_cpu *c = &s->cpu[id];
    c->id = id;
    c->speed = c->pace = first_speed(s, id);
    by_parts_set(c, BY_PARTS_SPEED, c->speed != SPEED_FULL);
    by_parts_set(c, BY_PARTS_BIG, s->k.big_lock);
    for (int level = 0; level <= WB_LEVEL_HARDIRQ; level++) seg_clear(c, (enum wb_level)level);
    c->smt_load_ppm = 1000000;
    c->rq.cpu = id;
    c->rq.policy = arena_alloc(&s->arena, 1, s->ops->rq_bytes + 1, s->ncpus >= ROOMY_CPUS ? ARENA_LINE : 16);
    WB_MEMORY(c->rq.policy, "out of memory for cpu %u", id);
    wb_spin_init(s, &c->rq.lock);
    if (s->k.one_rq_lock) share_rq_lock(s, c);
    c->rq_line = s->rq_lines + id;
    c->list_line = wb_sim_line(s);
    c->flag_line = wb_sim_line(s);
    exec_init(&c->irq, s, c->irq_stack, sizeof c->irq_stack);
    exec_init(&c->softirq, s, c->softirq_stack, sizeof c->softirq_stack);
    c->irq.level = WB_LEVEL_HARDIRQ;
    c->irq.seg = &c->seg[WB_LEVEL_HARDIRQ];
    c->softirq.level = WB_LEVEL_SOFTIRQ;
    c->softirq.seg = &c->seg[WB_LEVEL_SOFTIRQ];
    c->irq.cpu = c->softirq.cpu = id;
}

static void build_idle_tasks(struct wb_sim *s)
{
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct wb_task *t = task_alloc(s, &(struct wb_task_spec){.name = "swapper", .klass = WB_CLASS_SWAPPER});
        t->state = WB_RUNNING;
        idle_task_init(s, &s->cpu[c]);
    }
}

static void build_stoppers(struct wb_sim *s)
{
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct wb_task_spec spec = {.name = "migration", .klass = WB_CLASS_STOP, .allowed = wb_mask_one(s, c)};
        struct wb_task *t = task_alloc(s, &spec);
        t->pid = t->tgid = ++s->next_pid;
        t->kthread = true;
        t->cpu = c;
        t->state = WB_INTERRUPTIBLE;
        t->rt_prio = 99;
        s->cpu[c].rq.stopper = t;
        stopper_init(s, &s->cpu[c]);
        policy_task_init(s, t);
    }
}

static void build_all_mask(struct wb_sim *s)
{
    struct wb_cpumask *m = wb_sim_alloc(s, sizeof *m);
    *m = (struct wb_cpumask){.ncpus = s->ncpus, .nwords = WB_CPUMASK_WORDS(s->ncpus)};
    m->w = wb_sim_alloc(s, m->nwords * sizeof *m->w);
    for (cpu_id c = 0; c < s->ncpus; c++) wb_mask_set(m, c);
    s->all_cpus = m;
    (void)wb_mask_keep(s, m);
}

static int build_domains(struct wb_sim *s, struct wb_diag *d)
{
    struct wb_sd **lowest = calloc(s->ncpus, sizeof *lowest);
    WB_MEMORY(lowest, "out of memory for the domains of %u CPUs", s->ncpus);
    if (domains_build(s, s->cfg, s->topo, lowest, d)) {
        free((void *)lowest);
        return -1;
    }
    for (cpu_id c = 0; c < s->ncpus; c++) {
        s->cpu[c].rq.sd = lowest[c];
        uint32_t depth = 0;
        WB_FOR_EACH_SD(sd, &s->cpu[c].rq) depth++;
        s->ndepths = WB_MAX(s->ndepths, depth);
    }
    free((void *)lowest);
    s->mig_depth = wb_sim_alloc(s, (s->ndepths + 1) * sizeof *s->mig_depth);
    if (s->ops->domains_built) s->ops->domains_built(s);
    return 0;
}

/* ---- the run's shape ---- */

static void read_run(struct wb_sim *s)
{
    const struct wb_config *c = s->cfg;
    s->first_start = WB_TIME_NEVER;
    s->seed = (uint64_t)wb_cfg_int(c, "run.seed");
    bool timed = wb_cfg_has(c, "run.duration");
    s->end = timed ? (sim_time)wb_cfg_int(c, "run.duration") : (sim_time)wb_cfg_int(c, "run.horizon");
    s->stop_when_done = !timed;
    const char *w = wb_cfg_str(c, "run.warmup");
    int64_t t;
    const char *why;
    size_t at;
    if (!strcmp(w, "auto"))
        s->warmup = timed ? s->end / 10 : 0;
    else if (strcmp(w, "none") && !wb_parse_quantity(w, WB_UNIT_TIME, &t, &why, &at) && t > 0)
        s->warmup = WB_MIN((sim_time)t, s->end);
    s->start_spread = (sim_time)wb_cfg_int(c, "run.start_spread");
}

static int build_measure(struct wb_sim *s)
{
    struct measure_options o = {.ninstances = s->ninstances,
                                .window = (sim_time)wb_cfg_int(s->cfg, "run.window"),
                                .run_length = s->stop_when_done ? 0 : s->end};
    static const struct measure_series_def switches = {
        "switches", "1", "Context switches, to and from idle included.", WB_BETTER_NONE, SERIES_COUNT, 0};
    static const struct measure_series_def moves = {
        "migrations", "1", "Changes of CPU of all tasks, of any kind.", WB_BETTER_NONE, SERIES_COUNT, 0};
    static const struct measure_series_def wakeups = {"wakeups",      "1",          "Wakeups that found a sleeper.",
                                                      WB_BETTER_NONE, SERIES_COUNT, 0};
    s->m = measure_new(&s->arena, &o);
    if (!s->m) return -1;
    s->series_switches = measure_series_new(s->m, &switches);
    s->series_migrations = measure_series_new(s->m, &moves);
    s->series_wakeups = measure_series_new(s->m, &wakeups);
    s->wake_latency = measure_latency_new(s->m, MEASURE_MACHINE, "wake_latency",
                                          "From try_to_wake_up() making a task runnable to its first instruction.");
    s->run_delay = measure_latency_new(s->m, MEASURE_MACHINE, "run_delay",
                                       "From becoming runnable to running: waiting in a runqueue.");
    return s->wake_latency && s->run_delay ? 0 : -1;
}

/* ---- models ---- */

static const struct wb_workload_ops *find_workload(const struct wb_sim *s, const char *kind)
{
    for (size_t i = 0; i < s->reg->nworkloads; i++)
        if (!strcmp(s->reg->workloads[i]->kind, kind)) return s->reg->workloads[i];
    return NULL;
}

static int size_stacks(struct wb_sim *s, struct wb_diag *d)
{
    int err = 0;
    /* On small machines a task keeps what it would borrow with each call: lending takes a few nanoseconds. */
    size_t spare = s->ncpus <= OWN_MIDDLE_CPUS ? WB_STACK_MIDDLE : 0;
    for (uint32_t i = 0; i < s->ninstances; i++) {
        const char *path = wb_cfg_path("workload[%u].kind", i);
        const struct wb_workload_ops *w = find_workload(s, wb_cfg_str(s->cfg, path));
        if (w) {
            s->instance[i].stack = (uint16_t)((w->frame_need + spare + SLEEP_FRAME_BYTES + 7) & ~(size_t)7);
            continue;
        }
        wb_cfg_error(s->cfg, d, path, "see wakebal list workloads", "no workload kind '%s'", wb_cfg_str(s->cfg, path));
        err = -1;
    }
    return err;
}

static int build_ipcs(struct wb_sim *s, struct wb_diag *d)
{
    int err = 0;
    s->ipc_state = wb_sim_alloc(s, (s->reg->nipcs + 1) * sizeof *s->ipc_state);
    for (size_t i = 0; i < s->reg->nipcs; i++)
        if (s->reg->ipcs[i]->init && s->reg->ipcs[i]->init(s, s->cfg, d)) err = -1;
    return err;
}

static int build_workloads(struct wb_sim *s, struct wb_diag *d)
{
    int err = 0;
    for (uint32_t i = 0; i < s->ninstances; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "workload[%u]", i);
        const struct wb_workload_ops *w = find_workload(s, wb_cfg_str(s->cfg, wb_cfg_path("%s.kind", path)));
        int64_t copies = wb_cfg_int(s->cfg, wb_cfg_path("%s.instances", path));
        s->instance[i].background = wb_cfg_bool(s->cfg, wb_cfg_path("%s.background", path));
        for (int64_t k = 0; k < copies && !err; k++)
            if (w->build(s, s->cfg, path, i, d)) err = -1;
    }
    return err;
}

/* ---- noise, ticks ---- */

static void build_noise(struct wb_sim *s)
{
    s->noise_n = (uint32_t)wb_cfg_count(s->cfg, "kernel.noise");
    s->noise = wb_sim_alloc(s, (s->noise_n + 1) * sizeof *s->noise);
    for (uint32_t i = 0; i < s->noise_n; i++) {
        struct noise_source *n = &s->noise[i];
        int64_t cpu = wb_cfg_int(s->cfg, wb_cfg_path("kernel.noise[%u].cpu", i));
        n->cpu = cpu < 0 || cpu >= (int64_t)s->ncpus ? WB_NO_CPU : (cpu_id)cpu;
        n->gap = *wb_cfg_dist(s->cfg, wb_cfg_path("kernel.noise[%u].gap", i));
        n->cost = *wb_cfg_dist(s->cfg, wb_cfg_path("kernel.noise[%u].cost", i));
        n->stream = wb_sim_stream(s, i, WB_PURPOSE('n', 'o', 'i', 's'));
        event_post(s, (sim_time)wb_dist_draw(&n->gap, &n->stream), EV_NOISE, i, 0);
    }
}

static int build_ticks(struct wb_sim *s)
{
    if (tickring_init(&s->ticks, &s->arena, EV_TICK, s->ncpus, s->tick_ps)) return -1;
    sim_time *phase = wb_sim_alloc(s, s->ncpus * sizeof *phase);
    bool given = wb_cfg_has(s->cfg, "kernel.tick_phases") && wb_cfg_count(s->cfg, "kernel.tick_phases") == s->ncpus;
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct wb_stream r = wb_sim_stream(s, c, WB_PURPOSE('t', 'i', 'c', 'k'));
        int64_t v;
        const char *why;
        size_t at;
        phase[c] = wb_draw_below(&r, s->tick_ps);
        if (given && !wb_parse_quantity(wb_cfg_str_at(s->cfg, "kernel.tick_phases", c), WB_UNIT_TIME, &v, &why, &at))
            phase[c] = (sim_time)v % s->tick_ps;
    }
    tickring_set_phases(&s->ticks, phase);
    s->jiffies_phase = phase[0];
    for (cpu_id c = 0; c < s->ncpus; c++) tickring_start(&s->ticks, c, 1);
    return 0;
}

/* ---- all of it ---- */

static int build_kernel(struct wb_sim *s, const struct wb_run_options *opt, struct wb_diag *d)
{
    if (policy_find(s, opt, d) || profile_read(s, s->cfg, d)) return -1;
    s->wide = s->ncpus >= WIDE_CPUS;
    if (s->ncpus >= ROOMY_CPUS) arena_large(&s->arena);
    s->cpu = arena_alloc(&s->arena, s->ncpus, sizeof *s->cpu, ARENA_LINE);
    if (!s->cpu) return -1;
    balances_init(s);
    profile_costs(s);
    if (s->k.big_lock) wb_spin_init(s, &s->big);
    s->policy = wb_sim_alloc(s, s->ops->sim_bytes);
    s->rule_count = wb_sim_alloc(s, s->ops->nrules * sizeof *s->rule_count);
    s->jiffies_start = 10 * (uint64_t)s->k.hz;
    if (evq_init(&s->q, 64)) return -1;
    build_all_mask(s);
    s->behind = (struct wb_cpumask){.ncpus = s->ncpus, .nwords = WB_CPUMASK_WORDS(s->ncpus)};
    s->behind.w = wb_sim_alloc(s, s->behind.nwords * sizeof *s->behind.w);
    s->rq_lines = wb_sim_line(s);
    for (cpu_id c = 1; c < s->ncpus; c++) (void)wb_sim_line(s);
    for (cpu_id c = 0; c < s->ncpus; c++) build_cpu(s, c);
    build_idle_tasks(s);
    if (build_ticks(s) || build_domains(s, d)) return -1;
    wb_softirq_handler(s, WB_SOFTIRQ_SCHED, sched_softirq);
    return policy_init(s, d);
}

static int build_trace(struct wb_sim *s, const struct wb_run_options *opt)
{
    if (!opt->trace_capacity) return 0;
    if (trace_init(&s->trace, &s->arena, opt->trace_capacity, opt->trace_from,
                   opt->trace_to ? opt->trace_to : WB_TIME_NEVER))
        return -1;
    s->tracing = true;
    return 0;
}

static void *trimmed(void *table, uint32_t *room, uint32_t n, size_t size)
{
    if (!n) return table;
    void *p = realloc(table, n * size);
    if (p) *room = n;
    return p ? p : table;
}

/* Nothing is added any more. */
static void trim_tables(struct wb_sim *s)
{
    s->task = trimmed(s->task, &s->tasks_room, s->ntasks, sizeof *s->task);
    s->pair = trimmed(s->pair, &s->pairs_room, s->npairs, sizeof *s->pair);
    s->names = trimmed(s->names, &s->names_room, s->nnames, sizeof *s->names);
}

static int build_all(struct wb_sim *s, const struct wb_run_options *opt, struct wb_diag *d)
{
    read_run(s);
    s->ninstances = (uint32_t)wb_cfg_count(s->cfg, "workload");
    s->instance = wb_sim_alloc(s, (s->ninstances + 1) * sizeof *s->instance);
    if (build_kernel(s, opt, d) || build_trace(s, opt)) return -1;
    if (build_measure(s) || size_stacks(s, d)) return -1;
    build_stoppers(s);
    memory_mark(s);
    if (build_ipcs(s, d)) return -1;
    if (opt->drive)
        drive_build_tasks(s);
    else if (build_workloads(s, d))
        return -1;
    footprint_declare(s);
    if (measure_seal(s->m) || memory_layout(s) || stacks_init(s) || result_init(s)) return -1;
    if (s->ncpus >= ROOMY_CPUS) stacks_dense(s);
    trim_tables(s);
    invariants_init(s);
    if (opt->task_totals) s->totals = wb_sim_alloc(s, s->ntasks * sizeof *s->totals);
    build_noise(s);
    event_post(s, s->end, EV_STOP, 0, 0);
    event_post(s, s->warmup ? s->warmup : WB_MIN(s->first_start, s->end), EV_WARM, 0, 0);
    arena_seal(&s->arena);
    evq_fit(&s->q);
    s->iww.idle_cpus = s->ncpus;
    for (cpu_id c = 0; c < s->ncpus && !opt->drive; c++) cpu_run(&s->cpu[c], s);
    return 0;
}

struct wb_sim *wb_sim_build(const struct wb_config *cfg, const struct wb_registry *reg, uint32_t replication,
                            const struct wb_run_options *opt, struct wb_diag *d)
{
    static const struct wb_run_options none;
    size_t errors = wb_diag_count(d, WB_ERROR);
    struct wb_machine *m = wb_machine_build(cfg, d);
    if (!m) return NULL;
    struct wb_sim *s = calloc(1, sizeof *s);
    WB_MEMORY(s, "out of memory for a simulation");
    arena_init(&s->arena, "simulation");
    s->cfg = cfg;
    s->reg = reg;
    s->replication = replication;
    s->machine = m;
    s->topo = wb_machine_topo(m);
    s->ncpus = wb_machine_ncpus(m);
    s->opt = opt ? *opt : none;
    s->no_inline = s->opt.no_inline;
    s->no_elide = s->opt.no_elide;
    s->audit = s->opt.audit;
    wb_where = (struct wb_where){.replication = replication, .cpu = WB_NO_CPU, .task = WB_NO_TASK};
    if (!build_all(s, &s->opt, d)) return s;
    WB_MEMORY(wb_diag_count(d, WB_ERROR) > errors,
              "out of memory for a simulation of %u CPUs and %u tasks, of which %zu KiB were made", s->ncpus, s->ntasks,
              s->arena.used / 1024);
    wb_sim_free(s);
    return NULL;
}

void wb_sim_free(struct wb_sim *s)
{
    if (!s) return;
    result_free(s);
    measure_free(s->m);
    if (s->hw) wb_machine_state_free(s->hw);
    stacks_free(s);
    invariants_free(s);
    balances_free(s);
    evq_free(&s->q);
    free(s->task);
    free(s->names);
    free((void *)s->masks);
    free(s->mask_slot);
    free(s->region);
    free(s->pair);
    arena_free(&s->arena);
    wb_machine_free((struct wb_machine *)(uintptr_t)s->machine);
    free(s);
}
