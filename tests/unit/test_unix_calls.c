/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* AF_UNIX streams by version: how much fits, who is woken and when, what a call costs in locked operations, how calls
 * end. */
#include <math.h>

#include "simtest.h"
#include "steptest.h"
#include "unix.h"
#include "wbtest.h"

struct pairs {
    struct wb_channel *ch;
    uint32_t buf;
    uint64_t size;
    int64_t last[4]; /* what the last call of each task returned */
    sim_time took[4];
    uint32_t holders[2];
};

static void setup(struct steptest *t, struct wb_sim *s)
{
    struct pairs *p = t->own;
    p->ch = wb_ipc_find(s, "unix")->open(s, "test");
    for (int e = 0; e < 2; e++)
        if (p->holders[e]) p->ch->ops->hold(p->ch, e, p->holders[e]);
    p->buf = wb_sim_region(s, 1 << 20, "test");
}

/* Tasks: arg[0] = calls, arg[1] = pause before each. */
static enum wb_ret writes(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct pairs *p = f->t->own;
    size_t me = (size_t)(f->me - f->t->task);
    WB_BEGIN(f);
    for (f->i = 0; f->i < f->me->arg[0]; f->i++) {
        WB_USER(x, f, f->me->arg[1]);
        f->seen = wb_now(x);
        WB_CALL(x, f, p->ch->ops->write(x, p->ch, 0, p->buf, p->size));
        WB_FLUSH(x, f);
        p->last[me] = x->ret;
        p->took[me] = wb_now(x) - f->seen;
        if (x->ret < 0) break;
    }
    WB_CALL(x, f, p->ch->ops->close(x, p->ch, 0));
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret reads(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct pairs *p = f->t->own;
    size_t me = (size_t)(f->me - f->t->task);
    WB_BEGIN(f);
    for (f->i = 0; f->i < f->me->arg[0]; f->i++) {
        WB_USER(x, f, f->me->arg[1]);
        f->seen = wb_now(x);
        WB_CALL(x, f, p->ch->ops->read(x, p->ch, 1, p->buf, p->size));
        WB_FLUSH(x, f);
        p->last[me] = x->ret;
        p->took[me] = wb_now(x) - f->seen;
        if (x->ret <= 0) break;
    }
    if (f->me->arg[2]) WB_CALL(x, f, p->ch->ops->close(x, p->ch, 1));
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret kills(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[1]);
    WB_CALL(x, f, wb_kill(x, f->t->task[0].task));
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static const char *const *version(const char *v, const char *more)
{
    static char text[2][64];
    static const char *sets[3] = {text[0], NULL, NULL};
    snprintf(text[0], sizeof text[0], "kernel.unix=%s", v);
    sets[1] = NULL;
    if (more) {
        snprintf(text[1], sizeof text[1], "%s", more);
        sets[1] = text[1];
    }
    return sets;
}

static void run(struct steptest *t, struct pairs *p)
{
    t->setup = setup;
    t->own = p;
    t->scheduler = "o1";
    if (!t->cpus) t->cpus = 4;
    if (!p->size) p->size = 100;
    static const struct wb_run_options audited = {.audit = true};
    steptest_build(t, &audited);
    (void)wb_sim_run(t->sim.sim);
}

static double count(struct steptest *t, const char *name)
{
    return simtest_metric(&t->sim, UINT32_MAX, name);
}

static void conserved(const struct pairs *p, uint64_t out)
{
    uint64_t in, got, inside;
    p->ch->ops->audit(p->ch, &in, &got, &inside);
    assert_int_equal(in, got + inside);
    assert_int_equal(got, out);
}

/* Messages of 100 bytes until the writer sleeps. */
static void how_much_fits(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        unsigned messages;
    } rows[] = {{"2.6.11", 348}, {"2.6.35", 348}, {"2.6.36", 348}, {"3.2", 278},
                {"6.2", 278},    {"6.3", 238},    {"6.18", 238}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct pairs p = {.ch = NULL};
        struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {1000}}};
        struct steptest t = {.task = task, .n = 1, .sets = version(rows[i].version, NULL)};
        run(&t, &p);
        assert_int_equal(count(&t, "unix.messages"), rows[i].messages);
        assert_int_equal(count(&t, "unix.sleeps_sender"), 1);
        steptest_free(&t);
    }
}

/* Three writers sleep; the reader takes one message a millisecond. With 348 of 360 bytes in 124928, the free that
 * leaves 86 wakes all three at once, and no free before. */
static void room_wakes_all_writers(void **state)
{
    (void)state;
    for (unsigned reads_n = 261; reads_n <= 262; reads_n++) {
        struct pairs p = {.holders = {2, 0}};
        struct steps_task task[] = {
            {.name = "w1", .step = writes, .cpu = 0, .pinned = true, .arg = {1000}},
            {.name = "w2", .step = writes, .cpu = 1, .pinned = true, .start = WB_MS, .arg = {1}},
            {.name = "w3", .step = writes, .cpu = 2, .pinned = true, .start = WB_MS, .arg = {1}},
            {.name = "r", .step = reads, .cpu = 3, .pinned = true, .start = 2 * WB_MS, .arg = {reads_n, 10 * WB_US}}};
        struct steptest t = {.task = task, .n = 4, .sets = version("2.6.35", NULL)};
        run(&t, &p);
        assert_int_equal(count(&t, "unix.space_wakes"), reads_n == 262);
        assert_int_equal(count(&t, "unix.space_woken"), reads_n == 262 ? 3 : 0);
        steptest_free(&t);
    }
}

/* A reader that waits is woken by each message; one that is busy by none. The hint is the version's. */
static void data_wakes_who_waits(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        double sync;
    } rows[] = {{"2.6.25", 0}, {"2.6.26", 20}, {"6.12", 20}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct pairs p = {.ch = NULL};
        struct steps_task task[] = {
            {.name = "r", .step = reads, .cpu = 0, .pinned = true, .arg = {20, WB_US}},
            {.name = "w", .step = writes, .cpu = 1, .pinned = true, .start = WB_MS, .arg = {20, 100 * WB_US}}};
        struct steptest t = {.task = task, .n = 2, .sets = version(rows[i].version, NULL)};
        run(&t, &p);
        assert_int_equal(count(&t, "unix.data_wakes"), 20);
        assert_int_equal(count(&t, "unix.data_woken"), 20);
        assert_int_equal(count(&t, "unix.sleeps_receiver"), 20);
        assert_true(count(&t, "wakeups.sync") == rows[i].sync);
        conserved(&p, 2000);
        steptest_free(&t);
    }
    struct pairs p = {.ch = NULL};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {20}},
                                {.name = "r", .step = reads, .cpu = 1, .pinned = true, .start = WB_MS, .arg = {20}}};
    struct steptest t = {.task = task, .n = 2, .sets = version("2.6.35", NULL)};
    run(&t, &p);
    assert_int_equal(count(&t, "unix.data_wakes"), 0);
    steptest_free(&t);
}

/* The last send and the last receive of twenty, both on one CPU, in ns, when a locked operation takes so long. */
static void call_times(const char *v, const char *more, const char *rmw, unsigned *send, unsigned *receive)
{
    struct pairs p = {.ch = NULL};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {20}},
                                {.name = "r", .step = reads, .cpu = 0, .pinned = true, .start = WB_MS, .arg = {20}}};
    const char *sets[4] = {rmw, version(v, more)[0], more ? version(v, more)[1] : NULL, NULL};
    struct steptest t = {.task = task, .n = 2, .cpus = 1, .sets = sets};
    run(&t, &p);
    *send = (unsigned)(p.took[0] / WB_NS);
    *receive = (unsigned)(p.took[1] / WB_NS);
    bool refs = (!more && !strcmp(v, "2.6.36")) || (more && strstr(more, "references"));
    assert_true(count(&t, "unix.cred_atomics") == (refs ? 20 * 12 : 0));
    steptest_free(&t);
}

/* A locked operation that takes 10 ns longer makes a call longer by 10 ns times their number. */
static void locked_operations(void **state)
{
    (void)state;
    static const struct {
        const char *version, *more;
        unsigned send, receive;
    } rows[] = {
        /* wmem, socket, queue, callback twice; mutex twice, socket, queue, wmem and callback twice */
        {"2.6.34", NULL, 5, 8},
        {"2.6.35", NULL, 3, 6},
        {"2.6.36", NULL, 9, 12}, /* three references on pid and on cred at each end */
        {"2.6.36", "kernel.unix_creds=none", 3, 6},
        {"2.6.35", "kernel.unix_creds=references", 9, 12},
        {"3.2", NULL, 3, 6},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        unsigned send[2], receive[2];
        call_times(rows[i].version, rows[i].more, "machine.line.rmw=10 ns", &send[0], &receive[0]);
        call_times(rows[i].version, rows[i].more, "machine.line.rmw=20 ns", &send[1], &receive[1]);
        assert_int_equal(send[1] - send[0], 10 * rows[i].send);
        assert_int_equal(receive[1] - receive[0], 10 * rows[i].receive);
    }
}

/* The end of the stream comes after the last byte; a write to a closed end fails; what was not read goes back. */
static void closing(void **state)
{
    (void)state;
    struct pairs p = {.ch = NULL};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {5}},
                                {.name = "r", .step = reads, .cpu = 1, .pinned = true, .arg = {100}}};
    struct steptest t = {.task = task, .n = 2, .sets = version("2.6.36", NULL)};
    run(&t, &p);
    assert_int_equal(p.last[1], 0);
    conserved(&p, 500);
    steptest_free(&t);

    struct pairs q = {.ch = NULL};
    struct steps_task early[] = {
        {.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {1000}},
        {.name = "r", .step = reads, .cpu = 1, .pinned = true, .start = WB_MS, .arg = {3, 0, 1}}};
    struct steptest u = {.task = early, .n = 2, .sets = version("2.6.36", NULL)};
    run(&u, &q);
    assert_int_equal(q.last[0], IPC_EPIPE);
    conserved(&q, 300);
    const struct unix_pair *pair = unix_of(q.ch);
    assert_int_equal(pair->end[0].k.wmem, 0);
    assert_int_equal(pair->st->pid_refs, 0);
    assert_int_equal(pair->st->cred_refs, 0);
    assert_int_equal(pair->st->pool.alive, 0);
    steptest_free(&u);
}

static void kill_ends_sleeps(void **state)
{
    (void)state;
    struct pairs p = {.ch = NULL}, q = {.ch = NULL};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {1000}},
                                {.name = "k", .step = kills, .cpu = 1, .pinned = true, .arg = {0, WB_MS}}};
    struct steptest t = {.task = task, .n = 2, .sets = version("2.6.36", NULL)};
    run(&t, &p);
    assert_int_equal(p.last[0], IPC_EINTR);
    assert_int_equal(unix_of(p.ch)->st->pid_refs, 348); /* those of the messages */
    steptest_free(&t);
    task[0] = (struct steps_task){.name = "r", .step = reads, .cpu = 0, .pinned = true, .arg = {1000}};
    run(&t, &q);
    assert_int_equal(q.last[0], IPC_EINTR);
    assert_int_equal(unix_of(q.ch)->st->pid_refs, 0);
    steptest_free(&t);
}

/* Long messages go in buffers of at most half the send buffer, reads take parts of them. */
static void long_messages(void **state)
{
    (void)state;
    struct pairs p = {.size = 100000};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {3}},
                                {.name = "r", .step = reads, .cpu = 1, .pinned = true, .arg = {1000}}};
    struct steptest t = {.task = task, .n = 2, .sets = version("2.6.36", NULL)};
    run(&t, &p);
    assert_int_equal(p.last[0], 100000);
    assert_int_equal(count(&t, "unix.messages"), 3 * 7); /* 16064 bytes at most */
    conserved(&p, 300000);
    assert_int_equal(unix_of(p.ch)->st->pool.alive, 0);
    steptest_free(&t);
}

static void polling(void **state)
{
    (void)state;
    struct pairs p = {.ch = NULL};
    struct steps_task task[] = {{.name = "w", .step = writes, .cpu = 0, .pinned = true, .arg = {1000}}};
    struct steptest t = {.task = task, .n = 1, .sets = version("2.6.35", NULL)};
    run(&t, &p);
    const struct wb_ipc_ops *ops = p.ch->ops;
    assert_int_equal(ops->poll(p.ch, 1), WB_POLL_IN | WB_POLL_OUT);
    assert_int_equal(ops->poll(p.ch, 0), 0); /* full */
    assert_ptr_equal(ops->poll_queue(p.ch, 0, WB_POLL_OUT), &unix_of(p.ch)->end[0].k.wait);
    steptest_free(&t);
}

/* Requests and answers: whose reader has freed the request wakes the client, who sleeps for the answer on the same
 * queue. It takes the client off (DEFINE_WAIT, autoremove_wake_function), so the answer finds nobody to wake: one wake
 * for each sleep, not two. */
static void one_wake_a_sleep(void **state)
{
    (void)state;
    struct simtest t = simtest_build("schema = 1;\nmachine : { base = \"smp2\"; };\n"
                                     "kernel : { base = \"linux-6.18\"; };\n"
                                     "workload = ( { kind = \"unix_rr\"; cpus = \"0\"; sched = \"batch\"; } );\n"
                                     "run : { duration = \"10 ms\"; warmup = \"none\"; start_spread = \"0 s\"; };\n",
                                     NULL, NULL);
    (void)wb_sim_run(t.sim);
    double sleeps = simtest_metric(&t, UINT32_MAX, "unix.sleeps_receiver"),
           data = simtest_metric(&t, UINT32_MAX, "unix.data_wakes"),
           room = simtest_metric(&t, UINT32_MAX, "unix.space_wakes");
    simtest_free(&t);
    assert_true(sleeps > 100 && room > 10);
    assert_true(fabs(data + room - sleeps) < 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_much_fits),
        cmocka_unit_test(room_wakes_all_writers),
        cmocka_unit_test(data_wakes_who_waits),
        cmocka_unit_test(locked_operations),
        cmocka_unit_test(closing),
        cmocka_unit_test(kill_ends_sleeps),
        cmocka_unit_test(long_messages),
        cmocka_unit_test(polling),
        cmocka_unit_test(one_wake_a_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
