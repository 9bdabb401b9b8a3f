/*
 * exec.h - how simulated code runs: contexts, frames, charges.
 *
 * A *context* (struct wb_exec) is one thread of control: a task, or a CPU's softirq or hardirq level. It owns a small
 * stack of *frames*. A frame is a resumable state machine: a header, its locals, and a step function written with the
 * WB_ macros below:
 *
 *     struct ping { struct wb_frame h; struct wb_pipe *out; uint32_t left; };
 *     static enum wb_ret ping_step(struct wb_exec *x, void *frame)
 *     {
 *         struct ping *f = frame;
 *         WB_BEGIN(f);
 *         while (f->left-- > 0) {
 *             wb_charge(x, WB_FN_USER, WB_CAT_USER, 2 * WB_US);  // work since the last interaction piles up ...
 *             WB_CALL(x, f, pipe_write(x, f->out, 1));            // ... and is worked off before the next one
 *         }
 *         WB_END();
 *     }
 *
 * C locals do not survive a macro that may yield (WB_FLUSH, WB_CALL, WB_SPIN_LOCK, WB_TOUCH ...): keep state in the
 * frame. No switch statement around such a macro.
 *
 * Time. wb_charge() adds work to the context's segment and takes no time by itself. WB_FLUSH lets that time pass.
 * Everything that other CPUs can see (a lock, a line, a wakeup, a cache touch, a queue) must happen at its own time:
 * flush first. The macros below that touch shared state flush by themselves. State changed under a lock needs no
 * flush of its own: the unlock flushes.
 *
 * A flush either advances the clock inline, when no pending event comes before its end, or posts the segment's end as
 * an event. Both give the same bytes (a test compares them). Interrupts extend a segment; an SMT sibling or a shared
 * bus stretches it.
 */
#ifndef WAKEBAL_EXEC_H
#define WAKEBAL_EXEC_H

#include "wakebal/base.h"
#include "wakebal/machine.h"

struct wb_sim;
struct wb_task;
struct wb_cpu;
struct wb_exec;

/* Where time goes. Per CPU the categories sum to elapsed time exactly. */
enum wb_cat {
    WB_CAT_USER,    /* user code */
    WB_CAT_SYSCALL, /* kernel paths on behalf of the task */
    WB_CAT_COPY,    /* copying bytes that are in reach (cache hits) */
    WB_CAT_REFILL,  /* waiting for caches to be filled */
    WB_CAT_LINE,    /* waiting for a contended line */
    WB_CAT_LOCK,    /* spinning for a held lock */
    WB_CAT_SCHED,   /* schedule() and the switch */
    WB_CAT_WAKEUP,  /* try_to_wake_up and what it calls */
    WB_CAT_BALANCE, /* load balancing of any kind */
    WB_CAT_TICK,    /* timer tick */
    WB_CAT_IRQ,     /* other interrupts, sending IPIs */
    WB_CAT_SOFTIRQ,
    WB_CAT_NOISE, /* background interrupts named by the scenario */
    WB_CAT_IDLE_ENTRY,
    WB_CAT_IDLE_EXIT,
    WB_CAT_IDLE,
    WB_CAT_N
};
extern const char *const wb_cat_name[WB_CAT_N];

/* Function labels, for --profile and for path costs (kernel.path.NAME). Those of sim/ are fixed; models get theirs
 * from wb_fn_id(). */
enum wb_fn {
    WB_FN_USER,
    WB_FN_IDLE,
    WB_FN_SYSCALL_ENTRY,
    WB_FN_SYSCALL_EXIT,
    WB_FN_SCHEDULE,
    WB_FN_CONTEXT_SWITCH,
    WB_FN_SWITCH_MM,
    WB_FN_TRY_TO_WAKE_UP,
    WB_FN_ENQUEUE_TASK,
    WB_FN_DEQUEUE_TASK,
    WB_FN_SELECT_TASK_RQ,
    WB_FN_SCAN_CPU,
    WB_FN_RESCHED_TASK,
    WB_FN_SEND_IPI,
    WB_FN_RESCHED_IRQ,
    WB_FN_WAKE_UP,
    WB_FN_PREPARE_TO_WAIT,
    WB_FN_FINISH_WAIT,
    WB_FN_TIMER_TICK,
    WB_FN_TIMER_IRQ,
    WB_FN_DO_SOFTIRQ,
    WB_FN_LOAD_BALANCE,
    WB_FN_SCAN_RQ,
    WB_FN_MOVE_TASK,
    WB_FN_MIGRATION_THREAD,
    WB_FN_SPIN_LOCK,
    WB_FN_SPIN_UNLOCK,
    WB_FN_MUTEX_LOCK,
    WB_FN_MUTEX_UNLOCK,
    WB_FN_MUTEX_SLOWPATH,
    WB_FN_IDLE_ENTRY,
    WB_FN_IDLE_EXIT,
    WB_FN_IRQ_ENTRY,
    WB_FN_COPY_USER,
    WB_FN_MEMORY,
    WB_FN_LINE,
    WB_FN_NANOSLEEP,
    WB_FN_FORK,
    WB_FN_EXEC,
    WB_FN_EXIT,
    WB_FN_YIELD,
    WB_FN_NOISE,
    WB_FN_SET_AFFINITY,
    WB_FN_TICK_STOP,
    WB_FN_TICK_RESTART,
    WB_FN_FPU_SAVE,
    WB_FN_EXIT_LOOP,
    WB_FN_SIM_N
};

/* Intern a label at build time; costs come from kernel.path.NAME when that key exists, else `def_ps`. At most
 * WB_FN_MAX labels. */
#define WB_FN_MAX 512
uint16_t wb_fn_id(struct wb_sim *s, const char *name, enum wb_cat cat, sim_time def_ps);
const char *wb_fn_name(const struct wb_sim *s, uint16_t fn);

enum wb_ret {
    WB_AGAIN,  /* go on: a frame was pushed, or just step me again */
    WB_RUN,    /* let the charged time pass, then step me again */
    WB_DONE,   /* pop me */
    WB_PARK,   /* this CPU waits for a lock grant; somebody else resumes it */
    WB_SWITCH, /* this CPU's current task has changed */
    WB_HALT    /* idle: nothing to do until an interrupt */
};

typedef enum wb_ret (*wb_step_fn)(struct wb_exec *x, void *frame);

struct wb_frame {
    wb_step_fn step;
    uint16_t prev; /* offset of the caller's frame */
    uint16_t line; /* where to go on */
    uint16_t size; /* bytes, header included */
    uint16_t note; /* the frame's own; 0 at first */
};

enum wb_level { WB_LEVEL_TASK, WB_LEVEL_SOFTIRQ, WB_LEVEL_HARDIRQ };

/* Work is booked on the accounts when it is charged, since it nearly always passes before anybody looks at them. What
 * waits is taken off again: */
enum wb_seg_state {
    WB_SEG_OPEN,    /* its parts are booked; more may be charged */
    WB_SEG_SHELVED, /* they are not; the next charge or the start comes after an interrupt, a spin, a preemption */
    WB_SEG_STARTED  /* its clock runs (or is paused by an interrupt); parts are booked as they pass */
};
/* A part packs (duration:46 | fn:10 | cat:5 spare 3) in one word. */
#define WB_SEG_PARTS 8
struct wb_seg {
    union {
        struct {
            uint8_t nparts;
            uint8_t state; /* enum wb_seg_state */
        };
        uint16_t filled; /* both at one glance: 0 is open and empty, below WB_SEG_PARTS open with room */
    };
    bool joined;        /* counted on the shared servers of its stage */
    uint16_t stage;     /* offset in the stack of the struct wb_stage that paces it + 1, or 0 */
    struct wb_cpu *cpu; /* whose it is */
    sim_time sum;       /* of the parts, at full speed */
    uint64_t part[WB_SEG_PARTS];
};

/* The stack is in three parts: `own` bytes that hold what it usually has while it waits for a CPU; beyond them a middle
 * part, lent while it is in a call that may sleep, and beyond that a deep one, lent while it needs it. So thousands
 * that wait or sleep cost little, and nobody counts the deepest chain of calls. A frame lies in one part. */
/* Kernels with one lock around system calls (kernel.big_lock): entering asks for it, the first flush after that takes
 * it, sleeping and returning to user mode give it up. */
enum wb_big { WB_BIG_NONE, WB_BIG_FREE, WB_BIG_WANTED, WB_BIG_HELD };

struct wb_exec {
    struct wb_sim *sim;
    struct wb_seg *seg;   /* of the CPU, for its level: work is worked off or put aside before a task leaves */
    struct wb_task *task; /* current: for interrupts the interrupted task */
    uint8_t *lent;        /* the middle part less `own`, so that offsets go on; valid while used > own */
    int64_t ret;          /* result of the last call */
    cpu_id cpu;           /* valid while running */
    uint16_t top;         /* offset of the running frame, or WB_STACK_EMPTY */
    uint16_t used;        /* bytes in use */
    uint16_t own;         /* bytes of the own part */
    uint16_t stack;       /* where that begins, from this struct on */
    uint16_t stack_peak;
    uint16_t caller;     /* the function that was charged last, lock functions aside */
    uint8_t irq_off;     /* > 0: interrupts stay pending */
    uint8_t preempt_off; /* preempt count */
    uint8_t bh_off;      /* softirqs wait */
    uint8_t level;       /* enum wb_level */
    uint8_t user;        /* in user mode: interrupts return to a resched point */
    uint8_t big;         /* enum wb_big: the one kernel lock */
    bool spin_granted;   /* the lock it spins for is its */
};
_Static_assert(sizeof(struct wb_exec) == 64, "there is one per task");
#define WB_STACK_EMPTY UINT16_MAX
#define WB_STACK_MIDDLE 136u /* bytes: a call of an IPC kind that sleeps (pipe_call, wait_call), and schedule() */

/* Push a zeroed frame of `size` bytes that runs `step`. Returns it for filling in. The step runs when the caller
 * yields. */
void *wb_push(struct wb_exec *x, wb_step_fn step, size_t size);
/* Where a frame of `size` bytes, a multiple of eight, goes when the part of the stack in use has no room: in the
 * next. */
void *wb_push_part(struct wb_exec *x, uint32_t size);
/* The same as wb_push() for a size that the compiler knows: usually the part in use has room. */
static inline void *wb_push_known(struct wb_exec *x, wb_step_fn step, size_t bytes)
{
    uint32_t used = x->used, size = (uint32_t)((bytes + 7) & ~(size_t)7), end = used + size;
    void *at = (end <= x->own ? (uint8_t *)x + x->stack : x->lent) + used;
    if (WB_UNLIKELY(end > x->own && (used <= x->own || end > x->own + WB_STACK_MIDDLE))) at = wb_push_part(x, size);
    struct wb_frame *f = (struct wb_frame *)at;
    __builtin_memset(f + 1, 0, size - sizeof *f);
    *f = (struct wb_frame){.step = step, .prev = x->top, .size = (uint16_t)size};
    x->top = x->used;
    x->used = (uint16_t)(x->used + size);
    if (x->used > x->stack_peak) x->stack_peak = x->used;
    return f;
}
#define WB_PUSH(x, step, type) ((type *)wb_push_known((x), (step), sizeof(type)))

/* Add `dur` ps of work under a label. */
void wb_charge(struct wb_exec *x, uint16_t fn, enum wb_cat cat, sim_time dur);
/* Add the path cost of a label (kernel.path.NAME) to its own category. */
void wb_charge_fn(struct wb_exec *x, uint16_t fn);
/* n times the path cost. */
void wb_charge_fn_n(struct wb_exec *x, uint16_t fn, uint32_t n);
/* n times the path cost, in another category: what the same function costs in another context. */
void wb_charge_fn_as(struct wb_exec *x, uint16_t fn, uint32_t n, enum wb_cat cat);

sim_time wb_now(const struct wb_exec *x);
/* Work charged since the last flush, at full speed. */
sim_time wb_charged(const struct wb_exec *x);

/* Engine side of the macros. wb_flush_now(): true = done inline, go on; false = return WB_RUN. */
bool wb_flush_now(struct wb_exec *x);
/* Step what lies above `frame` until that is on top again: WB_DONE, go on. Anything else: yield it; the main loop goes
 * on where this stopped. Same order of steps as if each had been yielded. */
enum wb_ret wb_call_now(struct wb_exec *x, const void *frame);
/* Something comes before the next step of this context, an interrupt for example: who does a call's first steps without
 * a frame asks, and pushes one then. */
bool wb_step_waits(struct wb_exec *x);

#define WB_BEGIN(f) \
    switch ((f)->h.line) { \
    case 0:
#define WB_END() \
    } \
    return WB_DONE
/* Remember this line, return `r`, go on here. */
#define WB_YIELD_(f, r) \
    do { \
        (f)->h.line = (uint16_t)__LINE__; \
        return (r); \
    case __LINE__:; \
    } while (0)
#define WB_FLUSH(x, f) \
    do { \
        (f)->h.line = (uint16_t)__LINE__; \
        if (!wb_flush_now(x)) return WB_RUN; \
        __attribute__((fallthrough)); \
    case __LINE__:; \
    } while (0)
/* Call a function that pushes a frame; x->ret holds its result afterwards. */
#define WB_CALL(x, f, call) \
    do { \
        (f)->h.line = (uint16_t)__LINE__; \
        call; \
        WB_STEP_CALLED_(x, f); \
        __attribute__((fallthrough)); \
    case __LINE__:; \
    } while (0)
/* The same of a function that does without a frame as long as it need not wait. It returns WB_DONE, or what to yield:
 * of wb_call_now() when it has pushed one. */
#define WB_CALL_NOW(x, f, call) \
    do { \
        (f)->h.line = (uint16_t)__LINE__; \
        { \
            enum wb_ret called_ = (call); \
            if (WB_UNLIKELY(called_ != WB_DONE)) return called_; \
        } \
        __attribute__((fallthrough)); \
    case __LINE__:; \
    } while (0)
/* Where such a frame begins instead of at its beginning: a number beyond all lines. */
#define WB_RESUME(n) \
    __attribute__((fallthrough)); \
    case (n):
/* What was pushed runs at once; only when it has to wait does the caller yield. */
#define WB_STEP_CALLED_(x, f) \
    do { \
        enum wb_ret called_ = wb_call_now((x), (f)); \
        if (WB_UNLIKELY(called_ != WB_DONE)) return called_; \
    } while (0)
#define WB_RETURN(x, value) \
    do { \
        (x)->ret = (value); \
        return WB_DONE; \
    } while (0)

/* ---- interrupts and preemption ---- */
static inline void wb_irq_disable(struct wb_exec *x)
{
    x->irq_off++;
}
void wb_irq_enable(struct wb_exec *x); /* pending interrupts are taken at the next yield or flush */
static inline void wb_preempt_disable(struct wb_exec *x)
{
    x->preempt_off++;
}
static inline void wb_preempt_enable(struct wb_exec *x)
{
    x->preempt_off--;
}

/* ---- spinlocks: a line with a holder ---- */
enum wb_spin_kind { WB_SPIN_TAS, WB_SPIN_TICKET, WB_SPIN_QUEUED };
struct wb_spinlock {
    union {
        struct wb_exec *last;   /* who spins for it, in order of arrival: a ring, this is its end; NULL: nobody */
        struct wb_spinlock *as; /* alias: it is only a name for that one, which its holder may take again */
    };
    uint32_t line;    /* machine line id */
    uint16_t holder;  /* CPU + 1; 0: free */
    uint8_t depth;    /* how often its holder has taken it again by an alias */
    uint8_t kind : 4; /* enum wb_spin_kind */
    bool alias : 1;
    bool xchg : 1;   /* released by a locked instruction, not by a store (FreeBSD's spin mutexes) */
    bool behind : 1; /* of a runqueue whose CPU has left ticks out: they are made up before it is taken */
};
_Static_assert(sizeof(struct wb_spinlock) == 16, "every queue has one");
static inline bool wb_spin_is_held(const struct wb_spinlock *l)
{
    return l->holder != 0;
}
void wb_spin_init(struct wb_sim *s, struct wb_spinlock *l); /* of the kind that kernel.spinlock says */
void wb_spin_init_kind(struct wb_sim *s, struct wb_spinlock *l, enum wb_spin_kind kind);
void wb_spin_alias(struct wb_spinlock *l, struct wb_spinlock *as); /* l is another name of `as` from now on */
/* Try now: true = ours (cost charged). false = queued; the caller must return WB_PARK and owns the lock when
 * resumed. */
bool wb_spin_take(struct wb_exec *x, struct wb_spinlock *l);
bool wb_spin_try(struct wb_exec *x, struct wb_spinlock *l);  /* trylock: never queues; pays the line */
void wb_spin_drop(struct wb_exec *x, struct wb_spinlock *l); /* flush first (the macro does) */
#define WB_SPIN_LOCK(x, f, l) \
    do { \
        WB_FLUSH(x, f); \
        WB_SPIN_LOCK_NOFLUSH_(x, f, l); \
    } while (0)
#define WB_SPIN_UNLOCK(x, f, l) \
    do { \
        WB_FLUSH(x, f); \
        wb_spin_drop((x), (l)); \
    } while (0)

/* ---- memory ---- */
/* Plain access to a contended line at the current time (flush first); charges wait and transfer. kind: enum wb_access
 * of machine.h */
void wb_line_use(struct wb_exec *x, uint32_t line, int kind, uint16_t fn);
/* The same without a flush: the access comes after what has been charged, but it is served now, before accesses that
 * others make meanwhile. For a few nanoseconds at most. */
void wb_line_soon(struct wb_exec *x, uint32_t line, int kind, uint16_t fn);
#define WB_LINE(x, f, line, kind, fn) \
    do { \
        WB_FLUSH(x, f); \
        wb_line_use((x), (line), (kind), (fn)); \
    } while (0)

/* Touch or copy regions: state effects now; time in reach is charged, what must cross shared servers is worked off by
 * a frame that these push (then they return true and the caller yields WB_AGAIN). kind and access: machine.h. Spans:
 * WB_SPAN(region, offset, bytes). */
bool wb_touch_start(struct wb_exec *x, const struct wb_span *span, int pattern, int access, uint16_t fn);
bool wb_copy_start(struct wb_exec *x, const struct wb_span *src, const struct wb_span *dst, uint16_t fn);
#define WB_SPAN(r, o, n) (&(struct wb_span){.region = (r), .offset = (uint32_t)(o), .bytes = (uint32_t)(n)})
#define WB_TOUCH(x, f, span, pattern, access, fn) \
    do { \
        WB_FLUSH(x, f); \
        WB_FRAMED_(x, f, wb_touch_start((x), (span), (pattern), (access), (fn))); \
    } while (0)
#define WB_COPY(x, f, src, dst, fn) \
    do { \
        WB_FLUSH(x, f); \
        WB_FRAMED_(x, f, wb_copy_start((x), (src), (dst), (fn))); \
    } while (0)

/* Two resume points on one source line would collide: these take a line number of their own. */
#define WB_LINE2_ ((uint16_t)(__LINE__ + 20000))
#define WB_SPIN_LOCK_NOFLUSH_(x, f, l) \
    do { \
        (f)->h.line = WB_LINE2_; \
        if (!wb_spin_take((x), (l))) return WB_PARK; \
        __attribute__((fallthrough)); \
    case __LINE__ + 20000:; \
    } while (0)
/* Call something that may or may not need a frame. */
#define WB_FRAMED_(x, f, call) \
    do { \
        (f)->h.line = WB_LINE2_; \
        if (call) WB_STEP_CALLED_(x, f); \
        __attribute__((fallthrough)); \
    case __LINE__ + 20000:; \
    } while (0)

#endif
