/*
 * periodic.c - tasks that run a while and sleep a while: the waking latency of the simulated kernel.
 *
 * Without a period the sleep begins when the work is done (rt-app's `sleep`, a program that polls); with one, the
 * task wakes at multiples of the period (rt-app's `timer` in absolute mode, cyclictest), and an overrun skips the
 * periods that have passed.
 */
#include "workload_common.h"
#include "workloads.h"

struct periodic {
    struct wb_progress *cycles;
    struct wb_latency *late;
    struct wb_counter *overruns;
    const struct wb_dist *run, *sleep;
    sim_time period;
    uint64_t total;
    uint32_t instance;
    bool endless;
};

struct periodic_frame {
    struct wb_frame h;
    const struct periodic *p;
    struct wb_stream run, sleep;
    uint64_t done;
    sim_time due, left;
};

/* When to wake next; counts the periods that were missed. */
static sim_time next_due(struct wb_exec *x, struct periodic_frame *f)
{
    const struct periodic *p = f->p;
    sim_time now = wb_now(x);
    if (!p->period) return now + (sim_time)wb_dist_draw(p->sleep, &f->sleep);
    f->due += p->period;
    if (f->due >= now) return f->due;
    uint64_t missed = (now - f->due + p->period - 1) / p->period;
    wb_counter_add(x, p->overruns, missed);
    return f->due + missed * p->period;
}

static enum wb_ret periodic_step(struct wb_exec *x, void *frame)
{
    struct periodic_frame *f = frame;
    const struct periodic *p = f->p;
    WB_BEGIN(f);
    f->due = wb_now(x);
    for (f->done = 0; p->endless || f->done < p->total; f->done++) {
        WORKLOAD_COMPUTE(x, f, workload_draw_work(p->run, &f->run));
        wb_progress_add(x, p->cycles, 1);
        f->due = next_due(x, f);
        WB_CALL(x, f, wb_sleep_until(x, f->due));
        WB_FLUSH(x, f);
        wb_latency_add(x, p->late, wb_now(x) - WB_MIN(wb_now(x), f->due));
    }
    wb_instance_done(x, p->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static int make_one(const struct workload_entry *e, const struct periodic *p, uint32_t k)
{
    const struct wb_cpumask *cpus;
    void *frame;
    if (workload_cpus(e, NULL, k, &cpus) < 0) return -1;
    struct wb_task_spec spec = workload_task(e, "periodic", periodic_step, sizeof(struct periodic_frame), cpus, k == 0);
    struct wb_task *t = wb_task_new(e->s, &spec, &frame);
    struct periodic_frame *f = frame;
    f->p = p;
    f->run = wb_sim_stream(e->s, t->id, WB_PURPOSE('r', 'u', 'n', ' '));
    f->sleep = wb_sim_stream(e->s, t->id, WB_PURPOSE('s', 'l', 'e', 'p'));
    return 0;
}

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"cycles", "1/s", WB_BETTER_HIGHER, "Run and sleep cycles per second, all tasks together."},
    {"lateness", "s", WB_BETTER_LOWER, "Time from the moment a sleep should have ended until the task ran."},
    {"overruns", "1", WB_BETTER_NONE, "Periods that were missed because the work was not done in time."},
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    const struct wb_metric_spec cycles = wb_metric_spec_of(&figures[0]);
    struct workload_entry e;
    if (workload_read(&e, s, cfg, path, instance, d) < 0) return -1;
    struct periodic *p = wb_sim_alloc(s, sizeof *p);
    *p = (struct periodic){.instance = instance, .endless = e.endless, .cycles = wb_progress_new(s, instance, &cycles)};
    p->late = wb_latency_new(s, instance, figures[1].name, figures[1].help);
    p->overruns = wb_counter_new(s, instance, figures[2].name, figures[2].unit, figures[2].help);
    p->run = wb_cfg_dist(cfg, workload_key(&e, "run"));
    p->sleep = wb_cfg_dist(cfg, workload_key(&e, "sleep"));
    if (wb_cfg_has(cfg, workload_key(&e, "period"))) p->period = (sim_time)wb_cfg_int(cfg, workload_key(&e, "period"));
    p->total = (uint64_t)wb_cfg_int(cfg, workload_key(&e, "cycles"));
    uint32_t count = (uint32_t)wb_cfg_int(cfg, workload_key(&e, "count"));
    for (uint32_t k = 0; k < count; k++)
        if (make_one(&e, p, k) < 0) return -1;
    workload_expect(&e, count);
    return 0;
}

#define ONLY "periodic"
static const struct wb_key keys[] = {
    {.path = "workload.count",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000",
     .def = "1",
     .only = ONLY,
     .help = "How many such tasks.",
     .source = "one, as cyclictest without -t"},
    {.path = "workload.run",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "1 ms",
     .only = ONLY,
     .help = "Work of a cycle at full speed of a CPU.",
     .source = "rt-app examples: 1 ms of work in 10 ms"},
    {.path = "workload.sleep",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "9 ms",
     .only = ONLY,
     .help = "Sleep after the work. Not used when a period is set.",
     .source = "rt-app examples: 1 ms of work in 10 ms"},
    {.path = "workload.period",
     .type = WB_KEY_TIME,
     .min = "1 us",
     .max = "1000 s",
     .only = ONLY,
     .help = "Wake at multiples of this time instead of sleeping after the work."},
    {.path = "workload.cycles",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000000",
     .def = "1000",
     .only = ONLY,
     .help = "Cycles of each task. With run.duration, or as background, they go on until the run ends.",
     .source = "ten seconds at the other defaults"},
};

const struct wb_workload_ops wb_workload_periodic = {
    .abi = WB_POLICY_ABI,
    .kind = "periodic",
    .help = "Tasks that run a while and sleep a while, with times from distributions.",
    .real = "rt-app, cyclictest",
    .weakness = "A task that only sleeps on timers is woken by the tick or a timer interrupt on its own CPU: no waker, "
                "so no affine or sync wakeup.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct periodic_frame) + WORKLOAD_PREEMPTED,
    .build = build,
};
