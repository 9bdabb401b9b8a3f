/* run_trace.c - the trace of one replication, written as ftrace text. */
#include <string.h>

#include "exit_code.h"
#include "output.h"
#include "run_parts.h"
#include "wakebal/trace.h"
#include "wakebal/traceview.h"
#include "wakebal/units.h"

#define RING (1u << 21) /* records: 64 MiB */

static bool read_time(const char *text, size_t n, sim_time *t)
{
    char buf[64];
    const char *why;
    size_t at;
    int64_t v;
    if (n >= sizeof buf) return false;
    memcpy(buf, text, n);
    buf[n] = 0;
    if (wb_parse_quantity(buf, WB_UNIT_TIME, &v, &why, &at) || v < 0) return false;
    *t = (sim_time)v;
    return true;
}

int run_trace_window(const struct cli_options *o, sim_time *from, sim_time *to)
{
    const char *w = o->trace_window, *dots = w ? strstr(w, "..") : NULL;
    *from = 0;
    *to = 0; /* to the end */
    if (!w) return -1;
    bool good = dots ? (dots == w || read_time(w, (size_t)(dots - w), from)) &&
                           (!dots[2] || read_time(dots + 2, strlen(dots + 2), to))
                     : read_time(w, strlen(w), to);
    if (good && (!*to || *to > *from)) return -1;
    return cli_usage_error("wakebal run", "For example: --trace=1s..1.1s, or --trace=10ms for the first ten",
                           "--trace '%.100s' is no window", w);
}

struct writing {
    struct wb_sim *s;
    const struct wb_config *cfg;
    const struct wb_trace *t;
};

/* The first of two keys that has a value; NULL: neither. */
static const char *name_of(const struct wb_config *cfg, const char *a, const char *b)
{
    if (wb_cfg_has(cfg, a) && *wb_cfg_str(cfg, a)) return wb_cfg_str(cfg, a);
    return b && wb_cfg_has(cfg, b) ? wb_cfg_str(cfg, b) : NULL;
}

static int write_ftrace(FILE *to, void *ctx)
{
    const struct writing *w = ctx;
    struct wb_trace_names names;
    wb_sim_trace_names(w->s, &names);
    struct wb_ftrace_options opt = {.machine = name_of(w->cfg, "machine.name", "machine.base"),
                                    .kernel = name_of(w->cfg, "kernel.name", "kernel.base"),
                                    .policy = name_of(w->cfg, "kernel.scheduler", NULL),
                                    .version = WB_VERSION,
                                    .seed = (uint64_t)wb_cfg_int(w->cfg, "run.seed"),
                                    .marks = true};
    return wb_trace_write_ftrace(to, w->t, &names, &opt);
}

int run_write_trace(const struct cli_options *o, const struct wb_config *cfg, const struct wb_registry *models,
                    const char *path, struct wb_diag *d)
{
    struct wb_run_options opt = {.trace_capacity = RING};
    int rc = run_trace_window(o, &opt.trace_from, &opt.trace_to);
    if (rc >= 0) return rc;
    struct wb_sim *s = wb_sim_build(cfg, models, 0, &opt, d);
    if (!s) return EXIT_INVALID;
    if (opt.trace_to)
        (void)wb_sim_step_to(s, opt.trace_to);
    else
        (void)wb_sim_run(s);
    struct writing w = {.s = s, .cfg = cfg, .t = wb_sim_trace(s)};
    rc = out_file(path, write_ftrace, &w);
    if (!rc && w.t->written > w.t->capacity)
        fprintf(stderr, "wakebal run: the trace holds the last %llu of %llu events; give a window: --trace=FROM..TO\n",
                (unsigned long long)w.t->capacity, (unsigned long long)w.t->written);
    if (!rc && !o->quiet && strcmp(path, "-"))
        out_line(stderr, "Trace of replication 0: %s (%llu events)", path,
                 (unsigned long long)WB_MIN(w.t->written, w.t->capacity));
    wb_sim_free(s);
    return rc;
}
