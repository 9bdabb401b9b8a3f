/* ftrace text: golden bytes, a strict parser of our own, and the line pattern of the importer of Perfetto. */
#include "wbtest.h"

#include <errno.h>
#include <regex.h>
#include <time.h>

#include "trace_fixture.h"

static char *text_of(const struct wb_trace *t, const struct wb_ftrace_options *o)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    assert_int_equal(wb_trace_write_ftrace(f, t, &fix_names, o), 0);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void test_golden(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    char *got = text_of(&t, &(struct wb_ftrace_options){.machine = "nehalem 2s",
                                                        .kernel = "linux-6.12\n[007]",
                                                        .policy = "eevdf",
                                                        .version = "1.2",
                                                        .run = "5f0c9a1e",
                                                        .seed = 20240601,
                                                        .replication = 3});
    assert_string_equal(
        got,
        "# tracer: nop\n"
        "#\n"
        "# wakebal: simulated; version=1.2 run=5f0c9a1e seed=20240601 replication=3\n"
        "# wakebal: machine=nehalem_2s kernel=linux-6.12_[007] scheduler=eevdf\n"
        "#\n"
        "#           TASK-PID    (  TGID) CPU#  IRQFL   TIMESTAMP  FUNCTION\n"
        "          <idle>-0     (-----) [000] d..2.     0.000000000: sched_switch: prev_comm=swapper/0 prev_pid=0 "
        "prev_prio=120 "
        "prev_state=R ==> next_comm=bw_pipe-wr next_pid=102 next_prio=120\n"
        "      bw_pipe-wr-102   (  101) [000] d..3.     0.000004000: sched_waking: comm=bw_pipe-rd pid=103 prio=120 "
        "target_cpu=000\n"
        "      bw_pipe-wr-102   (  101) [000] d..3.     0.000004000: sched_wakeup: comm=bw_pipe-rd pid=103 prio=120 "
        "target_cpu=000\n"
        "      bw_pipe-wr-102   (  101) [000] d..2.     0.000008000: sched_switch: prev_comm=bw_pipe-wr prev_pid=102 "
        "prev_prio=120 prev_state=S ==> next_comm=bw_pipe-rd next_pid=103 next_prio=120\n"
        "      bw_pipe-rd-103   (  101) [000] d..3.     0.000014000: sched_waking: comm=bw_pipe-wr pid=102 prio=120 "
        "target_cpu=000\n"
        "      bw_pipe-rd-103   (  101) [000] d..3.     0.000014000: sched_wakeup: comm=bw_pipe-wr pid=102 prio=120 "
        "target_cpu=000\n"
        "      bw_pipe-rd-103   (  101) [000] d..2.     0.000020000: sched_switch: prev_comm=bw_pipe-rd prev_pid=103 "
        "prev_prio=120 prev_state=R+ ==> next_comm=bw_pipe-wr next_pid=102 next_prio=120\n"
        "          <idle>-0     (-----) [001] d..2.     0.000030000: sched_migrate_task: comm=bw_pipe-rd pid=103 "
        "prio=120 "
        "orig_cpu=0 dest_cpu=1\n"
        "          <idle>-0     (-----) [001] d..2.     0.000030250: sched_switch: prev_comm=swapper/1 prev_pid=0 "
        "prev_prio=120 "
        "prev_state=R ==> next_comm=bw_pipe-rd next_pid=103 next_prio=120\n"
        "      bw_pipe-wr-102   (  101) [000] .....     0.000040000: sched_process_exit: comm=bw_pipe-wr pid=102 "
        "prio=120\n"
        "      bw_pipe-wr-102   (  101) [000] d..2.     0.000040000: sched_switch: prev_comm=bw_pipe-wr prev_pid=102 "
        "prev_prio=120 prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120\n");
    free(got);
    arena_free(&a);
}

/* One record of every type, odd names and large numbers among them. */
static void every_type(struct wb_trace *t)
{
    fix_story(t);
    sim_time at = 123456 * WB_S + 789;
    for (uint16_t type = 0; type < WB_TR_N; type++)
        trace_emit(t,
                   (struct wb_trace_record){
                       .when = at, .type = type, .cpu = 2, .task = FIX_ODD, .a = 4, .b = 5, .c = FIX_PRIO, .rule = 1});
    trace_emit(t, (struct wb_trace_record){.when = at, .type = WB_TR_BALANCE, .a = 2, .b = WB_NO_CPU, .c = 1 << 16});
}

static void test_marks(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    every_type(&t);
    char *got = text_of(&t, &(struct wb_ftrace_options){.marks = true});
    assert_non_null(strstr(got, "# wakebal: simulated; version=- run=- seed=0 replication=0\n"
                                "# wakebal: machine=- kernel=- scheduler=-\n"));
    assert_non_null(
        strstr(got, "0.000030000: tracing_mark_write: I|101|migrate bw_pipe-rd cpu0->cpu1 (idle sibling)\n"));
    assert_non_null(strstr(got, "sched_stat_runtime: comm=a_b_c_d_e_01234 pid=104 runtime=21474836484 [ns]\n"));
    assert_non_null(strstr(got, "tracing_mark_write: I|0|phase 4 5 7864440\n"));
    assert_non_null(
        strstr(got, "tracing_mark_write: I|0|balance active domain 120 from cpu5 moved 120 (idle sibling)\n"));
    assert_non_null(strstr(got, "tracing_mark_write: I|0|balance newidle domain 1 found nothing\n"));
    assert_non_null(strstr(got, "123456.000000000: cpu_idle: state=1 cpu_id=2\n"));
    free(got);
    got = text_of(&t, &(struct wb_ftrace_options){.schedule_only = true});
    assert_null(strstr(got, "cpu_idle"));
    assert_null(strstr(got, "tracing_mark"));
    free(got);
    arena_free(&a);
}

/* The importer's line pattern, as its tokenizer documents it: pid, tgid, cpu, at most five flag characters, time,
 * event. */
static void test_perfetto_line_pattern(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    regex_t re;
    every_type(&t);
    assert_int_equal(
        regcomp(
            &re,
            "-[0-9]+ +(\\( *([0-9]+|-+)\\) +)?\\[[0-9]+\\] +([a-zA-Z.]{3}[0-9a-f.]{1,2})? +[0-9]+\\.[0-9]+: +[^ ]+:",
            REG_EXTENDED | REG_NOSUB),
        0);
    char *got = text_of(&t, &(struct wb_ftrace_options){.marks = true}), *save = NULL;
    size_t n = 0;
    assert_memory_equal(got, "# tracer: nop\n", 14);
    for (char *line = strtok_r(got, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#') continue;
        if (regexec(&re, line, 0, NULL, 0)) fail_msg("not matched: %s", line);
        n++;
    }
    assert_true(n > 20);
    regfree(&re);
    free(got);
    arena_free(&a);
}

/* ---- reading back: every sched_switch line must give the record that was written ---- */
struct parsed {
    char comm[32], prev[32], next[32], state[8];
    unsigned pid, cpu, prev_pid, next_pid, prev_prio, next_prio;
    unsigned long long s, ns;
};

static bool parse_switch(const char *line, struct parsed *p)
{
    int end = 0;
    int n = sscanf(
        line,
        " %31[^ ] (%*[^)]) [%u] %*5[a-z0-9.] %llu.%9llu: sched_switch: prev_comm=%31[^ ] prev_pid=%u prev_prio=%u "
        "prev_state=%7[A-Z+] ==> next_comm=%31[^ ] next_pid=%u next_prio=%u%n",
        p->comm, &p->cpu, &p->s, &p->ns, p->prev, &p->prev_pid, &p->prev_prio, p->state, p->next, &p->next_pid,
        &p->next_prio, &end);
    if (n != 11 || line[end]) return false;
    char *dash = strrchr(p->comm, '-');
    if (!dash || sscanf(dash, "-%u", &p->pid) != 1) return false;
    return true;
}

static void test_switches_read_back(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 4096);
    uint64_t seed = 1;
    task_id current[FIX_CPUS] = {0, 1, 2};
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint16_t cpu = (uint16_t)((seed >> 33) % FIX_CPUS);
        task_id next = (task_id)((seed >> 40) % FIX_TASKS);
        if (next < FIX_CPUS) next = cpu;
        trace_emit(&t, (struct wb_trace_record){.when = i * (seed >> 50) + i * WB_MS,
                                                .type = WB_TR_SWITCH,
                                                .cpu = cpu,
                                                .task = current[cpu],
                                                .a = next,
                                                .b = (uint32_t)(seed >> 60) & 3,
                                                .c = 100u << 16 | 139u});
        current[cpu] = next;
    }
    char *got = text_of(&t, NULL), *save = NULL;
    uint64_t i = 0;
    for (char *line = strtok_r(got, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#') continue;
        struct parsed p;
        const struct wb_trace_record *r = trace_at(&t, i++);
        if (!parse_switch(line, &p)) fail_msg("cannot read: %s", line);
        assert_int_equal(p.cpu, r->cpu);
        assert_int_equal(p.s * 1000000000 + p.ns, r->when / 1000);
        assert_int_equal(p.prev_pid, r->task < FIX_CPUS ? 0 : 99 + r->task);
        assert_int_equal(p.next_pid, r->a < FIX_CPUS ? 0 : 99 + r->a);
        assert_int_equal(p.pid, p.prev_pid);
        assert_int_equal(p.prev_prio, 100);
        assert_int_equal(p.next_prio, 139);
        assert_int_equal(p.state[0], "RSDX"[r->b]);
    }
    assert_int_equal(i, 3000);
    free(got);
    arena_free(&a);
}

static void test_lost_events_are_announced(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 8);
    fix_story(&t);
    char *got = text_of(&t, NULL);
    assert_non_null(strstr(got, "# 3 older events were overwritten; the ring holds 8\n"));
    free(got);
    arena_free(&a);
}

static void test_names(void **state)
{
    (void)state;
    char comm[WB_COMM_MAX];
    static const struct {
        const char *name, *want;
    } row[] = {{"hackbench", "hackbench"},
               {"exactly15bytes!", "exactly15bytes!"},
               {"sixteen bytes !!", "sixteen_bytes_!"},
               {"a|b\x1b[31m", "a_b_[31m"},
               {"12345678901234\xc3\xa9x", "12345678901234"},
               {"", "_"},
               {NULL, "<...>"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        wb_trace_comm(comm, &(struct wb_trace_task){.name = row[i].name});
        assert_string_equal(comm, row[i].want);
    }
    wb_trace_comm(comm, &(struct wb_trace_task){.idle = true, .cpu = 4095});
    assert_string_equal(comm, "swapper/4095");
}

static void test_a_full_disk_is_reported(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 65536);
    for (unsigned i = 0; i < 5000; i++) fix_story(&t);
    FILE *f = fopen("/dev/full", "w");
    if (!f) skip();
    assert_int_equal(wb_trace_write_ftrace(f, &t, &fix_names, NULL), -ENOSPC);
    fclose(f);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_perfetto_line_pattern),
        cmocka_unit_test(test_switches_read_back),
        cmocka_unit_test(test_lost_events_are_announced),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
