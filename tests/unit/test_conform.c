/*
 * Recorded decisions beside the model's: extracts of recordings of a 2-CPU guest and of QEMU guests against golden
 * counts, other kernels must disagree, broken recordings must not break anything. wb-link: all
 *
 * After a meant change: WB_UPDATE=1 test_conform, and say in the commit why the counts have changed.
 */
#include "wbtest.h"

#include "conform.h"
#include "registry.h"
#include "simtest.h"
#include "simtrace.h"

#define TRACES WB_TESTS_DIR "/traces/"

static struct conform_result *run(const char *file, const char *kernel, const char *set)
{
    struct wb_diag *d = wb_diag_new();
    struct wb_key_registry *keys = cli_keys_new();
    char path[512], value[128] = "";
    struct wb_override over = {.key = "policy.features", .value = value, .from = "--set"};
    if (set) (void)snprintf(value, sizeof value, "[ \"%s\" ]", set);
    struct conform_options o = {.kernel = kernel, .first = 4, .window_ns = 50000, .set = &over, .set_n = set ? 1u : 0u};
    (void)snprintf(path, sizeof path, TRACES "%s", file);
    struct conform_result *r = conform_run(path, &o, cli_models(), keys, d);
    if (!r && getenv("WB_VERBOSE")) {
        char *text = wb_diag_render(d, false);
        fprintf(stderr, "%s", text);
        free(text);
    }
    wb_keys_free(keys);
    wb_diag_free(d);
    return r;
}

/* ---- golden ---- */

static const struct {
    const char *file, *kernel;
} recordings[] = {
    {"guest_612_2s2c2t.txt", NULL},         {"guest_612_1s8c1t.txt", NULL},
    {"guest_61_2s2c2t.txt", NULL},          {"guest_61_1d2c2t_stall.txt", NULL},
    {"guest_510_2s2c2t.txt", NULL},         {"pair_packed.txt", "linux-6.18-packed"},
    {"pair_perf.txt", "linux-6.18-packed"}, {"pair_hog.txt", "linux-6.18-packed"},
    {"stream.txt", "linux-6.18-packed"},    {"tcp_rr.txt", "linux-6.18-packed"},
};

static void describe(FILE *f, const char *file, const struct conform_result *r)
{
    const struct conform_tally *t = &r->total, *k = &r->fork;
    fprintf(f,
            "%s %s wakeups %llu known %llu/%llu derived %llu/%llu/%llu forks %llu/%llu %llu/%llu inferred %llu pulls "
            "%llu/%llu\n",
            file, r->kernel, (unsigned long long)r->wakeups, (unsigned long long)t->known_agree,
            (unsigned long long)t->known, (unsigned long long)t->derived_agree, (unsigned long long)t->derived_possible,
            (unsigned long long)t->derived, (unsigned long long)k->known_agree, (unsigned long long)k->known,
            (unsigned long long)k->derived_agree, (unsigned long long)k->derived,
            (unsigned long long)r->health.count[TRACE_H_FROM_IDLE], (unsigned long long)r->newidle.same_cpu,
            (unsigned long long)r->newidle.pulls);
}

static char *read_golden(void)
{
    static char text[8192];
    FILE *f = fopen(TRACES "golden.txt", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    return text;
}

static void extracts_are_golden(void **state)
{
    (void)state;
    char *got = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&got, &len);
    for (size_t i = 0; i < WB_ARRAY_SIZE(recordings); i++) {
        struct conform_result *r = run(recordings[i].file, recordings[i].kernel, NULL);
        assert_non_null(r);
        describe(f, recordings[i].file, r);
        if (conform_share(&r->total) < 0.97) fail_msg("%s: %.3f", recordings[i].file, conform_share(&r->total));
        conform_free(r);
    }
    fclose(f);
    if (getenv("WB_UPDATE")) {
        FILE *to = fopen(TRACES "golden.txt", "w");
        assert_non_null(to);
        fputs(got, to);
        fclose(to);
    }
    assert_string_equal(got, read_golden());
    free(got);
}

static void sums_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(recordings); i++) {
        struct conform_result *r = run(recordings[i].file, recordings[i].kernel, NULL);
        uint64_t all = 0, kinds = 0, places = 0, rules = 0;
        for (int k = 0; k < CONFORM_KINDS; k++) all += r->count[k];
        for (int k = 0; k < CONFORM_SCORED; k++) kinds += r->by_kind[k].known + r->by_kind[k].derived;
        for (int a = 0; a < CONFORM_PLACES; a++)
            for (int b = 0; b < CONFORM_PLACES; b++) places += r->confusion[a][b];
        for (size_t k = 0; k < r->nrules; k++) rules += r->rule[k].tally.known + r->rule[k].tally.derived;
        assert_int_equal(all, r->wakeups);
        assert_int_equal(kinds, r->total.known + r->total.derived);
        assert_int_equal(places, r->total.known);
        assert_int_equal(rules, kinds);
        conform_free(r);
    }
}

/* ---- the model's own decisions ---- */

/* A simulation's trace, asked about under the kernel that made it: everything agrees, and derived facts come out as
 * they were. */
static void own_traces_agree(void **state)
{
    static const char *const kernel[] = {"linux-6.1", "linux-6.12", "linux-6.18", "linux-6.18-packed"};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernel); i++) {
        struct simtest sim;
        struct wb_diag *d = wb_diag_new();
        struct wb_key_registry *keys = cli_keys_new();
        char scenario[2048];
        (void)snprintf(
            scenario, sizeof scenario,
            "schema = 1; machine : { base = \"nehalem-ep\"; }; kernel : { base = \"%s\"; };\n"
            "workload = ( { kind = \"custom\"; name = \"w\"; channels = [ \"p\", \"q\" ];\n"
            " tasks = ( { name = \"a\"; program = [ \"loop 200\", \"run exp(50 us)\", \"write p 1 B\", \"readall q 1 "
            "B\", \"end\" ]; },\n { name = \"b\"; program = [ \"loop 200\", \"readall p 1 B\", \"run 20 us\", \"write "
            "q 1 "
            "B\", \"end\" ]; },\n { name = \"c\"; count = 3; program = [ \"loop 20\", \"sleep 1 ms\", \"run 100 us\", "
            "\"end\" ]; } ); } );",
            kernel[i]);
        char *text = simtrace_text(scenario, NULL, &sim);
        struct conform_options o = {.kernel = kernel[i], .machine = "nehalem-ep", .first = 1, .window_ns = 50000};
        struct conform_result *r =
            conform_run_trace(trace_read_text("simulated", text, strlen(text), d), &o, cli_models(), keys, d);
        assert_non_null(r);
        assert_true(r->total.known > 200);
        assert_int_equal(r->total.known_agree, r->total.known);
        assert_true((double)r->total.derived_agree >= 0.9 * (double)r->total.derived);
        conform_free(r);
        free(text);
        simtest_free(&sim);
        wb_keys_free(keys);
        wb_diag_free(d);
    }
}

/* hackbench forks one child after the other, each onto a CPU that the one before may have left: a decision that is made
 * before the fork is over (copy_process) looks at another state than the one in which the child is queued. */
static void own_forks_agree(void **state)
{
    static const char *const kernel[] = {"linux-6.1", "linux-6.12", "linux-6.18"};
    static const char *const machine[] = {"smp16", "nehalem-ep", "smp2"};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernel); i++) {
        struct simtest sim;
        struct wb_diag *d = wb_diag_new();
        struct wb_key_registry *keys = cli_keys_new();
        char scenario[512];
        (void)snprintf(scenario, sizeof scenario,
                       "schema = 1; machine : { base = \"%s\"; }; kernel : { base = \"%s\"; };\n"
                       "workload = ( { kind = \"hackbench\"; groups = 2; loops = 2; } );",
                       machine[i], kernel[i]);
        char *text = simtrace_text(scenario, NULL, &sim);
        struct conform_options o = {.kernel = kernel[i], .machine = machine[i], .first = 1, .window_ns = 50000};
        struct conform_result *r =
            conform_run_trace(trace_read_text("simulated", text, strlen(text), d), &o, cli_models(), keys, d);
        assert_non_null(r);
        const struct conform_tally *k = &r->fork;
        uint64_t all = k->known + k->derived, agree = k->known_agree + k->derived_agree;
        assert_true(all >= 80);
        assert_int_equal(k->known_agree, k->known);
        if (100 * agree < 97 * all)
            fail_msg("%s: %llu of %llu forks agree", kernel[i], (unsigned long long)agree, (unsigned long long)all);
        conform_free(r);
        free(text);
        simtest_free(&sim);
        wb_keys_free(keys);
        wb_diag_free(d);
    }
}

/* For 87 ms a task of cpu4 has been woken and its switch out is not recorded: its virtual CPU stands still. The kernel
 * has it as current there all the while and places nobody; taken for idle, that CPU would get 61 of these wakeups. */
static void a_cpu_that_switches_is_not_idle(void **state)
{
    (void)state;
    struct conform_result *r = run("guest_61_1d2c2t_stall.txt", NULL, NULL);
    assert_non_null(r);
    assert_true(r->total.known > 150);
    assert_int_equal(r->total.known_agree, r->total.known);
    assert_int_equal(r->total.derived_possible, r->total.derived);
    conform_free(r);
}

/* The head of a simulation's trace names its machine and kernel: nobody has to. */
static void own_traces_name_their_kernel(void **state)
{
    static const char text[] =
        "# tracer: nop\n#\n# wakebal: simulated; version=1 run=- seed=1 replication=0\n"
        "# wakebal: machine=nehalem-ep kernel=linux-6.12 scheduler=eevdf\n#\n# wakebal: machine\n# other: kernel=x\n"
        "          <idle>-0     (-----) [001] d..2.     0.000030250: sched_switch: prev_comm=swapper/1 prev_pid=0 "
        "prev_prio=120 prev_state=R ==> next_comm=a next_pid=103 next_prio=120\n";
    static const char none[] =
        "# wakebal: machine=- kernel=-\n"
        "          <idle>-0     (-----) [001] d..2.     0.000030250: sched_switch: prev_comm=swapper/1 prev_pid=0 "
        "prev_prio=120 prev_state=R ==> next_comm=a next_pid=103 next_prio=120\n";
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_key_registry *keys = cli_keys_new();
    struct conform_options o = {.window_ns = 50000};
    struct conform_result *r =
        conform_run_trace(trace_read_text("t", text, sizeof text - 1, d), &o, cli_models(), keys, d);
    assert_non_null(r);
    assert_string_equal(r->kernel, "linux-6.12");
    assert_string_equal(r->machine, "nehalem-ep");
    assert_false(r->machine_assumed);
    conform_free(r);
    assert_null(conform_run_trace(trace_read_text("t", none, sizeof none - 1, d), &o, cli_models(), keys, d));
    wb_keys_free(keys);
    wb_diag_free(d);
}

/* ---- controls: what must not agree ---- */

static uint64_t wrong(const char *file, const char *kernel, const char *feature)
{
    struct conform_result *r = run(file, kernel, feature);
    assert_non_null(r);
    uint64_t n = r->total.known - r->total.known_agree;
    conform_free(r);
    return n;
}

/* Without WA_IDLE a sync wakeup of a lone waker is not pulled, so the previous CPU's cache is searched. */
static void another_feature_disagrees(void **state)
{
    (void)state;
    assert_int_equal(wrong("guest_612_2s2c2t.txt", NULL, NULL), 0);
    struct conform_result *good = run("guest_612_2s2c2t.txt", NULL, NULL);
    struct conform_result *bad = run("guest_612_2s2c2t.txt", NULL, "NO_WA_IDLE");
    uint64_t g = good->total.known_agree + good->total.derived_agree,
             b = bad->total.known_agree + bad->total.derived_agree;
    if (b + 5 > g) fail_msg("%llu agree with WA_IDLE, %llu without", (unsigned long long)g, (unsigned long long)b);
    conform_free(good);
    conform_free(bad);
}

/* Mainline moves a task that slept on its waker's busy CPU to the idle one; that guest does not. */
static void mainline_does_not_pack(void **state)
{
    (void)state;
    struct conform_result *main18 = run("pair_packed.txt", "linux-6.18", NULL);
    struct conform_result *packed = run("pair_packed.txt", "linux-6.18-packed", NULL);
    uint64_t a = main18->total.known_agree + main18->total.derived_agree;
    uint64_t b = packed->total.known_agree + packed->total.derived_agree;
    assert_true(b > a);
    conform_free(main18);
    conform_free(packed);
}

/* A kernel between two modelled ones: its placement is 5.15's but for what 5.11, 5.12 and 5.15 changed. */
static void a_kernel_between_two(void **state)
{
    (void)state;
    struct conform_result *r = run("guest_510_2s2c2t.txt", NULL, NULL),
                          *later = run("guest_510_2s2c2t.txt", "linux-5.15", NULL);
    assert_true(r->kernel_near);
    assert_string_equal(r->kernel, "linux-5.15");
    assert_true(r->total.known > 90);
    assert_int_equal(r->total.known_agree, r->total.known);
    assert_int_equal(r->total.derived_possible, r->total.derived);
    assert_true(later->total.known_agree < later->total.known);
    conform_free(r);
    conform_free(later);
}

/* Two packages of 2 x 2 of which CPUs 3 and 6 were offline: each is alone in a gap of the numbers, with no domains. */
static void offline_cpus_have_no_domains(void **state)
{
    (void)state;
    struct conform_result *r = run("guest_612_offline.txt", NULL, NULL);
    assert_non_null(r);
    assert_int_equal(r->ncpus, 8);
    assert_false(r->machine_assumed);
    assert_true(r->total.known >= 70);
    assert_int_equal(r->total.known_agree, r->total.known);
    assert_int_equal(r->fork.known_agree, r->fork.known);
    assert_int_equal(r->nlevels, 3);
    for (uint32_t k = 0; k < r->nlevels; k++) assert_null(strstr(r->level[k].differs, "SD_"));
    conform_free(r);
}

/* A SCHED_IDLE task keeps a CPU busy that the kernel takes for idle: 57 wakeups of this extract go there. */
static void idle_class_is_inferred(void **state)
{
    (void)state;
    struct conform_result *r = run("guest_616_idle_class.txt", NULL, NULL), *without;
    assert_non_null(r);
    assert_int_equal(r->seem_idle, 1);
    assert_int_equal(r->total.known_agree, r->total.known);
    assert_true(r->by_fact[CONFORM_F_CLASS] >= 50);
    assert_int_equal(r->by_fact_agree[CONFORM_F_CLASS], r->by_fact[CONFORM_F_CLASS]);
    without = run("guest_612_2s2c2t.txt", NULL, "NO_WA_IDLE"); /* disagrees for another reason */
    assert_int_equal(without->seem_idle, 0);
    conform_free(r);
    conform_free(without);
}

/* The domains that the recorded kernels built are those that the model builds; an older kernel's are others. */
static void domains_as_recorded(void **state)
{
    static const struct {
        const char *file;
        uint32_t levels;
    } guest[] = {{"guest_612_2s2c2t.txt", 3}, {"guest_612_1s8c1t.txt", 1}, {"guest_61_2s2c2t.txt", 3}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(guest); i++) {
        struct conform_result *r = run(guest[i].file, NULL, NULL), *old = run(guest[i].file, "linux-2.6.36", NULL);
        uint32_t other = 0;
        assert_int_equal(r->nlevels, guest[i].levels);
        for (uint32_t k = 0; k < r->nlevels; k++) {
            assert_string_equal(r->level[k].differs, "");
            other += old->level[k].differs[0] != 0;
        }
        assert_true(other > 0);
        conform_free(r);
        conform_free(old);
    }
}

static void wrong_machine_is_refused(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_key_registry *keys = cli_keys_new();
    struct conform_options o = {.kernel = "linux-6.12", .machine = "smp2"};
    assert_null(conform_run(TRACES "guest_612_2s2c2t.txt", &o, cli_models(), keys, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 1);
    wb_keys_free(keys);
    wb_diag_free(d);
}

static void other_families_are_refused(void **state)
{
    (void)state;
    assert_null(run("pair_packed.txt", "linux-2.6.11", NULL));
    assert_null(run("pair_packed.txt", NULL, NULL)); /* does not say its kernel */
}

/* Differences of the counters of /proc/schedstat, summed over CPUs and sections by hand (awk over the file). */
static void schedstat_counts_once(void **state)
{
    static const struct {
        const char *file, *kernel;
        uint64_t idle, busy, newidle, remote; /* passes and remote wakeups of the lowest level */
    } want[] = {{"guest_612_2s2c2t.txt", "linux-6.12", 1010, 71, 128, 805},
                {"guest_61_2s2c2t.txt", "linux-6.1", 381, 5, 150, 206},
                {"guest_612_1s8c1t.txt", "linux-6.12", 69, 49, 27, 1331}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(want); i++) {
        struct conform_result *r = run(want[i].file, want[i].kernel, NULL);
        assert_non_null(r);
        const struct conform_domain *d = &r->domain[0];
        assert_int_equal(d->calls[0], want[i].idle);
        assert_int_equal(d->calls[1], want[i].busy);
        assert_int_equal(d->calls[2], want[i].newidle);
        assert_int_equal(d->wake_remote, want[i].remote);
        conform_free(r);
    }
}

/* ---- broken recordings ---- */

static void broken_ones_are_survived(void **state)
{
    static const char *const file[] = {
        "lost_marks.txt", "no_switches.txt", "no_wakeups.txt", "every_third_missing.txt", "time_back.txt",
        "cut_lines.txt",  "doubled.txt",     "numbers.txt",    "control_bytes.txt"};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(file); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "broken/%s", file[i]);
        struct conform_result *r = run(name, "linux-6.12", NULL);
        if (!r) fail_msg("%s gives nothing", file[i]);
        if (strcmp(file[i], "control_bytes.txt") != 0 && !trace_health_broken(&r->health))
            fail_msg("%s passes as whole", file[i]);
        json_t *j = conform_json(r);
        assert_non_null(j);
        json_decref(j);
        conform_free(r);
    }
}

/* After a mark of lost events nothing is scored until the CPU is heard of again. */
static void lost_events_hide_the_state(void **state)
{
    (void)state;
    struct conform_result *r = run("broken/lost_marks.txt", "linux-6.12", NULL);
    assert_int_equal(r->health.count[TRACE_H_LOST], 2);
    assert_true(r->count[CONFORM_NO_STATE] > 0);
    conform_free(r);
}

/* 6.1 guest, 3 CPUs: for 20 ms CPU 1 queues rcu_preempt on CPU 0, which looks idle meanwhile and is taken by nobody. */
static void queueing_elsewhere_is_no_idle_cpu(void **state)
{
    (void)state;
    struct conform_result *r = run("slow_waker.txt", NULL, NULL);
    assert_non_null(r);
    assert_true(r->total.known > 20);
    assert_int_equal(r->total.known_agree, r->total.known);
    assert_true(r->by_fact[CONFORM_F_RACE] >= 13);
    assert_true(r->by_fact_agree[CONFORM_F_RACE] >= 13);
    conform_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extracts_are_golden),
        cmocka_unit_test(sums_agree),
        cmocka_unit_test(own_traces_agree),
        cmocka_unit_test(a_cpu_that_switches_is_not_idle),
        cmocka_unit_test(own_forks_agree),
        cmocka_unit_test(own_traces_name_their_kernel),
        cmocka_unit_test(another_feature_disagrees),
        cmocka_unit_test(mainline_does_not_pack),
        cmocka_unit_test(a_kernel_between_two),
        cmocka_unit_test(offline_cpus_have_no_domains),
        cmocka_unit_test(idle_class_is_inferred),
        cmocka_unit_test(domains_as_recorded),
        cmocka_unit_test(wrong_machine_is_refused),
        cmocka_unit_test(other_families_are_refused),
        cmocka_unit_test(schedstat_counts_once),
        cmocka_unit_test(broken_ones_are_survived),
        cmocka_unit_test(lost_events_hide_the_state),
        cmocka_unit_test(queueing_elsewhere_is_no_idle_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
