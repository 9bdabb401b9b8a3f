/* wb-link: wb_validate wb_measure wb_core */
#include "wbtest.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "host_check.h"
#include "host_check_inner.h"
#include "host_file.h"
#include "host_profile.h"

/* A machine made of files. */
static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/wb-host-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void put(const char *path, const char *text)
{
    char full[320];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *c = full + strlen(root) + 1; *c; c++) {
        if (*c != '/') continue;
        *c = '\0';
        mkdir(full, 0700);
        *c = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct host_report check(void)
{
    struct host_check_options o = {.root = root};
    struct host_report r;
    assert_int_equal(host_check(&o, &r), 0);
    return r;
}

/* The n-th finding of an id. */
static const struct host_finding *find(const struct host_report *r, const char *id, size_t n)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->item[i].id, id) && !n--) return &r->item[i];
    fail_msg("no finding '%s'", id);
    return NULL;
}

static void expect(const struct host_report *r, const char *id, enum host_level level, const char *text)
{
    const struct host_finding *f = find(r, id, 0);
    if (f->level != level || !strstr(f->text, text))
        fail_msg("%s: level %d, '%s'; wanted %d, '%s'", id, f->level, f->text, level, text);
    assert_int_equal(level != HOST_OK, f->meaning[0] != 0); /* what is not just ok says what it means */
}

/* Nothing is there: findings, no error, and no claim. */
static void test_empty(void **state)
{
    (void)state;
    struct host_report r = check();
    assert_true(r.n > 5);
    expect(&r, "cpus", HOST_WARN, "cannot be read");
    expect(&r, "kernel", HOST_WARN, "not told");
    assert_int_equal(r.identity.cpus, 0);
    host_report_free(&r);
}

static void put_server(void)
{
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/node/online", "0-1\n");
    for (int c = 0; c < 4; c++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", c);
        put(path, c < 2 ? "0-1\n" : "2-3\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", c);
        put(path, c < 2 ? "0\n" : "1\n");
    }
    put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n");
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Great CPU 3000\nflags\t\t: fpu sse2 rdpid\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
}

static void test_plain_server(void **state)
{
    (void)state;
    put_server();
    put("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 quiet\n");
    put("/proc/kallsyms", "0000000000000000 T schedule\n0000000000000000 t select_task_rq_fair\n");
    put("/sys/devices/system/cpu/smt/active", "0\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    struct host_report r = check();
    expect(&r, "cpus", HOST_OK, "4 CPUs (0-3), 2 packages, 2 last-level caches, 2 nodes");
    expect(&r, "kernel", HOST_OK, "Linux 6.1.0-18-amd64: CFS, PREEMPT_DYNAMIC");
    expect(&r, "virtual", HOST_OK, "no hypervisor");
    expect(&r, "boot", HOST_OK, "no boot option");
    expect(&r, "symbols", HOST_OK, "no symbol");
    expect(&r, "governor", HOST_OK, "performance");
    expect(&r, "smt", HOST_OK, "off");
    expect(&r, "features", HOST_NOTE, "cannot be read"); /* an absence is not just ok */
    expect(&r, "schedstat", HOST_NOTE, "no /proc/schedstat");
    assert_int_equal(host_report_level(&r), HOST_NOTE);
    assert_int_equal(r.identity.cpus, 4);
    assert_string_equal(r.identity.cpu, "Great CPU 3000");
    host_report_free(&r);
}

/* What changes scheduling is seen, and graded. */
static void test_changed(void **state)
{
    (void)state;
    put_server();
    put("/proc/sys/kernel/osrelease", "6.18.1\n");
    put("/proc/cmdline", "quiet isolcpus=2-3 sched_vcpu_pack=15 sched_verbose mitigations=off -- isolcpus=9\n");
    put("/proc/kallsyms", "0000000000000000 t __pfx_vcpu_pack_room\n0000000000000000 t vcpu_pack_room\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    put("/sys/kernel/sched_ext/state", "enabled\n");
    put("/sys/kernel/debug/sched/features", "PLACE_LAG NO_WA_IDLE NEXT_BUDDY SIS_UTIL NO_LB_MIN\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    struct host_report r = check();
    expect(&r, "kernel", HOST_OK, "EEVDF");
    expect(&r, "smt", HOST_WARN, "on");
    expect(&r, "governor", HOST_WARN, "powersave");
    expect(&r, "boost", HOST_WARN, "boost");
    expect(&r, "sched_ext", HOST_FAIL, "enabled");
    expect(&r, "symbols", HOST_WARN, "vcpu_pack_room");
    expect(&r, "clock", HOST_WARN, "hpet");
    expect(&r, "numa_balancing", HOST_WARN, "1");
    static const struct {
        const char *text;
        enum host_level level;
    } boot[] = {{"isolcpus=2-3", HOST_WARN},
                {"sched_vcpu_pack=15: not one of mainline", HOST_WARN},
                {"sched_verbose", HOST_OK},
                {"mitigations=off", HOST_NOTE}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(boot); i++) {
        const struct host_finding *f = find(&r, "boot", i);
        assert_non_null(strstr(f->text, boot[i].text));
        assert_int_equal(f->level, boot[i].level);
    }
    assert_non_null(strstr(find(&r, "features", 0)->text, "WA_IDLE is off"));
    assert_string_equal(find(&r, "features", 0)->fix, "echo WA_IDLE >/sys/kernel/debug/sched/features");
    assert_non_null(strstr(find(&r, "features", 1)->text, "NEXT_BUDDY is on"));
    assert_int_equal(host_report_level(&r), HOST_FAIL);
    assert_string_equal(r.identity.boot, "isolcpus=2-3 sched_vcpu_pack=15 sched_verbose mitigations=off");
    host_report_free(&r);
}

static void test_virtual(void **state)
{
    (void)state;
    put_server();
    put("/sys/class/dmi/id/product_name", "Google Compute Engine\n");
    put("/.dockerenv", "");
    struct host_report r = check();
    expect(&r, "virtual", HOST_WARN, "Google Compute Engine");
    expect(&r, "container", HOST_NOTE, "/.dockerenv");
    host_report_free(&r);
    put("/sys/class/dmi/id/product_name", "Some Board\n");
    put("/proc/cpuinfo", "flags\t\t: fpu hypervisor rdpid\n");
    r = check();
    expect(&r, "virtual", HOST_WARN, "unnamed");
    host_report_free(&r);
}

/* Quotas of both cgroup versions, of this group or one above it. */
static void test_quota(void **state)
{
    (void)state;
    put_server();
    put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    struct host_report r = check();
    expect(&r, "quota", HOST_OK, "no CPU quota");
    host_report_free(&r);
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    r = check();
    expect(&r, "quota", HOST_FAIL, "only 1.50 CPUs");
    host_report_free(&r);
    drop_root(NULL);
    make_root(NULL);
    put("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    r = check();
    expect(&r, "quota", HOST_OK, "no CPU quota");
    host_report_free(&r);
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "200000\n");
    r = check();
    expect(&r, "quota", HOST_FAIL, "only 0.25 CPUs");
    host_report_free(&r);
}

/* The fingerprint changes with each thing that makes old calibrations wrong, and with nothing else. */
static void test_fingerprint(void **state)
{
    (void)state;
    struct host_identity a, b;
    put_server();
    put("/proc/cmdline", "quiet root=/dev/sda1\n");
    host_identify(root, &a);
    put("/proc/cmdline", "quiet root=/dev/sdb2\n");
    host_identify(root, &b);
    assert_string_equal(a.fingerprint, b.fingerprint);
    put("/proc/cmdline", "quiet mitigations=off\n");
    host_identify(root, &b);
    assert_string_not_equal(a.fingerprint, b.fingerprint);
    put("/proc/cmdline", "quiet\n");
    put("/sys/devices/system/cpu/online", "0-2\n");
    host_identify(root, &b);
    assert_string_not_equal(a.fingerprint, b.fingerprint);
    assert_int_equal(strlen(a.fingerprint), 16);
}

static void put_stat(unsigned cpu0_busy, unsigned cpu0_idle, unsigned steal, unsigned forks)
{
    char text[512];
    snprintf(text, sizeof text,
             "cpu  9 0 9 9 0 0 0 0 0 0\n"
             "cpu0 %u 0 0 %u 0 0 0 %u 0 0\n"
             "cpu1 100 0 0 200 50 0 0 0 0 0\n"
             "processes %u\n",
             cpu0_busy, cpu0_idle, steal, forks);
    put("/proc/stat", text);
}

static void put_process(int pid, const char *name, unsigned user, unsigned sys)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) S 1 1 1 0 -1 4194560 1 2 3 4 %u %u 0 0 20 0 1 0 5 6 7\n", pid, name, user,
             sys);
    put(path, text);
}

/* Busy time less what the caller says was its own; names of who did it, odd ones too. */
static void test_load(void **state)
{
    (void)state;
    struct host_load l;
    char text[160];
    put_stat(100, 1000, 0, 50);
    put_process(7, "cc1 (x) y", 10, 5);
    put_process(8, "idle", 3, 3);
    struct host_meter *m = host_meter_begin(root);
    assert_non_null(m);
    usleep(20000);
    /* 100 ticks pass on CPU 0: 60 busy, 38 idle, 2 stolen. CPU 1 does not move. */
    put_stat(160, 1038, 2, 53);
    put_process(7, "cc1 (x) y", 40, 15);
    host_meter_end(m, 0, &host_gate_default, &l);
    assert_true(l.known && !l.quiet);
    assert_int_equal(l.cpus, 2);
    assert_near(l.foreign, 0.60, 1e-9);
    assert_near(l.steal, 0.02, 1e-9);
    assert_near(l.busiest_cpu, 0.62, 1e-9);
    assert_int_equal(l.new_processes, 3);
    assert_int_equal(l.culprits, 1);
    assert_string_equal(l.culprit[0].name, "cc1 (x) y");
    assert_non_null(strstr(host_load_text(&l, text, sizeof text), "foreign load 60.0 % (1.20 of 2 CPUs: cc1 (x) y"));
    /* All of it was ours: quiet, but for the steal. */
    m = host_meter_begin(root);
    usleep(20000);
    put_stat(220, 1076, 2, 53);
    host_meter_end(m, 1000, &host_gate_default, &l);
    assert_near(l.foreign, 0, 1e-9);
    assert_true(l.quiet);
}

/* What is named and the others are the whole, to the last printed digit. */
static void test_load_adds_up(void **state)
{
    (void)state;
    char text[160];
    struct host_load l = {.known = true,
                          .foreign = 0.601,
                          .steal = 0.001,
                          .cpus = 2,
                          .culprits = 4,
                          .culprit = {{"cc1", 1, 0.454}, {"ld", 2, 0.206}, {"make", 3, 0.105}, {"sh", 4, 0.1}}};
    assert_string_equal(host_load_text(&l, text, sizeof text),
                        "foreign load 60.1 % (1.20 of 2 CPUs: cc1 0.45, ld 0.21, make 0.11, others 0.43), steal 0.1 %");
    l.culprits = 1;
    l.culprit[0].cpus = 1.2;
    assert_string_equal(host_load_text(&l, text, sizeof text),
                        "foreign load 60.1 % (1.20 of 2 CPUs: cc1 1.20), steal 0.1 %");
    l.culprit[0].cpus = 1.3;
    assert_string_equal(host_load_text(&l, text, sizeof text),
                        "foreign load 60.1 % (1.20 of 2 CPUs: cc1 1.30, by their own counts 0.10 more), steal 0.1 %");
}

static void test_load_unknown(void **state)
{
    (void)state;
    struct host_load l;
    char text[160];
    struct host_meter *m = host_meter_begin(root);
    host_meter_end(m, 0, &host_gate_default, &l);
    assert_false(l.known);
    assert_false(l.quiet); /* not known is not quiet */
    assert_non_null(strstr(host_load_text(&l, text, sizeof text), "unknown"));
}

static void test_files(void **state)
{
    (void)state;
    char text[16], value[16];
    int64_t n;
    put("/proc/x", "  12 and more\n\n");
    assert_int_equal(host_read(root, "/proc/x", text, sizeof text), 13);
    assert_string_equal(text, "  12 and more");
    assert_true(host_read_number(root, "/proc/x", &n) && n == 12);
    assert_false(host_read_number(root, "/proc/y", &n));
    assert_true(host_read(root, "/proc/y", text, sizeof text) < 0);
    put("/proc/long", "0123456789abcdefghij");
    assert_int_equal(host_read(root, "/proc/long", text, sizeof text), 15); /* cut, terminated */
    assert_true(host_field("a: 1\nbb : 2\nb=3\n", "b", value, sizeof value));
    assert_string_equal(value, "3");
    assert_false(host_field("a: 1\n", "c", value, sizeof value));
    char *big = malloc(200001);
    memset(big, 'x', 200000);
    big[200000] = '\0';
    put("/proc/big", big);
    char *all = host_read_all(root, "/proc/big");
    assert_non_null(all);
    assert_int_equal(strlen(all), 200000);
    free(all);
    free(big);
    assert_null(host_read_all(root, "/proc/none"));
}

/* The machine that this runs on: whatever it is, the checks end and say something. */
static void test_here(void **state)
{
    (void)state;
    struct host_check_options o = {.watch_s = 0.05};
    struct host_report r;
    assert_int_equal(host_check(&o, &r), 0);
    assert_true(r.n > 10);
    for (size_t i = 0; i < r.n; i++) assert_true(r.item[i].text[0] && r.item[i].id[0]);
    host_report_free(&r);
}

static void wants_profile(const char *kernel, const char *boot, const char *want)
{
    char *const names[] = {"linux-6.18-packed", "linux-2.6.22-i386", "linux-2.6.22", "linux-2.6.35", "linux-6.12",
                           "linux-6.18",        "freebsd-4.7",       "linux-5.4",    "linux-6.6",    "linux-9"};
    struct host_identity id = {0};
    char got[HOST_PROFILE_MAX];
    snprintf(id.kernel, sizeof id.kernel, "%s", kernel);
    snprintf(id.boot, sizeof id.boot, "%s", boot);
    assert_int_equal(host_profile(&id, names, WB_ARRAY_SIZE(names), got), want[0] != 0);
    assert_string_equal(got, want);
}

/* The newest that is not newer than the kernel, in the order of numbers, not of letters. */
static void test_profile(void **state)
{
    (void)state;
    char *const none[] = {"freebsd-4.7", "linux-2.6.22-i386"};
    struct host_identity id = {.kernel = "Linux 6.12.9"};
    char got[HOST_PROFILE_MAX];
    wants_profile("Linux 6.18.44-cloud", "mitigations=auto", "linux-6.18");
    wants_profile("Linux 6.18.44-cloud", "sched_vcpu_pack=15", "linux-6.18-packed");
    wants_profile("Linux 6.12.9", "sched_vcpu_pack=15", "linux-6.12");
    wants_profile("Linux 6.17.0", "", "linux-6.12");
    wants_profile("Linux 7.0", "", "linux-6.18");
    wants_profile("Linux 5.15.1", "", "linux-5.4");
    wants_profile("Linux 2.6.34", "", "linux-2.6.22");
    wants_profile("Linux 2.6.9", "", "linux-2.6.22");
    wants_profile("FreeBSD 14.1", "", "");
    wants_profile("Linux", "", "");
    assert_false(host_profile(&id, none, WB_ARRAY_SIZE(none), got));
}

#define IN_ROOT(f) cmocka_unit_test_setup_teardown(f, make_root, drop_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(test_empty),   IN_ROOT(test_plain_server),  IN_ROOT(test_changed),
        IN_ROOT(test_virtual), IN_ROOT(test_quota),         IN_ROOT(test_fingerprint),
        IN_ROOT(test_load),    IN_ROOT(test_load_unknown),  cmocka_unit_test(test_load_adds_up),
        IN_ROOT(test_files),   cmocka_unit_test(test_here), cmocka_unit_test(test_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
