#include "workload_common.h"

#include <string.h>

const char *workload_key(const struct workload_entry *e, const char *key)
{
    return wb_cfg_path("%s.%s", e->path, key);
}

static struct wb_cpumask empty_mask(struct wb_sim *s)
{
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(s))};
    m.w = wb_sim_alloc(s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    return m;
}

/* A CPUS value checked against the machine. 1: a list, 0: free, -1: error. */
static int read_cpus(const struct workload_entry *e, const char *path, struct wb_cpumask *m)
{
    int64_t max = wb_cfg_cpus_max(e->cfg, path);
    if (max >= (int64_t)wb_ncpus(e->s)) {
        wb_cfg_error(e->cfg, e->d, path, "see the numbers with `wakebal show topology`",
                     "cpu %lld does not exist: this machine has CPUs 0 to %u", (long long)max, wb_ncpus(e->s) - 1);
        return -1;
    }
    *m = empty_mask(e->s);
    return wb_cfg_cpus(e->cfg, path, m) ? 1 : 0;
}

/* The class of its tasks. Fair schedulers know all three, the others one. 0 or -1. */
static int read_class(struct workload_entry *e)
{
    static const char *const names[] = {
        [WB_CLASS_NORMAL] = "other", [WB_CLASS_BATCH] = "batch", [WB_CLASS_IDLE] = "idle"};
    const char *sched = wb_cfg_str(e->cfg, workload_key(e, "sched")), *family = wb_cfg_str(e->cfg, "kernel.scheduler");
    for (size_t i = 0; i < WB_ARRAY_SIZE(names); i++)
        if (!strcmp(sched, names[i])) e->klass = (enum wb_sched_class)i;
    if (e->klass == WB_CLASS_NORMAL || !strcmp(family, "cfs") || !strcmp(family, "eevdf")) return 0;
    wb_cfg_error(e->cfg, e->d, workload_key(e, "sched"), "take a kernel from 2.6.23 on, or leave it out",
                 "scheduler %s has no class '%s' here: SCHED_IDLE came with Linux 2.6.23, and SCHED_BATCH is modelled "
                 "from there on",
                 family, sched);
    return -1;
}

int workload_read(struct workload_entry *e, struct wb_sim *s, const struct wb_config *cfg, const char *path,
                  uint32_t instance, struct wb_diag *d)
{
    *e =
        (struct workload_entry){.s = s, .cfg = cfg, .d = d, .path = path, .instance = instance, .start_cpu = WB_NO_CPU};
    e->nice = (int)wb_cfg_int(cfg, workload_key(e, "nice"));
    e->background = wb_cfg_bool(cfg, workload_key(e, "background"));
    e->endless = e->background || wb_cfg_has(cfg, "run.duration");
    e->start_given = wb_cfg_has(cfg, workload_key(e, "start"));
    if (e->start_given) e->start = (sim_time)wb_cfg_int(cfg, workload_key(e, "start"));
    e->fn_call = wb_fn_id(s, "libc_call", WB_CAT_USER, 0);
    if (wb_cfg_has(cfg, workload_key(e, "start_cpu")))
        e->start_cpu = (cpu_id)wb_cfg_int(cfg, workload_key(e, "start_cpu"));
    if (e->start_cpu != WB_NO_CPU && e->start_cpu >= wb_ncpus(s)) {
        wb_cfg_error(cfg, d, workload_key(e, "start_cpu"), NULL, "cpu %u does not exist: this machine has CPUs 0 to %u",
                     e->start_cpu, wb_ncpus(s) - 1);
        return -1;
    }
    int list = read_cpus(e, workload_key(e, "cpus"), &e->cpus);
    if (list < 0 || read_class(e) < 0) return -1;
    e->pinned = list;
    e->ncpus = wb_mask_count(&e->cpus);
    return 0;
}

/* The k-th CPU of the list, alone. */
static const struct wb_cpumask *hand_out(const struct workload_entry *e, uint32_t k)
{
    return wb_mask_one(e->s, wb_mask_nth(&e->cpus, k % e->ncpus));
}

int workload_cpus(const struct workload_entry *e, const char *key, uint32_t k, const struct wb_cpumask **mask)
{
    *mask = NULL;
    if (key && wb_cfg_has(e->cfg, workload_key(e, key))) {
        struct wb_cpumask m;
        int list = read_cpus(e, workload_key(e, key), &m);
        if (list > 0) *mask = wb_mask_keep(e->s, &m);
        return list < 0 ? -1 : 0;
    }
    if (e->pinned) *mask = e->whole ? wb_mask_keep(e->s, &e->cpus) : hand_out(e, k);
    return 0;
}

struct wb_task_spec workload_task(const struct workload_entry *e, const char *name, wb_step_fn step, size_t frame_bytes,
                                  const struct wb_cpumask *allowed, bool first)
{
    cpu_id cpu = first ? e->start_cpu : WB_NO_CPU;
    if (cpu != WB_NO_CPU && allowed && !wb_mask_test(allowed, cpu)) cpu = WB_NO_CPU;
    return (struct wb_task_spec){.name = name,
                                 .step = step,
                                 .frame_bytes = frame_bytes,
                                 .nice = e->nice,
                                 .klass = e->klass,
                                 .allowed = allowed,
                                 .start_cpu = cpu,
                                 .start_at = e->start,
                                 .start_fixed = e->start_given,
                                 .instance = e->instance};
}

void workload_expect(const struct workload_entry *e, uint32_t parts)
{
    if (!e->endless && parts) wb_instance_expect(e->s, e->instance, parts);
}

struct wb_channel *workload_channel(const struct workload_entry *e, const char *kind, const char *name)
{
    const struct wb_ipc_ops *ops = wb_ipc_find(e->s, kind);
    WB_CHECK(ops, "this build has no IPC kind '%s'", kind);
    return ops->open(e->s, name);
}

int workload_packets(const struct workload_entry *e, struct wb_channel *c, uint64_t bytes)
{
    const char *key = workload_key(e, "packets");
    if (!wb_cfg_bool(e->cfg, key)) return 0;
    if (!c->ops->packets || c->ops->packets(c, bytes) < 0) {
        wb_cfg_error(e->cfg, e->d, key, "messages of a page at most, and kernel.pipe \"2.6.35\" or later",
                     "this pipe cannot keep messages of %llu bytes apart", (unsigned long long)bytes);
        return -1;
    }
    return 0;
}

int workload_resize(const struct workload_entry *e, struct wb_channel *c)
{
    const char *key = workload_key(e, "pipe_size");
    if (!wb_cfg_has(e->cfg, key)) return 0;
    if (!c->ops->resize || c->ops->resize(c, (uint64_t)wb_cfg_int(e->cfg, key)) < 0) {
        wb_cfg_error(e->cfg, e->d, key, "leave it out, or set kernel.pipe to \"2.6.35\" or later",
                     "pipes of the modelled kernel have a fixed size (F_SETPIPE_SZ came with 2.6.35)");
        return -1;
    }
    return 0;
}
