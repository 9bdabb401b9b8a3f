/* wb-link: wb_validate wb_measure wb_core */
#include "wbtest.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>

#include "real_inner.h"

static const char sched_text[] = "cat (31915, #threads: 1)\n"
                                 "-------------------------------------------------------------------\n"
                                 "se.exec_start                                :       2182331.983647\n"
                                 "se.nr_migrations                             :                    7\n"
                                 "nr_switches                                  :                   30\n"
                                 "nr_voluntary_switches                        :                   19\n"
                                 "nr_involuntary_switches                      :                   11\n"
                                 "se.load.weight                               :              1048576\n";

static void test_sched(void **state)
{
    (void)state;
    struct real_counts c = {0};
    counts_parse_sched(sched_text, &c);
    assert_int_equal(c.have, REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT | REAL_HAVE_MIGRATIONS);
    assert_int_equal(c.migrations, 7);
    assert_int_equal(c.voluntary, 19);
    assert_int_equal(c.involuntary, 11);
    /* Only the sum, no migrations: what a kernel without CONFIG_SCHED_DEBUG's fields would leave. */
    struct real_counts sum = {0};
    counts_parse_sched("x (1, #threads: 1)\nnr_switches : 30\n", &sum);
    assert_int_equal(sum.have, REAL_HAVE_SWITCHES);
    assert_int_equal(sum.voluntary, 30);
    struct real_counts none = {0};
    counts_parse_sched("nothing of it\nse.nr_migrations_cold : 5\n", &none);
    assert_int_equal(none.have, 0);
}

static void test_status_and_schedstat(void **state)
{
    (void)state;
    struct real_counts c = {0};
    counts_parse_status("Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n", &c);
    assert_int_equal(c.have, REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT);
    assert_int_equal(c.voluntary, 150);
    assert_int_equal(c.involuntary, 545);
    counts_parse_schedstat("351885 57295 2\n", &c);
    assert_int_equal(c.cpu_ns, 351885);
    assert_int_equal(c.wait_ns, 57295);
    assert_true(c.have & REAL_HAVE_CPU && c.have & REAL_HAVE_WAIT);
    /* A kernel without the accounting prints zeros: that is not "no time". A task that has just begun has one
     * timeslice. */
    struct real_counts zero = {0}, young = {0};
    counts_parse_schedstat("0 0 0\n", &zero);
    counts_parse_schedstat("0 0 1\n", &young);
    assert_int_equal(zero.have, 0);
    assert_int_equal(young.have, REAL_HAVE_CPU | REAL_HAVE_WAIT);
}

static void test_difference(void **state)
{
    (void)state;
    struct real_counts a = {.have = REAL_HAVE_SWITCHES | REAL_HAVE_MIGRATIONS, .voluntary = 5, .migrations = 2};
    struct real_counts b = {.have = REAL_HAVE_SWITCHES | REAL_HAVE_CPU, .voluntary = 9, .migrations = 1, .cpu_ns = 4};
    struct real_counts d = counts_since(&a, &b);
    assert_int_equal(d.have, REAL_HAVE_SWITCHES); /* what one lacks is lacking */
    assert_int_equal(d.voluntary, 4);
    assert_int_equal(d.migrations, 0); /* never below zero */
    struct real_counts sum = {0};
    counts_add(&sum, &a, true);
    counts_add(&sum, &b, false);
    assert_int_equal(sum.have, REAL_HAVE_SWITCHES);
    assert_int_equal(sum.voluntary, 14);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* The best source that is there is used; status fills in when sched is missing. */
static void test_fallback(void **state)
{
    (void)state;
    char dir[] = "/tmp/wb-counts-XXXXXX", sub[96];
    assert_non_null(mkdtemp(dir));
    snprintf(sub, sizeof sub, "%s/41", dir);
    assert_int_equal(mkdir(sub, 0700), 0);
    strcat(sub, "/task");
    assert_int_equal(mkdir(sub, 0700), 0);
    strcat(sub, "/42");
    assert_int_equal(mkdir(sub, 0700), 0);
    struct real_counts c;
    counts_read_proc(dir, 41, 42, &c);
    assert_int_equal(c.have, 0);
    write_file(sub, "status", "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t2\n");
    counts_read_proc(dir, 41, 42, &c);
    assert_int_equal(c.have, REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT);
    assert_int_equal(c.involuntary, 2);
    write_file(sub, "sched", sched_text);
    write_file(sub, "schedstat", "5 6 7\n");
    counts_read_proc(dir, 41, 42, &c);
    assert_int_equal(c.have,
                     REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT | REAL_HAVE_MIGRATIONS | REAL_HAVE_CPU | REAL_HAVE_WAIT);
    assert_int_equal(c.involuntary, 11);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* This very process: sleeping switches, and both sources see it. Where one is refused, nothing is claimed. */
static void test_self(void **state)
{
    (void)state;
    struct timespec nap = {.tv_nsec = 200000};
    struct real_counts before, after, perf = {0};
    int fd[2], error = 0;
    int open_n = counts_open_perf(0, false, fd, &error);
    counts_read_proc("/proc", getpid(), getpid(), &before);
    for (int i = 0; i < 20; i++) nanosleep(&nap, NULL);
    counts_read_proc("/proc", getpid(), getpid(), &after);
    counts_read_perf(fd, &perf);
    struct real_counts d = counts_since(&before, &after);
    if (d.have & REAL_HAVE_SWITCHES) assert_true(d.voluntary >= 20);
    /* Under perf_event_paranoid 2 an ordinary user's events open and count nothing. */
    if (open_n == 2 && perf.voluntary) assert_true(perf.voluntary >= 20);
    if (!open_n) assert_true(error != 0);
    counts_close_perf(fd);
    assert_int_equal(fd[0], -1);
}

/* The same of the caller, by descriptors that stay open. */
static void test_own(void **state)
{
    (void)state;
    struct timespec nap = {.tv_nsec = 200000};
    struct counts_self self, none = {-1, -1};
    struct real_counts before, after;
    counts_open_self(&self);
    counts_read_self(&self, &before);
    for (int i = 0; i < 20; i++) nanosleep(&nap, NULL);
    counts_read_self(&self, &after);
    struct real_counts d = counts_since(&before, &after);
    assert_true(d.have & REAL_HAVE_SWITCHES); /* getrusage tells at least these */
    assert_in_range(d.voluntary, 20, 60);
    counts_close_self(&self);
    assert_int_equal(self.sched, -1);
    counts_read_self(&none, &after);
    assert_int_equal(after.have, REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT);
    assert_true(after.voluntary >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sched),      cmocka_unit_test(test_status_and_schedstat),
        cmocka_unit_test(test_difference), cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_self),       cmocka_unit_test(test_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
