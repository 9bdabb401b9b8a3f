/*
 * import.h - a workload from a recording, and its replay under another kernel.
 *
 * Each recorded task becomes a task of the "custom" workload: what it computed between its sleeps, whom it woke and
 * where in its run, what it waited for (a wakeup by an imported task), how long it slept (a wakeup by anything else).
 * Events keep count, so the recorded order is always possible and no schedule deadlocks. Programs of more than 4000
 * words are folded: repeated stretches become loops whose run times are drawn from what was recorded.
 *
 * Recorded run times hold the recording kernel's own work in waking, sleeping and switching, which a replay does again.
 * import_settle() measures that by replaying and takes it off.
 *
 * What is lost: what passed through pipes and sockets, memory, locks; tasks that are left out (kernel threads); the
 * order in which a folded loop's run times came.
 */
#ifndef WB_VALIDATE_IMPORT_H
#define WB_VALIDATE_IMPORT_H

#include "trace_health.h"
#include "wakebal/keys.h"
#include "wakebal/scenario.h"
#include "wakebal/workload.h"

enum import_kind { IMPORT_RUN, IMPORT_WAKE, IMPORT_WAIT, IMPORT_SLEEP };
struct import_item {
    uint64_t ns;    /* run, sleep */
    uint32_t other; /* wake: index of the imported task */
    uint8_t kind;
    bool sync;
};
struct import_task {
    char name[40];
    uint32_t task; /* of the recording */
    int32_t nice;
    struct import_item *item;
    size_t n;
    uint64_t start_ns, run_ns; /* from the beginning of the window; on a CPU in all */
    uint64_t runs, waits;
    uint64_t overhead_ns; /* taken off each run */
    uint64_t cpus[TRACE_CPUS / 64];
    bool waited; /* somebody wakes it */
};
struct import_options {
    const char *section;     /* by name; NULL: the first with events */
    uint64_t from_ns, to_ns; /* of the section's beginning; to 0: its end */
    bool all;                /* kernel threads too */
    bool keep_cpus;          /* tasks keep to the CPUs that they were seen on */
};
struct import {
    struct import_task *task;
    uint32_t n;
    uint64_t length_ns; /* of the window */
    uint64_t left_out;  /* wakeups of or by tasks that are not imported: sleeps */
    bool keep_cpus;
    char source[64], machine[256], kernel[64];
};

/* What a replay of one task came to. */
struct replay_task {
    uint64_t run_ns, wait_ns; /* on a CPU; runnable without one */
    uint32_t switches, migrations, wakeups;
};
struct replay_result {
    struct replay_task *task; /* [import.n] */
    uint64_t length_ns;
    uint64_t run_ns, recorded_ns;
    bool finished;
};

struct import *import_make(const struct trace *t, const struct import_options *o, struct wb_diag *d) WB_MUST_USE;
void import_free(struct import *m);
/* The scenario file. Malloc'd; NULL with an error in d when a task's program is too long. */
char *import_text(const struct import *m, struct wb_diag *d);
/* Run it. machine, kernel NULL: those of the import. 0, or -1 with errors in d. */
int replay_run(const struct import *m, const struct wb_overrides *over, const struct wb_registry *reg,
               const struct wb_key_registry *keys, struct wb_diag *d, struct replay_result *r) WB_MUST_USE;
void replay_free(struct replay_result *r);
/* Take the kernel's own work off the run times: a few replays on the import's machine and kernel. */
int import_settle(struct import *m, const struct wb_registry *reg, const struct wb_key_registry *keys,
                  struct wb_diag *d) WB_MUST_USE;

#endif
