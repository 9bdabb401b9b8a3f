/*
 * fuzz_scenario.c - bytes as a scenario file: scanner, libconfig, checks, values, sweep, expressions, printing.
 *
 * The first byte is the length, in 64 byte units, of a second file that the first one may include or build on
 * ("b.cfg", and as a machine, kernel and workload). No file system is touched. Everything that loads must print, and
 * print the same twice.
 */
/* wb-link: wb_scenario wb_core */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wb_key rows[] = {
    {.path = "machine.topology", .type = WB_KEY_STRING, .def = "pu:2", .help = "Topology.", .source = "fuzz"},
    {.path = "machine.clock",
     .type = WB_KEY_FREQ,
     .min = "1 MHz",
     .max = "100 GHz",
     .def = "1 GHz",
     .help = "Clock.",
     .source = "fuzz"},
    {.path = "machine.flight",
     .type = WB_KEY_COST,
     .min = "0 ns",
     .max = "1 ms",
     .def = "1 us",
     .flags = WB_KEY_PRICED,
     .help = "Flight.",
     .source = "fuzz"},
    {.path = "machine.idle.*.exit",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "1 us",
     .flags = WB_KEY_PRICED,
     .help = "Exit.",
     .source = "fuzz"},
    {.path = "machine.numbers", .type = WB_KEY_TABLE, .min = "0", .max = "99", .help = "Numbers."},
    {.path = "machine.rate", .type = WB_KEY_RATE, .flags = WB_KEY_PRICED, .help = "Rate."},
    {.path = "kernel.scheduler", .type = WB_KEY_ENUM, .def = "o1", .help = "Scheduler.", .source = "fuzz"},
    {.path = "kernel.path.*", .type = WB_KEY_COST, .flags = WB_KEY_PRICED, .help = "Paths."},
    {.path = "policy.a", .type = WB_KEY_BOOL, .def = "true", .only = "o1", .help = "A switch.", .source = "fuzz"},
    {.path = "policy.b", .type = WB_KEY_RATIO, .min = "0 %", .max = "100 %", .only = "cfs", .help = "A ratio."},
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .min = "1 B",
     .max = "1 GiB",
     .def = "4 KiB",
     .only = "p",
     .help = "Message.",
     .source = "fuzz"},
    {.path = "workload.think", .type = WB_KEY_DIST, .unit = "time", .only = "q", .help = "Think."},
    {.path = "workload.tasks", .type = WB_KEY_GROUPS, .only = "q", .help = "Tasks."},
    {.path = "workload.tasks.name", .type = WB_KEY_STRING, .only = "q", .flags = WB_KEY_REQUIRED, .help = "Name."},
    {.path = "workload.tasks.n", .type = WB_KEY_INT, .only = "q", .def = "1", .help = "Count.", .source = "fuzz"},
};

struct files {
    const char *text[2];
    size_t len[2];
};

static int which(const char *path)
{
    size_t n = strlen(path);
    if (!strcmp(path, "a.cfg")) return 0;
    return n >= 5 && !strcmp(path + n - 5, "b.cfg") ? 1 : -1;
}

static bool memory_exists(void *ctx, const char *path)
{
    (void)ctx;
    return which(path) >= 0;
}

static int memory_read(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const struct files *f = ctx;
    int i = which(path);
    *why = "No such file or directory";
    if (i < 0) return -ENOENT;
    *text = malloc(f->len[i] + 1);
    if (!*text) return -ENOMEM;
    memcpy(*text, f->text[i], f->len[i]);
    (*text)[f->len[i]] = '\0';
    *len = f->len[i];
    return 0;
}

/* The points of its sweep, a few of them. */
static void sweep(struct wb_scenario *s, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_axes *a = wb_axes_new(keys);
    struct wb_override o[64];
    char label[100];
    if (wb_axes_add_config(a, wb_scenario_config(s), d) == 0) {
        size_t n = wb_axes_points(a);
        for (size_t i = 0; i < n && i < 3; i++) {
            bool keep;
            wb_axes_point(a, i, o);
            wb_axes_label(a, i, label, sizeof label);
            struct wb_config *c = wb_scenario_at(s, &(struct wb_overrides){.item = o, .n = wb_axes_count(a)}, d);
            if (c) (void)!wb_axes_keep(a, c, NULL, NULL, &keep, d);
            wb_config_free(c);
        }
    }
    wb_axes_free(a);
}

static void print_twice(const struct wb_config *c)
{
    char *one = wb_cfg_print(c), *two = wb_cfg_print(c), *bare = wb_cfg_canonical(c);
    if (strcmp(one, two) || strchr(one, '\x1b')) abort();
    free(one);
    free(two);
    free(bare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wb_key_registry *keys; /* made once: rows are static, and leak checkers see it */
    if (!keys) {
        keys = wb_keys_new();
        wb_keys_add(keys, rows, sizeof rows / sizeof rows[0]);
    }
    size_t second = size ? (size_t)data[0] * 64 : 0, rest = size ? size - 1 : 0;
    if (second > rest) second = rest;
    const char *text = size ? (const char *)data + 1 : "";
    struct files f = {{text + second, text}, {rest - second, second}};
    const struct wb_reader reader = {memory_read, memory_exists, &f};
    const struct wb_override set = {"workload.message", "8 KiB", "--set", {0}};
    const struct wb_overrides none = {0}, one = {.item = &set, .n = 1};
    const struct wb_scenario_options opt = {
        .overrides = size & 1 ? &one : &none, .reader = &reader, .path = "", .only_folder = true};
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = wb_scenario_load_with("a.cfg", keys, &opt, d);
    if ((s != NULL) != (wb_diag_count(d, WB_ERROR) == 0)) abort();
    if (s) {
        print_twice(wb_scenario_config(s));
        sweep(s, keys, d);
    }
    free(wb_diag_render(d, size & 2));
    wb_scenario_free(s);
    wb_diag_free(d);
    return 0;
}
