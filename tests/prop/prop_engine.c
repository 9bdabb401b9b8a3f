/* prop_engine.c - random scenarios: posting every segment as an event, running every tick and auditing invariants
 * change no byte. */
#include "simtest.h"
#include "wbtest.h"

static uint64_t rng = 0x9e3779b97f4a7c15ull;

static uint32_t below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 33) % n);
}

static const char *pick(const char *const *from, uint32_t n)
{
    return from[below(n)];
}
#define PICK(...) \
    pick((const char *const[]){__VA_ARGS__}, (uint32_t)WB_ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

/* A small machine, an old or newer kernel, two or three workloads that share it. */
static void scenario(char *buf, size_t n)
{
    const char *topo = PICK("pack:1 core:2 pu:1", "pack:4 core:1 pu:1", "pack:2 l3:1(size=4194304) core:2 pu:1",
                            "pack:2 l3:1(size=8388608) core:2 pu:2", "pack:1 l3:1 core:3 pu:1");
    const char *kernel = PICK("linux-2.6.10", "linux-2.6.11", "linux-2.6.22");
    const char *pipe = PICK("2.6.10", "2.6.11", "2.6.24", "5.5", "6.18");
    (void)snprintf(
        buf, n,
        "schema = 1;\n"
        "machine : { topology = \"%s\"; };\n"
        "kernel : { base = \"%s\"; pipe = \"%s\"; page_size = \"%s\"; preempt = %s;\n"
        "  noise = ( { gap = \"exp(300 us)\"; cost = \"uniform(1 us, 20 us)\"; } ); };\n"
        "workload = ( { name = \"a\"; kind = \"pipe_bw\"; message = \"%s\"; copies = %u; },\n"
        "  { name = \"b\"; kind = \"pipe_latency\"; think = \"exp(5 us)\"; },\n"
        "  { name = \"c\"; kind = \"periodic\"; run = \"exp(300 us)\"; sleep = \"exp(700 us)\"; count = %u; },\n"
        "  { name = \"d\"; kind = \"hog\"; count = %u; nice = %d; } );\n"
        "run : { duration = \"%u ms\"; warmup = \"%u ms\"; seed = %u; window = \"5 ms\"; start_spread = \"3 ms\"; };\n",
        topo, kernel, pipe, PICK("4 KiB", "16 KiB"), PICK("true", "false"), PICK("1 B", "4 KiB", "64 KiB"),
        1 + below(3), 1 + below(3), 1 + below(3), (int)below(20) - 5, 15 + below(30), below(10), 1 + below(1000));
}

/* A scenario is run six times, so far fewer than WB_PROP_RUNS, which counts lists of operations elsewhere. */
static int scenarios(void)
{
    const char *runs = getenv("WB_PROP_RUNS");
    return runs ? WB_MAX(atoi(runs) / 50, 1) : 16;
}

static void compare(const char *text)
{
    uint64_t plain = simtest_fingerprint(text, NULL, NULL);
    uint64_t posted = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_inline = true});
    uint64_t ticked = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_elide = true});
    uint64_t audited =
        simtest_fingerprint(text, NULL, &(struct wb_run_options){.audit = true, .no_inline = true, .no_elide = true});
    uint64_t looked_at = simtest_fingerprint(text, NULL, &(struct wb_run_options){.audit = true});
    uint64_t traced = simtest_fingerprint(text, NULL, &(struct wb_run_options){.trace_capacity = 4096});
    if (posted != plain || ticked != plain || audited != plain || looked_at != plain || traced != plain)
        fail_msg("posted %d ticked %d audited %d looked at %d traced %d\n%s", posted == plain, ticked == plain,
                 audited == plain, looked_at == plain, traced == plain, text);
}

static void same_bytes(void **state)
{
    (void)state;
    for (int i = 0, n = scenarios(); i < n; i++) {
        char text[2048];
        scenario(text, sizeof text);
        compare(text);
    }
}

/* Runs that end when their work is done, in the middle of what some CPU was doing: nobody may run past that. */
static void same_bytes_of_fixed_work(void **state)
{
    (void)state;
    static const char *const work[] = {
        "kind = \"pipe_bw\"; total = \"2 MiB\";",
        "kind = \"pipe_bw\"; total = \"1 MiB\"; copies = 3;",
        "kind = \"hackbench\"; groups = 1; fds = 8; loops = 3;",
        "kind = \"hackbench\"; groups = 2; fds = 5; loops = 2; mode = \"thread\"; transport = \"pipe\";",
        "kind = \"tcp_rr\"; transactions = 200;",
        "kind = \"syscall\"; calls = 2000;",
    };
    static const char *const kernels[] = {"linux-2.6.11", "linux-2.6.24", "linux-2.6.36", "linux-6.12", "linux-6.18"};
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(work) * WB_ARRAY_SIZE(kernels); i++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "schema = 1;\nmachine : { topology = \"%s\"; };\nkernel : { base = \"%s\"; };\n"
                       "workload = ( { %s } );\nrun : { warmup = \"none\"; start_spread = \"3 ms\"; seed = %u; };\n",
                       PICK("pack:1 core:2 pu:1", "pack:2 l3:1(size=4194304) core:2 pu:2"),
                       kernels[i / WB_ARRAY_SIZE(work)], work[i % WB_ARRAY_SIZE(work)], 1 + below(1000));
        compare(text);
    }
}

/* Tasks that spin for each other's locks: looks that see nothing pass as one segment, and are cut when the lock is
 * released, its owner or the spinner is preempted, or an interrupt comes. */
static void same_bytes_of_spinners(void **state)
{
    (void)state;
    for (int i = 0; i < scenarios(); i++) {
        char text[2048];
        (void)snprintf(
            text, sizeof text,
            "schema = 1;\nmachine : { topology = \"%s\"; };\n"
            "kernel : { base = \"%s\"; preempt = %s; path : { mutex_spin_on_owner = \"%s\"; };\n"
            "  noise = ( { gap = \"exp(100 us)\"; cost = \"uniform(1 us, 9 us)\"; } ); };\n"
            "workload = ( { kind = \"custom\"; locks = [ \"m %s\", \"n %s\" ];\n"
            "  tasks = ( { name = \"a\"; count = %u; program = [ \"loop\", \"run exp(%u us)\", \"lock m\", \"run "
            "%s\",\n"
            "      \"unlock m\", \"count rounds\", \"end\" ]; },\n"
            "    { name = \"b\"; count = %u; program = [ \"loop\", \"lock n\", \"run %s\", \"lock m\", \"run 3 us\",\n"
            "      \"unlock m\", \"unlock n\", \"sleep exp(%u us)\", \"end\" ]; } ); },\n"
            "  { kind = \"hog\"; count = %u; nice = 5; } );\n"
            "run : { duration = \"%u ms\"; warmup = \"2 ms\"; seed = %u; window = \"5 ms\"; };\n",
            PICK("pack:1 core:2 pu:1", "pack:1 l3:1 core:4 pu:1", "pack:2 l3:1 core:4 pu:1"),
            PICK("linux-2.6.36", "linux-6.12", "linux-6.18"), PICK("true", "false"), PICK("40 ns", "63 ns", "1 us"),
            PICK("mutex_spin", "mutex_handoff"), PICK("mutex_spin", "mutex_handoff"), 1 + below(4), 1 + below(20),
            PICK("1 us", "exp(8 us)", "40 us"), 1 + below(3), PICK("2 us", "exp(15 us)"), 5 + below(300), 1 + below(3),
            10 + below(30), 1 + below(1000));
        compare(text);
    }
}

/* Another seed or replication must change something, or the test above compares nothing. */
static void seeds_matter(void **state)
{
    (void)state;
    char text[2048];
    scenario(text, sizeof text);
    uint64_t a = simtest_fingerprint(text, (const char *const[]){"run.seed=1", NULL}, NULL);
    uint64_t b = simtest_fingerprint(text, (const char *const[]){"run.seed=2", NULL}, NULL);
    assert_true(a != b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(same_bytes_of_fixed_work),
        cmocka_unit_test(same_bytes_of_spinners),
        cmocka_unit_test(seeds_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
