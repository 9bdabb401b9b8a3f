/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Request and response of one byte over TCP and UDP, both ends on one CPU: a transaction is the sum of its costs to the
 * picosecond.
 *
 * With sync wakes (2.6.35) nobody is preempted, and a transaction is twice this, counted by hand from the rules:
 *
 *   TCP send: user call, entry, socket taken, body, buffer, segment with its clone, IP, device, backlog; softirq: up
 *             to the connection, prequeue, wake, a timer; socket given back, exit
 *   TCP recv: user call, entry, socket taken, body, [wait: queue, socket given back, schedule, switch, socket taken,
 *             finish], the prequeued segment: its ACK frees the other direction's original, its byte is copied, its
 *             clone released; is an ACK due?, socket given back, exit
 *   UDP:      no socket lock, one fragment, the reader frees the buffer
 *
 * Two runs that differ by 500 transactions give the time of one exactly. What the machine adds is the same whatever the
 * paths cost; then one path at a time is raised by 1 ns, and all at once.
 */
#include "simtest.h"
#include "wbtest.h"

struct path {
    const char *name;
    unsigned tcp, udp; /* per transaction */
};

static const struct path paths[] = {
    {"libc_call", 4, 4},
    {"syscall_entry", 4, 4},
    {"syscall_exit", 4, 4},
    {"sys_sendto", 2, 2},
    {"sys_recvfrom", 2, 2},
    {"lock_sock", 6, 0},
    {"release_sock", 6, 0},
    {"tcp_sendmsg", 2, 0},
    {"tcp_recvmsg", 2, 0},
    {"alloc_skb", 2, 2},
    {"kfree_skb", 2, 2},
    {"skb_release_data", 4, 0},
    {"skb_clone", 2, 0},
    {"tcp_write_xmit", 2, 0},
    {"tcp_transmit_skb", 2, 0},
    {"ip_queue_xmit", 2, 0},
    {"mod_timer", 4, 0},
    {"ip_output", 2, 2},
    {"dev_queue_xmit", 2, 2},
    {"loopback_xmit", 2, 2},
    {"netif_rx", 2, 2},
    {"do_softirq", 2, 2},
    {"net_rx_action", 2, 2},
    {"process_backlog", 2, 2},
    {"netif_receive_skb", 2, 2},
    {"ip_rcv", 2, 2},
    {"tcp_v4_rcv", 2, 0},
    {"tcp_prequeue", 2, 0},
    {"tcp_rcv_established", 2, 0},
    {"tcp_ack", 2, 0},
    {"tcp_clean_rtx_queue", 2, 0},
    {"tcp_send_ack", 0, 0},
    {"tcp_send_delayed_ack", 2, 0},
    {"tcp_rcv_space_adjust", 2, 0},
    {"tcp_cleanup_rbuf", 2, 0},
    {"sk_wait_data", 2, 0},
    {"sk_stream_write_space", 0, 0},
    {"udp_sendmsg", 0, 2},
    {"ip_append_data", 0, 2},
    {"ip_push_pending_frames", 0, 2},
    {"udp_rcv", 0, 2},
    {"sock_queue_rcv_skb", 0, 2},
    {"udp_recvmsg", 0, 2},
    {"skb_recv_datagram", 0, 4},
    {"sock_def_readable", 0, 2},
    {"wake_up", 2, 2},
    {"try_to_wake_up", 2, 2},
    {"enqueue_task", 2, 2},
    {"dequeue_task", 2, 2},
    {"prepare_to_wait", 2, 2},
    {"finish_wait", 2, 2},
    {"schedule", 2, 2},
    {"context_switch", 2, 2},
    {"switch_mm", 2, 2},
    {"set_task_cpu", 0, 0},
    {"resched_task", 0, 0},
    {"timer_tick", 0, 0},
};
#define NPATHS WB_ARRAY_SIZE(paths)

/* Ticks are put where none falls into the run. cost[i]: ns of path i. */
static sim_time duration(const char *kind, const unsigned *cost, unsigned transactions)
{
    static char text[8192];
    int n = snprintf(text, sizeof text,
                     "schema = 1;\nmachine : { base = \"smp2\"; };\n"
                     "workload = ( { kind = \"%s\"; transactions = %u; cpus = \"0\"; start = \"0 s\"; } );\n"
                     "run : { warmup = \"none\"; };\n"
                     "kernel : { scheduler = \"o1\"; policy : { version = \"2.6.22\"; }; hz = 10; tcp = \"2.6.35\"; "
                     "tick_phases = [ \"99 ms\", \"99 ms\" ]; path : { fork = \"1 us\"; exit = \"1 us\"; ",
                     kind, transactions);
    for (size_t i = 0; i < NPATHS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s = \"%u ns\"; ", paths[i].name, cost[i]);
    (void)snprintf(text + n, sizeof text - (size_t)n, "}; };\n");
    struct simtest t = simtest_build(text, NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    sim_time d = wb_sim_result(t.sim)->duration;
    simtest_free(&t);
    return d;
}

/* Time of one transaction; the two runs must differ by whole ones exactly. */
static sim_time transaction(const char *kind, const unsigned *cost)
{
    sim_time d = duration(kind, cost, 700) - duration(kind, cost, 200);
    assert_int_equal(d % 500, 0);
    return d / 500;
}

static void sum_of_its_costs(const char *kind)
{
    bool tcp = kind[0] == 't';
    unsigned cost[NPATHS] = {0};
    sim_time bare = transaction(kind, cost), sum = 0;
    assert_true(bare > 0 && bare < 3 * WB_US);
    for (size_t i = 0; i < NPATHS; i++) {
        unsigned want = tcp ? paths[i].tcp : paths[i].udp;
        cost[i] = 1;
        sim_time more = transaction(kind, cost) - bare;
        if (more != want * WB_NS)
            fail_msg("%s, %s: %g per transaction, want %u", kind, paths[i].name, (double)more / 1000, want);
        cost[i] = 0;
    }
    for (size_t i = 0; i < NPATHS; i++) {
        cost[i] = 11 + 7 * (unsigned)i;
        sum += (tcp ? paths[i].tcp : paths[i].udp) * cost[i] * WB_NS;
    }
    assert_int_equal(transaction(kind, cost), bare + sum);
}

static void tcp_is_the_sum_of_its_costs(void **state)
{
    (void)state;
    sum_of_its_costs("tcp_rr");
}

static void udp_is_the_sum_of_its_costs(void **state)
{
    (void)state;
    sum_of_its_costs("udp_rr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tcp_is_the_sum_of_its_costs),
                                       cmocka_unit_test(udp_is_the_sum_of_its_costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
