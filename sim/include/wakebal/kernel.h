/*
 * kernel.h - the kernel skeleton: tasks, runqueues, wait queues, wakeups, domains, locks that sleep, timers.
 *
 * The life of a wakeup, by file: waitqueue.c (who is woken) -> wakeup.c (try_to_wake_up: lock, place, activate) ->
 * the policy's place_wakeup/enqueue/check_preempt -> resched.c (need_resched, IPI) -> irq.c (delivery, idle exit) ->
 * schedule.c (pick, switch).
 *
 * Functions named wb_* that "push a frame" are called through WB_CALL (exec.h). Everything else is immediate.
 */
#ifndef WAKEBAL_KERNEL_H
#define WAKEBAL_KERNEL_H

#include "wakebal/base.h"
#include "wakebal/config.h"
#include "wakebal/cpumask.h"
#include "wakebal/exec.h"
#include "wakebal/machine.h"
#include "wakebal/policy.h"
#include "wakebal/rng.h"

/* ------------------------------------------------------------------ tasks */
enum wb_task_state { WB_RUNNING, WB_INTERRUPTIBLE, WB_UNINTERRUPTIBLE, WB_DEAD, WB_NEW };
enum wb_sched_class { WB_CLASS_NORMAL, WB_CLASS_BATCH, WB_CLASS_IDLE, WB_CLASS_FIFO, WB_CLASS_STOP, WB_CLASS_SWAPPER };

struct wb_task {
    struct wb_exec x; /* its context */
    task_id id;
    uint32_t pid, tgid;
    uint8_t state; /* enum wb_task_state */
    uint8_t klass; /* enum wb_sched_class */
    int8_t nice;
    uint8_t rt_prio;
    bool on_rq;   /* queued (or delayed) on rq of `cpu`, or running */
    bool on_cpu;  /* executing, or not switched out completely yet */
    bool delayed; /* asleep but still queued (6.12) */
    bool waking;  /* a waker has it (TASK_WAKING) */
    /* One bit each: tasks are many. */
    bool noninteractive : 1; /* sleeps do not count for interactivity (TASK_NONINTERACTIVE) */
    bool kthread : 1;
    bool woken_by_irq : 1;
    bool in_migrate_list : 1, migrate_exec : 1;
    bool shares_files : 1; /* its table of open files belongs to several threads: calls count references on files */
    bool exiting : 1;      /* in do_exit() (PF_EXITING): its wakeups do not count as sync from 4.16 on */
    bool switched : 1;     /* switched to since it was in user mode: its user registers are in memory */
    bool killed : 1;       /* a fatal signal is pending: sleeps that signals may end return -EINTR */
    uint16_t owner;        /* workload instance */
    cpu_id cpu;            /* task_cpu(): last or present CPU */
    uint32_t mm;           /* address space: threads of a process share it; 0 = kernel */
    uint32_t pid_line;     /* wb_task_pid_line() */
    uint32_t name;         /* string id */
    uint32_t pair;         /* co-location partner record + 1, or 0 */
    uint32_t nr_returns;   /* to user mode from system calls; a priority lent for a sleep ends there (BSD) */
    uint32_t timer_no;     /* the valid sleep timer */
    task_id migrate_next;  /* the next on the migration thread's list; not wq_next: who waits there may be woken */
    /* CPUs in 16 bits: where it was set to sleep from, a balancer's last move, its sleep timer, the wish to the
     * migration thread. */
    uint16_t wake_cpu, migrated_from, timer_cpu, migrate_to;
    const struct wb_cpumask *allowed;
    sim_time queued_at; /* when it last became runnable and waited (run delay) */
    sim_time woken_at;  /* when try_to_wake_up made it runnable; 0 = delivered */
    sim_time migrated_at;
    struct wb_task *wq_next; /* scratch lists of the engine */
    void *policy;            /* ops->task_bytes */
};
_Static_assert(sizeof(struct wb_task) <= 176, "there are very many");
_Static_assert(WB_CPUS_MAX < UINT16_MAX, "a CPU in 16 bits, and none");
/* Lines of its process: struct pid, and the next one struct cred. Made when somebody first asks. Run time. */
uint32_t wb_task_pid_line(struct wb_task *t);

/* What a task came to since it started; kept when wb_run_options.task_totals asks for it, else NULL. */
struct wb_task_totals {
    sim_time run_start;  /* when it last got or lost a CPU: one that is on_cpu has run since */
    sim_time run_total;  /* time on CPU, up to its last switch */
    sim_time wait_total; /* time runnable but not running */
    uint32_t switches, migrations, wakeups;
    task_id last_waker;
};
const struct wb_task_totals *wb_task_totals(const struct wb_task *t);

/* ------------------------------------------------------------------ runqueues */
struct wb_rq {
    cpu_id cpu;
    uint32_t nr_running; /* queued + running, without idle; delayed ones as the policy counts */
    struct wb_task *curr, *idle;
    bool need_resched; /* of curr */
    /* of curr: on the way to user mode; the policy sets it (TIF_NEED_RESCHED_LAZY, 6.13+) */
    bool need_resched_lazy;
    bool active_balance;  /* the migration thread has been asked */
    bool balance_softirq; /* raised */
    bool polling;         /* idle and watching need_resched */
    bool newidle;         /* inside newidle balancing */
    cpu_id push_cpu;
    struct wb_spinlock lock;
    sim_time last_tick;           /* time of the last tick (also a skipped one, once caught up) */
    uint64_t ticks;               /* how many ticks this CPU has had = its jiffies view */
    sim_time idle_stamp;          /* when it last went idle */
    struct wb_task *stopper;      /* migration thread */
    struct wb_task *wake_list;    /* queued remote wakeups, newest first */
    struct wb_task *migrate_list; /* tasks the migration thread has to move (affinity, exec) */
    struct wb_sd *sd;             /* lowest domain, or NULL */
    void *policy;                 /* ops->rq_bytes */
};

/* The runqueue of a CPU with skipped ticks applied. Cheap; always use it. */
struct wb_rq *wb_rq(struct wb_sim *s, cpu_id cpu);
void *wb_policy_data(struct wb_sim *s);
cpu_id wb_ncpus(const struct wb_sim *s);
static inline bool wb_idle_cpu(const struct wb_rq *rq)
{
    return rq->curr == rq->idle;
}
struct wb_task *wb_task_of(struct wb_sim *s, task_id id);
uint32_t wb_ntasks(const struct wb_sim *s);
const char *wb_task_name(const struct wb_task *t);
sim_time wb_sim_now(const struct wb_sim *s);
uint64_t wb_jiffies(const struct wb_sim *s); /* never stop, whoever ticks */
sim_time wb_tick_ps(const struct wb_sim *s); /* 1/HZ */
uint32_t wb_hz(const struct wb_sim *s);
const struct wb_topology *wb_topo(const struct wb_sim *s);
const struct wb_machine *wb_machine_of(const struct wb_sim *s);
/* Arena memory of this run; only while building. */
void *wb_sim_alloc(struct wb_sim *s, size_t bytes);
struct wb_stream wb_sim_stream(struct wb_sim *s, uint64_t entity, uint32_t purpose);
/* Local clock that policies measure with: simulated now of the context. */

/* Set need_resched on rq->curr; kicks the CPU when it is another one (IPI, or the polled flag). rq lock held. */
void wb_resched(struct wb_exec *x, struct wb_rq *rq);
/* Charge a look at another CPU's runqueue line (balancers and scans): transfer by distance, line becomes shared. */
void wb_scan_rq(struct wb_exec *x, cpu_id cpu);
/* The same for all CPUs of a set, ascending, but for the own one: byte for byte as one by one. */
void wb_scan_rqs(struct wb_exec *x, const struct wb_cpumask *m);
/* The same for placement (idle_cpu() and the like): path cost select_idle_cpu and the line. */
void wb_scan_idle(struct wb_exec *x, cpu_id cpu);
/* Move one queued, not running task between locked runqueues: dequeue, migrate, enqueue, preemption check, charge,
 * count. */
void wb_move_task(struct wb_exec *x, struct wb_balance *b, struct wb_task *t, wb_rule rule);
/* For policies with one queue for several CPUs, in pick(): a queued task of another CPU is about to run on rq's. Its
 * CPU becomes rq's and the move is counted; calls ops->migrate. The policy keeps nr_running of both; both are under
 * the lock that the caller holds (kernel.runqueue_lock = "global"). */
void wb_adopt_task(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, wb_rule rule);
/* Finish the dequeue of a delayed task that pick() met. */
void wb_finish_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t);
/* Ask for the balance softirq on this CPU (at the end of the tick). */
void wb_raise_balance(struct wb_exec *x);
/* Wake the idle load balancer: IPI that runs balance_nohz on `cpu`. */
void wb_kick_nohz(struct wb_exec *x, cpu_id cpu);
/* Stop / restart the tick of an idle CPU (tickless). */
void wb_tick_stop(struct wb_sim *s, cpu_id cpu);
void wb_tick_start(struct wb_sim *s, cpu_id cpu);

/* ------------------------------------------------------------------ tasks: frames */
/* Each pushes a frame. wb_schedule: give up the CPU if need_resched or the state says so. */
void wb_schedule(struct wb_exec *x);
/* Block: x->task->state was set by the caller (under its lock); schedules. */
/* Wake `t` if its state is one of `states` (bit mask of 1 << enum wb_task_state); x->ret = 1 if it was asleep. */
void wb_try_to_wake_up(struct wb_exec *x, struct wb_task *t, uint32_t states, uint32_t flags);
#define WB_ASLEEP ((1u << WB_INTERRUPTIBLE) | (1u << WB_UNINTERRUPTIBLE))
void wb_sleep_until(struct wb_exec *x, sim_time when); /* nanosleep: rounds to the kernel's timer resolution */
void wb_yield(struct wb_exec *x);
void wb_fork(struct wb_exec *x, struct wb_task *child); /* child was built with the workload; starts now */
void wb_exec_image(struct wb_exec *x);                  /* exec(): the exec balancing hook */
void wb_exit(struct wb_exec *x);                        /* never returns */
void wb_set_affinity(struct wb_exec *x, struct wb_task *t, const struct wb_cpumask *mask); /* moves it if needed */

/* Frame. A fatal signal (flush first): t->killed, and t wakes if it sleeps interruptibly; calls that signals may end
 * then return -EINTR, and its program ends it. */
void wb_kill(struct wb_exec *x, struct wb_task *t);

/* System calls: bracket what a task does in the kernel. Exit checks need_resched like a return to user mode. */
#define WB_SYSCALL_ENTER(x) \
    do { \
        wb_charge_fn((x), WB_FN_SYSCALL_ENTRY); \
        (x)->user = 0; \
        if (WB_UNLIKELY((x)->big == WB_BIG_FREE)) (x)->big = WB_BIG_WANTED; \
    } while (0)
void wb_syscall_leave(struct wb_exec *x);                           /* pushes a frame */
enum wb_ret wb_syscall_leave_now(struct wb_exec *x, const void *f); /* for WB_CALL_NOW */
#define WB_SYSCALL_EXIT(x, f) WB_CALL_NOW(x, f, wb_syscall_leave_now((x), (f)))
/* User work, preemptible at any time. */
#define WB_USER(x, f, dur) \
    do { \
        (x)->user = 1; \
        wb_charge((x), WB_FN_USER, WB_CAT_USER, (dur)); \
        WB_FLUSH(x, f); \
    } while (0)
bool wb_need_resched(const struct wb_exec *x);

/* ------------------------------------------------------------------ wait queues */
struct wb_wait_entry {
    struct wb_task *task;
    struct wb_wait_entry *next, *prev; /* NULL after the last; before the first comes the last */
    bool exclusive, queued, autoremove;
    uint8_t wake_flags_or : 7; /* added to the waker's flags */
    bool hooked : 1;           /* it is the head of a struct wb_wait_hook */
};
/* Custom wake function (poll, epoll): called under the queue's lock instead of waking `task`; may redirect. */
struct wb_wait_hook {
    struct wb_wait_entry e;
    struct wb_task *(*func)(struct wb_exec *x, struct wb_wait_hook *h, uint32_t *flags);
};
struct wb_waitq {
    struct wb_spinlock lock;
    struct wb_wait_entry *first;
};
void wb_waitq_init(struct wb_sim *s, struct wb_waitq *q);
static inline bool wb_waitq_active(const struct wb_waitq *q)
{
    return q->first != NULL;
}
/* Frames. prepare: lock, queue the entry (exclusive ones at the tail, others at the head), set state, unlock. */
void wb_prepare_to_wait(struct wb_exec *x, struct wb_waitq *q, struct wb_wait_entry *e, bool exclusive, int state);
void wb_finish_wait(struct wb_exec *x, struct wb_waitq *q, struct wb_wait_entry *e); /* seldom one */
/* Wake all non-exclusive and nr_exclusive exclusive sleepers (0 = all). x->ret = how many were asleep. */
void wb_wake_up(struct wb_exec *x, struct wb_waitq *q, uint32_t states, int nr_exclusive, uint32_t flags);

/* ------------------------------------------------------------------ locks that sleep */
enum wb_sleeplock_kind {
    WB_LOCK_SEM,           /* semaphore: sleeps at once; a running task may steal */
    WB_LOCK_MUTEX,         /* mutex without spinning (2.6.16 .. 2.6.29): sleeps at once; stealing */
    WB_LOCK_MUTEX_SPIN,    /* spins while the owner runs (2.6.30 .. 4.9), queued spinners */
    WB_LOCK_MUTEX_HANDOFF, /* the same, and hand-off to a starved waiter (4.10+) */
    WB_LOCK_FAIR           /* direct hand-off */
};
extern const char *const wb_sleeplock_kind_name[]; /* "semaphore" ..., NULL-terminated, in enum order */
struct wb_sleeplock {
    struct wb_task *owner;
    struct wb_spinlock wait_lock;
    struct wb_wait_entry *first;      /* sleepers */
    struct wb_wait_entry *spin_first; /* optimistic spinners, in order of arrival */
    uint32_t line;
    int32_t count;      /* the kernels' counter: semaphore and mutex, 1 = free */
    int32_t sleepers;   /* semaphore: as the field of that name in struct semaphore */
    uint16_t spin_fn;   /* label of one look at the owner */
    uint8_t kind;       /* enum wb_sleeplock_kind */
    bool sync_wake : 1; /* its wake carries the sync hint */
    bool handoff : 1;   /* a waiter has starved: next unlock hands over */
};
_Static_assert(sizeof(struct wb_sleeplock) == 56, "every pipe has one");
/* What all sleeping locks of the run came to, modulo 2^32. */
struct wb_sleeplock_counts {
    uint32_t acquired, contended, slept, stolen, spun, handed;
};
const struct wb_sleeplock_counts *wb_sleeplock_counts(const struct wb_sim *s);
void wb_sleeplock_init(struct wb_sim *s, struct wb_sleeplock *l, enum wb_sleeplock_kind kind, bool sync_wake);
/* Frame. x->ret = how often it slept. */
void wb_sleeplock_lock(struct wb_exec *x, struct wb_sleeplock *l);
void wb_sleeplock_unlock(struct wb_exec *x, struct wb_sleeplock *l); /* frame */
/* The same for WB_CALL_NOW, from a step of frame f: a mutex that nobody contends for takes no frame. */
enum wb_ret wb_sleeplock_lock_now(struct wb_exec *x, const void *f, struct wb_sleeplock *l);
enum wb_ret wb_sleeplock_unlock_now(struct wb_exec *x, const void *f, struct wb_sleeplock *l);
bool wb_sleeplock_try(struct wb_exec *x, struct wb_sleeplock *l); /* immediate; flush first */

/* ------------------------------------------------------------------ softirqs */
/* Run `step` in softirq context of this CPU, after the current hardirq or when bh is enabled again. One slot per
 * vector. */
enum wb_softirq { WB_SOFTIRQ_TIMER, WB_SOFTIRQ_NET_TX, WB_SOFTIRQ_NET_RX, WB_SOFTIRQ_SCHED, WB_SOFTIRQ_N };
void wb_softirq_handler(struct wb_sim *s, enum wb_softirq nr, void (*push)(struct wb_exec *x));
void wb_raise_softirq(struct wb_exec *x, enum wb_softirq nr);
static inline void wb_bh_disable(struct wb_exec *x)
{
    x->bh_off++;
}
void wb_bh_enable(struct wb_exec *x); /* pending softirqs run at the next yield or flush */

/* ------------------------------------------------------------------ sched domains */
enum wb_sd_flag {
    WB_SD_LOAD_BALANCE = 1 << 0,
    WB_SD_NEWIDLE = 1 << 1,
    WB_SD_EXEC = 1 << 2,
    WB_SD_FORK = 1 << 3,
    WB_SD_WAKE_IDLE = 1 << 4,
    WB_SD_WAKE_AFFINE = 1 << 5,
    WB_SD_WAKE_BALANCE = 1 << 6,
    WB_SD_SHARE_CPUPOWER = 1 << 7,
    WB_SD_SHARE_PKG = 1 << 8,
    WB_SD_SERIALIZE = 1 << 9,
    WB_SD_BALANCE_WAKE = 1 << 10,
    WB_SD_PREFER_SIBLING = 1 << 11,
    WB_SD_NUMA = 1 << 12,
    WB_SD_ASYM_PACKING = 1 << 13,
    WB_SD_ASYM_CAPACITY = 1 << 14,
    WB_SD_CLUSTER = 1 << 15,
    WB_SD_OVERLAP = 1 << 16,
    WB_SD_POWERSAVINGS = 1 << 17
};
extern const char *const wb_sd_flag_name[]; /* in bit order, NULL-terminated */

struct wb_sg { /* a group, shared by all CPUs of the span */
    struct wb_cpumask mask;
    cpu_id first;
    uint32_t weight;
    uint32_t power;     /* cpu_power / capacity in the policy's unit */
    uint32_t imb_numa;  /* spare for policies */
    uint64_t cookie[2]; /* policy's own shared state (next_update ...) */
};
struct wb_sd_level {  /* parameters of a level, from the kernel profile */
    const char *name; /* SIBLING, MC, CPU, NODE ... */
    uint32_t flags;
    sim_time min_interval, max_interval, initial_interval, cache_hot_time;
    uint32_t busy_factor, imbalance_pct, cache_nice_tries, per_cpu_gain;
    uint8_t busy_idx, idle_idx, newidle_idx, wake_idx, forkexec_idx;
    uint32_t smt_gain;
    uint32_t rank; /* in kernel.domains: lower levels are lower, on CPUs that lack some of them, too */
};
struct wb_sd_stats { /* as /proc/schedstat, modulo 2^32 as there: [0] idle, [1] busy, [2] newly idle */
    uint32_t lb_count[3], lb_balanced[3], lb_failed[3], lb_imbalance[3], lb_gained[3], lb_hot_gained[3], lb_nobusyq[3],
        lb_nobusyg[3];
    uint32_t alb_count, alb_failed, alb_pushed;
    uint32_t ttwu_wake_remote, ttwu_move_affine, ttwu_move_balance;
};
struct wb_sd { /* one per CPU and level */
    const struct wb_sd_level *level;
    uint32_t flags, span_weight;
    const struct wb_cpumask *span;
    struct wb_sg *groups;    /* ring in order of first CPU, shared by the span */
    uint32_t ngroups, local; /* index of this CPU's group; ring order starts there */
    struct wb_sd *parent, *child;
    uint8_t depth; /* 0 = lowest */
    /* policy's own: how often newly idle balancing has paid */
    uint16_t newidle_call, newidle_ratio;
    uint32_t newidle_success, nr_balance_failed;
    /* dynamic; times in jiffies unless said */
    uint64_t last_balance, balance_interval_ms;
    sim_time max_newidle_cost, next_decay;
    uint64_t cookie[2];
    struct wb_sd_stats *stats; /* shared by the CPUs of the level */
};
#define WB_FOR_EACH_SD(sd, rq) for (struct wb_sd *sd = (rq)->sd; sd; sd = sd->parent)
/* i-th group in ring order from the local one. */
static inline struct wb_sg *wb_sd_group(const struct wb_sd *sd, uint32_t i)
{
    uint32_t k = sd->local + i;
    return &sd->groups[k >= sd->ngroups ? k - sd->ngroups : k];
}

/* Rows of the kernel.* keys that sim/kernel reads. */
const struct wb_key *wb_kernel_keys(size_t *n);
const struct wb_key *wb_domain_keys(size_t *n); /* kernel.domains.* and their switches */

/* ------------------------------------------------------------------ measuring hooks */
enum wb_migration {
    WB_MIG_WAKE,
    WB_MIG_NEWIDLE,
    WB_MIG_PERIODIC,
    WB_MIG_NOHZ,
    WB_MIG_ACTIVE,
    WB_MIG_EXEC,
    WB_MIG_FORK,
    WB_MIG_AFFINITY,
    WB_MIG_PICK,
    WB_MIG_N
};
extern const char *const wb_mig_name[WB_MIG_N];
/* Declare two tasks a pair whose co-location is measured. */
void wb_pair_tasks(struct wb_sim *s, struct wb_task *a, struct wb_task *b);

#endif
