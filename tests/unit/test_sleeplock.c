/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Sleeping locks: who gets them, in which order, and whether the waiters sleep or spin. */
#include "scripted.h"
#include "simtest.h"

#define LOCK \
    { \
        SCRIPT_LOCK, 0 \
    }
#define UNLOCK \
    { \
        SCRIPT_UNLOCK, 0 \
    }
#define RUN(t) \
    { \
        SCRIPT_RUN, (t) \
    }
#define SLEEP(t) \
    { \
        SCRIPT_SLEEP, (t) \
    }
#define DONE \
    { \
        SCRIPT_DONE, 0 \
    }

static const char four[] = "machine : { base = \"smp2\"; topology = \"pack:4 l3:1(size=8MiB) core:1 pu:1\"; };";

/* Index of the n-th note of this kind, or -1. */
static int note_of(const struct scripted *s, uint32_t script, enum script_code code, int nth)
{
    for (uint32_t i = 0; i < s->nnotes; i++)
        if (s->note[i].script == script && s->note[i].code == code && nth-- == 0) return (int)i;
    return -1;
}

static sim_time when(const struct scripted *s, uint32_t script, enum script_code code, int nth)
{
    int i = note_of(s, script, code, nth);
    if (i < 0) fail_msg("script %u never did %d for the %dth time", script, (int)code, nth);
    return s->note[i].when;
}

/* A holds the lock for 1 ms; B comes, then C; all on CPUs of their own. */
static void first_come_first_served(void **state)
{
    (void)state;
    static const struct script_op holder[] = {LOCK, RUN(WB_MS), UNLOCK, DONE};
    static const struct script_op waiter[] = {LOCK, RUN(100 * WB_US), UNLOCK, DONE};
    for (int kind = 0; wb_sleeplock_kind_name[kind]; kind++) {
        struct script scripts[] = {{.op = holder, .cpu = 0, .start = 0},
                                   {.op = waiter, .cpu = 1, .start = 200 * WB_US},
                                   {.op = waiter, .cpu = 2, .start = 400 * WB_US}};
        struct scripted s = {.script = scripts, .n = 3, .lock_kind = (enum wb_sleeplock_kind)kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        sim_time freed = when(&s, 0, SCRIPT_UNLOCK, 0), b = when(&s, 1, SCRIPT_LOCK, 0),
                 c = when(&s, 2, SCRIPT_LOCK, 0);
        assert_true(b > WB_MS && c >= b + 100 * WB_US); /* exclusion, and order */
        assert_true(b < freed + 50 * WB_US);
        assert_int_equal(wb_sleeplock_counts(s.sim)->acquired, 3);
        bool spinning = kind == WB_LOCK_MUTEX_SPIN || kind == WB_LOCK_MUTEX_HANDOFF;
        assert_int_equal(s.note[note_of(&s, 1, SCRIPT_LOCK, 0)].ret > 0, !spinning); /* slept? */
        assert_int_equal(wb_sleeplock_counts(s.sim)->slept > 0, !spinning);
        assert_int_equal(wb_sleeplock_counts(s.sim)->spun, spinning ? 2 : 0);
        if (kind != WB_LOCK_SEM && kind != WB_LOCK_FAIR) assert_int_equal(wb_sleeplock_counts(s.sim)->stolen, 0);
        assert_null(s.lock.first);
        assert_int_equal(s.lock.count, 1);
        scripted_free(&s);
    }
}

/* The owner drops the lock and takes it again at once, on the same CPU: it robs the waiter that it has just woken,
 * unless the lock is handed over. */
static void stealing_and_hand_off(void **state)
{
    (void)state;
    static const struct script_op owner[] = {LOCK,   RUN(WB_MS),   UNLOCK, LOCK, RUN(500 * WB_US),
                                             UNLOCK, SLEEP(WB_MS), DONE};
    static const struct script_op waiter[] = {LOCK, UNLOCK, DONE};
    for (int kind = 0; wb_sleeplock_kind_name[kind]; kind++) {
        if (kind == WB_LOCK_MUTEX_SPIN || kind == WB_LOCK_MUTEX_HANDOFF) continue; /* their waiter spins */
        struct script scripts[] = {{.op = owner, .cpu = 0}, {.op = waiter, .cpu = 1, .start = 300 * WB_US}};
        struct scripted s = {.script = scripts, .n = 2, .lock_kind = (enum wb_sleeplock_kind)kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        sim_time again = when(&s, 0, SCRIPT_LOCK, 1), other = when(&s, 1, SCRIPT_LOCK, 0);
        if (kind == WB_LOCK_FAIR) {
            assert_true(other < again);
            assert_int_equal(wb_sleeplock_counts(s.sim)->handed, 2); /* to the waiter, and back */
            assert_int_equal(wb_sleeplock_counts(s.sim)->stolen, 0);
        } else {
            assert_true(again < other && other >= again + 500 * WB_US);
            assert_int_equal(wb_sleeplock_counts(s.sim)->stolen, 1);
            assert_int_equal(s.note[note_of(&s, 1, SCRIPT_LOCK, 0)].ret, 2); /* slept, found it taken, slept again */
        }
        scripted_free(&s);
    }
}

/* A spinner gives up when the owner leaves its CPU, and sleeps. */
static void spins_only_while_the_owner_runs(void **state)
{
    (void)state;
    static const struct script_op sleeper[] = {LOCK, RUN(WB_MS), SLEEP(3 * WB_MS), UNLOCK, DONE};
    static const struct script_op waiter[] = {LOCK, UNLOCK, DONE};
    for (int kind = WB_LOCK_MUTEX_SPIN; kind <= WB_LOCK_MUTEX_HANDOFF; kind++) {
        struct script scripts[] = {{.op = sleeper, .cpu = 0}, {.op = waiter, .cpu = 1, .start = 500 * WB_US}};
        struct scripted s = {.script = scripts, .n = 2, .lock_kind = (enum wb_sleeplock_kind)kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(wb_sleeplock_counts(s.sim)->slept, 1);
        assert_int_equal(wb_sleeplock_counts(s.sim)->spun, 1);
        assert_true(when(&s, 1, SCRIPT_LOCK, 0) > 4 * WB_MS);
        double lock_time = scripted_metric(&s, "time.lock"); /* share of CPU time: about 500 us of spinning */
        double spun = lock_time * 4 * (double)wb_sim_result(s.sim)->duration;
        assert_true(spun > 450e6 && spun < 600e6);
        scripted_free(&s);
    }
}

/* Linux 4.10: a waiter that was woken and found the lock stolen asks for a hand-off; the next unlock gives it.
 * Before, it may be robbed again and again. The owner takes the lock back at once each time; the waiter's CPU is slow
 * to wake because it sleeps. */
static void starved_waiter(void **state)
{
    (void)state;
    static const struct script_op greedy[] = {LOCK,
                                              RUN(200 * WB_US),
                                              SLEEP(100 * WB_US),
                                              UNLOCK,
                                              LOCK,
                                              SLEEP(100 * WB_US),
                                              UNLOCK,
                                              LOCK,
                                              SLEEP(100 * WB_US),
                                              UNLOCK,
                                              LOCK,
                                              SLEEP(100 * WB_US),
                                              UNLOCK,
                                              DONE};
    static const struct script_op waiter[] = {LOCK, UNLOCK, DONE};
    static const struct {
        enum wb_sleeplock_kind kind;
        uint64_t handed;
        int before;
    } rows[] = {{WB_LOCK_MUTEX, 0, 4}, {WB_LOCK_MUTEX_SPIN, 0, 4}, {WB_LOCK_MUTEX_HANDOFF, 1, 2}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct script scripts[] = {{.op = greedy, .cpu = 0}, {.op = waiter, .cpu = 1, .start = 250 * WB_US}};
        struct scripted s = {.script = scripts, .n = 2, .lock_kind = rows[i].kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        int got = note_of(&s, 1, SCRIPT_LOCK, 0);
        assert_true(got >= 0);
        int before = 0;
        while (note_of(&s, 0, SCRIPT_LOCK, before) >= 0 && note_of(&s, 0, SCRIPT_LOCK, before) < got) before++;
        assert_int_equal(before, rows[i].before);
        assert_int_equal(wb_sleeplock_counts(s.sim)->handed, rows[i].handed);
        scripted_free(&s);
    }
}

/* Waiting times: n tasks on n CPUs, each holding the lock 100 us: the k-th waits (k - 1) x 100 us and what hand-overs
 * cost. */
static void waiting_times_add_up(void **state)
{
    (void)state;
    static const struct script_op op[] = {LOCK, RUN(100 * WB_US), UNLOCK, DONE};
    for (int kind = 0; wb_sleeplock_kind_name[kind]; kind++) {
        struct script scripts[4];
        for (uint32_t i = 0; i < 4; i++) scripts[i] = (struct script){.op = op, .cpu = (int)i, .start = i * 10 * WB_US};
        struct scripted s = {.script = scripts, .n = 4, .lock_kind = (enum wb_sleeplock_kind)kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        sim_time first = when(&s, 0, SCRIPT_LOCK, 0);
        for (uint32_t i = 1; i < 4; i++) {
            sim_time wait = when(&s, i, SCRIPT_LOCK, 0) - first;
            assert_true(wait >= i * 100 * WB_US && wait < i * 130 * WB_US);
        }
        scripted_free(&s);
    }
}

static void trylock(void **state)
{
    (void)state;
    static const struct script_op holder[] = {{SCRIPT_TRYLOCK, 0}, RUN(WB_MS), UNLOCK, DONE};
    static const struct script_op other[] = {{SCRIPT_TRYLOCK, 0}, DONE};
    for (int kind = 0; wb_sleeplock_kind_name[kind]; kind++) {
        struct script scripts[] = {{.op = holder, .cpu = 0}, {.op = other, .cpu = 1, .start = 500 * WB_US}};
        struct scripted s = {.script = scripts, .n = 2, .lock_kind = (enum wb_sleeplock_kind)kind};
        scripted_build(&s, four);
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(s.note[note_of(&s, 0, SCRIPT_TRYLOCK, 0)].ret, 1);
        assert_int_equal(s.note[note_of(&s, 1, SCRIPT_TRYLOCK, 0)].ret, 0);
        assert_int_equal(s.lock.count, 1);
        scripted_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_come_first_served),
                                       cmocka_unit_test(stealing_and_hand_off),
                                       cmocka_unit_test(spins_only_while_the_owner_runs),
                                       cmocka_unit_test(starved_waiter),
                                       cmocka_unit_test(waiting_times_add_up),
                                       cmocka_unit_test(trylock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
