/* calib_rows.c - what follows from the probes without a fit: a table from figures to keys. */
#include "calib.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64.0

struct calib_row *calib_add(struct calib *c, const char *key, enum wb_unit unit)
{
    if (c->n == c->room) {
        uint32_t room = c->room ? 2 * c->room : 64;
        struct calib_row *p = realloc(c->row, room * sizeof *p);
        WB_CHECK(p, "out of memory while calibrating");
        c->row = p;
        c->room = room;
    }
    struct calib_row *r = &c->row[c->n++];
    memset(r, 0, sizeof *r);
    snprintf(r->key, sizeof r->key, "%s", key);
    r->unit = unit;
    return r;
}

const struct calib_row *calib_find(const struct calib *c, const char *key)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (!strcmp(c->row[i].key, key)) return &c->row[i];
    return NULL;
}

/* NAN when the text is none or in another unit. */
static double limit(const char *text, enum wb_unit unit)
{
    int64_t v;
    const char *why;
    size_t at;
    return text && !wb_parse_quantity(text, unit, &v, &why, &at) ? (double)v : NAN;
}

double calib_within(const struct wb_key_registry *keys, const char *key, enum wb_unit unit, double v)
{
    const struct wb_key *row = wb_keys_find(keys, key, NULL);
    return row ? fmin(fmax(v, limit(row->min, unit)), limit(row->max, unit)) : v; /* NAN limits nothing */
}

void calib_rows_within(struct calib *c, const struct wb_key_registry *keys)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct calib_row *r = &c->row[i];
        r->value = calib_within(keys, r->key, r->unit, r->value);
        r->lo = calib_within(keys, r->key, r->unit, r->lo);
        r->hi = calib_within(keys, r->key, r->unit, r->hi);
    }
}

/* figure -> key; with a tail the distance stands between key and tail. scale: figure's unit to the key's. */
static const struct {
    const char *figure, *key;
    enum wb_unit unit;
    double scale;
    const char *tail;
} direct[] = {
    {"clock", "machine.clock", WB_UNIT_FREQ, 1, NULL},
    {"smt_share", "machine.smt_share", WB_UNIT_RATIO, 1e6, NULL},
    {"line_read", "machine.line.read", WB_UNIT_TIME, 1e3, NULL},
    {"line_write", "machine.line.write", WB_UNIT_TIME, 1e3, NULL},
    {"line_rmw", "machine.line.rmw", WB_UNIT_TIME, 1e3, NULL},
    {"line_rmw_plain", "machine.line.rmw_plain", WB_UNIT_TIME, 1e3, NULL},
    {"l1_latency", "machine.cache.l1.latency", WB_UNIT_TIME, 1e3, NULL},
    {"l1_read", "machine.cache.l1.read", WB_UNIT_RATE, 1, NULL},
    {"l1_write", "machine.cache.l1.write", WB_UNIT_RATE, 1, NULL},
    {"l2_latency", "machine.cache.l2.latency", WB_UNIT_TIME, 1e3, NULL},
    {"l2_read", "machine.cache.l2.read", WB_UNIT_RATE, 1, NULL},
    {"l2_write", "machine.cache.l2.write", WB_UNIT_RATE, 1, NULL},
    {"l3_latency", "machine.cache.l3.latency", WB_UNIT_TIME, 1e3, NULL},
    {"l3_read", "machine.cache.l3.read", WB_UNIT_RATE, 1, NULL},
    {"l3_write", "machine.cache.l3.write", WB_UNIT_RATE, 1, NULL},
    {"l4_latency", "machine.cache.l4.latency", WB_UNIT_TIME, 1e3, NULL},
    {"l4_read", "machine.cache.l4.read", WB_UNIT_RATE, 1, NULL},
    {"l4_write", "machine.cache.l4.write", WB_UNIT_RATE, 1, NULL},
    {"l1_copy", "machine.copy.l1", WB_UNIT_RATE, 1, NULL},
    {"l2_copy", "machine.copy.l2", WB_UNIT_RATE, 1, NULL},
    {"l3_copy", "machine.copy.l3", WB_UNIT_RATE, 1, NULL},
    {"l4_copy", "machine.copy.l4", WB_UNIT_RATE, 1, NULL},
    {"memory_latency", "machine.memory.latency", WB_UNIT_TIME, 1e3, NULL},
    {"memory_read", "machine.memory.read", WB_UNIT_RATE, 1, NULL},
    {"memory_write", "machine.memory.write", WB_UNIT_RATE, 1, NULL},
    {"memory_rate", "machine.memory.rate", WB_UNIT_RATE, 1, NULL},
    {"transfer", "machine.line.transfer.", WB_UNIT_TIME, 1e3, ""},
    {"dirty_read", "machine.transfer.", WB_UNIT_RATE, 1, ".read"},
    {"dirty_write", "machine.transfer.", WB_UNIT_RATE, 1, ".write"},
};

static void put_direct(struct calib *c, const struct probe_figure *f, size_t i, const char *far)
{
    char key[72];
    if (!f || !f->n) return;
    if (far)
        snprintf(key, sizeof key, "%s%s%s", direct[i].key, far, direct[i].tail);
    else
        snprintf(key, sizeof key, "%s", direct[i].key);
    struct calib_row *r = calib_add(c, key, direct[i].unit);
    r->value = f->median * direct[i].scale;
    r->lo = f->lo * direct[i].scale;
    r->hi = f->hi * direct[i].scale;
    snprintf(r->method, sizeof r->method, "%s; median of %u", probe_method(f->name), f->n);
}

/* Costs that a row is made of without being measured themselves: of the base profile, in cycles (calls-linux.inc). */
#define TASK_TGID_VNR_CYCLES 40
#define FDGET_POS_CYCLES 48
#define WRITE_NULL_CYCLES 12
#define SELECT_TIMEOUT_CYCLES 40

static double cycles_ns(const struct probe_set *p, double cycles)
{
    const struct probe_figure *clock = probe_find(p, "clock");
    return clock && clock->n ? cycles / clock->median * 1e9 : 0;
}

static void put_time(struct calib *c, const char *key, const struct probe_figure *f, double share, double less_ns)
{
    struct calib_row *r = calib_add(c, key, WB_UNIT_TIME);
    r->value = fmax(f->median - less_ns, 1) * share * 1e3;
    r->lo = fmax(f->lo - less_ns, 1) * share * 1e3;
    r->hi = fmax(f->hi - less_ns, 1) * share * 1e3;
}

/* What was taken off a row is itself known to `down` below and `up` above, in the row's unit: errors of a difference
 * add as squares. */
static void widen_row(struct calib_row *r, double down, double up)
{
    double lo = hypot(r->value - r->lo, up), hi = hypot(r->hi - r->value, down);
    r->lo = fmax(r->value - lo, 0);
    r->hi = r->value + hi;
}

/* The same for `times` times a figure in ns, of which the row has a share in ps. */
static void widen_time(struct calib_row *r, const struct probe_figure *less, double times)
{
    widen_row(r, (less->median - less->lo) * times * 1e3, (less->hi - less->median) * times * 1e3);
}

/* getppid is entry, exit and one small function. How entry and exit share the time is not measured: as in the base
 * profile, 3 to 2. */
static void put_syscall(struct calib *c, const struct probe_set *p)
{
    static const struct {
        const char *key;
        double share;
    } part[] = {{"kernel.path.syscall_entry", 0.6}, {"kernel.path.syscall_exit", 0.4}};
    const struct probe_figure *f = probe_find(p, "getppid");
    for (size_t i = 0; f && f->n && i < WB_ARRAY_SIZE(part); i++) {
        put_time(c, part[i].key, f, part[i].share, cycles_ns(p, TASK_TGID_VNR_CYCLES));
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method,
                 "%.0f %% of a getppid call less its function; median of %u", part[i].share * 100, f->n);
    }
}

/* Other calls: what they take beyond entry, exit and the functions that are assumed goes to their longest function. */
static void put_calls(struct calib *c, const struct probe_set *p)
{
    static const struct {
        const char *figure, *key;
        double cycles;
    } call[] = {
        {"call_write", "kernel.function.vfs_write_check.cost", FDGET_POS_CYCLES + WRITE_NULL_CYCLES},
        {"call_select", "kernel.function.core_sys_select.cost", SELECT_TIMEOUT_CYCLES},
        {"call_socket_protocol", "kernel.function.sock_create.cost", 0},
    };
    const struct probe_figure *bare = probe_find(p, "getppid");
    for (size_t i = 0; bare && bare->n && i < WB_ARRAY_SIZE(call); i++) {
        const struct probe_figure *f = probe_find(p, call[i].figure);
        if (!f || !f->n) continue;
        put_time(c, call[i].key, f, 1, bare->median + cycles_ns(p, call[i].cycles - TASK_TGID_VNR_CYCLES));
        widen_time(&c->row[c->n - 1], bare, 1);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method,
                 "%s less entry, exit and what else it does; median of %u", call[i].figure, f->n);
    }
}

static const struct probe_figure *far_figure(const struct probe_set *p, const char *name, const char *far)
{
    char full[PROBE_NAME];
    snprintf(full, sizeof full, "%s.%s", name, far);
    const struct probe_figure *f = probe_find(p, full);
    return f && f->n ? f : NULL;
}

static const struct probe_figure *figure_of(const struct probe_set *p, const char *name)
{
    const struct probe_figure *f = probe_find(p, name);
    return f && f->n ? f : NULL;
}

/* Birth and end of a process of the size of a workload's task. In the end there is a wakeup of the parent and a switch
 * to it: half a trip on one CPU, less the calls of that half. */
static void put_life(struct calib *c, const struct probe_set *p)
{
    const struct probe_figure *born = figure_of(p, "fork_call"), *end = figure_of(p, "child_end");
    const struct probe_figure *trip = figure_of(p, "local_trip"), *calls = figure_of(p, "pipe_1");
    double handover = trip && calls ? fmax(trip->median / 2 - calls->median, 0) : 0;
    if (born) {
        put_time(c, "kernel.path.fork", born, 1, 0);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method, "%s; median of %u", probe_method(born->name),
                 born->n);
    }
    if (end) {
        put_time(c, "kernel.path.exit", end, 1, handover);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method,
                 "end of a child until it has been reaped, less %.1f us of waking and switching; median of %u",
                 handover * 1e-3, end->n);
    }
}

/* Stopping the tick of a CPU that goes idle programs the timer for the next event there is, starting it again does so
 * for the next tick (tick_nohz_stop_tick, tick_nohz_restart): what else they do is small beside a trap, and counted to
 * entering and leaving idle. */
static void put_timer(struct calib *c, const struct probe_set *p)
{
    static const char *const keys[] = {"kernel.path.tick_nohz_stop", "kernel.path.tick_nohz_restart"};
    const struct probe_figure *f = figure_of(p, "timer_program");
    for (size_t i = 0; f && i < WB_ARRAY_SIZE(keys); i++) {
        put_time(c, keys[i], f, 1, 0);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method, "programming the timer once: %s; median of %u",
                 probe_method(f->name), f->n);
    }
}

/* A place in a wait queue. poll() takes and drops a reference on the file besides and both sides take the queue's lock:
 * four locked operations, which the model counts apart. How the rest divides is the base profile's: two to one. */
static void put_wait(struct calib *c, const struct probe_set *p)
{
    static const struct {
        const char *key;
        double share;
    } part[] = {{"kernel.path.prepare_to_wait", 2 / 3.0}, {"kernel.path.finish_wait", 1 / 3.0}};
    const struct probe_figure *f = figure_of(p, "wait_entry"), *locked = figure_of(p, "line_rmw");
    for (size_t i = 0; f && i < WB_ARRAY_SIZE(part); i++) {
        put_time(c, part[i].key, f, part[i].share, locked ? 4 * locked->median : 0);
        if (locked) widen_time(&c->row[c->n - 1], locked, 4 * part[i].share);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method,
                 "%.0f %% of a place in a wait queue, taken and left: %s; median of %u", part[i].share * 100,
                 probe_method(f->name), f->n);
    }
}

/* User registers saved as a task is switched out, and its way back to user mode, beyond what any call pays for that. */
static void put_return(struct calib *c, const struct probe_set *p)
{
    static const struct {
        const char *figure, *key;
    } part[] = {{"switched_save", "kernel.path.switch_fpu_prepare"},
                {"switched_return", "kernel.path.exit_to_user_mode_loop"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) {
        const struct probe_figure *f = figure_of(p, part[i].figure);
        if (!f) continue;
        put_time(c, part[i].key, f, 1, 0);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method, "%s; median of %u", probe_method(f->name), f->n);
    }
}

static void put_pages(struct calib *c, const struct probe_set *p)
{
    static const struct {
        const char *figure, *key;
    } side[] = {{"page_first_get", "kernel.path.alloc_page_first"}, {"page_first_put", "kernel.path.free_page_first"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(side); i++) {
        const struct probe_figure *f = figure_of(p, side[i].figure);
        if (!f) continue;
        put_time(c, side[i].key, f, 1, 0);
        snprintf(c->row[c->n - 1].method, sizeof c->row[0].method,
                 "%s: the third page less the second, less the fifth less the fourth; median of %u",
                 probe_method(f->name), f->n);
    }
}

#define LINES_MOST 1000.0 /* that the keys may be */

/* Half of the figure in lines, less some. */
static void put_lines(struct calib *c, const char *key, const struct probe_figure *f, double line_ns, double less)
{
    const double most = LINES_MOST, two_ns = 2 * line_ns;
    struct calib_row *r = calib_add(c, key, WB_UNIT_COUNT);
    r->value = fmin(fmax(round(f->median / two_ns - less), 0), most);
    r->lo = fmin(fmax(floor(f->lo / two_ns - less), 0), most);
    r->hi = fmin(fmax(ceil(f->hi / two_ns - less), 0), most);
    snprintf(r->method, sizeof r->method, "%s: %.0f ns more, %.1f ns a line from the L2; median of %u",
             probe_method(f->name), f->median, line_ns, f->n);
}

/* Lines of the kernel's own data, from what refilling the L1 with them takes. Two calls, each after the L1 was filled
 * anew, are two calls' lines; of a trip each half is a call of the one, a switch, and a call of the other. */
static void put_footprint(struct calib *c, const struct probe_set *p)
{
    const struct probe_figure *calls = figure_of(p, "cold_calls"), *trip = figure_of(p, "cold_trip");
    const struct probe_figure *l1 = figure_of(p, "l1_latency"), *l2 = figure_of(p, "l2_latency");
    if (!calls || !trip || !l1 || !l2 || l2->median <= l1->median) return;
    double line_ns = l2->median - l1->median;
    put_lines(c, "kernel.call_lines", calls, line_ns, 0);
    const struct calib_row one = c->row[c->n - 1];
    put_lines(c, "kernel.switch_lines", trip, line_ns, 2 * one.value);
    struct calib_row *r = &c->row[c->n - 1];
    widen_row(r, 2 * (one.value - one.lo), 2 * (one.hi - one.value));
    r->lo = floor(r->lo);
    r->hi = fmin(ceil(r->hi), LINES_MOST);
}

/* How long throwing away the other copy takes, against the move of the line; and how many are in flight when lines that
 * others have copies of are written in order. The nearest distance tells. */
static void put_upgrades(struct calib *c, const struct probe_set *p)
{
    for (unsigned d = WB_FAR_SMT + 1; d < WB_DISTANCES; d++) {
        const char *far = wb_distance_name((enum wb_distance)d);
        const struct probe_figure *all = far_figure(p, "shared_write", far), *one = far_figure(p, "upgrade", far);
        const struct probe_figure *move = far_figure(p, "transfer", far);
        if (!all || !one || !move) continue;
        struct calib_row *r = calib_add(c, "machine.line.upgrade", WB_UNIT_RATIO);
        r->value = fmin(fmax(one->median / move->median, 0.01), 10) * 1e6; /* what the key may be */
        r->lo = fmin(fmax(one->lo / move->hi, 0.01), 10) * 1e6;
        r->hi = fmin(fmax(one->hi / move->lo, 0.01), 10) * 1e6;
        snprintf(r->method, sizeof r->method, "locked additions in lines that both have read: %.1f ns; median of %u",
                 one->median, one->n);
        r = calib_add(c, "machine.line.upgrade_overlap", WB_UNIT_COUNT);
        const double most = 64; /* that the key may be */
        r->value = fmin(fmax(round(one->median * all->median / LINE_BYTES * 1e-9), 1), most);
        r->lo = fmin(fmax(floor(one->lo * all->lo / LINE_BYTES * 1e-9), 1), most);
        r->hi = fmin(fmax(ceil(one->hi * all->hi / LINE_BYTES * 1e-9), 1), most);
        snprintf(r->method, sizeof r->method, "%s: %.2f GB/s, against %.1f ns for one; median of %u",
                 probe_method(all->name), all->median * 1e-9, one->median, all->n);
        return;
    }
}

/* A tick is what interrupts a spinning task at a fixed phase of the period: entry, handler, exit. */
static void put_tick(struct calib *c, const struct probe_set *p)
{
    const struct probe_spread *t = probe_find_spread(p, "tick");
    const struct probe_figure *hz = probe_find(p, "hz"), *seen = probe_find(p, "ticks_seen");
    double entry_ns = 250; /* kernel.path.irq_entry of the profiles */
    if (hz && hz->n) c->hz = (uint32_t)lround(hz->median);
    if (!hz || !t || t->n < 20 || !seen || !seen->n || seen->median < hz->median / 2) return;
    struct calib_row *r = calib_add(c, "kernel.path.timer_tick", WB_UNIT_TIME);
    r->value = fmax(probe_quantile(t, 0.5) - entry_ns, 100) * 1e3;
    r->lo = fmax(probe_quantile(t, 0.25) - entry_ns, 50) * 1e3;
    r->hi = fmax(probe_quantile(t, 0.75) - entry_ns, 150) * 1e3;
    snprintf(r->method, sizeof r->method,
             "gap in a task that reads the clock, less %g ns of interrupt entry; median and "
             "quartiles of %u ticks",
             entry_ns, t->n);
}

static void put_noise(struct calib *c, const struct probe_set *p)
{
    static const double q[3] = {0.1, 0.5, 0.9};
    const struct probe_spread *s = probe_find_spread(p, "noise");
    const struct probe_figure *rate = probe_find(p, "noise_rate");
    if (!s || s->n < 5 || !rate || rate->n < 3) return;
    c->noise.gap_ns = 1e9 / (rate->median > 0 ? rate->median : 1);
    for (int i = 0; i < 3; i++) c->noise.cost_ns[i] = probe_quantile(s, q[i]);
}

void calib_direct(struct calib *c, const struct probe_set *p)
{
    char name[PROBE_NAME];
    for (size_t i = 0; i < WB_ARRAY_SIZE(direct); i++) {
        if (!direct[i].tail) {
            put_direct(c, probe_find(p, direct[i].figure), i, NULL);
            continue;
        }
        for (unsigned d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
            const char *far = wb_distance_name((enum wb_distance)d);
            snprintf(name, sizeof name, "%s.%s", direct[i].figure, far);
            put_direct(c, probe_find(p, name), i, far);
        }
    }
    put_upgrades(c, p);
    put_syscall(c, p);
    put_calls(c, p);
    put_life(c, p);
    put_return(c, p);
    put_pages(c, p);
    put_footprint(c, p);
    put_timer(c, p);
    put_wait(c, p);
    put_tick(c, p);
    put_noise(c, p);
}
