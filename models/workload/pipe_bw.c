/*
 * pipe_bw.c - lmbench bw_pipe: one task writes, its parent reads, in messages of one size.
 *
 * lmbench 3 src/bw_pipe.c: the timed process opens the pipe and forks the writer; each closes the end it does not
 * use, allocates its buffer and touches it once; then the writer writes for ever and the reader reads `total` bytes
 * per iteration in reads of one message. Neither touches its buffer in the loop. The fork is real here because fork
 * placement decides where the writer begins.
 */
#include "workload_cmd.h"
#include "workload_common.h"
#include "workloads.h"

struct bw {
    struct wb_channel *ch;
    struct wb_progress *bytes;
    struct wb_task *writer;
    uint32_t instance, buf_rd, buf_wr;
    uint64_t message, total;
    uint32_t touch_rd; /* the reader touches a page more: its buffer is not page aligned */
    bool endless;
    uint16_t fn_call;
};

struct bw_frame {
    struct wb_frame h;
    struct bw *b;
    uint64_t done;
    bool failed;
};

static enum wb_ret writer_step(struct wb_exec *x, void *frame)
{
    struct bw_frame *f = frame;
    struct bw *b = f->b;
    WB_BEGIN(f);
    WB_CALL(x, f, b->ch->ops->close(x, b->ch, 1));
    WB_TOUCH(x, f, WB_SPAN(b->buf_wr, 0, b->message), WB_STREAM, WB_WRITE, WB_FN_MEMORY);
    while (!f->failed) {
        for (f->done = 0; f->done < b->message;) {
            wb_charge_fn(x, b->fn_call);
            WB_FLUSH(x, f);
            WB_CALL(x, f, b->ch->ops->write(x, b->ch, 0, b->buf_wr, b->message - f->done));
            if (x->ret < 0) {
                f->failed = true;
                break;
            }
            f->done += (uint64_t)x->ret;
        }
    }
    WB_CALL(x, f, b->ch->ops->close(x, b->ch, 0));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static enum wb_ret reader_step(struct wb_exec *x, void *frame)
{
    struct bw_frame *f = frame;
    struct bw *b = f->b;
    WB_BEGIN(f);
    WB_CALL(x, f, wb_fork(x, b->writer));
    WB_CALL(x, f, b->ch->ops->close(x, b->ch, 0));
    WB_TOUCH(x, f, WB_SPAN(b->buf_rd, 0, b->touch_rd), WB_STREAM, WB_WRITE, WB_FN_MEMORY);
    do {
        for (f->done = 0; f->done < b->total; f->done += (uint64_t)x->ret) {
            wb_charge_fn(x, b->fn_call);
            WB_FLUSH(x, f);
            WB_CALL(x, f, b->ch->ops->read(x, b->ch, 1, b->buf_rd, b->message));
            WB_CHECK(x->ret > 0, "bw_pipe: the writer is gone");
            wb_progress_add(x, b->bytes, (uint64_t)x->ret);
        }
    } while (b->endless);
    wb_instance_done(x, b->instance);
    WB_CALL(x, f, b->ch->ops->close(x, b->ch, 1));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

/* lmbench rounds the total up, to nearly twice when it is no multiple of the message. */
static uint64_t round_total(uint64_t total, uint64_t message)
{
    if (total < message) return message;
    return total % message ? total + (total - total % message) : total;
}

static int make_pair(const struct workload_entry *e, const struct bw *shape, uint32_t k)
{
    const struct wb_cpumask *cpus_wr, *cpus_rd;
    struct bw *b = wb_sim_alloc(e->s, sizeof *b);
    void *frame;
    if (workload_cpus(e, "writer_cpus", 2 * k, &cpus_wr) < 0 ||
        workload_cpus(e, "reader_cpus", 2 * k + 1, &cpus_rd) < 0)
        return -1;
    *b = *shape;
    b->ch = workload_channel(e, "pipe", "bw_pipe");
    if (workload_resize(e, b->ch) < 0 || workload_packets(e, b->ch, b->message) < 0) return -1;
    b->ch->ops->hold(b->ch, 0, 1);
    b->ch->ops->hold(b->ch, 1, 1);
    b->buf_wr = wb_sim_region(e->s, b->message, "bw_pipe writer's buffer");
    b->buf_rd = wb_sim_region(e->s, b->touch_rd, "bw_pipe reader's buffer");
    struct wb_task_spec rd = workload_task(e, "bw_pipe-rd", reader_step, sizeof(struct bw_frame), cpus_rd, k == 0);
    struct wb_task *reader = wb_task_new(e->s, &rd, &frame);
    ((struct bw_frame *)frame)->b = b;
    struct wb_task_spec wr = workload_task(e, "bw_pipe-wr", writer_step, sizeof(struct bw_frame), cpus_wr, false);
    wr.dormant = true;
    b->writer = wb_task_new(e->s, &wr, &frame);
    ((struct bw_frame *)frame)->b = b;
    wb_pair_tasks(e->s, reader, b->writer);
    return 0;
}

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"bandwidth", "B/s", WB_BETTER_HIGHER, "Bytes that the readers got, per second, all copies together."},
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    const struct wb_metric_spec bandwidth = wb_metric_spec_of(&figures[0]);
    struct workload_entry e;
    struct workload_cmd cmd;
    if (workload_read(&e, s, cfg, path, instance, d) < 0 || workload_cmd_read(&e, "pipe_bw", &cmd) < 0) return -1;
    uint32_t copies = (uint32_t)workload_cmd_int(&e, &cmd, "copies");
    struct bw b = {.instance = instance, .endless = e.endless, .fn_call = e.fn_call};
    b.message = (uint64_t)workload_cmd_int(&e, &cmd, "message");
    b.total = round_total((uint64_t)workload_cmd_int(&e, &cmd, "total"), b.message);
    b.touch_rd = (uint32_t)(b.message + (uint64_t)wb_cfg_int(cfg, "kernel.page_size"));
    b.bytes = wb_progress_new(s, instance, &bandwidth);
    for (uint32_t k = 0; k < copies; k++)
        if (make_pair(&e, &b, k) < 0) return -1;
    workload_expect(&e, copies);
    return 0;
}

#define ONLY "pipe_bw"
static const struct wb_key keys[] = {
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "1 B",
     .max = "1 GiB",
     .def = "64 KiB",
     .only = ONLY,
     .help = "Bytes per write and per read (-m).",
     .source = "lmbench 3 src/bench.h XFERSIZE"},
    {.path = "workload.total",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "1 B",
     .max = "1 TiB",
     .def = "10 MiB",
     .only = ONLY,
     .help = "Bytes that each reader takes (-M). When it is no multiple of the message, lmbench rounds it up to nearly "
             "twice: pick a "
             "multiple. With run.duration the transfer is repeated until the run ends.",
     .source = "lmbench 3 src/bw_pipe.c XFER"},
    {.path = "workload.copies",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "65536",
     .def = "1",
     .only = ONLY,
     .help = "Pairs that run at once (-P). The bandwidth is that of all together.",
     .source = "lmbench 3 src/bw_pipe.c"},
    {.path = "workload.from_cmd",
     .type = WB_KEY_STRING,
     .only = "pipe_bw pipe_latency hackbench tcp_rr udp_rr syscall",
     .flags = WB_KEY_SWEEP_NO,
     .help =
         "The command line of the real benchmark, from which message, total, copies, trips, calls, threads, cpus and "
         "nice are taken, or groups, fds, loops, mode and transport, or request, response, client_cpus and "
         "server_cpus; it wins over those keys where a file gives them; --set, --vary or an axis of such a key is "
         "refused. Empty: none (takes back that of a preset). Understood: bw_pipe, lat_pipe, lat_syscall null, "
         "hackbench, perf bench "
         "sched pipe, sched messaging and syscall basic, netperf -t TCP_RR or UDP_RR, with `taskset -c` and `nice -n` "
         "in front; every task may use all CPUs of `taskset`, of netperf the client."},
    {.path = "workload.writer_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that every writer may use. Without it: free, or its turn of workload.cpus (writer, reader, writer, "
             "reader ...)."},
    {.path = "workload.reader_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that every reader may use. Without it as writer_cpus."},
};

const struct wb_workload_ops wb_workload_pipe_bw = {
    .abi = WB_POLICY_ABI,
    .kind = "pipe_bw",
    .help = "Bandwidth of a pipe: a reader forks a writer; both move messages of one size as fast as they can.",
    .real = "lmbench bw_pipe",
    .weakness = "Neither end produces or looks at data, so the pair gains from sharing a CPU and its caches as no real "
                "pipeline does; the "
                "result is modal (together or apart) and a mean says little: compare same CPU, two CPUs and free.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct bw_frame) + WORKLOAD_IPC_FRAMES,
    .build = build,
};
