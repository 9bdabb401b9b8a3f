/* Balancing of the fair classes step by step: which tasks go, what is learnt, when it starts, tickless CPUs,
 * capacities.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fair_groups.h"
#include "fairscene.h"
#include "fakekernel.h"

/* All queued tasks of a CPU have not run for long. */
static void cool(struct wb_sim *s, cpu_id cpu)
{
    for (struct fair_task *p = fair_rq(&s->rq[cpu])->head; p; p = p->next)
        p->exec_start = fair_rq(&s->rq[cpu])->clock - 1000000;
}

static struct wb_balance pass_of(struct wb_sim *s, cpu_id dst, cpu_id src, enum wb_balance_kind kind)
{
    struct wb_balance b = {.kind = kind, .this_cpu = dst, .exec_cpu = dst, .dst = dst, .src = src, .sd = s->rq[dst].sd};
    fair_rq(&s->rq[dst])->bal.pass = (struct fair_pass){.new_dst = WB_NO_CPU, .move = FAIR_MOVE_TASK};
    return b;
}

static uint32_t pull(struct wb_sim *s, struct wb_balance *b, int64_t imbalance)
{
    b->imbalance = imbalance;
    fair_pull(fake_exec(s, b->exec_cpu), b);
    return b->moved;
}

/* Four waiting tasks on CPU 1 in order of arrival; the first runs. Returns them, oldest first. */
static void queue_of_five(struct wb_sim *s, struct wb_task **t)
{
    for (int i = 0; i < 5; i++) {
        t[i] = fake_task(s, 1, 0);
        fake_enqueue(s, t[i], WB_ENQ_NEW);
        if (!i) (void)fake_schedule(s, 1, WB_RUNNING);
    }
    cool(s, 1);
}

/* ---- order ---- */

static void order_of_pulls(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        int expected; /* index of the first to go, -1: whoever is leftmost in the tree */
        int64_t amount;
    } table[] = {{FAIR_2_6_24, -1, 1024}, {FAIR_2_6_35, 4, 1024}, {FAIR_5_15, 1, 1}, {FAIR_6_12, 1, 1}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "", NULL);
        struct wb_task *t[5];
        queue_of_five(s, t);
        struct wb_task *first =
            table[i].expected < 0 ? fair_of_node(fair_rq(&s->rq[1])->tree.first)->t : t[table[i].expected];
        struct wb_balance b = pass_of(s, 0, 1, WB_BAL_PERIODIC_IDLE);
        assert_int_equal(pull(s, &b, table[i].amount), 1);
        assert_int_equal(first->cpu, 0);
        fake_free(s);
    }
}

/* A task that ran moves to the head of the list (4.x+): the one that has not run for longest goes. */
static void who_ran_last_stays(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_6, QUADS, "", NULL);
    struct wb_task *t[5];
    queue_of_five(s, t);
    fair_list_touch(fair_rq(&s->rq[1]), fair_task(t[1]));
    struct wb_balance b = pass_of(s, 0, 1, WB_BAL_PERIODIC_IDLE);
    assert_int_equal(pull(s, &b, 2), 2);
    assert_int_equal(t[2]->cpu, 0);
    assert_int_equal(t[3]->cpu, 0);
    assert_int_equal(t[1]->cpu, 1);
    fake_free(s);
}

/* ---- heat ---- */

static void hot_tasks_stay_until_tries_are_over(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        uint64_t age; /* ns since it ran */
        uint32_t failed;
        uint32_t moved;
        const char *set;
    } table[] = {
        {FAIR_2_6_23, 0, 0, 1, NULL}, /* no test at all */
        {FAIR_2_6_24, 499999, 0, 0, NULL},
        {FAIR_2_6_24, 500000, 0, 1, NULL},
        {FAIR_2_6_24, 0, 1, 0, NULL},
        {FAIR_2_6_24, 0, 2, 1, NULL}, /* cache_nice_tries 1 */
        {FAIR_2_6_36, 499999, 0, 0, NULL},
        {FAIR_5_4, 499999, 1, 0, NULL},
        {FAIR_5_4, 499999, 2, 1, NULL},
        {FAIR_6_18, 499999, 0, 0, NULL},
        {FAIR_6_18, 500000, 0, 1, NULL},
        {FAIR_6_18, 0, 0, 1, "policy.cache_hot=false"},
        {FAIR_6_18, 0, 0, 1, "policy.migration_cost=0 ms"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "1x2", table[i].set);
        struct fair_rq *r = fair_rq(&s->rq[1]);
        for (struct fair_task *p = r->head; p; p = p->next) p->exec_start = fair_ns(fake_exec(s, 1)) - table[i].age;
        r->clock = fair_ns(fake_exec(s, 1));
        s->rq[0].sd->nr_balance_failed = table[i].failed;
        struct wb_balance b = pass_of(s, 0, 1, WB_BAL_PERIODIC_IDLE);
        if (pull(s, &b, table[i].v >= FAIR_5_15 ? 1 : 1024) != table[i].moved) fail_msg("row %zu moved %u", i, b.moved);
        fake_free(s);
    }
}

/* Threads of a core share its caches (5.10+). */
static void threads_are_never_hot(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v <= FAIR_5_15; v++) {
        struct wb_sim *s = scene_build(v, SMT, "1x2", NULL);
        for (struct fair_task *p = fair_rq(&s->rq[1])->head; p; p = p->next) p->exec_start = fair_rq(&s->rq[1])->clock;
        struct wb_balance b = pass_of(s, 0, 1, WB_BAL_PERIODIC_IDLE);
        assert_int_equal(pull(s, &b, v == FAIR_5_4 ? 1024 : 1), v != FAIR_5_4);
        fake_free(s);
    }
}

/* ---- amounts ---- */

static void amounts(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        enum fair_move move;
        int64_t amount;
        uint32_t failed, moved;
    } table[] = {
        {FAIR_5_4, FAIR_MOVE_LOAD, 511, 0, 0},
        {FAIR_5_4, FAIR_MOVE_LOAD, 512, 0, 1}, /* half of 1024 */
        {FAIR_5_15, FAIR_MOVE_LOAD, 1023, 0, 0},
        {FAIR_5_15, FAIR_MOVE_LOAD, 512, 1, 1}, /* halved by each failure */
        {FAIR_6_1, FAIR_MOVE_UTIL, 299, 0, 0},
        {FAIR_6_1, FAIR_MOVE_UTIL, 299, 1, 0},
        {FAIR_6_12, FAIR_MOVE_UTIL, 299, 1, 1},
        {FAIR_6_12, FAIR_MOVE_UTIL, 600, 0, 2},
        {FAIR_6_12, FAIR_MOVE_TASK, 3, 0, 3},
        {FAIR_6_12, FAIR_MOVE_LOAD, 2048, 0, 2},
        {FAIR_2_6_35, 0, 511, 0, 0},
        {FAIR_2_6_35, 0, 512, 0, 1},
        {FAIR_2_6_24, 0, 1, 0, 1}, /* 512 > 1 + 1024 no: FUZZ */
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "1x6", NULL);
        cool(s, 1);
        for (struct fair_task *p = fair_rq(&s->rq[1])->head; p; p = p->next) {
            p->avg.util_avg = 300;
            p->util_est = p->util_ewma = 0;
        }
        s->rq[0].sd->nr_balance_failed = table[i].failed;
        struct wb_balance b = pass_of(s, 0, 1, WB_BAL_PERIODIC_IDLE);
        fair_rq(&s->rq[0])->bal.pass.move = table[i].move;
        if (pull(s, &b, table[i].amount) != table[i].moved) fail_msg("row %zu moved %u", i, b.moved);
        fake_free(s);
    }
}

/* Never the last task for an idle CPU; at most nr_migrate are looked at; one only for newidle with CONFIG_PREEMPT. */
static void limits(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        enum wb_balance_kind kind;
        const char *set;
        int64_t amount;
        uint32_t moved;
    } table[] = {
        {FAIR_6_12, WB_BAL_PERIODIC_IDLE, NULL, 9, 5},
        {FAIR_6_12, WB_BAL_NEWIDLE, NULL, 9, 5},
        {FAIR_6_12, WB_BAL_NEWIDLE, "kernel.preempt=true", 9, 1},
        {FAIR_6_12, WB_BAL_PERIODIC_IDLE, "policy.nr_migrate=3", 9, 3},
        {FAIR_2_6_36, WB_BAL_NEWIDLE, "kernel.preempt=true", 9000, 1},
        {FAIR_2_6_24, WB_BAL_NEWIDLE, "kernel.preempt=true", 3000, 3},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "1x6", table[i].set);
        cool(s, 1);
        struct wb_balance b = pass_of(s, 0, 1, table[i].kind);
        if (pull(s, &b, table[i].amount) != table[i].moved) fail_msg("row %zu moved %u", i, b.moved);
        fake_free(s);
    }
}

/* 6.14+: not for a first attempt on a busy CPU: tasks ahead of their queue's average. */
static void ineligible_tasks_stay(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        bool busy;
        uint32_t failed, moved;
    } table[] = {{FAIR_6_12, true, 0, 1}, {FAIR_6_18, true, 0, 0}, {FAIR_6_18, true, 1, 1}, {FAIR_6_18, false, 0, 1}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, table[i].busy ? "0 1x2" : "1x2", NULL);
        cool(s, 1);
        struct fair_rq *r = fair_rq(&s->rq[1]);
        struct fair_task *waiting = r->tail == r->curr ? r->head : r->tail;
        fair_tree_del(s->policy, r, waiting);
        waiting->vruntime += 5000000;
        fair_tree_add(s->policy, r, waiting);
        s->rq[0].sd->nr_balance_failed = table[i].failed;
        struct wb_balance b = pass_of(s, 0, 1, table[i].busy ? WB_BAL_PERIODIC_BUSY : WB_BAL_PERIODIC_IDLE);
        if (pull(s, &b, 1) != table[i].moved) fail_msg("row %zu moved %u", i, b.moved);
        fake_free(s);
    }
}

/* ---- affinity ---- */

static struct wb_cpumask mask_of(uint64_t *word, uint32_t ncpus)
{
    return (struct wb_cpumask){.ncpus = ncpus, .nwords = 1, .w = word};
}

static void bind(struct wb_sim *s, cpu_id cpu, const struct wb_cpumask *m)
{
    for (struct fair_task *p = fair_rq(&s->rq[cpu])->head; p; p = p->next) p->t->allowed = m;
}

/* Tasks bound to CPU 4 keep node 1 uneven; CPU 5's level above is told, and the queue is passed over. */
static void pinned_queues(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_2_6_24, FAIR_2_6_36, FAIR_5_4, FAIR_6_12};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], QUADS, "4x6 6x3", NULL);
        uint64_t word = 1u << 4;
        struct wb_cpumask only = mask_of(&word, s->ncpus);
        bind(s, 4, &only);
        cool(s, 6);
        s->now += WB_S;
        fair_rq(&s->rq[5])->idle_at_tick = true;
        struct wb_balance last = {0};
        s->rq[5].sd->parent = NULL;
        assert_true(fake_balance(s, WB_BAL_PERIODIC_IDLE, 5, WB_LEVEL_SOFTIRQ, &last) > 0);
        assert_int_equal(last.src, 6);
        assert_int_equal(last.redo, 1);
        fake_free(s);
    }
}

/* CPU 0 balances its node against the other; the task may use CPU 2 only: it goes there. */
static void another_cpu_of_the_group(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_12, QUADS, "4x6", "policy.numa_imbalance=none");
    uint64_t word = 1u << 2 | 1u << 4;
    struct wb_cpumask two = mask_of(&word, s->ncpus);
    bind(s, 4, &two);
    cool(s, 4);
    s->now += WB_S;
    struct wb_balance last = {0};
    (void)fake_balance(s, WB_BAL_PERIODIC_IDLE, 0, WB_LEVEL_SOFTIRQ, &last);
    assert_int_equal(fair_rq(&s->rq[0])->nr, 0);
    assert_true(fair_rq(&s->rq[2])->nr > 0);
    assert_true(*fair_group_pinned(wb_sd_group(s->rq[0].sd->parent, 0)) == 0);
    fake_free(s);
}

/* ---- failures and intervals ---- */

static enum wb_balance_result fail_once(struct wb_sim *s, cpu_id dst, enum fair_move move, struct wb_balance *b)
{
    *b = pass_of(s, dst, 1, WB_BAL_PERIODIC_IDLE);
    b->skip_pull = true;
    fair_rq(&s->rq[dst])->bal.pass.move = move;
    return fair_balance_periodic.done(fake_exec(s, dst), b, true);
}

/* One task that always runs: cache_nice_tries + 3 failures, then the migration thread is asked. */
static void failures_start_active_balancing(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        enum fair_move move;
        bool kicks;
        uint32_t failed;      /* afterwards */
        uint64_t interval_ms; /* afterwards */
    } table[] = {
        {FAIR_2_6_24, FAIR_MOVE_LOAD, true, 2, 2}, {FAIR_2_6_36, FAIR_MOVE_LOAD, true, 2, 2},
        {FAIR_5_4, FAIR_MOVE_LOAD, true, 2, 8},    {FAIR_5_15, FAIR_MOVE_TASK, true, 4, 4},
        {FAIR_5_15, FAIR_MOVE_LOAD, false, 4, 4},  {FAIR_6_18, FAIR_MOVE_TASK, true, 4, 4},
        {FAIR_6_18, FAIR_MOVE_UTIL, false, 4, 4},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "1", NULL);
        struct wb_sd *sd = s->rq[0].sd;
        enum wb_balance_result r = WB_BAL_NONE;
        struct wb_balance b;
        for (uint32_t k = 1; k <= 4; k++) {
            if (k > 1) assert_int_equal(sd->nr_balance_failed, k - 1);
            r = fail_once(s, 0, table[i].move, &b);
        }
        if ((r == WB_BAL_KICK_ACTIVE) != table[i].kicks || sd->nr_balance_failed != table[i].failed ||
            sd->balance_interval_ms != table[i].interval_ms)
            fail_msg("row %zu: result %d, %u failed, %llu ms", i, (int)r, sd->nr_balance_failed,
                     (unsigned long long)sd->balance_interval_ms);
        fake_free(s);
    }
}

/* Newidle does not count its failures, but for 2.6.35 and 2.6.36, which share the function. */
static void newidle_failures(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_2_6_24, FAIR_2_6_36, FAIR_5_4, FAIR_6_12};
    static const uint32_t expected[] = {0, 1, 0, 0};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], QUADS, "1", NULL);
        struct wb_balance b = pass_of(s, 0, 1, WB_BAL_NEWIDLE);
        b.skip_pull = true;
        (void)fair_balance_newidle.done(fake_exec(s, 0), &b, true);
        assert_int_equal(s->rq[0].sd->nr_balance_failed, expected[i]);
        fake_free(s);
    }
}

/* The migration thread pushes the task that ran to push_cpu. */
static void active_pushes(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_2_6_24, FAIR_2_6_36, FAIR_5_4, FAIR_6_18};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], QUADS, "1", NULL);
        struct wb_task *t = s->rq[1].curr;
        s->rq[0].sd->nr_balance_failed = 2; /* the kick has left it there: hot tasks may go */
        fake_enqueue(s, s->rq[1].stopper, WB_ENQ_WAKEUP);
        (void)fake_schedule(s, 1, WB_RUNNING);
        assert_ptr_equal(s->rq[1].curr, s->rq[1].stopper);
        s->rq[1].push_cpu = 0;
        assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 1, WB_LEVEL_TASK, NULL), 1);
        assert_int_equal(t->cpu, 0);
        assert_int_equal(s->rq[0].sd->nr_balance_failed, versions[i] >= FAIR_5_4 ? 0 : 2);
        fake_free(s);
    }
}

/* EPYC Milan's cache of 16 CPUs: 16 ms idle, 256 ms busy; at 250 Hz 4 and 64 jiffies, one less from 5.10 on. */
static void intervals(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        uint64_t idle, busy;
    } table[] = {{FAIR_5_4, 4, 128}, {FAIR_5_15, 4, 63}, {FAIR_6_18, 4, 63}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            scene_build(table[i].v, "topology = \"pack:1 [numa] l3:2(size=33554432) core:8 pu:2\";", "", NULL);
        const struct wb_sd *sd = s->rq[0].sd->parent;
        struct wb_balance b = pass_of(s, 0, 0, WB_BAL_PERIODIC_IDLE);
        assert_int_equal(sd->span_weight, 16);
        assert_int_equal(fair_interval(fake_exec(s, 0), &b, sd), table[i].idle);
        b.kind = WB_BAL_PERIODIC_BUSY;
        assert_int_equal(fair_interval(fake_exec(s, 0), &b, sd), table[i].busy);
        fake_free(s);
    }
}

/* ---- newidle ---- */

static bool newidle_starts(struct wb_sim *s, cpu_id cpu)
{
    struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU};
    struct wb_exec *x = fake_exec(s, cpu);
    return fair_balance_newidle.begin(x, &b) && fair_balance_newidle.next(x, &b);
}

static void gates(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *busy;
        uint64_t avg_idle, cost; /* ns, of the lowest domain */
        bool starts;
    } table[] = {
        {FAIR_2_6_23, "1", 0, 0, true},
        {FAIR_2_6_36, "1x2", 499999, 0, false},
        {FAIR_2_6_36, "1x2", 500000, 0, true},
        {FAIR_5_4, "1x2", 500000, 0, true},
        {FAIR_5_4, "1x2", 499999, 0, false},
        {FAIR_5_4, "1", 900000, 0, false}, /* nobody has two */
        {FAIR_5_15, "1x2", 600000, 600001, false},
        {FAIR_6_1, "1x2", 3000, 3001, false},
        {FAIR_6_1, "1x2", 3001, 3001, true},
        {FAIR_6_18, "1x2", 10, 0, true},
        {FAIR_6_18, "1", 900000, 0, false},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, table[i].busy, NULL);
        fair_rq(&s->rq[0])->avg_idle = table[i].avg_idle;
        s->rq[0].sd->max_newidle_cost = table[i].cost * WB_NS;
        if (newidle_starts(s, 0) != table[i].starts) fail_msg("row %zu", i);
        fake_free(s);
    }
}

/* One pass that takes `us` and moves nothing, or is said to have pulled. Returns the cost recorded, ns. */
static uint64_t cost_after(enum fair_release v, uint64_t before_ns, uint64_t us, uint32_t pulled)
{
    struct wb_sim *s = scene_build(v, QUADS, "1x2", NULL);
    struct wb_sd *sd = s->rq[0].sd;
    struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = 0, .exec_cpu = 0, .dst = 0, .src = WB_NO_CPU};
    struct wb_exec *x = fake_exec(s, 0);
    sd->max_newidle_cost = before_ns * WB_NS;
    fair_rq(&s->rq[0])->avg_idle = 1000000;
    assert_true(fair_balance_newidle.begin(x, &b) && fair_balance_newidle.next(x, &b));
    s->now += us * WB_US;
    b.src = 1;
    b.skip_pull = true;
    fair_rq(&s->rq[0])->bal.pass.nmoved = pulled;
    (void)fair_balance_newidle.done(x, &b, true);
    uint64_t cost = sd->max_newidle_cost / WB_NS;
    fake_free(s);
    return cost;
}

static void costs_are_learnt(void **state)
{
    (void)state;
    assert_int_equal(cost_after(FAIR_5_4, 0, 5, 0), 5000);
    assert_int_equal(cost_after(FAIR_6_12, 7000, 5, 0), 7000); /* the highest counts */
    assert_int_equal(cost_after(FAIR_6_12, 0, 900, 0), 900000);
    assert_int_equal(cost_after(FAIR_6_18, 0, 5, 0), 0);    /* 1.5 times nothing */
    assert_int_equal(cost_after(FAIR_6_18, 0, 5, 1), 5000); /* only a success lifts it off 0 */
    assert_int_equal(cost_after(FAIR_6_18, 4000, 1, 0), 6000);
    assert_int_equal(cost_after(FAIR_6_18, 400000, 1, 0), 500200); /* migration_cost + 200 ns */
}

/* Signature: a CPU whose idle periods are shorter than what newidle costs stops trying (6.18: after a few failures). */
static void newidle_stops_when_idle_is_shorter_than_cost(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_18, QUADS, "1x2", NULL);
    struct wb_exec *x = fake_exec(s, 0);
    int tries = 0;
    s->rq[0].sd->max_newidle_cost = 10 * WB_US; /* learnt by a pull */
    fair_rq(&s->rq[0])->avg_idle = 30000;
    for (int i = 0; i < 20; i++) {
        struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = 0, .exec_cpu = 0, .dst = 0, .src = WB_NO_CPU};
        if (!fair_balance_newidle.begin(x, &b)) break;
        if (!fair_balance_newidle.next(x, &b)) break;
        tries++;
        b.src = 1;
        b.skip_pull = true;
        (void)fair_balance_newidle.done(x, &b, true);
    }
    assert_int_equal(tries, 3); /* 10, 15, 22.5; 33.7 us are too much */
    fake_free(s);
}

/* ---- nodes, caches ---- */

static void imb_numa_nr_of_two_milan_is_8_of_two_spr_14(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        uint64_t expected;
    } table[] = {
        {"topology = \"pack:2 [numa] l3:8(size=33554432) core:8 pu:2\";", 8},    /* 2 x Milan: caches per node */
        {"topology = \"pack:2 [numa] l3:1(size=110100480) core:56 pu:2\";", 14}, /* SPR 2 x 56: 112 / 8 */
        {QUADS, 1},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(FAIR_6_12, table[i].machine, "", NULL);
        const struct wb_sd *sd = s->rq[0].sd;
        while (!(sd->flags & WB_SD_NUMA)) sd = sd->parent;
        assert_int_equal(sd->cookie[0], table[i].expected);
        assert_int_equal(fair_numa_threshold(s->policy, sd, sd->span_weight, 0), table[i].expected);
        fake_free(s);
    }
}

/* adjust_numa_imbalance in all its forms: what is left of an imbalance. */
static void kept_imbalance(void **state)
{
    (void)state;
    static const struct {
        enum fair_numa rule;
        uint64_t imbalance, running, threshold;
        int64_t left;
    } table[] = {
        {FAIR_NUMA_NONE, 2, 0, 9, 2},    {FAIR_NUMA_QUARTER, 2, 1, 2, 0}, {FAIR_NUMA_QUARTER, 2, 2, 2, 2},
        {FAIR_NUMA_QUARTER, 3, 1, 2, 3}, {FAIR_NUMA_SOURCE, 1, 2, 2, 1},  {FAIR_NUMA_LLCS, 2, 8, 8, 0},
        {FAIR_NUMA_LLCS, 2, 9, 8, 2},
    };
    struct wb_sim *s = scene_build(FAIR_6_12, QUADS, "", NULL);
    struct fair_sim *f = s->policy;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        f->bal.numa = table[i].rule;
        assert_int_equal(fair_numa_adjust(f, table[i].imbalance, table[i].running, table[i].threshold), table[i].left);
    }
    fake_free(s);
}

/* SIS_UTIL, a cache of 16 CPUs: 1 - (0.5 * 1.17)^2 = 0.658 of 16 -> 10; periodic balances only. */
static void sis_util_llc_16_cpus_half_used_scans_10(void **state)
{
    (void)state;
    static const struct {
        uint64_t util; /* of each CPU */
        uint32_t scan;
    } table[] = {{0, 16}, {440, 11}, {512, 10}, {614, 8}, {870, 0}, {1024, 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            scene_build(FAIR_6_12, "topology = \"pack:2 [numa] l3:1(size=33554432) core:16 pu:1\";", "", NULL);
        struct fair_sim *f = s->policy;
        for (cpu_id c = 0; c < 16; c++) fair_rq(&s->rq[c])->avg.util_avg = table[i].util;
        struct wb_balance b = pass_of(s, 0, 0, WB_BAL_NEWIDLE);
        (void)fair_balance_newidle.find(fake_exec(s, 0), &b);
        assert_int_equal(f->pl.seat[0].shared->nr_idle_scan, 16);
        b = pass_of(s, 0, 0, WB_BAL_PERIODIC_IDLE);
        (void)fair_balance_periodic.find(fake_exec(s, 0), &b);
        assert_int_equal(f->pl.seat[0].shared->nr_idle_scan, table[i].scan);
        assert_int_equal(f->pl.seat[16].shared->nr_idle_scan, 16);
        fake_free(s);
    }
}

/* ---- tickless idle ---- */

static void go_tickless(struct wb_sim *s, cpu_id c)
{
    fair_rq(&s->rq[c])->ticked_idle = true;
    (void)fair_idle_enter(fake_exec(s, c), &s->rq[c]);
}

/* Which busy ticks kick, and whom. */
static void kicks(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *busy, *set;
        cpu_id tick, kicked; /* WB_NO_CPU: nobody */
    } table[] = {
        {FAIR_6_12, "0x2", NULL, 0, 1}, /* two tasks: the first idle CPU */
        {FAIR_6_12, "0 1 4x2", NULL, 4, 2},
        {FAIR_6_12, "0-1", NULL, 0, 2}, /* two busy CPUs in the cache */
        {FAIR_6_12, "0", NULL, 0, WB_NO_CPU},
        {FAIR_5_4, "0x2", NULL, 0, 1},
        {FAIR_6_12, "3", "policy.cpu_priority=[\"0 9\"]", 3, 0}, /* an idle CPU of higher priority */
        {FAIR_2_6_36, "0x2", NULL, 0, 1},
        {FAIR_2_6_36, "0", NULL, 0, WB_NO_CPU}, /* the first busy CPU needs two */
        {FAIR_2_6_35, "0x2", NULL, 0, WB_NO_CPU},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "", table[i].set);
        for (cpu_id c = 0; c < s->ncpus; c++) go_tickless(s, c);
        scene_busy(s, table[i].busy, 0, WB_CLASS_NORMAL);
        for (cpu_id c = 0; c < s->ncpus; c++) {
            struct wb_rq *rq = &s->rq[c];
            if (wb_idle_cpu(rq)) continue;
            if (table[i].v <= FAIR_2_6_36) fair_balance_idle_exit(fake_exec(s, c), rq);
            fair_rq(rq)->bal.next_balance = UINT64_MAX;
        }
        struct fair_sim *f = s->policy;
        f->bal.nohz_next_blocked = UINT64_MAX;
        for (cpu_id c = 0; c < s->ncpus; c++) { /* first busy ticks: they are not idle any more */
            if (wb_idle_cpu(&s->rq[c]) || c == table[i].tick || table[i].v <= FAIR_2_6_36) continue;
            f->bal.nohz_next_balance = UINT64_MAX;
            fake_ticks(s, c, 1);
        }
        f->bal.nohz_next_balance = 0;
        fake_ticks(s, table[i].tick, 1);
        cpu_id kicked = WB_NO_CPU;
        for (cpu_id c = 0; c < s->ncpus; c++)
            if (fair_rq(&s->rq[c])->bal.kick & FAIR_KICK_BALANCE) kicked = c;
        if (kicked != table[i].kicked) fail_msg("row %zu: kicked %d", i, (int)kicked);
        fake_free(s);
    }
}

/* A kicked CPU balances for the idle ones from the next on, itself last; the periodic call of the softirq is spared. */
static void kicked_cpu_balances_for_others(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_12, QUADS, "0x4", NULL);
    for (cpu_id c = 1; c < 8; c++) go_tickless(s, c);
    cool(s, 0);
    s->now += WB_S;
    fair_rq(&s->rq[1])->bal.kick = FAIR_KICK_BALANCE | FAIR_KICK_STATS;
    struct wb_balance last = {0};
    uint32_t moved = fake_balance(s, WB_BAL_NOHZ, 1, WB_LEVEL_SOFTIRQ, &last);
    assert_true(moved >= 2);
    assert_true(fair_rq(&s->rq[2])->nr > 0); /* before 1 */
    assert_int_equal(last.this_cpu, 1);
    assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_IDLE, 1, WB_LEVEL_SOFTIRQ, NULL), 0);
    fake_free(s);
}

static void busy_cpus_of_a_cache(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_1, QUADS, "", NULL);
    struct fair_sim *f = s->policy;
    assert_int_equal(f->pl.seat[0].shared->nr_busy, 4);
    for (cpu_id c = 0; c < 4; c++) go_tickless(s, c);
    assert_int_equal(f->pl.seat[0].shared->nr_busy, 0);
    go_tickless(s, 0);
    assert_int_equal(f->pl.seat[0].shared->nr_busy, 0);
    scene_busy(s, "2", 0, WB_CLASS_NORMAL);
    assert_int_equal(f->pl.seat[0].shared->nr_busy, 0); /* noticed at its first busy tick */
    fake_ticks(s, 2, 1);
    assert_int_equal(f->pl.seat[0].shared->nr_busy, 1);
    assert_false(wb_mask_test(&f->bal.nohz.mask, 2));
    fake_free(s);
}

/* ---- fork and exec ---- */

static void forks_spread(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *machine, *busy, *set;
        cpu_id cpu; /* where the child of a task on CPU 0 starts; WB_NO_CPU: on another node */
        enum fair_rule rule;
    } table[] = {
        {FAIR_2_6_24, QUADS, "0", NULL, 4, FAIR_R_FORK_IDLEST}, /* nodes fork, and 0 < 112 % of nothing */
        {FAIR_2_6_24, PAIRS, "0", NULL, 0, FAIR_R_FORK_LOCAL},
        {FAIR_2_6_36, PAIRS, "0", NULL, 3,
         FAIR_R_FORK_IDLEST},                                 /* 2, and below it 100 * 0 < 112 * 0 no: its neighbour */
        {FAIR_5_15, QUADS, "0", NULL, 4, FAIR_R_FORK_IDLEST}, /* 1 + 1 < 4 / 4 no; idlest CPU of the idlest node */
        {FAIR_6_12, QUADS, "0", NULL, 4, FAIR_R_FORK_IDLEST}, /* 1 + 1 <= 1 no */
        {FAIR_6_12, "topology = \"pack:2 [numa] l3:2(size=8388608) core:4 pu:1\";", "0", NULL, 4, FAIR_R_FORK_IDLEST},
        {FAIR_6_12, QUADS, "0", "policy.fork_balance=false", 0, FAIR_R_FORK_LOCAL},
        {FAIR_6_12, "topology = \"[numa] pack:1 l3:1(size=8388608) core:2 pu:1\";", "0-1", NULL, 0, FAIR_R_FORK_STAY},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, table[i].machine, table[i].busy, table[i].set);
        struct wb_task *child = fake_task(s, 0, 0);
        struct wb_choice c = fair_place_fork(fake_exec(s, 0), child);
        if (c.cpu != table[i].cpu || c.rule != table[i].rule)
            fail_msg("row %zu: cpu %u (%s)", i, c.cpu, fair_rules[c.rule]);
        fake_free(s);
    }
}

/* ---- keys ---- */

static void listings_are_checked(void **state)
{
    (void)state;
    struct wb_sim *s = scene_build(FAIR_6_12, QUADS, "", "policy.cpu_capacity=[\"0-3 446\"]");
    const struct fair_sim *f = s->policy;
    assert_int_equal(fair_capacity(f, 3), 446);
    assert_int_equal(fair_capacity(f, 4), 1024);
    assert_true(f->bal.asym_capacity);
    assert_true(s->rq[0].sd->parent->flags & WB_SD_ASYM_CAPACITY);
    assert_false(s->rq[0].sd->flags & (WB_SD_ASYM_CAPACITY | WB_SD_PREFER_SIBLING));
    fake_free(s);
}

/* A running task that does not fit its small CPU is noted, and an idle big CPU takes it. */
static void misfit_tasks(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_5_4, FAIR_5_15, FAIR_6_12};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], QUADS, "0", "policy.cpu_capacity=[\"0-3 446\"]");
        struct fair_task *p = fair_task(s->rq[0].curr);
        p->avg.util_avg = 700;
        fair_balance_picked(fake_exec(s, 0), &s->rq[0], p);
        assert_int_equal(fair_rq(&s->rq[0])->bal.misfit_load, 1024);
        struct wb_balance b = pass_of(s, 4, WB_NO_CPU, WB_BAL_PERIODIC_IDLE);
        b.sd = s->rq[4].sd->parent;
        assert_true(fair_balance_periodic.find(fake_exec(s, 4), &b));
        assert_int_equal(b.src, 0);
        assert_int_equal(b.rule, FAIR_R_LB_MISFIT);
        fake_free(s);
    }
}

/* Two groups with misfit tasks of equal load: from 5.5 to 6.8 the last one is taken (update_sd_pick_busiest: "<"),
 * later the first; in 5.4 equal average loads decide for the first before. */
static void equal_misfits(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        cpu_id src;
    } table[] = {{FAIR_5_4, 0}, {FAIR_5_15, 2}, {FAIR_6_1, 2}, {FAIR_6_6, 2}, {FAIR_6_12, 0}, {FAIR_6_18, 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, "topology = \"pack:3 [numa] l3:1(size=8388608) core:2 pu:1\";",
                                       "0 2", "policy.cpu_capacity=[\"0-3 446\"]");
        for (cpu_id c = 0; c <= 2; c += 2) {
            struct fair_task *p = fair_task(s->rq[c].curr);
            p->avg.util_avg = 700;
            fair_balance_picked(fake_exec(s, c), &s->rq[c], p);
        }
        struct wb_balance b = pass_of(s, 4, WB_NO_CPU, WB_BAL_PERIODIC_IDLE);
        b.sd = s->rq[4].sd->parent;
        assert_true(fair_balance_periodic.find(fake_exec(s, 4), &b));
        assert_int_equal(b.rule, FAIR_R_LB_MISFIT);
        assert_int_equal(b.src, table[i].src);
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_pulls),
        cmocka_unit_test(who_ran_last_stays),
        cmocka_unit_test(hot_tasks_stay_until_tries_are_over),
        cmocka_unit_test(threads_are_never_hot),
        cmocka_unit_test(amounts),
        cmocka_unit_test(limits),
        cmocka_unit_test(ineligible_tasks_stay),
        cmocka_unit_test(pinned_queues),
        cmocka_unit_test(another_cpu_of_the_group),
        cmocka_unit_test(failures_start_active_balancing),
        cmocka_unit_test(newidle_failures),
        cmocka_unit_test(active_pushes),
        cmocka_unit_test(intervals),
        cmocka_unit_test(gates),
        cmocka_unit_test(costs_are_learnt),
        cmocka_unit_test(newidle_stops_when_idle_is_shorter_than_cost),
        cmocka_unit_test(imb_numa_nr_of_two_milan_is_8_of_two_spr_14),
        cmocka_unit_test(kept_imbalance),
        cmocka_unit_test(sis_util_llc_16_cpus_half_used_scans_10),
        cmocka_unit_test(kicks),
        cmocka_unit_test(kicked_cpu_balances_for_others),
        cmocka_unit_test(busy_cpus_of_a_cache),
        cmocka_unit_test(forks_spread),
        cmocka_unit_test(listings_are_checked),
        cmocka_unit_test(misfit_tasks),
        cmocka_unit_test(equal_misfits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
