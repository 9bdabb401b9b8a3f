/*
 * conform_stat.c - balancing: moves that are no wakeups, and /proc/schedstat before and after each section.
 *
 * Documentation/scheduler/sched-stats.rst: version 15 has a domain's three groups of eight as idle, busy, newly idle;
 * 16 and 17 as busy, idle, newly idle; 17 names the domain and splits the imbalance in four. Behind them: active
 * balancing 3, exec 3, fork 3, wakeups 3 (remote, affine, balance).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

#define DEPTHS 16u

static uint32_t depth_of(const struct conform *c, cpu_id a, cpu_id b)
{
    WB_FOR_EACH_SD(sd, wb_rq(c->s, a))
    if (wb_mask_test(sd->span, b)) return WB_MIN(sd->depth, DEPTHS - 1);
    return DEPTHS - 1;
}

void conform_count_affine(struct conform *c, const struct trace_event *e)
{
    c->affine[depth_of(c, e->cpu, e->from)]++;
}

/* Who moved it: the stopper (active balance, exec, affinity), a softirq (periodic, nohz), or a CPU for itself that
 * runs out of work (newly idle). */
void conform_count_move(struct conform *c, const struct trace_event *e, bool wakeup)
{
    if (wakeup || e->to >= c->r->ncpus || e->from >= c->r->ncpus) return;
    const char *by = c->t->task[e->by].comm;
    if (!strncmp(by, "migration/", 10))
        c->r->moves_stopper++;
    else if (e->context == TRACE_CTX_SOFTIRQ)
        c->r->moves_softirq++;
    else if (e->cpu == e->to)
        c->r->moves_newidle++;
    else
        c->r->moves_other++;
    c->moved[depth_of(c, e->from, e->to)]++;
}

/* By itself, for itself, in task context: what its current task leaves behind. */
bool conform_is_newidle(const struct conform *c, const struct trace_event *e, bool wakeup)
{
    if (wakeup || e->cpu != e->to || !e->by || e->context == TRACE_CTX_SOFTIRQ || e->context == TRACE_CTX_HARDIRQ)
        return false;
    return strncmp(c->t->task[e->by].comm, "migration/", 10) != 0 && wb_rq(c->s, e->cpu)->nr_running <= 1;
}

static bool somebody_waits(const struct conform *c)
{
    for (cpu_id i = 0; i < c->r->ncpus; i++) {
        const struct wb_rq *rq = wb_rq(c->s, i);
        if (rq->nr_running - fair_rq(rq)->nr_delayed > 1) return true;
    }
    return false;
}

/* With time for every level: the gate compares times. */
static struct wb_drive_pull ask(struct conform *c, cpu_id cpu)
{
    struct fair_rq *r = fair_rq(wb_rq(c->s, cpu));
    uint64_t avg_idle = r->avg_idle;
    r->avg_idle = UINT64_MAX / 2;
    struct wb_drive_pull p = wb_drive_newidle(c->s, cpu);
    r->avg_idle = avg_idle;
    return p;
}

void conform_newidle(struct conform *c, cpu_id cpu, uint16_t src)
{
    struct conform_newidle *n = &c->r->newidle;
    if (src == TRACE_NO_CPU) {
        n->idle++;
        if (somebody_waits(c))
            n->idle_agree += ask(c, cpu).src == WB_NO_CPU;
        else
            n->idle_quiet++;
        return;
    }
    struct wb_drive_pull p = ask(c, cpu);
    n->pulls++;
    if (p.src == WB_NO_CPU)
        n->nothing++;
    else if (p.src == src)
        n->same_cpu++;
    else if (p.depth == depth_of(c, cpu, src))
        n->same_level++;
    else
        n->other_level++;
}

/* ---- schedstat ---- */

struct stat_line {
    char name[16];
    uint32_t depth;
    uint64_t v[64];
    uint32_t n;
};

/* "domain1 0f 1 2 ..." or, version 17, "domain1 MC 0f 1 2 ...". */
static bool read_domain(const char *at, const char *end, uint32_t version, struct stat_line *s)
{
    char *stop;
    *s = (struct stat_line){.depth = (uint32_t)strtoul(at + 6, &stop, 10)};
    at = stop;
    for (int words = version >= 17 ? 2 : 1; words; words--) { /* name, mask */
        while (at < end && *at == ' ') at++;
        const char *first = at;
        while (at < end && *at != ' ') at++;
        size_t n = WB_MIN((size_t)(at - first), sizeof s->name - 1);
        if (words == 2) memcpy(s->name, first, n);
    }
    while (at < end && s->n < WB_ARRAY_SIZE(s->v)) {
        while (at < end && *at == ' ') at++;
        if (at >= end || !isdigit((unsigned char)*at)) break;
        s->v[s->n++] = strtoull(at, &stop, 10);
        at = stop;
    }
    return s->depth < DEPTHS && s->n >= 36;
}

static void add_line(struct conform_domain *d, const struct stat_line *s, uint32_t version, bool after)
{
    size_t group = version >= 17 ? 11 : 8;
    uint32_t gained = version >= 17 ? 7 : 4;
    for (uint32_t g = 0; g < 3; g++) {
        const uint64_t *v = &s->v[g * group];
        uint32_t k = version == 15 || g == 2 ? g : 1 - g; /* busy comes first from 16 on */
        uint64_t *to[] = {&d->calls[k], &d->balanced[k], &d->failed[k], &d->gained[k]};
        uint32_t from[] = {0, 1, 2, gained};
        for (size_t i = 0; i < WB_ARRAY_SIZE(to); i++) *to[i] += after ? v[from[i]] : 0 - v[from[i]];
    }
    const uint64_t *rest = &s->v[3 * group];
    d->pushed += after ? rest[2] : 0 - rest[2];
    d->wake_remote += after ? rest[9] : 0 - rest[9];
    d->move_affine += after ? rest[10] : 0 - rest[10];
    d->depth = s->depth;
    if (s->name[0]) memcpy(d->name, s->name, sizeof d->name);
}

/* Sums over all CPUs; unsigned differences come out right. Returns the number of levels. */
static uint32_t add_text(struct conform_domain *d, const char *text, bool after)
{
    uint32_t version = 15, top = 0;
    struct stat_line s;
    for (const char *at = text; at && *at;) {
        const char *end = strchr(at, '\n');
        if (!end) end = at + strlen(at);
        if (!strncmp(at, "version ", 8)) version = (uint32_t)strtoul(at + 8, NULL, 10);
        if (!strncmp(at, "domain", 6) && read_domain(at, end, version, &s)) {
            add_line(&d[s.depth], &s, version, after);
            top = WB_MAX(top, s.depth + 1);
        }
        at = *end ? end + 1 : end;
    }
    return top;
}

static void name_levels(const struct conform *c, struct conform_domain *d)
{
    WB_FOR_EACH_SD(sd, wb_rq(c->s, 0))
    {
        if (sd->depth < DEPTHS && !d[sd->depth].name[0])
            (void)snprintf(d[sd->depth].name, sizeof d->name, "%s", sd->level->name);
    }
}

int conform_schedstat(struct conform *c)
{
    struct conform_domain *d = calloc(DEPTHS, sizeof *d);
    uint32_t top = 0;
    if (!d) return -ENOMEM;
    for (uint32_t i = 0; i < c->t->nsections; i++) {
        const struct trace_section *s = &c->t->section[i];
        if (!s->before.text || !s->after.text || !s->n) continue;
        uint32_t before = add_text(d, s->before.text, false), after = add_text(d, s->after.text, true);
        top = WB_MAX(top, WB_MAX(before, after));
    }
    name_levels(c, d);
    for (uint32_t i = 0; i < DEPTHS; i++) {
        d[i].moved_seen = c->moved[i];
        d[i].model_affine = c->affine[i];
    }
    c->r->domain = d;
    c->r->ndomains = top;
    return 0;
}
