/* topo_number.c - CPU numbering: which CPU number a position of the tree gets. */
#include "topology.h"

#include <errno.h>
#include <stdlib.h>

/* Sort key of one position: positions get their numbers in ascending (pass, round, package, position). */
struct seat {
    uint32_t pass, round, package, position;
};

static int compare_seats(const void *pa, const void *pb)
{
    const struct seat *a = pa, *b = pb;
    if (a->pass != b->pass) return a->pass < b->pass ? -1 : 1;
    if (a->round != b->round) return a->round < b->round ? -1 : 1;
    if (a->package != b->package) return a->package < b->package ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Thread rank within the core; positions of a core are neighbours (depth first). */
static void rank_threads(struct seat *seat, uint32_t n, const uint32_t *core)
{
    for (uint32_t i = 0; i < n; i++) seat[i].pass = i && core && core[i] == core[i - 1] ? seat[i - 1].pass + 1 : 0;
}

/* How many positions of the same package and pass came before: its turn in the round robin. */
static void count_rounds(struct seat *seat, uint32_t n)
{
    uint32_t next[WB_SMT_MAX] = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (i && seat[i].package != seat[i - 1].package)
            for (uint32_t k = 0; k < WB_SMT_MAX; k++) next[k] = 0;
        seat[i].round = next[seat[i].pass % WB_SMT_MAX]++;
    }
}

int topo_number_positions(enum wb_numbering how, uint32_t n, const uint32_t *core, const uint32_t *package,
                          uint32_t *number)
{
    if (how == WB_NUMBER_DEFAULT || how == WB_NUMBER_SMT_FIRST) {
        for (uint32_t i = 0; i < n; i++) number[i] = i;
        return 0;
    }
    WB_CHECK(how == WB_NUMBER_SMT_LAST || how == WB_NUMBER_INTERLEAVED, "numbering %d has no rule", (int)how);
    struct seat *seat = calloc(n, sizeof *seat);
    if (!seat) return -ENOMEM;
    rank_threads(seat, n, core);
    for (uint32_t i = 0; i < n; i++) {
        seat[i].position = i;
        seat[i].package = package ? package[i] : 0;
    }
    if (how == WB_NUMBER_INTERLEAVED)
        count_rounds(seat, n);
    else
        for (uint32_t i = 0; i < n; i++) seat[i].package = 0;
    qsort(seat, n, sizeof *seat, compare_seats);
    for (uint32_t i = 0; i < n; i++) number[seat[i].position] = i;
    free(seat);
    return 0;
}

int topo_check_numbers(const uint32_t *number, uint32_t given, uint32_t n, struct wb_place at, struct wb_diag *d)
{
    if (given != n) {
        wb_diag_add(d, WB_ERROR, NULL, at, "give one CPU number per position, depth first",
                    "numbering: %u numbers for %u CPUs", given, n);
        return -1;
    }
    uint8_t *seen = calloc(n, 1);
    if (!seen) return -ENOMEM;
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc; i++) {
        if (number[i] >= n) {
            wb_diag_add(d, WB_ERROR, NULL, at, "use each number from 0 to the number of CPUs less one, once",
                        "numbering: %u at position %u is not a CPU (0..%u)", number[i], i, n - 1);
            rc = -1;
        } else if (seen[number[i]]++) {
            wb_diag_add(d, WB_ERROR, NULL, at, "use each number from 0 to the number of CPUs less one, once",
                        "numbering: %u appears twice (again at position %u)", number[i], i);
            rc = -1;
        }
    }
    free(seen);
    return rc;
}
