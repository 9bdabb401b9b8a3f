/*
 * hackbench.c - groups of senders and receivers; every sender of a group writes to every receiver of it.
 *
 * hackbench (rt-tests src/hackbench/hackbench.c, after the program of Rusty Russell and Ingo Molnar) and perf bench
 * sched messaging (tools/perf/bench/sched-messaging.c): a group has `fds` senders and as many receivers, each
 * receiver behind one AF_UNIX stream pair or pipe. A sender writes `loops` times one message to each receiver in
 * turn; a receiver reads fds * loops messages. Every task writes to a common pipe that it is ready and polls another
 * one for the start; the clock runs from the byte that starts them until the main program has reaped the last.
 *
 * Processes have an address space, a struct pid, a struct cred and a table of files each; threads share those of the
 * main program. Forks are real, so fork placement decides where tasks begin.
 *
 * Simplified: descriptors that a process closes before it is ready, page faults after fork; threads are started and
 * joined at the cost of processes.
 */
#include "../ipc/ipc_poll.h"
#include "workload_cmd.h"
#include "workload_common.h"
#include "workloads.h"

#include <string.h>

struct group {
    struct wb_channel **ch; /* one per receiver; end 0 is the senders' */
};

struct hack {
    uint32_t instance, groups, fds, ntasks;
    uint64_t loops, message;
    bool threads, endless;
    struct group *group;
    struct wb_task **task;
    struct wb_channel *ready, *start;
    struct ipc_poll poll;
    struct wb_waitq exits;
    uint32_t gone; /* tasks that have ended */
    uint32_t buf;  /* of the main program */
    uint16_t fn_call, fn_wait;
    struct wb_progress *messages;
};

struct worker {
    struct wb_frame h;
    struct hack *b;
    const struct group *g;
    struct wb_channel *in; /* receiver */
    uint64_t i;            /* rounds, or messages */
    uint64_t done;         /* bytes of the message under way */
    uint32_t k, buf;
};

/* ---- senders and receivers ---- */

/* Tell the main program, wait for the start. */
static enum wb_ret report_step(struct wb_exec *x, void *frame)
{
    struct worker *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    wb_charge_fn(x, b->fn_call);
    WB_CALL(x, f, b->ready->ops->write(x, b->ready, 0, f->buf, 1));
    wb_charge_fn(x, b->fn_call);
    WB_CALL(x, f, ipc_poll(x, &b->poll, b->start, 1, WB_POLL_IN));
    WB_END();
}

/* Files are closed before the parent hears of the end (kernel/exit.c do_exit: exit_files, exit_notify); its wake is
 * sync (__wake_up_parent). Threads leave the files to their process. */
static enum wb_ret leave_step(struct wb_exec *x, void *frame)
{
    struct worker *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    x->task->exiting = true;
    if (f->in && !b->threads) WB_CALL(x, f, f->in->ops->close(x, f->in, 1));
    if (!f->in && !b->threads)
        for (f->k = 0; f->k < b->fds; f->k++) WB_CALL(x, f, f->g->ch[f->k]->ops->close(x, f->g->ch[f->k], 0));
    WB_FLUSH(x, f);
    b->gone++;
    WB_CALL(x, f, wb_wake_up(x, &b->exits, 1u << WB_INTERRUPTIBLE, 1, WB_WF_SYNC));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static void call_part(struct wb_exec *x, const struct worker *w, wb_step_fn step)
{
    struct worker *f = WB_PUSH(x, step, struct worker);
    f->b = w->b;
    f->g = w->g;
    f->in = w->in;
    f->buf = w->buf;
}

static void report_ready(struct wb_exec *x, const struct worker *w)
{
    call_part(x, w, report_step);
}
static void leave(struct wb_exec *x, const struct worker *w)
{
    call_part(x, w, leave_step);
}

static enum wb_ret sender_step(struct wb_exec *x, void *frame)
{
    struct worker *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    WB_CALL(x, f, report_ready(x, f));
    for (; b->endless || f->i < b->loops; f->i++) {
        for (f->k = 0; f->k < b->fds; f->k++) {
            for (f->done = 0; f->done < b->message; f->done += (uint64_t)x->ret) {
                wb_charge_fn(x, b->fn_call);
                WB_CALL(x, f, f->g->ch[f->k]->ops->write(x, f->g->ch[f->k], 0, f->buf, b->message - f->done));
                WB_CHECK(x->ret > 0, "hackbench: a receiver is gone");
            }
        }
    }
    WB_CALL(x, f, leave(x, f));
    WB_END();
}

static enum wb_ret receiver_step(struct wb_exec *x, void *frame)
{
    struct worker *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    WB_CALL(x, f, report_ready(x, f));
    for (; b->endless || f->i < b->loops * b->fds; f->i++) {
        for (f->done = 0; f->done < b->message; f->done += (uint64_t)x->ret) {
            wb_charge_fn(x, b->fn_call);
            WB_CALL(x, f, f->in->ops->read(x, f->in, 1, f->buf, b->message - f->done));
            WB_CHECK(x->ret > 0, "hackbench: the senders are gone");
        }
        wb_progress_add(x, b->messages, 1);
    }
    WB_CALL(x, f, leave(x, f));
    WB_END();
}

/* ---- the main program ---- */

struct main_frame {
    struct wb_frame h;
    struct hack *b;
    struct wb_wait_entry e;
    uint32_t i;
};

/* wait4() for one child that has ended; x->ret does not matter. */
static enum wb_ret reap_step(struct wb_exec *x, void *frame)
{
    struct main_frame *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, b->fn_wait);
    WB_FLUSH(x, f);
    while (b->gone <= f->i) {
        WB_CALL(x, f, wb_prepare_to_wait(x, &b->exits, &f->e, false, WB_INTERRUPTIBLE));
        WB_FLUSH(x, f);
        if (b->gone <= f->i) WB_CALL(x, f, wb_schedule(x));
        WB_CALL(x, f, wb_finish_wait(x, &b->exits, &f->e));
    }
    WB_SYSCALL_EXIT(x, f);
    WB_END();
}

/* The i-th of those that end. */
static void reap(struct wb_exec *x, struct hack *b, uint32_t i)
{
    struct main_frame *f = WB_PUSH(x, reap_step, struct main_frame);
    f->b = b;
    f->i = i;
}

static enum wb_ret main_step(struct wb_exec *x, void *frame)
{
    struct main_frame *f = frame;
    struct hack *b = f->b;
    WB_BEGIN(f);
    for (f->i = 0; f->i < b->ntasks; f->i++) WB_CALL(x, f, wb_fork(x, b->task[f->i]));
    for (f->i = 0; f->i < b->ntasks; f->i++) {
        wb_charge_fn(x, b->fn_call);
        WB_CALL(x, f, b->ready->ops->read(x, b->ready, 1, b->buf, 1));
    }
    WB_FLUSH(x, f);
    wb_instance_begin(x, b->instance);
    WB_CALL(x, f, b->start->ops->write(x, b->start, 0, b->buf, 1));
    for (f->i = 0; f->i < b->ntasks; f->i++) WB_CALL(x, f, reap(x, b, f->i));
    WB_FLUSH(x, f);
    wb_instance_done(x, b->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

/* ---- building ---- */

static struct wb_channel *make_channel(const struct workload_entry *e, const struct hack *b, const char *kind)
{
    struct wb_channel *c = workload_channel(e, kind, "hackbench");
    if (b->fds > 1) c->ops->hold(c, 0, b->fds - 1);
    return c;
}

/* One task; hand_out counts receivers and senders of all groups in the order in which they are started. */
static struct worker *make_worker(const struct workload_entry *e, struct hack *b, const struct wb_task *parent,
                                  bool sender)
{
    const struct wb_cpumask *cpus;
    void *frame;
    if (workload_cpus(e, sender ? "sender_cpus" : "receiver_cpus", b->ntasks, &cpus) < 0) return NULL;
    struct wb_task_spec spec = workload_task(e, sender ? "hb-sender" : "hb-receiver",
                                             sender ? sender_step : receiver_step, sizeof(struct worker), cpus, false);
    spec.dormant = true;
    if (b->threads) {
        spec.mm = parent->mm;
        spec.tgid = parent->tgid;
    }
    b->task[b->ntasks++] = wb_task_new(e->s, &spec, &frame);
    struct worker *w = frame;
    w->b = b;
    w->buf = wb_sim_region(e->s, b->message, "hackbench message");
    return w;
}

static int make_group(const struct workload_entry *e, struct hack *b, const struct wb_task *parent, struct group *g,
                      const char *kind)
{
    g->ch = wb_sim_alloc(e->s, b->fds * sizeof(struct wb_channel *));
    for (uint32_t k = 0; k < b->fds; k++) {
        struct worker *w = make_worker(e, b, parent, false);
        if (!w) return -1;
        w->in = g->ch[k] = make_channel(e, b, kind);
    }
    for (uint32_t k = 0; k < b->fds; k++) {
        struct worker *w = make_worker(e, b, parent, true);
        if (!w) return -1;
        w->g = g;
    }
    return 0;
}

static int make_tasks(const struct workload_entry *e, struct hack *b, const char *kind)
{
    const struct wb_cpumask *cpus = NULL;
    void *frame;
    if (e->pinned) cpus = wb_mask_keep(e->s, &e->cpus);
    struct wb_task_spec spec = workload_task(e, "hackbench", main_step, sizeof(struct main_frame), cpus, true);
    struct wb_task *parent = wb_task_new(e->s, &spec, &frame);
    ((struct main_frame *)frame)->b = b;
    b->group = wb_sim_alloc(e->s, b->groups * sizeof *b->group);
    b->task = wb_sim_alloc(e->s, 2ul * b->groups * b->fds * sizeof(struct wb_task *));
    b->ready = workload_channel(e, "pipe", "ready");
    b->start = workload_channel(e, "pipe", "start");
    b->buf = wb_sim_region(e->s, 1, "hackbench's byte");
    for (uint32_t g = 0; g < b->groups; g++)
        if (make_group(e, b, parent, &b->group[g], kind) < 0) return -1;
    return 0;
}

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"time", "s", WB_BETTER_LOWER, "From the byte that starts the tasks until the last one has been reaped."},
    {"messages", "1/s", WB_BETTER_HIGHER, "Messages that receivers have read, per second."},
};

static void make_figures(struct wb_sim *s, struct hack *b)
{
    struct wb_metric_spec time = wb_metric_spec_of(&figures[0]), messages = wb_metric_spec_of(&figures[1]);
    time.elapsed = true;
    if (!b->endless) {
        (void)wb_progress_new(s, b->instance, &time);
        messages.better = WB_BETTER_NONE; /* the time is the figure */
    }
    b->messages = wb_progress_new(s, b->instance, &messages);
}

static const char *word_of(const struct workload_entry *e, const struct workload_cmd *cmd, const char *key)
{
    const struct workload_setting *set = workload_cmd_find(cmd, key);
    return set ? set->value : wb_cfg_str(e->cfg, workload_key(e, key));
}

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    struct workload_entry e;
    struct workload_cmd cmd;
    if (workload_read(&e, s, cfg, path, instance, d) < 0 || workload_cmd_read(&e, "hackbench", &cmd) < 0) return -1;
    struct hack *b = wb_sim_alloc(s, sizeof *b);
    *b = (struct hack){.instance = instance, .endless = e.endless, .fn_call = e.fn_call};
    b->groups = (uint32_t)workload_cmd_int(&e, &cmd, "groups");
    b->fds = (uint32_t)workload_cmd_int(&e, &cmd, "fds");
    b->loops = (uint64_t)workload_cmd_int(&e, &cmd, "loops");
    b->message = (uint64_t)workload_cmd_int(&e, &cmd, "message");
    b->threads = !strcmp(word_of(&e, &cmd, "mode"), "thread");
    b->fn_wait = wb_fn_id(s, "do_wait", WB_CAT_SYSCALL, 0);
    ipc_poll_init(s, &b->poll);
    wb_waitq_init(s, &b->exits);
    make_figures(s, b);
    if (make_tasks(&e, b, strcmp(word_of(&e, &cmd, "transport"), "pipe") ? "unix" : "pipe") < 0) return -1;
    workload_expect(&e, 1);
    return 0;
}

#define ONLY "hackbench"
#define REAL "rt-tests src/hackbench/hackbench.c"
static const struct wb_key keys[] = {
    {.path = "workload.groups",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000",
     .def = "10",
     .only = ONLY,
     .help = "Groups (-g, or the first word of the classic command line).",
     .source = REAL},
    {.path = "workload.fds",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "100",
     .def = "20",
     .only = ONLY,
     .help = "Senders of a group, and receivers of it (-f): a group has twice as many tasks.",
     .source = REAL},
    {.path = "workload.loops",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "10000000",
     .def = "100",
     .only = ONLY,
     .help =
         "Messages of each sender to each receiver of its group (-l, or the third word). With run.duration they go on "
         "until the run ends, and the figure is messages per second.",
     .source = REAL,
     .flags = WB_KEY_JOB},
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "1 B",
     .max = "64 MiB",
     .def = "100 B",
     .only = ONLY,
     .help = "Bytes of a message (-s).",
     .source = REAL},
    {.path = "workload.mode",
     .type = WB_KEY_ENUM,
     .choices = "process thread",
     .def = "process",
     .only = ONLY,
     .help =
         "Whether senders and receivers are processes (-P) or threads of the main program (-T): threads share address "
         "space, struct pid, struct cred and the table of files.",
     .source = REAL},
    {.path = "workload.transport",
     .type = WB_KEY_ENUM,
     .choices = "socket pipe",
     .def = "socket",
     .only = ONLY,
     .help = "AF_UNIX stream pairs, or pipes (-p).",
     .source = REAL},
    {.path = "workload.sender_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help =
         "CPUs that every sender may use. Without it: free, or its turn of workload.cpus in the order of starting: a "
         "group's receivers, then its senders."},
    {.path = "workload.receiver_cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that every receiver may use. Without it as sender_cpus."},
    {.path = "kernel.path.do_wait",
     .type = WB_KEY_COST,
     .unit = "time or cycles",
     .min = "0 ns",
     .max = "1 s",
     .def = "3 us",
     .help = "Reaping a child that has ended, without sleeping for it.",
     .source = "assumed: 1..10 us (kernel/exit.c wait_task_zombie, release_task)",
     .flags = WB_KEY_PRICED},
};

const struct wb_workload_ops wb_workload_hackbench = {
    .abi = WB_POLICY_ABI,
    .kind = ONLY,
    .help =
        "Groups of senders and receivers: every sender of a group writes to every receiver of it, through sockets or "
        "pipes.",
    .real = "hackbench, perf bench sched messaging",
    .weakness = "With many groups no CPU is ever idle and queues are long, so it measures system calls, locks and "
                "cache-line transfers more than placement; pipes are dominated by their locks.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = sizeof(struct worker) + sizeof(struct main_frame) + 256,
    .build = build,
};
