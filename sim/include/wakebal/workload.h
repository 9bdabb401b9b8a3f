/*
 * workload.h - workloads and IPC kinds: what models/workload and models/ipc (and plug-ins) provide.
 *
 * A workload kind turns one entry of the scenario's `workload` list into tasks and channels; an IPC kind provides
 * channels that tasks read and write by frames. Both are found by name in registries that cli/ fills.
 */
#ifndef WAKEBAL_WORKLOAD_H
#define WAKEBAL_WORKLOAD_H

#include "wakebal/config.h"
#include "wakebal/exec.h"
#include "wakebal/kernel.h"
#include "wakebal/keys.h"
#include "wakebal/metric.h"

/* ------------------------------------------------------------------ building tasks */
struct wb_task_spec {
    const char *name; /* "bw_pipe-wr"; at most 15 characters are shown in traces */
    wb_step_fn step;  /* the program: its frame is pushed zeroed with frame_bytes */
    size_t frame_bytes;
    int nice;
    enum wb_sched_class klass;
    const struct wb_cpumask *allowed; /* NULL: all CPUs; must live as long as the run */
    cpu_id start_cpu;                 /* WB_NO_CPU: drawn from the allowed CPUs' ... by the kernel's fork placement */
    sim_time start_at;                /* when it is forked; the engine adds the drawn start offset unless fixed */
    bool start_fixed;
    uint32_t mm;       /* 0: a new address space */
    uint32_t tgid;     /* 0: a process of its own */
    uint32_t instance; /* workload instance (index in the scenario) */
    bool dormant;      /* not started by the engine: some task forks it with wb_fork() */
};
/* Create a task. *frame (may be NULL) receives its program frame for filling in. Build time only. */
struct wb_task *wb_task_new(struct wb_sim *s, const struct wb_task_spec *spec, void **frame);
uint32_t wb_mm_new(struct wb_sim *s);
/* A pointer of this run that models share by name (NULL at first): what several workloads have in common, as the
 * locks of the kernel. Build time; the name must outlive the run. At most 8 names. */
void **wb_sim_shared(struct wb_sim *s, const char *name);
/* An affinity mask that lives as long as the run; equal masks are shared. */
const struct wb_cpumask *wb_mask_keep(struct wb_sim *s, const struct wb_cpumask *m);
const struct wb_cpumask *wb_mask_one(struct wb_sim *s, cpu_id c); /* the same of {c}. Build time */

/* ------------------------------------------------------------------ memory that programs and kernel objects touch */
/* Build time. Ids are those that WB_TOUCH, WB_COPY, WB_LINE and machine.h take once the run has started. */
uint32_t wb_sim_region(struct wb_sim *s, uint64_t bytes, const char *name); /* name: static or arena text */
uint32_t wb_sim_line(struct wb_sim *s);
/* Room for n lines that will be made when they are first used, by wb_lines_new(): so those in use lie together. */
void wb_sim_lines_later(struct wb_sim *s, uint32_t n);
/* At most n more pages (machine.h wb_page_alloc) will be alive at once; calls add up. All callers use the same page
 * size. */
void wb_sim_pages(struct wb_sim *s, uint32_t n, uint32_t page_bytes);
/* Run time: for wb_page_alloc() and wb_page_free(). */
struct wb_machine_state *wb_machine_state_of(struct wb_sim *s);

/* ------------------------------------------------------------------ results */
/* A per-instance progress counter: windowed, warm-up aware. Workloads add to it as work completes. Unit e.g. "B/s"
 * with the name "bandwidth"; see struct wb_metric_spec in metric.h. */
struct wb_progress; /* opaque */
struct wb_progress *wb_progress_new(struct wb_sim *s, uint32_t instance, const struct wb_metric_spec *spec);
void wb_progress_add(struct wb_exec *x, struct wb_progress *p, uint64_t n);
/* A latency histogram of the instance, in ps. */
struct wb_latency;
struct wb_latency *wb_latency_new(struct wb_sim *s, uint32_t instance, const char *name, const char *help);
void wb_latency_add(struct wb_exec *x, struct wb_latency *l, sim_time v);
/* A plain counter of the instance or model ("pipe.wake_calls"); visible as metric. */
struct wb_counter;
struct wb_counter *wb_counter_new(struct wb_sim *s, uint32_t instance, const char *name, const char *unit,
                                  const char *help);
void wb_counter_add(struct wb_exec *x, struct wb_counter *c, uint64_t n);
/* The instance has done its fixed work: when all that `finish` have, the run may end. */
/* how many done calls to wait for; build time */
void wb_instance_expect(struct wb_sim *s, uint32_t instance, uint32_t parts);
void wb_instance_done(struct wb_exec *x, uint32_t instance);
/* The clock of the instance starts now and not with its first task: what came before was preparation. */
void wb_instance_begin(struct wb_exec *x, uint32_t instance);

/* ------------------------------------------------------------------ kinds */
struct wb_workload_ops {
    uint32_t abi;
    const char *kind; /* "pipe_bw" */
    const char *help;
    const char *real;          /* "lmbench bw_pipe" */
    const char *weakness;      /* known weaknesses of the benchmark, for help and reports */
    const struct wb_key *keys; /* "workload.X" rows with only = kind */
    size_t nkeys;
    const struct wb_metric_def *metrics; /* what its instances report, for `list metrics`; may be NULL */
    size_t nmetrics;
    /* Frames in bytes that its programs have, IPC calls included, while they sleep or wait for a CPU (sim adds its
     * own). What goes deeper for a while is lent: this is about memory, not about correctness. */
    size_t frame_need;
    /* Build tasks for the entry at config path `path` ("workload[2]"). 0, or -1 with errors in d. */
    int (*build)(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d);
};

/* ------------------------------------------------------------------ byte channels */
struct wb_channel;
enum wb_ipc_flag {
    WB_IPC_DUPLEX = 1,  /* both ends read and write; else end 0 writes and end 1 reads */
    WB_IPC_DATAGRAM = 2 /* a read takes one message, whatever it asked for; else a stream of bytes */
};
enum wb_poll_event { WB_POLL_IN = 1, WB_POLL_OUT = 2, WB_POLL_HUP = 4 };
struct wb_ipc_ops {
    uint32_t abi;
    uint32_t flags;   /* enum wb_ipc_flag */
    const char *kind; /* "pipe" */
    const char *help;
    const struct wb_metric_def *metrics; /* what its channels count, for `list metrics`; may be NULL */
    size_t nmetrics;
    const struct wb_key *keys; /* kernel.* rows of this IPC kind (rule version, path costs) */
    size_t nkeys;
    size_t frame_need;
    /* Per-run state shared by all channels of the kind (rules, label ids). 0 or -1. */
    int (*init)(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d);
    /* One channel; end 0 writes to end 1 (pipe) or both ways (WB_IPC_DUPLEX: what one end writes the other reads). name
     * for traces. */
    struct wb_channel *(*open)(struct wb_sim *s, const char *name);
    /* Frames. x->ret = bytes moved, or -errno (-32 EPIPE, -11 EAGAIN). buf: the caller's buffer region. */
    void (*read)(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes);
    void (*write)(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes);
    void (*close)(struct wb_exec *x, struct wb_channel *c, int end);
    /* n more tasks hold this end (as after fork): each closes it, the last one releases it. A new channel has one
     * holder an end. */
    void (*hold)(struct wb_channel *c, int end, uint32_t n);
    /* Build time: room for this many bytes (F_SETPIPE_SZ, SO_SNDBUF). 0, or -1 when the modelled version cannot. */
    int (*resize)(struct wb_channel *c, uint64_t bytes);
    /* Build time: each write stays a message of its own, of a page at most (pipe2 with O_DIRECT). 0, or -1 when the
     * modelled version cannot, or messages of so many bytes cannot be. */
    int (*packets)(struct wb_channel *c, uint64_t bytes);
    /* What poll() says of this end now: bits of enum wb_poll_event. Immediate: the caller pays for looking. */
    uint32_t (*poll)(const struct wb_channel *c, int end);
    /* The queue on which a poller of this end sleeps for these events; it does so from now on. */
    struct wb_waitq *(*poll_queue)(struct wb_channel *c, int end, uint32_t events);
    /* Conservation: bytes in, out and inside, of both directions. */
    void (*audit)(const struct wb_channel *c, uint64_t *in, uint64_t *out, uint64_t *inside);
};
struct wb_channel {
    const struct wb_ipc_ops *ops;
};
/* The kind's ops and its per-run state. NULL when unknown. */
const struct wb_ipc_ops *wb_ipc_find(struct wb_sim *s, const char *kind);
void *wb_ipc_state(struct wb_sim *s, const struct wb_ipc_ops *ops);
void wb_ipc_set_state(struct wb_sim *s, const struct wb_ipc_ops *ops, void *state);

/* ------------------------------------------------------------------ registries */
struct wb_registry {
    const struct wb_policy_ops *const *policies;
    size_t npolicies;
    const struct wb_workload_ops *const *workloads;
    size_t nworkloads;
    const struct wb_ipc_ops *const *ipcs;
    size_t nipcs;
    const struct wb_policy_ops *overlay; /* plug-in laid over the kernel's policy, or NULL */
    char overlay_sum[13];                /* first digits of the SHA-256 of its file: part of a run's identity */
};

#endif
