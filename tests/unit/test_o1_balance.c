/* Balancing: which group, how much, which tasks, intervals and failures.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"
#define STOAKLEY "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";"
#define HT2 "topology = \"[numa] pack:2 l2:1 core:1 pu:2\";"

/* n runnable tasks on a CPU, the first running; loads settled; all cold. */
static void load_cpu(struct wb_sim *s, cpu_id cpu, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) fake_runnable(s, cpu, 0);
    if (n) fake_schedule(s, cpu, WB_RUNNING);
    fake_ticks(s, cpu, 20);
    s->rq[cpu].need_resched = false;
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL) o1_task(s->task[i])->last_ran = 0;
}

/* Search of one domain of `cpu`: true with imbalance and rule in *b. */
static bool search(struct wb_sim *s, cpu_id cpu, struct wb_sd *sd, enum wb_balance_kind kind, struct wb_balance *b)
{
    *b = (struct wb_balance){.kind = kind, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU, .sd = sd};
    return (kind == WB_BAL_NEWIDLE ? &o1_balance_newidle : &o1_balance_periodic)->find(fake_exec(s, cpu), b);
}

static void expect_find(struct wb_sim *s, cpu_id cpu, enum wb_balance_kind kind, cpu_id src, int64_t imbalance,
                        wb_rule rule)
{
    struct wb_balance b;
    assert_true(search(s, cpu, s->rq[cpu].sd, kind, &b));
    assert_int_equal(b.src, src);
    assert_int_equal(b.imbalance, imbalance);
    if (b.rule != rule) fail_msg("rule '%s', expected '%s'", o1_rules[b.rule], o1_rules[rule]);
}

/* ---- 2.6.10, 2.6.11: find_busiest_group ---- */

/* Average 128 * 6 / 4 = 192: moves min(768 - 192, 192 - 0) = 192, (192 + 1) / 128 = 1 task. */
static void excess_over_the_average(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    load_cpu(s, 2, 6);
    expect_find(s, 0, WB_BAL_PERIODIC_IDLE, 2, 1, O1_R_LB_AVERAGE);
    load_cpu(s, 2, 6); /* twelve: average 384, three tasks */
    expect_find(s, 0, WB_BAL_PERIODIC_BUSY, 2, 3, O1_R_LB_AVERAGE);
    fake_free(s);
}

/* Two tasks there, none here: 256 - 0 >= 256. */
static void two_tasks_apart(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    load_cpu(s, 2, 2);
    expect_find(s, 0, WB_BAL_PERIODIC_BUSY, 2, 1, O1_R_LB_TWO);
    fake_free(s);
}

/* One task per CPU and a newly idle one: level, but it takes one all the same; an idle tick does not, nor a busy
 * one. */
static void newly_idle_takes_from_a_level_machine(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.10", TIGER, NULL);
    struct wb_balance b;
    for (cpu_id c = 0; c < 4; c++) load_cpu(s, c, 1);
    expect_find(s, 0, WB_BAL_NEWIDLE, 1, 1, O1_R_LB_NEWIDLE);
    assert_false(search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_IDLE, &b));
    assert_false(search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_BUSY, &b));
    fake_free(s);
}

/* An idle tick takes one when a group has more than one task per CPU; here 129 > 128 while 64 <= pct * 64 says
 * balanced. */
static void idle_tick_takes_the_second_task(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    load_cpu(s, 1, 2);
    o1_rq(&s->rq[1])->load[1] = 140;
    o1_rq(&s->rq[0])->load[1] = 130; /* this CPU was busy a moment ago: 140 * 100 <= 125 * 130 */
    o1_rq(&s->rq[2])->load[1] = o1_rq(&s->rq[3])->load[1] = 0;
    expect_find(s, 0, WB_BAL_PERIODIC_IDLE, 1, 1, O1_R_LB_IDLE);
    struct wb_balance b;
    assert_false(search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_BUSY, &b));
    fake_free(s);
}

/* One task moved must gain 16/128 of a CPU: 200 against 0 gives 72 in place of one queued part. */
static void small_imbalance_needs_an_eighth(void **state)
{
    (void)state;
    static const struct {
        uint64_t load; /* of the busiest CPU */
        bool found;
    } table[] = {{150, true}, {143, false}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
        struct wb_balance b;
        load_cpu(s, 2, 2);
        o1_rq(&s->rq[2])->load[1] = table[i].load; /* gain = (load - 128) + 128 - 128 */
        assert_int_equal(search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_BUSY, &b), table[i].found);
        if (table[i].found) assert_int_equal(b.rule, O1_R_LB_GAIN);
        fake_free(s);
    }
}

/* A loaded package of two threads: power 140 scales its load, (256 * 128) / 140 = 234. */
static void group_power_scales_load(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11-i386", HT2, NULL);
    struct wb_balance b;
    load_cpu(s, 2, 1);
    load_cpu(s, 3, 1);
    /* average 128 * 256 / 280 = 117; min(234 - 117, 117) * 140 / 128 = 127, (127 + 1) / 128 = 1 task */
    assert_true(search(s, 0, s->rq[0].sd->parent, WB_BAL_PERIODIC_BUSY, &b));
    assert_int_equal(b.rule, O1_R_LB_AVERAGE);
    assert_int_equal(b.imbalance, 1);
    fake_free(s);
}

/* ---- locks ---- */

static void single_tasks_are_not_worth_the_locks(void **state)
{
    (void)state;
    struct wb_balance b;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    load_cpu(s, 1, 1);
    o1_rq(&s->rq[1])->load[1] = 128;
    assert_true(search(s, 0, s->rq[0].sd, WB_BAL_NEWIDLE, &b));
    assert_false(b.skip_pull); /* load_balance_newidle() of 2.6.11 locks first */
    load_cpu(s, 1, 1);
    assert_true(search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_IDLE, &b));
    assert_false(b.skip_pull);
    fake_schedule(s, 1, WB_INTERRUPTIBLE);
    o1_rq(&s->rq[1])->load[1] = 256;
    if (search(s, 0, s->rq[0].sd, WB_BAL_PERIODIC_IDLE, &b)) assert_true(b.skip_pull);
    fake_free(s);
}

/* ---- move_tasks, can_migrate_task ---- */

static void tail_of_the_expired_array_goes_first(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct wb_task *t[5];
    for (int i = 0; i < 5; i++) t[i] = fake_runnable(s, 1, i == 4 ? -10 : 0);
    fake_schedule(s, 1, WB_RUNNING); /* t[4] runs */
    for (int i = 1; i < 3; i++) {    /* t[1], t[2] expire */
        o1_array_del(o1_task(t[i])->array, o1_task(t[i]));
        o1_array_add(o1_rq(&s->rq[1])->expired, o1_task(t[i]));
    }
    struct wb_balance b = {
        .kind = WB_BAL_PERIODIC_IDLE, .this_cpu = 0, .exec_cpu = 0, .src = 1, .dst = 0, .sd = s->rq[0].sd};
    o1_move_tasks(fake_exec(s, 0), &b, 1, UINT64_MAX);
    assert_int_equal(t[2]->cpu, 0);                                    /* last queued of the expired */
    assert_ptr_equal(o1_task(t[2])->array, o1_rq(&s->rq[0])->expired); /* keeps its kind */
    o1_move_tasks(fake_exec(s, 0), &b, 2, UINT64_MAX);
    assert_int_equal(t[1]->cpu, 0);
    assert_int_equal(t[3]->cpu, 0); /* then the tail of the active */
    assert_int_equal(t[0]->cpu, 1);
    assert_int_equal(b.moved, 3);
    assert_true(s->rq[0].need_resched);
    fake_free(s);
}

/* May a hot task go? Rows: version, kind, failures so far, destination idle. */
static void hot_rule_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        enum wb_balance_kind kind;
        uint32_t failed;
        bool dst_idle, moves;
    } table[] = {
        {"linux-2.6.10", WB_BAL_NEWIDLE, 9, true, false}, /* always the hot test */
        {"linux-2.6.10", WB_BAL_PERIODIC_IDLE, 0, true, false},
        {"linux-2.6.10", WB_BAL_PERIODIC_IDLE, 1, true, true}, /* failed < tries is over */
        {"linux-2.6.11", WB_BAL_PERIODIC_IDLE, 0, true, true}, /* an idle core ignores heat */
        {"linux-2.6.11", WB_BAL_NEWIDLE, 0, false, false},     /* its curr is still the departing task */
        {"linux-2.6.11", WB_BAL_PERIODIC_BUSY, 1, false, false},
        {"linux-2.6.11", WB_BAL_PERIODIC_BUSY, 2, false, true},
        {"linux-2.6.22", WB_BAL_PERIODIC_IDLE, 1, true, false},
        {"linux-2.6.22", WB_BAL_PERIODIC_IDLE, 2, true, true},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            fake_new(&o1_policy, table[i].kernel, TIGER, (const char *const[]){"policy.cache_hot_time=10 ms", NULL});
        load_cpu(s, 1, 2);
        if (!table[i].dst_idle) fake_running(s, 0, 0);
        for (uint32_t k = 0; k < s->ntasks; k++)
            if (s->task[k]->cpu == 1 && s->task[k]->klass == WB_CLASS_NORMAL)
                o1_task(s->task[k])->last_ran = s->now / WB_NS;
        s->rq[0].sd->nr_balance_failed = table[i].failed;
        struct wb_balance b = {
            .kind = table[i].kind, .this_cpu = 0, .exec_cpu = 0, .src = 1, .dst = 0, .sd = s->rq[0].sd};
        o1_move_tasks(fake_exec(s, 0), &b, 1, UINT64_MAX);
        if (b.moved != table[i].moves) fail_msg("row %zu moved %u", i, b.moved);
        fake_free(s);
    }
}

static void affinity_and_running_tasks_stay(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL);
    uint64_t word = 2;
    struct wb_cpumask only1 = {.ncpus = 4, .nwords = 1, .w = &word};
    load_cpu(s, 1, 3);
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL) s->task[i]->allowed = &only1;
    struct wb_balance b = {
        .kind = WB_BAL_PERIODIC_IDLE, .this_cpu = 0, .exec_cpu = 0, .src = 1, .dst = 0, .sd = s->rq[0].sd};
    o1_move_tasks(fake_exec(s, 0), &b, 2, 1000);
    assert_int_equal(b.moved, 0);
    assert_true(b.flags & LADDER_PINNED);
    fake_free(s);
}

/* 2.6.22 does not move more weight than the imbalance, but one task of a better priority than any here may be
 * heavier. */
static void weight_limit_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL);
    load_cpu(s, 0, 1);
    load_cpu(s, 1, 1);
    struct wb_task *heavy = fake_runnable(s, 1, 5), *light = fake_runnable(s, 1, 15);
    o1_task(heavy)->last_ran = o1_task(light)->last_ran = 0;
    struct wb_balance b = {
        .kind = WB_BAL_PERIODIC_BUSY, .this_cpu = 0, .exec_cpu = 0, .src = 1, .dst = 0, .sd = s->rq[0].sd};
    o1_move_tasks(fake_exec(s, 0), &b, 2, 40);
    assert_int_equal(heavy->cpu, 1);
    assert_int_equal(light->cpu, 0);
    fake_free(s);
}

/* ---- intervals and failures, 2.6.11 ---- */

static void run_periodic(struct wb_sim *s, cpu_id cpu, struct wb_balance *last)
{
    s->now += 400 * WB_MS;
    s->rq[cpu].sd->last_balance = wb_jiffies(s) + o1_phase(s->policy, cpu) - 400;
    (void)fake_balance(s, wb_idle_cpu(&s->rq[cpu]) ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY, cpu, WB_LEVEL_HARDIRQ,
                       last);
}

static void balanced_passes_double_the_interval(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct wb_sd *sd = s->rq[0].sd;
    static const uint64_t expected[] = {2, 4, 4};
    for (size_t i = 0; i < WB_ARRAY_SIZE(expected); i++) {
        run_periodic(s, 0, NULL);
        assert_int_equal(sd->balance_interval_ms, expected[i]);
    }
    assert_int_equal(sd->nr_balance_failed, 0);
    fake_free(s);
}

static void pulls_reset_the_interval(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct wb_sd *sd = s->rq[0].sd;
    sd->balance_interval_ms = 4;
    sd->nr_balance_failed = 2;
    load_cpu(s, 1, 3);
    run_periodic(s, 0, NULL);
    assert_int_equal(s->moves, 1);
    assert_int_equal(sd->balance_interval_ms, 1);
    assert_int_equal(sd->nr_balance_failed, 0);
    fake_free(s);
}

/* Tasks bound to their CPU: after tries + 2 failures the migration thread is asked, and the count goes back to
 * tries. */
static void failures_start_active_balancing(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct wb_sd *sd = s->rq[0].sd;
    uint64_t word = 2;
    struct wb_cpumask only1 = {.ncpus = 4, .nwords = 1, .w = &word};
    load_cpu(s, 1, 3);
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL) s->task[i]->allowed = &only1;
    for (uint32_t i = 1; i <= 3; i++) {
        run_periodic(s, 0, NULL);
        assert_int_equal(sd->nr_balance_failed, i);
        assert_false(s->rq[1].active_balance);
    }
    run_periodic(s, 0, NULL);
    assert_true(s->rq[1].active_balance);
    assert_int_equal(s->rq[1].push_cpu, 0);
    assert_int_equal(sd->nr_balance_failed, 1);
    assert_int_equal(sd->balance_interval_ms, 4); /* 1, 2, 3, 4 */
    fake_free(s);
}

/* Missed periods are caught up one by one: last_balance += interval, not = now. */
static void missed_periods_are_caught_up(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"kernel.hz=1000", NULL});
    struct wb_sd *sd = s->rq[0].sd;
    uint64_t before = sd->last_balance;
    s->now += 100 * WB_MS;
    (void)fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_HARDIRQ, NULL);
    assert_int_equal(sd->last_balance, before + 1);
    assert_int_equal(sd->balance_interval_ms, 2);
    (void)fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_HARDIRQ, NULL);
    assert_int_equal(sd->last_balance, before + 3);
    fake_free(s);
}

/* 1 .. 4 ms idle, times 64 when busy; CPUs out of phase by HZ * cpu / NR_CPUS. */
static void busy_cpus_wait_64_times_longer(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"kernel.hz=1000", NULL});
    const struct o1_sim *o = s->policy;
    assert_int_equal(o1_interval(o, s->rq[0].sd, true), 1);
    assert_int_equal(o1_interval(o, s->rq[0].sd, false), 64);
    for (cpu_id c = 0; c < 4; c++) {
        assert_int_equal(o1_phase(o, c), 250 * c);
        assert_int_equal(s->rq[c].sd->last_balance, wb_jiffies(s) + 250 * c);
    }
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.11", TIGER,
                 (const char *const[]){"kernel.hz=1000", "policy.nr_cpus_configured=32", NULL});
    assert_int_equal(o1_phase(s->policy, 1), 31);
    fake_free(s);
}

static void idle_balancing_is_a_switch(void **state)
{
    (void)state;
    static const char *const off[] = {"policy.idle_balance=false", NULL};
    static const char *const kernels[] = {"linux-2.6.11", "linux-2.6.22"};
    for (size_t k = 0; k < 2; k++) {
        struct wb_sim *s = fake_new(&o1_policy, kernels[k], TIGER, off);
        load_cpu(s, 1, 4);
        s->now += WB_S;
        o1_rq(&s->rq[0])->idle_at_tick = true;
        enum wb_level level = k ? WB_LEVEL_SOFTIRQ : WB_LEVEL_HARDIRQ;
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, level, NULL), 0);
        assert_int_equal(fake_balance(s, WB_BAL_NEWIDLE, 0, WB_LEVEL_TASK, NULL), 0);
        fake_free(s);
    }
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"policy.newidle=false", NULL});
    load_cpu(s, 1, 4);
    assert_int_equal(fake_balance(s, WB_BAL_NEWIDLE, 0, WB_LEVEL_TASK, NULL), 0);
    s->now += WB_S;
    assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_HARDIRQ, NULL), 1);
    fake_free(s);
}

static void newidle_pulls_and_stops(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11-i386", HT2, NULL);
    load_cpu(s, 3, 3);
    struct wb_balance last = {0};
    assert_int_equal(fake_balance(s, WB_BAL_NEWIDLE, 0, WB_LEVEL_TASK, &last), 1);
    assert_string_equal(last.sd->level->name, "CPU");
    assert_int_equal(s->rq[0].nr_running, 1);
    assert_int_equal(last.sd->nr_balance_failed, 0);
    assert_int_equal(s->rq[0].sd->stats->lb_balanced[2], 1);
    fake_free(s);
}

/* ---- 2.6.22 ---- */

/* Stoakley: an L2 pair with two tasks on it has load 256 and more tasks than its capacity of one; an idle pair
 * pulls. */
static void pairs_give_to_idle_pairs(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, NULL);
    struct wb_balance b;
    load_cpu(s, 2, 1);
    load_cpu(s, 3, 1);
    assert_true(search(s, 0, s->rq[0].sd->parent, WB_BAL_PERIODIC_IDLE, &b));
    assert_int_equal(b.rule, O1_R_LB_TWO);
    assert_int_equal(b.imbalance, 128);
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, (const char *const[]){"policy.mc_power_savings=true", NULL});
    load_cpu(s, 2, 1);
    load_cpu(s, 3, 1);
    assert_false(search(s, 0, s->rq[0].sd->parent, WB_BAL_PERIODIC_IDLE, &b)); /* capacity 2 */
    fake_free(s);
}

/* Packages that are not full give to one that nearly is. */
static void power_savings_fill_packages(void **state)
{
    (void)state;
    struct wb_sim *s =
        fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, (const char *const[]){"policy.mc_power_savings=true", NULL});
    struct wb_balance b;
    load_cpu(s, 6, 1);
    load_cpu(s, 2, 1);
    assert_true(search(s, 7, s->rq[7].sd->parent, WB_BAL_PERIODIC_IDLE, &b));
    assert_int_equal(b.rule, O1_R_LB_POWER);
    assert_int_equal(b.src, 2);
    assert_false(search(s, 3, s->rq[3].sd->parent, WB_BAL_PERIODIC_IDLE, &b)); /* the leader is the higher one */
    fake_free(s);
}

static void first_idle_cpu_of_the_group_balances(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, NULL);
    struct wb_balance b;
    load_cpu(s, 4, 6);
    assert_true(search(s, 0, s->rq[0].sd->parent, WB_BAL_PERIODIC_IDLE, &b));
    assert_false(search(s, 1, s->rq[1].sd->parent, WB_BAL_PERIODIC_IDLE, &b));
    assert_true(b.flags & LADDER_NOT_MINE);
    assert_true(search(s, 1, s->rq[1].sd->parent, WB_BAL_NEWIDLE, &b)); /* newly idle: everybody may */
    fake_running(s, 0, 0);
    assert_true(search(s, 1, s->rq[1].sd->parent, WB_BAL_PERIODIC_IDLE, &b));
    fake_free(s);
}

/* There is no "newly idle takes one" any more. */
static void newly_idle_leaves_a_level_machine(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, NULL);
    struct wb_balance b;
    for (cpu_id c = 1; c < 8; c++) load_cpu(s, c, 1);
    assert_false(search(s, 0, s->rq[0].sd, WB_BAL_NEWIDLE, &b));
    fake_free(s);
}

/* On an SMT kernel the balancing CPU itself counts as a busy sibling: newidle never looks above the SIBLING level. */
static void newidle_trap_of_smt(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", HT2, NULL);
    load_cpu(s, 2, 4);
    fake_running(s, 0, 0); /* the departing task is still current */
    (void)o1_policy.dequeue(fake_exec(s, 0), &s->rq[0], s->rq[0].curr, WB_DEQ_SLEEP);
    struct wb_balance last = {0};
    assert_int_equal(fake_balance(s, WB_BAL_NEWIDLE, 0, WB_LEVEL_TASK, &last), 0);
    assert_string_equal(last.sd->level->name, "SIBLING");
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", "topology = \"[numa] pack:4 l2:1 core:1 pu:1\";", NULL);
    load_cpu(s, 2, 4);
    assert_int_equal(fake_balance(s, WB_BAL_NEWIDLE, 0, WB_LEVEL_TASK, NULL), 1);
    fake_free(s);
}

/* A queue whose tasks are all bound elsewhere is left out and the search repeated. */
static void pinned_queues_are_passed_over(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL);
    uint64_t word = 2;
    struct wb_cpumask only1 = {.ncpus = 4, .nwords = 1, .w = &word};
    load_cpu(s, 1, 6);
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL) s->task[i]->allowed = &only1;
    load_cpu(s, 2, 4);
    s->now += WB_S;
    o1_rq(&s->rq[0])->idle_at_tick = true;
    struct wb_balance last = {0};
    assert_true(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, &last) > 0);
    assert_int_equal(last.src, 2);
    assert_int_equal(last.redo, 1);
    fake_free(s);
}

/* The tick raises the softirq at next_balance; the hardirq itself does not balance. */
static void softirq_is_raised_when_due(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL);
    struct o1_rq *r = o1_rq(&s->rq[0]);
    r->next_balance = wb_jiffies(s) + 3;
    fake_ticks(s, 0, 2);
    assert_int_equal(s->balance_raised, 0);
    fake_ticks(s, 0, 1);
    assert_int_equal(s->balance_raised, 1);
    load_cpu(s, 1, 5);
    assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_HARDIRQ, NULL), 0);
    assert_true(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, NULL) > 0);
    /* pulled: busy from here on, 64 ms at 250 Hz are 16 jiffies; the interval used was the idle one */
    assert_int_equal(s->rq[0].sd->last_balance, wb_jiffies(s));
    assert_int_equal(r->next_balance, wb_jiffies(s) + 1);
    fake_free(s);
}

static void serialised_levels_take_turns(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", "topology = \"pack:2 [numa] l3:1 core:1 pu:1\";", NULL);
    struct o1_sim *o = s->policy;
    s->now += WB_S;
    o->serializing = true;
    struct wb_balance last = {0};
    (void)fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, &last);
    assert_null(last.sd);
    o->serializing = false;
    (void)fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, &last);
    assert_string_equal(last.sd->level->name, "NODE");
    assert_false(o->serializing);
    fake_free(s);
}

/* After tries + 2 failures the migration thread is asked, the count goes back to tries + 1 and the interval grows. */
static void failures_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL);
    struct wb_sd *sd = s->rq[0].sd;
    o1_rq(&s->rq[0])->idle_at_tick = true;
    load_cpu(s, 1, 3);
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL)
            s->task[i]->on_cpu = true; /* nothing can be moved, nothing is pinned */
    for (uint32_t i = 1; i <= 4; i++) {
        s->now += WB_S;
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, NULL), 0);
        assert_int_equal(sd->nr_balance_failed, i < 4 ? i : 2);
        assert_int_equal(sd->balance_interval_ms, i < 4 ? 1 : 2);
        assert_int_equal(s->rq[1].active_balance, i == 4);
    }
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(excess_over_the_average),
        cmocka_unit_test(two_tasks_apart),
        cmocka_unit_test(newly_idle_takes_from_a_level_machine),
        cmocka_unit_test(idle_tick_takes_the_second_task),
        cmocka_unit_test(small_imbalance_needs_an_eighth),
        cmocka_unit_test(group_power_scales_load),
        cmocka_unit_test(single_tasks_are_not_worth_the_locks),
        cmocka_unit_test(tail_of_the_expired_array_goes_first),
        cmocka_unit_test(hot_rule_by_version),
        cmocka_unit_test(affinity_and_running_tasks_stay),
        cmocka_unit_test(weight_limit_2_6_22),
        cmocka_unit_test(balanced_passes_double_the_interval),
        cmocka_unit_test(pulls_reset_the_interval),
        cmocka_unit_test(failures_start_active_balancing),
        cmocka_unit_test(missed_periods_are_caught_up),
        cmocka_unit_test(busy_cpus_wait_64_times_longer),
        cmocka_unit_test(idle_balancing_is_a_switch),
        cmocka_unit_test(newidle_pulls_and_stops),
        cmocka_unit_test(pairs_give_to_idle_pairs),
        cmocka_unit_test(power_savings_fill_packages),
        cmocka_unit_test(first_idle_cpu_of_the_group_balances),
        cmocka_unit_test(newly_idle_leaves_a_level_machine),
        cmocka_unit_test(newidle_trap_of_smt),
        cmocka_unit_test(pinned_queues_are_passed_over),
        cmocka_unit_test(softirq_is_raised_when_due),
        cmocka_unit_test(serialised_levels_take_turns),
        cmocka_unit_test(failures_2_6_22),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
