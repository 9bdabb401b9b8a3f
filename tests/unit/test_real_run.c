/* wb-link: wb_validate wb_measure wb_core */
#include "wbtest.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "real_inner.h"
#include "real_json.h"

/* Real runs, as short as they can be. Nothing here asks how fast they were: the machine may be slow or busy. */

static struct wb_diag *d;

static int setup(void **state)
{
    (void)state;
    d = wb_diag_new();
    return d ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    wb_diag_free(d);
    return 0;
}

static struct real_spec spec(enum real_kind kind)
{
    struct real_spec s;
    real_spec_init(&s, kind);
    if (s.duration_ns) s.duration_ns = 60000000;
    s.warmup_ns = 20000000;
    s.window_ns = 10000000;
    s.groups = 1;
    s.fds = 3;
    s.loops = 20;
    s.run.a = WB_MS / 2;
    s.sleep.a = WB_MS;
    return s;
}

static void set(struct real_spec *s, const char *key, const char *value)
{
    assert_int_equal(real_spec_set(s, key, value, d), 0);
}

/* Processes of this test that are still there, by their names. Zombies of others' are not ours to reap. */
static int leftovers(void)
{
    int n = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) {
        char path[300], text[512];
        if (e->d_name[0] < '0' || e->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        size_t got = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        text[got] = '\0';
        const char *close = strrchr(text, ')');
        int pgrp = 0;
        char st = 'Z';
        if (strstr(text, "(wb-") && close && sscanf(close + 1, " %c %*d %d", &st, &pgrp) == 2 && st != 'Z' &&
            getpgid(getpid()) != pgrp)
            n++;
    }
    closedir(dir);
    return n;
}

static struct real_result run(const struct real_spec *s)
{
    struct real_result r;
    int rc = real_run(s, &r, d);
    if (rc) {
        char *text = wb_diag_render(d, false);
        fail_msg("%s: %d: %s", real_kind_name(s->kind), rc, text);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left below this process */
    assert_int_equal(errno, ECHILD);
    return r;
}

static void test_every_kind(void **state)
{
    (void)state;
    for (unsigned k = 0; k < REAL_KINDS; k++) {
        struct real_spec s = spec((enum real_kind)k);
        struct real_result r = run(&s);
        assert_true(r.metric_n >= 1 && r.metric[0].value > 0);
        assert_true(r.ops > 0 && r.seconds > 0 && r.cpu_ns_total > 0);
        assert_true(k == REAL_HACKBENCH || r.task_n > 0);
        if (r.latency) {
            assert_true(r.latency->count > 0);
            assert_true(r.latency->min <= wb_hist_quantile(r.latency, 500000));
        }
        bool pair = k <= REAL_UNIX_RR;
        assert_int_equal(pair, !isnan(r.together));
        if (pair) assert_true(r.together >= 0 && r.together <= 1);
        if (r.counts.have & REAL_HAVE_CPU) assert_true(r.counts.cpu_ns > 0);
        real_result_free(&r);
    }
}

/* Both ends on one CPU: always together, and no migration is counted. */
static void test_pinned(void **state)
{
    (void)state;
    cpu_set_t may;
    assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
    int first = 0;
    while (!CPU_ISSET((unsigned)first, &may)) first++;
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%d", first);
    static const enum real_kind kinds[] = {REAL_PIPE_BW, REAL_PIPE_LATENCY, REAL_TCP_RR, REAL_UDP_RR, REAL_UNIX_RR};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        struct real_spec s = spec(kinds[i]);
        set(&s, "cpus", cpu);
        struct real_result r = run(&s);
        assert_true(r.together == 1);
        if (r.counts.have & REAL_HAVE_MIGRATIONS) assert_int_equal(r.counts.migrations, 0);
        if (r.counts.have & REAL_HAVE_SWITCHES && kinds[i] == REAL_PIPE_LATENCY)
            assert_true(r.counts.voluntary + r.counts.involuntary > r.ops);
        real_result_free(&r);
    }
}

/* On two CPUs: never together. Left out where there is one. */
static void test_apart(void **state)
{
    (void)state;
    cpu_set_t may;
    assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
    if (CPU_COUNT(&may) < 2) skip();
    char cpus[32] = "";
    for (int c = 0, n = 0; n < 2; c++)
        if (CPU_ISSET((unsigned)c, &may))
            snprintf(cpus + strlen(cpus), sizeof cpus - strlen(cpus), "%s%d", n++ ? "," : "", c);
    struct real_spec s = spec(REAL_PIPE_LATENCY);
    set(&s, "cpus", cpus);
    struct real_result r = run(&s);
    assert_true(r.together == 0);
    real_result_free(&r);
}

static void test_fixed_work(void **state)
{
    (void)state;
    struct real_spec s = spec(REAL_PIPE_LATENCY);
    set(&s, "trips", "500");
    set(&s, "copies", "2");
    struct real_result r = run(&s);
    assert_int_equal(r.ops, 1000);
    assert_int_equal(r.latency->count, 1000);
    assert_int_equal(r.task[0].ops, 500);
    real_result_free(&r);
    s = spec(REAL_PIPE_BW);
    set(&s, "message", "1000 B");
    set(&s, "total", "3500 B"); /* lmbench's rounding: 3500 + 3000 */
    r = run(&s);
    assert_true(r.ops >= 6500);
    real_result_free(&r);
    s = spec(REAL_SYSCALL);
    set(&s, "calls", "1001");
    r = run(&s);
    assert_int_equal(r.ops, 1001);
    real_result_free(&r);
    s = spec(REAL_HACKBENCH);
    r = run(&s);
    assert_int_equal(r.ops, 3 * 3 * 20);
    real_result_free(&r);
}

static void test_variants(void **state)
{
    (void)state;
    static const struct {
        enum real_kind kind;
        const char *key[3], *value[3];
    } row[] = {
        {REAL_PIPE_LATENCY, {"threads", "message"}, {"true", "100 KiB"}},
        {REAL_PIPE_BW, {"threads", "message", "copies"}, {"true", "3 B", "2"}},
        {REAL_PIPE_BW, {"pipe_size", "message"}, {"1 MiB", "1 MiB"}},
        {REAL_TCP_RR, {"threads", "request", "response"}, {"true", "1 B", "70 KiB"}},
        {REAL_TCP_RR, {"nodelay", "request"}, {"true", "3000 B"}},
        {REAL_UDP_RR, {"request", "response"}, {"65507 B", "65507 B"}},
        {REAL_UNIX_RR, {"request", "think"}, {"300 KiB", "exp(10 us)"}},
        {REAL_HACKBENCH, {"mode", "transport"}, {"thread", "pipe"}},
        {REAL_HACKBENCH, {"mode", "message"}, {"thread", "3000 B"}},
        {REAL_HACKBENCH, {"transport"}, {"pipe"}},
        {REAL_HOG, {"working_set", "pattern", "count"}, {"1 MiB", "random", "2"}},
        {REAL_HOG, {"sched", "chunk"}, {"idle", "uniform(10 us, 50 us)"}},
        {REAL_PERIODIC, {"period", "timer_slack"}, {"2 ms", "1 us"}},
        {REAL_SYSCALL, {"call", "nice", "sched"}, {"select", "5", "batch"}},
        {REAL_SYSCALL, {"call"}, {"gettimeofday_trap"}},
        {REAL_PIPE_LATENCY, {"background", "counters"}, {"hog,nice=10", "perf"}},
        {REAL_HACKBENCH, {"background"}, {"periodic,run=100us,period=1ms"}},
        {REAL_PIPE_LATENCY, {"counters"}, {"none"}},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        struct real_spec s = spec(row[i].kind);
        for (size_t k = 0; k < 3 && row[i].key[k]; k++) set(&s, row[i].key[k], row[i].value[k]);
        struct real_result r = run(&s);
        assert_true(r.ops > 0);
        if (s.counters == REAL_COUNT_NONE) assert_true(r.left_out_n == 1 && r.counts.have == 0);
        if (s.background_n) assert_true(r.task[r.task_n - 1].background);
        real_result_free(&r);
    }
}

/* A background hog works while the pair is measured, and is not counted among it. */
static void test_background(void **state)
{
    (void)state;
    struct real_spec s = spec(REAL_PIPE_LATENCY);
    set(&s, "background", "hog,count=2");
    struct real_result r = run(&s);
    assert_int_equal(r.task_n, 4);
    uint64_t own = 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(r.task[i].background, i >= 2);
        if (i < 2) own += r.task[i].counts.cpu_ns;
    }
    assert_string_equal(r.task[2].role, "hog");
    if (r.counts.have & REAL_HAVE_CPU) {
        assert_int_equal(r.counts.cpu_ns, own);
        assert_true(r.task[2].counts.cpu_ns + r.task[3].counts.cpu_ns > 0);
    }
    real_result_free(&r);
}

static void test_windows(void **state)
{
    (void)state;
    struct real_spec s = spec(REAL_SYSCALL);
    s.duration_ns = 200000000;
    struct real_result r = run(&s);
    assert_int_equal(r.window_ns, 10000000);
    assert_in_range(r.window_n, 1, REAL_WINDOWS_MAX); /* 20, more when a busy machine stops late */
    double sum = 0, one, two, mixed;
    for (uint32_t i = 0; i < r.window_n; i++) sum += r.window[i].ops;
    assert_true(sum > 0 && sum <= (double)r.ops);
    assert_true(real_window_quantile(&r, 0.1) <= real_window_quantile(&r, 0.5) &&
                real_window_quantile(&r, 0.5) <= real_window_quantile(&r, 0.9));
    real_window_modes(&r, &one, &two, &mixed);
    assert_true(isnan(one) && isnan(two) && isnan(mixed)); /* a single task is not together with anybody */
    real_result_free(&r);
}

static double number_at(json_t *o, const char *a, const char *b)
{
    json_t *x = json_object_get(o, a);
    return json_number_value(b ? json_object_get(x, b) : x);
}

static void test_json(void **state)
{
    (void)state;
    struct real_spec s = spec(REAL_PIPE_LATENCY);
    set(&s, "think", "exp(5 us)");
    set(&s, "background", "hog,count=1,nice=19");
    struct real_result r = run(&s);
    struct host_load quiet = {.known = true, .quiet = true, .seconds = 1};
    json_t *o = real_result_json(&s, &r, &quiet, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "schema")), "wakebal.real/1");
    assert_near(number_at(o, "ops", NULL), (double)r.ops, 0);
    assert_true(json_is_true(json_object_get(json_object_get(o, "load_before"), "quiet")));
    assert_true(json_is_null(json_object_get(o, "load_after")));
    assert_near(number_at(json_object_get(o, "workload"), "think", "a_s"), 5e-6, 1e-12);
    assert_true(number_at(o, "latency", "p50") > 0);
    /* All samples are in the bins. */
    json_t *bins = json_object_get(json_object_get(json_object_get(o, "latency"), "hist"), "bins"), *bin;
    size_t i;
    json_int_t n = 0;
    json_array_foreach(bins, i, bin) n += json_integer_value(json_array_get(bin, 2));
    assert_int_equal(n, r.latency->count);
    char *text = json_dumps(o, JSON_COMPACT);
    assert_null(strstr(text, "nan"));
    free(text);
    json_decref(o);
    real_result_free(&r);
}

static volatile sig_atomic_t stop;
static void on_alarm(int number)
{
    (void)number;
    stop = 1;
}

static void alarm_in(long us)
{
    struct timeval t = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    struct itimerval it = {.it_value = t};
    setitimer(ITIMER_REAL, &it, NULL);
}

/* Asked to stop in the middle: nothing is left, of any kind. */
static void test_stop(void **state)
{
    (void)state;
    struct sigaction a = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &a, NULL);
    for (unsigned k = 0; k < REAL_KINDS; k++) {
        struct real_spec s = spec((enum real_kind)k);
        struct real_result r;
        if (k == REAL_HACKBENCH)
            s.loops = 10000000;
        else
            s.duration_ns = 60000000000u;
        set(&s, "background", "hog");
        s.stop = &stop;
        stop = 0;
        alarm_in(100000 + 20000 * (long)k);
        uint64_t t = real_now();
        assert_int_equal(real_run(&s, &r, d), -EINTR);
        assert_true(real_now() - t < 30000000000u);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    assert_int_equal(wb_diag_count(d, WB_ERROR), 0); /* who stops it knows why */
}

static void test_limit(void **state)
{
    (void)state;
    struct real_spec s = spec(REAL_HACKBENCH);
    struct real_result r;
    s.loops = 10000000;
    s.limit_ns = 100000000;
    assert_int_equal(real_run(&s, &r, d), -ETIMEDOUT);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(wb_diag_count(d, WB_ERROR), 1);
}

/* The caller dies by SIGKILL: the kernel takes everything below with it. */
static void test_killed_caller(void **state)
{
    (void)state;
    static const enum real_kind kinds[] = {REAL_PIPE_LATENCY, REAL_HACKBENCH, REAL_HOG, REAL_TCP_RR};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        struct timespec a_while = {.tv_nsec = 150000000}, little = {.tv_nsec = 10000000};
        pid_t pid = fork();
        if (!pid) {
            struct real_spec s = spec(kinds[i]);
            struct real_result r;
            if (kinds[i] == REAL_HACKBENCH)
                s.loops = 10000000;
            else
                s.duration_ns = 60000000000u;
            s.copies = 3;
            _exit(real_run(&s, &r, wb_diag_new()) ? 1 : 0);
        }
        nanosleep(&a_while, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        int tries = 0;
        while (leftovers() && tries++ < 500) nanosleep(&little, NULL);
        assert_int_equal(leftovers(), 0);
    }
}

/* An ordinary user, one CPU, no perf events: everything works, and says what it left out. */
static void test_without_root(void **state)
{
    (void)state;
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        cpu_set_t may, one;
        unsigned first = 0;
        sched_getaffinity(0, sizeof may, &may);
        while (!CPU_ISSET(first, &may)) first++;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        if (sched_setaffinity(0, sizeof one, &one)) _exit(10);
        if (!getuid() && (setgid(65534) || setuid(65534))) _exit(11);
        for (unsigned k = 0; k < REAL_KINDS; k++) {
            struct real_spec s = spec((enum real_kind)k);
            struct real_result r;
            if (real_run(&s, &r, d) || !r.ops) _exit(20 + (int)k);
            real_result_free(&r);
        }
        struct real_spec s = spec(REAL_HOG);
        struct real_result r;
        s.nice = -20; /* asked for by name: refused, not left out */
        int rc = real_run(&s, &r, d);
        _exit(rc == -EACCES || rc == -EPERM ? 0 : 30);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* What a task cannot do ends the run with a reason, and nobody waits for it: too few descriptors for hackbench, and
 * for a pair. */
static void test_refused(void **state)
{
    (void)state;
    static const enum real_kind kinds[] = {REAL_HACKBENCH, REAL_PIPE_LATENCY, REAL_TCP_RR, REAL_PIPE_BW};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        int status;
        fflush(NULL);
        pid_t pid = fork();
        if (!pid) {
            struct real_spec s = spec(kinds[i]);
            struct real_result r;
            s.fds = 50;
            int probe = dup(0); /* the lowest free descriptor */
            /* The run itself has three of the four while its tasks begin. */
            struct rlimit l = {(rlim_t)probe + 4, (rlim_t)probe + 4};
            close(probe);
            if (probe < 0 || setrlimit(RLIMIT_NOFILE, &l)) _exit(10);
            if (real_run(&s, &r, d) != -EMFILE) _exit(11);
            if (wb_diag_count(d, WB_ERROR) != 1) _exit(12);
            _exit(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 13);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pinned, setup, teardown),
        cmocka_unit_test_setup_teardown(test_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fixed_work, setup, teardown),
        cmocka_unit_test_setup_teardown(test_variants, setup, teardown),
        cmocka_unit_test_setup_teardown(test_background, setup, teardown),
        cmocka_unit_test_setup_teardown(test_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed_caller, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_root, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
