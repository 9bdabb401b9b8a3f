/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Truesize by version, and buffers that move: whose list gives them, whose gets them back. */
#include "skb.h"
#include "steptest.h"
#include "wbtest.h"

static void truesize_by_version(void **state)
{
    (void)state;
    static const struct {
        uint32_t version, bytes, truesize, buffer;
    } rows[] = {
        {IPC_VERSION(2, 6, 35), 1, 64 + 232, 124928},      {IPC_VERSION(2, 6, 35), 100, 128 + 232, 124928},
        {IPC_VERSION(2, 6, 36), 4096, 4096 + 232, 124928}, {IPC_VERSION(3, 2, 0), 100, 512 + 256, 212992},
        {IPC_VERSION(6, 2, 0), 100, 512 + 256, 212992},    {IPC_VERSION(6, 2, 0), 193, 1024 + 256, 212992},
        {IPC_VERSION(6, 3, 0), 100, 640 + 256, 212992},    {IPC_VERSION(6, 18, 0), 320, 640 + 256, 212992},
        {IPC_VERSION(6, 18, 0), 321, 1024 + 256, 212992},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        const struct skb_rules *r = skb_rules_at(rows[i].version);
        assert_int_equal(skb_truesize(r, rows[i].bytes), rows[i].truesize);
        assert_int_equal(r->buffer, rows[i].buffer);
    }
}

static void versions_are_read(void **state)
{
    uint32_t v;
    (void)state;
    assert_true(ipc_parse_version("2.6.36", &v) && v == IPC_VERSION(2, 6, 36));
    assert_true(ipc_parse_version("6.12", &v) && v == IPC_VERSION(6, 12, 0));
    assert_false(ipc_parse_version("2.6.", &v));
    assert_false(ipc_parse_version("six", &v));
    assert_false(ipc_parse_version("2.6.36.4", &v));
}

/* ---- blocks of pages beside the head ---- */

struct blocks {
    struct skb_pool pool;
    uint32_t bytes;
    sim_time took, freed;
};

static enum wb_ret take_and_put(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct blocks *m = f->t->own;
    struct skb *b;
    WB_BEGIN(f);
    WB_FLUSH(x, f);
    m->took = wb_now(x);
    b = skb_take(x, &m->pool, m->bytes);
    m->freed = (sim_time)(uintptr_t)b; /* across the flush */
    WB_FLUSH(x, f);
    m->took = wb_now(x) - m->took;
    b = (struct skb *)(uintptr_t)m->freed;
    m->freed = wb_now(x);
    skb_put(x, &m->pool, b);
    WB_FLUSH(x, f);
    m->freed = wb_now(x) - m->freed;
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static void setup_blocks(struct steptest *t, struct wb_sim *s)
{
    struct blocks *m = t->own;
    bool fragments = m->pool.fragments;
    skb_pool_init(s, &m->pool, IPC_VERSION(6, 18, 0), 4096);
    m->pool.fragments = fragments;
    skb_reserve(&m->pool, 1, m->bytes);
}

static struct blocks time_of(bool fragments, uint32_t bytes)
{
    struct blocks m = {.bytes = bytes, .pool = {.fragments = fragments}};
    struct steps_task task[] = {{.name = "one", .step = take_and_put, .cpu = 0, .pinned = true}};
    struct steptest t = {.task = task,
                         .n = 1,
                         .cpus = 1,
                         .scheduler = "o1",
                         .setup = setup_blocks,
                         .own = &m,
                         .sets =
                             (const char *[]){"kernel.path.alloc_page=100 ns", "kernel.path.free_page=70 ns", NULL}};
    steptest_build(&t, NULL);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    steptest_free(&t);
    return m;
}

/* A page less 320 bytes is linear; the rest is whole pages, in the largest blocks that there are. */
static void blocks_of_pages(void **state)
{
    static const struct {
        uint32_t bytes, blocks;
    } rows[] = {{1, 0},     {3776, 0},  {3777, 1},  {4096, 1},  {7872, 1}, {8192, 1},
                {12288, 2}, {16384, 1}, {24000, 2}, {32768, 1}, {36544, 1}};
    struct skb_pool p = {.rules = skb_rules_at(IPC_VERSION(6, 18, 0)), .page_bytes = 4096, .fragments = true};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++)
        if (skb_fragments(&p, rows[i].bytes) != rows[i].blocks)
            fail_msg("%u bytes: %u blocks, not %u", rows[i].bytes, skb_fragments(&p, rows[i].bytes), rows[i].blocks);
    p.fragments = false;
    assert_int_equal(skb_fragments(&p, 32768), 0);
}

/* Each block is got and freed at the cost of a page: 12 KiB (two blocks) cost more than 16 KiB (one). */
static void blocks_are_paid_for(void **state)
{
    (void)state;
    struct blocks none = time_of(false, 12288), one = time_of(true, 16384), two = time_of(true, 12288);
    assert_int_equal(one.took - none.took, 100 * WB_NS);
    assert_int_equal(one.freed - none.freed, 70 * WB_NS);
    assert_int_equal(two.took - none.took, 200 * WB_NS);
    assert_int_equal(two.freed - none.freed, 140 * WB_NS);
}

/* ---- one CPU allocates, the other frees ---- */

struct moving {
    struct skb_pool pool;
    struct skb_queue queue;
    uint32_t buf;
    uint32_t page[3];
};

static enum wb_ret sender(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct moving *m = f->t->own;
    struct skb *b;
    WB_BEGIN(f);
    WB_FLUSH(x, f);
    b = skb_take(x, &m->pool, 9000);
    for (uint32_t page = b->page; page != WB_NO_REGION; page = wb_page_note(wb_machine_state_of(x->sim), page)->next)
        m->page[0] = page;
    skb_append(&m->queue, b);
    WB_FRAMED_(
        x, f,
        skb_copy_start(x, &m->pool, &(struct skb_move){m->queue.first, 0, 9000, m->buf, 0}, SKB_IN, WB_FN_COPY_USER));
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret receiver(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct moving *m = f->t->own;
    struct skb *b;
    WB_BEGIN(f);
    WB_USER(x, f, WB_MS);
    WB_FRAMED_(x, f,
               skb_copy_start(x, &m->pool, &(struct skb_move){m->queue.first, 4000, 5000, m->buf, 4000}, SKB_OUT,
                              WB_FN_COPY_USER));
    WB_FLUSH(x, f);
    b = skb_remove_first(&m->queue);
    skb_put(x, &m->pool, b);
    m->page[1] = skb_take(x, &m->pool, 100)->page;
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret again(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct moving *m = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, 2 * WB_MS);
    m->page[2] = skb_take(x, &m->pool, 100)->page;
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static void setup(struct steptest *t, struct wb_sim *s)
{
    struct moving *m = t->own;
    skb_pool_init(s, &m->pool, IPC_VERSION(2, 6, 35), 4096);
    skb_queue_init(s, &m->queue);
    skb_reserve(&m->pool, 4, 9000);
    m->buf = wb_sim_region(s, 9000, "buffer");
}

/* The last page that the receiver freed is the first one that it gets; the sender's CPU gets another. */
static void freed_on_the_other_cpu(void **state)
{
    (void)state;
    struct moving m = {.buf = 0};
    struct steps_task task[] = {{.name = "sender", .step = sender, .cpu = 0, .pinned = true},
                                {.name = "receiver", .step = receiver, .cpu = 1, .pinned = true},
                                {.name = "again", .step = again, .cpu = 0, .pinned = true}};
    struct steptest t = {.task = task, .n = 3, .cpus = 2, .scheduler = "o1", .setup = setup, .own = &m};
    steptest_build(&t, NULL);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    assert_int_equal(m.pool.alive, 2);
    assert_int_equal(m.pool.made, 2);       /* the record of the first was used again */
    assert_int_equal(m.page[1], m.page[0]); /* pages of a buffer are freed in order: its last one is the hottest */
    assert_int_not_equal(m.page[2], m.page[1]);
    steptest_free(&t);
}

static void queue_order(void **state)
{
    (void)state;
    struct skb_queue q = {.first = NULL};
    struct skb a = {.len = 10}, b = {.len = 20, .off = 5}, c = {.len = 1};
    skb_append(&q, &a);
    skb_append(&q, &b);
    skb_push_first(&q, &c);
    assert_int_equal(q.len, 3);
    assert_int_equal(q.bytes, 26);
    assert_ptr_equal(skb_remove_first(&q), &c);
    assert_ptr_equal(skb_remove_first(&q), &a);
    assert_ptr_equal(skb_remove_first(&q), &b);
    assert_null(skb_remove_first(&q));
    assert_int_equal(q.bytes, 0);
    assert_null(q.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(truesize_by_version),    cmocka_unit_test(versions_are_read),
                                       cmocka_unit_test(freed_on_the_other_cpu), cmocka_unit_test(blocks_of_pages),
                                       cmocka_unit_test(blocks_are_paid_for),    cmocka_unit_test(queue_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
