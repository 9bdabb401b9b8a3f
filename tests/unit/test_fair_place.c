/* Where woken tasks go: decision tables of every version, worked by hand from the rules, each row with its rule.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairscene.h"
#include "fakekernel.h"

struct row {
    uint32_t releases;
    const char *machine;
    cpu_id prev, here;
    uint32_t flags;
    const char *busy; /* "4x2 1-3": tasks that run or wait there; the waker's on `here` comes on top */
    cpu_id cpu;
    uint32_t how, where;
    /* less common */
    bool irq, cold, kthread;
    int recent;                        /* + 1 */
    uint32_t waker_flips, wakee_flips; /* waker_flips: before this wakeup adds one */
    int scan;                          /* nr_idle_scan + 1 */
    int cores;                         /* has_idle_cores + 1 */
    uint32_t avg_idle;                 /* ns, of the waker's CPU */
    const char *allowed, *idle_class, *set;
    int nice;
    uint32_t rule; /* in place of how and where */
};
#define SYNC WB_WF_SYNC
#define AT(v, m, p, h, fl, b, c) \
    .releases = (v), .machine = (m), .prev = (p), .here = (h), .flags = (fl), .busy = (b), .cpu = (c)
#define H(x) .how = FAIR_H_##x
#define W(x) .where = FAIR_W_##x

/* ---- the state of a row ---- */

struct scene {
    struct wb_sim *s;
    struct fair_sim *f;
    struct wb_task *p;
    struct wb_cpumask allowed;
    uint64_t word;
};

/* p runs on prev and goes to sleep there. */
static struct wb_task *sleeper(struct wb_sim *s, const struct row *r)
{
    struct wb_task *p = fake_task(s, r->prev, r->nice);
    fake_enqueue(s, p, WB_ENQ_NEW);
    (void)fake_schedule(s, r->prev, WB_RUNNING);
    s->now += 10 * WB_US;
    (void)fake_schedule(s, r->prev, WB_INTERRUPTIBLE);
    return p;
}

static void make_waker(struct wb_sim *s, const struct row *r)
{
    if (r->irq) return;
    struct wb_task *w = fake_task(s, r->here, 0);
    fake_enqueue(s, w, WB_ENQ_NEW);
    while (s->rq[r->here].curr != w) { /* whoever came first steps back */
        if (s->rq[r->here].curr == s->rq[r->here].idle) {
            (void)fake_schedule(s, r->here, WB_RUNNING);
            continue;
        }
        s->rq[r->here].curr->on_cpu = false;
        fake_run(s, w);
    }
    fair_task(w)->pl.wakee_flips = r->waker_flips;
    fair_task(w)->pl.wakee_flip_decay = wb_jiffies(s);
    if (!r->kthread) return;
    static uint64_t word;
    static struct wb_cpumask own;
    word = 1ull << r->here;
    own = (struct wb_cpumask){.ncpus = s->ncpus, .nwords = 1, .w = &word};
    w->kthread = true;
    w->allowed = &own;
}

static void tune(struct scene *k, const struct row *r)
{
    struct fair_task *p = fair_task(k->p);
    const struct fair_rq *prev = fair_rq(&k->s->rq[r->prev]);
    p->pl.wakee_flips = r->wakee_flips;
    if (r->recent) p->pl.recent_used_cpu = (cpu_id)(r->recent - 1);
    if (k->f->v->release <= FAIR_2_6_36) p->exec_start = prev->clock - (r->cold ? 500000 : 499999);
    for (cpu_id c = 0; c < k->s->ncpus; c++) {
        struct fair_llc *llc = k->f->pl.seat[c].shared;
        if (llc && r->scan) llc->nr_idle_scan = (uint32_t)(r->scan - 1);
        if (llc && r->cores) llc->has_idle_cores = r->cores == 2;
    }
    if (r->avg_idle) fair_rq(&k->s->rq[r->here])->avg_idle = r->avg_idle;
    if (!r->allowed) return;
    const char *why;
    size_t at;
    k->allowed = (struct wb_cpumask){.ncpus = k->s->ncpus, .nwords = 1, .w = &k->word};
    assert_int_equal(wb_mask_parse(r->allowed, &k->allowed, &why, &at), 0);
    k->p->allowed = &k->allowed;
}

static void build(struct scene *k, const struct row *r, enum fair_release v)
{
    const char *sets[] = {r->set, NULL};
    *k = (struct scene){.s = scene_new(v, r->machine, sets)};
    k->f = k->s->policy;
    k->p = sleeper(k->s, r);
    scene_busy(k->s, r->idle_class, 0, WB_CLASS_IDLE);
    scene_busy(k->s, r->busy, 0, WB_CLASS_NORMAL);
    make_waker(k->s, r);
    scene_settle(k->s);
    tune(k, r);
}

static struct wb_choice choose(struct scene *k, const struct row *r)
{
    struct wb_exec *x = fake_exec_irq(k->s, r->here, r->irq ? WB_LEVEL_HARDIRQ : WB_LEVEL_TASK);
    struct wb_wakeup w = {.task = k->p, .this_cpu = r->here, .prev_cpu = r->prev, .flags = r->flags};
    return k->s->ops->place_wakeup(x, &w);
}

static void check_row(const struct row *r, size_t i, enum fair_release v)
{
    struct scene k;
    build(&k, r, v);
    struct wb_choice c = choose(&k, r);
    uint32_t rule = r->rule ? r->rule : FAIR_R_AT(r->how, r->where);
    if (c.cpu != r->cpu || c.rule != rule)
        fail_msg("row %zu on %s: cpu %u (%s), expected %u (%s)", i, kernel_of[v], c.cpu, fair_rules[c.rule], r->cpu,
                 fair_rules[rule]);
    fake_free(k.s);
}

/* Every row under every version that it is for; no version has fewer than twenty. */
static void check_table(const struct row *rows, size_t n, uint32_t releases)
{
    for (uint32_t v = 0; v < FAIR_RELEASES; v++) {
        size_t seen = 0;
        for (size_t i = 0; i < n; i++) {
            if (!(rows[i].releases >> v & 1)) continue;
            check_row(&rows[i], i, (enum fair_release)v);
            seen++;
        }
        if (releases >> v & 1) assert_true(seen >= 20);
    }
}

/* ---- 2.6.23, 2.6.24: loads of 1024 per task, margin 112, wake_idle over all of PAIRS (.23) or the pair (.24) ---- */

static const struct row loads_rows[] = {
    /* 1024 <= 0 no, 100 * 2048 <= 0 no */
    {AT(V23 | V24, PAIRS, 0, 1, 0, "", 0), H(NO_PULL), W(IDLE)},
    /* without the waker 0 <= 0 and 0 <= 1024: this CPU, but its neighbour is idle */
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "", 0), H(ALONE_SYNC), W(NEAR)},
    {AT(V24, PAIRS, 0, 1, SYNC, "", 0), H(COLD), W(NEAR), .cold = true},
    {AT(V23, PAIRS, 0, 1, SYNC, "", 0), H(ALONE_SYNC), W(NEAR), .cold = true},
    /* one more on prev: 1024 + 1024 <= 1024 no, 100 * 2048 <= 112 * 1024 no */
    {AT(V23, PAIRS, 0, 1, 0, "0", 2), H(NO_PULL), W(FAR)},
    {AT(V24, PAIRS, 0, 1, 0, "0", 0), H(NO_PULL), W(TARGET)},
    /* sync: 0 <= 1024 and 0 + 1024 <= 1024 */
    {AT(V23, PAIRS, 0, 1, SYNC, "0", 2), H(ALONE_SYNC), W(FAR)},
    {AT(V24, PAIRS, 0, 1, SYNC, "0", 1), H(ALONE_SYNC), W(TARGET)},
    {AT(V24, PAIRS, 0, 1, SYNC, "0", 1), H(COLD), W(TARGET), .cold = true},
    /* two more: 100 * 2048 <= 112 * 2048 */
    {AT(V23, PAIRS, 0, 1, 0, "0x2", 2), H(LOAD), W(FAR)},
    {AT(V24, PAIRS, 0, 1, 0, "0x2", 1), H(LOAD), W(TARGET)},
    /* two on both: 100 * 3072 <= 112 * 2048 no; more than one task there: no search */
    {AT(V23 | V24, PAIRS, 0, 1, 0, "0x2 1", 0), H(NO_PULL), W(TARGET)},
    /* slept on the waker's CPU; its neighbour is idle; with two tasks there is no search */
    {AT(V23 | V24, PAIRS, 1, 1, 0, "", 0), H(SAME), W(NEAR)},
    {AT(V23 | V24, PAIRS, 1, 1, SYNC, "1", 1), H(SAME), W(TARGET)},
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "", 0), H(NOT_ALLOWED), W(IDLE), .allowed = "0,2"},
    /* the waker has company: 1024 <= 0 no */
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "1", 0), H(NO_PULL), W(IDLE)},
    /* 1024 + 2048 <= 1024 no, 100 * 2048 <= 112 * 2048 yes; two tasks there: no search */
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "0x2 1", 1), H(LOAD_SYNC), W(TARGET)},
    /* an interrupt on an idle CPU: 0 <= 1024 and 0 + 1024 <= 1024 */
    {AT(V23 | V24, PAIRS, 0, 1, 0, "0", 1), H(ALONE), W(IDLE), .irq = true},
    {AT(V23 | V24, PAIRS, 0, 1, 0, "", 1), H(ALONE), W(IDLE), .irq = true},
    /* sync from there: 0 - 1024 wraps, and with the wakee's weight it is 0 */
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "", 1), H(LOAD_SYNC), W(IDLE), .irq = true},
    /* the other package; the waker's neighbour is idle */
    {AT(V23 | V24, PAIRS, 0, 4, SYNC, "", 5), H(ALONE_SYNC), W(NEAR)},
    {AT(V23 | V24, PAIRS, 0, 4, 0, "", 0), H(NO_PULL), W(IDLE)},
    {AT(V23 | V24, PAIRS, 0, 4, 0, "0x2", 5), H(LOAD), W(NEAR)},
    /* first idle CPU of the machine, or none of the pair */
    {AT(V23, PAIRS, 4, 6, 0, "4 5", 0), H(NO_PULL), W(FAR)},
    {AT(V24, PAIRS, 4, 6, 0, "4 5", 4), H(NO_PULL), W(TARGET)},
    /* nodes have WAKE_BALANCE only: 112 * 1024 <= 100 * 2048 */
    {AT(V23 | V24, DUALS, 0, 2, 0, "0x2", 3), H(PASSIVE), W(NEAR)},
    {AT(V23 | V24, DUALS, 0, 2, 0, "0", 1), H(NO_PULL), W(NEAR)},
    {AT(V23 | V24, DUALS, 0, 2, SYNC, "", 0), H(NO_PULL), W(IDLE)}, /* sync does not count there */
    /* a light task: 100 * (1024 + 110) <= 112 * 1024 */
    {AT(V23, PAIRS, 0, 1, 0, "0", 2), H(LOAD), W(FAR), .nice = 10},
    {AT(V24, PAIRS, 0, 1, 0, "0", 1), H(LOAD), W(TARGET), .nice = 10},
    /* all busy */
    {AT(V23 | V24, PAIRS, 0, 1, 0, "0 2-7", 0), H(NO_PULL), W(TARGET)},
    /* the mask limits the search; wake_idle() can be compiled out; so can the pull */
    {AT(V23, PAIRS, 0, 1, 0, "0", 6), H(NO_PULL), W(FAR), .allowed = "0-1,6"},
    {AT(V23 | V24, PAIRS, 0, 1, 0, "0", 0), H(NO_PULL), W(TARGET), .set = "policy.wake_idle=false"},
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "", 0), H(NO_PULL), W(IDLE), .set = "policy.wake_affine=false"},
    {AT(V23 | V24, PAIRS, 0, 1, SYNC, "", 0), H(NO_PULL), W(IDLE), .set = "policy.sync_wakeups=false"},
    {AT(V23 | V24, PAIRS, 2, 1, SYNC, "", 2), .allowed = "2", .rule = FAIR_R_ONE_CPU},
};

/* ---- 2.6.35, 2.6.36 ---- */

static const struct row sibling_rows[] = {
    /* 100 * 2048 <= 112 * 0 no */
    {AT(V35, QUADS, 1, 0, 0, "", 1), H(NO_PULL), W(IDLE)},
    /* without the waker nothing: this CPU, which is busy; first idle of the cache */
    {AT(V35, QUADS, 1, 0, SYNC, "", 1), H(LOAD_SYNC), W(NEAR)},
    {AT(V35, QUADS, 3, 0, SYNC, "", 1), H(LOAD_SYNC), W(NEAR)}, /* not prev, though that is idle too */
    {AT(V35, QUADS, 4, 0, SYNC, "", 1), H(LOAD_SYNC), W(NEAR)},
    {AT(V35, QUADS, 4, 0, 0, "", 4), H(NO_PULL), W(IDLE)},
    /* one more there: 100 * 2048 <= 112 * 1024 no; 1024 + 1024 <= 1024 no */
    {AT(V35, QUADS, 4, 0, 0, "4", 5), H(NO_PULL), W(NEAR)},
    /* two more: 100 * 2048 <= 112 * 2048 */
    {AT(V35, QUADS, 4, 0, 0, "4x2", 1), H(LOAD), W(NEAR)},
    {AT(V35, QUADS, 4, 0, SYNC, "4", 1), H(LOAD_SYNC), W(NEAR)},
    /* the waker has company: 100 * 2048 <= 0 no */
    {AT(V35, QUADS, 4, 0, SYNC, "0", 4), H(NO_PULL), W(IDLE)},
    {AT(V35, QUADS, 4, 0, SYNC, "0 4x2", 1), H(LOAD_SYNC), W(NEAR)}, /* 100 * 2048 <= 112 * 2048 */
    /* interrupts on an idle CPU: nothing here is always balanced */
    {AT(V35, QUADS, 1, 0, 0, "1", 0), H(LOAD), W(IDLE), .irq = true},
    {AT(V35, QUADS, 1, 0, 0, "", 0), H(LOAD), W(IDLE), .irq = true},
    {AT(V35, QUADS, 1, 0, SYNC, "", 0), H(LOAD_SYNC), W(IDLE), .irq = true}, /* 0 - 1024 + 1024 = 0 <= 0 */
    /* slept here */
    {AT(V35, QUADS, 0, 0, 0, "", 1), H(SAME), W(NEAR)},
    {AT(V35, QUADS, 0, 0, SYNC, "1-3", 0), H(SAME), W(NONE)},
    /* no affine wakeup at all: no search either */
    {AT(V35, QUADS, 4, 0, SYNC, "", 4), H(NOT_ALLOWED), W(TARGET), .allowed = "4-7"},
    {AT(V35, QUADS, 4, 0, SYNC, "4", 4), H(OFF), W(TARGET), .set = "policy.features=[\"NO_AFFINE_WAKEUPS\"]"},
    {AT(V35, QUADS, 4, 0, SYNC, "4", 4), H(NO_DOMAIN), W(TARGET), .set = "policy.wake_affine=false"},
    /* full cache: stacked on the waker; its other CPUs are not looked at */
    {AT(V35, QUADS, 4, 0, SYNC, "1-3 4", 0), H(LOAD_SYNC), W(NONE)},
    {AT(V35, QUADS, 4, 0, SYNC, "1 4", 3), H(LOAD_SYNC), W(NEAR), .allowed = "0-1,3-4"},
    /* a larger level overrides the sibling thread: the first idle of the cache */
    {AT(V35, SMT, 2, 0, SYNC, "2", 1), H(LOAD_SYNC), W(FAR)},
    {AT(V35, SMT, 2, 4, SYNC, "2 0", 1), H(LOAD_SYNC), W(FAR)},
    {AT(V35, SMT, 2, 4, SYNC, "0-2", 3), H(LOAD_SYNC), W(FAR)},
    /* both are threads of one core: nobody beyond it is looked at */
    {AT(V35, SMT, 5, 4, SYNC, "5", 4), H(LOAD_SYNC), W(NONE)},
    {AT(V35, SMT, 5, 4, 0, "5x2", 4), H(LOAD), W(NONE)},
    /* SCHED_IDLE there weighs 3, and is no idle CPU */
    {AT(V35, QUADS, 4, 0, 0, "", 5), H(NO_PULL), W(NEAR), .idle_class = "4"},
    /* a light task: 100 * (1024 + 15) <= 112 * 1024 */
    {AT(V35, QUADS, 4, 0, 0, "4", 1), H(LOAD), W(NEAR), .nice = 19},
    {AT(V35, QUADS, 4, 0, SYNC, "", 4), .allowed = "4", .rule = FAIR_R_ONE_CPU},
};

/* ---- 5.4 and later. A sleeper's load (1024) is still on prev (not in 5.4), and taken off in the comparison. ---- */

static const struct row cache_rows[] = {
    /* idle prev near: 100 * 2048 < 108 * 0 no; from 5.9 on idleness decides */
    {AT(V54, QUADS, 1, 0, 0, "", 1), H(NO_PULL), W(IDLE)},
    {AT(V515, QUADS, 1, 0, 0, "", 1), H(PREV_IDLE), W(IDLE)},
    /* idle waker sync: the waker's CPU is the target, an idle prev beside it is taken */
    {AT(MODERN, QUADS, 1, 0, SYNC, "", 1), H(SYNC), W(PREV)},
    /* idle far prev, sync: leaves it for an idle CPU of the waker's cache */
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 1), H(SYNC), W(CPU)},
    {AT(V54, QUADS, 4, 0, 0, "", 4), H(NO_PULL), W(IDLE)},
    {AT(V515, QUADS, 4, 0, 0, "", 4), H(PREV_IDLE), W(IDLE)},
    /* far prev busy: 100 * 2048 < 108 * 1024 no: its cache is searched; two there: 100 * 2048 < 108 * 2048 */
    {AT(MODERN, QUADS, 4, 0, 0, "4", 5), H(NO_PULL), W(CPU)},
    {AT(V515, QUADS, 4, 0, 0, "4x2", 1), H(LOAD), W(CPU)},
    {AT(V54, QUADS, 4, 0, 0, "4x2", 5), H(NO_PULL), W(CPU)}, /* 108 * (2048 - 1024) */
    {AT(V54, QUADS, 4, 0, 0, "4x3", 1), H(LOAD), W(CPU)},
    {AT(MODERN, QUADS, 4, 0, SYNC, "4", 1), H(SYNC), W(CPU)},
    /* the waker has company, so sync counts in the load only: 100 * (2048 - 1024 + 1024) */
    {AT(V54, QUADS, 4, 0, SYNC, "0", 4), H(NO_PULL), W(IDLE)},
    {AT(V515, QUADS, 4, 0, SYNC, "0", 4), H(PREV_IDLE), W(IDLE)},
    {AT(MODERN, QUADS, 4, 0, SYNC, "0 4", 5), H(NO_PULL), W(CPU)},
    {AT(V515, QUADS, 4, 0, SYNC, "0 4x2", 1), H(LOAD_SYNC), W(CPU)},
    {AT(V54, QUADS, 4, 0, SYNC, "0 4x3", 1), H(LOAD_SYNC), W(CPU)},
    /* interrupts on an idle CPU */
    {AT(MODERN, QUADS, 1, 0, 0, "", 1), H(BOTH_IDLE), W(IDLE), .irq = true},
    {AT(MODERN, QUADS, 1, 0, 0, "1", 0), H(THIS_IDLE), W(IDLE), .irq = true},
    {AT(V515, QUADS, 4, 0, 0, "4", 0), H(LOAD), W(IDLE), .irq = true},  /* 100 * 1024 < 108 * 1024 */
    {AT(V54, QUADS, 4, 0, 0, "4", 5), H(NO_PULL), W(CPU), .irq = true}, /* 100 * 1024 < 0 no */
    {AT(V54, QUADS, 4, 0, 0, "", 4), H(NO_PULL), W(IDLE), .irq = true},
    {AT(V515, QUADS, 4, 0, 0, "", 4), H(PREV_IDLE), W(IDLE), .irq = true},
    /* wide waker: flips 16 and 4, cache of 4 CPUs */
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), H(WIDE), W(IDLE), .waker_flips = 15, .wakee_flips = 4},
    {AT(MODERN, QUADS, 4, 0, SYNC, "4", 5), H(WIDE), W(CPU), .waker_flips = 15, .wakee_flips = 4},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 1), H(SYNC), W(CPU), .waker_flips = 14, .wakee_flips = 4},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 1), H(SYNC), W(CPU), .waker_flips = 99, .wakee_flips = 3},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), H(WIDE), W(IDLE), .waker_flips = 3, .wakee_flips = 16},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 1), H(SYNC), W(CPU), .waker_flips = 15, .wakee_flips = 4,
     .set = "policy.wake_wide=false"},
    /* full cache: stacked on the waker */
    {AT(MODERN, QUADS, 4, 0, SYNC, "1-3 4", 0), H(SYNC), W(NONE)},
    {AT(V515, QUADS, 4, 0, SYNC, "4", 0), H(SYNC), W(FULL), .scan = 1},
    /* nr_idle_scan 1: one CPU is looked at */
    {AT(V515, QUADS, 4, 0, SYNC, "1 4", 0), H(SYNC), W(LIMIT), .scan = 2},
    {AT(V515, QUADS, 4, 0, SYNC, "4", 1), H(SYNC), W(CPU), .scan = 2},
    /* 5.4, average idle 512 ns: 4 * 1 > 4 * 1 no, so 4: looks at 0, 1, 2 */
    {AT(V54, QUADS, 4, 0, SYNC, "1-2 4", 0), H(SYNC), W(LIMIT), .avg_idle = 512},
    {AT(V54, QUADS, 4, 0, SYNC, "1 4", 2), H(SYNC), W(CPU), .avg_idle = 512},
    {AT(V54, QUADS, 4, 0, SYNC, "1-2 4", 3), H(SYNC), W(CPU), .avg_idle = 512,
     .set = "policy.features=[\"NO_SIS_PROP\"]"},
    /* recently used CPU */
    {AT(MODERN, QUADS, 4, 0, SYNC, "4", 3), H(SYNC), W(RECENT), .recent = 4},
    {AT(MODERN, QUADS, 4, 0, SYNC, "3 4", 1), H(SYNC), W(CPU), .recent = 4},
    {AT(MODERN, QUADS, 4, 0, SYNC, "4", 1), H(SYNC), W(CPU), .recent = 6}, /* of the other cache */
    {AT(MODERN & ~ONLY(FAIR_6_1), QUADS, 4, 0, SYNC, "4", 1), H(SYNC), W(CPU), .recent = 4, .allowed = "0-2,4"},
    /* 6.1 asks whether the previous CPU is allowed: the recent one is taken, found out, and the first allowed one of
     * the previous node follows */
    {AT(ONLY(FAIR_6_1), QUADS, 4, 0, SYNC, "4", 4), H(SYNC), W(FALLBACK), .recent = 4, .allowed = "0-2,4"},
    {AT(ONLY(FAIR_6_1), QUADS, 4, 0, SYNC, "4", 1), H(SYNC), W(CPU), .recent = 4, .allowed = "0-3"},
    {AT(MODERN & ~ONLY(FAIR_6_1), QUADS, 4, 0, SYNC, "4", 3), H(SYNC), W(RECENT), .recent = 4, .allowed = "0-3"},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), H(NOT_ALLOWED), W(IDLE), .allowed = "4-7"},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), .allowed = "4", .rule = FAIR_R_ONE_CPU},
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), H(NO_DOMAIN), W(IDLE), .set = "policy.wake_affine=false"},
    {AT(MODERN, QUADS, 0, 0, 0, "", 1), H(SAME), W(CPU)},
    {AT(MODERN, QUADS, 0, 0, SYNC, "1-3", 0), H(SAME), W(NONE)},
    /* a per-CPU kernel thread completes its client's request */
    {AT(V515, QUADS, 0, 0, 0, "", 0), H(SAME), W(KTHREAD), .kthread = true},
    {AT(V54, QUADS, 0, 0, 0, "", 1), H(SAME), W(CPU), .kthread = true},
    {AT(MODERN, QUADS, 0, 0, 0, "0", 1), H(SAME), W(CPU), .kthread = true},
    /* handed over */
    {AT(FAIR_SINCE(FAIR_6_6), QUADS, 4, 0, WB_WF_CURRENT_CPU, "4", 0), .rule = FAIR_R_CURRENT_CPU},
    {AT(FAIR_IN(FAIR_5_15, FAIR_6_1), QUADS, 4, 0, WB_WF_CURRENT_CPU, "", 4), H(PREV_IDLE), W(IDLE)},
    {AT(FAIR_SINCE(FAIR_6_6), QUADS, 4, 0, WB_WF_CURRENT_CPU, "", 4), H(NOT_ALLOWED), W(IDLE), .allowed = "4-5"},
    /* only SCHED_IDLE tasks there: as good as idle for the search, not for wake_affine: 100 * 2048 < 108 * 3 */
    {AT(MODERN, QUADS, 4, 0, 0, "", 4), H(NO_PULL), W(IDLE), .idle_class = "4"},
    /* switches of wake_affine */
    {AT(MODERN, QUADS, 4, 0, SYNC, "", 4), H(NO_PULL), W(IDLE),
     .set = "policy.features=[\"NO_WA_IDLE\",\"NO_WA_WEIGHT\"]"},
    {AT(MODERN, QUADS, 4, 0, 0, "4x3", 5), H(NO_PULL), W(CPU), .set = "policy.features=[\"NO_WA_WEIGHT\"]"},
    {AT(V515, QUADS, 4, 0, 0, "4x2", 5), H(NO_PULL), W(CPU),
     .set = "policy.features=[\"NO_WA_BIAS\"]"}, /* 2048 < 2048 */
    {AT(V515, QUADS, 4, 0, SYNC, "0 4x2", 1), H(LOAD_SYNC), W(CPU),
     .set = "policy.features=[\"NO_WA_BIAS\"]"}, /* + 1 */
    {AT(V54, QUADS, 4, 0, 0, "4x3", 5), H(NO_PULL), W(CPU), .set = "policy.features=[\"NO_WA_BIAS\"]"},
    /* threads: an idle core is advertised; prev busy, its sibling idle */
    {AT(MODERN, SMT, 2, 0, SYNC, "2", 4), H(SYNC), W(CORE)},
    {AT(V515, SMT, 2, 0, SYNC, "2", 3), H(SYNC), W(SIBLING), .cores = 1},
    {AT(V54, SMT, 2, 0, SYNC, "2", 1), H(SYNC), W(CPU), .cores = 1},
    {AT(MODERN, SMT, 2, 0, SYNC, "2 4 6", 1), H(SYNC), W(CPU), .cores = 2}, /* stale: no core is idle */
    {AT(MODERN, SMT, 2, 0, SYNC, "1-6", 7), H(SYNC), W(CPU), .cores = 1},
    {AT(MODERN, SMT, 2, 0, SYNC, "2 4", 6), H(SYNC), W(CORE), .scan = 2}, /* cores: no limit */
    /* 5.4: the limit ends before the sibling is reached, then it is tried */
    {AT(V54, SMT_LAST, 1, 0, SYNC, "1-2", 4), H(SYNC), W(SMT), .cores = 1, .avg_idle = 511},
    /* clusters are searched first from 6.7 on; prev in another cluster comes last */
    {AT(V612, CLUSTERS, 4, 0, SYNC, "4", 1), H(SYNC), W(CLUSTER)},
    {AT(V612, CLUSTERS, 4, 0, SYNC, "1 4", 2), H(SYNC), W(CPU)},
    {AT(V612, CLUSTERS, 2, 0, SYNC, "", 1), H(SYNC), W(CLUSTER)},
    {AT(FAIR_IN(FAIR_5_4, FAIR_6_6), CLUSTERS, 2, 0, SYNC, "", 2), H(SYNC), W(PREV)},
    {AT(V612, CLUSTERS, 2, 0, SYNC, "", 2), H(SYNC), W(PREV_FAR), .scan = 1},
    {AT(V612, CLUSTERS, 4, 0, SYNC, "4", 3), H(SYNC), W(RECENT_FAR), .scan = 1, .recent = 4},
    {AT(V612, CLUSTERS, 4, 0, SYNC, "4", 1), H(SYNC), W(RECENT), .scan = 1, .recent = 2},
};

static void loads_2_6_23_2_6_24(void **state)
{
    (void)state;
    check_table(loads_rows, WB_ARRAY_SIZE(loads_rows), V23 | V24);
}

static void siblings_2_6_35_2_6_36(void **state)
{
    (void)state;
    check_table(sibling_rows, WB_ARRAY_SIZE(sibling_rows), V35);
}

static void caches_5_4_and_later(void **state)
{
    (void)state;
    check_table(cache_rows, WB_ARRAY_SIZE(cache_rows), MODERN);
}

/* ---- signatures of 5.4 and later ---- */

/* All patterns of busy CPUs around a lone waker on CPU 0: whoever is idle in its cache is found. */
static void sync_never_stacks_beside_an_idle_cpu(void **state)
{
    (void)state;
    for (uint32_t v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        for (uint32_t pattern = 0; pattern < 8; pattern++) {
            char busy[16] = "4";
            for (int c = 1; c < 4; c++)
                if (pattern >> (c - 1) & 1) (void)sprintf(busy + strlen(busy), " %d", c);
            struct row r = {AT(0, QUADS, 4, 0, SYNC, busy, 0)};
            struct scene k;
            build(&k, &r, (enum fair_release)v);
            struct wb_choice c = choose(&k, &r);
            assert_true(pattern == 7 ? c.cpu == 0 : c.cpu > 0 && c.cpu < 4 && !(pattern >> (c.cpu - 1) & 1));
            fake_free(k.s);
        }
    }
}

static void check_signature(const struct row *r, uint32_t releases)
{
    for (uint32_t v = 0; v < FAIR_RELEASES; v++)
        if (releases >> v & 1) check_row(r, 0, (enum fair_release)v);
}

static void sync_wakee_leaves_a_far_prev_for_the_wakers_cache(void **state)
{
    (void)state;
    const struct row idle = {AT(MODERN, QUADS, 6, 0, SYNC, "", 1), H(SYNC), W(CPU)};
    const struct row busy = {AT(MODERN, QUADS, 6, 0, SYNC, "6", 1), H(SYNC), W(CPU)};
    check_signature(&idle, MODERN);
    check_signature(&busy, MODERN);
}

static void full_cache_stacks_on_the_target(void **state)
{
    (void)state;
    const struct row r = {AT(MODERN, QUADS, 6, 0, SYNC, "6", 0), H(SYNC), W(FULL), .scan = 1};
    check_signature(&r, V515);
}

static void wakers_of_many_are_wide_at_llc_size_flips(void **state)
{
    (void)state;
    const struct row below = {AT(MODERN, QUADS, 6, 0, SYNC, "", 1), H(SYNC), W(CPU), .waker_flips = 99,
                              .wakee_flips = 3};
    const struct row at = {AT(MODERN, QUADS, 6, 0, SYNC, "", 6), H(WIDE), W(IDLE), .waker_flips = 99, .wakee_flips = 4};
    check_signature(&below, MODERN);
    check_signature(&at, MODERN);
}

/* ---- beyond tables ---- */

/* Tasks that nobody in the scenario forked come with policy.start_flips; what they fork inherits it. */
static void flips_come_with_the_shell(void **state)
{
    (void)state;
    struct row r = {AT(MODERN, QUADS, 1, 0, 0, "", 0), .set = "policy.start_flips=7"};
    struct scene k;
    build(&k, &r, FAIR_6_12);
    struct wb_task *t = fake_task(k.s, 2, 0);
    fair_task_init(k.s, t);
    assert_int_equal(fair_task(t)->pl.wakee_flips, 7);
    fake_free(k.s);
}

/* A waker of one task keeps its flips at 1; of two in turn it flips each time; a second without wakeups halves. */
static void flips_count_changes_of_wakee(void **state)
{
    (void)state;
    struct row r = {AT(MODERN, QUADS, 1, 0, 0, "", 0)};
    struct scene k;
    build(&k, &r, FAIR_6_12);
    struct fair_task *waker = fair_task(k.s->rq[0].curr);
    struct wb_task *first = k.p, *second = fake_task(k.s, 2, 0);
    for (int i = 0; i < 5; i++) (void)choose(&k, &r);
    assert_int_equal(waker->pl.wakee_flips, 1);
    for (int i = 0; i < 6; i++) {
        k.p = i & 1 ? first : second;
        (void)choose(&k, &r);
    }
    assert_int_equal(waker->pl.wakee_flips, 7);
    k.s->now += WB_S + 2 * wb_tick_ps(k.s);
    (void)choose(&k, &r);
    assert_int_equal(waker->pl.wakee_flips, 3);
    fake_free(k.s);
}

/* 5.4: recent_used_cpu is replaced when it is used, and the waker's follows it; later: always. */
static void recent_cpu_by_version(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v <= FAIR_5_15; v++) {
        struct row r = {AT(MODERN, QUADS, 4, 0, SYNC, "4", 0), .recent = 7};
        struct scene k;
        build(&k, &r, v);
        (void)choose(&k, &r);
        assert_int_equal(fair_task(k.p)->pl.recent_used_cpu, v == FAIR_5_4 ? 6 : 4); /* 6 was not used: another cache */
        assert_int_equal(fair_task(k.s->rq[0].curr)->pl.recent_used_cpu, v == FAIR_5_4 ? 0u : WB_NO_CPU);
        fake_free(k.s);
    }
}

/* A search without result takes the idle-core hint back; a core that goes idle gives it again. */
static void idle_core_hint(void **state)
{
    (void)state;
    struct row r = {AT(MODERN, SMT, 2, 0, SYNC, "2 4 6", 0), .cores = 2};
    struct scene k;
    build(&k, &r, FAIR_6_1);
    struct fair_llc *llc = k.f->pl.seat[0].shared;
    (void)choose(&k, &r);
    assert_false(llc->has_idle_cores);
    fair_balance_picked(fake_exec(k.s, 5), &k.s->rq[5], NULL); /* its sibling 4 is busy */
    assert_false(llc->has_idle_cores);
    (void)fake_schedule(k.s, 4, WB_INTERRUPTIBLE);
    fair_balance_picked(fake_exec(k.s, 4), &k.s->rq[4], NULL);
    assert_true(llc->has_idle_cores);
    fake_free(k.s);
}

/* Each CPU looked at is charged once. SIS_UTIL with nr_idle_scan 10 on 16 CPUs: ten at most. */
static void scans_are_paid(void **state)
{
    (void)state;
    struct row r = {
        AT(MODERN, "topology = \"pack:2 [numa] l3:1(size=33554432) core:16 pu:1\";", 16, 0, SYNC, "1-16", 0),
        .scan = 11};
    struct scene k;
    build(&k, &r, FAIR_6_12);
    uint64_t before = k.s->scans;
    struct wb_choice c = choose(&k, &r);
    assert_int_equal(c.rule, FAIR_R_AT(FAIR_H_SYNC, FAIR_W_LIMIT));
    assert_int_equal(k.s->scans - before, 10); /* prev is not looked at: another cache */
    fake_free(k.s);
}

/* Queueing on the target: another cache always, an idle CPU of the cache from 5.8 on, never the own CPU. */
static void queueing_by_version(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        cpu_id cpu;
        const char *busy, *set;
        bool queued;
    } table[] = {
        {FAIR_2_6_36, 4, "", NULL, false}, {FAIR_5_4, 4, "", NULL, true},
        {FAIR_5_4, 1, "", NULL, false},    {FAIR_5_15, 1, "", NULL, true},
        {FAIR_5_15, 1, "1", NULL, false},  {FAIR_6_18, 4, "4", NULL, true},
        {FAIR_6_18, 0, "", NULL, false},   {FAIR_6_12, 4, "", "policy.features=[\"NO_TTWU_QUEUE\"]", false},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct row r = {AT(0, QUADS, 1, 0, 0, table[i].busy, 0), .set = table[i].set};
        struct scene k;
        build(&k, &r, table[i].v);
        struct wb_wakeup w = {.task = k.p, .this_cpu = 0, .prev_cpu = 1};
        if (fair_queue_remote(fake_exec(k.s, 0), &w, table[i].cpu) != table[i].queued) fail_msg("row %zu", i);
        fake_free(k.s);
    }
}

/* A task too big for a small CPU: 5.4 does not pull it there, but looks for room; later it searches by capacity. */
static void capacities(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        uint32_t util;
        const char *busy;
        cpu_id prev, cpu;
        enum fair_how how;
        enum fair_where where;
    } table[] = {
        {FAIR_5_4, 700, "", 4, 4, FAIR_H_UNFIT, FAIR_W_IDLEST}, /* 700 * 1280 >= 446 * 1024: placed as a new one */
        {FAIR_5_4, 300, "", 4, 4, FAIR_H_SYNC, FAIR_W_PREV},    /* 300 * 1280 < 446 * 1024 */
        {FAIR_6_12, 300, "4", 4, 1, FAIR_H_SYNC, FAIR_W_CAPACITY},
        {FAIR_6_12, 700, "", 4, 4, FAIR_H_SYNC, FAIR_W_PREV},
        {FAIR_6_12, 700, "4", 4, 5, FAIR_H_SYNC, FAIR_W_CAPACITY}, /* first idle CPU that fits */
        {FAIR_6_12, 700, "4-5", 4, 6, FAIR_H_SYNC, FAIR_W_CAPACITY},
        {FAIR_6_12, 900, "4-5", 4, 6, FAIR_H_SYNC, FAIR_W_CAPACITY}, /* fits nowhere: the biggest idle one */
        {FAIR_6_12, 700, "1-7", 4, 0, FAIR_H_SYNC, FAIR_W_NONE},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct row r = {AT(0, "topology = \"[numa] pack:1 l3:1(size=8388608) core:8 pu:1\";", table[i].prev, 0, SYNC,
                           table[i].busy, 0),
                        .set = "policy.cpu_capacity=[\"0-3 446\"]"};
        struct scene k;
        build(&k, &r, table[i].v);
        fair_task(k.p)->avg.util_avg = table[i].util;
        struct wb_choice c = choose(&k, &r);
        if (c.cpu != table[i].cpu || c.rule != FAIR_R_AT(table[i].how, table[i].where))
            fail_msg("row %zu: cpu %u (%s)", i, c.cpu, fair_rules[c.rule]);
        fake_free(k.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_2_6_23_2_6_24),
        cmocka_unit_test(siblings_2_6_35_2_6_36),
        cmocka_unit_test(caches_5_4_and_later),
        cmocka_unit_test(sync_never_stacks_beside_an_idle_cpu),
        cmocka_unit_test(sync_wakee_leaves_a_far_prev_for_the_wakers_cache),
        cmocka_unit_test(full_cache_stacks_on_the_target),
        cmocka_unit_test(wakers_of_many_are_wide_at_llc_size_flips),
        cmocka_unit_test(flips_come_with_the_shell),
        cmocka_unit_test(flips_count_changes_of_wakee),
        cmocka_unit_test(recent_cpu_by_version),
        cmocka_unit_test(idle_core_hint),
        cmocka_unit_test(scans_are_paid),
        cmocka_unit_test(queueing_by_version),
        cmocka_unit_test(capacities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
