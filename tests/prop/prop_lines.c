/*
 * prop_lines.c - contended lines against a twin that keeps a boolean per CPU, on a small and on a large machine.
 *
 * Accesses go the whole way or the short one (wb_line_time) by turns. The twin finds nearest and farthest sharers by
 * looking at all CPUs and keeps the queue as one time.
 */
#include "machine_fixture.h"

#include "propcheck.h"

enum { LINES = 3, CPUS_MAX = 96 };

struct twin_line {
    bool has[CPUS_MAX], modified; /* modified: has[] of exactly one */
    sim_time busy;
};

static struct wb_machine *machine;
static uint32_t walked; /* this many lines, the last ones, have maps of their own */

/* Kind 4 reads a set of lines at once. */
static struct prop_op make_access(struct prop_rng *r)
{
    uint64_t pause = prop_below(r, 32) ? prop_below(r, 300000) : prop_below(r, 30 * WB_MS);
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 5), .a = prop_u64(r), .b = pause};
}

/* Least or greatest distance to another CPU that has the line, -1 when none has. */
static int look(const struct twin_line *l, cpu_id c, bool farthest)
{
    const struct wb_topology *t = wb_machine_topo(machine);
    int found = -1;
    for (cpu_id o = 0; o < t->ncpus; o++) {
        if (o == c || !l->has[o]) continue;
        int far = (int)wb_topo_distance(t, c, o);
        if (found < 0 || (farthest ? far > found : far < found)) found = far;
    }
    return found;
}

static sim_time trip_of(const struct twin_line *l, cpu_id c, bool write)
{
    const struct wb_machine_spec *p = wb_machine_costs(machine);
    int other = look(l, c, write);
    if (l->modified) return l->has[c] ? 0 : p->dirty[other].latency;
    if (!write) return l->has[c] ? 0 : other >= 0 ? p->clean[other].latency : p->memory[0].latency;
    if (other < 0) return l->has[c] ? 0 : p->memory[0].latency;
    return WB_MAX(p->upgrade[other], l->has[c] ? 0 : p->dirty[other].latency);
}

static sim_time twin_access(struct twin_line *l, cpu_id c, enum wb_line_op op, sim_time now)
{
    const struct wb_machine_spec *p = wb_machine_costs(machine);
    const sim_time local[] = {p->line_read, p->line_write, p->rmw_locked, p->rmw_plain};
    bool write = op != WB_LINE_READ, was_modified = l->modified;
    sim_time trip = trip_of(l, c, write);
    sim_time start = !write && !trip ? now : WB_MAX(now, l->busy);
    sim_time done = start + (trip ? WB_MAX(trip, local[op]) : local[op]);
    if (write || (was_modified && trip)) l->busy = done;
    if (write) memset(l->has, 0, sizeof l->has);
    if (write || trip) l->modified = write;
    l->has[c] = true;
    return done;
}

/* Both sums of what reading each line of the set takes. */
static bool read_sets_agree(struct wb_machine_state *s, struct twin_line *twin, cpu_id c, uint64_t set, sim_time now)
{
    sim_time want = 0;
    for (uint32_t i = 0; i < LINES; i++)
        if (set >> i & 1) want += twin_access(&twin[i], c, WB_LINE_READ, now) - now;
    return wb_line_read_set(s, c, 0, set, now) == want;
}

/* One access, by the whole answer or by the short one. false: its parts do not add up. */
static bool access_one(struct wb_machine_state *s, const struct prop_op *op, cpu_id c, line_id l, sim_time now,
                       sim_time *done)
{
    struct wb_line_cost got;
    if (op->a >> 20 & 1) {
        struct wb_line_time t = wb_line_time(s, c, l, (enum wb_line_op)op->kind, now);
        *done = now + t.wait + t.local;
        return true;
    }
    wb_line_access(s, c, l, (enum wb_line_op)op->kind, now, &got);
    *done = got.done;
    return got.done == now + got.queue + got.transfer + got.local;
}

static bool run_lines(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct twin_line twin[LINES];
    const struct wb_machine_sizes sizes = {.lines = LINES, .walked_first = LINES - walked, .walked = walked};
    struct wb_machine_state *s = wb_machine_state_new(machine, &sizes);
    sim_time now = 0;
    bool good = true;
    memset(twin, 0, sizeof twin);
    for (int i = 0; i < LINES; i++) wb_line_new(s);
    for (size_t i = 0; i < n && good; i++) {
        sim_time done;
        cpu_id c = (cpu_id)(ops[i].a % wb_machine_ncpus(machine));
        line_id l = (line_id)(ops[i].a >> 32) % LINES;
        now += ops[i].b;
        if (ops[i].kind == 4) {
            good = read_sets_agree(s, twin, c, ops[i].a >> 40 & ((1u << LINES) - 1), now);
            if (!good) snprintf(why, nwhy, "set of reads %zu", i);
            continue;
        }
        good = access_one(s, &ops[i], c, l, now, &done);
        sim_time want = twin_access(&twin[l], c, (enum wb_line_op)ops[i].kind, now);
        good = good && done == want;
        if (!good)
            snprintf(why, nwhy, "access %zu: done %llu, twin %llu", i, (unsigned long long)done,
                     (unsigned long long)want);
    }
    wb_machine_state_free(s);
    return good;
}

static void check(const char *topology, bool forward)
{
    const struct property p = {"lines", 200, make_access, run_lines};
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    spec.clean_forward = forward;
    for (int d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        spec.clean[d].latency = forward ? 7000 * (sim_time)d : spec.memory[0].latency;
        spec.upgrade[d] = 9000 * (sim_time)d;
    }
    machine = fixture_machine(topology, &spec);
    for (walked = 0; walked <= LINES; walked++) {
        bool good = prop_check(&p, 200);
        assert_true(good);
    }
    wb_machine_free(machine);
}

static void small_machine(void **state)
{
    (void)state;
    check("pack:2 [numa] l3:2 core:2 pu:2", true);
    check("[numa] pack:4 l3:1 core:1 pu:1", false);
}

static void large_machine(void **state)
{
    (void)state;
    check("pack:4 [numa] l3:3 core:4 pu:2", true);
}

/* ---- servers: max-min shares by sorting ---- */
static struct prop_op make_job(struct prop_rng *r)
{
    return (struct prop_op){
        .kind = (uint32_t)prop_below(r, 2), .a = prop_below(r, 16), .b = prop_below(r, 8000) * 1000000};
}

static int compare_u64(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

/* The share of whoever is not served in full, or UINT64_MAX. */
static uint64_t share_of(const uint64_t *demand, uint32_t n, uint64_t rate)
{
    uint64_t sorted[16], left = rate;
    memcpy(sorted, demand, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_u64);
    for (uint32_t i = 0; i < n; i++) {
        if (sorted[i] > left / (n - i)) return left / (n - i);
        left -= sorted[i];
    }
    return UINT64_MAX;
}

static bool check_speeds(const struct wb_machine_state *s, const uint64_t *wants, const bool *in, char *why,
                         size_t nwhy)
{
    uint64_t demand[16];
    uint32_t n = 0;
    for (cpu_id c = 0; c < 16; c++)
        if (in[c]) demand[n++] = wants[c];
    uint64_t share = share_of(demand, n, wb_machine_costs(machine)->bus.rate);
    for (cpu_id c = 0; c < 16; c++) {
        if (!in[c]) continue;
        uint64_t want = wants[c] <= share ? 1000000 : (uint64_t)((unsigned __int128)share * 1000000 / wants[c]);
        uint32_t got = wb_server_speed_ppm(s, 0, c);
        if (got == want) continue;
        snprintf(why, nwhy, "CPU %u of %u runs at %u ppm, twin %llu", c, n, got, (unsigned long long)want);
        return false;
    }
    return wb_server_active(s, 0) == n;
}

static bool run_servers(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    uint64_t wants[16] = {0};
    bool in[16] = {false}, good = true;
    const struct wb_machine_sizes sizes = {.regions = 1};
    struct wb_machine_state *s = wb_machine_state_new(machine, &sizes);
    for (size_t i = 0; i < n && good; i++) {
        cpu_id c = (cpu_id)ops[i].a;
        if (in[c])
            wb_server_leave(s, 0, c);
        else
            wb_server_join(s, 0, c, wants[c] = ops[i].b);
        in[c] = !in[c];
        good = check_speeds(s, wants, in, why, nwhy);
    }
    wb_machine_state_free(s);
    return good;
}

static void servers(void **state)
{
    (void)state;
    const struct property p = {"servers", 100, make_job, run_servers};
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    spec.bus_span = WB_BUS_MACHINE;
    spec.bus.rate = 6400000000ull;
    machine = fixture_machine("[numa] l3:1 core:16 pu:1", &spec);
    bool good = prop_check(&p, 300);
    wb_machine_free(machine);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_machine), cmocka_unit_test(large_machine),
                                       cmocka_unit_test(servers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
