/* plot_terminal.c - bars with intervals, drawn with characters. */
#include <math.h>
#include <string.h>

#include "plot.h"

static size_t columns_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void put_bar(FILE *to, double mean, double lo, double hi, size_t width, const struct plot_options *o)
{
    const char *full = o->unicode ? "\u2588" : "#", *line = o->unicode ? "\u2500" : "-",
               *end = o->unicode ? "\u2524" : "|";
    size_t at = (size_t)(mean * (double)width + 0.5), from = (size_t)(lo * (double)width + 0.5),
           until = (size_t)(hi * (double)width + 0.5);
    if (o->colour) fputs("\033[36m", to);
    for (size_t i = 0; i < at; i++)
        fputs(i >= from && until > from && i + 1 < at ? (o->unicode ? "\u2592" : "=") : full, to);
    for (size_t i = at; i + 1 < until; i++) fputs(line, to);
    if (until > at) fputs(end, to);
    if (o->colour) fputs("\033[0m", to);
}

void plot_bars_text(FILE *to, const struct plot_input *in, const struct plot_options *o)
{
    size_t label = 0, width = o->columns ? o->columns : 100;
    for (size_t i = 0; i < in->n; i++) label = WB_MAX(label, columns_of(in->label[i]));
    width = width > label + 30 ? width - label - 22 : 12;
    fprintf(to, "%s\n%*s%s\n", in->title, (int)label + 2, "", in->axis);
    for (size_t i = 0; i < in->n; i++) {
        const json_t *m = plot_metric(in->result[i], in->metric), *ci = json_object_get(m, "ci");
        double mean = number(json_object_get(m, "mean")) * in->scale, top = in->span > 0 ? in->span : 1;
        double lo = number(json_array_get(ci, 0)) * in->scale, hi = number(json_array_get(ci, 1)) * in->scale;
        fprintf(to, "%*s%s  ", (int)(label - columns_of(in->label[i])), "", in->label[i]);
        put_bar(to, fmax(mean, 0) / top, fmax(isfinite(lo) ? lo : mean, 0) / top,
                fmax(isfinite(hi) ? hi : mean, 0) / top, width, o);
        if (isfinite(hi))
            fprintf(to, " %.3g %s %.2g\n", mean, o->unicode ? "\u00b1" : "+-", (hi - lo) / 2);
        else
            fprintf(to, " %.3g\n", mean);
    }
    fputc('\n', to);
}
