/*
 * policy.h - scheduler policies: the decisions. The plug-in ABI for schedulers.
 *
 * sim/kernel has the mechanism (locks, queues of events, the steps of schedule() and try_to_wake_up(), the balancing
 * drivers with their durations); a policy answers questions. A policy sees the machine through kernel.h accessors and
 * its own per-run, per-runqueue and per-task areas, which the engine allocates zeroed. It never allocates, blocks or
 * lets time pass: it *charges* (exec.h) what a decision costs.
 *
 * Every decision returns a rule id: an index into ops->rules, which says in words why. Rule ids are counted, recorded
 * and exported.
 *
 * An ops table may be partial when it is laid over another one (`--policy ./my.so`): hooks that are NULL fall through
 * to the base.
 */
#ifndef WAKEBAL_POLICY_H
#define WAKEBAL_POLICY_H

#include "wakebal/base.h"
#include "wakebal/config.h"
#include "wakebal/cpumask.h"
#include "wakebal/exec.h"
#include "wakebal/keys.h"

#define WB_POLICY_ABI 3u

struct wb_rq;
struct wb_sd;
struct wb_task;

typedef uint16_t wb_rule; /* index into wb_policy_ops.rules */

/* A plug-in that is laid over a built-in policy has rules of its own: it returns WB_OWN_RULE(i) for entry i of its
 * own table. A hook that only passes on what the base decided returns the base's rule as it is. */
#define WB_OWN_RULE(i) ((wb_rule)(0x8000u | (i)))

enum wb_wake_flags {
    WB_WF_SYNC = 1 << 0,
    WB_WF_CURRENT_CPU = 1 << 1,
    WB_WF_FORK = 1 << 2,
    WB_WF_EXEC = 1 << 3,
    WB_WF_IRQ = 1 << 4,      /* issued in interrupt context */
    WB_WF_MIGRATED = 1 << 5, /* the wakee was moved by this wakeup */
};
enum wb_enqueue_flags {
    WB_ENQ_WAKEUP = 1 << 0,
    WB_ENQ_NEW = 1 << 1,        /* first time after fork */
    WB_ENQ_MIGRATE = 1 << 2,    /* attached by the balancer, exec or affinity */
    WB_ENQ_RESTORE = 1 << 3,    /* put back after a property change */
    WB_ENQ_MIGRATED = 1 << 4,   /* a wakeup that changed CPU */
    WB_ENQ_SYNC_LOCAL = 1 << 5, /* sync wakeup on the waker's CPU */
    WB_ENQ_DELAYED = 1 << 6,    /* the task is still queued: take its delayed dequeue back */
};
enum wb_dequeue_flags {
    WB_DEQ_SLEEP = 1 << 0,
    WB_DEQ_MIGRATE = 1 << 1,
    WB_DEQ_SAVE = 1 << 2,
    WB_DEQ_EXIT = 1 << 3,
    WB_DEQ_DELAYED = 1 << 4, /* finish a delayed dequeue */
};

/* A wakeup to place. */
struct wb_wakeup {
    struct wb_task *task;
    cpu_id this_cpu; /* where the wakeup call executes */
    cpu_id prev_cpu; /* where the task last ran */
    uint32_t flags;  /* enum wb_wake_flags */
};
/* A placement decision. */
struct wb_choice {
    cpu_id cpu;
    wb_rule rule;
    uint32_t scanned; /* CPUs looked at (statistics; charge their cost yourself) */
};

enum wb_balance_kind {
    WB_BAL_PERIODIC_IDLE,
    WB_BAL_PERIODIC_BUSY,
    WB_BAL_NEWIDLE,
    WB_BAL_NOHZ,
    WB_BAL_ACTIVE,
    WB_BAL_N
};
enum wb_balance_result { WB_BAL_NONE, WB_BAL_PULLED, WB_BAL_FAILED, WB_BAL_REDO, WB_BAL_KICK_ACTIVE, WB_BAL_STOP };

/* One pass over one domain, filled step by step. Lives in the driver's frame. */
struct wb_balance {
    enum wb_balance_kind kind;
    cpu_id this_cpu;   /* on whose behalf (nohz: not the CPU that executes) */
    cpu_id exec_cpu;   /* CPU that executes the pass */
    struct wb_sd *sd;  /* domain of this_cpu */
    cpu_id src;        /* busiest runqueue */
    cpu_id dst;        /* normally this_cpu */
    int64_t imbalance; /* policy's own unit: tasks or load */
    uint32_t moved;    /* tasks moved in this pass */
    uint32_t loops;    /* tasks looked at */
    uint32_t redo;     /* how often REDO was asked */
    uint32_t flags;    /* policy's own */
    wb_rule rule;
    sim_time started; /* when this pass began: cost = wb_now() - started */
    /* set by find(): found, but not worth the locks (2.6.10 load_balance: nr_running <= 1); straight to done() */
    bool skip_pull;
    /* the driver copies these two from the ops before begin(), which may change them (rules by version) */
    bool lock_find;
    bool unlock_find;
    uint64_t cookie[3]; /* policy's own */
};

/* The steps of a balancing kind. The driver (kernel/balance.c) is: while (next) { find; lock both; pull; unlock; done
 * }. */
struct wb_balance_ops {
    /* May this kind start at all on `cpu`? (newidle: gates such as avg_idle; periodic: any domain due.) Charges
     * nothing. */
    bool (*begin)(struct wb_exec *x, struct wb_balance *b);
    /* Next domain to work on in b->sd (NULL on entry of the first call); false = finished. */
    bool (*next)(struct wb_exec *x, struct wb_balance *b);
    /* Find a source. true: b->src (and dst, imbalance, rule) are set. Charge scans with wb_scan_rq(). */
    bool (*find)(struct wb_exec *x, struct wb_balance *b);
    /* Both runqueues are locked: move tasks with wb_move_task(). b->moved counts them. */
    void (*pull)(struct wb_exec *x, struct wb_balance *b);
    /* Learn from the pass (intervals, failures). found = what find() said. */
    enum wb_balance_result (*done)(struct wb_exec *x, struct wb_balance *b, bool found);
    /* After the last pass. */
    void (*end)(struct wb_exec *x, struct wb_balance *b);
    bool lock_find; /* the destination's lock is held during find() too (2.6.10 .. 2.6.11 load_balance) */
    /* newidle: schedule()'s lock is dropped for find() and taken again for pull() (2.6.22+ re-lock, 5.x) */
    bool unlock_find;
};

struct wb_policy_ops {
    uint32_t abi;     /* WB_POLICY_ABI */
    uint32_t size;    /* sizeof(struct wb_policy_ops) */
    const char *name; /* scheduler family: kernel.scheduler = "o1" */
    const char *help;
    const char *const *rules; /* rule texts; rules[0] = "none" */
    size_t nrules;
    const struct wb_key *keys; /* policy.* rows, `only` = name */
    size_t nkeys;
    size_t sim_bytes, rq_bytes, task_bytes; /* private areas */

    /* Read configuration; runqueues and domains exist. Errors of meaning go to d; returns 0 or -1. */
    int (*init)(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d);
    void (*task_init)(struct wb_sim *s, struct wb_task *t); /* nice etc. are set */

    /* placement */
    struct wb_choice (*place_wakeup)(struct wb_exec *x, const struct wb_wakeup *w);
    struct wb_choice (*place_fork)(struct wb_exec *x, struct wb_task *child);
    struct wb_choice (*place_exec)(struct wb_exec *x, struct wb_task *t); /* cpu == current: stay */

    /* life of a task; fork is called in the parent's context, before the child is queued */
    void (*fork)(struct wb_exec *x, struct wb_task *parent, struct wb_task *child);
    void (*exit)(struct wb_exec *x, struct wb_task *t);

    /* queue; the runqueue's lock is held */
    void (*enqueue)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
    /* false: the task stays queued although it sleeps (delayed dequeue); on_rq then remains true and `delayed` is set
     * by the engine */
    bool (*dequeue)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
    void (*put_prev)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
    /* Task to run, or NULL = idle. A policy that finds a delayed task there finishes its dequeue with
     * wb_finish_dequeue() and goes on. */
    struct wb_task *(*pick)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
    void (*yield)(struct wb_exec *x, struct wb_rq *rq);
    /* t was moved (task_cpu changes from->to) while not running; clocks and vruntime are rebased here. */
    void (*migrate)(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to);

    /* Tick on rq's CPU (hardirq, rq lock held by the driver). Set need_resched with wb_resched(). May ask for the
     * balance softirq. */
    void (*tick)(struct wb_exec *x, struct wb_rq *rq);
    /* How many of this CPU's next ticks would do nothing but `tick_closed`? 0 = none may be skipped. Pure. */
    uint64_t (*tick_idle_for)(struct wb_sim *s, struct wb_rq *rq);
    /* Apply n skipped ticks, the last of which was at `last`, in closed form. */
    void (*tick_closed)(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last);

    /* Should `t`, just queued on rq, preempt rq's current task? flags: enum wb_wake_flags. Returns the rule; *preempt
     * says. */
    bool (*check_preempt)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule);
    /* A task was first picked after waking, or is switched out (interactivity and load averages). Optional. */
    void (*switched)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev, struct wb_task *next);

    /* balancing by kind; any may be NULL = this policy has none */
    const struct wb_balance_ops *balance_newidle, *balance_periodic, *balance_nohz, *balance_active;

    /* Remote wakeup by queueing on the target (5.8 ttwu_queue): true = put it on the target's wake list. Optional. */
    bool (*queue_remote)(struct wb_exec *x, const struct wb_wakeup *w, cpu_id cpu);
    /* After domains are built: group powers / capacities, per-CPU shared ids. Optional. */
    void (*domains_built)(struct wb_sim *s);
    /* The CPU goes idle / leaves idle; tickless: return true to stop the tick. Optional. */
    bool (*idle_enter)(struct wb_exec *x, struct wb_rq *rq);
    void (*idle_exit)(struct wb_exec *x, struct wb_rq *rq);
    /* nice, policy class or affinity of a queued or sleeping task changed. Optional. */
    void (*task_changed)(struct wb_exec *x, struct wb_task *t);
    /* Text for a debugger or `explain`: state of a task or runqueue into buf. Optional. */
    void (*describe)(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n);
    /* A recording says who runs next: make queued task t (NULL: nobody) the running one, whatever the order would pick;
     * after put_prev. Optional: without it the policy cannot be driven (drive.h). */
    void (*set_next)(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t);
};

/* A plug-in laid over a base: the base's hooks (to fall back on), and the plug-in's own areas, which lie apart from
 * the base's. */
const struct wb_policy_ops *wb_base_policy(const struct wb_sim *s);
void *wb_plugin_data(struct wb_sim *s);
void *wb_plugin_rq(struct wb_sim *s, const struct wb_rq *rq);
void *wb_plugin_task(struct wb_sim *s, const struct wb_task *t);

/* What a plug-in exports: `const struct wb_policy_ops *wb_policy_plugin(void);` */
typedef const struct wb_policy_ops *(*wb_policy_entry)(void);

#endif
