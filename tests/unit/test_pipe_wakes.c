/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Wake calls and handoffs of bw_pipe by version and page size: the arithmetic that the rules imply, on one CPU and on
 * two. */
#include "simtest.h"
#include "wbtest.h"

#define MESSAGES 64.0

static const char text[] =
    "schema = 1;\n"
    "machine : { base = \"smp2\"; };\n"
    "kernel : { scheduler = \"o1\"; hz = 1000; };\n"
    "workload = ( { kind = \"pipe_bw\"; message = \"64 KiB\"; total = \"4 MiB\"; cpus = \"0\"; } );\n"
    "run : { warmup = \"none\"; };\n";

struct counts {
    double handoffs, fills, sync_writer, plain_writer, sync_reader, plain_reader;
};

/* Per message of 64 KiB. The writer begins a 65th message before it learns that the reader has gone. */
static struct counts per_message(const char *version, const char *page, const char *cpus)
{
    char set[3][64];
    snprintf(set[0], sizeof set[0], "kernel.pipe=%s", version);
    snprintf(set[1], sizeof set[1], "kernel.page_size=%s", page);
    snprintf(set[2], sizeof set[2], "workload.cpus=%s", cpus);
    const char *const sets[] = {set[0], set[1], set[2], NULL};
    struct simtest t = simtest_build(text, sets, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    struct counts c = {simtest_metric(&t, UINT32_MAX, "pipe.handoffs") / MESSAGES,
                       simtest_metric(&t, UINT32_MAX, "pipe.fills") / MESSAGES,
                       simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_writer") / MESSAGES,
                       simtest_metric(&t, UINT32_MAX, "pipe.wake_plain_writer") / MESSAGES,
                       simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_reader") / MESSAGES,
                       simtest_metric(&t, UINT32_MAX, "pipe.wake_plain_reader") / MESSAGES};
    simtest_free(&t);
    return c;
}

/* Equal but for what one more message that was begun can add. */
static void about(double got, double want)
{
    if (got < want - 0.02 || got > want + 0.02 + want / MESSAGES + 1 / MESSAGES) fail_msg("got %g, want %g", got, want);
}

static void one_page(void **state)
{
    static const struct {
        const char *page;
        double handoffs;
    } rows[] = {{"4 KiB", 16}, {"8 KiB", 8}, {"16 KiB", 4}, {"64 KiB", 1}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        for (int apart = 0; apart < 2; apart++) {
            struct counts c = per_message("2.6.10", rows[i].page, apart ? "0,1" : "0");
            about(c.handoffs, rows[i].handoffs);
            about(c.fills, rows[i].handoffs);
            about(c.sync_writer, rows[i].handoffs - 1);
            about(c.plain_writer, 1);
            about(c.plain_reader, 1);
            if (!apart) about(c.sync_reader, rows[i].handoffs - 1);
        }
    }
}

/* Four messages fill the ring of 16 slots of 16 KiB. A write that finds it full has put nothing in and wakes nobody
 * before it sleeps, so there is one plain wake a call and never a sync one; with 4 KiB pages and half a message left
 * over, there is. */
static void ring_of_2_6_11(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct counts c = per_message("2.6.11", "16 KiB", apart ? "0,1" : "0");
        about(c.fills, 4);
        about(c.plain_writer, 1);
        about(c.sync_writer, 0);
        assert_true(c.plain_reader >= 1);
    }
    struct counts c = per_message("2.6.11", "4 KiB", "0");
    about(c.fills, 16);
    about(c.handoffs, 1);
    about(c.plain_writer, 1);
    about(c.plain_reader, 1);
}

/* A message of 96 KiB does not fit a ring of 64 KiB: the write wakes (sync) in its middle. */
static void ring_overflows(void **state)
{
    (void)state;
    const char *const sets[] = {"kernel.pipe=2.6.11", "workload.message=96 KiB", "workload.total=9600 KiB", NULL};
    struct simtest t = simtest_build(text, sets, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    about(simtest_metric(&t, UINT32_MAX, "pipe.wake_plain_writer") / 100, 1);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_writer") >= 100);
    simtest_free(&t);
}

/* 1024 writes of 512 bytes: eight share a slot of 4 KiB, or each has its own (O_DIRECT) and 16 fill the pipe. */
static void packets_keep_their_slots(void **state)
{
    (void)state;
    for (int packets = 0; packets < 2; packets++) {
        const char *const sets[] = {"kernel.pipe=6.12", "workload.message=512 B", "workload.total=512 KiB",
                                    packets ? "workload.packets=true" : "workload.packets=false", NULL};
        struct simtest t = simtest_build(text, sets, NULL);
        assert_int_equal(wb_sim_run(t.sim), 0);
        double turns = simtest_metric(&t, UINT32_MAX, "pipe.handoffs"), want = packets ? 64 : 8;
        if (turns < want - 1 || turns > want + 1) fail_msg("%g turns for 1024 writes", turns);
        simtest_free(&t);
    }
}

static void all_sync_from_2_6_24(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct counts before = per_message("2.6.23", "16 KiB", apart ? "0,1" : "0");
        struct counts after = per_message("2.6.24", "16 KiB", apart ? "0,1" : "0");
        about(before.plain_writer, 1);
        assert_true(before.plain_reader >= 1);
        about(after.plain_writer, 0);
        about(after.plain_reader, 0);
        assert_true(after.sync_writer >= 1 && after.sync_reader >= 1);
    }
}

/* With 4 KiB pages a message fills the ring: one edge each way per message. */
static void edges_only_from_5_5(void **state)
{
    (void)state;
    static const char *const versions[] = {"5.5", "6.12", "6.18"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++) {
        struct counts c = per_message(versions[i], "4 KiB", "0");
        about(c.fills, 16);
        about(c.handoffs, 1);
        about(c.sync_writer, 1);
        about(c.sync_reader, 1);
        about(c.plain_writer + c.plain_reader, 0);
    }
    /* 16 KiB pages: four messages fit, the writer wakes on empty only */
    struct counts c = per_message("6.12", "16 KiB", "0");
    assert_true(c.sync_writer < 1 && c.sync_writer > 0);
    assert_true(per_message("5.4", "16 KiB", "0").sync_writer >= 1);
}

static void counterfactual_sync(void **state)
{
    (void)state;
    const char *const always[] = {"kernel.pipe_sync=always", "kernel.pipe=2.6.11", "kernel.page_size=16 KiB", NULL};
    const char *const never[] = {"kernel.pipe_sync=never", "kernel.pipe=2.6.10", "kernel.page_size=16 KiB", NULL};
    struct simtest t = simtest_build(text, always, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_plain_writer") == 0);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_plain_reader") == 0);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_writer") >= MESSAGES);
    simtest_free(&t);
    t = simtest_build(text, never, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_writer") == 0);
    assert_true(simtest_metric(&t, UINT32_MAX, "pipe.wake_sync_reader") == 0);
    simtest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_page),
                                       cmocka_unit_test(ring_of_2_6_11),
                                       cmocka_unit_test(ring_overflows),
                                       cmocka_unit_test(packets_keep_their_slots),
                                       cmocka_unit_test(all_sync_from_2_6_24),
                                       cmocka_unit_test(edges_only_from_5_5),
                                       cmocka_unit_test(counterfactual_sync)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
