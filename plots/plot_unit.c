/* plot_unit.c - figures of documents, and the units they are shown in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "plot_inner.h"

const char *plot_string(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

double plot_number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

const json_t *plot_metric(const json_t *result, const char *name)
{
    const json_t *list = json_object_get(result, "metrics"), *found = NULL;
    const char *at = strchr(name, '@');
    size_t n = at ? (size_t)(at - name) : strlen(name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i), *load = json_object_get(m, "workload");
        const char *is = plot_string(m, "name");
        if (strncmp(is, name, n) || is[n]) continue;
        if (at && (!json_is_string(load) || strcmp(json_string_value(load), at + 1))) continue;
        if (json_is_string(load)) return m;
        if (!found) found = m;
    }
    return found;
}

struct plot_value plot_value_of(const json_t *result, const char *metric)
{
    const json_t *m = plot_metric(result, metric), *ci = json_object_get(m, "ci");
    return (struct plot_value){plot_number(json_object_get(m, "mean")), plot_number(json_array_get(ci, 0)),
                               plot_number(json_array_get(ci, 1))};
}

bool plot_has_mean(const json_t *result, const char *metric)
{
    return json_is_number(json_object_get(plot_metric(result, metric), "mean"));
}

void plot_choose_unit(struct plot_unit *u, const char *what, const char *unit, double largest)
{
    static const struct {
        const char *base, *shown;
        double from, scale;
    } row[] = {{"B/s", "GB/s", 1e9, 1e-9}, {"B/s", "MB/s", 1e6, 1e-6},      {"B/s", "kB/s", 1e3, 1e-3},
               {"s", "s", 0.5, 1},         {"s", "ms", 0.5e-3, 1e3},        {"s", "us", 0.5e-6, 1e6},
               {"s", "ns", 0, 1e9},        {"1/s", "million/s", 1e6, 1e-6}, {"1/s", "thousand/s", 1e4, 1e-3},
               {"1/s", "per second", 0, 1}};
    u->scale = 1;
    plot_text_into(u->text, sizeof u->text, !strcmp(unit, "1") ? "" : unit, 12);
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        if (strcmp(unit, row[i].base) || largest < row[i].from) continue;
        u->scale = row[i].scale;
        snprintf(u->text, sizeof u->text, "%s", row[i].shown);
        break;
    }
    char name[128];
    plot_text_into(name, sizeof name, what, 60);
    snprintf(u->axis, sizeof u->axis, *u->text ? "%s (%s)" : "%s", name, u->text);
}

void plot_unit_of_means(struct plot_input *in)
{
    double top = 0;
    for (size_t i = 0; i < in->n; i++) {
        struct plot_value v = plot_value_of(in->result[i], in->metric);
        top = fmax(top, fmax(v.mean, v.hi));
    }
    plot_choose_unit(&in->unit, in->metric, plot_string(plot_metric(in->result[0], in->metric), "unit"), top);
    in->span = top * in->unit.scale;
}

bool plot_keep_with(struct plot_input *in, bool (*has)(const json_t *result, const char *metric), size_t most)
{
    size_t n = 0, all = 0;
    for (size_t i = 0; i < in->n; i++) {
        bool good = has(in->result[i], in->metric);
        all += good;
        if (good && n < most) {
            char *label = in->label[i];
            in->result[n] = in->result[i];
            in->label[i] = in->label[n];
            in->label[n++] = label;
        }
    }
    for (size_t i = n; i < in->n; i++) free(in->label[i]);
    in->n = n;
    in->all = all;
    return n > 0;
}

void plot_put(FILE *f, double v)
{
    if (isfinite(v))
        fprintf(f, " %.9g", v);
    else
        fputs(" NaN", f);
}

void plot_interval_text(char *buf, size_t n, struct plot_value v, double scale, const char *sign)
{
    exp_format_interval(buf, n, v.mean * scale, (v.hi - v.lo) / 2 * scale, "1", sign);
}

void plot_interval_short(char *buf, size_t n, struct plot_value v, double scale, const char *sign)
{
    char *to = buf;
    plot_interval_text(buf, n, v, scale, sign);
    for (const char *p = buf; *p; p++)
        if (*p != ' ') *to++ = *p;
    *to = 0;
}
