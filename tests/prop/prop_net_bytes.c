/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* No byte is lost or invented by TCP and UDP: tasks on both ends send and receive at random, move themselves and each
 * other between CPUs and kill each other, with every version of the rules and kernels that wake in different ways, on
 * one CPU and on two. In the end everybody is killed and must have ended; what went in is what came out, what is
 * inside and what nobody was there to read; no buffer stays behind. */
#include "netscript.h"
#include "simtest.h"

#include "propcheck.h"

#define TASKS 5u /* the last one kills the others in the end */
#define OPS 24u

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 64), .a = prop_u64(r), .b = prop_below(r, 100)};
}

static struct net_op operation(const struct prop_op *op)
{
    static const uint64_t limit[] = {10, 2000, 40000, 60000};
    uint64_t bytes = 1 + op->a % limit[op->a >> 32 & 3];
    if (op->b < 40) return (struct net_op){NET_WRITE, bytes};
    if (op->b < 80) return (struct net_op){NET_READ, bytes};
    if (op->b < 83) return (struct net_op){NET_BIND, op->a};
    if (op->b < 86) return (struct net_op){NET_BINDS, op->a % (3 * (TASKS - 1))};
    if (op->b < 90) return (struct net_op){NET_POLL, WB_POLL_IN};
    if (op->b < 92) return (struct net_op){NET_POLL, WB_POLL_OUT};
    if (op->b < 93) return (struct net_op){NET_KILL, op->a % (TASKS - 1)};
    return (struct net_op){op->b < 96 ? NET_SLEEP : NET_RUN, op->a % (50 * WB_US)};
}

static void fill(struct net_op *out, const struct prop_op *ops, size_t n, uint32_t task)
{
    size_t k = 0;
    for (size_t i = 0; i < n && k + 2 < OPS; i++)
        if (ops[i].kind % (TASKS - 1) == task) out[k++] = operation(&ops[i]);
    if (k && ops[0].a >> 50 & 1) out[k++] = (struct net_op){NET_AGAIN, 3};
    out[k] = (struct net_op){NET_DONE, 0};
}

static uint64_t buffers_alive(const struct netscript *s)
{
    if (s->channel->ops != &wb_ipc_tcp) return 0;
    return ((struct tcp_channel *)s->channel)->end[0].st->pool.alive;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static const char *const versions[] = {"2.6.22", "2.6.26", "2.6.35", "4.14", "3.6", "6.18"};
    static const struct net_op reaper[] = {{NET_SLEEP, 20 * WB_MS}, {NET_KILL, 0}, {NET_KILL, 1},
                                           {NET_KILL, 2},           {NET_KILL, 3}, {NET_DONE, 0}};
    struct net_op list[TASKS][OPS];
    struct net_script scripts[TASKS];
    uint64_t pick = n ? ops[0].a : 0, in, out, inside;
    static const char *const kernels[] = {"scheduler = \"o1\"",    "base = \"linux-2.6.24\"", "base = \"linux-5.4\"",
                                          "base = \"linux-5.15\"", "base = \"linux-6.12\"",   "base = \"linux-6.18\""};
    char text[400];
    for (uint32_t t = 0; t < TASKS; t++) {
        if (t + 1 < TASKS) fill(list[t], ops, n, t);
        scripts[t] = (struct net_script){.op = t + 1 < TASKS ? list[t] : reaper,
                                         .end = (int)t % 2,
                                         .cpu = (int)(pick >> (2 * t) & 3) - 1,
                                         .start = t * 3 * WB_US};
        if (scripts[t].cpu > 1) scripts[t].cpu = -1;
    }
    snprintf(text, sizeof text, "kernel : { %s; tcp = \"%s\"; tcp_low_latency = %s; preempt = %s; };",
             kernels[(pick >> 44) % 6], versions[pick >> 12 & 3 ? pick % 6 : 0], pick >> 20 & 7 ? "false" : "true",
             pick >> 24 & 1 ? "true" : "false");
    struct netscript s = {.kind = pick >> 30 & 3 ? "tcp" : "udp", .script = scripts, .n = TASKS};
    netscript_build(&s, text);
    bool ended = wb_sim_run(s.sim) == 0;
    int64_t put = 0, got = 0;
    for (uint32_t t = 0; t < TASKS; t++) put += scripts[t].put, got += scripts[t].got;
    s.channel->ops->audit(s.channel, &in, &out, &inside);
    bool tcp = s.channel->ops == &wb_ipc_tcp;
    bool good = ended && in == out + inside && (int64_t)in == put && (tcp ? (int64_t)out == got : (int64_t)out >= got);
    if (good && buffers_alive(&s)) good = false;
    if (!good)
        snprintf(why, nwhy, "%s %s; ended %d, in %llu, out %llu, inside %llu, put %lld, got %lld, buffers %llu", s.kind,
                 text, ended, (unsigned long long)in, (unsigned long long)out, (unsigned long long)inside,
                 (long long)put, (long long)got, (unsigned long long)buffers_alive(&s));
    netscript_free(&s);
    return good;
}

static void bytes_are_conserved(void **state)
{
    (void)state;
    const struct property p = {.name = "bytes over loopback", .ops_max = 80, .make = make, .run = run};
    assert_true(prop_check(&p, 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_conserved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
