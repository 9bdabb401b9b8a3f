/* plot.c - from a document to a picture: which results, which kind. */
#include "plot.h"

#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

const struct plot_ops *const plot_ops_of[PLOT_KINDS] = {
    [PLOT_WINDOWS] = &plot_windows,       [PLOT_BARS] = &plot_bars,         [PLOT_CDF] = &plot_cdf,
    [PLOT_LINES] = &plot_lines,           [PLOT_HEAT] = &plot_heat,         [PLOT_STACKS] = &plot_stacks,
    [PLOT_MIGRATIONS] = &plot_migrations, [PLOT_TIMELINE] = &plot_timeline, [PLOT_SCATTER] = &plot_scatter,
    [PLOT_TORNADO] = &plot_tornado};
const char *const plot_kind_name[PLOT_KINDS] = {"windows", "bars",       "cdf",      "lines",   "heat",
                                                "stacks",  "migrations", "timeline", "scatter", "tornado"};
const char *const plot_format_name[PLOT_FORMATS] = {"png", "svg", "pdf", "terminal"};

/* ------------------------------------------------------------------ results */
static const json_t *result_at(const json_t *doc, size_t i)
{
    const json_t *list = json_object_get(doc, "results");
    if (list) return json_array_get(list, i);
    return i ? NULL : doc;
}

/* "kernel.pipe=2.6.11, workload.cpus=free" -> "pipe=2.6.11, cpus=free": the last word of a key says enough. */
static char *short_label(const char *label)
{
    char *out = plot_need(strdup(label)), *o = out;
    const char *p = label;
    while (*p) {
        const char *end = p + strcspn(p, ","), *eq = memchr(p, '=', (size_t)(end - p)), *from = p + strspn(p, " ");
        for (const char *q = from; eq && q < eq; q++)
            if (*q == '.') from = q + 1;
        if (!eq) from = p;
        if (o != out && from != p) *o++ = ' ';
        memcpy(o, from, (size_t)(end - from));
        o += end - from;
        if (*end) *o++ = *end++;
        p = end;
    }
    *o = 0;
    return out;
}

static void add_input(struct plot_input *in, const json_t *result, const char *name)
{
    char *label = short_label(name ? name : plot_string(result, "label"));
    in->result = plot_need(realloc(in->result, (in->n + 1) * sizeof *in->result));
    in->label = plot_need(realloc(in->label, (in->n + 1) * sizeof *in->label));
    in->result[in->n] = result;
    in->label[in->n++] = plot_text(*label ? label : plot_string(json_object_get(result, "kernel"), "name"), 60);
    free(label);
}

/* Is the value one of "a,b"? Blanks do not count: "4KiB" is "4 KiB". */
static bool among(const char *list, const char *value)
{
    while (*list) {
        const char *v = value, *p = list;
        for (; *p && *p != ','; p++) {
            if (*p == ' ') continue;
            while (*v == ' ') v++;
            if (!*v || *v != *p) break;
            v++;
        }
        while (*v == ' ') v++;
        if (!*v && (!*p || *p == ',')) return true;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return false;
}

static bool param_is_called(const char *key, const char *name, size_t n)
{
    size_t len = strlen(key);
    return n && n <= len && !memcmp(key + len - n, name, n) && (n == len || key[len - n - 1] == '.');
}

static bool is_kept(const json_t *result, const struct plot_options *o)
{
    for (size_t i = 0; i < o->nkeep; i++) {
        const char *eq = strchr(o->keep[i], '='), *key;
        json_t *v;
        bool good = false;
        json_object_foreach(json_object_get(result, "params"), key, v)
        {
            char text[64];
            snprintf(text, sizeof text, "%.12g", json_number_value(v));
            const char *value = json_is_string(v)    ? json_string_value(v)
                                : json_is_boolean(v) ? (json_is_true(v) ? "true" : "false")
                                                     : text;
            good |= eq && param_is_called(key, o->keep[i], (size_t)(eq - o->keep[i])) && among(eq + 1, value);
        }
        if (!good) return false;
    }
    return true;
}

static void choose_inputs(struct plot_input *in, const struct plot_options *o)
{
    const json_t *r;
    for (size_t i = 0; !o->only && (r = result_at(in->doc, i)); i++)
        if (is_kept(r, o)) add_input(in, r, NULL);
    for (size_t k = 0; o->only && k < o->nonly; k++)
        for (size_t i = 0; (r = result_at(in->doc, i)); i++)
            if (!strcmp(plot_string(r, "label"), o->only[k])) add_input(in, r, o->name ? o->name[k] : NULL);
    const json_t *run = json_object_get(result_at(in->doc, 0), "run");
    in->all = in->n;
    in->metric = o->metric ? o->metric : o->kind == PLOT_CDF ? "wake_latency" : plot_string(run, "metric");
    if (in->n) run = json_object_get(in->result[0], "run");
    size_t len = strlen(plot_text_into(in->run, sizeof in->run, plot_string(run, "id"), 20));
    if (in->n > 1) snprintf(in->run + len, sizeof in->run - len, " and %zu more", in->n - 1);
}

/* ------------------------------------------------------------------ what is written on it */
/* "bandwidth of pipe over time", for what has no title of its own. */
static void name_by_figure(struct plot_input *in)
{
    const char *owner = plot_string(plot_metric(in->n ? in->result[0] : NULL, in->metric), "workload");
    char metric[64], workload[40];
    plot_text_into(metric, sizeof metric, in->metric, 48);
    plot_text_into(workload, sizeof workload, owner, 32);
    char *text = plot_say("%s%s%s%s%s", in->o->kind == PLOT_CDF ? "distribution of " : "", metric,
                          *workload ? " of " : "", workload, in->o->kind == PLOT_WINDOWS ? " over time" : "");
    plot_text_into(in->title, sizeof in->title - 32, text, 100);
    free(text);
}

static void name_picture(struct plot_input *in, const struct plot_options *o)
{
    const char *title = plot_string(in->doc, "title");
    if (!*title) title = plot_string(json_object_get(result_at(in->doc, 0), "run"), "title");
    if (o->title || *title) plot_text_into(in->title, sizeof in->title - 32, o->title ? o->title : title, 100);
    if (!*in->title) name_by_figure(in);
    size_t len = strlen(in->title);
    if (in->all > in->n) snprintf(in->title + len, sizeof in->title - len, " (%zu of %zu points)", in->n, in->all);
}

/* What the intervals are, and what was run: "mean and 95 % interval over 5 replications; smp2; linux-2.6.11". */
static void describe(struct plot_input *in)
{
    const json_t *r = in->n ? in->result[0] : NULL, *m = plot_metric(r, in->metric);
    double n = plot_number(json_object_get(m, "n")), c = plot_number(json_object_get(m, "confidence"));
    char text[200] = "", name[2][48];
    bool one[2] = {true, true};
    const char *const part[] = {"machine", "kernel"};
    size_t len = 0;
    if (!*in->caption && n > 1)
        len = (size_t)snprintf(text, sizeof text, "mean and %.4g %% interval over %.0f replications", c * 100, n);
    else
        len = (size_t)snprintf(text, sizeof text, "%s", *in->caption ? in->caption : n == 1 ? "one replication" : "");
    for (size_t k = 0; k < 2 && r; k++) {
        const char *first = plot_string(json_object_get(r, part[k]), "name");
        for (size_t i = 1; i < in->n; i++)
            one[k] &= !strcmp(plot_string(json_object_get(in->result[i], part[k]), "name"), first);
        plot_text_into(name[k], sizeof name[k], first, 40);
        if (one[k] && *name[k] && len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? "; " : "", name[k]);
    }
    for (size_t k = 0; k < 2 && !r && len < sizeof text; k++) {
        plot_text_into(name[k], sizeof name[k], plot_string(in->doc, part[k]), 40);
        if (*name[k]) len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? "; " : "", name[k]);
    }
    if (json_is_integer(json_object_get(in->doc, "seed")) && len < sizeof text)
        len += (size_t)snprintf(text + len, sizeof text - len, "; seed %lld",
                                (long long)json_integer_value(json_object_get(in->doc, "seed")));
    if (*in->run && len < sizeof text) snprintf(text + len, sizeof text - len, "%srun %s", len ? "; " : "", in->run);
    snprintf(in->caption, sizeof in->caption, "%s", text);
}

static bool fits(struct plot_input *in, const struct plot_ops *ops)
{
    const char *schema = plot_string(in->doc, "schema");
    if (!strncmp(schema, ops->schema, strlen(ops->schema))) return true;
    snprintf(in->why, sizeof in->why, "%s is drawn of %s..., not of %.60s", ops->name, ops->schema, schema);
    return false;
}

static bool prepare(struct plot_input *in, const struct plot_options *o)
{
    const struct plot_ops *ops = plot_ops_of[o->kind];
    if (!fits(in, ops)) return false;
    bool results = !strncmp(ops->schema, "wakebal.result", 14);
    if (results) choose_inputs(in, o);
    bool all_dropped = results && !in->n && result_at(in->doc, 0);
    if (all_dropped || (results && !*in->metric)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: %s",
                 all_dropped ? "no point is left" : "no result holds a figure of a workload");
        return false;
    }
    if (!ops->prepare(in)) return false;
    name_picture(in, o);
    describe(in);
    return true;
}

enum plot_status plot_draw(const json_t *doc, const struct plot_options *o, char **why)
{
    const struct plot_ops *ops = plot_ops_of[o->kind];
    struct plot_input in = {.o = o, .doc = doc, .width = 1000, .height = 600, .rows = 30};
    in.metric = o->metric ? o->metric : "";
    *why = NULL;
    enum plot_status st = PLOT_NOTHING;
    if (prepare(&in, o))
        st = plot_make_files(&in, why);
    else
        *why = plot_say("%s", in.why);
    if (ops->forget)
        ops->forget(&in);
    else
        free(in.own);
    for (size_t i = 0; i < in.n; i++) free(in.label[i]);
    free(in.label);
    free(in.result);
    return st;
}

const char *plot_option_unused(const struct plot_options *o)
{
    const struct {
        bool given;
        unsigned obeys;
        const char *name;
    } list[] = {{o->metric, PLOT_OBEYS_METRIC, "--metric"},
                {o->x, PLOT_OBEYS_X, "--x"},
                {o->y, PLOT_OBEYS_Y, "--y"},
                {o->series, PLOT_OBEYS_SERIES, "--series"},
                {o->facets, PLOT_OBEYS_FACETS, "--facets"},
                {o->nkeep, PLOT_OBEYS_ONLY, "--only"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(list); i++)
        if (list[i].given && !(plot_ops_of[o->kind]->obeys & list[i].obeys)) return list[i].name;
    return NULL;
}

enum plot_kind plot_kind_for(const json_t *doc)
{
    const char *schema = plot_string(doc, "schema");
    if (!strncmp(schema, "wakebal.result", 14))
        return json_array_size(json_object_get(doc, "results")) > 1 ? PLOT_BARS : PLOT_WINDOWS;
    for (int k = PLOT_CDF + 1; k < PLOT_KINDS; k++)
        if (!strcmp(schema, plot_ops_of[k]->schema)) return (enum plot_kind)k;
    return PLOT_KINDS;
}
