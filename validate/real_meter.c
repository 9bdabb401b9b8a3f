/* real_meter.c - warm-up, windows and the end of a timed task's counting; see real_inner.h. */
#include "real_inner.h"

#include <string.h>

/* Full: every two windows become one, twice as long. */
static void halve(struct real_meter *m)
{
    for (uint32_t i = 0; i < REAL_WINDOWS_MAX / 2; i++) {
        m->window[i].ops = m->window[(size_t)2 * i].ops + m->window[(size_t)2 * i + 1].ops;
        m->window[i].together = m->window[(size_t)2 * i].together + m->window[(size_t)2 * i + 1].together;
    }
    m->windows = REAL_WINDOWS_MAX / 2;
    m->window_ns *= 2;
}

static void add_window(struct real_meter *m, uint64_t ops, uint64_t together)
{
    m->window[m->windows].ops = ops;
    m->window[m->windows++].together = together;
    if (m->windows == REAL_WINDOWS_MAX) halve(m);
}

/* When the window that is being filled ends. */
static uint64_t window_end(const struct real_meter *m)
{
    return m->begin_ns + (m->windows + 1) * m->window_ns;
}

static void take_window(struct meter_run *r)
{
    r->m->ops += r->win_ops;
    r->m->together += r->win_together;
    r->win_ops = r->win_together = 0;
}

static void begin(struct meter_run *r, uint64_t now)
{
    r->counting = true;
    r->m->begin_ns = now;
    wb_hist_reset(&r->m->latency);
    r->edge = WB_MIN(window_end(r->m), r->stop_at);
}

void meter_start(struct meter_run *r, struct real_meter *m, const struct real_board *b)
{
    *r = (struct meter_run){.m = m, .begin_at = b->begin_at, .stop_at = b->stop_at};
    m->window_ns = b->spec.window_ns;
    m->ops = m->together = 0;
    m->windows = 0;
    wb_hist_reset(&m->latency);
    r->last = real_now();
    r->edge = r->begin_at;
    if (r->last >= r->begin_at) begin(r, r->last);
}

void meter_edge(struct meter_run *r, uint64_t now)
{
    if (!r->counting) {
        begin(r, now);
        return;
    }
    /* The operation that crossed an edge belongs to the window in which it began. */
    for (bool first = true; now >= window_end(r->m); first = false) {
        add_window(r->m, first ? r->win_ops : 0, first ? r->win_together : 0);
        if (first) take_window(r);
    }
    if (now >= r->stop_at) {
        take_window(r);
        r->m->end_ns = now;
        r->over = true;
    }
    r->edge = WB_MIN(window_end(r->m), r->stop_at);
}

void meter_finish(struct meter_run *r)
{
    if (r->over) return;
    take_window(r);
    r->m->end_ns = r->last;
    r->over = true;
}
