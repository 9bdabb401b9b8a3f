/*
 * The hold model as a table, and whether the event set is within 1.5x of the best reference at n = 256. Not run by
 * ctest; prints the verdict, and exits 1 only with --strict. wb-link: wb_core
 */
#include "wakebal/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[] = {16, 256, 4096, 65536};

int main(int argc, char **argv)
{
    struct wb_hold_result r[WB_ARRAY_SIZE(sizes)];
    double ratio = 0;

    if (!wb_bench_build_is_fast()) {
        fprintf(stderr, "this build is not optimised: its times mean nothing (use the release preset)\n");
        return 2;
    }
    printf("ns per hold %*s", 14, "");
    for (size_t i = 0; i < WB_ARRAY_SIZE(sizes); i++) {
        if (wb_bench_hold(sizes[i], 30, &r[i])) return 2;
        printf("  n=%-6u", sizes[i]);
        if (sizes[i] == 256) ratio = r[i].ns[WB_HOLD_EVQ_REPLACE] / r[i].best_reference_ns;
    }
    printf("\n");
    for (int k = 0; k < WB_HOLD_KINDS; k++) {
        printf("%-25s", wb_hold_names[k]);
        for (size_t i = 0; i < WB_ARRAY_SIZE(sizes); i++) printf("  %8.1f", r[i].ns[k]);
        printf("\n");
    }
    printf("at n = 256 the event set takes %.2f of the best reference (limit 1.5): %s\n", ratio,
           ratio <= 1.5 ? "met" : "missed");
    return argc > 1 && !strcmp(argv[1], "--strict") && ratio > 1.5 ? 1 : 0;
}
