/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

#define M FIXTURE_MACHINE
#define K FIXTURE_KERNEL
#define HEAD "machine : { base = \"m\"; };\nkernel : { base = \"k\"; };\n"
#define END \
    { \
        NULL, NULL \
    }

static struct wb_key_registry *keys;

static int setup(void **state)
{
    (void)state;
    keys = fixture_keys();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    wb_keys_free(keys);
    return 0;
}

static struct wb_scenario *load_good(const struct fixture_file *files, const struct wb_overrides *o)
{
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = fixture_load(files, keys, o, d);
    if (!s) {
        char *text = wb_diag_render(d, false);
        fail_msg("%s", text);
    }
    assert_int_equal(wb_diag_count(d, WB_ERROR), 0);
    wb_diag_free(d);
    return s;
}

/* All messages; the scenario must not load. */
static char *load_bad(const struct fixture_file *files, const struct wb_overrides *o)
{
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = fixture_load(files, keys, o, d);
    char *text = wb_diag_render(d, false);
    if (s) fail_msg("a broken scenario was loaded");
    wb_diag_free(d);
    return text;
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("wanted <%s> in\n%s", part, text);
}

static void expect_error(const char *body, size_t errors, const char *part)
{
    char whole[4000], count[40];
    snprintf(whole, sizeof whole, "%s%s", HEAD, body);
    char *text = load_bad((struct fixture_file[]){{"a.cfg", whole}, M, K, END}, NULL);
    snprintf(count, sizeof count, "%zu error%s.", errors, errors == 1 ? "" : "s");
    expect_in(text, part);
    expect_in(text, count);
    free(text);
}

#define W "workload = ( { kind = \"pipe_bw\"; } );\n"

static void layers_in_order(void **state)
{
    const struct fixture_file files[] = {
        {"a.cfg", "machine : { base = \"m2\"; ipi : { flight = \"3 us\"; }; };\nkernel : { base = \"k2\"; pipe = "
                  "\"2.6.10\"; };\npolicy : { sync_wakeups = false; };\n"
                  "workload = ( { base = \"frag\"; message = \"8 KiB\"; } );\n"},
        {"machines/m2.cfg", "base = \"m\"; clock = \"2 GHz\"; ipi : { flight = ( \"2 us\", \"quoted\", \"\", \"a "
                            "book\" ); send = \"100 cy\"; };\n"},
        {"kernels/k2.cfg", "base = \"k\"; hz = 100;\n"},
        {"workloads/frag.cfg", "kind = \"pipe_bw\"; message = \"1 KiB\"; copies = 3;\n"},
        M,
        K,
        END,
    };
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    const struct wb_config *c = wb_scenario_config(s);
    assert_string_equal(wb_cfg_str(c, "machine.topology"), "pack:4 pu:1");   /* the deepest base */
    assert_int_equal(wb_cfg_int(c, "machine.clock"), 2000000000);            /* a base over its base */
    assert_int_equal(wb_cfg_cost(c, "machine.ipi.flight", 1, 1), 3 * WB_US); /* the scenario over both */
    assert_int_equal(wb_cfg_origin(c, "machine.ipi.flight")->status, WB_STATUS_USER);
    /* cycles through the clock */
    assert_int_equal(wb_cfg_cost(c, "machine.ipi.send", 2000000000, 1000000), 50 * WB_NS);
    assert_int_equal(wb_cfg_cost(c, "machine.ipi.send", 2000000000, 3000000), 150 * WB_NS);
    assert_int_equal(wb_cfg_int(c, "kernel.hz"), 100);
    assert_string_equal(wb_cfg_str(c, "kernel.pipe"), "2.6.10");
    assert_false(wb_cfg_bool(c, "policy.idle_balance")); /* what the kernel sets */
    assert_false(wb_cfg_bool(c, "policy.sync_wakeups")); /* what the scenario sets */
    assert_false(wb_cfg_has(c, "policy.slice"));         /* another scheduler's */
    assert_int_equal(wb_cfg_int(c, "workload[0].message"), 8192);
    assert_int_equal(wb_cfg_int(c, "workload[0].copies"), 3);
    assert_string_equal(wb_cfg_str(c, "workload[0].name"), "pipe_bw");
    assert_string_equal(wb_cfg_str(c, "workload[0].cpus"), "free");
    assert_int_equal(wb_cfg_int(c, "run.replications.half_width"), 20000);
    const struct wb_origin *o = wb_cfg_origin(c, "kernel.hz");
    assert_string_equal(o->from, "base");
    assert_string_equal(o->place.file, "kernels/k2.cfg");
    assert_int_equal(o->place.col, 18);
    o = wb_cfg_origin(c, "kernel.path.schedule");
    assert_int_equal(o->status, WB_DERIVED);
    assert_string_equal(o->source, "counted");
    assert_string_equal(wb_cfg_origin(c, "workload[0].cpus")->from, "default");
    wb_scenario_free(s);
}

static void priced_values(void **state)
{
    const struct fixture_file files[] = {{"a.cfg",
                                          "machine : { base = \"m\"; ipi : { flight = ( \"0.9 us\", \"assumed\", \"0.6 "
                                          "us..1.5 us\", \"between two boxes\" ); };\n"
                                          "  idle : { c1 : { exit = ( \"exp(2 us)\", \"quoted\", \"\", \"manual\" ); "
                                          "}; halt : { }; }; };\nkernel : { base = \"k\"; };\n" W},
                                         M,
                                         K,
                                         END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    const struct wb_config *c = wb_scenario_config(s);
    const struct wb_origin *o = wb_cfg_origin(c, "machine.ipi.flight");
    assert_int_equal(o->status, WB_ASSUMED);
    assert_int_equal(o->range_lo, 600000);
    assert_int_equal(o->range_hi, 1500000);
    assert_string_equal(o->source, "between two boxes");
    assert_int_equal(wb_cfg_dist(c, "machine.idle.c1.exit")->kind, WB_DIST_EXP);
    assert_int_equal(wb_cfg_count(c, "machine.idle"), 2);
    assert_string_equal(wb_cfg_member(c, "machine.idle", 0), "c1");
    assert_string_equal(wb_cfg_member(c, "machine.idle", 1), "halt"); /* empty, and still a member */
    assert_null(wb_cfg_member(c, "machine.idle", 2));
    assert_true(wb_cfg_has(c, "machine.idle"));
    assert_true(wb_cfg_has(c, "machine.ipi")); /* a group of which something is given */
    assert_false(wb_cfg_has(c, "machine.bus"));
    assert_false(wb_cfg_has(c, "machine.bus.rate"));
    assert_false(wb_cfg_bool(c, "machine.idle.halt.poll"));
    wb_scenario_free(s);
    struct fixture_file plain[] = {{"a.cfg", HEAD W}, M, K, END};
    s = load_good(plain, NULL);
    o = wb_cfg_origin(wb_scenario_config(s), "machine.ipi.flight"); /* a default may be priced too */
    assert_int_equal(o->status, WB_ASSUMED);
    assert_int_equal(o->range_hi, 2000000);
    wb_scenario_free(s);
}

static void overrides(void **state)
{
    const struct fixture_file files[] = {
        {"a.cfg", HEAD "workload = ( { kind = \"pipe_bw\"; name = \"w\"; }, { kind = \"pipe_latency\"; } );\n"},
        {"machines/other.cfg", "topology = \"pack:1 pu:1\";\n"},
        M,
        K,
        END};
    const struct wb_override set[] = {{"workload.w.message", "4KiB", "--set", {0}},
                                      {"workload.pipe_latency.think", "exp(5 us)", "--set", {0}},
                                      {"workload[1].cpus", "0,1", "--set", {0}},
                                      {"run.seed", "5000000000", "--seed", {0}},
                                      {"kernel.scheduler", "cfs", "--policy", {0}},
                                      {"policy.slice", "1ms", "--set", {0}},
                                      {"machine.numbers", "[3,2,1,0]", "--set", {0}},
                                      {"machine.ipi.flight", "(\"1 us\", \"measured\", \"\", \"here\")", "--set", {0}},
                                      {"kernel.path.foo", "10 ns", "--set", {0}}};
    const struct wb_overrides o = {.item = set, .n = sizeof set / sizeof set[0], .machine = "other"};
    (void)state;
    struct wb_scenario *s = load_good(files, &o);
    const struct wb_config *c = wb_scenario_config(s);
    assert_int_equal(wb_cfg_int(c, "workload[0].message"), 4096);
    assert_int_equal(wb_cfg_dist(c, "workload[1].think")->a, 5 * 1000000);
    assert_string_equal(wb_cfg_str(c, "workload[1].cpus"), "0,1");
    assert_int_equal(wb_cfg_int(c, "run.seed"), 5000000000);
    assert_string_equal(wb_cfg_origin(c, "run.seed")->from, "--seed");
    assert_int_equal(wb_cfg_int(c, "policy.slice"), (int64_t)WB_MS);
    assert_false(wb_cfg_has(c, "policy.idle_balance")); /* o1 only */
    assert_int_equal(wb_cfg_int_at(c, "machine.numbers", 3), 0);
    assert_int_equal(wb_cfg_origin(c, "machine.ipi.flight")->status, WB_MEASURED);
    assert_string_equal(wb_cfg_str(c, "machine.topology"), "pack:1 pu:1");
    assert_string_equal(wb_cfg_str(c, "machine.base"), "other");
    assert_int_equal(wb_cfg_cpus_max(c, "workload[1].cpus"), 1);
    uint64_t w[1];
    struct wb_cpumask mask = {.ncpus = 4, .nwords = 1, .w = w};
    assert_true(wb_cfg_cpus(c, "workload[1].cpus", &mask));
    assert_int_equal(w[0], 3);
    assert_false(wb_cfg_cpus(c, "workload[0].cpus", &mask));
    wb_scenario_free(s);
}

static void bad_overrides(void **state)
{
    static const char *const cases[][3] = {
        {"workload.mesage", "4KiB", "error: --set workload.mesage=4KiB: there are 2 entries in 'workload'   [E131]"},
        {"workload.w.mesage", "4KiB",
         "error: --set workload.w.mesage=4KiB: unknown key 'mesage' in 'workload'   [E130]\n      = did you mean "
         "'message'?"},
        {"workload.w.message", "4KB",
         "error: --set workload.w.message=4KB: 'message' = \"4KB\": ambiguous: write KiB (1024 bytes) or kB (1000 "
         "bytes)   [E124]"},
        {"workload.w.think", "1 us", "key 'think' belongs to pipe_latency, not to pipe_bw   [E116]"},
        {"workload[2].nice", "0", "'workload' has 2 entries"},
        {"workload", "0", "'workload' is a list of groups"},
        {"machine", "0",
         "'machine' is a group; name one key of it   [E130]\n      = to choose one by name: machine.base=0"},
        {"machine.clock.x", "0", "unknown key 'x' in 'machine.clock'"},
        {"machine.ipi.flight[0]", "0", "'machine.ipi.flight' is no list"},
        {"machin.clock", "1 GHz", "unknown key 'machin'   [E130]\n      = did you mean 'machine'?"},
        {"run.seed", "x", "'seed' wants a count, found a string"},
        {"run.seed", "99999999999999999999", "does not fit a 32-bit integer"},
        {"machine.clock", "1 THz", "not a unit of frequency"},
        {"", "", "unknown key ''"},
    };
    const struct fixture_file files[] = {
        {"a.cfg", HEAD "workload = ( { kind = \"pipe_bw\"; name = \"w\"; }, { kind = \"pipe_latency\"; } );\n"},
        M,
        K,
        END};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct wb_override set = {cases[i][0], cases[i][1], "--set", {0}};
        const struct wb_overrides o = {.item = &set, .n = 1};
        char *text = load_bad(files, &o);
        expect_in(text, cases[i][2]);
        expect_in(text, "1 error.");
        free(text);
    }
}

static void mistakes_of_meaning(void **state)
{
    (void)state;
    expect_error(W "titel = \"x\";\n", 1,
                 "a.cfg:4:1: error: unknown key 'titel'   [E115]\n    4 | titel = \"x\";\n      | ^~~~~\n      = did "
                 "you mean 'title'?");
    expect_error("workload = ( { kind = \"pipe_bw\"; think = \"1 us\"; } );", 1,
                 "key 'think' belongs to kind pipe_latency, not to pipe_bw   [E116]");
    expect_error("workload = ( { message = \"1 KiB\"; } );", 1,
                 "a.cfg:3:14: error: 'kind' is missing in 'workload[0]'   [E117]");
    expect_error("workload = ( { kind = \"pipe_bv\"; } );", 1, "'pipe_bv' is no value of 'kind'   [E125]");
    expect_error("workload = { kind = \"pipe_bw\"; };", 1,
                 "'workload' is a list of groups, found a group { }   [E122]");
    expect_error("", 1, "'workload' is missing   [E117]");
    expect_error(W "run : { window = 100; };", 1,
                 "'window' is a time and needs a unit; a bare number says nothing   [E121]");
    expect_error(
        W "run : { window = 10000000000; };", 1,
        "10000000000 does not fit a 32-bit integer and libconfig would silently read 1410065408   [E120]\n    4 | run "
        ": { "
        "window = 10000000000; };\n      |                  ^~~~~~~~~~~\n      = write it with its unit: \"10 s\"");
    expect_error(W "run : { replications : { min = 9; max = 3; }; };", 1,
                 "run.replications: min is 9 and max is 3   [E150]");
    expect_error(W "run : { warmup = \"5\"; };", 1, "'warmup' = \"5\": a time needs a unit");
    expect_error(W "run : { seed = -1; };", 1,
                 "'seed' = -1 is outside its range: at least 0   [E123]\n    4 | run : { seed = -1; };\n      |        "
                 "        ^~\n      = the default is 1: convention of this program");
    expect_error(W "policy : { slice = \"1 ms\"; };", 1, "key 'slice' belongs to scheduler cfs, not to o1   [E116]");
    expect_error("workload = ( { kind = \"pipe_bw\"; cpus = \"0,x\"; } );", 1, "a.cfg:3:44: error: 'cpus' = \"0,x\"");
    expect_error("workload = ( { kind = \"pipe_latency\"; think = \"exp(1 us\"; } );", 1, "')' is missing   [E127]");
    expect_error("workload = ( { kind = \"pipe_bw\"; name = \"a\"; }, { kind = \"pipe_bw\"; name = \"a\"; } );", 1,
                 "two entries of 'workload' are named 'a'");
    expect_error(W "sweep : { over = ( { set = \"kernel.pip\"; values = [ \"a\" ]; } ); };", 1,
                 "unknown key 'pip' in 'kernel'   [E130]");
    expect_error(W "sweep : { over = ( { set = \"workload.copies\"; values = [ 1, 0 ]; } ); };", 1,
                 "a.cfg:4:61: error: 'copies' = 0 is outside its range");
    expect_error(W "sweep : { over = ( { set = \"workload.copies\"; range = \"9..1\"; } ); };", 1,
                 "the range '9..1' runs backwards   [E170]");
    expect_error(W "sweep : { over = ( { set = \"workload.copies\"; } ); };", 1, "the axis has no values");
    expect_error(W "sweep : { over = ( { set = \"run.seed\"; values = [ 1, 2 ]; } ); };", 1,
                 "'run.seed' cannot be an axis   [E171]");
    expect_error(W "sweep : { where = \"workload.copies <= \"; };", 1, "a value is missing at the end   [E160]");
    expect_error(W "sweep : { where = \"workload.copys <= 2\"; };", 1,
                 "a.cfg:4:20: error: 'workload.copys' is no key of this scenario   [E161]");
    expect_error(W "expect = ( { metric = \"bandwidth\"; } );", 1, "the expectation has no bound");
    expect_error(W "expect = ( { metric = \"bandwidth\"; max_ratio = 0.5; } );", 1,
                 "a ratio needs the points that it compares with");
    expect_error(W "rows = ( { name = \"r\"; metric = \"bandwidth\"; class = \"guesses\"; } );", 1,
                 "valid here: calibrates, consistency, predicts");
    expect_error(W "rows = ( { name = \"r\"; metric = \"b\"; class = \"predicts\"; set = [ \"kernel.pipe\" ]; } );", 1,
                 "'kernel.pipe' is no setting of the form key=value   [E132]");
    expect_error(W "rows = ( { name = \"r\"; metric = \"b\"; class = \"predicts\"; set = [ \"kernel.pip=1\" ]; } );", 1,
                 "a.cfg:4:66: error: unknown key 'pip' in 'kernel'");
}

static void mistakes_of_bases(void **state)
{
    (void)state;
    char *text = load_bad(
        (struct fixture_file[]){
            {"a.cfg", "machine : { base = \"nix\"; };\nkernel : { base = \"k\"; };\n" W}, M, K, END},
        NULL);
    expect_in(text, "a.cfg:1:20: error: no machine named 'nix' is known   [E141]");
    free(text);
    text = load_bad(
        (struct fixture_file[]){
            {"a.cfg", HEAD W}, {"machines/m.cfg", "base = \"n\";"}, {"machines/n.cfg", "base = \"m\";"}, K, END},
        NULL);
    expect_in(text, "machines/n.cfg:1:8: error: 'm' is its own base, by way of 2 files   [E142]");
    free(text);
    text = load_bad(
        (struct fixture_file[]){
            {"a.cfg", HEAD W}, {"machines/m.cfg", "topology = \"pu:1\";\nclok = \"1 GHz\";\n"}, K, END},
        NULL);
    expect_in(text, "machines/m.cfg:2:1: error: unknown key 'clok' in 'machine'   [E115]");
    expect_in(text, "   included from a.cfg:1\n");
    free(text);
    text = load_bad((struct fixture_file[]){{"a.cfg", "workload = ( { kind = \"pipe_bw\"; } );"}, END}, NULL);
    expect_in(text, "a.cfg: error: the scenario has no machine   [E118]");
    expect_in(text, "a.cfg: error: the scenario has no kernel   [E118]");
    free(text);
    text = load_bad(
        (struct fixture_file[]){
            {"a.cfg", "machine : { clock = \"1 GHz\"; };\nkernel : { base = \"k\"; };\n" W}, K, END},
        NULL);
    expect_in(text, "a.cfg:1:11: error: 'topology' is missing in 'machine'   [E117]");
    free(text);
}

static void priced_mistakes(void **state)
{
    static const char *const cases[][2] = {
        {"( \"1 us\", \"guessed\" )", "'guessed' is no status of a cost"},
        {"( \"1 us\", \"assumed\" )", "'flight' is assumed and has no plausible range   [E129]"},
        {"( \"1 us\", \"assumed\", \"2 us..3 us\" )",
         "the range \"2 us..3 us\" of 'flight' does not hold its value   [E129]"},
        {"( \"1 us\", \"assumed\", \"2 us\" )", "'..' is missing"},
        {"( \"1 us\", \"assumed\", \"1 cy..3 cy\" )", "mixes times and cycles"},
        {"( )", "'flight' wants ( value, status, range, source )"},
        {"( ( \"1 us\" ) )", "'flight' wants a time or a number of cycles, found a list ( )"},
        {"\"2 s\"", "'flight' = 2 s is outside its range: 0 ns .. 1 ms"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char file[400];
        snprintf(file, sizeof file,
                 "machine : { base = \"m\"; ipi : { flight = %s; }; };\nkernel : { base = \"k\"; };\n" W, cases[i][0]);
        char *text = load_bad((struct fixture_file[]){{"a.cfg", file}, M, K, END}, NULL);
        expect_in(text, cases[i][1]);
        expect_in(text, "1 error.");
        free(text);
    }
}

static void points_of_a_sweep_share_the_files(void **state)
{
    const struct fixture_file files[] = {
        {"a.cfg", HEAD W}, {"machines/two.cfg", "topology = \"pack:2 pu:1\";\n"}, M, K, END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    struct wb_diag *d = wb_diag_new();
    const struct wb_override o[] = {{"workload.message", "1 KiB", "sweep", {0}}, {"machine.base", "two", "sweep", {0}}};
    struct wb_config *c = wb_scenario_at(s, &(struct wb_overrides){.item = o, .n = 2}, d);
    assert_non_null(c);
    assert_int_equal(wb_cfg_int(c, "workload[0].message"), 1024);
    assert_string_equal(wb_cfg_str(c, "machine.topology"), "pack:2 pu:1");
    assert_string_equal(wb_cfg_str(wb_scenario_config(s), "machine.topology"), "pack:4 pu:1");
    wb_config_free(c);
    const struct wb_override bad = {"workload.message", "0 B", "sweep", {0}};
    assert_null(wb_scenario_at(s, &(struct wb_overrides){.item = &bad, .n = 1}, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 1);
    wb_diag_free(d);
    wb_scenario_free(s);
}

static void a_scenario_may_have_a_base(void **state)
{
    const struct fixture_file files[] = {
        {"a.cfg", "base = \"b\";\nkernel : { hz = 100; };\n"}, {"b.cfg", HEAD W "run : { seed = 7; };"}, M, K, END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    assert_int_equal(wb_cfg_int(wb_scenario_config(s), "run.seed"), 7);
    assert_int_equal(wb_cfg_int(wb_scenario_config(s), "kernel.hz"), 100);
    assert_string_equal(wb_cfg_origin(wb_scenario_config(s), "run.seed")->from, "base");
    wb_scenario_free(s);
}

static void a_list_replaces_the_list_of_the_base(void **state)
{
    const struct fixture_file files[] = {
        {"a.cfg", "base = \"b\";\nworkload = ( { kind = \"pipe_bw\"; } );\n"},
        {"b.cfg", HEAD "workload = ( { kind = \"pipe_bw\"; nice = 5; }, { kind = \"pipe_latency\"; } );\n"},
        M,
        K,
        END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    assert_int_equal(wb_cfg_count(wb_scenario_config(s), "workload"), 1);
    assert_int_equal(wb_cfg_int(wb_scenario_config(s), "workload[0].nice"), 0); /* nothing of the old entry is left */
    wb_scenario_free(s);
}

static void printing(void **state)
{
    const struct fixture_file files[] = {{"a.cfg", "title = \"a\\\"b\\n\\x1b[31m$(x)\";\n" HEAD W}, M, K, END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    char *text = wb_cfg_print(wb_scenario_config(s)), *bare = wb_cfg_canonical(wb_scenario_config(s));
    expect_in(text, "= \"a\\\"b\\n\\x1b[31m$(x)\"   # a.cfg:1:9\n");
    expect_in(text, "kernel.hz                   = 1000   # base kernels/k.cfg:1:24\n");
    expect_in(text, "machine.ipi.flight          = \"1 us\"   # default; assumed 500 ns .. 2 us; guess\n");
    expect_in(text, "kernel.path.schedule        = \"400 cy\"   # base kernels/k.cfg:3:21; derived; counted\n");
    expect_in(text, "workload[0].message         = \"64 KiB\"   # default; lmbench bw_pipe -m\n");
    expect_in(bare, "workload[0].message = \"64 KiB\"\n");
    assert_null(strchr(bare, '#'));
    assert_null(strchr(text, '\x1b'));
    free(text);
    free(bare);
    wb_scenario_free(s);
}

static void lists_of_groups(void **state)
{
    const struct fixture_file files[] = {{"a.cfg", HEAD "workload = ( { kind = \"custom\"; tasks = ( { name = \"t0\"; "
                                                        "program = \"run 1\"; }, { name = \"t1\"; } ); } );\n"},
                                         M,
                                         K,
                                         END};
    (void)state;
    const struct wb_override o = {"workload.tasks.t1.program", "sleep 3", "--set", {0}};
    struct wb_scenario *s = load_good(files, &(struct wb_overrides){.item = &o, .n = 1});
    const struct wb_config *c = wb_scenario_config(s);
    assert_int_equal(wb_cfg_count(c, "workload[0].tasks"), 2);
    assert_string_equal(wb_cfg_str(c, "workload[0].tasks[0].program"), "run 1");
    assert_string_equal(wb_cfg_str(c, "workload[0].tasks[1].program"), "sleep 3");
    assert_int_equal(wb_cfg_count(c, "rows"), 0);
    wb_scenario_free(s);
    expect_error("workload = ( { kind = \"custom\"; tasks = ( { program = \"x\"; } ); } );", 1,
                 "'name' is missing in 'workload[0].tasks[0]'");
}

static void workloads_get_names(void **state)
{
    static const char *const want[] = {"pipe_bw", "pipe_latency", "pipe_bw2", "pipe_latency2", "mine", "pipe_bw4"};
    const struct fixture_file files[] = {
        {"a.cfg",
         HEAD "workload = ( { kind = \"pipe_bw\"; }, { kind = \"pipe_latency\"; }, { kind = \"pipe_bw\"; },\n"
              "{ kind = \"pipe_latency\"; }, { kind = \"pipe_bw\"; name = \"mine\"; }, { kind = \"pipe_bw\"; },\n"
              "{ kind = \"custom\"; name = \"pipe_bw3\"; } );\n"},
        M,
        K,
        END};
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_string_equal(wb_cfg_str(wb_scenario_config(s), wb_cfg_path("workload[%zu].name", i)), want[i]);
    wb_scenario_free(s);
}

static void too_many_mistakes(void **state)
{
    size_t room = 200000, n;
    char *text = malloc(room);
    (void)state;
    n = (size_t)sprintf(text, "%sworkload = ( { kind = \"pipe_bw\"; }", HEAD);
    for (int i = 0; i < 3000; i++) n += (size_t)sprintf(text + n, ",\n{ nice = 99; }");
    sprintf(text + n, ");\n");
    char *messages = load_bad((struct fixture_file[]){{"a.cfg", text}, M, K, END}, NULL);
    expect_in(messages, "too many mistakes; the rest was not looked for");
    assert_true(strlen(messages) < 60000);
    free(messages);
    free(text);
}

static const struct wb_config *asked;
static void ask_unknown(void)
{
    (void)wb_cfg_int(asked, "kernel.hzz");
}
static void ask_wrong_type(void)
{
    (void)wb_cfg_int(asked, "kernel.pipe");
}
static void ask_absent(void)
{
    (void)wb_cfg_cost(asked, "machine.ipi.send", 1, 1);
}

static void asking_wrongly_is_a_bug(void **state)
{
    const struct fixture_file files[] = {{"a.cfg", HEAD W}, M, K, END};
    char text[600];
    (void)state;
    struct wb_scenario *s = load_good(files, NULL);
    asked = wb_scenario_config(s);
    assert_int_equal(wb_dies(ask_unknown, text, sizeof text), 0);
    expect_in(text, "no key 'kernel.hzz'");
    assert_int_equal(wb_dies(ask_wrong_type, text, sizeof text), 0);
    assert_int_equal(wb_dies(ask_absent, text, sizeof text), 0);
    assert_false(wb_cfg_has(asked, "machine.ipi.send"));
    wb_scenario_free(s);
}

/* Every line of a good scenario broken in turn by dropping one character: no crash, and what does not load says why. */
static void one_character_less(void **state)
{
    const char *good = HEAD "policy : { sync_wakeups = false; };\nworkload = ( { kind = \"pipe_bw\"; message = \"64 "
                            "KiB\"; cpus = \"0,1\"; } );\n"
                            "run : { seed = 20240601L; replications : { min = 5; max = 40; }; };\nsweep : { over = ( { "
                            "set = \"kernel.pipe\"; values = [ \"a\", \"b\" ]; } ); };\n";
    char text[1000];
    size_t n = strlen(good);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        memcpy(text, good, i);
        strcpy(text + i, good + i + 1);
        struct wb_diag *d = wb_diag_new();
        struct fixture_file files[] = {{"a.cfg", text}, M, K, END};
        struct wb_scenario *s = fixture_load(files, keys, NULL, d);
        assert_true((s != NULL) == (wb_diag_count(d, WB_ERROR) == 0));
        wb_scenario_free(s);
        wb_diag_free(d);
    }
}

/* One pass tells all: what is wrong with a sweep does not wait until the rest is right. */
static void every_mistake_in_one_pass(void **state)
{
    (void)state;
    static const char *const wanted[] = {"unknown key 'mesage'",
                                         "4:58: error: 'copies' wants a count",
                                         "4:71: error: 'copies' wants a count",
                                         "unknown key 'nonsense' in 'workload'",
                                         "'hz' = 1 is outside",
                                         "a value is missing",
                                         "7:34: error: 'min'"};
    static const char body[] =
        "workload = ( { kind = \"pipe_bw\"; mesage = 3; } );\n"
        "sweep : { over = ( { set = \"workload.copies\"; values = [ \"zwei\", \"2\", \"drei\" ]; },\n"
        "{ set = \"workload.nonsense\"; values = [ \"1\" ]; }, { set = \"kernel.hz\"; values = [ \"1\" ]; } );\n"
        "where = \"kernel.hz > \"; };\n"
        "expect = ( { metric = \"x\"; min = true; } );\n";
    for (size_t i = 0; i < WB_ARRAY_SIZE(wanted); i++) expect_error(body, WB_ARRAY_SIZE(wanted), wanted[i]);
    /* and nothing that only follows from another mistake */
    expect_error("workload = ( { kind = \"pipe_bv\"; message = \"1 KiB\"; } );\n"
                 "sweep : { over = ( { set = \"workload.message\"; values = [ \"1 KiB\" ]; } ); };\n",
                 1, "did you mean 'pipe_bw'");
    expect_error(W "expect = ( { metrik = \"x\"; min = 1; } );\n", 1, "did you mean 'metric'");
    expect_error(
        W "sweep : { over = ( { set = \"kernel.hz\"; value = [ \"100\" ]; } ); where = \"workload.copies > 0\"; };", 1,
        "did you mean 'values'");
}

static void a_part_as_a_text_is_one_mistake(void **state)
{
    (void)state;
    char *text = load_bad((struct fixture_file[]){{"a.cfg", "machine = \"m\";\nkernel = 3;\n" W}, M, K, END}, NULL);
    expect_in(text, "= write machine : { base = \"m\"; };");
    expect_in(text, "= write kernel : { ... };");
    expect_in(text, "2 errors.");
    free(text);
}

static void a_base_from_outside_replaces_that_of_the_file(void **state)
{
    (void)state;
    struct fixture_file files[] = {
        {"a.cfg",
         HEAD "workload = ( { base = \"one\"; message = \"8 KiB\"; }, { kind = \"pipe_bw\"; name = \"b\"; } );\n"},
        {"workloads/one.cfg", "kind = \"pipe_bw\"; message = \"1 KiB\"; copies = 3;\n"},
        {"workloads/two.cfg", "kind = \"pipe_latency\"; think = \"5 us\";\n"},
        M,
        K,
        END,
    };
    struct wb_override o[] = {{"workload.pipe_bw.base", "two", "--set", {0}}, {"workload.b.base", "one", "--set", {0}}};
    struct wb_scenario *s = load_good(files, &(struct wb_overrides){.item = o, .n = 2});
    const struct wb_config *c = wb_scenario_config(s);
    assert_string_equal(wb_cfg_str(c, "workload[0].kind"), "pipe_latency");
    assert_string_equal(wb_cfg_str(c, "workload[0].name"), "pipe_latency");
    assert_int_equal(wb_cfg_int(c, "workload[0].message"), 8192); /* the file's own key stays above it */
    assert_false(wb_cfg_has(c, "workload[0].copies"));
    assert_int_equal(wb_cfg_int(c, "workload[1].copies"), 3);
    wb_scenario_free(s);
    o[0].value = "three";
    char *text = load_bad(files, &(struct wb_overrides){.item = o, .n = 1});
    expect_in(text, "no workload named 'three'");
    free(text);
    o[0].key = "base";
    text = load_bad(files, &(struct wb_overrides){.item = o, .n = 1});
    expect_in(text, "the base of a scenario cannot be set from outside");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_in_order),
        cmocka_unit_test(priced_values),
        cmocka_unit_test(overrides),
        cmocka_unit_test(bad_overrides),
        cmocka_unit_test(mistakes_of_meaning),
        cmocka_unit_test(mistakes_of_bases),
        cmocka_unit_test(priced_mistakes),
        cmocka_unit_test(points_of_a_sweep_share_the_files),
        cmocka_unit_test(a_scenario_may_have_a_base),
        cmocka_unit_test(a_list_replaces_the_list_of_the_base),
        cmocka_unit_test(printing),
        cmocka_unit_test(lists_of_groups),
        cmocka_unit_test(too_many_mistakes),
        cmocka_unit_test(workloads_get_names),
        cmocka_unit_test(asking_wrongly_is_a_bug),
        cmocka_unit_test(one_character_less),
        cmocka_unit_test(every_mistake_in_one_pass),
        cmocka_unit_test(a_part_as_a_text_is_one_mistake),
        cmocka_unit_test(a_base_from_outside_replaces_that_of_the_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
