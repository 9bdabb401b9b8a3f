/*
 * profileview.h - time accounts as a sampling profiler would print them.
 *
 * The accounts are exact; the samples column says how many hits a profiler that samples each CPU `rate` times a
 * second would have got on average, so that the table can be laid beside an oprofile or perf report. Percentages are
 * of the time shown (without idle unless asked for), as those tools have it.
 */
#ifndef WAKEBAL_PROFILEVIEW_H
#define WAKEBAL_PROFILEVIEW_H

#include "wakebal/base.h"

struct wb_profile {
    sim_time elapsed; /* measured time, the same for all CPUs */
    uint32_t ncpus;
    const char *const *fn_name; /* [nfn] */
    const sim_time *fn_time;    /* [nfn] over all CPUs */
    size_t nfn;
    const char *const *cat_name; /* [ncats] */
    const sim_time *cat_time;    /* [ncpus * ncats], CPU by CPU; NULL = no category table */
    size_t ncats;
    /* what idle is called: left out of the percentages of the functions; NULL = nothing */
    const char *idle_fn, *idle_cat;
    bool with_idle; /* show idle like any function */
    uint32_t rate;  /* samples per second and CPU; 0 = 1000 */
    size_t lines;   /* most functions shown; 0 = all with time */
};

/* The function table, then the category table with a bar per CPU. Malloc'd (NULL: no memory); the caller frees. */
char *wb_profile_render(const struct wb_profile *p) WB_MUST_USE;

#endif
