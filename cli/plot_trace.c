/*
 * plot_trace.c - documents of replication 0 with tracing: a timeline of a window, migrations of a whole run.
 *
 * The ring is read piece by piece while the simulation is stepped, so that a run may be as long as it likes.
 */
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "exp_export.h"
#include "plot_source.h"
#include "registry.h"
#include "story.h"
#include "wakebal/run.h"
#include "wakebal/traceview.h"
#include "wakebal/units.h"

#define RING (1u << 18)    /* records: 8 MiB; a step of a millisecond makes far fewer */
#define SPAN (300 * WB_US) /* of a window of which only the begin is named */

struct tracing {
    const struct plot_source *source;
    sim_time from, until; /* until 0: the end of the run */
    struct story story;   /* why is empty where the window was named */
    const struct wb_config *cfg;
    struct wb_sim *s;
    const struct wb_trace *t;
    uint64_t seen; /* records read */
    bool missed, ended;
    void (*take)(struct tracing *w, const struct wb_trace_record *r);
    /* timeline */
    json_t *runs, *wakes, *moves;
    task_id *current; /* [cpus] */
    sim_time *since;  /* [cpus] */
    struct wake {
        sim_time at;
        uint32_t cpu;
        bool open;
    } * wake; /* [tasks] the last wakeup that nobody answered */
    uint32_t ntasks;
    /* migrations */
    uint64_t *count; /* [cpus][cpus] */
    uint32_t ncpus;
};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory for a trace");
    return p;
}

static double seconds(sim_time t)
{
    return (double)t * 1e-12;
}

/* ------------------------------------------------------------------ stepping */
static void read_ring(struct tracing *w)
{
    uint64_t oldest = w->t->written > w->t->capacity ? w->t->written - w->t->capacity : 0;
    if (w->seen < oldest) {
        w->missed = true;
        w->seen = oldest;
    }
    for (; w->seen < w->t->written; w->seen++) w->take(w, &w->t->ring[w->seen % w->t->capacity]);
}

/* To `until`, or to the end. */
static void step_through(struct tracing *w, sim_time until)
{
    bool more = true;
    for (sim_time at = wb_sim_now(w->s); more && (!until || at < until);) {
        at += WB_MS;
        if (until && at > until) at = until;
        more = wb_sim_step_to(w->s, at);
        read_ring(w);
    }
    w->ended = !more;
}

/* ------------------------------------------------------------------ timeline */
static bool is_idle(const struct tracing *w, task_id t)
{
    return t >= wb_ntasks(w->s) || wb_task_of(w->s, t)->klass == WB_CLASS_SWAPPER;
}

static void end_run(struct tracing *w, uint32_t cpu, sim_time at)
{
    sim_time from = WB_MAX(w->since[cpu], w->from);
    if (!is_idle(w, w->current[cpu]) && at > from)
        json_array_append_new(w->runs,
                              json_pack("[i,i,f,f]", (int)cpu, (int)w->current[cpu], seconds(from), seconds(at)));
}

static void answer(struct tracing *w, task_id task, uint32_t cpu, sim_time at)
{
    if (task >= w->ntasks || !w->wake[task].open) return;
    w->wake[task].open = false;
    json_array_append_new(w->wakes, json_pack("[f,i,f,i,i]", seconds(w->wake[task].at), (int)w->wake[task].cpu,
                                              seconds(at), (int)cpu, (int)task));
}

static void take_timeline(struct tracing *w, const struct wb_trace_record *r)
{
    if (r->when < w->from || r->when >= w->until || r->cpu >= w->ncpus) return;
    if (r->type == WB_TR_SWITCH) {
        end_run(w, r->cpu, r->when);
        w->current[r->cpu] = r->a;
        w->since[r->cpu] = r->when;
        answer(w, r->a, r->cpu, r->when);
    }
    if (r->type == WB_TR_WAKING && r->task < w->ntasks) w->wake[r->task] = (struct wake){r->when, r->cpu, true};
    if (r->type == WB_TR_MIGRATE && r->a < w->ncpus && r->b < w->ncpus && r->a != r->b)
        json_array_append_new(w->moves, json_pack("[f,i,i,i]", seconds(r->when), (int)r->a, (int)r->b, (int)r->task));
}

static void note_runners(struct tracing *w)
{
    for (cpu_id c = 0; c < w->ncpus; c++) {
        w->current[c] = wb_rq(w->s, c)->curr->id;
        w->since[c] = wb_sim_now(w->s);
    }
}

static json_t *task_names(struct tracing *w)
{
    struct wb_trace_names names;
    json_t *list = json_array();
    wb_sim_trace_names(w->s, &names);
    for (task_id i = 0; i < names.ntasks; i++) {
        struct wb_trace_task t = {.name = NULL};
        char comm[WB_COMM_MAX], text[WB_COMM_MAX + 16];
        names.task(names.ctx, i, &t);
        wb_trace_comm(comm, &t);
        snprintf(text, sizeof text, "%s:%u", comm, t.pid);
        json_array_append_new(list, exp_json_text(text));
    }
    return list;
}

static json_t *timeline_of(struct tracing *w)
{
    w->current = need(calloc(w->ncpus, sizeof *w->current));
    w->since = need(calloc(w->ncpus, sizeof *w->since));
    w->ntasks = WB_MAX(wb_ntasks(w->s), 1u) + (1u << 16);
    w->wake = need(calloc(w->ntasks, sizeof *w->wake));
    w->runs = json_array();
    w->wakes = json_array();
    w->moves = json_array();
    if (w->from) (void)wb_sim_step_to(w->s, w->from);
    note_runners(w);
    w->take = take_timeline;
    read_ring(w);
    step_through(w, w->until);
    if (w->ended && wb_sim_now(w->s) > w->from) w->until = WB_MIN(w->until, wb_sim_now(w->s));
    for (cpu_id c = 0; c < w->ncpus; c++) end_run(w, c, w->until);
    json_t *doc = json_pack("{s:s,s:i,s:f,s:f,s:o,s:o,s:o,s:o}", "schema", "wakebal.timeline/1", "cpus", (int)w->ncpus,
                            "from_s", seconds(w->from), "until_s", seconds(w->until), "tasks", task_names(w), "runs",
                            w->runs, "wakes", w->wakes, "moves", w->moves);
    if (*w->story.why) json_object_set_new(doc, "about", exp_json_text(w->story.why));
    return doc;
}

/* The window of a timeline of which nobody named both ends. */
static int choose_window(struct tracing *w, struct wb_diag *d)
{
    char text[320];
    if (w->source->from && !w->until) w->until = w->from + SPAN;
    if (w->until) return 0;
    if (story_find(w->cfg, 0, &w->story, d)) return -1;
    w->from = w->story.from;
    w->until = w->story.to;
    if (!w->source->o->quiet) fprintf(stderr, "Window: %s\n", story_tell(&w->story, text, sizeof text));
    return 0;
}

/* ------------------------------------------------------------------ migrations */
static void take_migration(struct tracing *w, const struct wb_trace_record *r)
{
    if (r->type != WB_TR_MIGRATE || r->a >= w->ncpus || r->b >= w->ncpus || r->a == r->b) return;
    w->count[(size_t)r->a * w->ncpus + r->b]++;
}

static json_t *cpus_of(struct tracing *w)
{
    json_t *list = json_array();
    for (cpu_id c = 0; c < w->ncpus; c++) {
        json_t *domains = json_array();
        WB_FOR_EACH_SD(sd, wb_rq(w->s, c))
        json_array_append_new(domains, json_pack("{s:o,s:i}", "level", exp_json_text(sd->level->name), "first",
                                                 (int)wb_mask_first(sd->span)));
        json_array_append_new(list, json_pack("{s:i,s:o}", "cpu", (int)c, "domains", domains));
    }
    return list;
}

static json_t *migrations_of(struct tracing *w)
{
    w->count = need(calloc((size_t)w->ncpus * w->ncpus, sizeof *w->count));
    json_t *cpus = cpus_of(w), *moves = json_array();
    if (w->source->from) (void)wb_sim_step_to(w->s, w->from);
    w->take = take_migration;
    step_through(w, w->until);
    for (size_t a = 0; a < w->ncpus; a++)
        for (size_t b = 0; b < w->ncpus; b++)
            if (w->count[a * w->ncpus + b])
                json_array_append_new(moves,
                                      json_pack("[i,i,I]", (int)a, (int)b, (json_int_t)w->count[a * w->ncpus + b]));
    return json_pack("{s:s,s:f,s:f,s:o,s:o}", "schema", "wakebal.migrations/1", "from_s", seconds(w->from), "until_s",
                     seconds(w->until && !w->ended ? w->until : wb_sim_now(w->s)), "cpus", cpus, "moves", moves);
}

/* ------------------------------------------------------------------ set-up */
static const char *text_of(const struct wb_config *c, const char *name, const char *base)
{
    const char *key = wb_cfg_has(c, name) ? name : base;
    return wb_cfg_has(c, key) ? wb_cfg_str(c, key) : "";
}

/* What it is: pictures are passed on without their command. */
static void add_names(const struct tracing *w, json_t *doc)
{
    const struct wb_config *c = w->cfg;
    const char *title = text_of(c, "title", "title");
    json_object_set_new(doc, "title", exp_json_text(*title ? title : w->source->o->arg[0]));
    json_object_set_new(doc, "machine", exp_json_text(text_of(c, "machine.name", "machine.base")));
    json_object_set_new(doc, "kernel", exp_json_text(text_of(c, "kernel.name", "kernel.base")));
    json_object_set_new(doc, "seed", json_integer((json_int_t)wb_cfg_int(c, "run.seed")));
}

static json_t *trace_scenario(struct tracing *w, json_t *(*make)(struct tracing *w), struct wb_scenario *sc,
                              struct wb_diag *d)
{
    w->cfg = wb_scenario_config(sc);
    if (make == timeline_of && choose_window(w, d)) return NULL;
    struct wb_run_options run = {.trace_capacity = RING, .trace_from = w->from, .trace_to = w->until};
    w->s = wb_sim_build(w->cfg, cli_models(), 0, &run, d);
    if (!w->s) return NULL;
    w->ncpus = wb_ncpus(w->s);
    w->t = wb_sim_trace(w->s);
    json_t *doc = make(w);
    add_names(w, doc);
    if (w->missed) fprintf(stderr, "wakebal plot: more happened at once than could be kept; some of it is not drawn\n");
    wb_sim_free(w->s);
    free(w->current);
    free(w->since);
    free(w->wake);
    free(w->count);
    return doc;
}

static json_t *trace_with(const struct plot_source *source, json_t *(*make)(struct tracing *w), int *rc)
{
    struct tracing w = {.source = source};
    *rc = cli_read_time("wakebal plot", "--from", source->from, &w.from);
    if (*rc < 0) *rc = cli_read_time("wakebal plot", "--to", source->until, &w.until);
    if (*rc < 0 && source->until && w.until <= w.from)
        *rc = cli_usage_error("wakebal plot", NULL, "the window ends (--to %s) before it begins", source->until);
    if (*rc >= 0) return NULL;
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_overrides over = cli_overrides(source->o);
    struct wb_scenario *sc = wb_scenario_load(source->o->arg[0], keys, &over, d);
    json_t *doc = sc ? trace_scenario(&w, make, sc, d) : NULL;
    (void)cli_print_diag(source->o, d);
    *rc = EXIT_INVALID;
    wb_scenario_free(sc);
    wb_diag_free(d);
    wb_keys_free(keys);
    return doc;
}

json_t *plot_source_timeline(const struct plot_source *source, int *rc)
{
    return trace_with(source, timeline_of, rc);
}

json_t *plot_source_migrations(const struct plot_source *source, int *rc)
{
    return trace_with(source, migrations_of, rc);
}
