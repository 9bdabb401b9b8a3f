/* conform_inner.h - what the files of conform share: the rebuilt kernel, and what its history tells. */
#ifndef WB_VALIDATE_CONFORM_INNER_H
#define WB_VALIDATE_CONFORM_INNER_H

#include "conform.h"
#include "fair.h"
#include "wakebal/drive.h"

/* What became of a wakeup, found ahead of time. */
struct conform_outcome {
    bool found;
    bool remote;    /* queued on its target by the target itself */
    uint16_t cpu;   /* where it was put */
    size_t decided; /* index of the event by which the decision was made */
    size_t before;  /* index + 1 of the waker's wakeup before this one, since it was switched to */
    bool exiting;   /* the waker is: its next switch is its last */
};

/* A task's history in this section. */
struct conform_past {
    bool born; /* forked in this section: its counts are whole */
    bool recent_known;
    bool met;            /* has run in this recording: its averages have a history */
    bool pushed;         /* a migration thread has moved it: pushed by balancing, or its affinity has changed */
    bool may_delay;      /* slept while others were queued on its CPU */
    uint64_t idle_epoch; /* of that CPU then */
    uint64_t left_ns;    /* when it was switched out; 0: never */
    uint16_t going;      /* 1 + the other CPU on which its waker is queueing it; 0: nobody is */
};

struct conform {
    struct conform_result *r;
    const struct conform_options *o;
    const struct trace *t;
    struct wb_sim *s;
    struct fair_sim *f;
    const struct wb_config *cfg;
    struct wb_scenario *scenario;
    struct conform_outcome *outcome; /* [nevents] of waking events */
    struct conform_past *past;       /* [ntasks] */
    uint64_t *idle_epoch;            /* [ncpus] how often it went idle */
    uint64_t *idle_seen;             /* [ncpus] ns when it was seen to go idle in this section; 0: not */
    uint64_t *last_event;            /* [ncpus] ns */
    /* [ncpus] tasks that wakers elsewhere are queueing there: sched_wakeup is to come */
    uint32_t *under_way;
    uint32_t under_way_all; /* their sum */
    /* [ncpus] a task that was woken before its CPU has recorded that it left: the kernel still has it as current there,
     * however long (a virtual CPU may stand still), so the CPU is not idle. Until the CPU is heard of again. */
    struct wb_task **leaving;
    bool *unknown;       /* [ncpus] after lost events */
    bool *bound;         /* [ntasks] */
    uint32_t *votes;     /* [ntasks] that it is SCHED_IDLE: wakeups that went to its busy CPU */
    const bool *idle;    /* [ntasks] taken for SCHED_IDLE; NULL: none */
    bool starting;       /* a section's first state is being made */
    uint64_t now, shift; /* ns of the model; added to the section's times */
    uint64_t tick_ns, next_tick;
    struct conform_tally *by_rule; /* [nrules of the policy] */
    uint64_t affine[16];           /* moves to the waker's CPU by the model, by depth of the domain */
    uint64_t moved[16];            /* moves that are no wakeups, by depth */
    void *masks[2];                /* memory of affinity masks */
    struct conform_scratch *scratch;
};

/* One decision to be asked about. */
struct conform_question {
    struct wb_wakeup w;
    enum wb_level level;
    uint32_t waker, wakee; /* tasks of the recording */
    bool placed;           /* the model would not say "still queued" */
};
/* Its answers. */
struct conform_answer {
    struct wb_choice base;
    uint32_t facts;                 /* whose change leads to another CPU */
    uint64_t cpus[TRACE_CPUS / 64]; /* set of possible answers */
    char state[CONFORM_STATE_MAX];  /* when asked, if the answer is not what was recorded */
};

/* conform_ask.c */
struct conform_scratch *conform_scratch_new(void);
void conform_ask(struct conform *c, const struct conform_question *q, struct conform_answer *a);
void conform_ask_fork(struct conform *c, uint32_t parent, uint32_t child, cpu_id cpu, struct conform_answer *a);
/* Ask once more, changing nothing; for the end of the decision's time. */
cpu_id conform_ask_again(struct conform *c, const struct conform_question *q);
/* The answer for good: its side effects stay. */
void conform_apply(struct conform *c, const struct conform_question *q);
static inline void conform_possible(struct conform_answer *a, cpu_id cpu)
{
    a->cpus[cpu / 64] |= 1ull << cpu % 64;
}
static inline bool conform_is_possible(const struct conform_answer *a, cpu_id cpu)
{
    return a->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* conform_build.c: scenario, machine, tasks */
int conform_build(struct conform *c, const struct wb_registry *reg, const struct wb_key_registry *keys,
                  struct wb_diag *d) WB_MUST_USE;
/* conform_score.c */
void conform_score(struct conform *c, const struct trace_event *e, const struct conform_question *q,
                   const struct conform_answer *a, uint16_t chosen);
void conform_describe(const struct conform *c, const struct wb_task *wakee, char *buf, size_t n);
void conform_score_fork(struct conform *c, const struct trace_event *e, const struct conform_answer *a);
/* conform_levels.c */
void conform_levels(struct conform *c);
/* conform_stat.c */
void conform_count_move(struct conform *c, const struct trace_event *e, bool wakeup);
void conform_count_affine(struct conform *c, const struct trace_event *e);
/* An idle CPU that has just run out of work; src: whom it pulled from in the recording, or TRACE_NO_CPU. */
void conform_newidle(struct conform *c, cpu_id cpu, uint16_t src);
bool conform_is_newidle(const struct conform *c, const struct trace_event *e, bool wakeup);
int conform_schedstat(struct conform *c) WB_MUST_USE;
/* conform_score.c */
int conform_finish(struct conform *c) WB_MUST_USE;
/* conform_outcome.c */
int conform_outcomes(struct conform *c) WB_MUST_USE;

static inline struct wb_task *conform_task(const struct conform *c, uint32_t task)
{
    return wb_drive_task(c->s, task - 1);
}
static inline bool conform_near(const struct conform *c, cpu_id a, cpu_id b)
{
    return c->f->pl.seat[a].llc_id == c->f->pl.seat[b].llc_id;
}

#endif
