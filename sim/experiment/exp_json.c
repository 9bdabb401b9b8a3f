#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_export.h"
#include "exp_format.h"

json_t *exp_json_text(const char *text)
{
    if (!text) return json_null();
    char *clean = exp_text_utf8(text);
    json_t *j = json_string(clean);
    free(clean);
    WB_CHECK(j, "text could not become JSON");
    return j;
}

json_t *exp_json_number(double v)
{
    if (!isfinite(v)) return json_null();
    if (v == floor(v) && fabs(v) < 9007199254740992.0) return json_integer((json_int_t)v);
    return json_real(v);
}

static json_t *numbers(const double *v, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, exp_json_number(v[i]));
    return a;
}

json_t *exp_json_hist(const struct wb_hist *h)
{
    json_t *bins = json_array();
    for (uint32_t i = 0; i < WB_HIST_BUCKETS; i++)
        if (h->bucket[i])
            json_array_append_new(bins, json_pack("[I,I,I]", (json_int_t)wb_hist_bucket_first(i),
                                                  (json_int_t)wb_hist_bucket_last(i) + 1, (json_int_t)h->bucket[i]));
    return json_pack("{s:i,s:i,s:s,s:o}", "base", 2, "buckets_per_octave", 1 << WB_HIST_BITS, "unit", "ps", "bins",
                     bins);
}

static void add_hist(json_t *o, const struct wb_hist *h)
{
    json_object_set_new(o, "p50", h->count ? json_real((double)wb_hist_quantile(h, 500000) * 1e-12) : json_null());
    json_object_set_new(o, "p99", h->count ? json_real((double)wb_hist_quantile(h, 990000) * 1e-12) : json_null());
    json_object_set_new(o, "max", h->count ? json_real((double)h->max * 1e-12) : json_null());
    json_object_set_new(o, "hist", exp_json_hist(h));
}

static void add_windows(json_t *o, const struct exp_metric *m, const struct exp_result *res, bool all)
{
    size_t last = all ? EXP_WINDOW_REPLICATIONS : 1;
    json_t *list = json_array();
    for (size_t i = 0; i < last; i++)
        if (m->window[i]) json_array_append_new(list, numbers(m->window[i], m->nwindow[i]));
    json_object_set_new(o, "windows",
                        json_pack("{s:o,s:o}", "width_s", exp_json_number(res->window_s), "values", list));
}

static json_t *metric_json(const struct exp_result *res, const struct exp_metric *m, bool all)
{
    const struct exp_summary *s = &m->sum;
    json_t *o = json_object();
    json_object_set_new(o, "name", exp_json_text(m->name));
    json_object_set_new(o, "workload", exp_json_text(exp_result_workload(res, m->instance)));
    json_object_set_new(o, "unit", exp_json_text(m->unit));
    json_object_set_new(o, "better", json_string(wb_better_name(m->better)));
    json_object_set_new(o, "n", json_integer((json_int_t)s->n));
    json_object_set_new(o, "mean", exp_json_number(s->mean));
    json_object_set_new(
        o, "ci", isfinite(s->hi) ? json_pack("[o,o]", exp_json_number(s->lo), exp_json_number(s->hi)) : json_null());
    json_object_set_new(o, "confidence", exp_json_number(res->confidence));
    json_object_set_new(o, "sd", exp_json_number(s->sd));
    json_object_set_new(o, "sample_min", exp_json_number(s->min));
    json_object_set_new(o, "sample_max", exp_json_number(s->max));
    json_object_set_new(o, "samples", numbers(m->sample, m->n));
    if (m->hist) add_hist(o, m->hist);
    if (m->batches)
        json_object_set_new(o, "batches",
                            json_pack("{s:I,s:I,s:o}", "n", (json_int_t)m->batches, "windows",
                                      (json_int_t)m->batch_windows, "half_width", exp_json_number(m->batch_half)));
    if (m->window[0]) add_windows(o, m, res, all);
    return o;
}

/* By name, then by workload (the machine's last): the order readers can rely on. */
static int compare_metrics(const void *a, const void *b)
{
    const struct exp_metric *x = *(const struct exp_metric *const *)a, *y = *(const struct exp_metric *const *)b;
    int c = strcmp(x->name, y->name);
    return c ? c : (x->instance > y->instance) - (x->instance < y->instance);
}

static json_t *metrics_json(const struct exp_result *res, bool all)
{
    const struct exp_metric **m = calloc(res->nmetrics ? res->nmetrics : 1, sizeof *m);
    WB_MEMORY(m, "out of memory for %zu metrics", res->nmetrics);
    for (size_t i = 0; i < res->nmetrics; i++) m[i] = &res->metric[i];
    qsort(m, res->nmetrics, sizeof *m, compare_metrics);
    json_t *a = json_array();
    for (size_t i = 0; i < res->nmetrics; i++) json_array_append_new(a, metric_json(res, m[i], all));
    free(m);
    return a;
}

/* Values as what they are: true, 4, "2.6.10" (a version stays text, so does "64 KiB"). */
static json_t *param_value(const char *text)
{
    if (!strcmp(text, "true") || !strcmp(text, "false")) return json_boolean(*text == 't');
    char *end;
    long long v = strtoll(text, &end, 10);
    if (*text && !*end && (text[0] == '0' ? !text[1] : true) && *text != ' ' && *text != '+') return json_integer(v);
    return exp_json_text(text);
}

static json_t *params_json(const struct exp_result *res)
{
    json_t *o = json_object();
    for (size_t i = 0; i < res->nparams; i++) {
        char *key = exp_text_utf8(res->param[i].key);
        json_object_set_new(o, key, param_value(res->param[i].value));
        free(key);
    }
    return o;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct exp_named *const *)a)->name, (*(const struct exp_named *const *)b)->name);
}

/* [{"name", key: count}], by name; zero counts are left out. */
static json_t *named_json(const struct exp_named *list, size_t n, const char *key, double scale)
{
    const struct exp_named **p = calloc(n ? n : 1, sizeof *p);
    WB_MEMORY(p, "out of memory for %zu names", n);
    for (size_t i = 0; i < n; i++) p[i] = &list[i];
    qsort(p, n, sizeof *p, compare_names);
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        if (p[i]->count)
            json_array_append_new(a, json_pack("{s:o,s:o}", "name", exp_json_text(p[i]->name), key,
                                               scale == 1 ? json_integer((json_int_t)p[i]->count)
                                                          : exp_json_number((double)p[i]->count * scale)));
    free(p);
    return a;
}

static json_t *time_json(const struct exp_result *res)
{
    json_t *o = json_object();
    for (size_t k = 0; k < WB_CAT_N; k++)
        json_object_set_new(o, wb_cat_name[k], exp_json_number((double)res->cat[k] * 1e-12));
    return o;
}

static json_t *run_json(const struct exp_result *res)
{
    char mark[24];
    snprintf(mark, sizeof mark, "%08" PRIx32 "-%08" PRIx32, (uint32_t)(res->fingerprint >> 32),
             (uint32_t)res->fingerprint);
    json_t *o = json_object();
    json_object_set_new(o, "id", json_string(res->id));
    json_object_set_new(o, "scenario_sha256", json_string(res->sha256));
    json_object_set_new(o, "title", exp_json_text(res->title));
    json_object_set_new(o, "seed", json_integer((json_int_t)res->seed));
    json_object_set_new(o, "replications", json_integer((json_int_t)res->replications));
    json_object_set_new(o, "stopped", json_string(res->stopped));
    json_object_set_new(o, "metric", exp_json_text(res->primary));
    json_object_set_new(o, "half_width", exp_json_number(res->half_width));
    json_object_set_new(o, "fingerprint", json_string(mark));
    json_object_set_new(o, "duration_s", exp_json_number(res->duration));
    json_object_set_new(o, "measured_s", exp_json_number(res->measured));
    json_object_set_new(o, "events", json_integer((json_int_t)res->events));
    json_object_set_new(o, "stale", json_integer((json_int_t)res->stale));
    json_object_set_new(o, "peak_events", json_integer((json_int_t)res->peak_events));
    return o;
}

static json_t *machine_json(const struct exp_result *res)
{
    json_t *cal = json_pack("{s:o,s:o,s:n}", "state", exp_json_text(res->calibration), "source",
                            exp_json_text(res->machine_source), "date");
    return json_pack("{s:o,s:i,s:o}", "name", exp_json_text(res->machine), "cpus", (int)res->ncpus, "calibration", cal);
}

/* Who suffered from what should not happen, the worst of each kind first (docs/metrics.md). */
static json_t *invariants_json(const struct exp_result *res)
{
    json_t *a = json_array();
    for (size_t i = 0; i < res->nfaults; i++) {
        const struct exp_fault *f = &res->fault[i];
        json_t *o = json_pack("{s:s,s:o,s:I}", "kind", wb_fault_name[f->kind], "task", exp_json_text(f->task), "count",
                              (json_int_t)f->count);
        if (f->kind <= WB_FAULT_STARVATION) {
            json_object_set_new(o, "total_s", exp_json_number((double)f->total * 1e-12));
            json_object_set_new(o, "longest_s", exp_json_number((double)f->longest * 1e-12));
        }
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *notes_json(const struct exp_result *res)
{
    json_t *a = json_array();
    for (size_t i = 0; i < res->nnotes; i++)
        json_array_append_new(a, json_pack("{s:o,s:o}", "code", exp_json_text(res->note[i].code), "text",
                                           exp_json_text(res->note[i].text)));
    return a;
}

json_t *exp_json_result(const struct exp_result *res, bool keep_samples)
{
    json_t *o = json_object();
    json_object_set_new(o, "schema", json_string("wakebal.result/1"));
    json_object_set_new(o, "tool", json_pack("{s:s,s:s}", "name", "wakebal", "version", WB_VERSION));
    json_object_set_new(o, "run", run_json(res));
    json_object_set_new(o, "machine", machine_json(res));
    json_object_set_new(
        o, "kernel",
        json_pack("{s:o,s:o}", "name", exp_json_text(res->kernel), "scheduler", exp_json_text(res->policy)));
    json_object_set_new(o, "label", exp_json_text(res->label));
    json_object_set_new(o, "params", params_json(res));
    if (res->costs) json_object_set_new(o, "costs", json_loads(res->costs, 0, NULL));
    json_object_set_new(o, "metrics", metrics_json(res, keep_samples));
    json_object_set_new(o, "time", time_json(res));
    json_object_set_new(o, "profile", named_json(res->fn, res->nfn, "seconds", 1e-12));
    json_object_set_new(o, "rules", named_json(res->rule, res->nrules, "count", 1));
    json_object_set_new(o, "invariants", invariants_json(res));
    json_object_set_new(o, "warnings", notes_json(res));
    return o;
}

int exp_json_write(FILE *out, json_t *doc)
{
    WB_CHECK(doc, "a JSON document could not be made");
    errno = 0;
    int rc = json_dumpf(doc, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
    json_decref(doc);
    if (!rc) rc = fputc('\n', out) == EOF || fflush(out) ? -1 : 0;
    return rc ? -(errno ? errno : EIO) : 0;
}

int exp_export_json(FILE *out, struct exp_result *const *res, size_t n, const struct exp_export_options *opt)
{
    if (!opt->sweep && n == 1) return exp_json_write(out, exp_json_result(res[0], opt->keep_samples));
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (res[i]) json_array_append_new(list, exp_json_result(res[i], opt->keep_samples));
    return exp_json_write(out, json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", list));
}
