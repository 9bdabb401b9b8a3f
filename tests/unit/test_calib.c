/* The fit against a world whose costs are known: what was simulated with them must lead back to them. */
#include "wbtest.h"

#include "simtest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"

struct wb_key_registry *cli_keys_new(void);
const struct wb_registry *cli_models(void);

static struct wb_topology *topo;
static struct wb_key_registry *keys;
static struct wb_diag *diag;

static void add(struct probe_set *p, const char *name, double ns)
{
    struct probe_figure *f = &p->figure[p->n++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->median = ns;
    f->lo = ns * 0.995;
    f->hi = ns * 1.005;
    f->n = 11;
}

/* What the direct probes say; times in ns. */
static void add_direct(struct probe_set *p)
{
    add(p, "clock", 3.7e9);
    add(p, "getppid", 160);
    add(p, "line_rmw", 2);
    add(p, "l1_latency", 1.1);
    add(p, "l1_copy", 60e9);
    add(p, "l2_copy", 40e9);
    add(p, "l3_copy", 30e9);
    add(p, "transfer.llc", 20);
    add(p, "upgrade.llc", 27);
    add(p, "shared_write.llc", 16e9); /* 4 ns a line: 6.75 in flight */
    add(p, "call_select", 330);
    add(p, "timer_program", 5000);
    add(p, "wait_entry", 98);
}

#define N(a) (sizeof(a) / sizeof(a)[0])
static const char *const fitted[] = {"pipe_1",          "pipe_4k",        "pipe_8k",           "pipe_64k",
                                     "fill_512",        "drain_512",      "fill_4096",         "drain_4096",
                                     "local_write",     "local_trip",     "sleep_wake",        "unix_1",
                                     "unix_trip",       "udp_trip",       "tcp_trip",          "far_write_0.llc",
                                     "awake_trip.llc",  "far_trip_0.llc", "far_trip_20us.llc", "far_trip_200us.llc",
                                     "far_trip_2ms.llc"};

#define ON_ONE_CPU 11 /* of them are of pipes */

static const struct {
    const char *key, *value;
    double ps;
} truth[] = {{"kernel.path.context_switch", "900 ns", 900e3},
             {"machine.ipi.send", "6 us", 6e6},
             {"machine.ipi.entry", "2 us", 2e6},
             {"machine.ipi.offset", "5.4 us", 5.4e6},
             {"machine.idle.i0.exit", "8 us", 8e6},
             {"machine.idle.i1.exit", "12 us", 12e6},
             {"machine.idle.i2.exit", "25 us", 25e6}};

/* What the measured world's paths cost, times the base profile's. */
static const struct {
    const char *path;
    double times;
} dear[] = {{"unix_stream_sendmsg", 1.6},
            {"unix_stream_recvmsg", 1.6},
            {"sock_alloc_send_pskb", 1.6},
            {"alloc_skb", 1.6},
            {"kfree_skb", 1.6},
            {"skb_release_data", 1.6},
            {"sock_sendmsg", 1.6},
            {"sock_recvmsg", 1.6},
            {"unix_stream_data_wait", 8},
            {"sock_def_readable", 8},
            {"schedule", 3},
            {"context_switch", 3},
            {"switch_mm", 3},
            {"pick_next_entity", 3},
            {"update_curr", 3},
            {"dequeue_task", 4},
            {"enqueue_task", 1.5},
            {"place_entity", 1.5},
            {"try_to_wake_up", 1.5}};

static double dear_ps[N(dear)]; /* what they come to in the world made last */

/* The measured world: the base profile with switches, sleeping, waking and AF_UNIX dearer (the factors that the fit
 * has to find) and the costs above. figures: how many of them it gives; counted: sleeps were,
 * so the second trip tells what one costs. */
static void make_world(const struct calib_env *env, struct probe_set *p, size_t figures, bool counted)
{
    struct calib c = {.topo = topo, .kernel_base = env->kernel_base, .nidle = CALIB_IDLE_STATES};
    for (int i = 0; i < CALIB_IDLE_STATES; i++) {
        c.idle[i].after_ns = i == 0 ? 0 : i == 1 ? 63e3 : 630e3;
        c.idle[i].exit_ns = c.idle[i].lo = c.idle[i].hi = 5000;
    }
    host_identify(NULL, &c.host); /* as calib_make() does: when the tick of an idle CPU is stopped hangs on it */
    calib_direct(&c, p);
    struct calib_sim *s = calib_sim_new(env, &c, diag);
    assert_non_null(s);
    /* What is known directly of the kernel is in the simulated probes; else what is fitted would stand for it too. */
    double bare = 160e3 - 40 / 3.7e9 * 1e12; /* getppid less its function */
    if (fabs(calib_sim_cost(s, "kernel.path.syscall_entry") - 0.6 * bare) > 100) fail_msg("not the measured entry");
    struct wb_override set[N(dear) + N(truth)];
    char key[N(dear)][64], value[N(dear)][40];
    size_t n = 0;
    for (; n < N(dear); n++) {
        snprintf(key[n], 64, "kernel.path.%s", dear[n].path);
        dear_ps[n] = dear[n].times * calib_sim_cost(s, key[n]);
        snprintf(value[n], 40, "%.0f ps", dear_ps[n]);
        set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "test"};
    }
    for (size_t i = 1; i < N(truth); i++)
        set[n++] = (struct wb_override){.key = truth[i].key, .value = truth[i].value, .from = "test"};
    for (size_t i = 0; i < figures; i++) {
        const char *name = counted || strcmp(fitted[i], "sleep_wake") != 0 ? fitted[i] : "pair_trip";
        double ns = calib_sim_figure(s, name, set, n, diag);
        assert_true(isfinite(ns) && ns > 0);
        add(p, name, ns);
    }
    calib_sim_free(s);
    calib_free(&c);
}

static void near(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a / b - 1) <= tolerance)) fail_msg("%s: %g is not %g within %g", what, a, b, tolerance);
}

/* What is taken off a figure is not known exactly either: 80 (76..84) less 50 (47..53) is 30 (25..35). */
static void test_differences(void **state)
{
    (void)state;
    struct probe_figure room[8];
    struct probe_set p = {.figure = room, .room = 8};
    struct calib c = {.topo = topo, .kernel_base = "linux-6.18"};
    add(&p, "getppid", 50);
    add(&p, "call_write", 80);
    add(&p, "l1_latency", 1.5);
    add(&p, "l2_latency", 5.5);
    add(&p, "cold_calls", 80); /* 10 lines a call */
    add(&p, "cold_trip", 320); /* 40 for each half */
    for (uint32_t i = 0; i < p.n; i++) {
        struct probe_figure *f = &p.figure[i];
        double off = !strcmp(f->name, "getppid") ? 3 : !strcmp(f->name, "call_write") ? 4 : 0;
        if (!strcmp(f->name, "cold_calls")) off = 8; /* one line each way */
        f->lo = f->median - off;
        f->hi = f->median + off;
    }
    calib_direct(&c, &p);
    const struct calib_row *write = calib_find(&c, "kernel.function.vfs_write_check.cost");
    const struct calib_row *lines = calib_find(&c, "kernel.switch_lines");
    near(write->value - write->lo, 5e3, 1e-3, "below");
    near(write->hi - write->value, 5e3, 1e-3, "above");
    near(lines->lo, 18, 1e-6, "lines at least");
    near(lines->hi, 22, 1e-6, "lines at most");
    calib_free(&c);
}

/* Rows that follow from figures alone. */
static void test_pages_and_lines(void **state)
{
    (void)state;
    struct probe_figure room[8];
    struct probe_set p = {.figure = room, .room = 8};
    struct calib c = {.topo = topo, .kernel_base = "linux-6.18"};
    add(&p, "l1_latency", 1.1);
    add(&p, "l2_latency", 5.1);
    add(&p, "cold_calls", 80); /* 4 ns a line: 10 for each of two calls */
    add(&p, "cold_trip", 320); /* 40 for each half, less two calls */
    add(&p, "page_first_get", 150);
    add(&p, "page_first_put", 140);
    add(&p, "switched_save", 300);
    add(&p, "switched_return", 700);
    calib_direct(&c, &p);
    near(calib_find(&c, "kernel.call_lines")->value, 10, 1e-6, "call_lines");
    near(calib_find(&c, "kernel.switch_lines")->value, 20, 1e-6, "switch_lines");
    near(calib_find(&c, "kernel.path.alloc_page_first")->value, 150e3, 1e-6, "alloc_page_first");
    near(calib_find(&c, "kernel.path.free_page_first")->value, 140e3, 1e-6, "free_page_first");
    near(calib_find(&c, "kernel.path.switch_fpu_prepare")->value, 300e3, 1e-6, "switch_fpu_prepare");
    near(calib_find(&c, "kernel.path.exit_to_user_mode_loop")->value, 700e3, 1e-6, "exit_to_user_mode_loop");
    char *text = calib_kernel_text(&c, "t");
    assert_non_null(strstr(text, "call_lines = ( 10, \"measured\""));
    assert_non_null(strstr(text, "switch_lines = ( 20, \"measured\""));
    free(text);
    calib_free(&c);
}

static void test_recovers(void **state)
{
    (void)state;
    struct probe_figure room[40];
    struct probe_set p = {.figure = room, .room = 40};
    struct calib_env env = {.models = cli_models(), .keys = keys, .kernel_base = "linux-6.18"};
    struct calib c;
    add_direct(&p);
    make_world(&env, &p, N(fitted), true);
    assert_int_equal(calib_make(&env, topo, &p, &c, diag), 0);
    assert_true(calib_explains(&c) && c.converged && c.stage);
    for (uint32_t i = 0; i < c.ntargets; i++) near(c.target[i].simulated, c.target[i].measured, 0.02, c.target[i].name);
    near(calib_find(&c, "kernel.path.context_switch")->value, truth[0].ps, 0.05, "context_switch");
    near(calib_find(&c, "kernel.path.unix_stream_sendmsg")->value, dear_ps[0], 0.05, "calls of AF_UNIX");
    /* a twentieth of the trip */
    near(calib_find(&c, "kernel.path.unix_stream_data_wait")->value, dear_ps[8], 0.4, "waiting for AF_UNIX");
    near(calib_find(&c, "machine.ipi.send")->value, truth[1].ps, 0.05, "ipi.send");
    /* a tenth of the trip: two per cent of the trip are a fifth of it */
    near(calib_find(&c, "machine.ipi.entry")->value, truth[2].ps, 0.25, "ipi.entry");
    for (int i = 0; i < CALIB_IDLE_STATES; i++) near(c.idle[i].exit_ns * 1e3, truth[4 + i].ps, 0.10, truth[4 + i].key);
    /* Intervals hold what they are about. */
    const struct calib_row *r = calib_find(&c, "machine.ipi.send");
    assert_true(r->lo < r->value && r->value < r->hi && r->fitted);
    /* What a probe isolates is not fitted: a place in a wait queue, less four locked operations, two to one; the
     * timer. */
    near(calib_find(&c, "kernel.path.prepare_to_wait")->value, 60e3, 1e-6, "prepare_to_wait");
    near(calib_find(&c, "kernel.path.finish_wait")->value, 30e3, 1e-6, "finish_wait");
    near(calib_find(&c, "kernel.path.tick_nohz_stop")->value, 5e6, 1e-6, "tick_nohz_stop");
    near(calib_find(&c, "kernel.path.tick_nohz_restart")->value, 5e6, 1e-6, "tick_nohz_restart");
    calib_free(&c);
}

/* A kernel without a driver of idle states, or with the haltpoll governor, stops the tick of an idle CPU at once. */
static void test_stops_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *idle, *base;
        bool at_once;
    } c[] = {{"none/none", "linux-6.18", true},        {"haltpoll/haltpoll", "linux-6.18-packed", true},
             {"intel_idle/menu", "linux-6.18", false}, {"haltpoll/menu", "linux-5.4", false},
             {"none/none", "linux-2.6.24", false},     {"none/none", "freebsd-5.2-ule", false}};
    for (size_t i = 0; i < N(c); i++) {
        struct calib k = {.topo = topo, .kernel_base = c[i].base};
        snprintf(k.host.idle, sizeof k.host.idle, "%s", c[i].idle);
        char *text = calib_kernel_text(&k, "x");
        assert_non_null(text);
        if ((strstr(text, "nohz_at_once = true") != NULL) != c[i].at_once) fail_msg("%s, %s", c[i].idle, c[i].base);
        free(text);
    }
}

/* How many times its lower end the upper one of a cost's interval is. */
static double width(const struct calib *c, const char *key)
{
    const struct calib_row *r = calib_find(c, key);
    assert_true(r->lo > 0 && r->lo < r->value && r->value < r->hi);
    return r->hi / r->lo;
}

/* Sleeping, waking and switching are told from each other, better when sleeps were counted than when they were not (as
 * in old recordings, which are fitted all the same). */
static void test_sleeps(void **state)
{
    (void)state;
    struct calib_env env = {.models = cli_models(), .keys = keys, .kernel_base = "linux-6.18"};
    static const char sleeps[] = "kernel.path.dequeue_task", wakes[] = "kernel.path.try_to_wake_up";
    double sleep[2], wake[2];
#ifdef __SANITIZE_ADDRESS__
    skip(); /* some thousand simulations */
#endif
    for (int counted = 0; counted < 2; counted++) {
        struct probe_figure room[32];
        struct probe_set p = {.figure = room, .room = 32};
        struct calib c;
        add_direct(&p);
        make_world(&env, &p, ON_ONE_CPU, counted);
        assert_int_equal(calib_make(&env, topo, &p, &c, diag), 0);
        assert_true(calib_explains(&c));
        if (counted) {
            near(calib_find(&c, sleeps)->value, dear_ps[N(dear) - 4], 0.25, "sleep");
            near(calib_find(&c, wakes)->value, dear_ps[N(dear) - 1], 0.1, "wake");
            near(calib_find(&c, "kernel.path.context_switch")->value, truth[0].ps, 0.05, "switch");
            assert_false(calib_find(&c, sleeps)->assumed);
        }
        sleep[counted] = width(&c, sleeps);
        wake[counted] = width(&c, wakes);
        calib_free(&c);
    }
    /* 2.0 against 3.6 times */
    assert_true(sleep[1] < 2.5 && sleep[1] < 0.7 * sleep[0]);
    assert_true(wake[1] < 2);
}

static void read_probes(struct probe_set *p, const char *path)
{
    char line[200];
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, f)) {
        struct probe_figure *g = &p->figure[p->n];
        memset(g, 0, sizeof *g);
        if (*line == '#') continue;
        assert_true(p->n < p->room);
        assert_int_equal(sscanf(line, "%55s %lf %lf %lf %u", g->name, &g->median, &g->lo, &g->hi, &g->n), 5);
        p->n++;
    }
    fclose(f);
}

/* Figures as a machine gave them, from which the search that begins at the profile's costs stays in a hollow (chi2 53
 * a figure, 20 % and more off): it must look from other places. */
static void test_hollow(void **state)
{
    (void)state;
    static struct probe_figure room[200];
    struct probe_set p = {.figure = room, .room = 200};
    struct calib_env env = {.models = cli_models(), .keys = keys, .kernel_base = "linux-6.18-packed"};
    struct calib c;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* some 300 simulations */
#endif
    read_probes(&p, WB_TESTS_DIR "/recorded/probes-hollow.txt");
    assert_int_equal(calib_make(&env, topo, &p, &c, diag), 0);
    for (uint32_t i = 0; i < c.ntargets; i++) near(c.target[i].simulated, c.target[i].measured, 0.1, c.target[i].name);
    assert_true(calib_explains(&c) && c.chi2 <= CALIB_CHI2_POOR);
    calib_free(&c);
}

/* The whole of a recorded machine's calibration again: what its files say is what its probes still lead to. */
static void test_recorded(void **state)
{
    (void)state;
    static struct probe_figure room[200];
    struct probe_set p = {.figure = room, .room = 200};
    struct calib_env env = {.models = cli_models(), .keys = keys, .kernel_base = "linux-6.18-packed"};
    struct wb_overrides o = {.machine = WB_TESTS_DIR "/recorded/guest3-machine.cfg",
                             .kernel = WB_TESTS_DIR "/recorded/guest3-kernel.cfg"};
    struct calib c;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* some thousand simulations */
#endif
    read_probes(&p, WB_TESTS_DIR "/recorded/guest3-probes.txt");
    assert_int_equal(calib_make(&env, topo, &p, &c, diag), 0);
    assert_true(calib_explains(&c));
    bool counted = false;
    for (uint32_t i = 0; i < c.ntargets; i++) counted |= !strcmp(c.target[i].name, "sleep_wake");
    assert_true(counted);
    assert_true(width(&c, "kernel.path.try_to_wake_up") < 1.5 && width(&c, "kernel.path.context_switch") < 1.5);
    struct wb_scenario *s = wb_scenario_load("pipe", keys, &o, diag);
    if (!s) fail_msg("%s", wb_diag_render(diag, false));
    struct calib_change *change = calloc(c.n, sizeof *change);
    uint32_t n = calib_compare(&c, wb_scenario_config(s), change), off = 0;
    for (uint32_t i = 0; i < n; i++) off += !change[i].fits;
    assert_true(n > 80 && off * 10 <= n); /* as --check judges: the model may have changed since */
    free(change);
    wb_scenario_free(s);
    calib_free(&c);
}

/* How often `word` stands in `text`. */
static unsigned times(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)); text++) n++;
    return n;
}

/* What was fitted is called measured only while it explains the probes. */
static void test_poor(void **state)
{
    (void)state;
    struct probe_figure room[40];
    struct probe_set p = {.figure = room, .room = 40};
    struct calib c = {.topo = topo, .kernel_base = "linux-6.18", .nidle = 1, .ntargets = 1, .converged = true};
    add_direct(&p);
    calib_direct(&c, &p);
    struct calib_row *r = calib_add(&c, "kernel.path.schedule", WB_UNIT_TIME);
    r->value = r->lo = r->hi = 1e5;
    r->fitted = true;
    unsigned assumed[2][2];
    for (int poor = 0; poor < 2; poor++) {
        c.chi2 = poor ? CALIB_CHI2_POOR * 2 : CALIB_CHI2_POOR / 2;
        char *text[2] = {calib_machine_text(&c, "me"), calib_kernel_text(&c, "me")};
        for (int i = 0; i < 2; i++) assumed[poor][i] = times(text[i], "\"assumed\""), free(text[i]);
    }
    assert_int_equal(assumed[1][0], assumed[0][0] + 1); /* the exit of the idle state */
    assert_int_equal(assumed[1][1], assumed[0][1] + 1); /* schedule */
    c.chi2 = 0;
    c.converged = false;
    assert_false(calib_explains(&c));
    calib_free(&c);
}

/* One CPU only: what needs two is not fitted and not written. */
static void test_one_cpu(void **state)
{
    (void)state;
    struct probe_figure room[40];
    struct probe_set p = {.figure = room, .room = 40};
    struct calib_env env = {.models = cli_models(), .keys = keys, .kernel_base = "linux-6.18"};
    struct calib c;
    add_direct(&p);
    add(&p, "pipe_1", 700);
    add(&p, "pipe_4k", 800);
    add(&p, "pipe_64k", 11000);
    add(&p, "local_trip", 5000);
    assert_int_equal(calib_make(&env, topo, &p, &c, diag), 0);
    assert_int_equal(c.nidle, 0);
    assert_null(calib_find(&c, "machine.ipi.send"));
    near(c.target[3].simulated, 5000, 0.02, "local_trip");
    calib_free(&c);
}

/* What a busy machine measures may be beyond what a key takes; the files must load all the same. */
static void test_within(void **state)
{
    (void)state;
    struct calib c = {0};
    struct calib_row *r = calib_add(&c, "machine.copy.l1", WB_UNIT_RATE);
    r->value = 1.5e16, r->lo = 5e9, r->hi = 1e18;
    calib_rows_within(&c, keys);
    assert_near(r->value, 1e13, 1);
    assert_near(r->lo, 5e9, 1);
    assert_near(r->hi, 1e13, 1);
    assert_near(calib_within(keys, "machine.copy.l1", WB_UNIT_RATE, 0), 1e6, 1);
    assert_near(calib_within(keys, "kernel.path.schedule", WB_UNIT_TIME, 5e12), 1e12, 1);
    assert_near(calib_within(keys, "machine.ipi.send", WB_UNIT_TIME, 5e6), 5e6, 1);
    assert_near(calib_within(keys, "machine.nosuch", WB_UNIT_TIME, 5e15), 5e15, 1);
    calib_free(&c);
}

/* Two calibrations with the same intervals meet everywhere; costs count once. */
static void agrees_with_itself(const struct wb_config *cfg)
{
    const struct wb_config *two[] = {cfg, cfg};
    static struct calib_overlap o[128];
    uint32_t n = calib_agree(two, 2, o, 128), exits = 0, ratios = 0;
    assert_true(n > 10);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(o[i].apart, 0);
        assert_true(o[i].lo[0] <= o[i].value[0] * 1.001 && o[i].value[0] <= o[i].hi[0] * 1.001);
        exits += !strcmp(o[i].key, "machine.idle.i0.exit");
        ratios += !strcmp(o[i].key, "machine.line.upgrade") && o[i].unit == WB_UNIT_RATIO;
        for (uint32_t k = 0; k < i; k++) assert_string_not_equal(o[i].key, o[k].key);
    }
    assert_int_equal(exits, 1);
    assert_int_equal(ratios, 1);
}

/* What is written reads back: the loader takes both files, and every row has its value and its status. */
static void test_files(void **state)
{
    (void)state;
    struct probe_figure room[40];
    struct probe_set p = {.figure = room, .room = 40};
    struct calib c = {.topo = topo, .kernel_base = "linux-6.18", .hz = 250, .nidle = 1};
    c.idle[0].exit_ns = 9000;
    c.idle[0].lo = 8000;
    c.idle[0].hi = 10000;
    c.idle[0].nquantiles = CALIB_QUANTILES;
    for (int i = 0; i < CALIB_QUANTILES; i++) c.idle[0].quantile[i] = 100.0 * (i - 10);
    c.idle[0].quantile[0] = -20000; /* more than there is: cut */
    c.noise = (struct calib_noise){.gap_ns = 1e8, .cost_ns = {1000, 3000, 20000}};
    add_direct(&p);
    calib_direct(&c, &p);
    char *text[2] = {calib_machine_text(&c, "me"), calib_kernel_text(&c, "me")};
    const char *path[2] = {"calib-test-machine.cfg", "calib-test-kernel.cfg"};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(path[i], "w");
        assert_non_null(f);
        assert_true(fputs(text[i], f) >= 0 && !fclose(f));
        free(text[i]);
    }
    struct wb_overrides o = {.machine = "./calib-test-machine.cfg", .kernel = "./calib-test-kernel.cfg"};
    struct wb_scenario *s = wb_scenario_load("pipe", keys, &o, diag);
    if (!s) fail_msg("%s", wb_diag_render(diag, false));
    const struct wb_config *cfg = wb_scenario_config(s);
    struct calib_change change[64];
    uint32_t n = calib_compare(&c, cfg, change);
    assert_int_equal(n, c.n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(change[i].fits);
        assert_int_equal(wb_cfg_origin(cfg, change[i].key)->status, WB_MEASURED);
    }
    assert_int_equal(wb_cfg_int(cfg, "kernel.hz"), 250);
    assert_int_equal(wb_cfg_count(cfg, "kernel.noise"), 1);
    /* The exit is the cells around its median, none of them below nothing. */
    const struct wb_dist *exit = wb_cfg_dist(cfg, "machine.idle.i0.exit");
    assert_int_equal(exit->kind, WB_DIST_TABLE);
    assert_int_equal(exit->n, CALIB_QUANTILES);
    assert_int_equal(exit->value[0], 9100 * WB_NS); /* the cell of the median comes first */
    assert_int_equal(exit->value[12], 10300 * WB_NS);
    assert_int_equal(exit->value[13], 100 * WB_NS);
    assert_int_equal(exit->value[23], 9000 * WB_NS);
    assert_int_equal(wb_cfg_int(cfg, "machine.line.upgrade_overlap"), 7);
    assert_int_equal(wb_cfg_int(cfg, "machine.line.upgrade"), 1350000);
    /* select: what is beyond entry, exit (getppid less its 40 cycles) and the 40 cycles of its timeout */
    near(calib_cost(cfg, "kernel.function.core_sys_select.cost"), (330 - 160) * 1e3, 0.01, "core_sys_select");
    agrees_with_itself(cfg);
    /* A cost that has changed is told. */
    c.row[2].value *= 1.4;
    c.row[2].lo *= 1.4;
    c.row[2].hi *= 1.4;
    calib_compare(&c, cfg, change);
    assert_false(change[2].fits);
    wb_scenario_free(s);
    remove(path[0]);
    remove(path[1]);
    calib_free(&c);
}

static int set_up(void **state)
{
    (void)state;
    struct wb_topo_options opt = {.cache_size = {32 << 10, 1 << 20, 32 << 20, 64 << 20}, .line = 64};
    diag = wb_diag_new();
    keys = cli_keys_new();
    topo = wb_topo_from_synthetic("[numa] pack:1 l3:1(size=33554432) core:2 pu:1", &opt, diag);
    return topo ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    wb_topology_free(topo);
    wb_keys_free(keys);
    wb_diag_free(diag);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pages_and_lines), cmocka_unit_test(test_differences),
                                       cmocka_unit_test(test_recovers),        cmocka_unit_test(test_sleeps),
                                       cmocka_unit_test(test_recorded),        cmocka_unit_test(test_stops_at_once),
                                       cmocka_unit_test(test_one_cpu),         cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_hollow),          cmocka_unit_test(test_poor),
                                       cmocka_unit_test(test_within)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
