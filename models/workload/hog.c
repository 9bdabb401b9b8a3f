/*
 * hog.c - tasks that only compute: the competitors of everything else.
 */
#include "workload_common.h"
#include "workloads.h"

struct hog {
    struct wb_progress *work;
    const struct wb_dist *chunk;
    uint64_t total, set_bytes;
    uint32_t instance;
    bool endless;
    uint8_t pattern;
};

struct hog_frame {
    struct wb_frame h;
    const struct hog *g;
    struct wb_stream stream;
    sim_time left;
    uint32_t done;
    uint32_t set;
};

static enum wb_ret hog_step(struct wb_exec *x, void *frame)
{
    struct hog_frame *f = frame;
    const struct hog *g = f->g;
    WB_BEGIN(f);
    for (f->done = 0; g->endless || f->done < g->total; f->done++) {
        WORKLOAD_COMPUTE(x, f, workload_draw_work(g->chunk, &f->stream));
        if (g->set_bytes) WB_TOUCH(x, f, WB_SPAN(f->set, 0, g->set_bytes), g->pattern, WB_WRITE, WB_FN_MEMORY);
        wb_progress_add(x, g->work, 1);
    }
    wb_instance_done(x, g->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static int make_one(const struct workload_entry *e, const struct hog *g, uint32_t k)
{
    const struct wb_cpumask *cpus;
    void *frame;
    if (workload_cpus(e, NULL, k, &cpus) < 0) return -1;
    struct wb_task_spec spec = workload_task(e, "hog", hog_step, sizeof(struct hog_frame), cpus, k == 0);
    struct wb_task *t = wb_task_new(e->s, &spec, &frame);
    struct hog_frame *f = frame;
    f->g = g;
    f->stream = wb_sim_stream(e->s, t->id, WB_PURPOSE('c', 'h', 'n', 'k'));
    if (g->set_bytes) f->set = wb_sim_region(e->s, g->set_bytes, "hog's working set");
    return 0;
}

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"work", "1/s", WB_BETTER_HIGHER, "Chunks of work done per second, all hogs together."},
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    const struct wb_metric_spec work = wb_metric_spec_of(&figures[0]);
    struct workload_entry e;
    if (workload_read(&e, s, cfg, path, instance, d) < 0) return -1;
    struct hog *g = wb_sim_alloc(s, sizeof *g);
    *g = (struct hog){.instance = instance, .endless = e.endless, .work = wb_progress_new(s, instance, &work)};
    g->chunk = wb_cfg_dist(cfg, workload_key(&e, "chunk"));
    g->total = (uint64_t)wb_cfg_int(cfg, workload_key(&e, "chunks"));
    g->set_bytes = (uint64_t)wb_cfg_int(cfg, workload_key(&e, "working_set"));
    g->pattern = wb_cfg_str(cfg, workload_key(&e, "pattern"))[0] == 's' ? WB_STREAM : WB_RANDOM;
    uint32_t count = (uint32_t)wb_cfg_int(cfg, workload_key(&e, "count"));
    if (wb_cfg_bool(cfg, workload_key(&e, "per_cpu"))) count *= e.pinned ? e.ncpus : wb_ncpus(s);
    for (uint32_t k = 0; k < count; k++)
        if (make_one(&e, g, k) < 0) return -1;
    workload_expect(&e, count);
    return 0;
}

#define ONLY "hog"
static const struct wb_key keys[] = {
    {.path = "workload.count",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000",
     .def = "1",
     .only = ONLY,
     .help = "How many hogs.",
     .source = "one, as `sh -c 'while :; do :; done'`"},
    {.path = "workload.per_cpu",
     .type = WB_KEY_BOOL,
     .def = "false",
     .only = ONLY,
     .help = "Count is meant for each CPU of workload.cpus, or of the machine: count = 1 is a hog for every CPU.",
     .source = "count alone, as before"},
    {.path = "workload.chunk",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "1 ms",
     .only = ONLY,
     .help = "Work of one chunk at full speed of a CPU alone on its core: the unit in which progress is counted.",
     .source = "short against a time slice, long against a switch"},
    {.path = "workload.chunks",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000000",
     .def = "1000",
     .only = ONLY,
     .help = "Chunks of each hog. With run.duration, or as background, they go on until the run ends.",
     .source = "one second of work"},
    {.path = "workload.working_set",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "0 B",
     .max = "1 GiB",
     .def = "0 B",
     .only = ONLY,
     .help = "Bytes that a hog runs through after each chunk, as a write: it displaces other data from the caches and "
             "pays when it was moved.",
     .source = "none: an arithmetic loop"},
    {.path = "workload.pattern",
     .type = WB_KEY_ENUM,
     .choices = "stream random",
     .def = "stream",
     .only = ONLY,
     .help = "How it runs through its working set: consecutive addresses (prefetched) or at random.",
     .source = "array sweeps are streams"},
};

const struct wb_workload_ops wb_workload_hog = {
    .abi = WB_POLICY_ABI,
    .kind = "hog",
    .help = "Tasks that compute without ever sleeping.",
    .real = "any endless loop",
    .weakness = "Real programs sleep, fault and share caches; a hog's only interaction is the CPU that it takes.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct hog_frame) + WORKLOAD_PREEMPTED,
    .build = build,
};
