/*
 * bench_speed.h - how fast whole simulations run: the loads of `wakebal bench`, and measuring one of them.
 *
 * A run begins with an unmeasured stretch in which the tasks start (fork placement of thousands at one instant is no
 * steady state; its time is told by itself). What is measured is the rest: half of it in each mode. Times are CPU
 * time of the calling thread, best of several.
 */
#ifndef WB_CLI_BENCH_SPEED_H
#define WB_CLI_BENCH_SPEED_H

#include "wakebal/diag.h"
#include "wakebal/run.h"
#include "wakebal/scenario.h"

#define BENCH_LOADS_MAX 32u

/* When a load is measured: with --quick, without options, with --scale. */
enum bench_when { BENCH_QUICK = 1, BENCH_PLAIN = 2, BENCH_SCALE = 4 };

struct bench_load {
    const char *scenario, *tag, *what;
    const char *kernel;            /* NULL = the scenario's */
    const char *series;            /* loads of one series differ in size only, NULL = none */
    double floor, goal;            /* million events per second; 0 = none */
    const char *settle, *duration; /* unmeasured beginning, end of the run */
    uint32_t when;                 /* enum bench_when */
    bool large;                    /* one run */
};
extern const struct bench_load bench_loads[];
extern const size_t bench_nloads;

/* One mode of running: the fastest of the measured stretches, in CPU seconds. */
struct bench_mode {
    double s, events, stale, inlined, wakeups, births;
};
struct bench_speed {
    double load_s;                   /* loading the scenario and building it */
    struct wb_memory memory, after;  /* built; at the end of the run */
    struct bench_mode ahead, posted; /* with run-ahead; with every segment an event */
    double settle_s;                 /* of the unmeasured beginning */
    double born;                     /* tasks that had started at its end */
    double simulated, peak;          /* seconds of one stretch; entries pending at most */
};

/* 0, or -1 with errors in d. Ends early, with what there is, when out_stop is set. */
int bench_measure(const struct bench_load *l, struct wb_key_registry *keys, unsigned times, struct wb_diag *d,
                  struct bench_speed *s) WB_MUST_USE;

#endif
