/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Loopback TCP and UDP: who wakes whom and how, by version; what a call locks; ends of connections. */
#include "netscript.h"
#include "simtest.h"

#define ROUNDS 50
static const struct net_op client[] = {{NET_WRITE, 1}, {NET_READ, 1}, {NET_AGAIN, ROUNDS}, {NET_DONE, 0}};
static const struct net_op server[] = {{NET_READ, 1}, {NET_WRITE, 1}, {NET_AGAIN, 0}};

/* ROUNDS transactions; the server sleeps in recv() before the first. */
static struct netscript exchange(struct net_script *scripts, const char *kind, int server_cpu, const char *text)
{
    scripts[0] = (struct net_script){.op = client, .end = 0, .cpu = 0, .start = 100 * WB_US};
    scripts[1] = (struct net_script){.op = server, .end = 1, .cpu = server_cpu};
    struct netscript s = {.kind = kind, .script = scripts, .n = 2};
    netscript_build(&s, text);
    assert_int_equal(wb_sim_run(s.sim), 0);
    assert_int_equal(scripts[0].got, ROUNDS);
    assert_int_equal(scripts[1].got, ROUNDS);
    return s;
}

/* ---- wakes ---- */

struct version {
    const char *tcp, *more;
    uint32_t sync_share; /* of the wakes: 0 none, 1 all */
    bool prequeue;
};

static void two_wakes_per_transaction(void **state)
{
    static const struct version rows[] = {
        {"2.6.22", "", 0, true},
        {"2.6.26", "", 0, true}, /* the prequeue's wake stays plain */
        {"2.6.26", "tcp_low_latency = true;", 1, false},
        {"2.6.32", "", 0, true},
        {"2.6.35", "", 1, true},
        {"4.14", "", 1, false},
        {"6.18", "", 1, false},
        {"6.18", "tcp_sync = \"never\";", 0, false},
        {"2.6.22", "tcp_sync = \"always\";", 1, true},
    };
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char text[200];
        struct net_script scripts[2];
        snprintf(text, sizeof text, "kernel : { scheduler = \"o1\"; tcp = \"%s\"; %s };", rows[i].tcp, rows[i].more);
        struct netscript s = exchange(scripts, "tcp", 1, text);
        double wakes = netscript_metric(&s, "tcp.wakes"), prequeued = netscript_metric(&s, "tcp.prequeued");
        double last = prequeued > 0; /* the FIN wakes the server through the prequeue */
        assert_int_equal((int)wakes, 2 * ROUNDS + (int)last);
        assert_int_equal((int)netscript_metric(&s, "tcp.wakes_sync"), rows[i].sync_share ? (int)wakes : 0);
        assert_true(rows[i].prequeue ? prequeued >= 2 * ROUNDS : prequeued == 0);
        assert_int_equal((int)netscript_metric(&s, "tcp.segments"), 2 * ROUNDS);
        assert_true(netscript_metric(&s, "tcp.acks") <= 4); /* they ride on the answers, but for the end */
        netscript_free(&s);
    }
}

/* The softirq runs with the sender as current, on the sender's CPU: the wakee knows it by its waker, and a sync wakeup
 * of a pair that may share a CPU counts the sender's load as gone. */
static void softirq_has_the_sender_as_current(void **state)
{
    struct net_script scripts[2];
    (void)state;
    struct netscript s = exchange(scripts, "tcp", 1, "kernel : { scheduler = \"o1\"; tcp = \"6.18\"; };");
    assert_int_equal(wb_task_totals(scripts[0].task)->last_waker, scripts[1].task->id);
    assert_int_equal(wb_task_totals(scripts[1].task)->last_waker, scripts[0].task->id);
    assert_int_equal((int)netscript_metric(&s, "wakeups.remote"), (int)netscript_metric(&s, "tcp.wakes") + 1); /* FIN */
    netscript_free(&s);
    s = exchange(scripts, "tcp", 0, "kernel : { scheduler = \"o1\"; tcp = \"6.18\"; };");
    assert_int_equal((int)netscript_metric(&s, "wakeups.remote"), 0);
    netscript_free(&s);
}

static void datagrams_wake_too(void **state)
{
    struct net_script scripts[2];
    (void)state;
    struct netscript s = exchange(scripts, "udp", 1, "kernel : { scheduler = \"o1\"; tcp = \"2.6.26\"; };");
    assert_int_equal((int)netscript_metric(&s, "udp.wakes"), 2 * ROUNDS);
    assert_int_equal((int)netscript_metric(&s, "udp.wakes_sync"), 2 * ROUNDS);
    assert_int_equal((int)netscript_metric(&s, "udp.dropped"), 0);
    netscript_free(&s);
}

/* ---- streams ---- */

/* A writer fills its send buffer, sleeps, and is woken by ACKs, never with the sync hint; packets that find the
 * reader at work in its call wait in the backlog and wake nobody. */
static void a_stream_blocks_and_goes_on(void **state)
{
    static const struct net_op writer[] = {{NET_WRITE, 1000000}, {NET_DONE, 0}};
    static const struct net_op reader[] = {{NET_RUN, 300 * WB_US}, {NET_READ, 50000}, {NET_AGAIN, 0}};
    struct net_script scripts[] = {{.op = writer, .end = 0, .cpu = 0}, {.op = reader, .end = 1, .cpu = 1}};
    (void)state;
    for (int low = 0; low < 2; low++) {
        struct netscript s = {.kind = "tcp", .script = scripts, .n = 2};
        scripts[0].put = scripts[1].got = 0;
        netscript_build(&s, low ? "kernel : { scheduler = \"o1\"; tcp = \"2.6.26\"; tcp_low_latency = true; };"
                                : "kernel : { scheduler = \"o1\"; tcp = \"6.18\"; };");
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(scripts[0].put, 1000000);
        assert_int_equal(scripts[1].got, 1000000);
        assert_true(netscript_metric(&s, "tcp.sleeps_room") > 5);
        assert_true(netscript_metric(&s, "tcp.wakes_room") > 5);
        assert_true(netscript_metric(&s, "tcp.acks") > 5);
        assert_true(netscript_metric(&s, "tcp.backlogged") > 0);
        assert_true(netscript_metric(&s, "wakeups.sync") <= netscript_metric(&s, "tcp.wakes_sync"));
        netscript_free(&s);
    }
}

static void ends_are_told(void **state)
{
    static const struct net_op leaves[] = {{NET_WRITE, 10}, {NET_DONE, 0}};
    static const struct net_op reads_on[] = {{NET_READ, 100}, {NET_READ, 100}, {NET_DONE, 0}};
    static const struct net_op writes_on[] = {{NET_SLEEP, WB_MS}, {NET_WRITE, 10}, {NET_SLEEP, WB_MS}, {NET_AGAIN, 0}};
    struct net_script scripts[] = {{.op = leaves, .end = 0, .cpu = 0}, {.op = reads_on, .end = 1, .cpu = 1}};
    struct netscript s = {.kind = "tcp", .script = scripts, .n = 2};
    (void)state;
    netscript_build(&s, "kernel : { scheduler = \"o1\"; };");
    assert_int_equal(wb_sim_run(s.sim), 0);
    assert_int_equal(scripts[1].got, 10);
    assert_int_equal(scripts[1].last, 0); /* end of the stream */
    netscript_free(&s);
    scripts[1].op = writes_on; /* the first goes out and finds nobody, the next fails */
    netscript_build(&s, "kernel : { scheduler = \"o1\"; };");
    assert_int_equal(wb_sim_run(s.sim), 0);
    assert_int_equal(scripts[1].put, 10);
    assert_int_equal(scripts[1].last, IPC_EPIPE);
    netscript_free(&s);
}

static void polling_waits_for_data(void **state)
{
    static const struct net_op later[] = {{NET_SLEEP, WB_MS}, {NET_WRITE, 5}, {NET_SLEEP, WB_MS}, {NET_DONE, 0}};
    static const struct net_op polls[] = {
        {NET_POLL, WB_POLL_OUT}, {NET_POLL, WB_POLL_IN}, {NET_READ, 5}, {NET_DONE, 0}};
    static const char *const kinds[] = {"tcp", "udp"};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        struct net_script scripts[] = {{.op = later, .end = 0, .cpu = 0}, {.op = polls, .end = 1, .cpu = 1}};
        struct netscript s = {.kind = kinds[i], .script = scripts, .n = 2};
        netscript_build(&s, "kernel : { scheduler = \"o1\"; };");
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(scripts[1].got, 5);
        assert_int_equal(scripts[1].calls, 3);
        netscript_free(&s);
    }
}

/* ---- what a call locks ---- */

/* When the last of n one-byte sends that nobody waits for is over. */
static sim_time sends_until(const char *kind, const char *version, uint64_t n, const char *rmw)
{
    const struct net_op sends[] = {{NET_WRITE, 1}, {NET_AGAIN, n}, {NET_DONE, 0}};
    static const struct net_op waits[] = {{NET_SLEEP, 5 * WB_MS}, {NET_DONE, 0}};
    struct net_script scripts[] = {{.op = sends, .end = 0, .cpu = 0}, {.op = waits, .end = 1, .cpu = 1}};
    struct netscript s = {.kind = kind, .script = scripts, .n = 2};
    char text[300];
    snprintf(text, sizeof text,
             "machine : { base = \"smp2\"; line : { rmw = \"%s\"; }; };\nkernel : { scheduler = \"o1\"; tcp = \"%s\"; "
             "hz = 10; tick_phases = [ \"50 ms\", \"60 ms\" ]; };\nrun : { warmup = \"none\"; horizon = \"2 s\"; };",
             rmw, version);
    netscript_build(&s, text);
    sim_time end = 0;
    while (!scripts[0].ended && end < WB_S) (void)wb_sim_step_to(s.sim, end += 100 * WB_NS);
    assert_true(scripts[0].ended);
    netscript_free(&s);
    return end;
}

/* Locked operations of one send, by what a longer one adds. */
static double locked_per_send(const char *kind, const char *version)
{
    sim_time quick = sends_until(kind, version, 60, "20 ns") - sends_until(kind, version, 20, "20 ns");
    sim_time slow = sends_until(kind, version, 60, "1020 ns") - sends_until(kind, version, 20, "1020 ns");
    return (double)(slow - quick) / (40 * 1000.0 * WB_NS);
}

/* TCP: lock_sock, the receiver's spinlock, sk_callback_lock twice (to 2.6.34), release_sock. UDP: sk_wmem_alloc,
 * sk_rmem_alloc, the queue's lock, sk_callback_lock twice. */
static void locks_of_a_send(void **state)
{
    (void)state;
    assert_float_equal(locked_per_send("tcp", "2.6.22"), 5, 0.05);
    assert_float_equal(locked_per_send("tcp", "2.6.35"), 3, 0.05);
    assert_float_equal(locked_per_send("udp", "2.6.22"), 5, 0.05);
    assert_float_equal(locked_per_send("udp", "6.18"), 3, 0.05);
}

/* ---- where profiles show lock functions ---- */

static double seconds_of(const struct wb_result *r, const char *fn)
{
    for (size_t i = 0; i < r->nfn; i++)
        if (!strcmp(r->fn_name[i], fn)) return (double)r->fn_time[i] * 1e-12;
    fail_msg("no label %s", fn);
    return 0;
}

/* The same run, the same time in all; what spin_lock() had is with its callers. */
static void locks_count_to_their_callers(void **state)
{
    static const char *const where[] = {"own", "caller"};
    double lock[2], receive[2], all[2] = {0, 0};
    struct net_script scripts[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[160];
        snprintf(text, sizeof text, "kernel : { scheduler = \"o1\"; tcp = \"2.6.22\"; profile_locks = \"%s\"; };",
                 where[i]);
        struct netscript s = exchange(scripts, "tcp", 1, text);
        const struct wb_result *r = wb_sim_result(s.sim);
        lock[i] = seconds_of(r, "spin_lock") + seconds_of(r, "spin_unlock");
        receive[i] = seconds_of(r, "tcp_v4_rcv");
        for (size_t k = 0; k < r->nfn; k++) all[i] += (double)r->fn_time[k] * 1e-12;
        netscript_free(&s);
    }
    assert_true(lock[0] > 0 && lock[1] == 0);
    assert_true(receive[1] > receive[0]);
    assert_float_equal(all[0], all[1], 1e-12);
}

static void rules_by_version(void **state)
{
    (void)state;
    assert_string_equal(tcp_rules_find("2.6.22")->name, "2.6.0");
    assert_string_equal(tcp_rules_find("2.6.26")->name, "2.6.26");
    assert_string_equal(tcp_rules_find("4.13")->name, "2.6.35");
    assert_string_equal(tcp_rules_find("6.18")->name, "4.14");
    assert_null(tcp_rules_find("2.6.22-rc1"));
    assert_int_equal(net_mtu(IPC_VERSION(2, 6, 24)), 16436);
    assert_int_equal(net_mtu(IPC_VERSION(3, 6, 0)), 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_by_version),
        cmocka_unit_test(two_wakes_per_transaction),
        cmocka_unit_test(softirq_has_the_sender_as_current),
        cmocka_unit_test(datagrams_wake_too),
        cmocka_unit_test(a_stream_blocks_and_goes_on),
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(polling_waits_for_data),
        cmocka_unit_test(locks_of_a_send),
        cmocka_unit_test(locks_count_to_their_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
