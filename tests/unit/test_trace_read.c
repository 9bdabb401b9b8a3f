/* Lines of every shape, damaged ones, notes; missing switches put in; the health table. wb-link: all */
#include <unistd.h>

#include "wbtest.h"

#include "trace_health.h"

#define SWITCH(pc, pp, st, nc, np) \
    "sched_switch: prev_comm=" pc " prev_pid=" pp " prev_prio=120 prev_state=" st " ==> next_comm=" nc " next_pid=" np \
    " next_prio=120\n"

static struct trace *read_text(const char *text)
{
    struct wb_diag *d = wb_diag_new();
    struct trace *t = trace_read_text("text", text, strlen(text), d);
    wb_diag_free(d);
    return t;
}

static const struct trace_event *only(const struct trace *t)
{
    assert_non_null(t);
    assert_int_equal(t->nevents, 1);
    return &t->event[0];
}

/* ---- shapes ---- */

struct shape {
    const char *line;
    int32_t by, pid, next; /* next -1: no switch */
    uint16_t cpu, from, to;
    uint64_t ns;
    char state;
    uint8_t kind, context;
};
#define NO TRACE_NO_CPU

static const struct shape shapes[] = {
    {"          <idle>-0     (-----) [000] d..2.     0.000000123: " SWITCH("swapper/0", "0", "R", "wr", "102"), 0, 0,
     102, 0, NO, NO, 123, 'R', TRACE_SWITCH, TRACE_CTX_TASK},
    {"  my task-with-dash-102   (  101) [011] d.s3.  12.000004: sched_waking: comm=a b c pid=103 prio=98 "
     "target_cpu=004\n",
     102, 103, -1, 11, 4, NO, 12000004000, '?', TRACE_WAKING, TRACE_CTX_SOFTIRQ},
    {"          <idle>-0       [000]     1.000000: sched_switch:         swapper/0:0 [120] R ==> x:y:101 [120]\n", 0, 0,
     101, 0, NO, NO, 1000000000, 'R', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {"          <idle>-0     [001]     1.000006: sched_wakeup:         rd:101 [120] CPU:003\n", 0, 101, -1, 1, NO, 3,
     1000006000, '?', TRACE_WAKEUP, TRACE_CTX_UNKNOWN},
    {"      rd-101   [000]     1.000005000: sched_switch:          prev_comm=rd prev_pid=101 prev_prio=120 "
     "prev_state=1 "
     "next_comm=swapper/0 next_pid=0 next_prio=120\n",
     101, 101, 0, 0, NO, NO, 1000005000, 'S', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {"      rd-101   [000]     1.000005: sched_switch: prev_comm=rd prev_pid=101 prev_prio=120 prev_state=0x100 "
     "next_comm=swapper/0 next_pid=0 next_prio=120\n",
     101, 101, 0, 0, NO, NO, 1000005000, 'R', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {"          <idle>-0       3dNh2.     1.000000: sched_wakeup: comm=x pid=7 prio=120 target_cpu=003\n", 0, 7, -1, 3,
     NO, 3, 1000000000, '?', TRACE_WAKEUP, TRACE_CTX_HARDIRQ},
    {" kworker/1:2-vir   102 [001]     0.000004:       sched:sched_waking: comm=kworker/1:2 pid=103 prio=120 "
     "target_cpu=000\n",
     102, 103, -1, 1, 0, NO, 4000, '?', TRACE_WAKING, TRACE_CTX_UNKNOWN},
    {"  102 [001]     0.000004:       sched:sched_waking: comm=kworker/1:2 pid=103 prio=120 target_cpu=000\n", 102, 103,
     -1, 1, 0, NO, 4000, '?', TRACE_WAKING, TRACE_CTX_UNKNOWN},
    {"  a 100/102 [001]     0.000004:        1 sched:sched_waking: comm=b pid=103 prio=120 target_cpu=000\n", 102, 103,
     -1, 1, 0, NO, 4000, '?', TRACE_WAKING, TRACE_CTX_UNKNOWN},
    {"  a-102 [001] 18446744072.000000001: sched_waking: comm=b pid=103 prio=120 target_cpu=000\n", 102, 103, -1, 1, 0,
     NO, 18446744072000000001ull, '?', TRACE_WAKING, TRACE_CTX_UNKNOWN},
    {"  a-102 [001] 1.000006: sched_wakeup: comm=foo:7 [120] CPU:002\n", 102, 7, -1, 1, NO, 2, 1000006000, '?',
     TRACE_WAKEUP, TRACE_CTX_UNKNOWN},
    {"  a ==> b-8 [001] 1.000006: sched_switch: a ==> b:8 [120] S ==> c ==> d:9 [120]\n", 8, 8, 9, 1, NO, NO,
     1000006000, 'S', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {"  a 1.5: b  100/102 [000]     0.000061: sched:sched_migrate_task: comm=rd pid=103 prio=120 orig_cpu=0 "
     "dest_cpu=4\n",
     102, 103, -1, 0, 0, 4, 61000, '?', TRACE_MIGRATE, TRACE_CTX_UNKNOWN},
    {"  pid=7 prio=3-9 [001] d..2. 1,000006: " SWITCH("pid=7 prio=3", "9", "S", "prev_state=R", "5"), 9, 9, 5, 1, NO,
     NO, 1000006000, 'S', TRACE_SWITCH, TRACE_CTX_TASK},
    {"  a-9 [001] d..2. 1.000006: sched_wakeup: comm=x pid=7 z pid=12 prio=120 target_cpu=002\n", 9, 12, -1, 1, NO, 2,
     1000006000, '?', TRACE_WAKEUP, TRACE_CTX_TASK},
    {"  a:9 [120] S-8 [001] 1.000006: sched_switch: a:9 [120] S:8 [120] R ==> b:7 [120] x:5 [120]\n", 8, 8, 5, 1, NO,
     NO, 1000006000, 'R', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {"      rd-101   [000]     1.000005: (+5000)  sched_switch:         rd:101 [120] S ==> swapper/0:0 [120]\n", 101,
     101, 0, 0, NO, NO, 1000005000, 'S', TRACE_SWITCH, TRACE_CTX_UNKNOWN},
    {" 1357.843542 |   1)   my sh-102    |               |  /* sched_waking: comm=kw | x pid=5 prio=120 target_cpu=000 "
     "*/\n",
     102, 5, -1, 1, 0, NO, 1357843542000, '?', TRACE_WAKING, TRACE_CTX_UNKNOWN},
    {"  sh-9 [000] d..h3.. 1.000000: sched_wakeup: comm=x pid=7 prio=120 target_cpu=001\n", 9, 7, -1, 0, NO, 1,
     1000000000, '?', TRACE_WAKEUP, TRACE_CTX_HARDIRQ},
    {"  sh-9 [000] d.L.4.. 1.000000: sched_wakeup: comm=x pid=7 prio=120 target_cpu=001\n", 9, 7, -1, 0, NO, 1,
     1000000000, '?', TRACE_WAKEUP, TRACE_CTX_TASK},
    {"  sh-9 [000] d.Ls4.. 1.000000: sched_wakeup: comm=x pid=7 prio=120 target_cpu=001\n", 9, 7, -1, 0, NO, 1,
     1000000000, '?', TRACE_WAKEUP, TRACE_CTX_SOFTIRQ},
    {"  sh-9 [000] ..... 1.000000: sched_process_fork: comm=sh pid=9 child_comm=sh child_pid=12\n", 9, 9, -1, 0, NO, NO,
     1000000000, '?', TRACE_FORK, TRACE_CTX_TASK},
    {"  sh-9 [000] d..2. 1.000000: sched_stat_runtime: comm=sh pid=9 runtime=5200 [ns] vruntime=9 [ns]\n", 9, 9, -1, 0,
     NO, NO, 1000000000, '?', TRACE_RUNTIME, TRACE_CTX_TASK},
    {"  sh-9 [000] d..2. 1.000000: sched_wakeup_new: comm=sh pid=12 prio=120 success=1 target_cpu=001\n", 9, 12, -1, 0,
     NO, 1, 1000000000, '?', TRACE_WAKEUP_NEW, TRACE_CTX_TASK},
};

static void every_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(shapes); i++) {
        const struct shape *s = &shapes[i];
        struct trace *t = read_text(s->line);
        if (!t || t->nevents != 1) fail_msg("not read: %s", s->line);
        const struct trace_event *e = only(t);
        assert_int_equal(t->task[e->by].pid, s->by);
        assert_int_equal(t->task[e->task].pid, s->pid);
        if (s->next >= 0) assert_int_equal(t->task[e->next].pid, s->next);
        if (e->kind != s->kind || e->cpu != s->cpu || e->from != s->from || e->to != s->to || e->ns != s->ns ||
            e->state != s->state || e->context != s->context)
            fail_msg("kind %d cpu %d from %d to %d ns %llu state %c context %d of: %s", e->kind, e->cpu, e->from, e->to,
                     (unsigned long long)e->ns, e->state, e->context, s->line);
        trace_free(t);
    }
}

static void names_keep_their_blanks(void **state)
{
    (void)state;
    struct trace *t =
        read_text("  my task-with-dash-102 [011] d.s3.  12.000004: sched_waking: comm=a b=c pid=103 prio=98 "
                  "target_cpu=004\n");
    const struct trace_event *e = only(t);
    assert_string_equal(t->task[e->by].comm, "my task-with-dash");
    assert_string_equal(t->task[e->task].comm, "a b=c");
    assert_int_equal(e->prio, 98);
    trace_free(t);
}

/* ---- damage ---- */

/* Half a million arrows in one line: each was taken for a name's, and the line read again up to it (two minutes). */
static void a_line_of_arrows_ends(void **state)
{
    (void)state;
    size_t n = 500000, at;
    char *text = malloc(5 * n + 200);
    assert_non_null(text);
    at = (size_t)sprintf(text, "  a-5 [001] 1.000000: sched_wakeup: comm=b pid=6 prio=120 target_cpu=001\n"
                               "  a-5 [001] 1.000001: sched_switch: a");
    for (size_t i = 0; i < n; i++) at += (size_t)sprintf(text + at, " ==> ");
    alarm(60);
    struct trace *t = read_text(text);
    alarm(0);
    (void)only(t);
    trace_free(t);
    free(text);
}

static void damaged_lines_are_counted(void **state)
{
    (void)state;
    struct trace *t = read_text("x-1 [000] ..... 1.000000: " SWITCH(
        "x", "1", "S", "y",
        "2") "x-1 [000] ..... 1.000001: sched_switch: prev_comm=x prev_pid=1 prev_prio=1\n"
             "x-1 [000] ..... 1.000002: sched_waking: comm=x pid=99999999999 prio=1 target_cpu=000\n"
             "x-1 [000] ..... 1.000003: sched_waking: comm=x pid=9 prio=1 target_cpu=70000\n"
             "x-1 [9999] ..... 1.000003: sched_waking: comm=x pid=9 prio=1 target_cpu=7\n"
             "x-1 [000] ..... 1.000004: cpu_idle: state=1 cpu_id=0\n"
             "x-1 ..... 1.000005: sched_waking: comm=x pid=9 prio=1 target_cpu=0\n"
             "x-1 [000] ..... 1000005: sched_waking: comm=x pid=9 prio=1 target_cpu=0\n"
             "CPU:1 [LOST 12 EVENTS]\n"
             "   swapper   0 [002]  1.000006: PERF_RECORD_LOST lost 13\n"
             "    ffffffff81000000 schedule+0x10\n");
    assert_non_null(t);
    assert_int_equal(t->lines.events, 1);
    assert_int_equal(t->lines.damaged, 6);
    assert_int_equal(t->lines.other, 2);
    assert_int_equal(t->lines.lost_marks, 2);
    assert_int_equal(t->lines.lost_events, 25);
    assert_int_equal(t->event[t->nevents - 1].cpu, 2);
    trace_free(t);
}

#define WAKES(time) "x-1 [000] ..... " time ": sched_waking: comm=y pid=2 prio=120 target_cpu=001\n"

/* A digit too many is a damaged line, not a wait of half a year; and late clocks are as good as early ones. */
static void far_events_are_left_out(void **state)
{
    (void)state;
    struct trace *t =
        read_text("### begin one x\n" WAKES("1.000001") WAKES("1.000002") WAKES("1.000003")
                      WAKES("15322661.000002") "CPU:1 [LOST 12 EVENTS]\n### begin two x\n" WAKES("25000000.1")
                          WAKES("25000000.2") WAKES("3.2"));
    assert_non_null(t);
    assert_int_equal(t->lines.damaged, 2);
    assert_int_equal(t->lines.events, 5);
    assert_int_equal(t->nevents, 5);
    assert_int_equal(t->nsections, 2);
    assert_int_equal(t->section[1].n, 2);
    assert_int_equal(t->event[4].ns, 25000000200000000ull);
    trace_free(t);
}

/* Without sched_waking nobody knows from where a task came: said, not passed over. */
static void wakeups_alone_are_counted(void **state)
{
    (void)state;
    struct trace *t = read_text("x-1 [000] d..3. 1.000000: sched_wakeup: comm=y pid=2 prio=120 target_cpu=001\n"
                                "x-1 [000] d..3. 1.000001: sched_wakeup: comm=z pid=3 prio=120 target_cpu=001\n");
    struct trace_health h;
    assert_non_null(t);
    assert_int_equal(trace_infer(t, &h), 0);
    assert_int_equal(h.count[TRACE_H_NO_WAKING], 2);
    trace_health_free(&h);
    trace_free(t);
}

/* The head of a simulation's own trace: words have no blanks there, topologies do. */
static void own_topology_comes_back(void **state)
{
    (void)state;
    struct trace *t = read_text("# wakebal: machine=pack:1_[numa]_l3:1_core:4_pu:1 kernel=linux-6.12 scheduler=eevdf\n"
                                "x-1 [000] d..3. 1.000000: sched_wakeup: comm=y pid=2 prio=120 target_cpu=001\n");
    assert_non_null(t);
    assert_string_equal(t->own_machine, "pack:1 [numa] l3:1 core:4 pu:1");
    trace_free(t);
}

#define WAKEUP "x-1 [000] d..3. 1.000000: sched_wakeup: comm=y pid=2 prio=120 target_cpu=001\n"

/* ftrace says how many CPUs there are, and that its buffer was full. */
static void ftrace_head_counts(void **state)
{
    (void)state;
    struct trace *t = read_text("# tracer: nop\n#\n# entries-in-buffer/entries-written: 100/350   #P:8\n" WAKEUP);
    struct trace_health h;
    assert_non_null(t);
    assert_int_equal(t->ncpus, 8);
    assert_int_equal(trace_infer(t, &h), 0);
    assert_int_equal(h.count[TRACE_H_OVERWRITTEN], 250);
    assert_ptr_equal(trace_health_broken(&h), &trace_health_text[TRACE_H_OVERWRITTEN]);
    trace_health_free(&h);
    trace_free(t);
    t = read_text("# entries-in-buffer/entries-written: 350/350   #P:70000\n" WAKEUP);
    assert_int_equal(t->ncpus, 2);
    assert_int_equal(t->lines.overwritten, 0);
    trace_free(t);
}

/* perf script --header -I. */
static void perf_head_tells_the_machine(void **state)
{
    char text[300];
    (void)state;
    struct trace *t =
        read_text("# ========\n# os release : 6.11.3-arch\n# nrcpus online : 8\n# sibling sockets : 0-3\n"
                  "# sibling sockets : 4-7\n# sibling threads : 0,2\n# sibling threads : 1,3\n# sibling threads : 4,6\n"
                  "# sibling threads : 5,7\n# node0 cpu list : 0-3\n# node1 cpu list : 4-7\n# CPU cache info:\n"
                  "#  L1 Data                 32K [0,2]\n#  L3 Unified           32768K [0-3]\n"
                  "#  L3 Unified           32768K [4-7]\n" WAKEUP "# sibling threads : 0-7\n");
    assert_non_null(t);
    assert_true(trace_machine(t, text, sizeof text));
    assert_string_equal(text, "pack:2 [numa] l3:1 core:2 pu:2(indexes=0,2,1,3,4,6,5,7)");
    assert_true(trace_kernel(t, text, sizeof text));
    assert_string_equal(text, "linux-6.6");
    assert_true(trace_kernel_is_near(t));
    trace_free(t);
    t = read_text("# sibling sockets : 9-3\n# sibling threads : 0-99999\n# node-1 cpu list : x\n# node0 cpu list : "
                  "-5-3\n# node0 cpu list : 2000\n" WAKEUP);
    assert_int_equal(t->nplaces, 0);
    trace_free(t);
}

/* Two nodes in one package, another package of one CPU: no synthetic string has that. The last CPU is offline. */
static void odd_machines_are_tables(void **state)
{
    static const char *const want[TRACE_COLUMNS] = {"[ 0, 0, 1, 2, 3 ]", "[ 0, 0, 0, 0, 1 ]", "[ 0, 0, 0, 0, 1 ]",
                                                    "[ 0, 0, 1, 1, 2 ]"};
    char text[300];
    (void)state;
    struct trace *t =
        read_text("### topo cpu0 core 0-1 pkg 0-3 llc 0-3 node 0\n### topo cpu1 core 0-1 pkg 0-3 llc 0-3 node 0\n"
                  "### topo cpu2 core 2 pkg 0-3 llc 0-3 node 1\n### topo cpu3 core 3 pkg 0-3 llc 0-3 node 1\n"
                  "### topo cpu4 core 4 pkg 4 llc 4 node 8\n### topo cpu5 core  pkg  llc  node 0\n" WAKEUP);
    assert_non_null(t);
    assert_int_equal(t->ncpus, 5);
    assert_true(trace_machine(t, text, sizeof text));
    assert_false(trace_isolated(t, text, sizeof text));
    for (int i = 0; i < TRACE_COLUMNS; i++) {
        char *column = trace_machine_column(t, (enum trace_column)i);
        assert_string_equal(column, want[i]);
        free(column);
    }
    trace_free(t);
}

/* CPU 1 is offline, 3 isolated. */
static void isolated_cpus_are_listed(void **state)
{
    char text[64];
    (void)state;
    struct trace *t = read_text("### isolated 3\n### topo cpu0 core 0 pkg 0-3 llc 0-3 node 0\n"
                                "### topo cpu2 core 2 pkg 0-3 llc 0-3 node 0\n"
                                "### topo cpu3 core 3 pkg 0-3 llc 0-3 node 0\n" WAKEUP);
    assert_true(trace_machine(t, text, sizeof text));
    assert_true(trace_isolated(t, text, sizeof text));
    assert_string_equal(text, "3,1");
    char *column = trace_machine_column(t, TRACE_COLUMN_PACKAGE);
    assert_string_equal(column, "[ 0, 1025, 0, 0 ]");
    free(column);
    trace_free(t);
}

static void nearest_kernels(void **state)
{
    static const struct {
        const char *release, *profile;
        bool near;
    } of[] = {{"6.12.117+deb12-cloud-amd64", "linux-6.12", false},
              {"6.1.0-57", "linux-6.1", false},
              {"7.3.4", "linux-6.18", true},
              {"6.14.0-29-generic", "linux-6.12", true},
              {"6.8.0", "linux-6.6", true},
              {"6.5.0-14", "linux-6.1", true},
              {"5.19.17", "linux-6.1", true},
              {"5.14.0-427.el9", "linux-5.15", true},
              {"4.18.0-553.el8", "linux-5.4", true},
              {"3.10.0-1160.el7", "linux-2.6.36", true},
              {"2.6.32-754.el6", "linux-2.6.24", true},
              {"2.6.35", "linux-2.6.35", false}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(of); i++) {
        char note[128], text[64];
        (void)snprintf(note, sizeof note, "### kernel %s cpus 0\n" WAKEUP, of[i].release);
        struct trace *t = read_text(note);
        assert_true(trace_kernel(t, text, sizeof text));
        assert_string_equal(text, of[i].profile);
        assert_int_equal(trace_kernel_is_near(t), of[i].near);
        trace_free(t);
    }
    struct trace *t = read_text("### kernel 2.6.18 cpus 0\n" WAKEUP);
    char text[64];
    assert_false(trace_kernel(t, text, sizeof text));
    trace_free(t);
}

/* perf script --deltatime: nobody could tell from the result that it means nothing. */
static void differences_are_refused(void **state)
{
    char text[8000];
    size_t at = 0;
    (void)state;
    for (int i = 0; i < 60; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "x 1 [000] 0.%06d: sched:sched_wakeup: comm=y pid=2 prio=120 target_cpu=001\n", i % 3);
    assert_null(read_text(text));
}

static void nothing_of_ours_is_an_error(void **state)
{
    (void)state;
    assert_null(read_text(""));
    assert_null(read_text("\n\n# tracer: nop\nhello\n"));
    struct wb_diag *d = wb_diag_new();
    assert_null(trace_read_file("/nonexistent/file", d));
    assert_null(trace_read_file(WB_TESTS_DIR "/traces/broken/binary.dat", d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 2);
    wb_diag_free(d);
}

static void notes_make_sections(void **state)
{
    (void)state;
    struct trace *t =
        read_text("### kernel 6.12.1 cpus 0-1\n### features A NO_B\n### topo cpu1 core 1 pkg 0-1 llc 0-1 node 0\n"
                  "### begin one run\n### schedstat before\nversion 15\ncpu0 1 2\n### schedstat after\n"
                  "version 15\ncpu0 3 4\n"
                  "x-1 [000] ..... 5.000000: " SWITCH("x", "1", "S", "y", "2") "### end one\n### begin two\n"
                                                                               "x-1 [000] ..... 1.000000: " SWITCH(
                                                                                   "x", "1", "S", "y", "2"));
    assert_non_null(t);
    assert_int_equal(t->nsections, 2);
    assert_string_equal(t->section[0].name, "one");
    assert_string_equal(t->section[0].before.text, "version 15\ncpu0 1 2\n");
    assert_string_equal(t->section[0].after.text, "version 15\ncpu0 3 4\n");
    assert_string_equal(t->kernel, "6.12.1");
    assert_string_equal(t->features, "A NO_B");
    assert_int_equal(t->nplaces, 2);
    assert_string_equal(t->place[1].package, "0-1");
    assert_string_equal(t->place[1].node, "0");
    assert_int_equal(t->section[1].n, 1);
    assert_false(t->sorted);
    assert_int_equal(t->lines.back, 0);
    trace_free(t);
}

/* ---- what is missing ---- */

static void missing_switch_from_idle(void **state)
{
    (void)state;
    struct trace *t = read_text("x-1 [000] d..2. 1.000000: " SWITCH(
        "x", "1", "S", "swapper/0",
        "0") "<idle>-0 [000] dNh2. 1.000010: sched_wakeup: comm=y pid=2 prio=120 target_cpu=000\n"
             "z-3 [001] d..2. 1.000015: sched_wakeup: comm=u pid=7 prio=120 target_cpu=001\n"
             "y-2 [000] d..2. 1.000020: " SWITCH("y", "2", "S", "swapper/0", "0"));
    struct trace_health h;
    assert_int_equal(trace_infer(t, &h), 0);
    assert_int_equal(h.count[TRACE_H_FROM_IDLE], 1);
    assert_int_equal(h.count[TRACE_H_SWITCH], 0);
    assert_int_equal(t->nevents, 5);
    const struct trace_event *e = &t->event[2]; /* behind the wakeup, at its time */
    assert_int_equal(e->kind, TRACE_SWITCH);
    assert_int_equal(e->inferred, TRACE_INFERRED);
    assert_int_equal(e->ns, 1000010000);
    assert_int_equal(e->task, 0);
    assert_int_equal(t->task[e->next].pid, 2);
    assert_int_equal(h.per_cpu[0], 3);
    assert_ptr_equal(trace_health_broken(&h), &trace_health_text[TRACE_H_FROM_IDLE]);
    trace_health_free(&h);
    trace_free(t);
}

/* x was running when y shows up; x is woken later, so it had gone to sleep. */
static void missing_switch_of_a_sleeper(void **state)
{
    (void)state;
    struct trace *t = read_text("a-9 [000] d..2. 1.000000: " SWITCH(
        "a", "9", "S", "x", "1") "y-2 [000] d..3. 1.000020: sched_waking: comm=x pid=1 prio=120 target_cpu=000\n");
    struct trace_health h;
    assert_int_equal(trace_infer(t, &h), 0);
    assert_int_equal(h.count[TRACE_H_SWITCH], 1);
    assert_int_equal(t->event[1].state, 'S');
    assert_int_equal(t->task[t->event[1].task].pid, 1);
    trace_health_free(&h);
    trace_free(t);
}

static void contradictions_are_counted(void **state)
{
    (void)state;
    struct trace *t =
        read_text("a-9 [000] d..2. 1.000000: " SWITCH("a", "9", "S", "x", "1") "b-8 [001] d..2. 1.000010: " SWITCH(
            "b", "8", "S", "x",
            "1") "c-7 [002] d..2. 1.000005: sched_wakeup: comm=z pid=5 prio=120 target_cpu=002\n"
                 "c-7 [002] d..2. 0.900000: " SWITCH(
                     "c", "7", "R", "d",
                     "6") "d-6 [002] d..2. 1.200000: sched_wakeup: comm=<...> pid=4 prio=120 target_cpu=002\n");
    struct trace_health h;
    assert_true(t->sorted);
    assert_int_equal(trace_infer(t, &h), 0);
    assert_int_equal(h.count[TRACE_H_TWO_CPUS], 1);
    assert_int_equal(h.count[TRACE_H_JUMP], 1);
    assert_int_equal(h.count[TRACE_H_NO_RUN], 1);
    assert_int_equal(h.count[TRACE_H_TIME_BACK], 1);
    assert_int_equal(h.count[TRACE_H_NO_NAME], 1);
    trace_health_free(&h);
    trace_free(t);
}

static void whole_recording_passes(void **state)
{
    (void)state;
    struct trace *t = read_text("x-1 [000] d..2. 1.000000: " SWITCH(
        "x", "1", "S", "swapper/0", "0") "<idle>-0 [000] d..2. 1.000020: " SWITCH("swapper/0", "0", "R", "x", "1"));
    struct trace_health h;
    assert_int_equal(trace_infer(t, &h), 0);
    assert_null(trace_health_broken(&h));
    assert_int_equal(t->nevents, 2);
    trace_health_free(&h);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(names_keep_their_blanks),
        cmocka_unit_test(a_line_of_arrows_ends),
        cmocka_unit_test(damaged_lines_are_counted),
        cmocka_unit_test(far_events_are_left_out),
        cmocka_unit_test(wakeups_alone_are_counted),
        cmocka_unit_test(own_topology_comes_back),
        cmocka_unit_test(ftrace_head_counts),
        cmocka_unit_test(perf_head_tells_the_machine),
        cmocka_unit_test(odd_machines_are_tables),
        cmocka_unit_test(isolated_cpus_are_listed),
        cmocka_unit_test(nearest_kernels),
        cmocka_unit_test(differences_are_refused),
        cmocka_unit_test(nothing_of_ours_is_an_error),
        cmocka_unit_test(notes_make_sections),
        cmocka_unit_test(missing_switch_from_idle),
        cmocka_unit_test(missing_switch_of_a_sleeper),
        cmocka_unit_test(contradictions_are_counted),
        cmocka_unit_test(whole_recording_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
