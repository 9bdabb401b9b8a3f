/* Where woken tasks go in 2.6.10, 2.6.11 and 2.6.22: tables of situations worked by hand, each row with its rule.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"                  /* 4 CPUs, no SMT: one domain with AFFINE and BALANCE */
#define HT4 "topology = \"[numa] pack:4 l2:1 core:1 pu:2\";" /* siblings 0,1 2,3 4,5 6,7 */
#define STOAKLEY "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";" /* 0,1 share a cache; 0-3 a package */
#define DUALS "topology = \"pack:2 [numa] l3:1 core:2 pu:1\";"    /* 0,1 and 2,3 are nodes */
#define SYNC WB_WF_SYNC
#define ALL 0

struct row {
    const char *machine;
    cpu_id prev, here;
    uint32_t flags;
    uint32_t there, with; /* runnable on prev; runnable on `here` beside the waker */
    bool cold;            /* else the wakee slept less than a tick ago */
    cpu_id cpu;
    wb_rule rule;
    /* less common */
    uint32_t busy; /* mask: CPUs that run one more task */
    bool irq;      /* the waker is an interrupt on an idle CPU */
    uint64_t allowed;
    bool running; /* the wakee has not left its CPU yet */
};

/* ---- 2.6.10 and 2.6.11: 128 a task, margin 137; loads have settled ---- */

static const struct row tiger_rows[] = {
    /* load 0 < 64 and 128 > 64: an idle previous CPU keeps its task, hot or cold */
    {TIGER, 0, 1, 0, 0, 0, false, 0, O1_R_PREV_IDLE, 0, false, ALL, false},
    {TIGER, 0, 1, 0, 0, 0, true, 0, O1_R_PREV_IDLE, 0, false, ALL, false},
    /* sync takes the waker off: 0 > 64 is false. Cold: affine; hot: 137 * 0 <= 100 * 0 */
    {TIGER, 0, 1, SYNC, 0, 0, true, 1, O1_R_AFFINE_SYNC, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 0, 0, false, 1, O1_R_BALANCE_SYNC, 0, false, ALL, false},
    /* one other there. Cold: affine; hot: 137 * 128 <= 100 * 128 is false */
    {TIGER, 0, 1, 0, 1, 0, true, 1, O1_R_AFFINE, 0, false, ALL, false},
    {TIGER, 0, 1, 0, 1, 0, false, 0, O1_R_NO_PULL, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 1, 0, true, 1, O1_R_AFFINE_SYNC, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 1, 0, false, 1, O1_R_BALANCE_SYNC, 0, false, ALL, false},
    /* two others: 17536 <= 25600 */
    {TIGER, 0, 1, 0, 2, 0, false, 1, O1_R_BALANCE, 0, false, ALL, false},
    {TIGER, 0, 1, 0, 2, 0, true, 1, O1_R_AFFINE, 0, false, ALL, false},
    /* the waker has company: sync leaves 128 > 64 */
    {TIGER, 0, 1, SYNC, 0, 1, true, 0, O1_R_PREV_IDLE, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 0, 1, false, 0, O1_R_PREV_IDLE, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 1, 1, false, 0, O1_R_NO_PULL, 0, false, ALL, false}, /* 17536 <= 12800 no */
    {TIGER, 0, 1, SYNC, 1, 1, true, 1, O1_R_AFFINE_SYNC, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 2, 1, false, 1, O1_R_BALANCE_SYNC, 0, false, ALL, false}, /* 17536 <= 25600 */
    {TIGER, 0, 1, 0, 2, 1, false, 0, O1_R_NO_PULL, 0, false, ALL, false},         /* 35072 <= 25600 no */
    {TIGER, 0, 1, 0, 3, 1, false, 1, O1_R_BALANCE, 0, false, ALL, false},         /* 35072 <= 38400 */
    /* an interrupt on an idle CPU: 0 > 64 is false; affine, or 0 <= anything */
    {TIGER, 0, 3, 0, 0, 0, true, 3, O1_R_AFFINE, 0, true, ALL, false},
    {TIGER, 0, 3, 0, 0, 0, false, 3, O1_R_BALANCE, 0, true, ALL, false},
    {TIGER, 0, 3, 0, 1, 0, false, 3, O1_R_BALANCE, 0, true, ALL, false},
    /* sync from there: 0 - 128 wraps to a huge load */
    {TIGER, 0, 3, SYNC, 0, 0, true, 0, O1_R_PREV_IDLE, 0, true, ALL, false},
    {TIGER, 0, 3, SYNC, 1, 0, false, 0, O1_R_NO_PULL, 0, true, ALL, false},
    {TIGER, 0, 3, SYNC, 1, 0, true, 3, O1_R_AFFINE_SYNC, 0, true, ALL, false},
    /* not asked at all */
    {TIGER, 1, 1, SYNC, 0, 0, true, 1, O1_R_SAME_CPU, 0, false, ALL, false},
    {TIGER, 0, 1, SYNC, 1, 0, true, 0, O1_R_NOT_ALLOWED, 0, false, 0xd, false},
    {TIGER, 0, 1, SYNC, 0, 0, true, 0, O1_R_STILL_RUNNING, 0, false, ALL, true},
};

/* i386 kernels have wake_idle(): 2.6.10 within the core, 2.6.11 up to the machine. */
static const struct row ht_2_6_10[] = {
    {HT4, 0, 2, 0, 0, 0, true, 0, O1_R_PREV_IDLE, 0, false, ALL, false},            /* idle already: no search */
    {HT4, 0, 2, SYNC, 0, 0, true, 3, O1_R_WAKE_IDLE_NEAR, 0, false, ALL, false},    /* pulled to 2, its sibling */
    {HT4, 0, 2, SYNC, 0, 0, true, 2, O1_R_AFFINE_SYNC, 1u << 3, false, ALL, false}, /* 6 is idle: too far */
    {HT4, 0, 2, SYNC, 0, 0, true, 2, O1_R_AFFINE_SYNC, 0, false, 0x45, false},      /* 3 is not allowed */
};
static const struct row ht_2_6_11[] = {
    {HT4, 0, 2, 0, 0, 0, true, 0, O1_R_PREV_IDLE, 0, false, ALL, false},
    {HT4, 0, 2, SYNC, 0, 0, true, 3, O1_R_WAKE_IDLE_NEAR, 0, false, ALL, false},
    {HT4, 0, 2, SYNC, 0, 0, true, 0, O1_R_WAKE_IDLE_FAR, 1u << 3, false, ALL, false}, /* lowest idle: prev itself */
    {HT4, 0, 2, SYNC, 0, 0, true, 6, O1_R_WAKE_IDLE_FAR, 0, false, 0x44, false},
    {HT4, 2, 2, 0, 0, 0, true, 3, O1_R_WAKE_IDLE_NEAR, 0, false, ALL, false}, /* slept on the waker's CPU */
};

/* ---- 2.6.22: (a) tl <= load and tl + target(prev) <= 128; (b) 100 * (tl + 128) <= 112 * load ---- */

static const struct row weight_rows[] = {
    {STOAKLEY, 0, 1, 0, 0, 0, true, 0, O1_R_NO_PULL, 0, false, ALL, false}, /* 128 <= 0 no; 25600 <= 0 no */
    {STOAKLEY, 0, 1, SYNC, 0, 0, true, 1, O1_R_AFFINE_ALONE_SYNC, 0, false, ALL, false},  /* 0 <= 0, 0 <= 128 */
    {STOAKLEY, 0, 1, SYNC, 0, 0, false, 1, O1_R_AFFINE_ALONE_SYNC, 0, false, ALL, false}, /* heat does not count */
    {STOAKLEY, 0, 1, 0, 1, 0, true, 0, O1_R_NO_PULL, 0, false, ALL, false}, /* 256 <= 128 no; 25600 <= 14336 no */
    {STOAKLEY, 0, 1, SYNC, 1, 0, true, 1, O1_R_AFFINE_ALONE_SYNC, 0, false, ALL, false}, /* 0 <= 128, 128 <= 128 */
    {STOAKLEY, 0, 1, 0, 2, 0, true, 1, O1_R_AFFINE_LOAD, 0, false, ALL, false},          /* 25600 <= 28672 */
    {STOAKLEY, 0, 1, SYNC, 2, 0, true, 1, O1_R_AFFINE_LOAD_SYNC, 0, false, ALL, false},  /* 256 <= 128 no; 12800 */
    /* the waker has company */
    {STOAKLEY, 0, 1, 0, 0, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false},
    {STOAKLEY, 0, 1, SYNC, 0, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false},          /* 128 <= 0 no */
    {STOAKLEY, 0, 1, SYNC, 1, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false},          /* 25600 <= 14336 no */
    {STOAKLEY, 0, 1, SYNC, 2, 1, true, 1, O1_R_AFFINE_LOAD_SYNC, 0, false, ALL, false}, /* 25600 <= 28672 */
    {STOAKLEY, 0, 1, 0, 2, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false},             /* 38400 <= 28672 no */
    {STOAKLEY, 0, 1, 0, 3, 1, true, 1, O1_R_AFFINE_LOAD, 0, false, ALL, false},         /* 38400 <= 43008 */
    /* interrupts on an idle CPU */
    {STOAKLEY, 0, 1, 0, 0, 0, true, 1, O1_R_AFFINE_ALONE, 0, true, ALL, false},
    {STOAKLEY, 0, 1, 0, 1, 0, true, 1, O1_R_AFFINE_ALONE, 0, true, ALL, false}, /* 0 <= 128, 128 <= 128 */
    {STOAKLEY, 0, 1, 0, 2, 0, true, 1, O1_R_AFFINE_LOAD, 0, true, ALL, false},  /* 256 <= 128 no; 12800 <= 28672 */
    /* another cache, another package: the same numbers */
    {STOAKLEY, 0, 2, SYNC, 0, 0, true, 2, O1_R_AFFINE_ALONE_SYNC, 0, false, ALL, false},
    {STOAKLEY, 0, 4, SYNC, 1, 0, true, 4, O1_R_AFFINE_ALONE_SYNC, 0, false, ALL, false},
    {STOAKLEY, 0, 4, 0, 1, 0, true, 0, O1_R_NO_PULL, 0, false, ALL, false},
    /* nodes have WAKE_BALANCE only, and sync does not count there: 112 * 128 = 14336 */
    {DUALS, 0, 2, SYNC, 0, 0, true, 0, O1_R_NO_PULL, 0, false, ALL, false},
    {DUALS, 0, 2, 0, 1, 0, true, 0, O1_R_NO_PULL, 0, false, ALL, false},    /* 14336 <= 12800 no */
    {DUALS, 0, 2, 0, 2, 0, true, 2, O1_R_BALANCE, 0, false, ALL, false},    /* 14336 <= 25600 */
    {DUALS, 0, 2, SYNC, 2, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false}, /* 28672 <= 25600 no */
    /* wake_idle() within the core, from a CPU with one task */
    {HT4, 0, 2, SYNC, 0, 0, true, 3, O1_R_WAKE_IDLE_NEAR, 0, false, ALL, false},
    {HT4, 0, 2, SYNC, 0, 0, true, 2, O1_R_AFFINE_ALONE_SYNC, 1u << 3, false, ALL, false}, /* 6 is too far */
    {HT4, 0, 2, 0, 1, 0, true, 1, O1_R_WAKE_IDLE_NEAR, 0, false, ALL, false}, /* stays at 0, which is busy */
    {HT4, 0, 2, 0, 2, 1, true, 0, O1_R_NO_PULL, 0, false, ALL, false},        /* two tasks there: no search */
    /* not asked at all */
    {STOAKLEY, 1, 1, SYNC, 0, 0, true, 1, O1_R_SAME_CPU, 0, false, ALL, false},
    {STOAKLEY, 0, 1, SYNC, 1, 0, true, 0, O1_R_NOT_ALLOWED, 0, false, 0xfd, false},
    {STOAKLEY, 0, 1, SYNC, 0, 0, true, 0, O1_R_STILL_RUNNING, 0, false, ALL, true},
};

static void settle(struct wb_sim *s)
{
    for (cpu_id c = 0; c < s->ncpus; c++) fake_ticks(s, c, 20);
}

static void check_row(const char *kernel, const struct row *r, size_t i)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, r->machine, NULL);
    uint64_t word = r->allowed;
    struct wb_cpumask allowed = {.ncpus = s->ncpus, .nwords = 1, .w = &word};
    struct wb_task *p = fake_task(s, r->prev, 0);
    if (!r->irq) fake_running(s, r->here, 0);
    for (uint32_t k = 0; k < r->with; k++) fake_runnable(s, r->here, 0);
    for (uint32_t k = 0; k < r->there; k++) fake_runnable(s, r->prev, 0);
    if (r->there) fake_schedule(s, r->prev, WB_RUNNING);
    for (cpu_id c = 0; c < s->ncpus; c++)
        if (r->busy >> c & 1) fake_running(s, c, 0);
    settle(s);
    o1_task(p)->last_ran = s->now / WB_NS;
    s->now += 100 * WB_US;
    if (r->cold) fake_ticks(s, r->prev, 12);
    p->on_cpu = r->running;
    if (r->allowed) p->allowed = &allowed;
    struct wb_wakeup w = {.task = p, .this_cpu = r->here, .prev_cpu = r->prev, .flags = r->flags};
    struct wb_exec *x = fake_exec_irq(s, r->here, r->irq ? WB_LEVEL_HARDIRQ : WB_LEVEL_TASK);
    struct wb_choice c = o1_policy.place_wakeup(x, &w);
    if (c.cpu != r->cpu || c.rule != r->rule)
        fail_msg("%s row %zu: cpu %u (%s), expected %u (%s)", kernel, i, c.cpu, o1_rules[c.rule], r->cpu,
                 o1_rules[r->rule]);
    fake_free(s);
}

static size_t check(const char *kernel, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) check_row(kernel, &rows[i], i);
    return n;
}

static void placement_2_6_10(void **state)
{
    (void)state;
    size_t n = check("linux-2.6.10", tiger_rows, WB_ARRAY_SIZE(tiger_rows));
    n += check("linux-2.6.10-i386", ht_2_6_10, WB_ARRAY_SIZE(ht_2_6_10));
    assert_true(n >= 20);
}

static void placement_2_6_11(void **state)
{
    (void)state;
    size_t n = check("linux-2.6.11", tiger_rows, WB_ARRAY_SIZE(tiger_rows));
    n += check("linux-2.6.11-i386", ht_2_6_11, WB_ARRAY_SIZE(ht_2_6_11));
    assert_true(n >= 20);
}

static void placement_2_6_22(void **state)
{
    (void)state;
    assert_true(check("linux-2.6.22", weight_rows, WB_ARRAY_SIZE(weight_rows)) >= 20);
}

/* Previous CPU with two others, waker alone, not sync: 100 * 256 = 25600 <= 112 * 256 = 28672. */
static void affine_2_6_22_two_others_there_pulls(void **state)
{
    (void)state;
    const struct row r = {STOAKLEY, 0, 1, 0, 2, 0, true, 1, O1_R_AFFINE_LOAD, 0, false, ALL, false};
    check_row("linux-2.6.22", &r, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement_2_6_10),
        cmocka_unit_test(placement_2_6_11),
        cmocka_unit_test(placement_2_6_22),
        cmocka_unit_test(affine_2_6_22_two_others_there_pulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
