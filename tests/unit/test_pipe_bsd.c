/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Pipes of FreeBSD: what fits, when a write hands its memory over, who is told when. */
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
#define KERNEL "kernel : { scheduler = \"o1\"; pipe = \"freebsd\"; };"

/* The nth operation of a script: what it returned, and whether it was over before `when`. */
static const struct script_note *nth(const struct scripted *s, uint32_t script, int n)
{
    for (uint32_t i = 0; i < s->nnotes; i++)
        if (s->note[i].script == script && s->note[i].code != SCRIPT_SLEEP && n-- == 0) return &s->note[i];
    fail_msg("script %u did not get that far", script);
    return NULL;
}

static void expect(const struct scripted *s, uint32_t script, int n, int64_t ret, sim_time from, sim_time to)
{
    const struct script_note *k = nth(s, script, n);
    if (k->ret != ret || k->when < from || k->when >= to)
        fail_msg("script %u, %d: %lld at %.3f ms", script, n, (long long)k->ret, (double)k->when / (double)WB_MS);
}

static void run(struct scripted *s, struct script *scripts, const struct script_op *wr, const struct script_op *rd)
{
    scripts[0] = (struct script){.op = wr, .cpu = 0, .writes = true};
    scripts[1] = (struct script){.op = rd, .cpu = 1, .reads = true};
    *s = (struct scripted){.script = scripts, .n = 2};
    scripted_build(s, KERNEL);
    assert_int_equal(wb_sim_run(s->sim), 0);
    uint64_t in, out, inside;
    s->channel->ops->audit(s->channel, &in, &out, &inside);
    assert_int_equal(in, out + inside);
}

static double counted(struct scripted *s, const char *name)
{
    const struct wb_metric *m = wb_result_find(wb_sim_result(s->sim), UINT32_MAX, name);
    assert_non_null(m);
    return m->value;
}

/* 8191 bytes go into the buffer at once; of 8192 the writer waits until the last one has been taken. */
static void from_8192_bytes_on_the_writer_waits(void **state)
{
    (void)state;
    static const struct script_op small[] = {WRITE(8191), DONE}, large[] = {WRITE(8192), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(8000), SLEEP(5 * WB_MS), READ(8000), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, small, rd);
    expect(&s, 0, 0, 8191, 0, 2 * WB_MS);
    expect(&s, 1, 0, 8000, 5 * WB_MS, 7 * WB_MS);
    scripted_free(&s);
    run(&s, scripts, large, rd);
    expect(&s, 0, 0, 8192, 10 * WB_MS, 12 * WB_MS);
    expect(&s, 1, 1, 192, 10 * WB_MS, 12 * WB_MS);
    scripted_free(&s);
}

/* A direct write moves a byte once: one drain of 64 KiB per read of as much, and one wake each way. */
static void large_writes_are_copied_once(void **state)
{
    (void)state;
    static const struct script_op wr[] = {SLEEP(5 * WB_MS), WRITE(65536), DONE};
    static const struct script_op rd[] = {READ(65536), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, wr, rd);
    expect(&s, 1, 0, 65536, 5 * WB_MS, 8 * WB_MS);
    assert_true(counted(&s, "pipe.drains") == 1);
    assert_true(counted(&s, "pipe.wake_plain_writer") == 1); /* the reader slept */
    assert_true(counted(&s, "pipe.wake_plain_reader") == 1); /* the writer waits for the last byte */
    assert_true(counted(&s, "pipe.wake_sync_writer") + counted(&s, "pipe.wake_sync_reader") == 0);
    scripted_free(&s);
}

/* More than 64 KiB goes over in parts of the buffer's size. */
static void parts_are_as_large_as_the_buffer(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(100000), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(100000), READ(100000), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, wr, rd);
    expect(&s, 1, 0, 65536, 5 * WB_MS, 8 * WB_MS); /* nothing more is there: it returns */
    expect(&s, 1, 1, 34464, 5 * WB_MS, 8 * WB_MS);
    scripted_free(&s);
}

/* 16 KiB, and the writer that waits for more is told when less than 5461 bytes are left at the end of a read. */
static void a_writer_waits_until_a_third_is_left(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(8000), WRITE(8000), WRITE(8000), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(10923), SLEEP(5 * WB_MS), READ(1), SLEEP(WB_MS), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, wr, rd);
    expect(&s, 0, 1, 8000, 0, 2 * WB_MS);
    expect(&s, 1, 0, 10923, 5 * WB_MS, 7 * WB_MS); /* 5461 are left: not enough */
    expect(&s, 0, 2, 8000, 10 * WB_MS, 12 * WB_MS);
    assert_true(counted(&s, "pipe.wake_plain_reader") == 1);
    scripted_free(&s);
}

/* Up to 512 bytes go in together or wait; more goes in by parts. */
static void writes_up_to_512_bytes_are_atomic(void **state)
{
    (void)state;
    static const struct script_op all[] = {WRITE(8000), WRITE(8000), WRITE(512), DONE};
    static const struct script_op parts[] = {WRITE(8000), WRITE(8000), WRITE(513), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(16384), SLEEP(WB_MS), READ(1000), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, all, rd);
    expect(&s, 1, 0, 16000, 5 * WB_MS, 6 * WB_MS);
    scripted_free(&s);
    run(&s, scripts, parts, rd);
    expect(&s, 1, 0, 16384, 5 * WB_MS, 6 * WB_MS);
    expect(&s, 1, 1, 129, 6 * WB_MS, 8 * WB_MS);
    scripted_free(&s);
}

/* Nobody is told who has not asked: a reader that comes when data is there costs no wake. */
static void nobody_is_told_without_having_asked(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(100), WRITE(100), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(100), READ(100), READ(100), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, wr, rd);
    expect(&s, 1, 2, 0, 5 * WB_MS, 7 * WB_MS); /* end of file */
    assert_true(counted(&s, "pipe.wake_plain_writer") + counted(&s, "pipe.wake_plain_reader") == 0);
    scripted_free(&s);
}

/* The reader goes while a write is half taken: what was taken is returned, then EPIPE. */
static void closing_ends_a_direct_write(void **state)
{
    (void)state;
    static const struct script_op wr[] = {WRITE(20000), WRITE(10), DONE};
    static const struct script_op rd[] = {SLEEP(5 * WB_MS), READ(5000), DONE};
    static struct scripted s;
    struct script scripts[2];
    run(&s, scripts, wr, rd);
    expect(&s, 0, 0, 5000, 5 * WB_MS, 7 * WB_MS);
    expect(&s, 0, 1, -EPIPE, 5 * WB_MS, 7 * WB_MS);
    scripted_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_8192_bytes_on_the_writer_waits), cmocka_unit_test(large_writes_are_copied_once),
        cmocka_unit_test(parts_are_as_large_as_the_buffer),    cmocka_unit_test(a_writer_waits_until_a_third_is_left),
        cmocka_unit_test(writes_up_to_512_bytes_are_atomic),   cmocka_unit_test(nobody_is_told_without_having_asked),
        cmocka_unit_test(closing_ends_a_direct_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
