/* Rules of single versions at the edges of the fair classes: SCHED_IDLE queues, buddies, exits, nice, newly idle CPUs,
 * sched features by name.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fair_groups.h"
#include "fairscene.h"
#include "fakekernel.h"

/* ---- sched features ---- */

/* Is it an error to name the feature, and does the error say that this version lacks it? */
static bool said_of_one(enum fair_release v, const char *name)
{
    char set[64], missing[96];
    (void)snprintf(set, sizeof set, "policy.features=[\"%s\"]", name);
    (void)snprintf(missing, sizeof missing, "sched feature %s does not exist in Linux %s; it is in ", name,
                   fair_version[v].name);
    const char *sets[] = {set, NULL};
    struct wb_sim *s = fake_load(scene_policy(v), kernel_of[v], DUALS, sets);
    struct fair_sim f = {.v = &fair_version[v]};
    (void)fair_features_read(&f, wb_scenario_config(s->scenario), s->diag);
    char *said = wb_diag_render(s->diag, false);
    bool absent = strstr(said, missing);
    free(said);
    fake_free(s);
    return absent;
}

static const struct {
    const char *name;
    enum fair_feature id;
    uint32_t has, on;
} features[] = {
    {"FAIR_SLEEPERS", FAIR_F_FAIR_SLEEPERS, V23, V23},
    {"SLEEPER_AVG", FAIR_F_SLEEPER_AVG, V23, 0},
    {"SLEEPER_LOAD_AVG", FAIR_F_SLEEPER_LOAD_AVG, V23, V23},
    {"PRECISE_CPU_LOAD", FAIR_F_PRECISE_CPU_LOAD, V23, V23},
    {"SKIP_INITIAL", FAIR_F_SKIP_INITIAL, V23, 0},
    {"START_DEBIT", FAIR_F_START_DEBIT, FAIR_UNTIL(FAIR_6_1), FAIR_UNTIL(FAIR_6_1)},
    {"NEW_FAIR_SLEEPERS", FAIR_F_NEW_FAIR_SLEEPERS, V24, V24},
    {"TREE_AVG", FAIR_F_TREE_AVG, V24, 0},
    {"APPROX_AVG", FAIR_F_APPROX_AVG, V24, 0},
    {"WAKEUP_PREEMPT", FAIR_F_WAKEUP_PREEMPTION, V24 | V35, V24 | V35},
    {"GENTLE_FAIR_SLEEPERS", FAIR_F_GENTLE_FAIR_SLEEPERS, FAIR_IN(FAIR_2_6_35, FAIR_6_1),
     FAIR_IN(FAIR_2_6_35, FAIR_6_1)},
    {"AFFINE_WAKEUPS", FAIR_F_AFFINE_WAKEUPS, V35, V35},
    {"LAST_BUDDY", FAIR_F_LAST_BUDDY, FAIR_IN(FAIR_2_6_35, FAIR_6_1), FAIR_IN(FAIR_2_6_35, FAIR_6_1)},
    {"NEXT_BUDDY", FAIR_F_NEXT_BUDDY, FAIR_SINCE(FAIR_2_6_35), 0},
    {"PICK_BUDDY", FAIR_F_PICK_BUDDY, ONLY(FAIR_6_18), ONLY(FAIR_6_18)},
    {"CACHE_HOT_BUDDY", FAIR_F_CACHE_HOT_BUDDY, FAIR_SINCE(FAIR_2_6_35), FAIR_SINCE(FAIR_2_6_35)},
    {"ARCH_POWER", FAIR_F_ARCH_POWER, V35, 0},
    {"LB_BIAS", FAIR_F_LB_BIAS, V35, V35},
    {"LB_SHARES_UPDATE", FAIR_F_LB_SHARES_UPDATE, V35, V35},
    {"ASYM_EFF_LOAD", FAIR_F_ASYM_EFF_LOAD, V35, V35},
    {"OWNER_SPIN", FAIR_F_OWNER_SPIN, V35, V35},
    {"HRTICK", FAIR_F_HRTICK, FAIR_SINCE(FAIR_2_6_35), 0},
    {"HRTICK_DL", FAIR_F_HRTICK_DL, V515, 0}, /* e0ee463c93c4 */
    {"DOUBLE_TICK", FAIR_F_DOUBLE_TICK, FAIR_IN(FAIR_2_6_35, FAIR_6_12), 0},
    {"NONTASK_CAPACITY", FAIR_F_NONTASK_CAPACITY, MODERN, MODERN},
    {"WAKEUP_PREEMPTION", FAIR_F_WAKEUP_PREEMPTION, MODERN, MODERN},
    {"TTWU_QUEUE", FAIR_F_TTWU_QUEUE, MODERN, MODERN},
    {"SIS_AVG_CPU", FAIR_F_SIS_AVG_CPU, V54, 0},
    {"SIS_PROP", FAIR_F_SIS_PROP, FAIR_IN(FAIR_5_4, FAIR_6_6), V54},
    {"SIS_UTIL", FAIR_F_SIS_UTIL, V515, V515},
    {"WARN_DOUBLE_CLOCK", FAIR_F_WARN_DOUBLE_CLOCK, MODERN, 0},
    {"RT_PUSH_IPI", FAIR_F_RT_PUSH_IPI, MODERN, MODERN},
    {"RT_RUNTIME_SHARE", FAIR_F_RT_RUNTIME_SHARE, MODERN, V54}, /* 2586af1ac187 */
    {"LB_MIN", FAIR_F_LB_MIN, MODERN, 0},
    {"ATTACH_AGE_LOAD", FAIR_F_ATTACH_AGE_LOAD, MODERN, MODERN},
    {"WA_IDLE", FAIR_F_WA_IDLE, MODERN, MODERN},
    {"WA_WEIGHT", FAIR_F_WA_WEIGHT, MODERN, MODERN},
    {"WA_BIAS", FAIR_F_WA_BIAS, MODERN, MODERN},
    {"UTIL_EST", FAIR_F_UTIL_EST, MODERN, MODERN},
    {"UTIL_EST_FASTUP", FAIR_F_UTIL_EST_FASTUP, FAIR_IN(FAIR_5_15, FAIR_6_6), FAIR_IN(FAIR_5_15, FAIR_6_6)},
    {"LATENCY_WARN", FAIR_F_LATENCY_WARN, V515, 0},
    {"ALT_PERIOD", FAIR_F_ALT_PERIOD, FAIR_IN(FAIR_5_15, FAIR_6_1), FAIR_IN(FAIR_5_15, FAIR_6_1)},
    {"BASE_SLICE", FAIR_F_BASE_SLICE, FAIR_IN(FAIR_5_15, FAIR_6_1), FAIR_IN(FAIR_5_15, FAIR_6_1)},
    {"PLACE_LAG", FAIR_F_PLACE_LAG, FAIR_SINCE(FAIR_6_6), FAIR_SINCE(FAIR_6_6)},
    {"PLACE_DEADLINE_INITIAL", FAIR_F_PLACE_DEADLINE_INITIAL, FAIR_SINCE(FAIR_6_6), FAIR_SINCE(FAIR_6_6)},
    {"RUN_TO_PARITY", FAIR_F_RUN_TO_PARITY, FAIR_SINCE(FAIR_6_6), FAIR_SINCE(FAIR_6_6)},
    {"HZ_BW", FAIR_F_HZ_BW, ONLY(FAIR_6_6), ONLY(FAIR_6_6)},
    {"PLACE_REL_DEADLINE", FAIR_F_PLACE_REL_DEADLINE, V612, V612},
    {"PREEMPT_SHORT", FAIR_F_PREEMPT_SHORT, V612, V612},
    {"DELAY_DEQUEUE", FAIR_F_DELAY_DEQUEUE, V612, V612},
    {"DELAY_ZERO", FAIR_F_DELAY_ZERO, V612, V612},
};

/* Every name of kernel/sched_features.h and kernel/sched/features.h (SMP, not RT): a key of
 * its versions, with its default; elsewhere an error. */
static void every_feature_of_every_version(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = scene_build(v, DUALS, "", NULL);
        const struct fair_sim *f = s->policy;
        for (size_t i = 0; i < WB_ARRAY_SIZE(features); i++)
            if (features[i].has >> v & 1 && fair_on(f, features[i].id) != (features[i].on >> v & 1))
                fail_msg("default of %s in %s", features[i].name, f->v->name);
        fake_free(s);
        for (size_t i = 0; i < WB_ARRAY_SIZE(features); i++) {
            bool has = !said_of_one(v, features[i].name);
            if (has != (features[i].has >> v & 1)) fail_msg("%s in %s", features[i].name, fair_version[v].name);
        }
    }
}

/* ---- SCHED_IDLE ---- */

/* A CPU with SCHED_IDLE tasks only balances as often as an idle one from 5.6 on (323af6deaf70). */
static void sched_idle_cpus_balance_like_idle_ones(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        uint64_t interval;
    } table[] = {{FAIR_5_4, 4 * 32 / 4}, {FAIR_5_15, 1}, {FAIR_6_18, 1}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, QUADS, "", NULL);
        scene_busy(s, "0x2", 0, WB_CLASS_IDLE);
        struct wb_balance b = {.kind = WB_BAL_PERIODIC_BUSY, .this_cpu = 0, .exec_cpu = 0, .dst = 0};
        b.sd = s->rq[0].sd; /* 4 CPUs: 4 ms, at HZ 250 a jiffy */
        assert_int_equal(fair_interval(fake_exec(s, 0), &b, b.sd), table[i].interval);
        fake_free(s);
    }
}

/* ---- buddies ---- */

/* A yield is over when the queue has been asked once, even if who yielded goes on (pick_next_entity: clear_buddies). */
static void a_pick_forgets_who_yielded(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v <= FAIR_6_1; v++) {
        struct wb_sim *s = scene_build(v, DUALS, "0", NULL);
        struct fair_rq *r = fair_rq(&s->rq[0]);
        struct fair_task *curr = r->curr;
        struct wb_task *far = fake_task(s, 0, 0);
        fake_enqueue(s, far, WB_ENQ_NEW);
        fair_tree_del(s->policy, r, fair_task(far));
        fair_task(far)->vruntime = curr->vruntime + 50000000; /* too far to be passed to */
        fair_tree_add(s->policy, r, fair_task(far));
        fair_yield(fake_exec(s, 0), &s->rq[0]);
        assert_ptr_equal(r->skip, curr);
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), curr->t);
        assert_null(r->skip);
        fake_free(s);
    }
}

/* Up to 2.6.36 check_preempt_wakeup() answers for real-time wakees too, and on a long queue remembers whom they
 * preempt. */
static void real_time_wakees_leave_a_last_buddy(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_2_6_35; v <= FAIR_5_4; v++) {
        struct wb_sim *s = scene_build(v, DUALS, "0x9", NULL);
        struct fair_rq *r = fair_rq(&s->rq[0]);
        struct fair_task *curr = r->curr;
        struct wb_task *rt = fake_task_of_class(s, 0, 0, WB_CLASS_STOP);
        wb_rule rule;
        s->rq[0].need_resched = false;
        fake_enqueue(s, rt, WB_ENQ_WAKEUP);
        assert_true(fair_check_preempt(fake_exec(s, 0), &s->rq[0], rt, 0, &rule));
        assert_ptr_equal(r->last, v <= FAIR_2_6_36 ? curr : NULL);
        fake_free(s);
    }
}

/* ---- wakeups by who exits ---- */

/* do_exit() wakes the parent with a sync wakeup; from 4.16 on it does not count as one (24d0c1d6e65f). */
static void exits_do_not_pull(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_2_6_35, FAIR_5_4, FAIR_6_18};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], DUALS, "0", NULL);
        struct wb_task *parent = fake_task(s, 2, 0);
        fair_task(parent)->is_new = false;
        struct wb_wakeup w = {.task = parent, .this_cpu = 0, .prev_cpu = 2, .flags = WB_WF_SYNC};
        s->rq[0].curr->exiting = true;
        assert_int_equal(fair_place_wakeup(fake_exec(s, 0), &w).cpu, versions[i] == FAIR_2_6_35 ? 1 : 2);
        s->rq[0].curr->exiting = false;
        assert_int_equal(fair_place_wakeup(fake_exec(s, 0), &w).cpu, 1);
        fake_free(s);
    }
}

/* ---- sync wakeups beside sleepers whose dequeue is delayed ---- */

/* choose_sched_idle_rq: the waker's CPU runs nobody but a SCHED_IDLE waker, and counts as idle. For another SCHED_IDLE
 * task it does until fd54d81c2c0e; then its idle previous CPU, which shares the cache, is taken. */
static void sched_idle_tasks_join_or_spread(void **state)
{
    static const struct {
        enum wb_sched_class wakee;
        const char *set;
        cpu_id cpu;
    } table[] = {{WB_CLASS_NORMAL, NULL, 0},
                 {WB_CLASS_NORMAL, "policy.idle_wakee=spreads", 0},
                 {WB_CLASS_IDLE, NULL, 0},
                 {WB_CLASS_IDLE, "policy.idle_wakee=spreads", 1}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(FAIR_6_12, DUALS, "0x0", table[i].set);
        scene_busy(s, "0x1", 0, WB_CLASS_IDLE);
        struct wb_task *wakee = fake_task(s, 1, 0);
        wakee->klass = (uint8_t)table[i].wakee;
        fair_task(wakee)->is_new = false;
        struct wb_wakeup w = {.task = wakee, .this_cpu = 0, .prev_cpu = 1, .flags = WB_WF_SYNC};
        cpu_id cpu = fair_place_wakeup(fake_exec(s, 0), &w).cpu;
        if (cpu != table[i].cpu) fail_msg("row %zu: CPU %u", i, cpu);
        fake_free(s);
    }
}

/* wake_affine_idle: 6.12 counts them as running beside the waker, from 6.15 on (aa3ee4f0b754) they do not. */
static void delayed_sleepers_beside_a_sync_waker(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        const char *set;
        cpu_id cpu;
    } table[] = {{FAIR_6_12, NULL, 2},
                 {FAIR_6_12, "policy.sync_skips_delayed=true", 1},
                 {FAIR_6_18, NULL, 1},
                 {FAIR_6_18, "policy.sync_skips_delayed=false", 2}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, DUALS, "0x2", table[i].set); /* waker and a sleeper */
        fair_rq(&s->rq[0])->nr_delayed = 1;
        struct wb_task *wakee = fake_task(s, 2, 0);
        fair_task(wakee)->is_new = false;
        struct wb_wakeup w = {.task = wakee, .this_cpu = 0, .prev_cpu = 2, .flags = WB_WF_SYNC};
        if (fair_place_wakeup(fake_exec(s, 0), &w).cpu != table[i].cpu) fail_msg("row %zu", i);
        fair_rq(&s->rq[0])->nr_delayed = 0;
        fake_free(s);
    }
}

/* Runnable load of a queue: sleepers whose dequeue is delayed are in it in 6.12 (h_nr_running), not later
 * (76f2f783294d, 6.13). */
static void delayed_sleepers_in_the_runnable_load(void **state)
{
    (void)state;
    static const enum fair_release versions[] = {FAIR_6_12, FAIR_6_18};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct wb_sim *s = scene_build(versions[i], DUALS, "0x2", NULL);
        struct fair_rq *r = fair_rq(&s->rq[0]);
        struct fair_task *sleeper = r->tail == r->curr ? r->head : r->tail;
        sleeper->delayed = true;
        r->nr_delayed = 1;
        s->now += WB_S;
        fair_update_clock(fake_exec(s, 0), &s->rq[0]);
        fair_update_load(s->policy, r, r->curr);
        assert_int_equal(fair_cpu_runnable(r) / 1000, versions[i] == FAIR_6_12 ? 2 : 1);
        sleeper->delayed = false;
        r->nr_delayed = 0;
        fake_free(s);
    }
}

/* ---- nice ---- */

/* set_user_nice(): up to 5.5 a waiting task that gains reschedules at once; later it has to be one that would preempt
 * (5443a0be6121), and a lone task never does. */
static void nice_of_a_waiting_task(void **state)
{
    (void)state;
    static const struct {
        enum fair_release v;
        bool resched;
    } table[] = {{FAIR_2_6_36, true}, {FAIR_5_4, true}, {FAIR_5_15, false}, {FAIR_6_18, false}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = scene_build(table[i].v, DUALS, "0x2", NULL);
        struct fair_rq *r = fair_rq(&s->rq[0]);
        struct wb_task *waits = r->head == r->curr ? r->tail->t : r->head->t;
        s->rq[0].need_resched = false;
        waits->nice = -5;
        fair_task_changed(fake_exec(s, 0), waits);
        if (s->rq[0].need_resched != table[i].resched) fail_msg("row %zu", i);
        fake_free(s);
        s = scene_build(table[i].v, DUALS, "0", NULL);
        s->rq[0].need_resched = false;
        s->rq[0].curr->nice = 5;
        fair_task_changed(fake_exec(s, 0), s->rq[0].curr);
        assert_int_equal(s->rq[0].need_resched, table[i].v <= FAIR_5_4);
        fake_free(s);
    }
}

/* ---- newly idle ---- */

/* nohz_newidle_balance(): who goes idle refreshes the loads of other idle CPUs. 5.4 when it does not look for tasks;
 * from 5.13 on (c6f886546cb8) also when it has looked in vain, all versions up to 6.18. */
static void newly_idle_cpus_refresh_idle_loads(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        for (int looked = 0; looked < 2; looked++) {
            struct wb_sim *s = scene_build(v, QUADS, looked ? "1x2" : "1", NULL);
            struct fair_sim *f = s->policy;
            struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = 0, .exec_cpu = 0, .dst = 0, .src = WB_NO_CPU};
            struct wb_exec *x = fake_exec(s, 0);
            fair_rq(&s->rq[0])->avg_idle = 900000;
            f->bal.nohz_has_blocked = true;
            f->bal.nohz_next_blocked = 0;
            assert_int_equal(fair_balance_newidle.begin(x, &b), looked);
            if (looked) fair_balance_newidle.end(x, &b);
            assert_int_equal(fair_rq(&s->rq[0])->bal.newidle_stats, v >= FAIR_5_15 || !looked);
            fake_free(s);
        }
    }
}

/* CONFIG_PREEMPTION: a newly idle CPU pulls one task and no more. PREEMPT_DYNAMIC selects it whatever the model is. */
static void preemptible_builds_pull_one(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_2_6_35; v < FAIR_RELEASES; v++) {
        for (int one = 0; one < 2; one++) {
            struct wb_sim *s = scene_build(v, QUADS, "1x5", one ? "policy.newidle_one=true" : NULL);
            for (struct fair_task *p = fair_rq(&s->rq[1])->head; p; p = p->next)
                p->exec_start = fair_rq(&s->rq[1])->clock - 1000000;
            struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = 0, .exec_cpu = 0, .dst = 0, .src = 1};
            b.sd = s->rq[0].sd;
            b.imbalance = v >= FAIR_5_15 ? 3 : 3 * 1024;
            fair_rq(&s->rq[0])->bal.pass =
                (struct fair_pass){.new_dst = WB_NO_CPU, .move = v >= FAIR_5_15 ? FAIR_MOVE_TASK : FAIR_MOVE_LOAD};
            fair_pull(fake_exec(s, 0), &b);
            assert_int_equal(b.moved, one ? 1 : 3);
            fake_free(s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_feature_of_every_version),
        cmocka_unit_test(sched_idle_cpus_balance_like_idle_ones),
        cmocka_unit_test(sched_idle_tasks_join_or_spread),
        cmocka_unit_test(a_pick_forgets_who_yielded),
        cmocka_unit_test(real_time_wakees_leave_a_last_buddy),
        cmocka_unit_test(exits_do_not_pull),
        cmocka_unit_test(delayed_sleepers_beside_a_sync_waker),
        cmocka_unit_test(delayed_sleepers_in_the_runnable_load),
        cmocka_unit_test(nice_of_a_waiting_task),
        cmocka_unit_test(newly_idle_cpus_refresh_idle_loads),
        cmocka_unit_test(preemptible_builds_pull_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
