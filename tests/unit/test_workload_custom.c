/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Programs written in the scenario: what they do, and where their mistakes are reported. */
#include "simtest.h"
#include "wbtest.h"

#include "o1.h"

#include <errno.h>

struct wb_key_registry *cli_keys_new(void);
const struct wb_registry *cli_models(void);

static const char head[] = "schema = 1; machine : { base = \"smp2\"; }; kernel : { scheduler = \"o1\"; hz = 100; }; "
                           "run : { warmup = \"none\"; horizon = \"1 s\"; };\n";

static char *scenario(const char *body)
{
    static char text[8192];
    snprintf(text, sizeof text, "%sworkload = ( { kind = \"custom\"; cpus = \"0\"; start = \"0 s\"; %s } );\n", head,
             body);
    return text;
}

static struct simtest run(const char *body)
{
    struct simtest t = simtest_build(scenario(body), NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    return t;
}

/* How often a stopwatch was stopped: an exact count. */
static double total(struct simtest *t, const char *name)
{
    char count[64];
    snprintf(count, sizeof count, "%s.count", name);
    return simtest_metric(t, 0, count);
}

static void near_to(double got, double want, double by)
{
    if (got < want - by || got > want + by) fail_msg("got %.9g, want %.9g", got, want);
}

/* ---- what programs do ---- */

static void loops_nest_and_count(void **state)
{
    (void)state;
    struct simtest t = run("tasks = ( { name = \"a\"; program = [ \"loop 3\", \"loop 5\", \"count inner 2\", \"end\", "
                           "\"count outer\", \"run 1 us\", \"end\" ]; } );");
    near_to(simtest_metric(&t, 0, "inner") / simtest_metric(&t, 0, "outer"), 10, 1e-9);
    near_to(simtest_metric(&t, 0, "loops") / simtest_metric(&t, 0, "outer"), 1, 1e-9);
    simtest_free(&t);
}

/* 100 rounds of 1 ms, the first second and each 10 ms later: the body is done ten times, and is no loop of its own. */
static void every_so_often(void **state)
{
    (void)state;
    struct simtest t = run("tasks = ( { name = \"a\"; program = [ \"loop 100\", \"sleep 1 ms\", \"count rounds\", "
                           "\"every 10 ms\", \"count reports\", \"end\", \"end\" ]; } );");
    double share = simtest_metric(&t, 0, "reports") / simtest_metric(&t, 0, "rounds");
    if (share < 0.085 || share > 0.1) fail_msg("every 10 ms: in %.3f of the rounds of 1 ms", share);
    near_to(simtest_metric(&t, 0, "loops") / simtest_metric(&t, 0, "rounds"), 1, 1e-9);
    simtest_free(&t);
    t = run("tasks = ( { name = \"a\"; program = [ \"loop 3\", \"run 1 us\", \"count rounds\", \"end\", "
            "\"every 10 ms\", \"count reports\", \"end\" ]; } );");
    near_to(simtest_metric(&t, 0, "reports") / simtest_metric(&t, 0, "rounds"), 1.0 / 3, 1e-9);
    near_to(simtest_metric(&t, 0, "loops") / simtest_metric(&t, 0, "rounds"), 1, 1e-9);
    simtest_free(&t);
}

static double duration(const char *body)
{
    struct simtest t = run(body);
    double d = (double)wb_sim_result(t.sim)->duration * 1e-12;
    simtest_free(&t);
    return d;
}

static void run_takes_its_time(void **state)
{
    (void)state;
    double one = duration("tasks = ( { name = \"a\"; program = [ \"run 1 ms\" ]; } );");
    double five = duration("tasks = ( { name = \"a\"; program = [ \"loop 5\", \"run 1 ms\", \"end\" ]; } );");
    near_to(five - one, 4e-3, 30e-6); /* but for ticks */
    double mean = duration("tasks = ( { name = \"a\"; program = [ \"loop 400\", \"run exp(1 ms)\", \"end\" ]; } );");
    near_to(mean, 0.4, 0.08);
    double table =
        duration("tasks = ( { name = \"a\"; program = [ \"loop 400\", \"run table(1 ms:3, 3 ms:1)\", \"end\" ]; } );");
    near_to(table, 0.6, 0.06);
}

static void long_work_is_done_in_pieces(void **state)
{
    (void)state;
    struct simtest t =
        simtest_build("schema = 1; machine : { base = \"smp2\"; }; kernel : { scheduler = \"o1\"; hz = 100; }; "
                      "run : { warmup = \"none\"; horizon = \"500 s\"; };\n"
                      "workload = ( { kind = \"custom\"; cpus = \"0\"; start = \"0 s\"; "
                      "tasks = ( { name = \"a\"; program = [ \"run 200 s\" ]; } ); } );\n",
                      NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), WB_RUN_DONE);
    near_to((double)wb_sim_result(t.sim)->duration * 1e-12, 200, 0.5);
    simtest_free(&t);
}

static void sleeps_and_timers(void **state)
{
    (void)state;
    double sleep =
        duration("tasks = ( { name = \"a\"; program = [ \"loop 10\", \"run 1 ms\", \"sleep 4 ms\", \"end\" ]; } );");
    near_to(sleep, 50e-3, 1e-3);
    double timer =
        duration("tasks = ( { name = \"a\"; program = [ \"loop 10\", \"run 1 ms\", \"timer 4 ms\", \"end\" ]; } );");
    near_to(timer, 40e-3, 1e-3);
    /* an overrun skips the periods that have passed */
    double late =
        duration("tasks = ( { name = \"a\"; program = [ \"run 5 ms\", \"timer 2 ms\", \"timer 2 ms\" ]; } );");
    near_to(late, 8e-3, 0.2e-3);
}

/* An event without memory forgets a wake that met nobody; one with memory counts it. */
static void events_with_and_without_memory(void **state)
{
    (void)state;
    static const char body[] = "events = [ \"e%s\" ]; tasks = ( { name = \"w\"; program = [ \"sleep 20 ms\", \"start "
                               "t\", \"wait e\", \"stop t\" ]; }, "
                               "{ name = \"k\"; program = [ \"wake e\", \"sleep 50 ms\", \"wake e\" ]; } );";
    char text[512];
    snprintf(text, sizeof text, body, "");
    struct simtest t = run(text);
    near_to(simtest_metric(&t, 0, "t"), 30e-3, 1e-3);
    simtest_free(&t);
    snprintf(text, sizeof text, body, " 0");
    t = run(text);
    near_to(simtest_metric(&t, 0, "t"), 0, 1e-4);
    simtest_free(&t);
}

static void wake_one_or_all(void **state)
{
    (void)state;
    static const char body[] = "events = [ \"e\" ]; tasks = ( { name = \"w\"; count = 3; program = [ \"wait e\", "
                               "\"start woken\", \"stop woken\" ]; }, "
                               "{ name = \"k\"; program = [ \"sleep 5 ms\", \"wake e%s\", \"sleep 5 ms\", \"start "
                               "later\", \"stop later\", \"wake e all\" ]; } );";
    char text[512];
    for (int all = 0; all < 2; all++) {
        snprintf(text, sizeof text, body, all ? " all" : "");
        struct simtest t = simtest_build(scenario(text), NULL, NULL);
        assert_int_equal(wb_sim_run(t.sim), 0);
        near_to(total(&t, "woken"), 3, 1e-6);
        double wakeups = simtest_metric(&t, UINT32_MAX, "wakeups");
        near_to(wakeups, 3 + 2, 0.1); /* three of the event, two of the timer */
        simtest_free(&t);
    }
}

static void suspend_and_resume(void **state)
{
    (void)state;
    struct simtest t =
        run("tasks = ( { name = \"a\"; program = [ \"loop 5\", \"suspend\", \"start got\", \"stop got\", \"end\" ]; }, "
            "{ name = \"b\"; program = [ \"loop 5\", \"sleep 1 ms\", \"resume a\", \"end\" ]; } );");
    near_to(total(&t, "got"), 5, 1e-6);
    simtest_free(&t);
}

/* A lock excludes: five holders of 1 ms each take 5 ms on two CPUs. */
static void locks_exclude(void **state)
{
    (void)state;
    static const char *const kinds[] = {"", " semaphore", " mutex", " mutex_spin", " mutex_handoff", " fair"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "locks = [ \"l%s\" ]; tasks = ( { name = \"a\"; count = 5; cpus = \"0-1\"; program = [ \"lock l\", "
                 "\"run 1 ms\", \"unlock l\" ]; } );",
                 kinds[i]);
        near_to(duration(text), 5.05e-3, 0.3e-3);
    }
}

/* Data goes through: the reader gets it all, then the end of file ends it. */
static void channels_carry_and_end(void **state)
{
    (void)state;
    /* the run ends with the writer, for the reader's loop is endless: give it time to read the rest */
    struct simtest t = run(
        "channels = [ \"p\" ]; tasks = ( { name = \"w\"; program = [ \"loop 50\", \"write p 10 KiB\", \"end\", "
        "\"close p\", \"sleep 10 ms\" ]; }, "
        "{ name = \"r\"; program = [ \"loop\", \"readall p 5 KiB\", \"start blocks\", \"stop blocks\", \"end\" ]; } "
        ");");
    near_to(total(&t, "blocks"), 100, 1e-6);
    simtest_free(&t);
    /* two writers: the file ends when both have closed */
    t = run("channels = [ \"p\" ]; tasks = ( { name = \"w\"; program = [ \"write p 1 KiB\", \"close p\", \"run 1 ms\" "
            "]; }, "
            "{ name = \"v\"; program = [ \"sleep 5 ms\", \"write p 1 KiB\", \"close p\", \"sleep 10 ms\" ]; }, { name "
            "= \"r\"; program = [ \"loop\", "
            "\"readall p 1 KiB\", \"start blocks\", \"stop blocks\", \"end\" ]; } );");
    near_to(total(&t, "blocks"), 2, 1e-6);
    simtest_free(&t);
}

static void forked_tasks_start_when_forked(void **state)
{
    (void)state;
    struct simtest t = run(
        "tasks = ( { name = \"p\"; program = [ \"sleep 10 ms\", \"loop 3\", \"fork c\", \"end\" ]; }, "
        "{ name = \"c\"; count = 3; process = \"x\"; program = [ \"start born\", \"stop born\", \"run 1 ms\" ]; } );");
    near_to(total(&t, "born"), 3, 1e-6);
    assert_true(wb_sim_result(t.sim)->duration > 10 * WB_MS);
    simtest_free(&t);
}

static void instances_have_their_own_objects(void **state)
{
    (void)state;
    struct simtest t =
        run("instances = 4; channels = [ \"p\" ]; events = [ \"e 0\" ]; tasks = ( { name = \"w\"; program = [ \"write "
            "p 4 KiB\", \"wait e\" ]; }, "
            "{ name = \"r\"; program = [ \"readall p 4 KiB\", \"start got\", \"stop got\", \"wake e\" ]; } );");
    near_to(total(&t, "got"), 4, 1e-6);
    simtest_free(&t);
}

static void touch_pays_for_cold_caches(void **state)
{
    (void)state;
    struct simtest t = run("regions = [ \"buf 16 KiB\" ]; tasks = ( { name = \"a\"; program = [ \"start cold\", "
                           "\"touch buf\", \"stop cold\", \"start warm\", \"touch buf\", "
                           "\"stop warm\", \"start part\", \"touch buf 1 KiB read random\", \"stop part\" ]; } );");
    double cold = simtest_metric(&t, 0, "cold"), warm = simtest_metric(&t, 0, "warm"),
           part = simtest_metric(&t, 0, "part");
    assert_true(cold > 3 * warm && part < warm);
    simtest_free(&t);
}

/* ---- mistakes ---- */

static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    if (strcmp(path, "test.cfg")) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(ctx);
    *len = strlen(ctx);
    return *text ? 0 : -ENOMEM;
}
static bool exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "test.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

/* The rendered errors of a scenario that loads and does not build. */
static char *errors_of(const char *text)
{
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_reader reader = {.read = read_text, .exists = exists, .ctx = (void *)(uintptr_t)text};
    struct wb_scenario_options o = {.reader = &reader};
    struct wb_scenario *s = wb_scenario_load_with("test.cfg", keys, &o, d);
    if (s) assert_null(wb_sim_build(wb_scenario_config(s), cli_models(), 0, NULL, d));
    char *out = wb_diag_render(d, false);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
    return out;
}

struct mistake {
    const char *program; /* with declarations of p, l, e, 0 and buf; the bad word stands between < and > */
    const char *why;
};

static void mistakes_point_at_the_word(void **state)
{
    (void)state;
    static const struct mistake rows[] = {
        {"\"<rum> 5 us\"", "unknown word 'rum'"},
        {"\"run 5 <parsecs>\"", "not a unit of time"},
        {"\"run exp(<5 us>\"", "must end with ')'"},
        {"\"run <gauss>(1 us)\"", "not a distribution"},
        {"\"write <q> 4 KiB\", \"read p 1 B\"", "there is no channel 'q'"},
        {"\"write p 4<>\"", "a size needs a unit"},
        {"\"<write>\"", "the name of a channel is missing"},
        {"\"loop 2\", \"<unlock> l\", \"end\"", "is not held"},
        {"\"lock l\", \"<lock> l\", \"unlock l\"", "is held already"},
        {"\"loop 3\", \"lock l\", \"<end>\"", "still held when the loop begins again"},
        {"\"lock l\", \"loop 3\", \"unlock l\", \"<end>\"", "drops a lock that it does not take"},
        {"\"<end>\"", "no loop is open"},
        {"\"<loop> 3\", \"run 1 us\"", "this loop has no end"},
        {"\"loop <0>\", \"end\"", "above zero"},
        {"\"loop\", \"count n\", \"<end>\"", "nothing in this loop takes time: endless rounds"},
        {"\"loop\", \"loop 3\", \"run 0 s\", \"<end>\", \"end\"", "nothing in this loop takes time"},
        {"\"loop 20000000\", \"<end>\"", "nothing in this loop takes time: millions of rounds"},
        {"\"loop\", \"every 1 ms\", \"run 1 us\", \"end\", \"<end>\"",
         "nothing in this loop takes time: endless rounds"},
        {"\"every <often>\", \"end\"", "'often'"},
        {"\"every 1 ms\", \"lock l\", \"<end>\"", "still held"},
        {"\"yield <now>\"", "nothing may follow"},
        {"\"wake e <loud>\"", "says nothing about a wake"},
        {"\"touch buf <9 KiB>\"", "smaller than this"},
        {"\"touch buf <sideways>\"", "says nothing about a touch"},
        {"\"resume <nobody>\"", "there is no task 'nobody'"},
        {"\"stop <x>\"", "was not started"},
        {"\"count <7>\"", "not a name"},
        {"\"pin <7>\"", "'7'"},
        {"\"loop 2\", \"write p 1 KiB\", \"<close> p\", \"end\"", "close stands in a loop"},
        {"\"write p 1 KiB\", \"close p\", \"<write> p 1 KiB\"", "was closed above"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char clean[512], text[2048], wanted[64];
        size_t n = 0, at = 0;
        for (const char *c = rows[i].program; *c; c++) {
            if (*c == '<')
                at = n;
            else if (*c != '>')
                clean[n++] = *c;
        }
        clean[n] = 0;
        const char *line = "  program = [ ";
        snprintf(text, sizeof text,
                 "%sworkload = ( { kind = \"custom\"; channels = [ \"p\" ]; locks = [ \"l\" ]; events = [ \"e\" ]; "
                 "regions = [ \"buf 8 KiB\" ];\n"
                 "tasks = ( { name = \"z\"; program = [ \"write p 1 B\", \"read p 1 B\" ]; }, { name = \"a\";\n%s%s ]; "
                 "} ); } );\n",
                 head, line, clean);
        snprintf(wanted, sizeof wanted, "test.cfg:4:%zu: error:", strlen(line) + at + 1);
        char *got = errors_of(text);
        if (!strstr(got, wanted) || !strstr(got, rows[i].why))
            fail_msg("%s: want %s ... %s, got\n%s", rows[i].program, wanted, rows[i].why, got);
        free(got);
    }
}

static void mistakes_of_the_whole(void **state)
{
    (void)state;
    static const struct {
        const char *body, *why;
    } rows[] = {
        {"channels = [ \"p\" ]; tasks = ( { name = \"a\"; program = [ \"write p 1 B\" ]; } );",
         "channel 'p' is never read"},
        {"channels = [ \"p\", \"p\" ]; tasks = ( { name = \"a\"; program = [ \"write p 1 B\", \"read p 1 B\" ]; } );",
         "is there already"},
        {"channels = [ \"p socket\" ]; tasks = ( { name = \"a\"; program = [ \"run 1 us\" ]; } );",
         "'socket' is not a kind of channel"},
        {"locks = [ \"l rubber\" ]; tasks = ( { name = \"a\"; program = [ \"run 1 us\" ]; } );",
         "'rubber' is not a kind of lock"},
        {"events = [ \"e -1\" ]; tasks = ( { name = \"a\"; program = [ \"run 1 us\" ]; } );", "not a count"},
        {"regions = [ \"buf\" ]; tasks = ( { name = \"a\"; program = [ \"run 1 us\" ]; } );", "is missing"},
        {"tasks = ( { name = \"a\"; program = [ \"run 1 us\" ]; }, { name = \"a\"; program = [ \"run 1 us\" ]; } );",
         "is there already"},
        {"tasks = ( { name = \"a\"; pair = \"b\"; program = [ \"run 1 us\" ]; } );", "there is no other task 'b'"},
        {"tasks = ( { name = \"a\"; program = [ \"fork c\" ]; }, { name = \"c\"; count = 2; program = [ \"run 1 us\" "
         "]; } );",
         "only 1 are forked"},
        {"tasks = ( { name = \"a\"; program = [ \"loop\", \"run 1 us\", \"end\" ]; } );", "nothing ends the run"},
        {"tasks = ( { name = \"a\"; cpus = \"9\"; program = [ \"run 1 us\" ]; } );", "cpu 9 does not exist"},
        {"channels = [ \"p pipe 1 MiB\" ]; tasks = ( { name = \"a\"; program = [ \"write p 1 B\", \"read p 1 B\" ]; } "
         ");",
         "cannot have this size"},
        {"locks = [ \"l\" ]; tasks = ( { name = \"a\"; program = [ \"lock l\" ]; } );", "ends holding lock 'l'"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char *got = errors_of(scenario(rows[i].body));
        if (!strstr(got, rows[i].why) || !strstr(got, "test.cfg:"))
            fail_msg("%s: want %s, got\n%s", rows[i].body, rows[i].why, got);
        free(got);
    }
}

/* A mutex of user space excludes as the kernel's do; an AF_UNIX pair carries bytes as a pipe does. */
static void futexes_and_pairs(void **state)
{
    (void)state;
    struct simtest t =
        run("locks = [ \"m futex\" ]; tasks = ( { name = \"a\"; count = 3; program = [ \"loop "
            "50\", \"lock m\", \"start in\", \"sleep 10 us\", \"stop in\", \"unlock m\", \"count done\", "
            "\"end\" ]; } );");
    near_to(total(&t, "in"), 150, 0);
    assert_true((double)wb_sim_result(t.sim)->duration * 1e-12 >= 150 * 10e-6);
    simtest_free(&t);
    t = run("channels = [ \"c unix\" ]; tasks = ( { name = \"w\"; program = [ \"loop 20\", \"write c 1 KiB\", \"end\" "
            "]; }, { "
            "name = \"r\"; program = [ \"loop 20\", \"read c 1 KiB\", \"end\" ]; } );");
    near_to(simtest_metric(&t, UINT32_MAX, "unix.messages"), 20, 0);
    simtest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(futexes_and_pairs),
                                       cmocka_unit_test(loops_nest_and_count),
                                       cmocka_unit_test(every_so_often),
                                       cmocka_unit_test(run_takes_its_time),
                                       cmocka_unit_test(long_work_is_done_in_pieces),
                                       cmocka_unit_test(sleeps_and_timers),
                                       cmocka_unit_test(events_with_and_without_memory),
                                       cmocka_unit_test(wake_one_or_all),
                                       cmocka_unit_test(suspend_and_resume),
                                       cmocka_unit_test(locks_exclude),
                                       cmocka_unit_test(channels_carry_and_end),
                                       cmocka_unit_test(forked_tasks_start_when_forked),
                                       cmocka_unit_test(instances_have_their_own_objects),
                                       cmocka_unit_test(touch_pays_for_cold_caches),
                                       cmocka_unit_test(mistakes_point_at_the_word),
                                       cmocka_unit_test(mistakes_of_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
