/*
 * prop_scenarios.c - scenarios made at random: machine, kernel, policy and workloads crossed, and keys of every group
 * set to something of their range.
 *
 * Each either is refused with a reason or gives a run in which no time is lost on any CPU, figures are what figures
 * can be, pipes hand on what was put in, and tracing, totals of tasks, audits and posted segments change no byte.
 * Each runs in a child, so that one that dies or hangs costs only itself. The seed of what fails is printed and its
 * scenario with it; WB_PROP_SEED=n repeats one, WB_PROP_RUNS=n sets how many.
 */
#include <errno.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "propcheck.h"
#include "registry.h"
#include "simtest.h"
#include "wbtest.h"

enum { SETS_MAX = 12, RUN_S = 3, HANG_S = 40, CHANNEL_MAX = 1 << 20 };
enum verdict { GOOD, REFUSED, LONG, BAD };

struct world {
    struct prop_rng rng;
    uint64_t seed;
    char text[16384];
    size_t n;
    struct wb_override set[SETS_MAX];
    char key[SETS_MAX][96], value[SETS_MAX][64];
    size_t nsets;
    uint32_t ncpus, workloads, flow, message; /* flow: index of the workload whose bytes are counted */
    const char *kinds[8];
};

static uint32_t below(struct world *w, uint64_t n)
{
    return (uint32_t)prop_below(&w->rng, n);
}

/* One in n. */
static bool one_in(struct world *w, uint32_t n)
{
    return below(w, n) == 0;
}

static const char *pick(struct world *w, const char *const *from, size_t n)
{
    return from[below(w, n)];
}
#define PICK(w, ...) pick(w, (const char *const[]){__VA_ARGS__}, WB_ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

static void put(struct world *w, const char *fmt, ...) WB_PRINTF(2, 3);
static void put(struct world *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, fmt, ap);
    va_end(ap);
    assert_true(n >= 0 && (size_t)n < sizeof w->text - w->n);
    w->n += (size_t)n;
}

/* ---- the scenario ---- */

/* CPU numbers in any order. */
static void put_numbers(struct world *w)
{
    uint32_t at[512];
    put(w, " numbers = [");
    for (uint32_t i = 0; i < w->ncpus; i++) {
        uint32_t j = below(w, i + 1);
        at[i] = at[j];
        at[j] = i;
    }
    for (uint32_t i = 0; i < w->ncpus; i++) put(w, "%s%u", i ? ", " : " ", at[i]);
    put(w, " ];\n");
}

/* Distances that no board has: nodes near one way and far the other, some in no order at all. */
static void put_distances(struct world *w, uint32_t nodes)
{
    bool same = one_in(w, 2);
    uint32_t d[64];
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++)
            d[i * nodes + j] = i == j ? 10 : same && j < i ? d[j * nodes + i] : 11 + below(w, one_in(w, 4) ? 244 : 30);
    put(w, " node_distance = [");
    for (uint32_t i = 0; i < nodes * nodes; i++) put(w, "%s%u", i ? ", " : " ", d[i]);
    put(w, " ];\n");
}

static void put_machine(struct world *w)
{
    static const uint32_t threads[] = {1, 1, 1, 2, 2, 4, 8};
    uint32_t packs = one_in(w, 6) ? 8 : 1 + below(w, 3), llcs = 1 + below(w, 2), l2s = 1 + below(w, 2);
    uint32_t cores = 1 + below(w, 3), smt = threads[below(w, WB_ARRAY_SIZE(threads))];
    if (one_in(w, 8)) packs = llcs = l2s = cores = smt = 1;
    bool numa = one_in(w, 2);
    w->ncpus = packs * llcs * l2s * cores * smt;
    put(w, "machine : {\n topology = \"pack:%u %sl3:%u(size=%u) l2:%u core:%u pu:%u\";\n", packs, numa ? "[numa] " : "",
        llcs, 65536u << below(w, 10), l2s, cores, smt);
    if (numa && packs > 1 && !one_in(w, 3)) put_distances(w, packs);
    if (one_in(w, 3)) put_numbers(w);
    if (one_in(w, 4)) put(w, " cpu_speed = [ \"0-%u %u %%\" ];\n", below(w, w->ncpus), 1 + below(w, 100));
    if (one_in(w, 3))
        put(w,
            " idle : { a : { enter = \"%u ns\"; exit = \"exp(%u ns)\"; wake = \"%s\"; }; b : { after = \"%u us\"; "
            "exit = \"%u us\"; }; };\n",
            below(w, 3000), 1 + below(w, 5000), PICK(w, "poll", "ipi"), 1 + below(w, 3000), below(w, 300));
    put(w, "};\n");
}

static void put_kernel(struct world *w)
{
    const char *base =
        PICK(w, "freebsd-4.7", "freebsd-5.2", "freebsd-5.2-ule", "freebsd-5.2-ule", "linux-2.6.10", "linux-2.6.10-i386",
             "linux-2.6.11", "linux-2.6.11-i386", "linux-2.6.22", "linux-2.6.22-i386", "linux-2.6.22-ia64",
             "linux-2.6.23", "linux-2.6.24", "linux-2.6.35", "linux-2.6.36", "linux-5.4", "linux-5.15", "linux-6.1",
             "linux-6.6", "linux-6.12", "linux-6.18", "linux-6.18-packed", "linux-6.12", "linux-6.18");
    if (w->ncpus == 1 && one_in(w, 3)) base = PICK(w, "freebsd-4.7-up", "freebsd-5.2-up");
    put(w, "kernel : { base = \"%s\";", base);
    if (one_in(w, 3))
        put(w, " noise = ( { gap = \"exp(%u us)\"; cost = \"uniform(0 us, %u us)\"; } );", 20 + below(w, 3000),
            1 + below(w, 200));
    put(w, " };\n");
}

/* A list of CPUs which are there. */
static const char *cpu_list(struct world *w, char *buf, size_t n)
{
    uint32_t a = below(w, w->ncpus), b = below(w, w->ncpus), from = WB_MIN(a, b), to = WB_MAX(a, b);
    (void)snprintf(buf, n, one_in(w, 2) || from == to ? "%u" : one_in(w, 3) ? "%u,%u" : "%u-%u", from, to);
    return buf;
}

/* Bytes through a pipe, whole messages of them counted on both sides; hands, locks and masks that change besides. */
static void put_flow(struct world *w)
{
    static const uint32_t sizes[] = {1, 100, 4095, 4096, 4097, 20000, 65536, 300000};
    char one[32], other[32];
    w->flow = w->workloads;
    w->message = sizes[below(w, WB_ARRAY_SIZE(sizes))];
    put(w,
        "  { kind = \"custom\"; start = \"0 s\"; channels = [ \"ch\" ]; locks = [ \"m%s\", \"f futex\" ]; events = [ "
        "\"ev 0\" ]; regions = [ \"r %u KiB\" ];\n",
        PICK(w, "", " semaphore", " mutex", " mutex_spin", " mutex_handoff", " fair"), 1 + below(w, 2000));
    put(w, "    tasks = ( { name = \"from\"; nice = %d; program = [ \"loop\", \"write ch %u B\", \"count w\", ",
        (int)below(w, 40) - 20, w->message);
    put(w, "\"lock m\", \"run exp(%u us)\", \"unlock m\", \"wake ev\", \"end\" ]; },\n", 1 + below(w, 50));
    put(w, "      { name = \"to\"; pair = \"from\"; program = [ \"loop\", \"readall ch %u B\", \"count r\", ",
        w->message);
    put(w, "\"touch r random\", \"pin %s\", \"run %u ns\", \"pin %s\", \"end\" ]; },\n", cpu_list(w, one, sizeof one),
        1 + below(w, 90000), cpu_list(w, other, sizeof other));
    put(w,
        "      { name = \"by\"; count = %u; program = [ \"loop\", \"lock m\", \"lock f\", \"unlock f\", \"run 1 us\", ",
        1 + below(w, 4));
    put(w, "\"unlock m\", \"%s\", \"wait ev\", \"end\" ]; } ); }", PICK(w, "yield", "sleep 30 us", "sleep exp(2 ms)"));
    w->kinds[w->workloads++] = "custom";
}

static void put_workload(struct world *w)
{
    static const char *const kinds[] = {"pipe_bw",   "pipe_latency", "tcp_rr",   "udp_rr", "unix_rr",
                                        "hackbench", "hog",          "periodic", "syscall"};
    char list[32];
    const char *kind = pick(w, kinds, WB_ARRAY_SIZE(kinds));
    put(w, "  { kind = \"%s\"; cpus = \"%s\"; nice = %d;", kind,
        one_in(w, 2) ? PICK(w, "free", "all") : cpu_list(w, list, sizeof list),
        one_in(w, 2) ? 0 : (int)below(w, 40) - 20);
    if (!strcmp(kind, "hackbench")) put(w, " groups = %u; fds = %u;", 1 + below(w, 2), 1 + below(w, 6));
    if (!strcmp(kind, "hog") || !strcmp(kind, "periodic")) put(w, " count = %u;", 1 + below(w, 2 * w->ncpus));
    put(w, " }");
    w->kinds[w->workloads++] = kind;
}

static void put_scenario(struct world *w)
{
    put(w, "schema = 1;\n");
    put_machine(w);
    put_kernel(w);
    put(w, "workload = (\n");
    put_flow(w);
    for (uint32_t n = below(w, 4); n; n--) {
        put(w, ",\n");
        put_workload(w);
    }
    put(w, "\n);\nrun : { duration = \"%u us\"; warmup = \"none\"; window = \"%u us\"; seed = %u; };\n",
        1000 + below(w, 30000), 100 + below(w, 9000), below(w, 1u << 30));
}

/* ---- keys ---- */

/* Keys that ask for much work, or for another kind of scenario. */
static bool left_alone(const char *path)
{
    static const char *const no[] = {"base",  "schema", "from_cmd",     "title",   "name",   "kind",   "duration",
                                     "total", "copies", "instances",    "count",   "groups", "fds",    "scheduler",
                                     "start", "warmup", "replications", "version", "arch",   "horizon"};
    const char *last = strrchr(path, '.');
    for (size_t i = 0; i < WB_ARRAY_SIZE(no); i++)
        if (!strcmp(last ? last + 1 : path, no[i])) return true;
    return strchr(path, '*') || strstr(path, "kernel.domains") || strstr(path, "replications.") ||
           strstr(path, "workload.tasks");
}

static const char *a_word(struct world *w, const char *words, char *buf, size_t n)
{
    uint32_t count = 1;
    for (const char *p = words; *p; p++) count += *p == ' ';
    for (uint32_t skip = below(w, count); skip; skip--) words = strchr(words, ' ') + 1;
    (void)snprintf(buf, n, "%.*s", (int)strcspn(words, " "), words);
    return buf;
}

static const char *a_feature(struct world *w, char *buf, size_t n)
{
    const char *name = PICK(w, "START_DEBIT", "NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION",
                            "RUN_TO_PARITY", "PLACE_LAG", "DELAY_DEQUEUE", "DELAY_ZERO", "PREEMPT_SHORT", "TTWU_QUEUE",
                            "SIS_UTIL", "SIS_PROP", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "LB_MIN", "UTIL_EST",
                            "GENTLE_FAIR_SLEEPERS", "PICK_BUDDY", "TREE_AVG", "SLEEPER_AVG", "PLACE_REL_DEADLINE");
    (void)snprintf(buf, n, "[ \"%s%s\" ]", PICK(w, "", "NO_"), name);
    return buf;
}

/* Something that a key of this type may be; NULL: nothing is tried. */
static const char *a_value(struct world *w, const struct wb_key *k, char *buf, size_t n)
{
    if (k->min && k->max && one_in(w, 4)) return one_in(w, 2) ? k->min : k->max;
    switch (k->type) {
    case WB_KEY_BOOL: return PICK(w, "true", "false");
    case WB_KEY_ENUM: return k->choices ? a_word(w, k->choices, buf, n) : NULL;
    case WB_KEY_VERSION: return PICK(w, "2.6.10", "2.6.24", "2.6.36", "4.1", "5.4", "5.17", "6.1", "6.12", "6.18");
    case WB_KEY_TIME: return PICK(w, "1 us", "50 us", "1 ms", "7 ms", "200 ms");
    case WB_KEY_COST: return PICK(w, "0 ns", "1 ns", "35 ns", "400 cy", "3 us", "200 us");
    case WB_KEY_DIST: return PICK(w, "0 s", "exp(7 us)", "uniform(1 ns, 90 us)", "table(1 us:3, 40 us:1)", "2 ms");
    case WB_KEY_SIZE: return PICK(w, "1 B", "63 B", "4 KiB", "4097 B", "64 KiB", "1 MiB");
    case WB_KEY_RATE: return PICK(w, "1 MB/s", "300 MB/s", "5 GB/s", "100 GB/s");
    case WB_KEY_FREQ: return PICK(w, "100 MHz", "1.5 GHz", "4 GHz");
    case WB_KEY_RATIO: return PICK(w, "0 %", "1 %", "33 %", "100 %");
    case WB_KEY_INT:
        (void)snprintf(buf, n, "%lld", (k->min ? atoll(k->min) : 0) + (long long)below(w, 2ull << below(w, 12)));
        return buf;
    default: return strcmp(k->path, "policy.features") ? NULL : a_feature(w, buf, n);
    }
}

static void add_set(struct world *w, const struct wb_key *k)
{
    size_t i = w->nsets;
    char buf[64];
    const char *dot = strchr(k->path, '.'), *v = left_alone(k->path) || !dot ? NULL : a_value(w, k, buf, sizeof buf);
    if (!v || strlen(k->path) > 80) return;
    (void)snprintf(w->key[i], sizeof w->key[i], "%s", k->path);
    if (!strncmp(k->path, "workload.", 9)) {
        uint32_t of = below(w, w->workloads);
        if (k->only && strcmp(k->only, w->kinds[of])) return;
        (void)snprintf(w->key[i], sizeof w->key[i], "workload[%u]%s", of, dot);
        if (of == w->flow && strstr(k->path, "packets")) return; /* a packet that is cut loses its end */
    }
    (void)snprintf(w->value[i], sizeof w->value[i], "%s", v);
    w->set[i] = (struct wb_override){.key = w->key[i], .value = w->value[i], .from = "--set"};
    w->nsets++;
}

/* Policies have most of what decides: half of the keys are theirs. */
static void add_sets(struct world *w, const struct wb_key_registry *keys)
{
    size_t n = wb_keys_count(keys);
    for (uint32_t tries = 40 + below(w, 60), want = below(w, SETS_MAX); tries && w->nsets < want; tries--) {
        const struct wb_key *k = wb_keys_at(keys, below(w, n));
        bool policy = !strncmp(k->path, "policy.", 7);
        if (policy || one_in(w, 3)) add_set(w, k);
    }
}

/* ---- running it ---- */

static volatile int stop;

static void too_long(int sig)
{
    (void)sig;
    stop = 1;
}

static struct simtest built(struct world *w, const struct wb_run_options *opt, char **why)
{
    const struct wb_overrides over = {.item = w->set, .n = w->nsets};
    return simtest_try(w->text, &over, opt, why);
}

/* What cannot be of one figure; NULL: it can. */
static const char *odd_figure(const struct wb_metric *m, const struct wb_result *r)
{
    if (isnan(m->value)) return NULL;
    if (!isfinite(m->value) || m->value < 0) return "negative or endless";
    bool share =
        !strncmp(m->name, "time.", 5) || !strcmp(m->name, "colocated") || !strcmp(m->name, "idle_while_work_waits");
    if (share && m->value > 1.000001) return "more than all";
    if (!strcmp(m->name, "affinity_violations") && m->value > 0) return "a task where it may not be";
    if (m->hist && !strcmp(m->unit, "s") && (double)m->hist->max > (double)r->duration) return "longer than the run";
    return NULL;
}

static bool flow_kept(const struct world *w, const struct wb_result *r, char *why, size_t n)
{
    const struct wb_metric *in = wb_result_find(r, w->flow, "w"), *out = wb_result_find(r, w->flow, "r");
    if (!in || !out || isnan(in->value) || isnan(out->value)) return true;
    double s = (double)r->duration / (double)WB_S, put_in = in->value * s, taken = out->value * s;
    /* One may be read before its writer has counted it; rates are of the time at work, a little less than the run. */
    if (taken < put_in + 1.5 && (put_in - taken - 2.001) * w->message <= 2.0 * CHANNEL_MAX) return true;
    (void)snprintf(why, n, "%.3f messages of %u bytes went in and %.3f came out", put_in, w->message, taken);
    return false;
}

static bool sound(const struct world *w, const struct wb_result *r, char *why, size_t n)
{
    for (uint32_t c = 0; c < r->ncpus; c++) {
        sim_time all = 0;
        for (size_t i = 0; i < WB_CAT_N; i++) all += r->cat_time[c][i];
        if (all == r->duration - r->measured_from) continue;
        (void)snprintf(why, n, "CPU %u accounts for %llu ps of %llu", c, (unsigned long long)all,
                       (unsigned long long)(r->duration - r->measured_from));
        return false;
    }
    for (size_t i = 0; i < r->nmetrics; i++) {
        const char *odd = odd_figure(&r->metric[i], r);
        if (!odd) continue;
        (void)snprintf(why, n, "%s is %g: %s", r->metric[i].name, r->metric[i].value, odd);
        return false;
    }
    return flow_kept(w, r, why, n);
}

/* Settings that are refused with those before them are left out. */
static bool settle(struct world *w)
{
    size_t n = w->nsets, kept = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i) w->set[kept] = w->set[i - 1];
        w->nsets = kept + (i > 0);
        char *why = NULL;
        struct simtest t = built(w, NULL, &why);
        bool fine = t.sim != NULL;
        if (fine)
            simtest_free(&t);
        else if (getenv("WB_PROP_VERBOSE"))
            fprintf(stderr, "%s", why);
        free(why);
        if (!fine && !i) return false;
        kept += fine && i > 0;
    }
    w->nsets = kept;
    return true;
}

static enum verdict compare(struct world *w, uint64_t want, char *why, size_t n)
{
    const struct wb_run_options other[] = {
        {.stop = &stop, .trace_capacity = 4096, .trace_to = WB_TIME_NEVER, .task_totals = true},
        {.stop = &stop, .no_inline = true, .no_elide = true},
        {.stop = &stop, .audit = true},
    };
    static const char *const name[] = {"tracing", "posting all", "auditing"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(other); i++) {
        struct simtest t = built(w, &other[i], NULL);
        if (!t.sim) return (void)snprintf(why, n, "it builds once and not again"), BAD;
        enum wb_run_end end = wb_sim_run(t.sim);
        uint64_t got = end == WB_RUN_BROKEN ? want : wb_sim_result(t.sim)->fingerprint;
        simtest_free(&t);
        if (end == WB_RUN_BROKEN) return LONG;
        if (got != want) return (void)snprintf(why, n, "%s changes the result", name[i]), BAD;
    }
    return GOOD;
}

static enum verdict try_world(struct world *w, char *why, size_t n)
{
    if (!settle(w)) return REFUSED;
    struct simtest t = built(w, &(struct wb_run_options){.stop = &stop}, NULL);
    enum verdict v = GOOD;
    enum wb_run_end end = wb_sim_run(t.sim);
    uint64_t print = 0;
    if (end == WB_RUN_BROKEN || end == WB_RUN_STALLED) v = end == WB_RUN_STALLED ? REFUSED : LONG;
    if (v == GOOD && !sound(w, wb_sim_result(t.sim), why, n)) v = BAD;
    if (v == GOOD) print = wb_sim_result(t.sim)->fingerprint;
    simtest_free(&t);
    return v == GOOD ? compare(w, print, why, n) : v;
}

static void make_world(struct world *w, uint64_t seed)
{
    *w = (struct world){.rng = {seed * 0x2545f4914f6cdd1dull}, .seed = seed};
    struct wb_key_registry *keys = cli_keys_new();
    put_scenario(w);
    add_sets(w, keys);
    wb_keys_free(keys);
}

static void tell(const struct world *w, const char *why)
{
    fprintf(stderr, "WB_PROP_SEED=%" PRIu64 ": %s\n%s", w->seed, why, w->text);
    for (size_t i = 0; i < w->nsets; i++) fprintf(stderr, "--set %s='%s'\n", w->set[i].key, w->set[i].value);
}

/* In a child: the exit code is the verdict. */
static _Noreturn void child(uint64_t seed)
{
    static struct world w;
    char why[256] = "";
    const struct itimerval limit = {.it_value = {.tv_sec = RUN_S}};
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGVTALRM, too_long);
    setrlimit(RLIMIT_CPU, &(struct rlimit){HANG_S, HANG_S + 1});
    make_world(&w, seed);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    enum verdict v = try_world(&w, why, sizeof why);
    if (v == BAD) tell(&w, why);
    fflush(NULL);
    _exit((int)v);
}

static enum verdict try_seed(uint64_t seed)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) child(seed);
    while (waitpid(pid, &status, 0) < 0) assert_int_equal(errno, EINTR);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= BAD) return (enum verdict)WEXITSTATUS(status);
    static struct world w;
    make_world(&w, seed);
    tell(&w, WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? "it hangs" : "it died");
    return BAD;
}

static void any_scenario(void **state)
{
    (void)state;
    const char *one = getenv("WB_PROP_SEED"), *wanted = getenv("WB_PROP_RUNS");
    uint64_t from = one ? strtoull(one, NULL, 10) : 1, runs = one ? 1 : wanted ? strtoull(wanted, NULL, 10) / 5 : 30;
    uint32_t got[BAD + 1] = {0};
    for (uint64_t i = 0; i < WB_MAX(runs, 1); i++) got[try_seed(from + i)]++;
    printf("%u good, %u refused, %u too long, %u bad\n", got[GOOD], got[REFUSED], got[LONG], got[BAD]);
    assert_int_equal(got[BAD], 0);
    assert_true(one || got[GOOD] * 2 > runs); /* else little was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_scenario)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
