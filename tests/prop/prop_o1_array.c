/* Priority arrays against a list sorted by (priority, arrival): same head, same order from the tail, same counts.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "propcheck.h"

#include "wbtest.h"

#include "o1.h"

#define TASKS 24u

struct twin {
    struct {
        uint32_t task, prio;
        int64_t order;
    } in[TASKS];
    uint32_t n;
    int64_t low, high; /* arrival numbers given out at the front and at the back */
};

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 4), .a = prop_below(r, TASKS), .b = prop_u64(r)};
}

static int find(const struct twin *w, uint32_t task)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->in[i].task == task) return (int)i;
    return -1;
}

/* First in order among those of one priority, or of the best one. */
static int first(const struct twin *w, uint32_t from)
{
    int best = -1;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->in[i].prio < from) continue;
        if (best < 0 || w->in[i].prio < w->in[best].prio ||
            (w->in[i].prio == w->in[best].prio && w->in[i].order < w->in[best].order))
            best = (int)i;
    }
    return best;
}

static void twin_insert(struct twin *w, uint32_t task, uint32_t prio, int64_t order)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->in[i].order >= order) w->in[i].order++;
    w->in[w->n].task = task;
    w->in[w->n].prio = prio;
    w->in[w->n++].order = order;
    w->high++;
}

static bool same(const struct o1_array *a, const struct twin *w, const struct o1_task *task, char *why, size_t n)
{
    if (a->nr != w->n) return snprintf(why, n, "%u tasks, twin has %u", a->nr, w->n), false;
    for (uint32_t from = 0; from <= O1_PRIOS; from += 13) {
        int i = first(w, from);
        uint32_t best = o1_array_best(a, from);
        if (i < 0 ? best != O1_PRIOS : best != w->in[i].prio)
            return snprintf(why, n, "best from %u is %u", from, best), false;
        if (i >= 0 && o1_array_head(a, best) != &task[w->in[i].task])
            return snprintf(why, n, "head of %u differs", best), false;
    }
    uint32_t seen = 0;
    for (uint32_t p = 0; p < O1_PRIOS; p++) {
        const struct o1_task *h = o1_array_head(a, p), *t = h;
        if (!h) continue;
        int64_t last = -1;
        do {
            int i = find(w, (uint32_t)(t - task));
            if (i < 0 || w->in[i].prio != p || w->in[i].order <= last)
                return snprintf(why, n, "list of %u is out of order", p), false;
            last = w->in[i].order;
            seen++;
            t = t->next;
        } while (t != h);
    }
    return seen == w->n ? true : (snprintf(why, n, "%u in the lists, twin has %u", seen, w->n), false);
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct wb_task t[TASKS];
    struct o1_task task[TASKS];
    struct o1_task *rt[O1_RT_PRIOS] = {0}; /* of priorities from 1 on */
    struct o1_array a = {.rt = rt};
    struct twin w = {0};
    for (uint32_t i = 0; i < TASKS; i++) task[i] = (struct o1_task){.t = &t[i]};
    for (size_t k = 0; k < n; k++) {
        uint32_t id = (uint32_t)ops[k].a;
        struct o1_task *p = &task[id];
        int at = find(&w, id);
        if (at >= 0) {
            o1_array_del(&a, p);
            w.in[at] = w.in[--w.n];
        } else if (ops[k].kind == 0 && w.n) { /* in front of somebody queued */
            uint32_t ref = (uint32_t)(ops[k].b % w.n);
            p->prio = (uint8_t)w.in[ref].prio;
            o1_array_add_before(&a, p, &task[w.in[ref].task]);
            twin_insert(&w, id, p->prio, w.in[ref].order);
        } else {
            p->prio = (uint8_t)(ops[k].b % (ops[k].kind == 1 ? O1_PRIOS : 3u));
            o1_array_add(&a, p);
            twin_insert(&w, id, p->prio, w.high);
        }
        if (!same(&a, &w, task, why, nwhy)) return false;
    }
    return true;
}

int main(void)
{
    const struct property p = {.name = "priority arrays", .ops_max = 200, .make = make, .run = run};
    return prop_check(&p, 2000) ? 0 : 1;
}
