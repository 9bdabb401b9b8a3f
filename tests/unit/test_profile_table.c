/* The profile printer against golden text. */
#include "wbtest.h"

#include "wakebal/profileview.h"

static const char *const fn[] = {"idle", "copy_user", "schedule", "zero", "memory"};
static const sim_time fn_time[] = {1000 * WB_MS, 500 * WB_MS, 250 * WB_MS, 0, 250 * WB_MS};
static const char *const cat[] = {"user", "syscall", "sched", "softirq", "idle"};
static const sim_time cat_time[] = {
    500 * WB_MS, 250 * WB_MS, 0,           0, 250 * WB_MS, /* cpu 0 */
    0,           0,           250 * WB_MS, 0, 750 * WB_MS  /* cpu 1 */
};

static void check(const struct wb_profile *p, const char *want)
{
    char *got = wb_profile_render(p);
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static void test_like_a_sampling_profiler(void **state)
{
    (void)state;
    check(&(struct wb_profile){.elapsed = WB_S,
                               .ncpus = 2,
                               .fn_name = fn,
                               .fn_time = fn_time,
                               .nfn = 5,
                               .cat_name = cat,
                               .cat_time = cat_time,
                               .ncats = 5,
                               .idle_fn = "idle",
                               .idle_cat = "idle"},
          "2 CPUs, 1 s each, 1000 samples/s per CPU, idle left out\n"
          "   samples  percent  function\n"
          "       500   50.00%  copy_user\n"
          "       250   25.00%  memory\n"
          "       250   25.00%  schedule\n"
          "\n"
          "Percent of each CPU's time; bar: u user s syscall S sched . idle\n"
          "cpu     user syscall  sched   idle\n"
          "0      50.00   25.00   0.00  25.00  uuuuuuuuuuuuuuuuuuuussssssssss..........\n"
          "1       0.00    0.00  25.00  75.00  SSSSSSSSSS..............................\n"
          "all    25.00   12.50  12.50  50.00  uuuuuuuuuusssssSSSSS....................\n");
}

static void test_rate_lines_and_idle(void **state)
{
    (void)state;
    check(&(struct wb_profile){.elapsed = WB_S,
                               .ncpus = 2,
                               .fn_name = fn,
                               .fn_time = fn_time,
                               .nfn = 5,
                               .idle_fn = "idle",
                               .with_idle = true,
                               .rate = 100000,
                               .lines = 2},
          "2 CPUs, 1 s each, 100000 samples/s per CPU\n"
          "   samples  percent  function\n"
          "    100000   50.00%  idle\n"
          "     50000   25.00%  copy_user\n"
          "     50000   25.00%  (2 more)\n");
}

static void test_nothing_measured(void **state)
{
    (void)state;
    check(&(struct wb_profile){.ncpus = 1, .cat_name = cat, .cat_time = (const sim_time[5]){0}, .ncats = 5},
          "1 CPU, 0 s, 1000 samples/s per CPU, idle left out\n"
          "   samples  percent  function\n"
          "\n"
          "Percent of each CPU's time; bar:\n"
          "cpu  \n"
          "0      \n"
          "all    \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_sampling_profiler),
        cmocka_unit_test(test_rate_lines_and_idle),
        cmocka_unit_test(test_nothing_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
