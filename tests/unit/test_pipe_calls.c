/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* What read(), write() and close() of a pipe return and leave behind, by version. */
#include <math.h>

#include "scripted.h"
#include "simtest.h"

#define READ(n) \
    { \
        SCRIPT_READ, (n) \
    }
#define WRITE(n) \
    { \
        SCRIPT_WRITE, (n) \
    }
#define SLEEP(t) \
    { \
        SCRIPT_SLEEP, (t) \
    }
#define DONE \
    { \
        SCRIPT_DONE, 0 \
    }
#define KIB 1024u

static const char *const versions[] = {"2.6.10", "2.6.11", "2.6.14", "2.6.16", "2.6.24",
                                       "2.6.30", "4.10",   "5.5",    "6.18"};

static const char *kernel(const char *version, const char *page)
{
    static char text[256];
    snprintf(text, sizeof text, "kernel : { scheduler = \"o1\"; pipe = \"%s\"; page_size = \"%s\"; };", version, page);
    return text;
}

static int64_t ret_of(const struct scripted *s, uint32_t script, int nth)
{
    for (uint32_t i = 0; i < s->nnotes; i++)
        if (s->note[i].script == script && s->note[i].code != SCRIPT_SLEEP && nth-- == 0) return s->note[i].ret;
    fail_msg("script %u did not get that far", script);
    return 0;
}

static uint64_t inside(const struct scripted *s)
{
    uint64_t in, out, n;
    s->channel->ops->audit(s->channel, &in, &out, &n);
    assert_true(in == out + n);
    return n;
}

/* A read returns what is there, then the end of file once all writers are gone. */
static void partial_read_and_end_of_file(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(1000), DONE};
    static const struct script_op rd[] = {SLEEP(WB_MS), READ(600), READ(600), READ(600), DONE};
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 2};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(ret_of(&s, 0, 0), 1000);
        assert_int_equal(ret_of(&s, 1, 0), 600);
        assert_int_equal(ret_of(&s, 1, 1), 400);
        assert_int_equal(ret_of(&s, 1, 2), 0);
        assert_int_equal(inside(&s), 0);
        scripted_free(&s);
    }
}

/* A reader that sleeps on an empty pipe is woken by the last writer's close. */
static void close_wakes_the_reader(void **state)
{
    (void)state;
    static const struct script_op wr[] = {SLEEP(5 * WB_MS), DONE};
    static const struct script_op rd[] = {READ(100), DONE};
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true},
                                   {.op = rd, .cpu = 1, .reads = true},
                                   {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 3};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(ret_of(&s, 1, 0), 0);
        assert_int_equal(ret_of(&s, 2, 0), 0);
        assert_true(s.note[s.nnotes - 1].when < 7 * WB_MS);
        scripted_free(&s);
    }
}

/* A writer that sleeps on a full pipe gets what it has written when the readers go, and EPIPE the next time. */
static void close_wakes_the_writer(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(100 * KIB), WRITE(10), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), DONE};
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 2};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(ret_of(&s, 0, 0), v ? 64 * KIB : 4 * KIB); /* the capacity */
        assert_int_equal(ret_of(&s, 0, 1), -EPIPE);
        scripted_free(&s);
    }
}

/* PIPE_BUF: up to 4096 bytes go in at once or not at all; more than that may go in by parts. */
static void writes_up_to_pipe_buf_are_atomic(void **state)
{
    (void)state;
    static const struct script_op small[] = {WRITE(1000), WRITE(4000), DONE},
                                  large[] = {WRITE(1000), WRITE(5000), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(1),          {SCRIPT_SLEEP, 5 * WB_MS},
                                          READ(999),        SLEEP(5 * WB_MS), DONE};
    struct script scripts[] = {{.op = small, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
    struct scripted s = {.script = scripts, .n = 2};
    scripted_build(&s, kernel("2.6.10", "4 KiB"));
    (void)wb_sim_step_to(s.sim, 4 * WB_MS);
    assert_int_equal(inside(&s), 1000);
    (void)wb_sim_step_to(s.sim, 9 * WB_MS); /* 3097 bytes are free: still not enough */
    assert_int_equal(inside(&s), 999);
    (void)wb_sim_step_to(s.sim, 14 * WB_MS);
    assert_int_equal(inside(&s), 4000);
    scripted_free(&s);
    scripts[0].op = large;
    scripted_build(&s, kernel("2.6.10", "4 KiB"));
    (void)wb_sim_step_to(s.sim, 4 * WB_MS);
    assert_int_equal(inside(&s), 4096);
    scripted_free(&s);
}

static uint64_t slots_used(const char *version, const struct script_op *op)
{
    static const struct script_op rd[] = {SLEEP(100 * WB_MS), DONE};
    struct script scripts[] = {{.op = op, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
    struct scripted s = {.script = scripts, .n = 2};
    scripted_build(&s, kernel(version, "4 KiB"));
    (void)wb_sim_step_to(s.sim, 10 * WB_MS);
    (void)inside(&s);
    uint64_t used = pipe_of(s.channel)->used;
    scripted_free(&s);
    return used;
}

/* Which writes join the last slot: whole small ones (2.6.11), the odd tail of any (2.6.16 and later). */
static void merging(void **state)
{
    (void)state;
    static const struct script_op bytes[] = {WRITE(1), WRITE(1), WRITE(1), WRITE(4093), WRITE(1), DONE};
    static const struct script_op tails[] = {WRITE(1000), WRITE(4096 + 1000), DONE};
    static const struct script_op misfit[] = {WRITE(3000), WRITE(2000), DONE};
    for (size_t v = 1; v < WB_ARRAY_SIZE(versions); v++) {
        assert_int_equal(slots_used(versions[v], bytes), 2);
        assert_int_equal(slots_used(versions[v], misfit), 2);
        assert_int_equal(slots_used(versions[v], tails), v < 3 ? 3 : 2);
    }
}

/* While a writer sleeps, a read of 2.6.11 .. 5.4 goes on until it has all it asked for; 5.5 returns what it got. */
static void syscall_merging(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(128 * KIB), DONE};
    static const struct script_op rd[] = {SLEEP(WB_MS), READ(100 * KIB), READ(100 * KIB), READ(100 * KIB), DONE};
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        bool merges = pipe_rules_find(versions[v])->syscall_merging;
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 2};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(ret_of(&s, 1, 0), merges ? 100 * KIB : 64 * KIB);
        assert_int_equal(scripts[1].moved, 128 * KIB);
        assert_int_equal(scripts[0].moved, 128 * KIB);
        scripted_free(&s);
    }
}

/* 5.5: sleepers are exclusive. One byte wakes one of three readers; a reader that leaves something wakes the next.
 * Before, a wake is for all: the losers find nothing and sleep again. */
static void exclusive_sleepers(void **state)
{
    (void)state;
    static const struct script_op rd[] = {READ(1), SLEEP(50 * WB_MS), DONE};
    static const struct script_op one[] = {SLEEP(WB_MS), WRITE(1), SLEEP(50 * WB_MS), DONE};
    static const struct script_op two[] = {SLEEP(WB_MS), WRITE(2), SLEEP(50 * WB_MS), DONE};
    for (int bytes = 1; bytes <= 2; bytes++) {
        for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
            bool exclusive = pipe_rules_find(versions[v])->gen == PIPE_GEN_HEAD;
            struct script scripts[] = {{.op = rd, .cpu = 0, .reads = true},
                                       {.op = rd, .cpu = 0, .reads = true},
                                       {.op = rd, .cpu = 0, .reads = true},
                                       {.op = bytes == 1 ? one : two, .cpu = 1, .writes = true}};
            struct scripted s = {.script = scripts, .n = 4};
            scripted_build(&s, kernel(versions[v], "4 KiB"));
            assert_int_equal(wb_sim_run(s.sim), 0);
            assert_int_equal(scripts[0].moved + scripts[1].moved + scripts[2].moved, bytes);
            double sleeps = scripted_metric(&s, "pipe.sleeps_reader");
            if (exclusive)
                assert_true(sleeps == 3);
            else
                assert_true(sleeps == 3 + (3 - bytes));
            scripted_free(&s);
        }
    }
}

/* Closing both ends gives all pages back: with every version, full or not. */
static void pages_come_back(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(40 * KIB), DONE};
    static const struct script_op rd[] = {SLEEP(2 * WB_MS), READ(9 * KIB), DONE};
    for (size_t v = 1; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 2};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        const struct pipe *p = pipe_of(s.channel);
        assert_int_equal(p->oldest, WB_NO_REGION);
        assert_int_equal(p->tmp[0], WB_NO_REGION);
        scripted_free(&s);
    }
}

static void nothing_moves_nothing(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(0), WRITE(1), DONE};
    static const struct script_op rd[] = {READ(0), READ(1), DONE};
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true}, {.op = rd, .cpu = 1, .reads = true}};
        struct scripted s = {.script = scripts, .n = 2};
        scripted_build(&s, kernel(versions[v], "4 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        assert_int_equal(ret_of(&s, 0, 0), 0);
        assert_int_equal(ret_of(&s, 0, 1), 1);
        scripted_free(&s);
    }
}

/* Frames fit the room that workloads ask for. */
static void stack_need(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(300 * KIB), WRITE(10), WRITE(4096), DONE};
    static const struct script_op rd[] = {READ(1), READ(100 * KIB), {SCRIPT_AGAIN, 0}, DONE};
    uint32_t peak = 0;
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        struct script scripts[] = {{.op = wr, .cpu = 0, .writes = true},
                                   {.op = rd, .cpu = 1, .reads = true},
                                   {.op = wr, .cpu = 0, .writes = true}};
        struct scripted s = {.script = scripts, .n = 3};
        scripted_build(&s, kernel(versions[v], "16 KiB"));
        assert_int_equal(wb_sim_run(s.sim), 0);
        for (uint32_t i = 0; i < 3; i++) peak = WB_MAX(peak, scripts[i].peak);
        scripted_free(&s);
    }
    print_message("deepest stack: %u bytes, the program's own frame %zu\n", peak, sizeof(struct script_frame));
    assert_true(peak > 200);
}

/* Seconds of a write of n bytes to an own pipe that is emptied after each. */
static double write_time(const char *bytes, const char *first)
{
    char text[512];
    const char *sets[] = {first, NULL};
    snprintf(text, sizeof text,
             "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.18\"; };\n"
             "workload = ( { kind = \"custom\"; cpus = \"0\"; channels = [ \"p\" ]; tasks = ( { name = \"self\"; "
             "program = [ \"loop\", \"start w\", \"write p %s\", \"stop w\", \"readall p %s\", \"end\" ]; } ); } );\n"
             "run : { duration = \"2 ms\"; warmup = \"1 ms\"; start_spread = \"0 s\"; };\n",
             bytes, bytes);
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    double w = simtest_metric(&t, 0, "w");
    simtest_free(&t);
    return w;
}

/* The first page from the allocator costs more, once a call; two pages (6.18) the pipe has kept itself. */
static void the_first_page_of_a_call(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        double more;
    } row[] = {{"8 KiB", 0}, {"12 KiB", 1e-6}, {"16 KiB", 1e-6}, {"64 KiB", 1e-6}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        double none = write_time(row[i].bytes, "kernel.path.alloc_page_first=0 ns"),
               some = write_time(row[i].bytes, "kernel.path.alloc_page_first=1 us");
        assert_true(fabs(some - none - row[i].more) < 0.1e-6);
        assert_true(fabs(write_time(row[i].bytes, "kernel.path.free_page_first=1 us") - none) < 0.1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partial_read_and_end_of_file),
                                       cmocka_unit_test(close_wakes_the_reader),
                                       cmocka_unit_test(close_wakes_the_writer),
                                       cmocka_unit_test(writes_up_to_pipe_buf_are_atomic),
                                       cmocka_unit_test(merging),
                                       cmocka_unit_test(syscall_merging),
                                       cmocka_unit_test(exclusive_sleepers),
                                       cmocka_unit_test(pages_come_back),
                                       cmocka_unit_test(nothing_moves_nothing),
                                       cmocka_unit_test(the_first_page_of_a_call),
                                       cmocka_unit_test(stack_need)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
