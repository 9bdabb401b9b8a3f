/*
 * prop_elide.c - ticks that are left out (sim/kernel/elide.c) against ticks that are all run: random runs on machines
 * of 2 to 100 CPUs without SMT, most of them idle and ticking, so that every look at another CPU's queue meets ticks
 * that have to be made up first.
 */
#include "simtest.h"
#include "wbtest.h"

static uint64_t rng = 0x2545f4914f6cdd1dull;

static uint32_t below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 33) % n);
}

static const char *const kernels[] = {"linux-2.6.10", "linux-2.6.11", "linux-2.6.22", "linux-2.6.23",   "linux-2.6.24",
                                      "linux-2.6.35", "linux-2.6.36", "linux-5.4",    "linux-5.15",     "linux-6.1",
                                      "linux-6.6",    "linux-6.12",   "linux-6.18",   "freebsd-5.2-ule"};

/* Idle CPUs keep their ticks, for as long as they are not due to balance or at all; and as the kernel has it. */
static const char *policy_of(const char *kernel)
{
    static const char *const ticking[] = {"", "nohz = false;", "nohz = false; idle_balance = false;",
                                          "nohz_at_once = true;"},
                             *const older[] = {"", "", "idle_balance = false;"};
    if (strstr(kernel, "ule")) return "";
    if (strstr(kernel, "2.6.1")) return older[below(3)];
    return ticking[below(strstr(kernel, "2.6.22") ? 3 : 4)];
}

static const char *const machines[] = {
    "[numa] pack:1 l2:1 core:4 pu:1",  "[numa] pack:2 l2:3 core:2 pu:1", "pack:3 [numa] l3:1 core:8 pu:1",
    "pack:2 [numa] l3:1 core:20 pu:1", "pack:4 [numa] l3:2 core:9 pu:1", "pack:5 [numa] l3:1 core:20 pu:1",
};

/* Forks, execs, affinity, sleepers with timers, wakeups from far, pulls. */
static const char *const loads[] = {
    "{ kind = \"hackbench\"; groups = 1; fds = 4; loops = 2; start = \"5 ms\"; }",
    "{ kind = \"pipe_latency\"; copies = 3; think = \"exp(2 ms)\"; }",
    "{ kind = \"periodic\"; count = 5; run = \"exp(300 us)\"; sleep = \"exp(9 ms)\"; }",
    "{ kind = \"hog\"; count = 3; chunk = \"exp(1 ms)\"; }, { kind = \"hog\"; count = 2; nice = 10; chunk = \"3 ms\"; "
    "}",
    "{ kind = \"custom\"; tasks = ( { name = \"boss\"; program = [ \"loop 3\", \"sleep exp(6 ms)\", \"fork child\", "
    "\"run 200 us\", \"end\" ]; }, { name = \"child\"; program = [ \"run exp(4 ms)\", "
    "\"pin 1\", \"run 1 ms\", \"sleep 3 ms\", \"pin 0-1\", \"run 5 ms\" ]; } ); }",
    "{ kind = \"unix_rr\"; copies = 2; think = \"exp(3 ms)\"; }",
};

/* Idle CPUs that watch a line and see wakeups by themselves, unless their tick keeps them from watching. */
#define WATCHING "idle : { c1 : { enter = \"500 ns\"; exit = \"1500 ns\"; wake = \"monitor\"; }; };"
static const char *idle_of(const char *kernel)
{
    return strstr(kernel, "linux") && below(2) ? WATCHING : "";
}

/* Half of the machines have ticks, and lines of their own, that take a good part of a tick's period: a look from
 * elsewhere then often comes while a tick that was left out would be under way. */
static void scenario(char *buf, size_t n, const char *kernel)
{
    const char *first = loads[below(WB_ARRAY_SIZE(loads))], *second = loads[below(WB_ARRAY_SIZE(loads))];
    const char *topology = machines[below(WB_ARRAY_SIZE(machines))];
    (void)snprintf(buf, n,
                   "schema = 1;\nmachine : { topology = \"%s\"; line : { %s }; %s };\n"
                   "kernel : { base = \"%s\"; hz = %u; path : { timer_tick = \"%u us\"; }; };\npolicy : { %s };\n"
                   "run : { duration = \"%u ms\"; seed = %u; start_spread = \"%u ms\"; };\nworkload = ( %s, %s );\n",
                   topology, below(2) ? "" : "rmw = \"60 us\"; write = \"40 us\";", idle_of(kernel), kernel,
                   below(2) ? 1000 : 250, below(2) ? 2 : 100, policy_of(kernel), 30 + below(40), 1 + below(1000),
                   1 + below(20), first, second);
}

/* Sanitizers make each simulation ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 2
#else
#define ROUNDS 6
#endif

static void compare(const char *text)
{
    uint64_t left_out = simtest_fingerprint(text, NULL, NULL);
    uint64_t run = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_elide = true});
    if (left_out != run) fail_msg("leaving ticks out changes the run:\n%s", text);
}

static void left_out_or_run(void **state)
{
    (void)state;
    const char *runs = getenv("WB_PROP_RUNS");
    int rounds = runs ? WB_MAX(atoi(runs) / 200, 1) : ROUNDS;
    for (int i = 0; i < rounds; i++)
        for (size_t k = 0; k < WB_ARRAY_SIZE(kernels); k++) {
            char text[2048];
            scenario(text, sizeof text, kernels[k]);
            compare(text);
        }
}

/* CPU 8's ticks come so shortly before a new jiffy that one of them, late out of idle, sees two: it balances. */
static void a_tick_that_sees_two_jiffies(void **state)
{
    (void)state;
    compare(
        "schema = 1; kernel : { base = \"linux-2.6.11\"; hz = 1000; path : { timer_tick = \"2 us\"; }; };\n"
        "machine : { topology = \"pack:2 [numa] l3:1 core:20 pu:1\"; line : { rmw = \"60 us\"; write = \"40 us\"; }; "
        "};\nrun : { duration = \"63 ms\"; seed = 504; start_spread = \"14 ms\"; };\n"
        "workload = ( { kind = \"hackbench\"; groups = 1; fds = 4; loops = 2; start = \"5 ms\"; },\n"
        "  { kind = \"pipe_latency\"; copies = 3; think = \"exp(2 ms)\"; } );\n");
}

/* A search takes ten ticks: the CPU that it chose has gone back to leaving them out when its lock is taken. */
static void a_choice_that_is_old(void **state)
{
    (void)state;
    static const char *const old[] = {"linux-2.6.24", "linux-2.6.36", "linux-5.4", "linux-6.6", "linux-6.18"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(old); i++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "schema = 1; machine : { topology = \"pack:2 [numa] l3:1 core:6 pu:1\"; };\n"
                       "kernel : { base = \"%s\"; hz = 10000; path : { find_idlest_group = \"1 ms\"; "
                       "select_idle_cpu = \"100 us\"; wake_affine = \"900 us\"; }; };\n"
                       "policy : { nohz = false; idle_balance = false; };\n"
                       "run : { duration = \"60 ms\"; seed = %zu; };\nworkload = ( %s, %s );\n",
                       old[i], i + 1, loads[0], loads[2]);
        compare(text);
    }
}

/*
 * A wakeup is put on the list of a CPU of another cache (TTWU_QUEUE) while a tick that was left out would be under way
 * there. The CPU was looked at when it was chosen, which makes ticks up; the way from there takes nine more, so that it
 * leaves them out again. It is told by its line, which travels for as long as a good part of a tick: told before the
 * tick has ended it does not halt, taken for one that halts it would have to leave that first.
 */
static void a_wakeup_queued_under_a_tick(void **state)
{
    (void)state;
    static const char *const queue[] = {"linux-5.15", "linux-6.1", "linux-6.6", "linux-6.12", "linux-6.18"};
    static const unsigned transfer[] = {30, 10, 20, 40, 5};
    for (size_t i = 0; i < WB_ARRAY_SIZE(queue); i++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "schema = 1; machine : { topology = \"pack:3 [numa] l3:1 core:4 pu:1\"; " WATCHING
            " line : { transfer : { remote = \"%u us\"; }; }; };\n"
            "kernel : { base = \"%s\"; hz = 10000; path : { timer_tick = \"40 us\"; wake_affine = \"900 us\"; "
            "select_idle_cpu = \"930 us\"; }; };\n"
            "policy : { nohz = false; idle_balance = false; };\n"
            "run : { duration = \"60 ms\"; seed = %zu; };\nworkload = ( { kind = \"pipe_latency\"; "
            "copies = 2; think = \"exp(2 ms)\"; parent_cpus = \"0,1\"; child_cpus = \"4,8\"; } );\n",
            transfer[i], queue[i], i + 1);
        compare(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_out_or_run), cmocka_unit_test(a_tick_that_sees_two_jiffies),
        cmocka_unit_test(a_choice_that_is_old), cmocka_unit_test(a_wakeup_queued_under_a_tick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
