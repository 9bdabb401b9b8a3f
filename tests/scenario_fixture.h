/*
 * scenario_fixture.h - a small key table and files in memory, for tests of the loader.
 *
 * The rows are those of a small world of two workload kinds and two schedulers; the tests of sim/ must not know the
 * real models.
 */
#ifndef WB_SCENARIO_FIXTURE_H
#define WB_SCENARIO_FIXTURE_H

#include <errno.h>

#include "wakebal/scenario.h"
#include "wbtest.h"

static const struct wb_key fixture_rows[] = {
    {.path = "machine.topology",
     .type = WB_KEY_STRING,
     .flags = WB_KEY_REQUIRED,
     .help = "Topology as hwloc writes it."},
    {.path = "machine.clock",
     .type = WB_KEY_FREQ,
     .min = "1 MHz",
     .max = "100 GHz",
     .def = "1 GHz",
     .help = "Clock of the CPUs.",
     .source = "test"},
    {.path = "machine.ipi.flight",
     .type = WB_KEY_COST,
     .min = "0 ns",
     .max = "1 ms",
     .flags = WB_KEY_PRICED,
     .def = "( \"1 us\", \"assumed\", \"0.5 us..2 us\", \"guess\" )",
     .help = "Flight time of an interrupt.",
     .source = "test"},
    {.path = "machine.ipi.send", .type = WB_KEY_COST, .flags = WB_KEY_PRICED, .help = "Time of the sender."},
    {.path = "machine.idle.*.exit",
     .type = WB_KEY_DIST,
     .unit = "time",
     .min = "0 s",
     .max = "1 s",
     .flags = WB_KEY_PRICED,
     .help = "Exit latency of a state."},
    {.path = "machine.idle.*.poll",
     .type = WB_KEY_BOOL,
     .def = "false",
     .help = "Is it a polling state?",
     .source = "test"},
    {.path = "machine.numbers", .type = WB_KEY_TABLE, .min = "0", .max = "16383", .help = "CPU numbers by position."},
    {.path = "machine.bus.rate",
     .type = WB_KEY_RATE,
     .min = "1 MB/s",
     .max = "10 TB/s",
     .flags = WB_KEY_PRICED,
     .help = "Rate of the bus."},
    {.path = "kernel.scheduler", .type = WB_KEY_ENUM, .def = "o1", .help = "Scheduler family.", .source = "test"},
    {.path = "kernel.hz",
     .type = WB_KEY_INT,
     .min = "10",
     .max = "10000",
     .def = "250",
     .help = "Ticks per second.",
     .source = "CONFIG_HZ"},
    {.path = "kernel.pipe",
     .type = WB_KEY_STRING,
     .def = "2.6.11",
     .help = "Version of the pipe rules.",
     .source = "test"},
    {.path = "kernel.path.*", .type = WB_KEY_COST, .flags = WB_KEY_PRICED, .help = "Path cost by kernel function."},
    {.path = "policy.idle_balance",
     .type = WB_KEY_BOOL,
     .def = "true",
     .only = "o1",
     .help = "Idle CPUs pull.",
     .source = "test"},
    {.path = "policy.sync_wakeups",
     .type = WB_KEY_BOOL,
     .def = "true",
     .only = "o1 cfs",
     .help = "Sync hints are honoured.",
     .source = "test"},
    {.path = "policy.slice",
     .type = WB_KEY_TIME,
     .def = "3 ms",
     .min = "1 us",
     .max = "1 s",
     .only = "cfs",
     .help = "Length of a slice.",
     .source = "test"},
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .min = "1 B",
     .max = "1 GiB",
     .def = "64 KiB",
     .only = "pipe_bw",
     .help = "Bytes of a write.",
     .source = "lmbench bw_pipe -m"},
    {.path = "workload.copies",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "4096",
     .def = "1",
     .only = "pipe_bw",
     .help = "Pairs at once.",
     .source = "lmbench bw_pipe -P"},
    {.path = "workload.message",
     .type = WB_KEY_SIZE,
     .min = "1 B",
     .max = "1 MiB",
     .def = "1 B",
     .only = "pipe_latency",
     .help = "Bytes of the token.",
     .source = "lmbench lat_pipe"},
    {.path = "workload.think",
     .type = WB_KEY_DIST,
     .unit = "time",
     .def = "0 us",
     .only = "pipe_latency",
     .help = "Time between trips.",
     .source = "test"},
    {.path = "workload.tasks", .type = WB_KEY_GROUPS, .only = "custom", .help = "Tasks of a custom workload."},
    {.path = "workload.tasks.name",
     .type = WB_KEY_STRING,
     .flags = WB_KEY_REQUIRED,
     .only = "custom",
     .help = "Name of a task."},
    {.path = "workload.tasks.program", .type = WB_KEY_EXPR, .only = "custom", .help = "Program of a task."},
};

static inline struct wb_key_registry *fixture_keys(void)
{
    struct wb_key_registry *r = wb_keys_new();
    wb_keys_add(r, fixture_rows, sizeof fixture_rows / sizeof fixture_rows[0]);
    return r;
}

struct fixture_file {
    const char *path, *text;
};

static inline bool fixture_exists(void *ctx, const char *path)
{
    for (const struct fixture_file *f = ctx; f->path; f++)
        if (!strcmp(f->path, path)) return true;
    return false;
}

static inline int fixture_read(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    for (const struct fixture_file *f = ctx; f->path; f++) {
        if (strcmp(f->path, path)) continue;
        *text = strdup(f->text);
        *len = strlen(f->text);
        return 0;
    }
    *why = "No such file or directory";
    return -ENOENT;
}

#define FIXTURE_MACHINE \
    { \
        "machines/m.cfg", "title = \"m\";\ntopology = \"pack:4 pu:1\";\nclock = \"1.5 GHz\";\n" \
    }
#define FIXTURE_KERNEL \
    { \
        "kernels/k.cfg", "scheduler = \"o1\"; hz = 1000;\npolicy : { idle_balance = false; };\npath : { schedule = ( " \
                         "\"400 cy\", \"derived\", \"\", \"counted\" ); };\n" \
    }

static inline struct wb_scenario *fixture_load(const struct fixture_file *files, const struct wb_key_registry *keys,
                                               const struct wb_overrides *o, struct wb_diag *d)
{
    const struct wb_reader reader = {fixture_read, fixture_exists, (void *)files};
    static struct wb_reader kept; /* the scenario keeps a pointer */
    kept = reader;
    const struct wb_scenario_options opt = {.overrides = o, .reader = &kept, .path = "", .only_folder = true};
    return wb_scenario_load_with(files[0].path, keys, &opt, d);
}

#endif
