/*
 * sim.h - one simulation: the private heart of sim/kernel.
 *
 * Who runs whom. The main loop (engine.c) takes the earliest event; an event belongs to one CPU and makes it step its
 * active context (cpu.c) until that CPU has to wait. Contexts nest: task -> softirq -> hardirq; `ctx` is the
 * innermost. While a CPU is stepped, no other CPU is; what one does to another goes through events (IPIs, grants) or
 * marks (need_resched, pending bits).
 *
 * A CPU is in one mode:
 *   CPU_RUN   its context has a segment under way (ev != 0) or is being stepped
 *   CPU_SPIN  it spins for a lock; a grant resumes it
 *   CPU_HALT  idle; an interrupt or, when it polls, need_resched resumes it
 * and the time since `since` is accounted when that ends.
 */
#ifndef WB_KERNEL_SIM_H
#define WB_KERNEL_SIM_H

#include "arena.h"
#include "evq.h"
#include "invariants.h"
#include "measure.h"
#include "reserve.h"
#include "tickring.h"
#include "tracering.h"
#include "wakebal/config.h"
#include "wakebal/kernel.h"
#include "wakebal/policy.h"
#include "wakebal/run.h"
#include "wakebal/trace.h"
#include "wakebal/units.h"
#include "wakebal/workload.h"

/* Event classes, in the order in which they happen at one instant. */
enum event_class {
    EV_SEGMENT, /* entity = cpu: its running segment ends */
    EV_GRANT,   /* cpu: a lock it spins for is its */
    EV_IRQ,     /* cpu: resched or call interrupt arrives; counter = number of the IPI */
    EV_POLLED,  /* cpu: idle and watching need_resched: it sees it now */
    EV_TICK,    /* cpu; comes from the tick ring */
    EV_TIMER,   /* task: its sleep is over */
    EV_NOISE,   /* noise source */
    EV_START,   /* task: is forked by the outside world */
    EV_WINDOW,  /* the measuring window closes */
    EV_WARM,    /* the warm-up ends */
    EV_STOP,    /* the run ends */
    EV_CLASSES
};

enum cpu_mode { CPU_RUN, CPU_SPIN, CPU_HALT };

/* Interrupt vectors, most urgent first. */
enum irq_vector { IRQ_TICK, IRQ_TIMER, IRQ_RESCHED, IRQ_NOISE, IRQ_START, IRQ_VECTORS };

#define SPEED_SHIFT 14
#define SPEED_FULL (1u << SPEED_SHIFT)

/* Frame stacks (exec.h). Own parts: a handler with one call; the idle loop or migration thread in schedule(). The
 * deep part has room for every chain of sim/ and of an IPC kind. */
#define IRQ_STACK_BYTES 56u
#define KTHREAD_STACK_BYTES 48u
#define SLEEP_FRAME_BYTES 24u /* schedule(), in which a task sleeps */
#define DEEP_STACK_BYTES 768u
#define OWN_MIDDLE_CPUS 64u /* up to so many CPUs tasks have the middle part of their own */
#define OWN_DEEP_TASKS 128u /* the first so many tasks have more of it there, so that they seldom borrow */
#define OWN_DEEP_BYTES 512u

#define KICKS_MAX 8u
#define TASK_LINES 8u  /* of the host: a task and most of what the fair class keeps of it */
#define WIDE_CPUS 512u /* from here on what comes next is fetched ahead; below, it gains nothing */
/* From here on tasks begin with a line of the host and the arena grows by blocks for large pages, which is a tenth more
 * memory a task. Smaller machines keep to the 1 KiB a task that is promised (test_memory). */
#define ROOMY_CPUS 2048u

/* Ticks of an idle CPU that change nothing but its age are left out (elide.c). */
#define ELIDE_LOG 16u
#define ELIDE_TICKS 256u /* at a time */

struct tick_elision {
    bool active;                    /* ticks are being skipped */
    bool catching_up;               /* a skipped tick is really run, up to now */
    uint8_t nlog;                   /* > ELIDE_LOG: too long to be plain */
    uint64_t next;                  /* index of the first tick that has not been applied */
    uint64_t until;                 /* index of the tick that will be real again */
    sim_time started;               /* when the measured tick came */
    sim_time cost;                  /* of a plain tick, without the idle exit */
    sim_time offset;                /* from its interrupt to the update of the accounts, without the idle exit */
    uint32_t irqs, moves, switches; /* counters when it came */
    uint64_t log[ELIDE_LOG];        /* parts, see part_make() */
};

/* State of a balancing pass (balance.c). */
struct balance_work {
    const struct wb_balance_ops *ops;
    struct wb_rq *dst, *src;
    struct wb_balance b;
    uint32_t total;
    uint8_t result; /* enum wb_balance_result */
    bool found, have_dst;
};
/* Of the passes under way, of which there are few at a time: a reserve. */
struct balance_pool {
    struct balance_work *work; /* [room] */
    uint32_t room, fresh;
    uint32_t nfree;
    uint16_t *free; /* [room] stack of numbers that were given back */
};

/* What a context spins for, and who does so after it: the ring of the lock. */
struct spinning {
    struct wb_spinlock *lock;
    struct wb_exec *next;
};

/* Looks at a sleeping lock that are under way as one segment (looks.c). */
struct looking {
    const struct wb_sleeplock *lock; /* NULL: none */
    sim_time one;                    /* how long a look takes */
    struct wb_cpu *next;             /* who looks, too, at any lock */
};

enum by_parts {
    BY_PARTS_SPEED = 1,  /* it computes at another speed than SPEED_FULL */
    BY_PARTS_LOGGED = 2, /* a tick is measured (elide.c) */
    BY_PARTS_BIG = 4     /* the first flush of a system call may have to take the one kernel lock */
};

struct wb_cpu {
    cpu_id id;
    uint8_t mode;       /* enum cpu_mode */
    bool check_resched; /* returning from an interrupt */
    bool nohz_kick;     /* asked to balance for the idle CPUs */
    bool ipi_arrived;   /* a reschedule interrupt is pending that came as an interrupt */
    union {             /* what makes a flush more than a moment that passes, all at one glance */
        struct {
            uint16_t pending;  /* 1 << enum irq_vector */
            uint16_t softirqs; /* 1 << enum wb_softirq */
            uint32_t by_parts; /* enum by_parts: segments are worked off part by part */
        };
        uint32_t interrupts; /* pending or softirqs */
        uint64_t attention;
    };
    uint32_t nkick; /* CPUs to kick once the current work is flushed (KICK_ALL) */
    cpu_id kick[KICKS_MAX];
    uint32_t speed; /* of computing, of SPEED_FULL */
    uint32_t pace;  /* of the segment under way */
    struct wb_exec *ctx;
    sim_time since; /* when its segment, spin or halt was last accounted */
    uint64_t ev;    /* counter of the valid EV_SEGMENT, 0 = none */
    uint64_t evno, ipino;
    struct wb_rq rq;
    struct wb_seg seg[3]; /* by enum wb_level */
    struct wb_exec irq, softirq;
    struct spinning spin[3]; /* by enum wb_level: who is interrupted goes on spinning */
    uint64_t irq_stack[IRQ_STACK_BYTES / 8], softirq_stack[IRQ_STACK_BYTES / 8];
    struct wb_exec *irq_below, *softirq_below;
    struct wb_task *switch_prev; /* whom the switch under way leaves */
    bool prev_queued;            /* it stays runnable */
    uint32_t active_mm;          /* address space that is loaded */
    struct wb_task *timer_due, *start_due;
    sim_time noise_due;
    sim_time idle_since;
    uint32_t moves, irqs, switches; /* migrations from or to it; interrupts and softirqs taken; modulo 2^32 */
    uint32_t rq_line;               /* the runqueue's data as others see it (lock line is in rq.lock) */
    uint32_t list_line;             /* wake list head */
    uint32_t flag_line;             /* need_resched and the polling mark of whom it runs (struct thread_info) */
    struct wb_stream idle_stream;
    struct tick_elision elide;
    uint16_t balance[3];   /* by enum wb_level: number of its pass under way */
    uint64_t smt_load_ppm; /* what it puts on its siblings */
    sim_time acct[WB_CAT_N];
    struct looking look;
};

struct kernel_profile {
    char name[64];
    uint32_t hz, nr_cpus;
    bool preempt; /* CONFIG_PREEMPT */
    bool smp;
    bool switch_unlocked; /* the runqueue lock is dropped for the switch (ia64, arm) */
    bool ttwu_pi_lock;    /* 3.0+: placement without the runqueue lock */
    bool timer_jiffies;   /* sleeps end on a tick */
    bool one_rq_lock;     /* all runqueues are under one lock (sched_lock) */
    bool big_lock;        /* system calls run under one lock */
    bool locks_to_caller; /* profiles count time in lock functions to who called them */
    bool idle_poll;       /* idle CPUs do not halt */
    bool idle_watches;    /* the idle loop watches need_resched until it halts */
    uint8_t spin_kind;
    uint32_t call_lines, switch_lines; /* footprint.c */
    uint32_t call_bytes, switch_bytes; /* the same in bytes of this machine */
    uint32_t footprint_first;          /* region of task 0, those of the others follow */
    sim_time tick_phase_step;
};

struct noise_source {
    cpu_id cpu; /* WB_NO_CPU: any, drawn each time */
    struct wb_dist gap, cost;
    struct wb_stream stream;
};

/* Counters that are only ever added to, and their values when the warm-up ended. */
struct totals {
    uint64_t wakeups, wakeups_remote, wakeups_sync, preemptions, ipis, idle_entries, ticks;
    uint64_t balance_calls[WB_BAL_N], balance_pulled[WB_BAL_N];
    uint64_t migrations[WB_MIG_N];
    sim_time idle_waiting;
};
struct baseline {
    struct totals t;
    sim_time at;
    uint64_t *depth, *rule;
    sim_time *acct; /* [WB_CAT_N * ncpus]; a reserve: most CPUs had spent nothing on most categories */
};

struct declared_region {
    uint64_t bytes;
    const char *name;
};

struct pair_record {
    task_id a, b;
    uint32_t measure; /* id of the pair in sim/measure */
    bool together;
};

struct instance_record {
    uint32_t expect, done;
    uint16_t stack; /* own part of its tasks' stacks */
    bool background;
};

/* Lent parts of stacks, of which those in use are touched. */
struct stack_pool {
    uint8_t *mem;  /* parts * bytes */
    uint8_t *free; /* list; the link is in the part */
    uint32_t parts, fresh, bytes;
};
/* What a middle part begins with: where the deep part is, less what lies below it; valid while used > own +
 * WB_STACK_MIDDLE. */
struct middle_head {
    uint8_t *deep;
};

struct idle_while_waiting {      /* work conservation, measured */
    uint32_t idle_cpus, waiting; /* now: CPUs idle; tasks runnable and not running */
    sim_time since;
    sim_time total; /* CPU time that was idle while at least as many tasks waited */
};

struct fn_row {
    const char *name;
    uint64_t part; /* of a segment: one path cost in its own category */
    sim_time base; /* of fn_time[], when the warm-up ended */
};

struct wb_sim {
    sim_time now;
    /* Nobody may run past this entry: the earliest event that somebody else cares for. */
    struct evq_entry limit; /* run-ahead stops here (until, or catch-up) */
    struct evq q;
    struct evq_entry at;      /* place of the last event in the total order of events; see sim_at() */
    struct wb_cpu *passed;    /* whose segment has passed inline since, or NULL */
    struct evq_entry horizon; /* the earliest of limit, queue and ticks, while horizon_valid */
    bool horizon_valid;       /* then nobody catches up, and work may run inline at all */
    sim_time passes_before;   /* work that ends before may run inline: horizon.time while that is valid, or 0 */
    uint8_t catching_up;      /* CPUs that run a skipped tick */
    uint32_t until_look;      /* steps until somebody looks up from the work */
    bool wide;                /* WIDE_CPUS or more: what events meet is in no cache (look_ahead) */
    bool hole;                /* the top of q is being handled and will be replaced by the next push */
    struct tickring ticks;
    struct wb_cpu *cpu;
    struct wb_cpu *lookers;   /* list of CPUs that look at a sleeping lock */
    struct wb_cpumask behind; /* CPUs whose skipped ticks have not been applied (elide.active) */
    uint32_t rq_lines;        /* rq_line of CPU c is this + c, so that scans go through them side by side */
    uint32_t ncpus, ntasks, tasks_room, noise_n;
    struct wb_task **task;
    const struct wb_policy_ops *ops;
    struct wb_policy_ops merged;                 /* base with an overlay on top */
    const struct wb_policy_ops *base_ops, *over; /* over: the plug-in, or NULL */
    void *over_data;
    uint32_t own_rules;        /* where the plug-in's rules begin */
    size_t over_rq, over_task; /* offsets of its areas behind the base's */
    void *policy;
    const struct wb_machine *machine;
    const struct wb_topology *topo;
    struct wb_machine_state *hw;
    struct kernel_profile k;
    sim_time tick_ps;
    uint64_t jiffies_start;
    struct fn_row fn[WB_FN_MAX];
    sim_time fn_time[WB_FN_MAX];
    uint32_t nfn;
    struct arena arena;
    struct wb_measure *m;
    struct wb_trace trace;
    bool tracing, no_inline, no_elide, audit, stopped, finished;
    struct wb_task_totals *totals; /* [ntasks], or NULL */
    struct noise_source *noise;
    struct pair_record *pair;
    uint32_t npairs, pairs_room;
    struct {
        const char *name;
        void *p;
    } shared[8]; /* wb_sim_shared() */
    struct instance_record *instance;
    uint32_t ninstances, instances_left;
    uint64_t seed;
    uint32_t replication;
    sim_time end, warmup;
    struct stack_pool deep, middle;
    uint32_t next_pid, next_mm;
    uint64_t popped, stale, inlined;
    uint64_t *rule_count;
    struct idle_while_waiting iww;
    struct wb_sleeplock_counts locks;
    struct totals count; /* but migrations and idle_waiting, which are counted elsewhere */
    struct balance_pool balances;
    struct invariants invariants;
    struct wb_latency *wake_latency, *run_delay;
    uint64_t migrations[WB_MIG_N];
    uint64_t *mig_depth; /* by domain depth, [ndepths] */
    uint32_t ndepths;
    uint32_t series_switches, series_migrations, series_wakeups;
    void (*softirq_push[WB_SOFTIRQ_N])(struct wb_exec *x);
    const struct wb_registry *reg;
    void **ipc_state;
    const struct wb_config *cfg;
    bool stop_when_done;
    sim_time start_spread, jiffies_phase;
    sim_time first_start; /* of any task; measuring begins there when there is no warm-up */
    struct baseline *base;
    uint32_t *audit_scratch;    /* [2 * ncpus] */
    struct kept *kept;          /* names made for the result */
    struct wb_spinlock big;     /* when k.big_lock */
    struct wb_spinlock all_rqs; /* when k.one_rq_lock */
    struct declared_region *region;
    uint32_t nregions, regions_room, nlines, nlines_later, npages, page_bytes;
    size_t arena_before_tasks; /* of the arena, when the first workload was built */
    const struct wb_cpumask *all_cpus;
    const struct wb_cpumask **masks; /* those of several CPUs that are kept */
    uint32_t *mask_slot;             /* hash table of their numbers */
    uint32_t nmasks, masks_room, mask_slots;
    struct wb_cpumask *one_cpu; /* [ncpus] of single CPUs, once wanted */
    char **names;
    uint32_t nnames, names_room;
    struct wb_run_options opt;
    struct wb_result *result;
    /* ---- looking up from the work (until_look): no event, so no byte depends on it ---- */
    uint32_t looks_at_this_time;
    sim_time looked_at;
    bool broken_off;
    struct wb_task *stalled; /* goes on without time passing */
};

#define LOOK_UP 0xffffu                                     /* steps between two looks: some milliseconds */
#define STALLED_LOOKS 300u                                  /* twenty million steps at one picosecond are no progress */
void sim_look_up(struct wb_sim *s, const struct wb_cpu *c); /* c: where a task may be stuck, or NULL */
/* One more step. true: it is time to look up, and the count begins again. */
static inline bool step_looks_up(struct wb_sim *s)
{
    if (WB_LIKELY(s->until_look)) {
        s->until_look--;
        return false;
    }
    s->until_look = LOOK_UP;
    return true;
}
/* One more step of who cannot look up. false: it is time to, so it goes back to who can. */
static inline bool step_goes_on(struct wb_sim *s)
{
    if (WB_UNLIKELY(!s->until_look)) return false;
    s->until_look--;
    return true;
}

/* ---- cpu.c: stepping and segments ---- */
void cpu_run(struct wb_cpu *c, struct wb_sim *s);         /* step until it waits */
void cpu_segment_end(struct wb_sim *s, struct wb_cpu *c); /* its EV_SEGMENT is due */
void cpu_pause(struct wb_sim *s, struct wb_cpu *c);       /* account what runs, forget the event */
void cpu_repace(struct wb_sim *s, struct wb_cpu *c);      /* its speed has changed */
/* Computing speed of a CPU whose siblings load the core that much, of SPEED_FULL. */
uint32_t cpu_speed(const struct wb_sim *s, cpu_id c, uint64_t others_ppm);
void cpu_set_load(struct wb_sim *s, struct wb_cpu *c, uint64_t load_ppm); /* tell the siblings */
/* What is left of its task's segment shall take `left`, which is less than it would; runs: its clock does. */
void cpu_shorten(struct wb_sim *s, struct wb_cpu *c, bool runs, sim_time left);
void exec_init(struct wb_exec *x, struct wb_sim *s, void *stack, size_t own);
int stacks_init(struct wb_sim *s);   /* all tasks exist; 0 or -1 */
void stacks_dense(struct wb_sim *s); /* large pages for them */
void stacks_free(struct wb_sim *s);
size_t stacks_touched(const struct wb_sim *s);
/* The frame at an offset of the stack. */
static inline struct wb_frame *stack_at(const struct wb_exec *x, uint32_t offset)
{
    uint8_t *part = (uint8_t *)(uintptr_t)x + x->stack;
    if (offset >= x->own) {
        part = x->lent;
        if (WB_UNLIKELY(offset >= x->own + WB_STACK_MIDDLE))
            part = ((const struct middle_head *)(const void *)(part + x->own))[-1].deep;
    }
    return (struct wb_frame *)(void *)(part + offset);
}
/* Under which label a context's time in lock functions is kept. */
static inline uint16_t spin_label(const struct wb_exec *x, uint16_t own)
{
    return x->sim->k.locks_to_caller ? x->caller : own;
}
void acct_add(struct wb_sim *s, struct wb_cpu *c, uint16_t fn, enum wb_cat cat, sim_time dur);
void charge_part(struct wb_exec *x, uint64_t part); /* of more than no time; see part_make() */
void seg_clear(struct wb_cpu *c, enum wb_level level);
void seg_set_stage(struct wb_exec *x, uint32_t stage); /* what was charged is paced by the stage at that offset */
void seg_shelve(struct wb_sim *s, struct wb_seg *g);   /* who charged it does not go on at once */

/* ---- irq.c ---- */
void irq_raise(struct wb_sim *s, struct wb_cpu *c, enum irq_vector v);
bool irq_enter(struct wb_sim *s, struct wb_cpu *c); /* deliver the most urgent pending one */
void irq_leave(struct wb_sim *s, struct wb_cpu *c);
bool softirq_enter(struct wb_sim *s, struct wb_cpu *c);
void softirq_leave(struct wb_sim *s, struct wb_cpu *c);
void ipi_send(struct wb_exec *x, cpu_id to);

/* Send what wb_resched() asked for: the work before it has to pass first. */
void kick_send(struct wb_exec *x);
#define KICK_ALL(x, f) \
    do { \
        if (cpu_of(x)->nkick) { \
            WB_FLUSH(x, f); \
            kick_send(x); \
        } \
    } while (0)

/* ---- idle.c ---- */
void idle_task_init(struct wb_sim *s, struct wb_cpu *c);
void idle_halt(struct wb_sim *s, struct wb_cpu *c);
/* How long leaving idle takes at `when`, having been idle since `since`. */
sim_time idle_exit_time(const struct wb_sim *s, sim_time since, sim_time when, struct wb_stream *rng);
void idle_wake(struct wb_sim *s, struct wb_cpu *c); /* leave CPU_HALT: charge the exit, step later */
void idle_polled(struct wb_sim *s, struct wb_cpu *c);
void iww_update(struct wb_sim *s, int idle_delta, int waiting_delta);

/* ---- looks.c ---- */
/* How many looks at l, each of which counts as at_once, to charge for; looks_end() when they have passed. */
uint32_t looks_begin(struct wb_exec *x, const struct wb_sleeplock *l, uint32_t at_once);
void looks_end(struct wb_exec *x);
/* The next look of who looks shall be one of its own, because it may see: that l, or who is first in its queue of
 * spinners, has changed; that t has left its CPU; that somebody wants CPU c. */
void looks_cut(struct wb_sim *s, const struct wb_sleeplock *l, const struct wb_task *t, const struct wb_cpu *c);
static inline void looks_lock_changes(struct wb_sim *s, const struct wb_sleeplock *l)
{
    if (WB_UNLIKELY(s->lookers)) looks_cut(s, l, NULL, NULL);
}
static inline void looks_owner_leaves(struct wb_sim *s, const struct wb_task *t)
{
    if (WB_UNLIKELY(s->lookers)) looks_cut(s, NULL, t, NULL);
}
static inline void looks_cpu_needed(struct wb_sim *s, const struct wb_cpu *c)
{
    if (WB_UNLIKELY(s->lookers)) looks_cut(s, NULL, NULL, c);
}

/* ---- others ---- */
void push_first(struct wb_exec *x);                  /* what a new task runs before its program */
void task_gone(struct wb_sim *s, struct wb_task *t); /* it has exited and left its CPU */
void big_lock_push(struct wb_exec *x);    /* biglock.c: take the kernel lock that entering the kernel has asked for */
void charge_return(struct wb_exec *x);    /* to user mode, of a task that is `switched` */
void schedule_preempt(struct wb_exec *x); /* schedule() that does not put a sleeper to sleep (PREEMPT_ACTIVE) */
void engine_stop(struct wb_sim *s);       /* nothing happens any more */
void by_parts_set(struct wb_cpu *c, enum by_parts why, bool is);
void event_post(struct wb_sim *s, sim_time when, enum event_class class, uint32_t entity, uint64_t counter);
void horizon_renew(struct wb_sim *s); /* passes_before is known again, unless nothing may run inline */
bool event_may_run_to(struct wb_sim *s, sim_time end, cpu_id cpu, uint64_t counter);
void lock_granted(struct wb_sim *s, struct wb_cpu *c);
void balances_init(struct wb_sim *s);
void balances_free(struct wb_sim *s);
size_t balances_touched(const struct wb_sim *s);
/* pushes a frame; x->ret = tasks moved */
void balance_run(struct wb_exec *x, enum wb_balance_kind kind, cpu_id on_behalf);
void stopper_init(struct wb_sim *s, struct wb_cpu *c);
void tick_handler(struct wb_exec *x); /* pushes the frame of the timer interrupt */
void resched_handler(struct wb_exec *x);
void timer_handler(struct wb_exec *x);
void start_handler(struct wb_exec *x);
void noise_handler(struct wb_exec *x);
void noise_event(struct wb_sim *s, uint32_t source);
void wake_new_task(struct wb_exec *x, struct wb_task *t, uint32_t flags); /* pushes a frame */
void tick_catch_up(struct wb_sim *s, struct wb_cpu *c); /* apply skipped ticks up to now; its next tick is real */
void tick_measure(struct wb_sim *s, struct wb_cpu *c);  /* a tick comes */
void elide_log(struct wb_cpu *c, uint16_t fn, enum wb_cat cat, sim_time dur);
void tick_consider_skip(struct wb_sim *s, struct wb_cpu *c);
uint64_t jiffies_at(const struct wb_sim *s, sim_time t);
void tick_event(struct wb_sim *s, cpu_id cpu);
void sched_softirq(struct wb_exec *x);
void migrate_first(struct wb_exec *x); /* pushes a frame: move the first task of rq->migrate_list */
void task_set_cpu(struct wb_sim *s, struct wb_task *t, cpu_id to); /* bookkeeping of a migration, not the queues */
void count_migration(struct wb_exec *x, struct wb_task *t, cpu_id from, enum wb_migration kind, wb_rule rule);
/* Make t runnable on the locked rq: enqueue, preemption check, statistics. wake: enum wb_wake_flags for the check. */
void task_activate(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t enqueue, uint32_t wake);
void wake_list_add(struct wb_exec *x, struct wb_task *t, cpu_id cpu);
void memory_mark(struct wb_sim *s); /* tasks of workloads come now */
void *table_grow(void *old, uint32_t *room, size_t size);
struct wb_task *task_alloc(struct wb_sim *s, const struct wb_task_spec *spec);
int pair_state(struct wb_sim *s, struct wb_task *t);
const char *sim_intern(struct wb_sim *s, const char *text, uint32_t *id);
int profile_read(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d);
void profile_costs(struct wb_sim *s);
int result_init(struct wb_sim *s);
void result_free(struct wb_sim *s);
size_t result_touched(const struct wb_sim *s); /* of the reserve */
struct wb_metric_def *result_keep(struct wb_sim *s, const struct wb_metric_def *def, const char *name);
int memory_layout(struct wb_sim *s);

/* ---- footprint.c ---- */
void footprint_declare(struct wb_sim *s);
/* At the end of a system call of x's task; when the switch to `next` is paid. */
void footprint_call(struct wb_exec *x);
void footprint_switch(struct wb_exec *x, const struct wb_task *next);
void cpu_settle(struct wb_sim *s, struct wb_cpu *c); /* account what has passed, go on */
void result_baseline(struct wb_sim *s);              /* the warm-up ends */
void tick_catch_up_all(struct wb_sim *s);
void sim_audit(struct wb_sim *s);
/* Index in ops->rules of what a hook returned. */
static inline wb_rule rule_of(const struct wb_sim *s, wb_rule r)
{
    return r & 0x8000u ? (wb_rule)(s->own_rules + (r & 0x7fffu)) : r;
}
void drive_build_tasks(struct wb_sim *s); /* drive.c: of s->opt.drive */
/* ---- overlay.c: the policy in force, a base with perhaps a plug-in laid over it ---- */
int policy_find(struct wb_sim *s, const struct wb_run_options *opt, struct wb_diag *d);
int policy_init(struct wb_sim *s, struct wb_diag *d);
void policy_task_init(struct wb_sim *s, struct wb_task *t);

/* ---- parts of a segment: duration:46 | fn:10 | spare:3 | cat:5 ---- */
enum { PART_SHIFT = 18, PART_FN_SHIFT = 8 };
#define PART_MAX (1ull << 46)
static inline uint64_t part_make(sim_time dur, uint16_t fn, enum wb_cat cat)
{
    return dur << PART_SHIFT | (uint64_t)fn << PART_FN_SHIFT | (uint64_t)cat;
}
static inline sim_time part_dur(uint64_t p)
{
    return p >> PART_SHIFT;
}
static inline uint16_t part_fn(uint64_t p)
{
    return (uint16_t)(p >> PART_FN_SHIFT & 0x3ff);
}
static inline enum wb_cat part_cat(uint64_t p)
{
    return (enum wb_cat)(p & 0x1f);
}

static inline struct wb_cpu *cpu_of(const struct wb_exec *x)
{
    WB_DEBUG_CHECK(x->seg == &x->sim->cpu[x->cpu].seg[x->level], "a context that does not run, of cpu %u", x->cpu);
    return x->seg->cpu;
}
/* The earliest event that anybody waits for may be another one now. */
static inline void horizon_forget(struct wb_sim *s)
{
    s->horizon_valid = false;
    s->passes_before = 0;
}
/* Place of what is being done in the total order of events. */
static inline struct evq_entry sim_at(const struct wb_sim *s)
{
    if (!s->passed) return s->at;
    return (struct evq_entry){.time = s->now, .key = evq_key(EV_SEGMENT, s->passed->id, s->passed->evno + 1)};
}
/* On a wide machine: what will soon be read, which the host's caches have not got. The statement that does nothing
 * keeps gcc 12 from taking functions that only fetch for such as have no effect, and their calls away. */
static inline void fetch_lines(const void *from, uint32_t lines)
{
    __asm__ volatile("");
    for (uint32_t i = 0; i < lines; i++) __builtin_prefetch((const uint8_t *)from + (size_t)i * ARENA_LINE);
}
static inline struct spinning *spin_of(const struct wb_exec *x)
{
    return &cpu_of(x)->spin[x->level];
}
/* The runqueue of a CPU whose lock is taken next: that applies skipped ticks (spinlock.c), before anything but its
 * `cpu` is read. */
static inline struct wb_rq *rq_to_lock(struct wb_sim *s, cpu_id cpu)
{
    return &s->cpu[cpu].rq;
}
static inline struct wb_cpu *rq_cpu(struct wb_sim *s, const struct wb_rq *rq)
{
    return &s->cpu[rq->cpu];
}
WB_COLD void sim_trace(struct wb_sim *s, const struct wb_trace_record *r);
#define TRACE(s, ...) \
    do { \
        if (WB_UNLIKELY((s)->tracing)) sim_trace(s, &(struct wb_trace_record){.when = (s)->now, __VA_ARGS__}); \
    } while (0)

#endif
