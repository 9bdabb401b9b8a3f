/* replay.c - an imported workload run under a kernel model; the kernel's own work taken off its run times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"
#include "wakebal/kernel.h"
#include "wakebal/run.h"

#define ROUNDS 4

/* ---- the scenario from memory ---- */

static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    if (strcmp(path, "imported.cfg") != 0) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(ctx);
    *len = *text ? strlen(*text) : 0;
    return *text ? 0 : -ENOMEM;
}
static bool text_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "imported.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

/* ---- what it came to ---- */

static void take(struct wb_sim *s, const struct import *m, struct replay_result *r)
{
    for (uint32_t i = 0; i < wb_ntasks(s); i++) {
        const struct wb_task *t = wb_task_of(s, i);
        for (uint32_t k = 0; k < m->n; k++) {
            if (strcmp(wb_task_name(t), m->task[k].name) != 0) continue;
            const struct wb_task_totals *n = wb_task_totals(t);
            sim_time going = t->on_cpu ? wb_sim_now(s) - n->run_start : 0; /* until the end, never switched out */
            r->task[k] = (struct replay_task){.run_ns = (n->run_total + going) / WB_NS,
                                              .wait_ns = n->wait_total / WB_NS,
                                              .switches = n->switches,
                                              .migrations = n->migrations,
                                              .wakeups = n->wakeups};
            break;
        }
    }
    for (uint32_t k = 0; k < m->n; k++) {
        r->run_ns += r->task[k].run_ns;
        r->recorded_ns += m->task[k].run_ns;
    }
}

static int run(struct wb_scenario *scenario, const struct import *m, const struct wb_registry *reg, struct wb_diag *d,
               struct replay_result *r)
{
    const struct wb_run_options opt = {.task_totals = true};
    struct wb_sim *s = wb_sim_build(wb_scenario_config(scenario), reg, 0, &opt, d);
    if (!s) return -1;
    r->finished = !wb_sim_run(s);
    r->length_ns = wb_sim_now(s) / WB_NS;
    take(s, m, r);
    wb_sim_free(s);
    return 0;
}

int replay_run(const struct import *m, const struct wb_overrides *over, const struct wb_registry *reg,
               const struct wb_key_registry *keys, struct wb_diag *d, struct replay_result *r)
{
    char *text = import_text(m, d);
    *r = (struct replay_result){.task = calloc(m->n, sizeof *r->task)};
    int rc = -1;
    if (text && r->task) {
        struct wb_reader reader = {.read = read_text, .exists = text_exists, .ctx = text};
        struct wb_scenario_options o = {.overrides = over, .reader = &reader};
        struct wb_scenario *s = wb_scenario_load_with("imported.cfg", keys, &o, d);
        if (s) rc = run(s, m, reg, d, r);
        wb_scenario_free(s);
    }
    free(text);
    return rc;
}

void replay_free(struct replay_result *r)
{
    free(r->task);
    r->task = NULL;
}

/* ---- the kernel's own work ---- */

/* Off every run of a task as much as its replay ran too long; again, since short runs cannot give what they lack. */
static void correct(struct import *m, const struct replay_result *r)
{
    for (uint32_t k = 0; k < m->n; k++) {
        struct import_task *p = &m->task[k];
        int64_t excess = (int64_t)r->task[k].run_ns - (int64_t)p->run_ns;
        if (!p->runs) continue;
        int64_t each = (int64_t)p->overhead_ns + excess / (int64_t)p->runs;
        p->overhead_ns = each > 0 ? (uint64_t)each : 0;
    }
}

int import_settle(struct import *m, const struct wb_registry *reg, const struct wb_key_registry *keys,
                  struct wb_diag *d)
{
    int rc = 0;
    for (int round = 0; round < ROUNDS && !rc; round++) {
        struct replay_result r;
        rc = replay_run(m, NULL, reg, keys, d, &r);
        if (!rc) correct(m, &r);
        replay_free(&r);
    }
    return rc;
}
