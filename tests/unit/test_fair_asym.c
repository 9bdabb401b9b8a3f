/* Machines with CPUs of several kinds: loads in units of the biggest, tasks that outgrow their CPU, packing on CPUs of
 * higher priority beside threads.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fair_groups.h"
#include "fairscene.h"
#include "fakekernel.h"

#define ONE_BIG_ONE_SMALL "topology = \"pack:1 [numa] l3:1(size=8388608) core:2 pu:1\";"

static void up_to_date(struct wb_sim *s, cpu_id cpu)
{
    fair_update_clock(fake_exec(s, cpu), &s->rq[cpu]);
    fair_update_load(s->policy, fair_rq(&s->rq[cpu]), fair_rq(&s->rq[cpu])->curr);
}

/* ---- update_rq_clock_pelt, update_idle_rq_clock_pelt (5.1+) ---- */

/* A task that never sleeps uses all of a CPU of half the size: 512 of 1024. */
static void utilisation_is_of_a_full_size_cpu(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = scene_build(v, ONE_BIG_ONE_SMALL, "0 1", "policy.cpu_capacity=[\"0 512\"]");
        s->now += 2 * WB_S;
        up_to_date(s, 0);
        up_to_date(s, 1);
        /* The clock of the small one has come as far as that of the big one in half the time. */
        assert_true(fair_rq(&s->rq[0])->pelt_lag >= 999000000 && fair_rq(&s->rq[0])->pelt_lag <= 1001000000);
        assert_int_equal(fair_rq(&s->rq[1])->pelt_lag, 0);
        assert_int_equal(fair_cpu_util(s->policy, fair_rq(&s->rq[0])), 512);
        assert_true(fair_cpu_util(s->policy, fair_rq(&s->rq[1])) >= 1022);
        fake_free(s);
    }
}

/* 4 ms of every 8 on a CPU of half the size is a quarter of a full one. An idle CPU's clock has caught up. */
static void half_of_half_a_cpu_is_a_quarter(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_12, ONE_BIG_ONE_SMALL, "0", "policy.cpu_capacity=[\"0 512\"]");
    struct wb_task *t = s->rq[0].curr;
    for (int i = 0; i < 100; i++) {
        s->now += 4 * WB_MS;
        (void)fake_schedule(s, 0, WB_INTERRUPTIBLE);
        fair_switched(fake_exec(s, 0), &s->rq[0], t, s->rq[0].idle);
        assert_int_equal(fair_rq(&s->rq[0])->pelt_lag, 0);
        s->now += 4 * WB_MS;
        fake_enqueue(s, t, WB_ENQ_WAKEUP);
        (void)fake_schedule(s, 0, WB_RUNNING);
    }
    uint64_t util = fair_task(t)->avg.util_avg;
    if (util < 235 || util > 277) fail_msg("%llu", (unsigned long long)util); /* 256, give or take 4 ms */
    assert_int_equal(fair_rq(&s->rq[0])->pelt_lost, 0);
    fake_free(s);
}

/* A queue that was never idle has nothing to make up with: rq->lost_idle_time. */
static void idle_time_after_full_use_is_lost(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_12, ONE_BIG_ONE_SMALL, "0", "policy.cpu_capacity=[\"0 512\"]");
    struct wb_task *t = s->rq[0].curr;
    struct fair_rq *r = fair_rq(&s->rq[0]);
    s->now += WB_MS;
    up_to_date(s, 0);
    r->avg.util_sum = 47742u * 1024; /* as after a long time on a full-size CPU */
    uint64_t lag = r->pelt_lag;
    assert_true(lag > 0);
    (void)fake_schedule(s, 0, WB_INTERRUPTIBLE);
    r->avg.util_sum = 47742u * 1024;
    fair_switched(fake_exec(s, 0), &s->rq[0], t, s->rq[0].idle);
    assert_int_equal(r->pelt_lost, lag);
    fake_free(s);
}

/* ---- levels ---- */

/* Two packages; in each a cache of two small and two middle CPUs and one of four big ones. */
#define THREE_KINDS "topology = \"pack:2 [numa] l3:2(size=8388608) core:4 pu:1\";"
#define CAPACITIES "policy.cpu_capacity=[\"0-1 400\",\"2-3 700\",\"8-9 400\",\"10-11 700\"]"

/*
 * 5.4 flags the one level at which everybody sees the biggest CPU: the package, though caches and the machine span
 * different ones, too; from 5.14 on each level that spans different ones is flagged, and the one that counts is the
 * lowest that spans them all.
 */
static void levels_of_several_capacities(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = scene_build(v, THREE_KINDS, "", CAPACITIES);
        const struct fair_sim *f = s->policy;
        bool one = v == FAIR_5_4;
        const struct wb_sd *small = s->rq[0].sd, *big = s->rq[4].sd;
        assert_int_equal(!(small->flags & WB_SD_ASYM_CAPACITY), one); /* its cache */
        assert_true(small->parent->flags & WB_SD_ASYM_CAPACITY);      /* its package */
        assert_int_equal(!(small->parent->parent->flags & WB_SD_ASYM_CAPACITY), one);
        assert_false(big->flags & WB_SD_ASYM_CAPACITY);
        assert_ptr_equal(f->pl.seat[0].asym, small->parent);
        assert_ptr_equal(f->pl.seat[4].asym, big->parent);
        assert_false(big->flags & WB_SD_PREFER_SIBLING);
        assert_int_equal(!!(small->flags & WB_SD_BALANCE_WAKE), one);
        assert_int_equal(!!(small->parent->flags & WB_SD_BALANCE_WAKE), one);
        assert_false(small->parent->parent->flags & WB_SD_BALANCE_WAKE);
        fake_free(s);
    }
}

/* A task too big for the waker's CPU is placed like a new one in 5.4: the CPU with most room; without kinds of CPUs, or
 * later, the search for an idle CPU near its target goes on. */
static void wakeups_of_big_tasks_take_the_slow_path(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *set;
        uint64_t util;
        cpu_id cpu;
        enum fair_where where;
    } table[] = {
        {FAIR_5_4, CAPACITIES, 700, 5, FAIR_W_IDLEST}, /* of the four big ones the first that is idle */
        {FAIR_5_4, CAPACITIES, 100, 1, FAIR_W_IDLE},   /* fits: an idle CPU of its cache, here its previous one */
        {FAIR_5_4, NULL, 700, 1, FAIR_W_IDLE},
        {FAIR_6_1, CAPACITIES, 700, 5, FAIR_W_CAPACITY},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, THREE_KINDS, "0 4", table[i].set);
        struct wb_task *p = fake_task(s, 1, 0);
        fair_task(p)->avg.util_avg = fair_task(p)->util_est = (uint32_t)table[i].util;
        struct wb_choice c = fake_wake(s, p, 0, 0, NULL);
        if (c.cpu != table[i].cpu || ((unsigned)c.rule - FAIR_R_PLACE) % FAIR_WHERES_N != (unsigned)table[i].where)
            fail_msg("row %zu: cpu %u (%s)", i, c.cpu, fair_rules[c.rule]);
        fake_free(s);
    }
}

/* ---- misfit tasks ---- */

/* A task that fitted when it was picked outgrows its CPU while it runs: the tick notices (task_tick_fair). */
static void a_running_task_outgrows_its_cpu(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = scene_build(v, ONE_BIG_ONE_SMALL, "0", "policy.cpu_capacity=[\"0 768\"]");
        assert_int_equal(fair_rq(&s->rq[0])->bal.misfit_load, 0); /* born with half of what is left: 384 */
        fake_ticks(s, 0, 60);
        assert_true(fair_rq(&s->rq[0])->bal.misfit_load > 0);
        fake_free(s);
    }
}

/* Who may use one CPU only is no misfit from 5.12 on, who may use no bigger one from 6.10 on. */
static void bound_tasks_are_no_misfits(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *cpus;
        bool misfit;
    } table[] = {
        {FAIR_5_4, "0", true},     {FAIR_5_15, "0", false},   {FAIR_6_1, "0-1", true},  {FAIR_6_6, "0-1", true},
        {FAIR_6_12, "0-1", false}, {FAIR_6_18, "0-1", false}, {FAIR_6_18, "0-2", true},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, DUALS, "0", "policy.cpu_capacity=[\"0-1 446\"]");
        uint64_t words[1] = {0};
        struct wb_cpumask m = {.ncpus = 4, .nwords = 1, .w = words};
        const char *why;
        size_t at;
        assert_int_equal(wb_mask_parse(table[i].cpus, &m, &why, &at), 0);
        s->rq[0].curr->allowed = &m;
        fair_task(s->rq[0].curr)->avg.util_avg = 700;
        fair_note_misfit(fake_exec(s, 0), &s->rq[0], fair_task(s->rq[0].curr));
        if ((fair_rq(&s->rq[0])->bal.misfit_load > 0) != table[i].misfit) fail_msg("row %zu", i);
        fake_free(s);
    }
}

/* Up to 6.9 a misfit task that could not be pulled lengthens the interval like any other failure. */
static void misfit_failures_and_intervals(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_15; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = scene_build(v, QUADS, "0", NULL);
        struct wb_sd *sd = s->rq[1].sd;
        struct wb_balance b = {.kind = WB_BAL_PERIODIC_IDLE, .this_cpu = 1, .exec_cpu = 1, .dst = 1, .sd = sd};
        uint64_t before = sd->balance_interval_ms;
        fair_rq(&s->rq[1])->bal.pass = (struct fair_pass){.new_dst = WB_NO_CPU, .move = FAIR_MOVE_MISFIT};
        (void)fair_balance_periodic.done(fake_exec(s, 1), &b, false); /* balanced */
        assert_int_equal(sd->balance_interval_ms, v >= FAIR_6_12 ? before : 2 * before);
        fake_free(s);
    }
}

/* ---- asymmetric packing beside threads ---- */

/* Two cores of two threads, 0-1 and 2-3; the first is preferred. */
#define TWO_CORES "topology = \"[numa] pack:1 l3:1(size=8388608) core:2 pu:2\";"

static bool gives(struct wb_sim *s, cpu_id dst, bool top)
{
    struct wb_balance b = {.kind = WB_BAL_PERIODIC_IDLE, .this_cpu = dst, .exec_cpu = dst, .dst = dst};
    struct wb_sd *sd = s->rq[dst].sd;
    while (top && sd->parent) sd = sd->parent;
    b.sd = sd;
    fair_rq(&s->rq[dst])->bal.pass = (struct fair_pass){.new_dst = WB_NO_CPU};
    return fair_balance_periodic.find(fake_exec(s, dst), &b) && b.rule == FAIR_R_LB_ASYM;
}

/* Between cores: 5.15 looks at priorities alone; 6.1 wants equally many busy threads afterwards
 * (asym_smt_can_pull_tasks); from 6.5 on the puller's core has to be idle (sched_use_asym_prio). */
static void packing_between_cores(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *busy;
        bool gives; /* to CPU 0 */
    } table[] = {
        {FAIR_5_15, "2", true},      {FAIR_5_15, "1 2", true}, {FAIR_5_15, "2-3", true},  {FAIR_6_1, "2", true},
        {FAIR_6_1, "1 2", false},    {FAIR_6_1, "2-3", false}, {FAIR_6_1, "1 2-3", true}, {FAIR_6_6, "2", true},
        {FAIR_6_6, "1 2", false},    {FAIR_6_6, "2-3", false}, {FAIR_6_18, "2", true},    {FAIR_6_18, "1 2", false},
        {FAIR_6_18, "1 2-3", false},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            scene_build(table[i].v, TWO_CORES, table[i].busy, "policy.cpu_priority=[\"0-1 2\",\"2-3 1\"]");
        if (gives(s, 0, true) != table[i].gives) fail_msg("row %zu", i);
        fake_free(s);
    }
}

/* From 6.5 on a core with two busy threads is helped by one of lower priority: priorities do not count for it. */
static void a_core_with_busy_threads_is_helped(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *busy;
        bool kicks;
    } table[] = {{FAIR_6_1, "0-1", false}, {FAIR_6_6, "0-1", true}, {FAIR_6_6, "0", false}, {FAIR_6_18, "0-1", true}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            scene_build(table[i].v, TWO_CORES, table[i].busy, "policy.cpu_priority=[\"0-1 2\",\"2-3 1\"]");
        struct wb_task *stopper = fake_task_of_class(s, 0, 0, WB_CLASS_STOP);
        struct wb_balance b = {.kind = WB_BAL_PERIODIC_IDLE, .this_cpu = 2, .exec_cpu = 2, .dst = 2, .src = 0};
        s->rq[0].stopper = stopper;
        b.sd = s->rq[2].sd->parent;
        b.skip_pull = true;
        fair_rq(&s->rq[2])->bal.pass = (struct fair_pass){.new_dst = WB_NO_CPU, .move = FAIR_MOVE_LOAD};
        bool kicks = fair_balance_periodic.done(fake_exec(s, 2), &b, true) == WB_BAL_KICK_ACTIVE;
        if (kicks != table[i].kicks) fail_msg("row %zu", i);
        fake_free(s);
    }
}

/* The tick of a busy CPU kicks for an idle one of higher priority; from 6.5 on only if that one's core is idle. */
static void kicks_for_a_preferred_cpu(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *busy;
        bool kicks;
    } table[] = {{FAIR_5_15, "1 2", true}, {FAIR_6_1, "1 2", true}, {FAIR_6_6, "1 2", false}, {FAIR_6_6, "2", true}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, TWO_CORES, "", "policy.cpu_priority=[\"0-1 2\",\"2-3 1\"]");
        struct fair_sim *f = s->policy;
        for (cpu_id c = 0; c < s->ncpus; c += 3) { /* 0 and 3 */
            fair_rq(&s->rq[c])->ticked_idle = true;
            (void)fair_idle_enter(fake_exec(s, c), &s->rq[c]);
        }
        scene_busy(s, table[i].busy, 0, WB_CLASS_NORMAL);
        f->pl.seat[2].shared->nr_busy = 0; /* no other reason */
        f->bal.nohz_next_balance = 0;
        f->bal.nohz_next_blocked = UINT64_MAX;
        fair_rq(&s->rq[2])->bal.next_balance = UINT64_MAX;
        fake_ticks(s, 2, 1);
        bool kicked = (fair_rq(&s->rq[0])->bal.kick | fair_rq(&s->rq[3])->bal.kick) & FAIR_KICK_BALANCE;
        if (kicked != table[i].kicks) fail_msg("row %zu", i);
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utilisation_is_of_a_full_size_cpu),
        cmocka_unit_test(half_of_half_a_cpu_is_a_quarter),
        cmocka_unit_test(idle_time_after_full_use_is_lost),
        cmocka_unit_test(levels_of_several_capacities),
        cmocka_unit_test(wakeups_of_big_tasks_take_the_slow_path),
        cmocka_unit_test(a_running_task_outgrows_its_cpu),
        cmocka_unit_test(bound_tasks_are_no_misfits),
        cmocka_unit_test(misfit_failures_and_intervals),
        cmocka_unit_test(packing_between_cores),
        cmocka_unit_test(a_core_with_busy_threads_is_helped),
        cmocka_unit_test(kicks_for_a_preferred_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
