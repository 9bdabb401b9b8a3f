/* calib_agree.c - calibrations beside each other: where the intervals of two do not meet. */
#include "calib_agree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"
#include "exit_code.h"
#include "output.h"

#define COSTS_MAX 256u
#define LEAST 0.95 /* share of pairs that a 95 % interval promises at least */

struct wb_scenario *calib_files_load(const char *stem, const struct wb_key_registry *keys, struct wb_diag *d)
{
    char machine[1100], kernel[1100];
    const char *here = strchr(stem, '/') ? "" : "./";
    snprintf(machine, sizeof machine, "%s%.1000s-machine.cfg", here, stem);
    snprintf(kernel, sizeof kernel, "%s%.1000s-kernel.cfg", here, stem);
    struct wb_overrides o = {.machine = machine, .kernel = kernel};
    return wb_scenario_load("pipe", keys, &o, d);
}

bool calib_files_explain(const struct wb_config *cfg)
{
    const char *path;
    for (size_t i = 0; (path = wb_cfg_path_at(cfg, i)); i++) {
        const struct wb_origin *o = wb_cfg_origin(cfg, path);
        if (!o || !o->source || o->status != WB_ASSUMED || !strstr(o->source, "fitted by simulating")) continue;
        if (!strstr(o->source, "hardly tell")) return false; /* that one is assumed for a reason of its own */
    }
    return true;
}

static void print_overlap(struct out_table *t, const struct calib_overlap *o, uint32_t n)
{
    char text[CALIB_AGREE_MAX][96], a[3][32];
    const char *cell[CALIB_AGREE_MAX + 2] = {o->key};
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "%s (%s..%s)", wb_format_quantity(a[0], 32, o->value[i], o->unit),
                 wb_format_quantity(a[1], 32, o->lo[i], o->unit), wb_format_quantity(a[2], 32, o->hi[i], o->unit));
        cell[1 + i] = text[i];
    }
    cell[1 + n] = o->apart ? "apart" : "";
    out_table_row(t, cell);
}

static int agree(const struct cli_options *o, const struct wb_config *const *cfg, uint32_t n)
{
    struct calib_overlap *cost = calloc(COSTS_MAX, sizeof *cost);
    char columns[CALIB_AGREE_MAX + 3] = "<";
    const char *head[CALIB_AGREE_MAX + 2] = {"cost"};
    uint32_t pairs = 0, apart = 0;
    if (!cost) return EXIT_INTERNAL;
    for (uint32_t i = 0; i < n; i++) columns[1 + i] = '>', head[1 + i] = o->arg[i];
    columns[1 + n] = '<';
    head[1 + n] = "";
    struct out_table *t = out_table_new(columns);
    out_table_row(t, head);
    uint32_t found = calib_agree(cfg, n, cost, COSTS_MAX);
    for (uint32_t i = 0; i < found; i++) {
        print_overlap(t, &cost[i], n);
        pairs += n * (n - 1) / 2;
        apart += cost[i].apart;
    }
    out_table_print(t, stdout, 0, SIZE_MAX, 170, "");
    bool fine = pairs && pairs - apart >= LEAST * pairs;
    printf("%u costs, of %u pairs of intervals %u meet (%.1f %%)%s\n", found, pairs, pairs - apart,
           pairs ? 100.0 * (pairs - apart) / pairs : 0, fine ? "" : ": fewer than 95 %");
    free(cost);
    return fine ? EXIT_FINE : EXIT_TOLERANCE;
}

int calib_agree_run(const struct cli_options *o, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_scenario *s[CALIB_AGREE_MAX] = {NULL};
    const struct wb_config *cfg[CALIB_AGREE_MAX];
    int rc = EXIT_FINE;
    if (o->arg_n < 2 || o->arg_n > CALIB_AGREE_MAX)
        return cli_usage_error("wakebal calibrate", "for example: wakebal calibrate --agree monday tuesday",
                               "--agree compares 2 to %u calibrations", CALIB_AGREE_MAX);
    for (size_t i = 0; i < o->arg_n && rc == EXIT_FINE; i++) {
        s[i] = calib_files_load(o->arg[i], keys, d);
        if (!s[i]) rc = EXIT_INVALID;
        if (s[i]) cfg[i] = wb_scenario_config(s[i]);
    }
    if (rc == EXIT_FINE) rc = agree(o, cfg, (uint32_t)o->arg_n);
    for (size_t i = 0; i < o->arg_n; i++)
        if (s[i]) wb_scenario_free(s[i]);
    return rc;
}
