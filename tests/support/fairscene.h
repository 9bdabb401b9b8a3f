/*
 * fairscene.h - states of the fair classes made by hand, for decision tables: kernels by release, tasks from a short
 * text. With fakekernel.h. Static, for tests that include it.
 */
#ifndef WB_TESTS_FAIRSCENE_H
#define WB_TESTS_FAIRSCENE_H

#include "fair.h"
#include "fakekernel.h"
#include "wbtest.h"

#define QUADS "topology = \"pack:2 [numa] l3:1(size=8388608) core:4 pu:1\";" /* 0-3 | 4-7 */
#define PAIRS "topology = \"[numa] pack:2 l2:2(size=6291456) core:2 pu:1\";" /* 01 23 | 45 67, one node */
#define DUALS "topology = \"pack:2 [numa] l3:1(size=8388608) core:2 pu:1\";" /* 0-1 | 2-3 */
#define SMT "topology = \"[numa] pack:1 l3:1(size=8388608) core:4 pu:2\";"   /* 01 23 45 67 */
#define SMT_LAST "topology = \"[numa] pack:1 l3:1(size=8388608) core:4 pu:2(indexes=0,4,1,5,2,6,3,7)\";"
#define CLUSTERS "topology = \"pack:2 [numa] l3:1(size=8388608) l2:2(size=1048576) core:2 pu:1\";" /* 01 23 | 45 67 */

#define ONLY(r) (1u << (r))
#define MODERN FAIR_SINCE(FAIR_5_4)
#define V54 ONLY(FAIR_5_4)
#define V515 FAIR_SINCE(FAIR_5_15)
#define V612 FAIR_SINCE(FAIR_6_12)
#define V35 FAIR_IN(FAIR_2_6_35, FAIR_2_6_36)
#define V23 ONLY(FAIR_2_6_23)
#define V24 ONLY(FAIR_2_6_24)

static const char *const kernel_of[FAIR_RELEASES] = {"linux-2.6.23", "linux-2.6.24", "linux-2.6.35", "linux-2.6.36",
                                                     "linux-5.4",    "linux-5.15",   "linux-6.1",    "linux-6.6",
                                                     "linux-6.12",   "linux-6.18"};

static const struct wb_policy_ops *scene_policy(enum fair_release v)
{
    static struct wb_policy_ops eevdf; /* its rows are in the table of "cfs" */
    eevdf = fair_eevdf_policy;
    eevdf.keys = fair_keys;
    eevdf.nkeys = FAIR_KEYS;
    return v >= FAIR_6_6 ? &eevdf : &fair_cfs_policy;
}

static struct wb_sim *scene_new(enum fair_release v, const char *machine, const char *const *sets)
{
    return fake_new(scene_policy(v), kernel_of[v], machine, sets);
}

/* "4x2 1-3": two tasks on CPU 4, one on each of 1 to 3; the first of a CPU runs. */
static void scene_busy(struct wb_sim *s, const char *text, int nice, enum wb_sched_class klass)
{
    while (text && *text) {
        int from, to, n = 1, len = 0;
        assert_true(sscanf(text, "%d%n", &from, &len) == 1);
        to = from;
        text += len;
        if (*text == '-') {
            assert_true(sscanf(text, "-%d%n", &to, &len) == 1);
            text += len;
        }
        if (*text == 'x') {
            assert_true(sscanf(text, "x%d%n", &n, &len) == 1);
            text += len;
        }
        while (*text == ' ') text++;
        for (int c = from; c <= to; c++) {
            for (int i = 0; i < n; i++) fake_enqueue(s, fake_task_of_class(s, (cpu_id)c, nice, klass), WB_ENQ_NEW);
            if (wb_idle_cpu(&s->rq[c])) (void)fake_schedule(s, (cpu_id)c, WB_RUNNING);
        }
    }
}

/* Damped loads of the old versions reach the present ones. */
static void scene_settle(struct wb_sim *s)
{
    const struct fair_sim *f = s->policy;
    if (f->v->release > FAIR_2_6_36) return;
    for (cpu_id c = 0; c < s->ncpus; c++) fake_ticks(s, c, 30);
    for (cpu_id c = 0; c < s->ncpus; c++) s->rq[c].need_resched = false;
}

/* A machine of one version with busy CPUs, settled, and one setting of its own or NULL. */
static inline struct wb_sim *scene_build(enum fair_release v, const char *machine, const char *busy, const char *set)
{
    const char *sets[] = {set, NULL};
    struct wb_sim *s = scene_new(v, machine, sets);
    scene_busy(s, busy, 0, WB_CLASS_NORMAL);
    scene_settle(s);
    return s;
}

#endif
