#include "skb.h"

/* clang-format off */
const struct skb_rules skb_rules[] = {
    /* Linux 2.6.35 net/core/skbuff.c __alloc_skb: truesize = size + sizeof(struct sk_buff), 232 bytes on x86_64 with
     * netfilter and connection tracking; include/net/sock.h _SK_MEM_OVERHEAD (sizeof(struct sk_buff) + 256), 256
     * packets: 124928. The same is assumed of earlier versions, whose sk_buff differs by a few words. */
    { .name = "2.6.0", .version = IPC_VERSION(2, 6, 0), .head_bytes = 232, .info_bytes = 320, .account = SKB_DATA_AND_HEAD, .buffer = 256 * (232 + 256) },
    /* Linux 3.2, commit 87fb4b7b533: truesize counts the whole object and the shared info; SK_WMEM_MAX = 256 *
     * SKB_TRUESIZE(256) = 212992. */
    { .name = "3.2", .version = IPC_VERSION(3, 2, 0), .head_bytes = 256, .info_bytes = 320, .account = SKB_SLAB, .buffer = 256 * (256 + 256 + 320) },
    /* Linux 6.3, commit bf9f1baa279f: skb_small_head_cache, objects of 640 bytes on x86_64. */
    { .name = "6.3", .version = IPC_VERSION(6, 3, 0), .head_bytes = 256, .info_bytes = 320, .account = SKB_SMALL_HEAD, .buffer = 256 * (256 + 256 + 320) },
};
/* clang-format on */
const size_t skb_rules_n = WB_ARRAY_SIZE(skb_rules);
#define ALIGN_BYTES 64u
#define SMALL_HEAD_BYTES 640u
#define BLOCK_MAX_BYTES 32768u /* UNIX_SKB_FRAGS_SZ: the largest block that is asked for */

const struct skb_rules *skb_rules_at(uint32_t version)
{
    const struct skb_rules *found = &skb_rules[0];
    for (size_t i = 0; i < skb_rules_n && skb_rules[i].version <= version; i++) found = &skb_rules[i];
    return found;
}

/* The size-N object that kmalloc() gives: 96, 192 and powers of two; beyond two pages' worth, whole pages. */
static uint32_t slab_size(uint32_t bytes)
{
    if (bytes > 64 && bytes <= 96) return 96;
    if (bytes > 128 && bytes <= 192) return 192;
    if (bytes > 65536) return (bytes + 4095) & ~4095u;
    uint32_t size = 8;
    while (size < bytes) size *= 2;
    return size;
}

uint32_t skb_truesize(const struct skb_rules *r, uint32_t bytes)
{
    uint32_t data = (bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
    if (r->account == SKB_DATA_AND_HEAD) return data + r->head_bytes;
    if (r->account == SKB_SMALL_HEAD && data + r->info_bytes <= SMALL_HEAD_BYTES)
        return SMALL_HEAD_BYTES + r->head_bytes;
    return slab_size(data + r->info_bytes) + r->head_bytes;
}

/* ---- the pool ---- */

struct skb_block {
    struct skb_block *next;
    uint32_t n, used;
    struct skb record[];
};

void skb_pool_init(struct wb_sim *s, struct skb_pool *p, uint32_t version, uint32_t page_bytes)
{
    *p = (struct skb_pool){.sim = s, .rules = skb_rules_at(version), .page_bytes = page_bytes};
    p->touched = (p->rules->head_bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
    p->copy_q = WB_S * 1024 / wb_machine_costs(wb_machine_of(s))->copy_rate[0];
    p->fn_alloc = wb_fn_id(s, "alloc_skb", WB_CAT_SYSCALL, 0);
    p->fn_free = wb_fn_id(s, "kfree_skb", WB_CAT_SYSCALL, 0);
    p->fn_alloc_page = wb_fn_id(s, "alloc_page", WB_CAT_SYSCALL, 0);
    p->fn_free_page = wb_fn_id(s, "free_page", WB_CAT_SYSCALL, 0);
}

uint32_t skb_fragments(const struct skb_pool *p, uint32_t bytes)
{
    uint32_t linear = p->page_bytes - p->rules->info_bytes, blocks = 0;
    if (!p->fragments || bytes <= linear) return 0;
    uint32_t pages = (bytes - linear + p->page_bytes - 1) / p->page_bytes;
    for (uint32_t block = WB_MAX(BLOCK_MAX_BYTES / p->page_bytes, 1u); pages; block /= 2)
        for (; block <= pages; blocks++) pages -= block;
    return blocks;
}

static uint32_t pages_of(const struct skb_pool *p, uint32_t bytes)
{
    return (uint32_t)(((uint64_t)p->touched + bytes + p->rules->info_bytes + p->page_bytes - 1) / p->page_bytes);
}

void skb_reserve(struct skb_pool *p, uint32_t n, uint32_t bytes)
{
    struct skb_block *b = wb_sim_alloc(p->sim, sizeof *b + n * sizeof b->record[0]);
    b->n = n;
    b->used = 0;
    b->next = p->fresh;
    p->fresh = b;
    wb_sim_pages(p->sim, n * pages_of(p, bytes), p->page_bytes);
}

/* Those given back first, so that memory is touched for the peak and not for the room. */
static struct skb *take_record(struct skb_pool *p)
{
    struct skb *b = p->free;
    if (b) {
        p->free = b->next;
        return b;
    }
    while (p->fresh && p->fresh->used == p->fresh->n) p->fresh = p->fresh->next;
    WB_CHECK(p->fresh, "more than the %llu buffers that were reserved", (unsigned long long)p->made);
    p->made++;
    return &p->fresh->record[p->fresh->used++];
}

static uint32_t take_page(struct wb_exec *x)
{
    uint32_t page = wb_page_alloc(wb_machine_state_of(x->sim), x->cpu);
    WB_CHECK(page != WB_NO_REGION, "no page is left for a socket's buffer");
    return page;
}

struct skb *skb_take(struct wb_exec *x, struct skb_pool *p, uint32_t bytes)
{
    struct skb *b = take_record(p);
    struct wb_machine_state *m = wb_machine_state_of(x->sim);
    wb_charge_fn(x, p->fn_alloc);
    wb_charge_fn_n(x, p->fn_alloc_page, skb_fragments(p, bytes));
    b->next = NULL;
    b->len = bytes;
    b->off = 0;
    b->truesize = skb_truesize(p->rules, bytes);
    b->page = take_page(x);
    uint32_t last = b->page;
    for (uint32_t k = pages_of(p, bytes); k > 1; k--) {
        uint32_t page = take_page(x);
        wb_page_note(m, last)->next = page;
        last = page;
    }
    p->alive++;
    return b;
}

void skb_put(struct wb_exec *x, struct skb_pool *p, struct skb *b)
{
    struct wb_machine_state *m = wb_machine_state_of(x->sim);
    wb_charge_fn(x, p->fn_free);
    wb_charge_fn_n(x, p->fn_free_page, skb_fragments(p, b->len));
    for (uint32_t page = b->page, next; page != WB_NO_REGION; page = next) {
        next = wb_page_note(m, page)->next;
        wb_page_free(m, x->cpu, page);
    }
    b->next = p->free;
    p->free = b;
    p->alive--;
}

/* ---- copying ---- */

static bool copy_piece(struct wb_exec *x, const struct skb_move *m, struct wb_span piece, enum skb_direction dir,
                       uint16_t fn)
{
    struct wb_span user = {.region = m->buf, .offset = (uint32_t)m->buf_off, .bytes = piece.bytes};
    return dir == SKB_IN ? wb_copy_start(x, &user, &piece, fn) : wb_copy_start(x, &piece, &user, fn);
}

struct long_copy {
    struct wb_frame h;
    const struct skb_pool *p;
    struct skb_move m;
    uint32_t page, at; /* where the next piece begins */
    uint16_t fn, head_fn;
    uint8_t dir;
    bool head; /* it is touched first */
};

static enum wb_ret long_copy_step(struct wb_exec *x, void *frame)
{
    struct long_copy *f = frame;
    WB_BEGIN(f);
    if (f->head)
        WB_TOUCH(x, f, WB_SPAN(f->m.b->page, 0, f->p->touched), WB_RANDOM, f->dir == SKB_IN ? WB_WRITE : WB_READ,
                 f->head_fn);
    while (f->m.n) {
        WB_FLUSH(x, f);
        WB_FRAMED_(x, f,
                   copy_piece(x, &f->m, (struct wb_span){f->page, f->at, WB_MIN(f->m.n, f->p->page_bytes - f->at)},
                              (enum skb_direction)f->dir, f->fn));
        uint32_t moved = WB_MIN(f->m.n, f->p->page_bytes - f->at);
        f->m.n -= moved;
        f->m.buf_off += moved;
        f->at = 0;
        if (f->m.n) f->page = wb_page_note(wb_machine_state_of(x->sim), f->page)->next;
    }
    WB_END();
}

static struct long_copy *start_long(struct wb_exec *x, const struct skb_pool *p, const struct skb_move *m,
                                    enum skb_direction dir)
{
    struct long_copy *f = WB_PUSH(x, long_copy_step, struct long_copy);
    f->p = p;
    f->m = *m;
    f->fn = WB_FN_COPY_USER;
    f->dir = (uint8_t)dir;
    f->page = m->b->page;
    for (f->at = p->touched + m->at; f->at >= p->page_bytes; f->at -= p->page_bytes)
        f->page = wb_page_note(wb_machine_state_of(x->sim), f->page)->next;
    return f;
}

static void check_move(const struct skb_move *m)
{
    WB_CHECK((uint64_t)m->at + m->n <= m->b->len, "a copy beyond the %u bytes of a buffer", m->b->len);
}

bool skb_copy_start(struct wb_exec *x, const struct skb_pool *p, const struct skb_move *m, enum skb_direction dir,
                    uint16_t fn)
{
    uint32_t at = p->touched + m->at;
    check_move(m);
    if (at + m->n <= p->page_bytes) return copy_piece(x, m, (struct wb_span){m->b->page, at, m->n}, dir, fn);
    start_long(x, p, m, dir)->fn = fn;
    return true;
}

bool skb_use_start(struct wb_exec *x, const struct skb_pool *p, const struct skb_move *m, enum skb_direction dir,
                   uint16_t fn)
{
    check_move(m);
    if (m->at + m->n > SKB_SHORT) {
        struct long_copy *f = start_long(x, p, m, dir);
        f->head = true;
        f->head_fn = fn;
        return true;
    }
    /* the caller's buffer is taken to be in reach */
    wb_charge(x, WB_FN_COPY_USER, WB_CAT_COPY, m->n * p->copy_q >> 10);
    return wb_touch_start(x, WB_SPAN(m->b->page, 0, p->touched + m->at + m->n), WB_RANDOM,
                          dir == SKB_IN ? WB_WRITE : WB_READ, fn);
}

/* ---- queues ---- */

void skb_queue_init(struct wb_sim *s, struct skb_queue *q)
{
    *q = (struct skb_queue){.first = NULL};
    wb_spin_init(s, &q->lock);
}

void skb_append(struct skb_queue *q, struct skb *b)
{
    b->next = NULL;
    if (q->last)
        q->last->next = b;
    else
        q->first = b;
    q->last = b;
    q->len++;
    q->bytes += b->len - b->off;
}

struct skb *skb_remove_first(struct skb_queue *q)
{
    struct skb *b = q->first;
    if (!b) return NULL;
    q->first = b->next;
    __builtin_prefetch(q->first);
    if (!q->first) q->last = NULL;
    q->len--;
    q->bytes -= b->len - b->off;
    b->next = NULL;
    return b;
}

void skb_push_first(struct skb_queue *q, struct skb *b)
{
    b->next = q->first;
    q->first = b;
    if (!q->last) q->last = b;
    q->len++;
    q->bytes += b->len - b->off;
}
