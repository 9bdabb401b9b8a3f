/*
 * What tracing costs: ns per record appended, lines per second written as ftrace text. wb-link: wb_trace wb_core
 * CPU time of the thread, best of five.
 */
#include <stdlib.h>
#include <time.h>

#include "trace_fixture.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void append(struct wb_trace *t, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        trace_emit(t, (struct wb_trace_record){.when = i * 1000,
                                               .type = WB_TR_SWITCH,
                                               .cpu = (uint16_t)(i & 1),
                                               .task = FIX_WR,
                                               .a = FIX_RD,
                                               .b = 1,
                                               .c = FIX_PRIO});
}

int main(void)
{
    enum { RING = 1 << 16, APPENDED = 100 << 20 >> 2, ROUNDS = 5 };
    struct arena a;
    struct wb_trace t = fix_ring(&a, RING);
    double best_append = 1e9, best_write = 1e9;
    FILE *null = fopen("/dev/null", "w");
    if (!null) return 1;
    for (int i = 0; i < ROUNDS; i++) {
        double t0 = cpu_seconds();
        append(&t, APPENDED);
        double t1 = cpu_seconds();
        for (int k = 0; k < 16; k++)
            if (wb_trace_write_ftrace(null, &t, &fix_names, NULL)) return 1;
        double t2 = cpu_seconds();
        best_append = WB_MIN(best_append, t1 - t0);
        best_write = WB_MIN(best_write, t2 - t1);
    }
    printf("append  %.2f ns/record\n", best_append / APPENDED * 1e9);
    printf("ftrace  %.2f M lines/s\n", 16.0 * RING / best_write / 1e6);
    fclose(null);
    arena_free(&a);
    return 0;
}
