/* wb-link: wb_validate wb_measure wb_core */
#include "wbtest.h"

#include "real.h"

static struct wb_diag *d;

static int setup(void **state)
{
    (void)state;
    d = wb_diag_new();
    return d ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    wb_diag_free(d);
    return 0;
}

static void set(struct real_spec *s, const char *key, const char *value)
{
    if (real_spec_set(s, key, value, d) < 0) {
        char *text = wb_diag_render(d, false);
        fail_msg("%s = %s: %s", key, value, text);
    }
}

static bool said(const char *what)
{
    char *text = wb_diag_render(d, false);
    bool found = strstr(text, what) != NULL;
    if (!found) printf("not said: %s\nbut: %s", what, text);
    free(text);
    return found;
}

/* Every row of the table can be set for every kind it names, and for no other. */
static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *arg, *value;
    } sample[] = {{"SIZE", "64 KiB"}, {"N", "3"}, {"TIME", "20 ms"}, {"BOOL", "true"}, {"CPUS", "0"}, {"LOAD", "hog"}};
    size_t n;
    const struct real_key *k = real_key_table(&n);
    assert_true(n > 40 && n <= 64);
    for (size_t i = 0; i < n; i++)
        for (unsigned kind = 0; kind < REAL_KINDS; kind++) {
            struct real_spec s;
            const char *value = NULL;
            for (size_t a = 0; a < WB_ARRAY_SIZE(sample); a++)
                if (!strcmp(k[i].arg, sample[a].arg)) value = sample[a].value;
            if (!value) continue; /* words: below */
            real_spec_init(&s, (enum real_kind)kind);
            struct wb_diag *mine = wb_diag_new();
            int rc = real_spec_set(&s, k[i].name, value, mine);
            bool has = false; /* a name may stand in several rows */
            for (size_t j = 0; j < n; j++) has |= !strcmp(k[j].name, k[i].name) && (k[j].kinds & 1u << kind);
            if ((rc == 0) != has) fail_msg("%s of %s: %d", k[i].name, real_kind_name((enum real_kind)kind), rc);
            wb_diag_free(mine);
        }
}

static void test_values(void **state)
{
    (void)state;
    struct real_spec s;
    real_spec_init(&s, REAL_PIPE_LATENCY);
    assert_int_equal(s.message, 1);
    assert_int_equal(s.duration_ns, 2000000000);
    set(&s, "message", "4 KiB");
    set(&s, "think", "exp(20 us)");
    set(&s, "parent-cpus", "0,2-3"); /* '-' counts as '_' */
    set(&s, "sched", "batch");
    set(&s, "nice", "-5");
    assert_int_equal(s.message, 4096);
    assert_int_equal(s.think.kind, WB_DIST_EXP);
    assert_int_equal(s.think.a, 20 * WB_US);
    assert_int_equal(s.end_cpus[0].w[0], 0xd);
    assert_int_equal(s.sched, REAL_SCHED_BATCH);
    assert_int_equal(s.nice, -5);
    set(&s, "parent_cpus", "free");
    assert_int_equal(s.end_cpus[0].w[0], 0);
    set(&s, "think", "uniform(1 us, 3 us)");
    assert_int_equal(s.think.b, 3 * WB_US);
    set(&s, "think", "normal(10 us, 10 %)");
    assert_int_equal(s.think.b, 100000);
    real_spec_init(&s, REAL_SYSCALL);
    set(&s, "call", "gettimeofday");
    assert_string_equal(real_call_name(s.call), "gettimeofday");
    real_spec_init(&s, REAL_HACKBENCH);
    assert_int_equal(s.duration_ns, 0);
    set(&s, "mode", "thread");
    set(&s, "transport", "pipe");
    assert_true(s.threads && s.pipe);
}

/* Fixed work replaces the duration, in either order with an explicit one. */
static void test_work_or_time(void **state)
{
    (void)state;
    struct real_spec s;
    real_spec_init(&s, REAL_PIPE_BW);
    set(&s, "total", "1 GiB");
    assert_int_equal(s.duration_ns, 0);
    set(&s, "duration", "1 s");
    assert_int_equal(s.duration_ns, 1000000000);
    real_spec_init(&s, REAL_PIPE_BW);
    set(&s, "duration", "1 s");
    set(&s, "total", "1 GiB");
    assert_int_equal(s.duration_ns, 1000000000);
}

static void test_background(void **state)
{
    (void)state;
    struct real_spec s;
    real_spec_init(&s, REAL_PIPE_LATENCY);
    set(&s, "background", "hog,count=2,nice=10,cpus=0+1,sched=idle");
    set(&s, "background", "periodic,run=1ms,period=4ms");
    assert_int_equal(s.background_n, 2);
    assert_int_equal(s.background[0].count, 2);
    assert_int_equal(s.background[0].nice, 10);
    assert_int_equal(s.background[0].cpus.w[0], 3);
    assert_int_equal(s.background[0].sched, REAL_SCHED_IDLE);
    assert_int_equal(s.background[1].kind, REAL_PERIODIC);
    assert_int_equal(s.background[1].period_ns, 4000000);
    assert_int_equal(real_spec_set(&s, "background", "hackbench", d), -1);
    assert_int_equal(real_spec_set(&s, "background", "hog,duration=1s", d), -1);
    assert_int_equal(real_spec_set(&s, "background", "hog,nice", d), -1);
    assert_int_equal(s.background_n, 2);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *says;
    } row[] = {
        {"mesage", "1 B", "did you mean 'message'?"},
        {"message", "0 B", "from 1 B to 64 MiB"},
        {"message", "64", "message"},
        {"copies", "0", "out of range"},
        {"nice", "20", "from -20 to 19"},
        {"nice", "x", "no nice value"},
        {"sched", "fifo", "one of other batch idle"},
        {"cpus", "0x3", "CPU list"},
        {"think", "gauss(1 us)", "exp(20 us)"},
        {"think", "exp(20 us", "exp(20 us)"},
        {"threads", "maybe", "neither true nor false"},
        {"duration", "2 h", "out of range"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        struct real_spec s, before;
        real_spec_init(&s, REAL_PIPE_LATENCY);
        before = s;
        wb_diag_free(d);
        d = wb_diag_new();
        assert_int_equal(real_spec_set(&s, row[i].key, row[i].value, d), -1);
        assert_int_equal(wb_diag_count(d, WB_ERROR), 1);
        if (i != 7) assert_true(said(row[i].says)); /* 7: the text is that of the list parser */
        assert_memory_equal(&s, &before, sizeof s);
    }
}

static void test_check(void **state)
{
    (void)state;
    struct real_spec s;
    char text[640];
    real_spec_init(&s, REAL_UDP_RR);
    assert_int_equal(real_spec_check(&s, d), 0);
    s.request = 65508;
    assert_int_equal(real_spec_check(&s, d), -1);
    assert_true(said("datagram"));
    real_spec_init(&s, REAL_PIPE_BW);
    set(&s, "cpus", "0,16000");
    assert_int_equal(real_spec_check(&s, d), -1);
    assert_true(said("16000"));
    real_spec_init(&s, REAL_HACKBENCH);
    s.groups = 1000;
    s.fds = 100;
    assert_int_equal(real_spec_check(&s, d), -1);
    real_spec_init(&s, REAL_PIPE_BW);
    set(&s, "writer_cpus", "0");
    set(&s, "background", "hog,nice=10");
    real_spec_describe(&s, text, sizeof text);
    assert_string_equal(text,
                        "1 pair, 64 KiB, ends on CPU 0 and free; beside 1 hog on free, nice 10; 2 s after 200 ms");
    assert_true(strlen(real_spec_describe(&s, text, 20)) < 20); /* cut, never past the end */
}

static struct real_spec command(const char *text)
{
    struct real_spec s;
    if (real_spec_from_cmd(&s, text, d) < 0) {
        char *why = wb_diag_render(d, false);
        fail_msg("%s: %s", text, why);
    }
    return s;
}

static void test_commands(void **state)
{
    (void)state;
    struct real_spec s = command("hackbench -g 4 -l 1000 -s 512 -f 10 -T --pipe");
    assert_int_equal(s.kind, REAL_HACKBENCH);
    assert_int_equal(s.groups, 4);
    assert_int_equal(s.loops, 1000);
    assert_int_equal(s.message, 512);
    assert_int_equal(s.fds, 10);
    assert_true(s.threads && s.pipe);
    s = command("hackbench 15 thread 200");
    assert_int_equal(s.groups, 15);
    assert_true(s.threads && !s.pipe);
    assert_int_equal(s.loops, 200);
    s = command("/usr/bin/hackbench -pipe 8 process");
    assert_true(s.pipe && !s.threads);
    assert_int_equal(s.groups, 8);
    s = command("hackbench");
    assert_int_equal(s.groups, 10);
    assert_int_equal(s.fds, 20);
    assert_int_equal(s.loops, 100);
    s = command("perf bench sched messaging -g 2 -l 50 -t -p");
    assert_true(s.kind == REAL_HACKBENCH && s.threads && s.pipe && s.groups == 2 && s.loops == 50);
    s = command("perf bench sched pipe -l 5000 -T");
    assert_true(s.kind == REAL_PIPE_LATENCY && s.message == 4 && s.count_each == 5000 && s.threads && !s.duration_ns);
    s = command("taskset -c 0-1 nice -n 5 bw_pipe -m 64k -M50m -P 2 -W 3 -N 4");
    assert_true(s.kind == REAL_PIPE_BW && s.message == 65536 && s.total == 50 << 20 && s.copies == 2);
    assert_true(s.allowed.w[0] == 3 && s.nice == 5);
    s = command("netperf -t UDP_RR -H 127.0.0.1 -l 2 -T 0,1 -- -r 100,1k");
    assert_true(s.kind == REAL_UDP_RR && s.request == 100 && s.response == 1000 && s.end_cpus[0].w[0] == 1 &&
                s.end_cpus[1].w[0] == 2);
    assert_int_equal(s.duration_ns, 2000000000);
    s = command("netperf -t TCP_RR -T 1 -- -r 8 -D");
    assert_true(s.request == 8 && s.response == 8 && s.nodelay && s.end_cpus[0].w[0] == 2 && s.end_cpus[1].w[0] == 2);
    s = command("lat_unix -m 1k -P 3");
    assert_true(s.kind == REAL_UNIX_RR && s.request == 1024 && s.response == 1024 && s.copies == 3);
    s = command("chrt -i 0 perf bench syscall basic -l 10");
    assert_true(s.kind == REAL_SYSCALL && !strcmp(real_call_name(s.call), "getppid") && s.sched == REAL_SCHED_IDLE);
}

static void test_bad_commands(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "rm -rf x",
                                      "hackbench -q",
                                      "hackbench -g",
                                      "hackbench -g x",
                                      "hackbench 4 process 10 more",
                                      "netperf -t TCP_STREAM",
                                      "netperf -t TCP_RR -H example.org",
                                      "bw_pipe -m 0",
                                      "perf bench mem memcpy",
                                      "taskset -c 0"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(bad); i++) {
        struct real_spec s;
        struct wb_diag *mine = wb_diag_new();
        if (real_spec_from_cmd(&s, bad[i], mine) != -1) fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(wb_diag_count(mine, WB_ERROR), 1);
        wb_diag_free(mine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_work_or_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_background, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mistakes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_check, setup, teardown),
        cmocka_unit_test_setup_teardown(test_commands, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_commands, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
