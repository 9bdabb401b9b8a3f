/*
 * trace_health.h - is a recording whole, and what was left out of it?
 *
 * trace_infer() walks the events of each section CPU by CPU, knows who ran, and where a line shows another task puts
 * in the sched_switch that must have been (marked `inferred`). Some hosts never record switches from idle on one CPU;
 * perf drops others. What cannot be repaired is counted: the table that every verb prints before its results.
 */
#ifndef WB_VALIDATE_TRACE_HEALTH_H
#define WB_VALIDATE_TRACE_HEALTH_H

#include "trace_read.h"

enum trace_health_row {
    TRACE_H_LOST,        /* marks of lost events */
    TRACE_H_OVERWRITTEN, /* events that a full ring buffer overwrote: CPUs begin at different times */
    TRACE_H_FROM_IDLE,   /* missing switches from idle to a task: put in */
    TRACE_H_SWITCH,      /* other missing switches: put in */
    TRACE_H_TWO_CPUS,    /* a task came to a CPU while it ran on another */
    TRACE_H_JUMP,        /* a task turned up on a CPU without having been moved there */
    TRACE_H_NO_RUN,      /* woken, and not seen running for the rest (100 ms or more) of its section */
    TRACE_H_TIME_BACK,   /* a CPU's time went back */
    TRACE_H_NO_NAME,     /* tasks without a name */
    TRACE_H_NO_WAKING,   /* wakeups in a recording without sched_waking: nothing can be asked about them */
    TRACE_H_CUT,         /* the compressed file ends in its middle */
    TRACE_H_DAMAGED,     /* lines of a scheduler event that cannot be read */
    TRACE_H_SILENT_CPUS, /* CPUs without any event in a section: taken to be idle */
    TRACE_H_N
};
struct trace_health {
    uint64_t count[TRACE_H_N];
    uint64_t *per_cpu; /* [ncpus] events, the inferred ones not included */
    uint32_t ncpus;
};
struct trace_health_text {
    const char *name, *help;
    bool strict; /* --strict refuses a recording with any of these */
};
extern const struct trace_health_text trace_health_text[TRACE_H_N];

/* Puts the missing switches in and fills *h, which the caller frees with trace_health_free(). 0 or -ENOMEM. */
int trace_infer(struct trace *t, struct trace_health *h) WB_MUST_USE;
void trace_health_free(struct trace_health *h);
/* The first row that --strict does not let pass, or NULL. */
const struct trace_health_text *trace_health_broken(const struct trace_health *h);

#endif
