/* wb-link: wb_workload wb_ipc wb_kernel wb_machine wb_scenario wb_trace wb_measure wb_core */
#include "workload_cmd.h"
#include "wbtest.h"

struct expected {
    const char *cmd, *kind, *settings; /* "key=value key=value", in order */
};

static void real_commands(void **state)
{
    (void)state;
    static const struct expected rows[] = {
        {"bw_pipe", "pipe_bw", ""},
        {"bw_pipe -m 65536 -M 50m -P 1", "pipe_bw", "message=64 KiB total=50 MiB copies=1"},
        {"./bin/x86_64-linux-gnu/bw_pipe -m64k -P4 -W 1000 -N 11", "pipe_bw", "message=64 KiB copies=4"},
        {"bw_pipe -M 1000 -m 3", "pipe_bw", "total=1 kB message=3 B"},
        {"lat_pipe", "pipe_latency", "message=1 B"},
        {"lat_pipe -P 2 -N 5", "pipe_latency", "message=1 B copies=2"},
        {"perf bench sched pipe", "pipe_latency", "message=4 B"},
        {"perf bench sched pipe -l 1000 -T", "pipe_latency", "message=4 B trips=1000 threads=true"},
        {"/usr/bin/perf bench sched pipe --loop=77 --threaded", "pipe_latency", "message=4 B trips=77 threads=true"},
        {"taskset -c 0,2-3 bw_pipe", "pipe_bw", "cpus=0,2-3"},
        {"nice -n -5 taskset --cpu-list 1 lat_pipe", "pipe_latency", "nice=-5 cpus=1 message=1 B"},
        {"nice -19 bw_pipe", "pipe_bw", "nice=19"},
        {"perf bench syscall basic -l 5000", "syscall", "calls=5000"},
        {"lat_syscall null -P 3 -N 11", "syscall", "copies=3"},
        {"netperf -t TCP_RR", "tcp_rr", ""},
        {"netperf -t TCP_RR -l 60 -H 127.0.0.1 -i 50,3 -I 99,5 -- -r 1,1", "tcp_rr", "request=1 B response=1 B"},
        {"netperf -tUDP_RR -T 0,7 -P 0 -- -r1,1k", "udp_rr", "client_cpus=0 server_cpus=7 request=1 B response=1 KiB"},
        {"netperf -T 3 -t TCP_RR -- -r 128 -D", "tcp_rr",
         "client_cpus=3 server_cpus=3 request=128 B response=128 B nodelay=true"},
        {"netperf -T ,5 -t TCP_RR", "tcp_rr", "server_cpus=5"},
        {"taskset -c 0 ./netperf -t TCP_RR", "tcp_rr", "client_cpus=0"},
        {"  bw_pipe\t-m  1M ", "pipe_bw", "message=1 MiB"},
        {"bw_pipe -m 1 -m 2", "pipe_bw", "message=2 B"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct workload_cmd c;
        const char *why = NULL;
        size_t at, len;
        char got[512] = "";
        if (wb_workload_from_cmd(rows[i].cmd, &c, &why, &at, &len)) fail_msg("%s: %s", rows[i].cmd, why);
        assert_string_equal(c.kind, rows[i].kind);
        for (size_t k = 0; k < c.n; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s=%s", k ? " " : "", c.set[k].key,
                     c.set[k].value);
        assert_string_equal(got, rows[i].settings);
    }
}

/* The classic words, options and their mixture; what comes last counts. */
static void hackbench_forms(void **state)
{
    (void)state;
    static const struct {
        const char *cmd, *mode, *transport;
        int64_t groups, loops, fds, message;
    } rows[] = {
        {"hackbench 100 process 2000", "process", NULL, 100, 2000, 0, 0},
        {"hackbench 100 thread 2000", "thread", NULL, 100, 2000, 0, 0},
        {"hackbench -pipe 20 thread", "thread", "pipe", 20, 0, 0, 0},
        {"hackbench -g 4 -f 10 -l 1000 -s 64 -p -T", "thread", "pipe", 4, 1000, 10, 64},
        {"hackbench --groups=4 --pipe --process", "process", "pipe", 4, 0, 0, 0},
        {"hackbench -T -P", "process", NULL, 0, 0, 0, 0},
        {"perf bench sched messaging -g 20 -t -l 5000", "thread", NULL, 20, 5000, 0, 0},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct workload_cmd c;
        const char *why;
        size_t at, len;
        assert_int_equal(wb_workload_from_cmd(rows[i].cmd, &c, &why, &at, &len), 0);
        assert_string_equal(c.kind, "hackbench");
        const struct workload_setting *mode = workload_cmd_find(&c, "mode"), *by = workload_cmd_find(&c, "transport");
        assert_string_equal(mode ? mode->value : "", rows[i].mode);
        assert_string_equal(by ? by->value : "", rows[i].transport ? rows[i].transport : "");
        const struct {
            const char *key;
            int64_t want;
        } n[] = {
            {"groups", rows[i].groups}, {"loops", rows[i].loops}, {"fds", rows[i].fds}, {"message", rows[i].message}};
        for (size_t k = 0; k < WB_ARRAY_SIZE(n); k++) {
            const struct workload_setting *set = workload_cmd_find(&c, n[k].key);
            assert_int_equal(set ? set->number : 0, n[k].want);
        }
    }
}

static void mistakes_point_at_the_word(void **state)
{
    (void)state;
    static const struct {
        const char *cmd;
        size_t at, len;
        const char *why;
    } rows[] = {
        {"", 0, 0, "empty"},
        {"bw_pip -m 1", 0, 6, "only bw_pipe"},
        {"bw_pipe -x 1", 8, 2, "not understood"},
        {"bw_pipe -m", 8, 2, "number"},
        {"bw_pipe -m 64q", 11, 3, "number"},
        {"bw_pipe -P 0", 11, 1, "at least 1"},
        {"bw_pipe -m 99999999999999", 11, 14, "number"},
        {"bw_pipe 65536", 8, 5, "not understood"},
        {"perf bench sched futex", 0, 4, "only bw_pipe"},
        {"hackbench 10 fork", 13, 4, "process or thread"},
        {"hackbench 10 process x", 21, 1, "number"},
        {"hackbench 10 process 5 6", 23, 1, "not understood"},
        {"hackbench -q", 10, 2, "not understood"},
        {"netperf", 0, 7, "name the test"},
        {"netperf -t TCP_STREAM", 11, 10, "only TCP_RR"},
        {"netperf -t TCP_RR -T a", 21, 1, "CPU numbers"},
        {"netperf -t TCP_RR -- -r 1,", 24, 2, "two sizes"},
        {"netperf -t TCP_RR -- -r 0", 24, 1, "two sizes"},
        {"netperf -t TCP_RR -Z 1", 18, 2, "not understood"},
        {"netperf -t TCP_RR -- -M 1", 21, 2, "not understood"},
        {"netperf -t TCP_RR -l", 18, 2, "a value"},
        {"taskset 1 bw_pipe", 0, 7, "taskset -c"},
        {"nice bw_pipe", 0, 4, "nice -n"},
        {"taskset -c 0", 11, 1, "only bw_pipe"},
        {"taskset -c", 0, 7, "taskset -c"},
        {"perf bench sched pipe -T1", 22, 3, "not understood"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct workload_cmd c;
        const char *why = "";
        size_t at = 99, len = 99;
        if (wb_workload_from_cmd(rows[i].cmd, &c, &why, &at, &len) != -1) fail_msg("'%s' was understood", rows[i].cmd);
        if (at != rows[i].at || len != rows[i].len || !strstr(why, rows[i].why))
            fail_msg("'%s': at %zu, %zu long: %s", rows[i].cmd, at, len, why);
    }
}

/* Each setting knows the words that made it. */
static void settings_know_their_words(void **state)
{
    (void)state;
    static const struct {
        const char *cmd, *key, *words;
    } rows[] = {
        {"taskset -c 2 bw_pipe -m 4k -P 2", "cpus", "taskset -c 2"},
        {"taskset -c 2 bw_pipe -m 4k -P 2", "message", "-m 4k"},
        {"taskset -c 2 bw_pipe  -m4k -P 2", "message", "-m4k"},
        {"nice -n 5 bw_pipe -P 2", "nice", "nice -n 5"},
        {"perf bench sched pipe -l 9 -T", "trips", "-l 9"},
        {"perf bench sched pipe -l 9 -T", "threads", "-T"},
        {"perf bench sched pipe -l 9 -T", "message", "perf bench sched pipe"},
        {"hackbench 3 thread 7", "mode", "thread"},
        {"hackbench 3 thread 7", "loops", "7"},
        {"hackbench --groups=3", "groups", "--groups=3"},
        {"netperf -t TCP_RR -T 0,7 -- -r 1,2", "server_cpus", "-T 0,7"},
        {"netperf -t TCP_RR -T 0,7 -- -r 1,2 -D", "request", "-r 1,2"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct workload_cmd c;
        const char *why;
        size_t at, len;
        assert_int_equal(wb_workload_from_cmd(rows[i].cmd, &c, &why, &at, &len), 0);
        const struct workload_setting *s = workload_cmd_find(&c, rows[i].key);
        assert_non_null(s);
        if (s->len != strlen(rows[i].words) || strncmp(rows[i].cmd + s->at, rows[i].words, s->len) != 0)
            fail_msg("%s of '%s': '%.*s'", rows[i].key, rows[i].cmd, (int)s->len, rows[i].cmd + s->at);
    }
}

/* Nothing that is pasted can run over its buffers. */
static void long_and_strange_text(void **state)
{
    (void)state;
    char text[2000];
    struct workload_cmd c;
    const char *why;
    size_t at, len;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_int_equal(wb_workload_from_cmd(text, &c, &why, &at, &len), -1);
    for (size_t i = 0; i < 400; i++) text[i] = i & 1 ? ' ' : 'x';
    text[400] = 0;
    assert_int_equal(wb_workload_from_cmd(text, &c, &why, &at, &len), -1);
    memset(text, 0, sizeof text);
    strcpy(text, "taskset -c ");
    memset(text + 11, '1', 100);
    strcpy(text + 111, " bw_pipe");
    assert_int_equal(wb_workload_from_cmd(text, &c, &why, &at, &len), -1);
    assert_int_equal(wb_workload_from_cmd("\xff\xfe$(reboot)", &c, &why, &at, &len), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_commands), cmocka_unit_test(hackbench_forms), cmocka_unit_test(settings_know_their_words),
        cmocka_unit_test(mistakes_point_at_the_word), cmocka_unit_test(long_and_strange_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
