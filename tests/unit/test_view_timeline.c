/* The timeline against golden text. */
#include "wbtest.h"

#include "trace_fixture.h"

static void check(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o,
                  const char *want)
{
    char *got = wb_view_timeline(t, names, o);
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static void test_story(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    check(&t, &fix_names, &(struct wb_view_options){.to = 60 * WB_US, .width = 65},
          "us   0    5    10   15   20   25   30   35   40   45   50   55\n"
          "cpu0 AAAAAAAABBBBBBBBBBBBAAAAAAAAAAAAAAAAAAAA....................\n"
          "cpu1 ..............................|BBBBBBBBBBBBBBBBBBBBBBBBBBBBB\n"
          "cpu2 ............................................................\n"
          "A bw_pipe-wr  B bw_pipe-rd  . idle  | migration\n");
    check(&t, &fix_names, &(struct wb_view_options){.from = 10 * WB_US, .to = 50 * WB_US, .width = 45, .unicode = true},
          "from 1e-05 s\n"
          "us   0    5    10   15   20   25   30   35\n"
          "cpu0 BBBBBBBBBBAAAAAAAAAAAAAAAAAAAA··········\n"
          "cpu1 ····················│BBBBBBBBBBBBBBBBBBB\n"
          "cpu2 ········································\n"
          "A bw_pipe-wr  B bw_pipe-rd  · idle\n"
          "│ migration\n");
    arena_free(&a);
}

static void test_legend_stands_beside_when_there_is_room(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    char *got = wb_view_timeline(&t, &fix_names, &(struct wb_view_options){.to = 80 * WB_US, .width = 135});
    assert_non_null(strstr(got, "...   A bw_pipe-wr  B bw_pipe-rd  . idle  | migration\ncpu1 "));
    assert_true(strcspn(got + strcspn(got, "\n") + 1, "\n") <= 135);
    free(got);
    arena_free(&a);
}

/* A column belongs to whoever ran longest in it. */
static void test_majority_of_a_column(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 256);
    for (unsigned i = 0; i < 100; i++) { /* 40 % writer, 60 % reader: four turns of each in a column of 400 ns */
        fix_switch(&t, i * 100 * WB_NS, 0, FIX_RD, 0, FIX_WR);
        fix_switch(&t, i * 100 * WB_NS + 40 * WB_NS, 0, FIX_WR, 0, FIX_RD);
    }
    char *got = wb_view_timeline(&t, &fix_names, &(struct wb_view_options){.to = 10 * WB_US, .width = 30});
    assert_non_null(strstr(got, "cpu0 BBBBBBBBBBBBBBBBBBBBBBBBB\n"));
    free(got);
    check(&t, &fix_names, &(struct wb_view_options){.from = WB_US, .to = WB_US + 25 * WB_NS, .width = 30},
          "from 1e-06 s\n"
          "ns   0    5    10   15   20\n"
          "cpu0 AAAAAAAAAAAAAAAAAAAAAAAAA\n"
          "cpu1 .........................\n"
          "cpu2 .........................\n"
          "A bw_pipe-wr  . idle\n");
    arena_free(&a);
}

static void test_too_many_migrations_are_counted_not_drawn(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 256);
    for (unsigned i = 0; i < 25; i++)
        trace_emit(&t, (struct wb_trace_record){
                           .when = i * WB_US, .type = WB_TR_MIGRATE, .cpu = 0, .task = FIX_RD, .a = 0, .b = 1});
    char *got = wb_view_timeline(&t, &fix_names, &(struct wb_view_options){.to = 25 * WB_US, .width = 30});
    assert_non_null(strstr(got, "cpu1 .........................  (25 columns with migrations)\n"));
    assert_null(strchr(got, '|'));
    free(got);
    arena_free(&a);
}

/* 100 tasks on 40 CPUs: letters for those who ran longest, idle rows in one line. */
static void many_task(void *ctx, task_id id, struct wb_trace_task *out)
{
    (void)ctx;
    static char name[8];
    snprintf(name, sizeof(name), "t%u", id);
    *out = (struct wb_trace_task){.name = name, .pid = id, .idle = id < 40, .cpu = id};
}

static void test_many_tasks_and_cpus(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 1024);
    sim_time now = 0;
    for (uint32_t i = 0; i < 100; i++) {
        fix_switch(&t, now, 3, i ? 39 + i : 3, 0, 40 + i);
        now += (i + 1) * WB_US;
    }
    struct wb_trace_names names = {.task = many_task, .ntasks = 140, .ncpus = 40};
    char *got = wb_view_timeline(&t, &names, &(struct wb_view_options){.to = now, .width = 105});
    assert_non_null(strstr(got, "idle throughout: cpu 0-2,4-39\n"));
    assert_non_null(strstr(got, "cpu3  "));
    assert_non_null(strstr(got, "A t78  B t79"));
    assert_non_null(strstr(got, "9 t139  + others  . idle"));
    for (char *line = got; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 105);
    free(got);
    arena_free(&a);
}

/* A CPU without a record: the caller may know who ran there. Equal names get their pids. */
static void test_known_runners_and_equal_names(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    const task_id running[FIX_CPUS] = {0, FIX_RD, FIX_TWIN};
    struct wb_trace_names names = fix_names;
    names.running = running;
    fix_switch(&t, 0, 0, 0, 0, FIX_WR);
    check(&t, &names, &(struct wb_view_options){.to = 25 * WB_NS, .width = 30},
          "ns   0    5    10   15   20\n"
          "cpu0 AAAAAAAAAAAAAAAAAAAAAAAAA\n"
          "cpu1 BBBBBBBBBBBBBBBBBBBBBBBBB\n"
          "cpu2 CCCCCCCCCCCCCCCCCCCCCCCCC\n"
          "A bw_pipe-wr  B bw_pipe-rd:103\n"
          "C bw_pipe-rd:105  . idle\n");
    arena_free(&a);
}

static void test_nothing_recorded(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 8);
    char *got = wb_view_timeline(&t, &fix_names, &(struct wb_view_options){.width = 0});
    assert_non_null(strstr(got, "cpu2 ...."));
    assert_non_null(strstr(got, ". idle\n"));
    free(got);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_story),
        cmocka_unit_test(test_legend_stands_beside_when_there_is_room),
        cmocka_unit_test(test_majority_of_a_column),
        cmocka_unit_test(test_too_many_migrations_are_counted_not_drawn),
        cmocka_unit_test(test_many_tasks_and_cpus),
        cmocka_unit_test(test_known_runners_and_equal_names),
        cmocka_unit_test(test_nothing_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
