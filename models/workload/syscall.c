/*
 * syscall.c - system calls in a loop: lmbench lat_syscall, perf bench syscall basic, the program of the FreeBSD
 * report of 2004.
 *
 * Each caller does one call after the other. What a call costs is data of the kernel profile (calls.h): path, locks,
 * locked instructions, readings of the clock. Copies are processes, or threads of one process: those share what the
 * locks' scope says.
 */
#include "calls.h"
#include "calls_keys.h"
#include "workload_cmd.h"
#include "workload_common.h"
#include "workloads.h"

#include <stdio.h>
#include <string.h>

struct caller_shape {
    struct call call;
    struct wb_progress *calls, *time;
    struct wb_counter *locks, *atomics, *reads;
    uint64_t total;
    uint32_t instance;
    bool endless;
    uint16_t fn_call;
};

struct caller_frame {
    struct wb_frame h;
    const struct caller_shape *s;
    struct call_lock **lock;
    uint64_t done;
};

static void count(struct wb_exec *x, const struct caller_shape *s)
{
    wb_progress_add(x, s->calls, 1);
    wb_progress_add(x, s->time, 1);
    wb_counter_add(x, s->locks, s->call.count[CALL_LOCK]);
    wb_counter_add(x, s->atomics, s->call.count[CALL_ATOMIC]);
    wb_counter_add(x, s->reads, s->call.count[CALL_CLOCK]);
}

static enum wb_ret caller_step(struct wb_exec *x, void *frame)
{
    struct caller_frame *f = frame;
    WB_BEGIN(f);
    for (f->done = 0; f->s->endless || f->done < f->s->total; f->done++) {
        x->user = 1;
        wb_charge_fn(x, f->s->fn_call);
        WB_FLUSH(x, f);
        WB_CALL(x, f, call_push(x, &f->s->call, f->lock));
        count(x, f->s);
    }
    wb_instance_done(x, f->s->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

/* ---- building ---- */

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"calls", "1/s", WB_BETTER_HIGHER, "System calls per second, all callers together."},
    {"time_per_call", "s", WB_BETTER_LOWER, "Time per call: elapsed time over the calls of all callers."},
    {"call.locks", "1", WB_BETTER_NONE, "Locks taken by system calls."},
    {"call.atomics", "1", WB_BETTER_NONE, "Locked instructions of system calls beside those of locks."},
    {"call.clock_reads", "1", WB_BETTER_NONE, "Times that system calls read the kernel's clock."},
};

/* The call in the kernel's table: what descriptor 0 is and what select meets are parts of its name. */
static void call_name(const struct workload_entry *e, char *buf, size_t n)
{
    const char *call = wb_cfg_str(e->cfg, workload_key(e, "call"));
    const char *fd = wb_cfg_str(e->cfg, workload_key(e, "fd"));
    bool fault = !strcmp(wb_cfg_str(e->cfg, workload_key(e, "select_result")), "fault");
    if (!strcmp(call, "write"))
        (void)snprintf(buf, n, "write-%s", fd);
    else if (!strcmp(call, "select") && fault)
        (void)snprintf(buf, n, "select-fault");
    else
        (void)snprintf(buf, n, "%.60s", call);
}

/* The process that further threads belong to. */
struct process {
    const struct wb_task *task;
    struct call_lock **lock;
};

static int make_caller(const struct workload_entry *e, const struct caller_shape *s, uint32_t k, struct process *of)
{
    const struct wb_cpumask *cpus;
    void *frame;
    if (workload_cpus(e, NULL, k, &cpus) < 0) return -1;
    struct wb_task_spec spec = workload_task(e, "caller", caller_step, sizeof(struct caller_frame), cpus, k == 0);
    if (of->task) {
        spec.mm = of->task->mm;
        spec.tgid = of->task->tgid;
    }
    const struct wb_task *t = wb_task_new(e->s, &spec, &frame);
    struct caller_frame *f = frame;
    f->s = s;
    f->lock = call_locks_new(e, of->lock);
    *of = (struct process){.task = t, .lock = f->lock};
    return 0;
}

static struct wb_counter *counter(const struct workload_entry *e, const struct wb_metric_def *d)
{
    return wb_counter_new(e->s, e->instance, d->name, d->unit, d->help);
}

static struct caller_shape *make_shape(const struct workload_entry *e)
{
    struct caller_shape *s = wb_sim_alloc(e->s, sizeof *s);
    const struct wb_metric_spec calls = wb_metric_spec_of(&figures[0]);
    struct wb_metric_spec time = wb_metric_spec_of(&figures[1]);
    time.per_count = true;
    *s = (struct caller_shape){.instance = e->instance, .endless = e->endless, .fn_call = e->fn_call};
    s->calls = wb_progress_new(e->s, e->instance, &calls);
    s->time = wb_progress_new(e->s, e->instance, &time);
    s->locks = counter(e, &figures[2]);
    s->atomics = counter(e, &figures[3]);
    s->reads = counter(e, &figures[4]);
    return s;
}

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    struct workload_entry e;
    struct workload_cmd cmd;
    char name[80];
    if (workload_read(&e, s, cfg, path, instance, d) < 0 || workload_cmd_read(&e, "syscall", &cmd) < 0) return -1;
    struct caller_shape *shape = make_shape(&e);
    call_name(&e, name, sizeof name);
    if (call_compile(&e, name, &shape->call) < 0) return -1;
    shape->total = (uint64_t)workload_cmd_int(&e, &cmd, "calls");
    uint32_t copies = (uint32_t)workload_cmd_int(&e, &cmd, "copies");
    bool threads = workload_cmd_bool(&e, &cmd, "threads");
    struct process process = {0};
    for (uint32_t k = 0; k < copies; k++) {
        if (make_caller(&e, shape, k, &process) < 0) return -1;
        if (!threads) process = (struct process){0};
    }
    workload_expect(&e, copies);
    return 0;
}

#define ONLY "syscall"
static const struct wb_key keys[] = {
    CALLS_KEYS,
    {.path = "workload.call",
     .type = WB_KEY_STRING,
     .def = "getppid",
     .only = ONLY,
     .help = "Which call: write, select, or a name in the kernel's kernel.calls (socket, gettimeofday, getppid ...).",
     .source = "perf bench syscall basic: getppid"},
    {.path = "workload.fd",
     .type = WB_KEY_ENUM,
     .choices = "null tty bad",
     .def = "null",
     .only = ONLY,
     .help = "What write writes no bytes to: /dev/null, a terminal, or a descriptor that is not open.",
     .source = "tools/perf/bench, lmbench 3 src/lat_syscall.c: /dev/null"},
    {.path = "workload.select_result",
     .type = WB_KEY_ENUM,
     .choices = "timeout fault",
     .def = "timeout",
     .only = ONLY,
     .help = "How select of no descriptors ends: at once with 0 (zero timeout), or with EFAULT, its timeout not being "
             "readable.",
     .source = "a zero timeout is what programs pass"},
    {.path = "workload.calls",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000000000",
     .def = "100000",
     .only = ONLY,
     .help = "Calls of each caller (-l of perf bench). With run.duration they go on until the run ends.",
     .source = "perf bench does 10000000; fewer suffice without measurement noise"},
    {.path = "workload.copies",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "65536",
     .def = "1",
     .only = ONLY,
     .help = "Callers that run at once (-P).",
     .source = "lmbench 3 src/lat_syscall.c"},
    {.path = "workload.threads",
     .type = WB_KEY_BOOL,
     .def = "false",
     .only = ONLY,
     .help = "Callers are threads of one process: they share its descriptor table and its locks.",
     .source = "lat_syscall -P forks processes"},
};

const struct wb_workload_ops wb_workload_syscall = {
    .abi = WB_POLICY_ABI,
    .kind = "syscall",
    .help = "System calls in a loop: what entering the kernel, its path, its locks and its clock cost.",
    .real = "lmbench lat_syscall, perf bench syscall basic",
    .weakness = "Everything is hot in the caches and branch predictors, which it is not in programs that do other work "
                "between calls.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct caller_frame) + CALL_FRAME_NEED,
    .build = build,
};
