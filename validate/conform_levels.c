/*
 * conform_levels.c - CPU 0's scheduling domains as the recorded kernel had them (debugfs sched/domains) beside those
 * that the model builds for the same machine: names, flags, imbalance, intervals.
 */
#include <stdarg.h>
#include <string.h>

#include "conform_inner.h"

/* Kernel's name (later and earlier) of each flag of the model that debugfs shows. */
static const struct {
    uint32_t flag;
    const char *name, *earlier;
} flags[] = {
    {WB_SD_NEWIDLE, "SD_BALANCE_NEWIDLE", NULL},
    {WB_SD_EXEC, "SD_BALANCE_EXEC", NULL},
    {WB_SD_FORK, "SD_BALANCE_FORK", NULL},
    {WB_SD_BALANCE_WAKE, "SD_BALANCE_WAKE", NULL},
    {WB_SD_WAKE_AFFINE, "SD_WAKE_AFFINE", NULL},
    {WB_SD_SHARE_CPUPOWER, "SD_SHARE_CPUCAPACITY", NULL},
    {WB_SD_SHARE_PKG, "SD_SHARE_LLC", "SD_SHARE_PKG_RESOURCES"},
    {WB_SD_SERIALIZE, "SD_SERIALIZE", NULL},
    {WB_SD_PREFER_SIBLING, "SD_PREFER_SIBLING", NULL},
    {WB_SD_ASYM_PACKING, "SD_ASYM_PACKING", NULL},
    {WB_SD_ASYM_CAPACITY, "SD_ASYM_CPUCAPACITY", NULL},
    {WB_SD_CLUSTER, "SD_CLUSTER", NULL},
    {WB_SD_NUMA, "SD_NUMA", NULL},
};

struct note {
    char *buf;
    size_t n, at;
};

static void WB_PRINTF(2, 3) differ(struct note *o, const char *fmt, ...)
{
    va_list ap;
    if (o->at + 1 >= o->n) return;
    if (o->at) o->at += (size_t)snprintf(o->buf + o->at, o->n - o->at, "; ");
    if (o->at + 1 >= o->n) return;
    va_start(ap, fmt);
    int len = vsnprintf(o->buf + o->at, o->n - o->at, fmt, ap);
    va_end(ap);
    if (len > 0) o->at += (size_t)len;
}

static bool recorded_flag(const struct trace_level *l, const char *name)
{
    const char *at = name ? strstr(l->flags, name) : NULL;
    return at && at[strlen(name)] == ' ';
}

static void compare_numbers(struct note *o, const char *what, uint32_t recorded, uint64_t model)
{
    if (recorded && recorded != model) differ(o, "%s %u, not %llu", what, recorded, (unsigned long long)model);
}

static void compare(const struct trace_level *l, const struct wb_sd *sd, struct note *o)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(flags); i++) {
        bool has = recorded_flag(l, flags[i].name) || recorded_flag(l, flags[i].earlier);
        bool model = sd->flags & flags[i].flag;
        if (l->flags[0] && has != model) differ(o, "%s %s", has ? "has" : "lacks", flags[i].name);
    }
    compare_numbers(o, "imbalance", l->imbalance_pct, sd->level->imbalance_pct);
    compare_numbers(o, "interval from ms", l->min_ms, sd->level->min_interval / WB_MS);
    compare_numbers(o, "to", l->max_ms, sd->level->max_interval / WB_MS);
}

void conform_levels(struct conform *c)
{
    const struct wb_sd *sd = wb_rq(c->s, 0)->sd;
    for (uint32_t i = 0; i < c->t->nlevels; i++) {
        const struct trace_level *l = &c->t->level[i];
        struct conform_level *out = &c->r->level[i];
        struct note o = {out->differs, sizeof out->differs, 0};
        memcpy(out->recorded, l->name, sizeof out->recorded);
        if (sd) {
            (void)snprintf(out->model, sizeof out->model, "%s", sd->level->name);
            compare(l, sd, &o);
            sd = sd->parent;
        } else {
            differ(&o, "the model has no such level");
        }
    }
    c->r->nlevels = c->t->nlevels;
}
