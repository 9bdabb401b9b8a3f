/*
 * pipe_latency.c - lmbench lat_pipe, perf bench sched pipe: a token goes to and fro through two pipes.
 *
 * lmbench 3 src/lat_pipe.c: the parent makes two pipes and forks; one trip makes sure that both have started; then
 * the timed loop is write, read in the parent and read, write in the child. perf bench sched pipe does the same with
 * 4 bytes, as two processes or threads. `think`: each side computes that long before it answers.
 */
#include "workload_cmd.h"
#include "workload_common.h"
#include "workloads.h"

/* What all pairs of an instance share. */
struct lat_shape {
    struct wb_progress *trips, *round_trip;
    struct wb_latency *hist;
    const struct wb_dist *think;
    uint64_t message, total;
    uint32_t instance;
    bool endless;
    uint16_t fn_call;
};

struct lat {
    const struct lat_shape *shape;
    struct wb_channel *there, *back;
    struct wb_task *child;
    uint32_t buf_parent, buf_child;
};

struct lat_frame {
    struct wb_frame h;
    struct lat *l;
    struct wb_stream stream;
    uint64_t done;
    sim_time since, left;
};

/* Move the whole message; a pipe may take or give it in parts. */
struct whole {
    struct wb_frame h;
    struct wb_channel *ch;
    uint32_t left, buf;
}; /* h.note: label of the call's user-mode work, and WHOLE_IN */
#define WHOLE_IN 0x8000u
_Static_assert(WB_FN_MAX <= WHOLE_IN, "a label beside a bit");

static enum wb_ret whole_step(struct wb_exec *x, void *frame)
{
    struct whole *f = frame;
    WB_BEGIN(f);
    while (f->left) {
        wb_charge_fn(x, f->h.note & (WHOLE_IN - 1));
        WB_FLUSH(x, f);
        WB_CALL(x, f,
                f->h.note & WHOLE_IN ? f->ch->ops->read(x, f->ch, 1, f->buf, f->left)
                                     : f->ch->ops->write(x, f->ch, 0, f->buf, f->left));
        if (x->ret <= 0) WB_RETURN(x, 0);
        f->left -= (uint32_t)x->ret;
    }
    WB_RETURN(x, 1);
    WB_END();
}

static void move(struct wb_exec *x, const struct lat *l, struct wb_channel *ch, bool in, uint32_t buf)
{
    struct whole *f = WB_PUSH(x, whole_step, struct whole);
    f->ch = ch;
    f->buf = buf;
    f->left = (uint32_t)l->shape->message;
    f->h.note = (uint16_t)(l->shape->fn_call | (in ? WHOLE_IN : 0));
}

static enum wb_ret child_step(struct wb_exec *x, void *frame)
{
    struct lat_frame *f = frame;
    struct lat *l = f->l;
    WB_BEGIN(f);
    WB_CALL(x, f, l->there->ops->close(x, l->there, 0));
    WB_CALL(x, f, l->back->ops->close(x, l->back, 1));
    for (;;) {
        WB_CALL(x, f, move(x, l, l->there, true, l->buf_child));
        if (!x->ret) break;
        /* not before the first, untimed answer */
        if (f->done++) WORKLOAD_COMPUTE(x, f, (sim_time)wb_dist_draw(l->shape->think, &f->stream));
        WB_CALL(x, f, move(x, l, l->back, false, l->buf_child));
        if (!x->ret) break;
    }
    WB_CALL(x, f, l->there->ops->close(x, l->there, 1));
    WB_CALL(x, f, l->back->ops->close(x, l->back, 0));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static enum wb_ret parent_step(struct wb_exec *x, void *frame)
{
    struct lat_frame *f = frame;
    struct lat *l = f->l;
    WB_BEGIN(f);
    WB_CALL(x, f, wb_fork(x, l->child));
    WB_CALL(x, f, l->there->ops->close(x, l->there, 1));
    WB_CALL(x, f, l->back->ops->close(x, l->back, 0));
    WB_CALL(x, f, move(x, l, l->there, false, l->buf_parent));
    WB_CALL(x, f, move(x, l, l->back, true, l->buf_parent));
    WB_FLUSH(x, f);
    for (f->done = 0; l->shape->endless || f->done < l->shape->total; f->done++) {
        f->since = wb_now(x);
        WORKLOAD_COMPUTE(x, f, (sim_time)wb_dist_draw(l->shape->think, &f->stream));
        WB_CALL(x, f, move(x, l, l->there, false, l->buf_parent));
        WB_CALL(x, f, move(x, l, l->back, true, l->buf_parent));
        WB_FLUSH(x, f);
        wb_progress_add(x, l->shape->trips, 1);
        wb_progress_add(x, l->shape->round_trip, 1);
        wb_latency_add(x, l->shape->hist, wb_now(x) - f->since);
    }
    wb_instance_done(x, l->shape->instance);
    WB_CALL(x, f, l->there->ops->close(x, l->there, 0));
    WB_CALL(x, f, l->back->ops->close(x, l->back, 1));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static void hold_all(struct lat *l)
{
    for (int end = 0; end < 2; end++) {
        l->there->ops->hold(l->there, end, 1);
        l->back->ops->hold(l->back, end, 1);
    }
}

static struct lat_frame *make_end(const struct workload_entry *e, struct wb_task_spec *spec, struct lat *l,
                                  struct wb_task **t)
{
    void *frame;
    *t = wb_task_new(e->s, spec, &frame);
    struct lat_frame *f = frame;
    f->l = l;
    f->stream = wb_sim_stream(e->s, (*t)->id, WB_PURPOSE('t', 'h', 'n', 'k'));
    return f;
}

static int make_pair(const struct workload_entry *e, const struct lat_shape *shape, uint32_t k, bool threads)
{
    const struct wb_cpumask *cpus_parent, *cpus_child;
    struct lat *l = wb_sim_alloc(e->s, sizeof *l);
    struct wb_task *parent;
    if (workload_cpus(e, "parent_cpus", 2 * k, &cpus_parent) < 0 ||
        workload_cpus(e, "child_cpus", 2 * k + 1, &cpus_child) < 0)
        return -1;
    l->shape = shape;
    l->there = workload_channel(e, "pipe", "there");
    l->back = workload_channel(e, "pipe", "back");
    if (workload_resize(e, l->there) < 0 || workload_resize(e, l->back) < 0) return -1;
    hold_all(l);
    l->buf_parent = wb_sim_region(e->s, l->shape->message, "lat_pipe parent's token");
    l->buf_child = wb_sim_region(e->s, l->shape->message, "lat_pipe child's token");
    struct wb_task_spec p = workload_task(e, "lat_pipe", parent_step, sizeof(struct lat_frame), cpus_parent, k == 0);
    make_end(e, &p, l, &parent);
    struct wb_task_spec c = workload_task(e, "lat_pipe-child", child_step, sizeof(struct lat_frame), cpus_child, false);
    c.dormant = true;
    if (threads) {
        c.mm = parent->mm;
        c.tgid = parent->tgid;
    }
    make_end(e, &c, l, &l->child);
    wb_pair_tasks(e->s, parent, l->child);
    return 0;
}

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"round_trip", "s", WB_BETTER_LOWER, "Time per round trip; with copies, elapsed time over all trips."},
    {"trips", "1/s", WB_BETTER_HIGHER, "Round trips per second, all copies together."},
    {"trip_time", "s", WB_BETTER_LOWER, "Time of single round trips, think time included."},
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    const struct wb_metric_spec trips = wb_metric_spec_of(&figures[1]);
    struct wb_metric_spec round_trip = wb_metric_spec_of(&figures[0]);
    round_trip.per_count = true;
    struct workload_entry e;
    struct workload_cmd cmd;
    if (workload_read(&e, s, cfg, path, instance, d) < 0 || workload_cmd_read(&e, "pipe_latency", &cmd) < 0) return -1;
    uint32_t copies = (uint32_t)workload_cmd_int(&e, &cmd, "copies");
    struct lat_shape *l = wb_sim_alloc(s, sizeof *l);
    *l = (struct lat_shape){.instance = instance, .endless = e.endless, .fn_call = e.fn_call};
    l->message = (uint64_t)workload_cmd_int(&e, &cmd, "message");
    l->total = (uint64_t)workload_cmd_int(&e, &cmd, "trips");
    l->think = wb_cfg_dist(cfg, workload_key(&e, "think"));
    l->round_trip = wb_progress_new(s, instance, &round_trip);
    l->trips = wb_progress_new(s, instance, &trips);
    l->hist = wb_latency_new(s, instance, figures[2].name, figures[2].help);
    for (uint32_t k = 0; k < copies; k++)
        if (make_pair(&e, l, k, workload_cmd_bool(&e, &cmd, "threads")) < 0) return -1;
    workload_expect(&e, copies);
    return 0;
}

#define ONLY "pipe_latency"
static const struct wb_key keys[] = {
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "1 B",
     .max = "64 MiB",
     .def = "1 B",
     .only = ONLY,
     .help = "Size of the token. lat_pipe sends 1 byte, perf bench sched pipe 4.",
     .source = "lmbench 3 src/lat_pipe.c"},
    {.path = "workload.think",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "0 s",
     .only = ONLY,
     .help = "Time that each side computes before it sends: \"5 us\", \"exp(20 us)\".",
     .source = "lmbench 3 src/lat_pipe.c: none"},
    {.path = "workload.trips",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000000",
     .def = "100000",
     .only = ONLY,
     .help = "Round trips of each copy (-l of perf bench). With run.duration they go on until the run ends.",
     .source =
         "lat_pipe finds its own count, perf bench sched pipe uses 1000000; fewer suffice without measurement noise"},
    {.path = "workload.copies",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "65536",
     .def = "1",
     .only = ONLY,
     .help = "Pairs that run at once (-P).",
     .source = "lmbench 3 src/lat_pipe.c"},
    {.path = "workload.threads",
     .type = WB_KEY_BOOL,
     .def = "false",
     .only = ONLY,
     .help =
         "The two ends are threads of one process (-T of perf bench): switching between them keeps the address space.",
     .source = "tools/perf/bench/sched-pipe.c: processes"},
    {.path = "workload.parent_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that the timed end may use. Without it: free, or its turn of workload.cpus (parent, child, parent, "
             "child ...)."},
    {.path = "workload.child_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that the answering end may use. Without it as parent_cpus."},
};

const struct wb_workload_ops wb_workload_pipe_latency = {
    .abi = WB_POLICY_ABI,
    .kind = "pipe_latency",
    .help = "Latency of a pipe: two tasks pass a token to and fro; each waits for the other.",
    .real = "lmbench lat_pipe, perf bench sched pipe",
    .weakness = "Only one of the two can ever run, so the best placement is always one CPU: it measures switch, wake "
                "and idle exit, and says "
                "nothing about pipelines that overlap.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct lat_frame) + WORKLOAD_PREEMPTED,
    .build = build,
};
