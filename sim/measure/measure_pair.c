/*
 * measure_pair.c - how long the tasks of a pair share a CPU, and how long they stay so.
 *
 * Time is accounted lazily: a pair knows until when it has been counted, and the window's end brings all up to date.
 * Regimes (contiguous periods together or apart) that the warm-up's end or the run's end cuts are counted with the
 * part inside: leaving them out would lose exactly the long ones.
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "measure_inner.h"

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool group_init(struct wb_measure *m, struct pair_group *g)
{
    for (int i = 0; i < 2; i++) {
        g->hist[i] = measure_hist_new(m);
        if (!g->hist[i]) return false;
    }
    g->col_together = measure_column(m, &g->together);
    g->col_known = measure_column(m, &g->known);
    return g->col_together != UINT32_MAX && g->col_known != UINT32_MAX;
}

static struct pair_group *group_of(struct wb_measure *m, uint32_t instance, const char *name)
{
    for (struct pair_group *g = m->group; g; g = g->next)
        if (g->instance == instance && same_name(g->name, name)) return g;
    struct pair_group *g = ARENA_NEW(m->a, struct pair_group, 1);
    if (!g) return NULL;
    g->instance = instance;
    g->name = name;
    g->index = m->ngroups;
    if (!group_init(m, g)) return NULL;
    m->ngroups++;
    *m->group_end = g;
    m->group_end = &g->next;
    return g;
}

/* On the heap: there may be one per two tasks, and no outgrown copy stays. */
static bool pairs_grow(struct wb_measure *m)
{
    if (m->npairs < m->pairs_room) return true;
    uint32_t want = m->pairs_room ? m->pairs_room + m->pairs_room / 2 : 16;
    struct pair *p = realloc(m->pair, want * sizeof *p);
    if (!p) return false;
    m->pair = p;
    m->pairs_room = want;
    return true;
}

uint32_t measure_pair_new(struct wb_measure *m, uint32_t instance, const char *name)
{
    WB_CHECK(instance == MEASURE_MACHINE || instance < m->ninstances, "instance %u of %u", instance, m->ninstances);
    struct pair_group *g = group_of(m, instance, name);
    if (!g || !pairs_grow(m)) return UINT32_MAX;
    m->pair[m->npairs] = (struct pair){.group = g->index, .state = PAIR_UNKNOWN};
    return m->npairs++;
}

/* Count the time up to now in the state that the pair has. */
static void account(struct wb_measure *m, struct pair *p, sim_time now)
{
    if (p->state == PAIR_UNKNOWN) return;
    WB_CHECK(now >= p->since, "time of a pair goes back");
    struct pair_group *g = m->group_table[p->group];
    sim_time d = now - p->since;
    g->known += d;
    if (p->state == PAIR_TOGETHER) g->together += d;
    p->since = now;
}

static void end_regime(struct wb_measure *m, struct pair *p, sim_time now)
{
    if (p->state == PAIR_UNKNOWN || now == p->regime) return;
    wb_hist_add(m->group_table[p->group]->hist[p->state == PAIR_TOGETHER], now - p->regime);
}

static void enter(struct wb_measure *m, uint32_t pair, uint8_t state, sim_time now)
{
    WB_CHECK(pair < m->npairs && m->sealed, "pair %u of %u", pair, m->npairs);
    struct pair *p = &m->pair[pair];
    if (p->state == state) return;
    account(m, p, now);
    end_regime(m, p, now);
    if (p->state != PAIR_UNKNOWN && state != PAIR_UNKNOWN) m->group_table[p->group]->changes++;
    p->state = state;
    p->since = p->regime = now;
}

void measure_pair_set(struct wb_measure *m, uint32_t pair, bool together, sim_time now)
{
    enter(m, pair, together ? PAIR_TOGETHER : PAIR_APART, now);
}

void measure_pair_end(struct wb_measure *m, uint32_t pair, sim_time now)
{
    enter(m, pair, PAIR_UNKNOWN, now);
}

void measure_pairs_flush(struct wb_measure *m, sim_time now)
{
    for (uint32_t i = 0; i < m->npairs; i++) account(m, &m->pair[i], now);
}

void measure_pairs_start(struct wb_measure *m, sim_time now)
{
    measure_pairs_flush(m, now);
    for (uint32_t i = 0; i < m->npairs; i++) m->pair[i].regime = now;
    for (struct pair_group *g = m->group; g; g = g->next) {
        g->changes = 0;
        wb_hist_clear(g->hist[0]);
        wb_hist_clear(g->hist[1]);
    }
}

void measure_pairs_finish(struct wb_measure *m, sim_time now)
{
    measure_pairs_flush(m, now);
    for (uint32_t i = 0; i < m->npairs; i++) end_regime(m, &m->pair[i], now);
}
