/*
 * Idle-while-work-waits by domain, ping-pong and starvation against a naive twin that replays the trace: at each
 * record it looks at every task that waits and at every CPU. Whole runs of several schedulers on 2 x 2 x SMT, with
 * pipes, hogs, sleepers and pinned tasks; three seeds each.
 */
#include "wbtest.h"

#include "invariants.h"
#include "simtest.h"

enum { CPUS = 8, LEVELS = 8, TASKS = 256 };

struct twin {
    struct wb_sim *s;
    sim_time now;
    bool idle[CPUS];
    struct {
        bool waiting;
        cpu_id cpu, from;
        sim_time since, moved_at, beside;
        uint64_t allowed; /* when it began to wait here */
    } task[TASKS];
    sim_time level[LEVELS + 1], total, longest, starved_longest, bound;
    uint64_t waits, starved, pingpong, depth[LEVELS + 1];
    uint32_t levels;
};

/* Lowest domain of `cpu` that has another idle CPU which the mask allows; -1: none has. */
static int nearest_idle(struct twin *w, cpu_id cpu, uint64_t allowed)
{
    int l = 0;
    bool some = false;
    for (cpu_id c = 0; c < CPUS; c++) some |= c != cpu && w->idle[c] && allowed >> c & 1;
    if (!some) return -1;
    WB_FOR_EACH_SD(sd, wb_rq(w->s, cpu))
    {
        bool here = false, covered = true;
        for (cpu_id c = 0; c < CPUS; c++) {
            here |= c != cpu && w->idle[c] && wb_mask_test(sd->span, c);
            covered &= !(allowed >> c & 1) || wb_mask_test(sd->span, c);
        }
        if (allowed == (1u << CPUS) - 1 ? here : covered) return l;
        l++;
    }
    return (int)w->levels;
}

static void pass_time(struct twin *w, sim_time to)
{
    sim_time dt = to - w->now;
    w->now = to;
    if (!dt) return;
    for (uint32_t i = 0; i < wb_ntasks(w->s); i++) {
        if (!w->task[i].waiting || w->idle[w->task[i].cpu]) continue;
        int l = nearest_idle(w, w->task[i].cpu, w->task[i].allowed);
        if (l < 0) continue;
        w->level[l] += dt;
        w->task[i].beside += dt;
    }
}

static uint64_t mask_now(struct twin *w, task_id i)
{
    return wb_task_of(w->s, i)->allowed->w[0];
}

static void begin_wait(struct twin *w, task_id i, cpu_id cpu)
{
    if (wb_task_of(w->s, i)->kthread) return;
    w->task[i].waiting = true;
    w->task[i].cpu = cpu;
    w->task[i].since = w->now;
    w->task[i].beside = 0;
    w->task[i].allowed = mask_now(w, i);
}

static void end_wait(struct twin *w, task_id i)
{
    if (!w->task[i].waiting) return;
    sim_time waited = w->now - w->task[i].since, beside = w->task[i].beside;
    w->task[i].waiting = false;
    w->waits += beside != 0;
    w->total += beside;
    w->longest = WB_MAX(w->longest, beside);
    if (waited <= w->bound) return;
    w->starved++;
    w->starved_longest = WB_MAX(w->starved_longest, waited);
}

static uint32_t depth_of(struct twin *w, cpu_id from, cpu_id to)
{
    uint32_t l = 0;
    WB_FOR_EACH_SD(sd, wb_rq(w->s, from))
    {
        if (wb_mask_test(sd->span, to)) return l;
        l++;
    }
    return w->levels;
}

static void moved(struct twin *w, const struct wb_trace_record *r)
{
    if (w->task[r->task].waiting) {
        w->task[r->task].cpu = r->b;
        w->task[r->task].allowed = mask_now(w, r->task);
    }
    if (r->c < WB_MIG_NEWIDLE || r->c > WB_MIG_ACTIVE) return;
    sim_time then = w->task[r->task].moved_at;
    if (then && w->task[r->task].from == r->b && w->now - then < INVARIANTS_PINGPONG) {
        w->pingpong++;
        w->depth[depth_of(w, r->a, r->b)]++;
    }
    w->task[r->task].from = r->a;
    w->task[r->task].moved_at = w->now;
}

static void replay(struct twin *w, const struct wb_trace_record *r)
{
    pass_time(w, r->when);
    switch (r->type) {
    case WB_TR_WAKEUP:
    case WB_TR_WAKEUP_NEW: begin_wait(w, r->task, r->a); break;
    case WB_TR_MIGRATE: moved(w, r); break;
    case WB_TR_SWITCH:
        if (wb_task_of(w->s, r->task)->klass == WB_CLASS_SWAPPER) w->idle[r->cpu] = false;
        if (wb_task_of(w->s, r->a)->klass == WB_CLASS_SWAPPER) w->idle[r->cpu] = true;
        if (r->b & 16) begin_wait(w, r->task, r->cpu);
        end_wait(w, r->a);
        break;
    default: break;
    }
}

static void same(struct simtest *t, const char *what, const char *name, double want)
{
    double got = simtest_metric(t, UINT32_MAX, name);
    if (got != want) fail_msg("%s: %s is %.12g, by the trace %.12g", what, name, got, want);
}

static double seconds(sim_time t)
{
    return (double)t / (double)WB_S;
}

static void compare(struct simtest *t, const struct twin *w, const char *what)
{
    same(t, what, "idle_while_work_waits.wait", seconds(w->total));
    same(t, what, "idle_while_work_waits.waits", (double)w->waits);
    same(t, what, "idle_while_work_waits.longest", seconds(w->longest));
    same(t, what, "starvation", (double)w->starved);
    same(t, what, "starvation.longest", seconds(w->starved_longest));
    same(t, what, "affinity_violations", 0);
    same(t, what, "migrations.pingpong", (double)w->pingpong);
    for (uint32_t l = 0; l <= w->levels; l++) {
        char name[64], level[16] = "none";
        if (l < w->levels) snprintf(level, sizeof level, "%u", l);
        snprintf(name, sizeof name, "idle_while_work_waits.domain.%s", level);
        same(t, what, name, seconds(w->level[l]));
        snprintf(name, sizeof name, "migrations.pingpong.domain.%s", level);
        same(t, what, name, (double)w->depth[l]);
    }
}

/* Masks never change: the twin reads them when all is over. */
static const char text[] =
    "schema = 1;\nmachine : { topology = \"pack:2 [numa] l3:1 core:2 pu:2\"; };\nkernel : { base = \"%s\"; };\n"
    "workload = ( { kind = \"pipe_latency\"; copies = 3; message = \"100 B\"; think = \"exp(50 us)\"; },\n"
    "  { kind = \"hog\"; count = 5; chunk = \"1 ms\"; chunks = 1000000; },\n"
    "  { kind = \"periodic\"; count = 6; run = \"exp(2 ms)\"; sleep = \"exp(3 ms)\"; cycles = 1000000; },\n"
    "  { kind = \"periodic\"; count = 2; run = \"exp(2 ms)\"; sleep = \"exp(1 ms)\"; cpus = \"0,1,4\"; cycles = "
    "1000000; },\n"
    "  { kind = \"periodic\"; count = 2; run = \"exp(2 ms)\"; sleep = \"exp(2 ms)\"; cpus = \"5\"; cycles = 1000000; } "
    ");\n"
    "run : { seed = %u; duration = \"150 ms\"; warmup = \"none\"; starvation_bound = \"5 ms\"; };\n";

static void check(const char *kernel, unsigned seed, struct twin *w)
{
    char scenario[2048], what[64];
    struct wb_run_options opt = {.trace_capacity = 1u << 20, .trace_to = WB_TIME_NEVER};
    snprintf(scenario, sizeof scenario, text, kernel, seed);
    snprintf(what, sizeof what, "%s, seed %u", kernel, seed);
    struct simtest t = simtest_build(scenario, NULL, &opt);
    *w = (struct twin){.s = t.sim, .bound = 5 * WB_MS};
    assert_true(wb_ntasks(t.sim) <= TASKS);
    WB_FOR_EACH_SD(sd, wb_rq(t.sim, 0)) w->levels++;
    for (cpu_id c = 0; c < CPUS; c++) w->idle[c] = true;
    (void)wb_sim_run(t.sim);
    const struct wb_result *r = wb_sim_result(t.sim);
    assert_true(r->trace->written < r->trace->capacity);
    for (uint64_t i = 0; i < r->trace->written; i++) replay(w, &r->trace->ring[i]);
    pass_time(w, r->duration);
    for (uint32_t i = 0; i < wb_ntasks(t.sim); i++) end_wait(w, i);
    compare(&t, w, what);
    simtest_free(&t);
}

static void replayed_traces_agree(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.11-i386", "linux-2.6.22", "linux-2.6.23",
                                          "linux-2.6.36",      "linux-5.4",    "linux-6.12",
                                          "linux-6.18",        "freebsd-5.2",  "freebsd-5.2-ule"};
    sim_time waited = 0;
    uint64_t pingpong = 0, starved = 0;
    for (size_t k = 0; k < WB_ARRAY_SIZE(kernels); k++)
        for (unsigned seed = 1; seed <= 3; seed++) {
            static struct twin w;
            check(kernels[k], seed, &w);
            waited += w.total;
            pingpong += w.pingpong;
            starved += w.starved;
        }
    assert_true(waited > 100 * WB_MS); /* else nothing was compared */
    assert_true(pingpong > 10);
    assert_true(starved > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replayed_traces_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
