/* System calls as data: locks and clock readings of each call and kernel, the closed forms of a lone caller and of
 * callers that meet at a lock or a line, and what is refused. */
#include "simtest.h"
#include "wakebal/diag.h"
#include "wbtest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- locks per call ---- */

struct counted {
    const char *machine, *kernel, *call, *set;
    double locks, reads;
};
/* Counted in the sources that the kernel files name. 4.x: v_interlock and lk_interlock of two vn_lock() and two
 * VOP_UNLOCK(); its MP lock is the engine's. */
static const struct counted table[] = {
    {"p4-xeon", "freebsd-4.7", "write", "workload.fd=tty", 6, 0},
    {"p4-xeon", "freebsd-4.7", "write", "workload.fd=null", 6, 0},
    {"p4-xeon", "freebsd-4.7", "write", "workload.fd=bad", 0, 0},
    {"p4-xeon", "freebsd-4.7", "socket", "workload.fd=tty", 0, 0},
    {"p4-xeon", "freebsd-4.7", "select", "workload.select_result=fault", 2, 0},
    {"p4-xeon", "freebsd-4.7", "select", "workload.select_result=timeout", 0, 0},
    {"p4-xeon", "freebsd-4.7", "gettimeofday", "workload.fd=tty", 0, 1},
    {"p4-xeon", "freebsd-4.7", "getppid", "workload.fd=tty", 0, 0},
    {"p4-xeon-1", "freebsd-4.7-up", "write", "workload.fd=tty", 0, 0},
    {"p4-xeon-htt", "freebsd-5.2", "write", "workload.fd=tty", 13, 0},
    {"p4-xeon-htt", "freebsd-5.2", "write", "workload.fd=null", 10, 0},
    {"p4-xeon-htt", "freebsd-5.2", "write", "workload.fd=bad", 1, 0},
    {"p4-xeon-htt", "freebsd-5.2", "socket", "workload.fd=tty", 14, 0},
    {"p4-xeon-htt", "freebsd-5.2", "select", "workload.select_result=fault", 6, 0},
    {"p4-xeon-htt", "freebsd-5.2", "select", "workload.select_result=timeout", 6, 0},
    {"p4-xeon-htt", "freebsd-5.2", "gettimeofday", "workload.fd=tty", 0, 1},
    {"p4-xeon-htt", "freebsd-5.2", "getppid", "workload.fd=tty", 1, 0},
    {"p4-xeon-1", "freebsd-5.2-up", "write", "workload.fd=tty", 13, 0},
    {"p4-xeon-1", "freebsd-5.2-up", "select", "workload.select_result=timeout", 6, 0},
};

static void locks_of_each_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        const struct counted *c = &table[i];
        char text[512];
        (void)snprintf(text, sizeof text,
                       "schema = 1;\nmachine : { base = \"%s\"; };\nkernel : { base = \"%s\"; };\n"
                       "workload = ( { kind = \"syscall\"; call = \"%s\"; calls = 100; cpus = \"0\"; } );\n",
                       c->machine, c->kernel, c->call);
        struct simtest t = simtest_build(text, (const char *const[]){c->set, NULL}, NULL);
        assert_int_equal(wb_sim_run(t.sim), 0);
        double locks = simtest_metric(&t, 0, "call.locks") / 100,
               reads = simtest_metric(&t, 0, "call.clock_reads") / 100;
        if (locks != c->locks || reads != c->reads)
            fail_msg("%s %s %s: %g locks, %g readings", c->kernel, c->call, c->set, locks, reads);
        simtest_free(&t);
    }
}

/* ---- a kernel whose calls cost what the test says ---- */

#define KERNEL(more) \
    "kernel : { base = \"linux-2.6.22\"; hz = 10; " more \
    " path : { syscall_entry = \"0 ns\"; syscall_exit = \"0 ns\"; libc_call = \"0 ns\"; mutex_lock = \"0 ns\"; " \
    "mutex_unlock = \"0 ns\"; timer_tick = \"0 ns\"; irq_entry = \"0 ns\"; };\n" \
    "  locks : { L : { kind = \"ticket\"; }; M : { kind = \"mutex\"; }; X : { kind = \"spin\"; xchg = true; }; N : { " \
    "kind = \"line\"; }; P : { kind = \"line\"; scope = \"process\"; }; };\n" \
    "  function : { f : { cost = \"100 ns\"; steps = [ \"lock M\", \"self\", \"unlock M\", \"g\" ]; }; g : { cost = " \
    "\"30 ns\"; }; hold : { cost = \"1 us\"; }; };\n" \
    "  calls : { lone : { steps = [ \"f\", \"lock X\", \"g\", \"unlock X\", \"atomic N x3\", \"read N\", \"write " \
    "N\", " \
    "\"clock\" ]; };\n" \
    "    held : { steps = [ \"lock L\", \"hold\", \"unlock L\" ]; }; counted : { steps = [ \"atomic N\" ]; };\n" \
    "    own : { steps = [ \"atomic P\" ]; }; busy : { steps = [ \"hold\" ]; }; nothing : { steps = [ ]; };\n" \
    "    bad_word : { steps = [ \"frobnicate\" ]; }; bad_lock : { steps = [ \"lock Q\" ]; }; left : { steps = [ " \
    "\"lock " \
    "L\" ]; }; }; };\n"
#define MACHINE(topology) \
    "schema = 1;\nmachine : { topology = \"" topology "\"; clock = \"2 GHz\";\n" \
    "  line : { read = \"1 ns\"; write = \"2 ns\"; rmw = \"20 ns\"; rmw_plain = \"7 ns\"; transfer : { llc = \"40 " \
    "ns\"; " \
    "remote = \"130 ns\"; }; };\n" \
    "  timecounter : { tsc : { read = \"11 ns\"; reads = 3; }; }; };\n"
#define CALLERS(call, more) "workload = ( { kind = \"syscall\"; call = \"" call "\"; " more " } );\n"

static sim_time time_of(const char *text, const char *calls)
{
    struct simtest t = simtest_build(text, (const char *const[]){calls, NULL}, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    sim_time end = wb_sim_result(t.sim)->duration;
    simtest_free(&t);
    return end;
}

/* f 100 + its mutex twice 20, g twice 30, spin lock 20 and its xchg 20, three atomics 20, read 1, write 2, clock 3 x
 * 11. */
#define LONE_SMP (100 + 2 * 20 + 2 * 30 + 20 + 20 + 3 * 20 + 1 + 2 + 33)
/* One CPU: no prefix but for the xchg. */
#define LONE_UP (100 + 2 * 7 + 2 * 30 + 7 + 20 + 3 * 7 + 1 + 2 + 33)

/* Twice the calls take longer by exactly the sum of their costs. */
static void a_lone_caller(void **state)
{
    (void)state;
    static const char smp[] = MACHINE("pack:1 l3:1 core:2 pu:1") KERNEL("") CALLERS("lone", "cpus = \"0\";");
    static const char up[] = MACHINE("pack:1 core:1 pu:1") KERNEL("build = \"up\";") CALLERS("lone", "cpus = \"0\";");
    sim_time a = time_of(smp, "workload.calls=1000"), b = time_of(smp, "workload.calls=3000");
    if (b - a != 2000ull * LONE_SMP * WB_NS) fail_msg("%" PRIu64 " ps a call", (b - a) / 2000);
    a = time_of(up, "workload.calls=1000"), b = time_of(up, "workload.calls=3000");
    if (b - a != 2000ull * LONE_UP * WB_NS) fail_msg("for one CPU %" PRIu64 " ps a call", (b - a) / 2000);
}

static double rate_of(const char *text, const char *set)
{
    struct simtest t = simtest_build(text, (const char *const[]){set, NULL}, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    double v = simtest_metric(&t, 0, "calls");
    simtest_free(&t);
    return v;
}

static void expect(double got, double want, const char *what)
{
    if (fabs(got / want - 1) > 0.002) fail_msg("%s: %.6g/s, expected %.6g/s", what, got, want);
}

#define RUN "run : { duration = \"12 ms\"; warmup = \"2 ms\"; start_spread = \"0 s\"; seed = 5; };\n"

/* The lock is always held: 1 us, the store that releases it, and the way of its line. */
static void callers_on_one_lock(void **state)
{
    (void)state;
    static const char text[] =
        MACHINE("pack:1 l3:1 core:8 pu:1") KERNEL("") CALLERS("held", "copies = 8; cpus = \"0-7\";") RUN;
    expect(rate_of(text, "workload.copies=1"), 1e9 / (20 + 1000 + 2), "alone");
    for (int n = 2; n <= 8; n += 3) {
        char set[32];
        (void)snprintf(set, sizeof set, "workload.copies=%d", n);
        expect(rate_of(text, set), 1e9 / (1000 + 2 + 40), set);
    }
}

/* Who has the line keeps it for one operation; all others wait in a row. */
static void cpus_on_one_line(void **state)
{
    (void)state;
    static const char one[] =
        MACHINE("pack:1 l3:1 core:8 pu:1") KERNEL("") CALLERS("counted", "copies = 8; cpus = \"0-7\";") RUN;
    static const char two[] =
        MACHINE("pack:2 [numa] l3:1 core:1 pu:1") KERNEL("") CALLERS("counted", "copies = 2; cpus = \"0-1\";") RUN;
    expect(rate_of(one, "workload.copies=1"), 1e9 / 20, "alone");
    expect(rate_of(one, "workload.copies=2"), 1e9 / 40, "two below one cache");
    expect(rate_of(one, "workload.copies=8"), 1e9 / 40, "eight below one cache");
    expect(rate_of(two, "workload.copies=2"), 1e9 / 130, "two sockets");
    expect(rate_of(one, "workload.copies=2") / rate_of(two, "workload.copies=2"), 130.0 / 40, "their ratio");
}

/* Lines of processes are apart, those of threads are one. */
static void threads_share_what_processes_do_not(void **state)
{
    (void)state;
    static const char text[] =
        MACHINE("pack:1 l3:1 core:4 pu:1") KERNEL("") CALLERS("own", "copies = 4; cpus = \"0-3\";") RUN;
    expect(rate_of(text, "workload.threads=false"), 4e9 / 20, "processes");
    expect(rate_of(text, "workload.threads=true"), 1e9 / 40, "threads");
}

static void the_big_lock(void **state)
{
    (void)state;
    static const char text[] = MACHINE("pack:1 l3:1 core:4 pu:1") KERNEL("big_lock = true; spinlock = \"ticket\";")
        CALLERS("busy", "copies = 4; cpus = \"0-3\";") RUN;
    expect(rate_of(text, "kernel.calls.busy.mpsafe=false"), 1e9 / (1000 + 2 + 40), "under the lock");
    expect(rate_of(text, "kernel.calls.busy.mpsafe=true"), 4e9 / 1000, "without it");
}

/* ---- one after the other or as events, with every tick or without, audited: the same bytes ---- */

static void same_bytes(void **state)
{
    (void)state;
    static const char *const kernels[] = {"freebsd-4.7", "freebsd-5.2", "freebsd-5.2-ule"};
    static const char *const calls[] = {"write", "socket", "select", "gettimeofday"};
    for (uint32_t i = 0; i < 12; i++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "schema = 1;\nmachine : { base = \"p4-xeon-htt\"; };\n"
            "kernel : { base = \"%s\"; noise = ( { gap = \"exp(300 us)\"; cost = \"uniform(1 us, 20 us)\"; } ); };\n"
            "workload = ( { name = \"a\"; kind = \"syscall\"; call = \"%s\"; fd = \"tty\"; copies = %u; threads = %s; "
            "},\n"
            "  { name = \"b\"; kind = \"syscall\"; call = \"%s\"; select_result = \"fault\"; copies = 2; } );\n"
            "run : { duration = \"15 ms\"; warmup = \"3 ms\"; start_spread = \"2 ms\"; seed = %u; };\n",
            kernels[i % 3], calls[i % 4], 1 + i % 5, i & 1 ? "true" : "false", calls[(i / 3) % 4], i);
        uint64_t plain = simtest_fingerprint(text, NULL, NULL);
        uint64_t posted = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_inline = true});
        uint64_t ticked = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_elide = true});
        uint64_t audited = simtest_fingerprint(text, NULL, &(struct wb_run_options){.audit = true});
        if (posted != plain || ticked != plain || audited != plain)
            fail_msg("scenario %u: posted %d ticked %d audited %d\n%s", i, posted == plain, ticked == plain,
                     audited == plain, text);
    }
}

/* ---- mistakes ---- */

static void refused(void **state)
{
    (void)state;
    static const char *const calls[] = {"bad_word", "bad_lock", "left", "unheard_of"};
    static const char *const words[] = {"no such function", "no such lock", "takes a lock twice", "does not say"};
    static const char text[] = MACHINE("pack:1 l3:1 core:2 pu:1") KERNEL("") CALLERS("lone", "");
    for (size_t i = 0; i < WB_ARRAY_SIZE(calls); i++) {
        char set[64];
        (void)snprintf(set, sizeof set, "workload.call=%s", calls[i]);
        char *said = simtest_refused(text, (const char *const[]){set, NULL});
        if (!strstr(said, words[i])) fail_msg("%s: %s", calls[i], said);
        free(said);
    }
    char *said = simtest_refused(text, (const char *const[]){"kernel.build=up", NULL});
    if (!strstr(said, "built for one CPU")) fail_msg("%s", said);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_of_each_call),
        cmocka_unit_test(a_lone_caller),
        cmocka_unit_test(callers_on_one_lock),
        cmocka_unit_test(cpus_on_one_line),
        cmocka_unit_test(threads_share_what_processes_do_not),
        cmocka_unit_test(the_big_lock),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
