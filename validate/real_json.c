#include "real_json.h"

#include <math.h>
#include <string.h>

#include "exp_export.h"

static void put(json_t *o, const char *key, double v)
{
    json_object_set_new(o, key, exp_json_number(v));
}

static void put_text(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, exp_json_text(text));
}

/* CPU lists as text: "0-3", or null when they are free. */
static void put_cpus(json_t *o, const char *key, const struct real_cpus *set)
{
    struct wb_cpumask m = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(set->w), .w = (uint64_t *)set->w};
    char text[512];
    put_text(o, key, wb_mask_count(&m) ? wb_mask_format(text, sizeof text, &m) : NULL);
}

static void put_dist(json_t *o, const char *key, const struct wb_dist *d)
{
    static const char *const kind[] = {"fixed", "uniform", "exp", "normal", "lognormal", "table"};
    if (d->kind == WB_DIST_FIXED) {
        put(o, key, (double)d->a * 1e-12);
        return;
    }
    json_t *x = json_object();
    put_text(x, "kind", kind[d->kind]);
    put(x, "a_s", (double)d->a * 1e-12);
    if (d->kind == WB_DIST_UNIFORM)
        put(x, "b_s", (double)d->b * 1e-12);
    else if (d->kind != WB_DIST_EXP)
        put(x, "deviation", (double)d->b * 1e-6);
    json_object_set_new(o, key, x);
}

static const char *sched_name(enum real_sched s)
{
    static const char *const name[] = {"other", "batch", "idle"};
    return name[s];
}

static json_t *background_json(const struct real_spec *s)
{
    json_t *list = json_array();
    for (uint32_t g = 0; g < s->background_n; g++) {
        const struct real_background *b = &s->background[g];
        json_t *o = json_object();
        put_text(o, "kind", real_kind_name(b->kind));
        put(o, "count", b->count);
        put(o, "nice", b->nice);
        put_text(o, "sched", sched_name(b->sched));
        put_cpus(o, "cpus", &b->cpus);
        if (b->kind == REAL_PERIODIC) {
            put_dist(o, "run", &b->run);
            put_dist(o, "sleep", &b->sleep);
            put(o, "period", (double)b->period_ns * 1e-9);
        }
        put(o, "working_set", (double)b->working_set);
        json_array_append_new(list, o);
    }
    return list;
}

/* The keys that only some kinds have. */
static void put_own_keys(json_t *o, const struct real_spec *s)
{
    bool rr = s->kind >= REAL_TCP_RR && s->kind <= REAL_UNIX_RR, ping = rr || s->kind == REAL_PIPE_LATENCY;
    if (s->kind == REAL_PIPE_BW || s->kind == REAL_PIPE_LATENCY || s->kind == REAL_HACKBENCH)
        put(o, "message", (double)s->message);
    if (s->kind == REAL_PIPE_BW)
        put(o, "total", s->duration_ns ? NAN : (double)s->total);
    else if (s->kind != REAL_HACKBENCH)
        put(o, "count_each", s->duration_ns ? NAN : (double)s->count_each);
    if (rr) {
        put(o, "request", (double)s->request);
        put(o, "response", (double)s->response);
    }
    if (s->kind == REAL_TCP_RR) json_object_set_new(o, "nodelay", json_boolean(s->nodelay));
    if (ping) put_dist(o, "think", &s->think);
    if (s->kind == REAL_HACKBENCH) {
        put(o, "groups", s->groups);
        put(o, "fds", s->fds);
        put(o, "loops", (double)s->loops);
        put_text(o, "mode", s->threads ? "thread" : "process");
        put_text(o, "transport", s->pipe ? "pipe" : "socket");
    } else {
        put(o, "copies", s->copies);
        json_object_set_new(o, "threads", json_boolean(s->threads));
    }
    if (s->kind == REAL_SYSCALL) put_text(o, "call", real_call_name(s->call));
    if (s->kind == REAL_HOG) {
        put_dist(o, "chunk", &s->chunk);
        put(o, "working_set", (double)s->working_set);
        put_text(o, "pattern", s->random_pattern ? "random" : "stream");
    }
    if (s->kind == REAL_PERIODIC) {
        put_dist(o, "run", &s->run);
        put_dist(o, "sleep", &s->sleep);
        put(o, "period", s->period_ns ? (double)s->period_ns * 1e-9 : NAN);
        put(o, "timer_slack", (double)s->timer_slack_ns * 1e-9);
    }
    if (s->pipe_size) put(o, "pipe_size", (double)s->pipe_size);
}

json_t *real_spec_json(const struct real_spec *s)
{
    json_t *o = json_object();
    put_text(o, "kind", real_kind_name(s->kind));
    put_own_keys(o, s);
    put(o, "duration", s->duration_ns ? (double)s->duration_ns * 1e-9 : NAN);
    put(o, "warmup", (double)s->warmup_ns * 1e-9);
    put(o, "nice", s->nice);
    put_text(o, "sched", sched_name(s->sched));
    put_cpus(o, "allowed", &s->allowed);
    put_cpus(o, "cpus", &s->cpus);
    put_cpus(o, "first_end_cpus", &s->end_cpus[0]);
    put_cpus(o, "second_end_cpus", &s->end_cpus[1]);
    json_object_set_new(o, "background", background_json(s));
    return o;
}

static json_t *latency_json(const char *name, const struct wb_hist *h)
{
    static const struct {
        const char *name;
        uint32_t ppm;
    } q[] = {{"p1", 10000}, {"p10", 100000}, {"p50", 500000}, {"p90", 900000}, {"p99", 990000}, {"p999", 999000}};
    json_t *o = json_object();
    put_text(o, "name", name);
    put_text(o, "unit", "s");
    put(o, "n", (double)h->count);
    put(o, "mean", h->count ? wb_hist_mean(h) * 1e-12 : NAN);
    put(o, "min", h->count ? (double)h->min * 1e-12 : NAN);
    for (size_t i = 0; i < WB_ARRAY_SIZE(q); i++)
        put(o, q[i].name, h->count ? (double)wb_hist_quantile(h, q[i].ppm) * 1e-12 : NAN);
    put(o, "max", h->count ? (double)h->max * 1e-12 : NAN);
    json_object_set_new(o, "hist", exp_json_hist(h));
    return o;
}

static json_t *counts_json(const struct real_counts *c, double seconds)
{
    json_t *o = json_object();
    bool split = c->have & REAL_HAVE_SPLIT, some = c->have & REAL_HAVE_SWITCHES;
    put(o, "seconds", seconds);
    put(o, "switches", some ? (double)(c->voluntary + c->involuntary) : NAN);
    put(o, "voluntary", split ? (double)c->voluntary : NAN);
    put(o, "involuntary", split ? (double)c->involuntary : NAN);
    put(o, "migrations", c->have & REAL_HAVE_MIGRATIONS ? (double)c->migrations : NAN);
    put(o, "cpu_s", c->have & REAL_HAVE_CPU ? (double)c->cpu_ns * 1e-9 : NAN);
    put(o, "wait_s", c->have & REAL_HAVE_WAIT ? (double)c->wait_ns * 1e-9 : NAN);
    return o;
}

static json_t *tasks_json(const struct real_result *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->task_n; i++) {
        const struct real_task_result *t = &r->task[i];
        json_t *o = json_object();
        put_text(o, "role", t->role);
        put(o, "copy", t->copy);
        json_object_set_new(o, "background", json_boolean(t->background));
        put(o, "rate", t->ops ? t->rate : NAN);
        json_object_set_new(o, "counts", counts_json(&t->counts, t->seconds));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *windows_json(const struct real_result *r)
{
    json_t *o = json_object(), *rate = json_array(), *together = json_array();
    double one, two, mixed;
    for (uint32_t i = 0; i < r->window_n; i++) {
        json_array_append_new(rate, exp_json_number(r->window[i].ops / ((double)r->window_ns * 1e-9)));
        json_array_append_new(together, exp_json_number(r->window[i].together));
    }
    real_window_modes(r, &one, &two, &mixed);
    put(o, "width_s", (double)r->window_ns * 1e-9);
    put(o, "p10", real_window_quantile(r, 0.1));
    put(o, "p50", real_window_quantile(r, 0.5));
    put(o, "p90", real_window_quantile(r, 0.9));
    put(o, "mostly_together", one);
    put(o, "mostly_apart", two);
    put(o, "mixed", mixed);
    json_object_set_new(o, "rate", rate);
    json_object_set_new(o, "together", together);
    return o;
}

json_t *host_load_json(const struct host_load *l)
{
    json_t *o = json_object(), *who = json_array();
    put(o, "seconds", l->seconds);
    put(o, "foreign", l->foreign);
    put(o, "steal", l->steal);
    put(o, "new_processes", l->new_processes);
    json_object_set_new(o, "quiet", l->known ? json_boolean(l->quiet) : json_null());
    for (uint32_t i = 0; i < l->culprits; i++) {
        json_t *c = json_object();
        put_text(c, "name", l->culprit[i].name);
        put(c, "pid", l->culprit[i].pid);
        put(c, "cpus", l->culprit[i].cpus);
        json_array_append_new(who, c);
    }
    json_object_set_new(o, "culprits", who);
    return o;
}

static json_t *metrics_json(const struct real_result *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->metric_n; i++) {
        json_t *o = json_object();
        put_text(o, "name", r->metric[i].name);
        put_text(o, "unit", r->metric[i].unit);
        put_text(o, "better", r->metric[i].higher_better ? "higher" : "lower");
        put(o, "value", r->metric[i].value);
        json_array_append_new(list, o);
    }
    return list;
}

json_t *real_result_json(const struct real_spec *s, const struct real_result *r, const struct host_load *before,
                         const struct host_load *after)
{
    json_t *o = json_object(), *left = json_array();
    put_text(o, "schema", "wakebal.real/1");
    json_object_set_new(o, "workload", real_spec_json(s));
    json_object_set_new(o, "metrics", metrics_json(r));
    put(o, "seconds", r->seconds);
    put(o, "ops", (double)r->ops);
    put(o, "together", r->together);
    json_object_set_new(o, "latency", r->latency ? latency_json(r->latency_name, r->latency) : json_null());
    json_object_set_new(o, "windows", r->window_n ? windows_json(r) : json_null());
    json_object_set_new(o, "counts", counts_json(&r->counts, r->count_seconds));
    put_text(o, "count_source", r->count_source);
    json_object_set_new(o, "tasks", tasks_json(r));
    json_object_set_new(o, "load_before", before ? host_load_json(before) : json_null());
    json_object_set_new(o, "load_after", after ? host_load_json(after) : json_null());
    for (uint32_t i = 0; i < r->left_out_n; i++) json_array_append_new(left, json_string(r->left_out[i]));
    json_object_set_new(o, "left_out", left);
    return o;
}
