#include "store_rep.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exp_export.h"

#define REP_ITEMS_MAX ((size_t)1 << 24) /* of any list: a damaged text must not ask for all memory */

/* ------------------------------------------------------------------ writing */
static json_t *whole(uint64_t v)
{
    WB_CHECK(v <= INT64_MAX, "a count of %" PRIu64 " in a result", v);
    return json_integer((json_int_t)v);
}

static json_t *hex64(uint64_t v)
{
    char buf[24];
    snprintf(buf, sizeof buf, "%016" PRIx64, v);
    return json_string(buf);
}

static json_t *real(double v)
{
    if (isnan(v)) return json_null();
    if (isinf(v)) return json_string(v > 0 ? "inf" : "-inf");
    return json_real(v);
}

static json_t *reals(const double *v, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, real(v[i]));
    return a;
}

static json_t *wholes(const uint64_t *v, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, whole(v[i]));
    return a;
}

static json_t *names(const char *const *name, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, exp_json_text(name[i]));
    return a;
}

static json_t *hist_text(const struct wb_hist *h)
{
    json_t *bins = json_array();
    for (uint32_t i = 0; i < WB_HIST_BUCKETS; i++)
        if (h->bucket[i]) json_array_append_new(bins, json_pack("[o,o]", whole(i), whole(h->bucket[i])));
    json_t *sums = json_array();
    const uint64_t part[] = {(uint64_t)(h->sum >> 64), (uint64_t)h->sum, (uint64_t)(h->squares >> 64),
                             (uint64_t)h->squares, h->squares_high};
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) json_array_append_new(sums, hex64(part[i]));
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "count", whole(h->count), "min", hex64(h->min), "max", hex64(h->max),
                     "sums", sums, "bins", bins);
}

static json_t *layout_json(const struct wb_result *r)
{
    json_t *metrics = json_array();
    for (size_t i = 0; i < r->nmetrics; i++) {
        const struct wb_metric *m = &r->metric[i];
        json_t *where = m->instance == EXP_MACHINE ? json_null() : json_integer(m->instance);
        json_array_append_new(metrics,
                              json_pack("{s:o,s:o,s:o,s:s,s:b,s:o}", "name", exp_json_text(m->name), "workload", where,
                                        "unit", exp_json_text(m->unit), "better", wb_better_name(m->better), "integer",
                                        m->integer, "help", exp_json_text(m->help)));
    }
    return json_pack("{s:o,s:o,s:o}", "metrics", metrics, "functions", names(r->fn_name, r->nfn), "rules",
                     names(r->rule_name, r->nrules));
}

static void put_metrics(json_t *o, const struct wb_result *r)
{
    json_t *value = json_array(), *window = json_array(), *hist = json_array();
    for (size_t i = 0; i < r->nmetrics; i++) {
        const struct wb_metric *m = &r->metric[i];
        json_array_append_new(value, real(m->value));
        json_array_append_new(window, m->window ? reals(m->window, r->nwindows) : json_null());
        json_array_append_new(hist, m->hist ? hist_text(m->hist) : json_null());
    }
    json_object_set_new(o, "values", value);
    json_object_set_new(o, "windows", window);
    json_object_set_new(o, "hists", hist);
}

static json_t *faults_json(const struct wb_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->nfaults; i++) {
        const struct wb_fault *f = &r->fault[i];
        json_array_append_new(list, json_pack("[s,o,o,o,o]", wb_fault_name[f->kind], exp_json_text(f->task),
                                              whole(f->count), whole(f->total), whole(f->longest)));
    }
    return list;
}

/* What a run reports has to be here in full: whoever adds to struct wb_result adds to both sides of this file. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct wb_result) == 208,
               "struct wb_result has grown: keep what is new, too");

_Static_assert(sizeof(void *) != 8 || sizeof(struct wb_metric) == 64, "struct wb_metric has grown, likewise");
_Static_assert(sizeof(struct wb_fault) == 96, "struct wb_fault has grown, likewise");

static json_t *body_json(const struct exp_rep *rep)
{
    const struct wb_result *r = &rep->r;
    json_t *o = json_pack("{s:o,s:b,s:o,s:o,s:o,s:o}", "seed", hex64(r->seed), "finished", rep->finished, "duration_ps",
                          whole(r->duration), "measured_from_ps", whole(r->measured_from), "window_ps",
                          whole(r->window_ps), "nwindows", whole(r->nwindows));
    WB_CHECK(o, "a replication could not become text");
    json_object_set_new(o, "events", whole(r->events));
    json_object_set_new(o, "stale", whole(r->stale));
    json_object_set_new(o, "inlined", whole(r->inlined));
    json_object_set_new(o, "peak_events", whole(r->peak_events));
    json_object_set_new(o, "movable", whole(r->movable));
    json_object_set_new(o, "fingerprint", hex64(r->fingerprint));
    put_metrics(o, r);
    json_t *cpus = json_array();
    for (uint32_t c = 0; c < r->ncpus; c++) json_array_append_new(cpus, wholes(r->cat_time[c], WB_CAT_N));
    json_object_set_new(o, "time_ps", cpus);
    json_object_set_new(o, "functions_ps", wholes(r->fn_time, r->nfn));
    json_object_set_new(o, "rules", wholes(r->rule_count, r->nrules));
    json_object_set_new(o, "faults", faults_json(r));
    return o;
}

char *store_json_text(json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17)) : NULL;
    WB_CHECK(text, "a document of the study could not become text");
    json_decref(o);
    return text;
}

void store_rep_write(const struct exp_rep *rep, char **layout, char **body)
{
    *layout = store_json_text(layout_json(&rep->r));
    *body = store_json_text(body_json(rep));
}

/* ------------------------------------------------------------------ reading */
/* A reader that remembers whether anything was not as it should be, so that callers check once. */
struct in {
    struct arena *arena;
    bool bad;
};

static void *take(struct in *in, size_t n, size_t size)
{
    if (n > REP_ITEMS_MAX) in->bad = true;
    void *p = arena_alloc(in->arena, in->bad ? 0 : n, size, ARENA_LINE);
    WB_MEMORY(p, "out of memory for a stored replication");
    return p;
}

static const json_t *member(struct in *in, const json_t *o, const char *key, json_type type)
{
    const json_t *v = json_object_get(o, key);
    if (!v || json_typeof(v) != type) in->bad = true;
    return in->bad ? NULL : v;
}

static uint64_t read_whole(struct in *in, const json_t *v)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0) in->bad = true;
    return in->bad ? 0 : (uint64_t)json_integer_value(v);
}

static uint64_t read_hex(struct in *in, const json_t *v)
{
    const char *s = json_string_value(v);
    if (!s || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16) in->bad = true;
    return in->bad ? 0 : strtoull(s, NULL, 16);
}

static double read_real(struct in *in, const json_t *v)
{
    const char *s = json_string_value(v);
    if (json_is_null(v)) return NAN;
    if (s) return *s == '-' ? -INFINITY : INFINITY;
    if (!json_is_number(v)) in->bad = true;
    return json_number_value(v);
}

static const char *read_text(struct in *in, const json_t *v)
{
    const char *s = json_string_value(v);
    if (!s) in->bad = true;
    char *copy = arena_strdup(in->arena, s ? s : "", s ? strlen(s) : 0);
    WB_MEMORY(copy, "out of memory for a stored replication");
    return copy;
}

static uint64_t *read_wholes(struct in *in, const json_t *a, size_t n)
{
    uint64_t *v = take(in, n, sizeof *v);
    if (json_array_size(a) != n) in->bad = true;
    for (size_t i = 0; i < n && !in->bad; i++) v[i] = read_whole(in, json_array_get(a, i));
    return v;
}

static const char **read_names(struct in *in, const json_t *a, size_t *n)
{
    *n = json_array_size(a);
    const char **name = take(in, *n, sizeof *name);
    for (size_t i = 0; i < *n && !in->bad; i++) name[i] = read_text(in, json_array_get(a, i));
    return name;
}

static void read_sums(struct in *in, const json_t *a, struct wb_hist *h)
{
    uint64_t part[5] = {0};
    if (json_array_size(a) != WB_ARRAY_SIZE(part)) in->bad = true;
    for (size_t i = 0; i < WB_ARRAY_SIZE(part) && !in->bad; i++) part[i] = read_hex(in, json_array_get(a, i));
    h->sum = (unsigned __int128)part[0] << 64 | part[1];
    h->squares = (unsigned __int128)part[2] << 64 | part[3];
    h->squares_high = part[4];
}

static const struct wb_hist *read_hist(struct in *in, const json_t *o)
{
    struct wb_hist *h = take(in, 1, sizeof *h);
    if (in->bad) return NULL;
    wb_hist_reset(h);
    h->count = read_whole(in, json_object_get(o, "count"));
    h->min = read_hex(in, json_object_get(o, "min"));
    h->max = read_hex(in, json_object_get(o, "max"));
    read_sums(in, member(in, o, "sums", JSON_ARRAY), h);
    const json_t *bins = member(in, o, "bins", JSON_ARRAY);
    for (size_t i = 0; i < json_array_size(bins) && !in->bad; i++) {
        const json_t *bin = json_array_get(bins, i);
        uint64_t at = read_whole(in, json_array_get(bin, 0));
        if (at >= WB_HIST_BUCKETS) in->bad = true;
        if (!in->bad) h->bucket[at] = read_whole(in, json_array_get(bin, 1));
    }
    return h;
}

static enum wb_better read_better(struct in *in, const json_t *v)
{
    const char *s = json_string_value(v);
    for (int b = WB_BETTER_HIGHER; s && b <= WB_BETTER_NONE; b++)
        if (!strcmp(s, wb_better_name((enum wb_better)b))) return (enum wb_better)b;
    in->bad = true;
    return WB_BETTER_NONE;
}

static void read_metric(struct in *in, const json_t *row, struct wb_metric *m)
{
    const json_t *where = json_object_get(row, "workload");
    *m = (struct wb_metric){.name = read_text(in, json_object_get(row, "name")),
                            .unit = read_text(in, json_object_get(row, "unit")),
                            .help = read_text(in, json_object_get(row, "help")),
                            .better = read_better(in, json_object_get(row, "better")),
                            .integer = json_is_true(json_object_get(row, "integer"))};
    m->instance = json_is_null(where) ? EXP_MACHINE : (uint32_t)read_whole(in, where);
}

static const double *read_window(struct in *in, const json_t *a, size_t n)
{
    double *v = take(in, n, sizeof *v);
    if (json_array_size(a) != n) in->bad = true;
    for (size_t i = 0; i < n && !in->bad; i++) v[i] = read_real(in, json_array_get(a, i));
    return v;
}

static void read_metrics(struct in *in, const json_t *layout, const json_t *body, struct wb_result *r)
{
    const json_t *rows = member(in, layout, "metrics", JSON_ARRAY), *value = member(in, body, "values", JSON_ARRAY),
                 *window = member(in, body, "windows", JSON_ARRAY), *hist = member(in, body, "hists", JSON_ARRAY);
    r->nmetrics = json_array_size(rows);
    if (json_array_size(value) != r->nmetrics || json_array_size(window) != r->nmetrics ||
        json_array_size(hist) != r->nmetrics)
        in->bad = true;
    r->metric = take(in, r->nmetrics, sizeof *r->metric);
    for (size_t i = 0; i < r->nmetrics && !in->bad; i++) {
        struct wb_metric *m = &r->metric[i];
        const json_t *w = json_array_get(window, i), *h = json_array_get(hist, i);
        read_metric(in, json_array_get(rows, i), m);
        m->value = read_real(in, json_array_get(value, i));
        if (!json_is_null(w)) m->window = read_window(in, w, r->nwindows);
        if (!json_is_null(h)) m->hist = read_hist(in, h);
    }
}

static void read_cpus(struct in *in, const json_t *a, struct wb_result *r)
{
    r->ncpus = (uint32_t)json_array_size(a);
    r->cat_time = take(in, r->ncpus, sizeof *r->cat_time);
    for (uint32_t c = 0; c < r->ncpus && !in->bad; c++)
        memcpy(r->cat_time[c], read_wholes(in, json_array_get(a, c), WB_CAT_N), sizeof *r->cat_time);
}

static void read_fault(struct in *in, const json_t *a, struct wb_fault *f)
{
    const char *kind = json_string_value(json_array_get(a, 0)), *task = json_string_value(json_array_get(a, 1));
    size_t k = 0;
    while (kind && k < WB_FAULT_KINDS && strcmp(kind, wb_fault_name[k])) k++;
    if (!kind || !task || k == WB_FAULT_KINDS) in->bad = true;
    *f = (struct wb_fault){.kind = (enum wb_fault_kind)(in->bad ? 0 : k),
                           .count = read_whole(in, json_array_get(a, 2)),
                           .total = read_whole(in, json_array_get(a, 3)),
                           .longest = read_whole(in, json_array_get(a, 4))};
    snprintf(f->task, sizeof f->task, "%s", task ? task : "");
}

static void read_faults(struct in *in, const json_t *list, struct wb_result *r)
{
    r->nfaults = json_array_size(list);
    r->fault = take(in, r->nfaults, sizeof *r->fault);
    for (size_t i = 0; i < r->nfaults && !in->bad; i++) read_fault(in, json_array_get(list, i), &r->fault[i]);
}

static void read_run(struct in *in, const json_t *layout, const json_t *body, struct wb_result *r)
{
    r->seed = read_hex(in, json_object_get(body, "seed"));
    r->duration = read_whole(in, json_object_get(body, "duration_ps"));
    r->measured_from = read_whole(in, json_object_get(body, "measured_from_ps"));
    r->window_ps = read_whole(in, json_object_get(body, "window_ps"));
    r->nwindows = read_whole(in, json_object_get(body, "nwindows"));
    r->events = read_whole(in, json_object_get(body, "events"));
    r->stale = read_whole(in, json_object_get(body, "stale"));
    r->inlined = read_whole(in, json_object_get(body, "inlined"));
    r->peak_events = read_whole(in, json_object_get(body, "peak_events"));
    r->movable = (uint32_t)read_whole(in, json_object_get(body, "movable"));
    r->fingerprint = read_hex(in, json_object_get(body, "fingerprint"));
    read_metrics(in, layout, body, r);
    read_cpus(in, member(in, body, "time_ps", JSON_ARRAY), r);
    r->fn_name = read_names(in, member(in, layout, "functions", JSON_ARRAY), &r->nfn);
    r->fn_time = read_wholes(in, member(in, body, "functions_ps", JSON_ARRAY), r->nfn);
    r->rule_name = read_names(in, member(in, layout, "rules", JSON_ARRAY), &r->nrules);
    r->rule_count = read_wholes(in, member(in, body, "rules", JSON_ARRAY), r->nrules);
    read_faults(in, member(in, body, "faults", JSON_ARRAY), r);
}

int store_rep_read(const char *layout, const char *body, uint32_t replication, struct exp_rep *rep)
{
    json_error_t e;
    json_t *l = json_loads(layout, JSON_REJECT_DUPLICATES, &e), *b = json_loads(body, JSON_REJECT_DUPLICATES, &e);
    struct in in = {.arena = &rep->arena, .bad = !l || !b};
    arena_init(&rep->arena, "replication");
    rep->built = true;
    rep->index = replication;
    rep->r = (struct wb_result){.replication = replication};
    rep->finished = json_is_true(json_object_get(b, "finished"));
    rep->r.finished = rep->finished;
    if (!in.bad) read_run(&in, l, b, &rep->r);
    json_decref(l);
    json_decref(b);
    if (in.bad) exp_rep_free(rep);
    return in.bad ? -1 : 0;
}
