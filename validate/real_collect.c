/* real_collect.c - from what tasks and runner wrote down to a struct real_result; see real.h. */
#include "real_inner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double rate_of(const struct real_meter *m)
{
    return m->end_ns > m->begin_ns ? (double)m->ops / ((double)(m->end_ns - m->begin_ns) * 1e-9) : 0;
}

static void add_metric(struct real_result *r, const char *name, const char *unit, bool higher, double value)
{
    r->metric[r->metric_n++] = (struct real_metric){name, unit, higher, value};
}

static void make_metrics(struct real_result *r, const struct real_board *b, double rate)
{
    static const char *const rate_name[REAL_KINDS] = {[REAL_PIPE_BW] = "bandwidth",
                                                      [REAL_PIPE_LATENCY] = "trips",
                                                      [REAL_TCP_RR] = "transactions",
                                                      [REAL_UDP_RR] = "transactions",
                                                      [REAL_UNIX_RR] = "transactions",
                                                      [REAL_SYSCALL] = "calls",
                                                      [REAL_HOG] = "work",
                                                      [REAL_PERIODIC] = "cycles"};
    if (r->kind == REAL_HACKBENCH) {
        add_metric(r, "time", "s", false, b->hackbench_s);
        add_metric(r, "messages", "1/s", true, (double)r->ops / b->hackbench_s);
        return;
    }
    if (r->kind == REAL_PIPE_LATENCY) add_metric(r, "round_trip", "s", false, rate > 0 ? 1 / rate : NAN);
    add_metric(r, rate_name[r->kind], r->kind == REAL_PIPE_BW ? "B/s" : "1/s", true, rate);
}

/* Sums over the copies: work, time, the histogram, what was done on one CPU. */
static void collect_meters(struct real_board *b, struct real_result *r)
{
    double rate = 0, together = 0;
    bool known = b->meters > 0;
    for (uint32_t i = 0; i < b->meters; i++) {
        const struct real_meter *m = board_meter(b, i);
        rate += rate_of(m);
        r->ops += m->ops;
        r->seconds += (double)(m->end_ns - m->begin_ns) * 1e-9 / b->meters;
        together += (double)m->together;
        known = known && m->knows_together;
        if (r->latency) wb_hist_merge(r->latency, &m->latency);
    }
    r->together = known && r->ops ? together / (double)r->ops : NAN;
    if (r->kind == REAL_HACKBENCH) {
        const struct real_spec *s = &b->spec;
        r->ops = (uint64_t)s->groups * s->fds * s->fds * s->loops;
        r->seconds = b->hackbench_s;
    }
    make_metrics(r, b, rate);
}

/* The i-th window of a meter when windows are `times` of its own; a power of two. */
static void sum_window(const struct real_meter *m, uint32_t i, uint32_t times, uint64_t *ops, uint64_t *together)
{
    for (uint32_t k = i * times; k < (i + 1) * times; k++) {
        *ops += m->window[k].ops;
        *together += m->window[k].together;
    }
}

static int collect_windows(struct real_board *b, struct real_result *r)
{
    uint32_t n = UINT32_MAX;
    bool known = true;
    for (uint32_t i = 0; i < b->meters; i++) r->window_ns = WB_MAX(r->window_ns, board_meter(b, i)->window_ns);
    for (uint32_t i = 0; i < b->meters; i++) {
        const struct real_meter *m = board_meter(b, i);
        n = WB_MIN(n, m->windows / (uint32_t)(r->window_ns / m->window_ns));
        known = known && m->knows_together;
    }
    if (!b->meters || !n) return 0;
    r->window = calloc(n, sizeof *r->window);
    if (!r->window) return -ENOMEM;
    r->window_n = n;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t ops = 0, together = 0;
        for (uint32_t i = 0; i < b->meters; i++) {
            const struct real_meter *m = board_meter(b, i);
            sum_window(m, k, (uint32_t)(r->window_ns / m->window_ns), &ops, &together);
        }
        r->window[k].ops = (double)ops;
        r->window[k].together = known && ops ? (double)together / (double)ops : NAN;
    }
    return 0;
}

static void collect_task(struct real_board *b, struct real_task *t, struct real_task_result *out)
{
    *out = (struct real_task_result){.copy = t->copy, .pid = t->tid, .background = t->background != NULL};
    memcpy(out->role, t->role, sizeof out->role);
    if (out->background) out->copy = t->hand_out;
    out->counts = counts_since(&t->begin, &t->end_counts);
    out->seconds = t->end_ns > t->begin_ns ? (double)(t->end_ns - t->begin_ns) * 1e-9 : 0;
    if (t->meter == UINT32_MAX) return;
    out->ops = board_meter(b, t->meter)->ops;
    out->rate = rate_of(board_meter(b, t->meter));
}

static int collect_tasks(struct real_board *b, struct real_result *r)
{
    uint32_t first = b->spec.kind == REAL_HACKBENCH ? b->own : 0, own = 0;
    r->task = calloc(b->tasks - first + 1, sizeof *r->task);
    if (!r->task) return -ENOMEM;
    for (uint32_t i = first; i < b->tasks; i++) {
        struct real_task_result *t = &r->task[r->task_n++];
        collect_task(b, board_task(b, i), t);
        if (t->background) continue;
        counts_add(&r->counts, &t->counts, !own++);
        r->count_seconds += t->seconds;
    }
    if (own) r->count_seconds /= own;
    if (!first) return 0;
    r->counts = b->hackbench_counts;
    r->count_seconds = b->hackbench_count_s;
    return 0;
}

static void note_missing(struct real_board *b, const struct real_result *r)
{
    if (b->spec.counters == REAL_COUNT_NONE) {
        board_leave_out(b, "switches and migrations were not counted (counters=none)");
        return;
    }
    if (!(r->counts.have & REAL_HAVE_SWITCHES))
        board_leave_out(b, "context switches: neither /proc nor perf events tell them here");
    if (!(r->counts.have & REAL_HAVE_MIGRATIONS))
        board_leave_out(b, "migrations: no /proc/PID/sched and no perf events here");
    if (!(r->counts.have & REAL_HAVE_CPU)) board_leave_out(b, "CPU time and run delay: no /proc/PID/schedstat here");
}

/* Software events that exclude the kernel count nothing and do not fail: migrations that stay 0 prove nothing,
 * switches do. */
int real_collect(struct real_board *b, struct real_result *r)
{
    const struct real_ops *ops = real_ops_of(b->spec.kind);
    r->kind = b->spec.kind;
    r->latency_name = ops->latency_name;
    if (ops->latency_name) {
        r->latency = malloc(sizeof *r->latency);
        if (!r->latency) return -ENOMEM;
        wb_hist_reset(r->latency);
    }
    collect_meters(b, r);
    int rc = collect_windows(b, r);
    if (!rc) rc = collect_tasks(b, r);
    if (rc) {
        real_result_free(r);
        return rc;
    }
    note_missing(b, r);
    r->cpu_ns_total = (double)b->cpu_ns;
    r->count_source = b->spec.counters == REAL_COUNT_NONE ? "none" : b->perf_used ? "perf" : "proc";
    r->left_out_n = b->left_out_n;
    memcpy(r->left_out, b->left_out, sizeof r->left_out);
    if (b->loops_per_ns > 0) r->work_ns = 1 / b->loops_per_ns;
    return 0;
}

void real_result_free(struct real_result *r)
{
    free(r->latency);
    free(r->window);
    free(r->task);
    r->latency = NULL;
    r->window = NULL;
    r->task = NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double real_window_quantile(const struct real_result *r, double q)
{
    if (!r->window_n) return NAN;
    double *v = malloc(r->window_n * sizeof *v);
    if (!v) return NAN;
    for (uint32_t i = 0; i < r->window_n; i++) v[i] = r->window[i].ops / ((double)r->window_ns * 1e-9);
    qsort(v, r->window_n, sizeof *v, by_value);
    double at = q * (double)(r->window_n - 1);
    uint32_t low = (uint32_t)at, high = WB_MIN(low + 1, r->window_n - 1);
    double value = v[low] + (v[high] - v[low]) * (at - (double)low);
    free(v);
    return value;
}

void real_window_modes(const struct real_result *r, double *together, double *apart, double *mixed)
{
    uint32_t n[3] = {0, 0, 0}, known = 0;
    for (uint32_t i = 0; i < r->window_n; i++) {
        double t = r->window[i].together;
        if (isnan(t)) continue;
        known++;
        n[t > 0.9 ? 0 : t < 0.1 ? 1 : 2]++;
    }
    *together = known ? (double)n[0] / known : NAN;
    *apart = known ? (double)n[1] / known : NAN;
    *mixed = known ? (double)n[2] / known : NAN;
}
