/* Hogs of different nice on one CPU share it by their time slices: 100 : 75 : 50 : 5 ms for nice 0, 5, 10, 19. */
#include "wbtest.h"

#include "simtest.h"

#include <math.h>

static const struct {
    int nice;
    double slice_ms;
} hog[] = {{0, 100}, {5, 75}, {10, 50}, {19, 5}};
static const size_t nhogs = sizeof hog / sizeof hog[0];

static void shares_of(const char *kernel)
{
    char text[1024] = "", list[512] = "";
    double work[8], sum = 0, slices = 0;
    for (size_t i = 0; i < nhogs; i++) {
        char one[96];
        (void)snprintf(one, sizeof one, "%s{ name = \"h%zu\"; kind = \"hog\"; nice = %d; chunk = \"100 us\"; }",
                       i ? ", " : "", i, hog[i].nice);
        strcat(list, one);
        slices += hog[i].slice_ms;
    }
    (void)snprintf(text, sizeof text,
                   "schema = 1;\nmachine : { topology = \"[numa] pack:1 l2:1 core:1 pu:1\"; };\n"
                   "kernel : { base = \"%s\"; hz = 1000; };\nworkload = ( %s );\n"
                   /* the start's sleep average is used up by then */
                   "run : { duration = \"40 s\"; warmup = \"15 s\"; };\n",
                   kernel, list);
    struct simtest t = simtest_build(text, NULL, NULL);
    (void)wb_sim_run(t.sim);
    for (size_t i = 0; i < nhogs; i++) sum += work[i] = simtest_metric(&t, (uint32_t)i, "work");
    simtest_free(&t);
    for (size_t i = 0; i < nhogs; i++) {
        double got = work[i] / sum, exact = hog[i].slice_ms / slices;
        /* 25 s are about a hundred rounds: one slice more or less at the ends is 1 %, one tick in five of nice 19
         * another */
        if (fabs(got - exact) > 0.015 * exact + 0.0002)
            fail_msg("%s: nice %d gets %.4f, exact %.4f", kernel, hog[i].nice, got, exact);
    }
}

static void shares_follow_time_slices(void **state)
{
    (void)state;
    shares_of("linux-2.6.10");
    shares_of("linux-2.6.11");
    shares_of("linux-2.6.22");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_follow_time_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
