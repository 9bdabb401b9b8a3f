#include "pipe.h"

/* A chunk on its way. The call it belongs to lies below it on the same stack. */
struct chunk {
    struct wb_frame h;
    struct pipe_call *c;
    uint32_t line; /* of the slot */
    uint32_t page, offset;
};

static struct chunk *start_chunk(struct wb_exec *x, struct pipe_call *c, wb_step_fn step)
{
    struct chunk *f = WB_PUSH(x, step, struct chunk);
    WB_CHECK(c->chars && c->chars <= c->left, "a chunk of %u of %u bytes", c->chars, c->left);
    f->c = c;
    return f;
}

/* The chunk is copied: the call moves on, the pipe counts. A drain after a fill is a handoff. */
static void moved(struct wb_exec *x, struct pipe_call *c, bool in)
{
    struct pipe *p = c->p;
    c->off += c->chars;
    c->left -= c->chars;
    c->ret += c->chars;
    if (in)
        p->in += c->chars;
    else
        p->out += c->chars;
    wb_counter_add(x, in ? p->st->count.fills : p->st->count.drains, 1);
    if (!in && p->filled) wb_counter_add(x, p->st->count.handoffs, 1);
    p->filled = in;
}

/* ---- pages ---- */

/* Linux keeps one page (2.6.11 tmp_page) or two (2025; here with the rules of 6.18) in the pipe before it asks the
 * page allocator. */
static uint32_t get_page(struct wb_exec *x, struct pipe_call *c)
{
    struct pipe *p = c->p;
    for (uint32_t i = 0; i < p->st->rules->tmp_pages; i++) {
        uint32_t page = p->tmp[i];
        if (page == WB_NO_REGION) continue;
        p->tmp[i] = WB_NO_REGION;
        return page;
    }
    if (!c->paged) wb_charge_fn(x, p->st->fn.alloc_first);
    c->paged = true;
    wb_charge_fn(x, p->st->fn.alloc);
    uint32_t page = wb_page_alloc(wb_machine_state_of(x->sim), x->cpu);
    WB_CHECK(page != WB_NO_REGION, "a pipe has no page left");
    return page;
}

static void put_page(struct wb_exec *x, struct pipe_call *c, uint32_t page)
{
    struct pipe *p = c->p;
    for (uint32_t i = 0; i < p->st->rules->tmp_pages; i++) {
        if (p->tmp[i] != WB_NO_REGION) continue;
        p->tmp[i] = page;
        return;
    }
    if (!c->paged) wb_charge_fn(x, p->st->fn.free_first);
    c->paged = true;
    wb_charge_fn(x, p->st->fn.free);
    wb_page_free(wb_machine_state_of(x->sim), x->cpu, page);
}

void pipe_free_pages(struct wb_exec *x, struct pipe *p)
{
    while (p->oldest != WB_NO_REGION) {
        uint32_t page = p->oldest;
        p->oldest = pipe_note(p, page)->next;
        wb_charge_fn(x, p->st->fn.free);
        wb_page_free(wb_machine_state_of(x->sim), x->cpu, page);
    }
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(p->tmp); i++) {
        if (p->tmp[i] == WB_NO_REGION) continue;
        wb_charge_fn(x, p->st->fn.free);
        wb_page_free(wb_machine_state_of(x->sim), x->cpu, p->tmp[i]);
        p->tmp[i] = WB_NO_REGION;
    }
}

/* ---- one page ---- */

static enum wb_ret fill_page_step(struct wb_exec *x, void *frame)
{
    struct chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    f->offset = (p->start + p->len) & (p->st->page_bytes - 1);
    WB_COPY(x, f, WB_SPAN(c->buf, c->off, c->chars), WB_SPAN(p->page, f->offset, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, p->st->fn.write);
    p->len += c->chars;
    moved(x, c, true);
    WB_END();
}

void pipe_fill_page(struct wb_exec *x, struct pipe_call *c)
{
    (void)start_chunk(x, c, fill_page_step);
}

static enum wb_ret drain_page_step(struct wb_exec *x, void *frame)
{
    struct chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    WB_COPY(x, f, WB_SPAN(p->page, p->start, c->chars), WB_SPAN(c->buf, c->off, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, p->st->fn.read);
    p->start = (p->start + c->chars) & (p->st->page_bytes - 1);
    p->len -= c->chars;
    moved(x, c, false);
    WB_END();
}

void pipe_drain_page(struct wb_exec *x, struct pipe_call *c)
{
    (void)start_chunk(x, c, drain_page_step);
}

/* ---- ring: what a step does with a slot around its copy ---- */

void pipe_take_slot(struct wb_exec *x, struct pipe_call *c)
{
    struct pipe *p = c->p;
    WB_CHECK(!pipe_full(p) && c->left, "a pipe: a slot is filled that is not there, or with nothing");
    c->chars = WB_MIN(c->left, p->st->page_bytes);
    if (p->slot_line == WB_NO_LINE) p->slot_line = wb_lines_new(wb_machine_state_of(x->sim), pipe_slot_lines(p));
    wb_charge_fn(x, p->st->fn.buf);
    c->page = get_page(x, c);
}

void pipe_append_slot(struct pipe_call *c)
{
    struct pipe *p = c->p;
    *pipe_note(p, c->page) = (struct wb_page_note){.next = WB_NO_REGION};
    if (p->oldest == WB_NO_REGION)
        p->oldest = c->page;
    else
        pipe_note(p, p->newest)->next = c->page;
    p->newest = c->page;
    p->used++;
}

void pipe_slot_filled(struct wb_exec *x, struct pipe_call *c)
{
    pipe_note(c->p, c->page)->len = c->chars;
    moved(x, c, true);
}

void pipe_open_slot(struct wb_exec *x, struct pipe_call *c)
{
    const struct pipe *p = c->p;
    const struct wb_page_note *note = pipe_note(p, p->oldest);
    WB_CHECK(p->used && note->len && c->left, "a pipe: an empty slot is drained, or for nothing");
    c->chars = (uint32_t)WB_MIN(c->left, note->len);
    wb_charge_fn(x, p->st->fn.buf);
}

bool pipe_slot_drained(struct wb_exec *x, struct pipe_call *c)
{
    struct pipe *p = c->p;
    uint32_t page = p->oldest;
    struct wb_page_note *note = pipe_note(p, page);
    moved(x, c, false);
    note->offset += c->chars;
    note->len -= c->chars;
    if (note->len) return false;
    p->oldest = note->next;
    put_page(x, c, page);
    return true;
}

void pipe_free_slot(struct pipe *p)
{
    p->first = p->first + 1 == p->nslots ? 0 : p->first + 1;
    p->used--;
}

static enum wb_ret fill_last_step(struct wb_exec *x, void *frame)
{
    struct chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    f->offset = pipe_note(p, f->page)->offset + pipe_note(p, f->page)->len;
    WB_COPY(x, f, WB_SPAN(c->buf, c->off, c->chars), WB_SPAN(f->page, f->offset, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, f->line, WB_LINE_WRITE, p->st->fn.write);
    pipe_note(p, f->page)->len += c->chars;
    moved(x, c, true);
    WB_END();
}

uint32_t pipe_mergeable(const struct pipe_call *c)
{
    struct pipe *p = c->p;
    uint32_t page = p->st->page_bytes, n = c->left;
    if (!p->used || p->packets || p->st->rules->merge == PIPE_MERGE_NONE) return 0;
    if (p->st->rules->merge == PIPE_MERGE_SMALL && n >= page) return 0;
    if (p->st->rules->merge == PIPE_MERGE_TAIL) n &= page - 1;
    const struct wb_page_note *last = pipe_note(p, p->newest);
    return n <= page && last->offset + last->len + n <= page ? n : 0;
}

void pipe_fill_last(struct wb_exec *x, struct pipe_call *c)
{
    struct chunk *f = start_chunk(x, c, fill_last_step);
    f->page = c->p->newest;
    f->line = pipe_line_of_slot(c->p, c->p->used - 1);
}
