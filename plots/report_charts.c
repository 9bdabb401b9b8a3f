/* report_charts.c - the pictures of a report: bars, lines, stacks, scatter, ratios; see report_inner.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_inner.h"

static const char *const dash[] = {"", "7 4", "2 3", "9 3 2 3", "12 4", "4 2", "1 3", "9 3 2 3 2 3"};

static double least(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmin(a, b);
}

static double largest(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

/* ------------------------------------------------------------------ labels beside rows */
#define CHAR_WIDTH 7.4 /* of the letters of pictures, on average */
#define LABEL_MOST 340.0

/* How much of the width goes to labels of rows: what the longest needs. */
static double room_for(double now, const char *label)
{
    return fmin(fmax(now, CHAR_WIDTH * (double)strlen(label) + 14), LABEL_MOST);
}

static void row_label(struct html *h, double left, double y, const char *text)
{
    fprintf(h->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", left - 8, y);
    html_text_cut(h->f, text, (size_t)((left - 14) / CHAR_WIDTH));
    fputs("</text>\n", h->f);
}

/* ------------------------------------------------------------------ bars */
static void one_bar(const struct svg_frame *fr, const struct chart_bar *b, double y, const char *unit)
{
    struct html *h = fr->h;
    char value[64], tip[256];
    double x0 = svg_x(fr, 0), x1 = svg_x(fr, b->mean), end = x1;
    doc_format(value, sizeof value, b->mean, unit);
    snprintf(tip, sizeof tip, "%s: %s", b->label, value);
    fprintf(h->f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" fill=\"var(--s0)\" fill-opacity=\"0.55\">",
            fmin(x0, x1), y, fabs(x1 - x0));
    svg_tip(h, tip);
    fputs("</rect>", h->f);
    if (isfinite(b->lo) && isfinite(b->hi)) {
        double l = svg_x(fr, b->lo), r = svg_x(fr, b->hi);
        fprintf(h->f, "<path class=\"whisker\" d=\"M%.1f %.1fv8m0-4h%.1fm0-4v8\"/>", l, y + 3, r - l);
        end = fmax(end, r);
    }
    row_label(h, fr->left, y + 11, b->label);
    svg_label(h, end + 6, y + 11, "start", value);
}

void chart_bars(struct html *h, const char *title, const char *unit, const struct chart_bar *bar, size_t n)
{
    double lo = 0, hi = NAN, left = 60;
    size_t min = 0, max = 0;
    char desc[600], a[64], b[64];
    for (size_t i = 0; i < n; i++) {
        left = room_for(left, bar[i].label);
        lo = least(lo, least(bar[i].mean, bar[i].lo));
        hi = largest(hi, largest(bar[i].mean, bar[i].hi));
        if (bar[i].mean < bar[min].mean) min = i;
        if (bar[i].mean > bar[max].mean) max = i;
    }
    if (!n || isnan(hi)) return;
    snprintf(desc, sizeof desc, "Bars of %zu configurations with 95 %% intervals, from %s (%s) to %s (%s).", n,
             doc_format(a, sizeof a, bar[min].mean, unit), bar[min].label, doc_format(b, sizeof b, bar[max].mean, unit),
             bar[max].label);
    struct svg_frame fr = {.h = h, .left = left, .top = 8, .width = SVG_WIDTH - left - 90, .height = (double)n * 22};
    fr.x = (struct svg_axis){.unit = unit, .ticks = 3};
    svg_axis_fit(&fr.x, lo, hi);
    fr.y = (struct svg_axis){.lo = 0, .hi = 1, .name = NULL};
    svg_begin(h, fr.height + 40, title, desc);
    struct svg_frame axes = fr;
    axes.y.name = &(const char *){""};
    axes.y.nnames = 0;
    svg_axes(&axes);
    for (size_t i = 0; i < n; i++)
        if (isfinite(bar[i].mean)) one_bar(&fr, &bar[i], fr.top + 4 + (double)i * 22, unit);
    svg_end(h);
}

/* ------------------------------------------------------------------ lines */
static void fit(struct chart_lines *c)
{
    double x0 = NAN, x1 = NAN, y0 = c->y.log ? NAN : 0, y1 = NAN;
    for (size_t s = 0; s < c->n; s++)
        for (size_t i = 0; i < c->series[s].n; i++) {
            const struct chart_series *p = &c->series[s];
            x0 = least(x0, p->x[i]), x1 = largest(x1, p->x[i]);
            y0 = least(y0, least(p->y[i], p->lo ? p->lo[i] : NAN));
            y1 = largest(y1, largest(p->y[i], p->hi ? p->hi[i] : NAN));
        }
    svg_axis_fit(&c->y, y0, y1);
    if (!c->x.name) {
        svg_axis_fit(&c->x, x0, x1);
    } else {
        c->x.lo = -0.3;
        c->x.hi = (double)c->x.nnames - 0.7;
    }
}

static void band(const struct svg_frame *fr, const struct chart_series *s, size_t index)
{
    bool any = false;
    if (!s->lo || !s->hi) return;
    for (size_t i = 0; i < s->n; i++) any |= isfinite(s->lo[i]) && isfinite(s->hi[i]);
    if (!any) return;
    fprintf(fr->h->f, "<path class=\"band\" fill=\"var(--s%zu)\" d=\"", index);
    bool first = true;
    for (size_t i = 0; i < s->n; i++) {
        double v = isfinite(s->hi[i]) ? s->hi[i] : s->y[i];
        if (!isfinite(v)) continue;
        fprintf(fr->h->f, "%c%.1f %.1f", first ? 'M' : 'L', svg_x(fr, s->x[i]), svg_y(fr, v));
        first = false;
    }
    for (size_t i = s->n; i-- > 0;) {
        double v = isfinite(s->lo[i]) ? s->lo[i] : s->y[i];
        if (isfinite(v)) fprintf(fr->h->f, "L%.1f %.1f", svg_x(fr, s->x[i]), svg_y(fr, v));
    }
    fputs("z\"/>", fr->h->f);
}

static void line(const struct svg_frame *fr, const struct chart_series *s, size_t index)
{
    bool pen = false;
    fprintf(fr->h->f, "<path class=\"l\" stroke=\"var(--s%zu)\" stroke-dasharray=\"%s\" d=\"", index, dash[index]);
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->y[i])) {
            pen = false; /* a gap is shown as one */
            continue;
        }
        double x = svg_x(fr, s->x[i]), y = svg_y(fr, s->y[i]);
        if (s->steps && pen) fprintf(fr->h->f, "H%.1f", x);
        fprintf(fr->h->f, "%c%.1f %.1f", pen ? 'L' : 'M', x, y);
        pen = true;
    }
    fputs("\"/>\n", fr->h->f);
}

static void marks(const struct svg_frame *fr, const struct chart_lines *c, size_t index)
{
    const struct chart_series *s = &c->series[index];
    char value[64], tip[256];
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->y[i])) continue;
        size_t k = (size_t)fmax(s->x[i], 0);
        doc_format(value, sizeof value, s->y[i], c->y.unit);
        snprintf(tip, sizeof tip, "%s%s%s: %s", s->name, *s->name ? ", " : "",
                 c->x.name && k < c->x.nnames ? c->x.name[k] : "", value);
        svg_mark(fr->h, index, svg_x(fr, s->x[i]), svg_y(fr, s->y[i]), tip);
    }
}

static void legend(struct html *h, const struct chart_lines *c, double top)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t line = i / 2;
        double x = 90 + 330 * (double)(i % 2), y = top + 18 * (double)line;
        fprintf(h->f, "<path class=\"l\" stroke=\"var(--s%zu)\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fh30\"/>", i,
                dash[i], x, y - 4);
        if (c->marks) svg_mark(h, i, x + 15, y - 4, NULL);
        fprintf(h->f, "<text x=\"%.1f\" y=\"%.1f\">", x + 38, y);
        html_text_cut(h->f, c->series[i].name, 42);
        fputs("</text>\n", h->f);
    }
}

void chart_lines(struct html *h, struct chart_lines *c)
{
    WB_CHECK(c->n <= CHART_SERIES_MAX, "%zu series in one picture", c->n);
    size_t lines = (c->n + 1) / 2;
    double rows = c->n > 1 || *c->series[0].name ? (double)lines : 0;
    fit(c);
    struct svg_frame fr = {.h = h, .left = 90, .top = 26, .width = 640, .height = 260, .x = c->x, .y = c->y};
    svg_begin(h, 336 + rows * 18, c->title, c->desc);
    svg_axes(&fr);
    for (size_t i = 0; i < c->n; i++) band(&fr, &c->series[i], i);
    for (size_t i = 0; i < c->n; i++) {
        line(&fr, &c->series[i], i);
        if (c->marks) marks(&fr, c, i);
    }
    if (rows > 0) legend(h, c, 346);
    svg_end(h);
}

/* ------------------------------------------------------------------ stacks */
/* Idle is what is not used: an outline. Others take turns in colour; the second turn is paler. */
static void piece(struct html *h, const struct chart_stack *c, size_t k, double x, double y)
{
    bool idle = !strcmp(c->part[k], "idle");
    char colour[16];
    snprintf(colour, sizeof colour, "var(--s%zu)", k % 8);
    fprintf(h->f,
            "<rect x=\"%.1f\" y=\"%.1f\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"var(--%s)\" stroke-width=\"0.6\" ", x,
            y, idle ? "var(--soft)" : colour, idle || k < 8 ? "1" : "0.55", idle ? "dim" : "bg");
}

/* What can be read on it: dark on the light colours of either scheme. */
static const char *ink_on(const struct chart_stack *c, size_t k)
{
    if (k >= 8 || !strcmp(c->part[k], "idle")) return "var(--fg)";
    return k >= 3 && k <= 5 ? "#111" : "var(--bg)";
}

static void stack_row(struct html *h, const struct chart_stack *c, size_t row, double left)
{
    double x = left, y = 8 + 26 * (double)row;
    char tip[128];
    row_label(h, left, y + 14, c->row[row]);
    for (size_t k = 0; k < c->nparts; k++) {
        double w = (SVG_WIDTH - 10 - left) * c->share[row * c->nparts + k];
        if (!(w > 0)) continue;
        snprintf(tip, sizeof tip, "%s: %.1f %%", c->part[k], 100 * c->share[row * c->nparts + k]);
        piece(h, c, k, x, y);
        fprintf(h->f, "width=\"%.1f\" height=\"20\">", w);
        svg_tip(h, tip);
        fputs("</rect>", h->f);
        if (w > CHAR_WIDTH * (double)strlen(c->part[k]) + 4)
            fprintf(h->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s\">%s</text>", x + w / 2,
                    y + 14, ink_on(c, k), c->part[k]);
        x += w;
    }
    fputc('\n', h->f);
}

void chart_stack(struct html *h, const struct chart_stack *c)
{
    char desc[800];
    size_t used = (size_t)snprintf(desc, sizeof desc, "Shares of CPU time; first row: ");
    for (size_t k = 0; k < c->nparts && used < sizeof desc - 64; k++)
        if (c->share[k] >= 0.005)
            used += (size_t)snprintf(desc + used, sizeof desc - used, "%s %.1f %%, ", c->part[k], 100 * c->share[k]);
    double top = 26 + 26 * (double)c->nrows;
    size_t lines = (c->nparts + 5) / 6;
    svg_begin(h, top + 22 * (double)lines, c->title, desc);
    double left = 60;
    for (size_t i = 0; i < c->nrows; i++) left = room_for(left, c->row[i]);
    for (size_t i = 0; i < c->nrows; i++) stack_row(h, c, i, left);
    for (size_t k = 0; k < c->nparts; k++) {
        size_t line = k / 6;
        double x = 60 + 115 * (double)(k % 6), y = top + 8 + 22 * (double)line;
        piece(h, c, k, x, y - 10);
        fputs("width=\"12\" height=\"12\"/>", h->f);
        svg_label(h, x + 17, y, "start", c->part[k]);
    }
    svg_end(h);
}

/* ------------------------------------------------------------------ scatter */
void chart_scatter(struct html *h, const char *title, const char *unit, const struct chart_dot *dot, size_t n)
{
    double lo = NAN, hi = NAN;
    size_t good = 0, shown = 0;
    char desc[300], tip[200], a[64], b[64];
    for (size_t i = 0; i < n; i++) {
        if (!(dot[i].x > 0) || !(dot[i].y > 0)) continue;
        lo = least(lo, least(dot[i].x, dot[i].y)), hi = largest(hi, largest(dot[i].x, dot[i].y));
        shown++, good += dot[i].verdict > 0;
    }
    if (!shown) return;
    snprintf(desc, sizeof desc,
             "Predicted over measured for %zu configurations, both logarithmic; %zu are right. On the dashed line they "
             "would agree.",
             shown, good);
    struct svg_frame fr = {.h = h, .left = 90, .top = 26, .width = 420, .height = 420};
    fr.x = (struct svg_axis){.log = true, .unit = unit, .label = "measured (median)"};
    svg_axis_fit(&fr.x, lo * 0.9, hi * 1.1); /* no mark on the frame */
    fr.y = fr.x;
    fr.y.label = "predicted, with the interval of one run";
    svg_begin(h, 490, title, desc);
    svg_axes(&fr);
    fprintf(h->f, "<path class=\"same\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", fr.left, fr.top + fr.height,
            fr.left + fr.width, fr.top);
    for (size_t i = 0; i < n; i++) {
        if (!(dot[i].x > 0) || !(dot[i].y > 0)) continue;
        double x = svg_x(&fr, dot[i].x), y = svg_y(&fr, dot[i].y);
        if (dot[i].ylo > 0 && dot[i].yhi > 0)
            fprintf(h->f, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1f\"/>", x, svg_y(&fr, dot[i].ylo),
                    svg_y(&fr, dot[i].yhi));
        snprintf(tip, sizeof tip, "%s: predicted %s, measured %s", dot[i].label,
                 doc_format(a, sizeof a, dot[i].y, unit), doc_format(b, sizeof b, dot[i].x, unit));
        svg_mark(h, dot[i].verdict > 0 ? 2 : dot[i].verdict < 0 ? 1 : 7, x, y, tip);
    }
    svg_mark(h, 2, 540, 60, NULL);
    svg_label(h, 552, 64, "start", "right");
    svg_mark(h, 1, 540, 84, NULL);
    svg_label(h, 552, 88, "start", "wrong");
    svg_end(h);
}

/* ------------------------------------------------------------------ ratios */
static void ratio_row(const struct svg_frame *fr, const struct chart_dot *d, const double *want, double y)
{
    struct html *h = fr->h;
    char tip[240];
    if (want[1] >= want[0])
        fprintf(h->f, "<rect class=\"want\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\"/>", svg_x(fr, want[0]),
                y, fmax(svg_x(fr, want[1]) - svg_x(fr, want[0]), 1.5));
    if (d->ylo > 0 && d->yhi > 0)
        fprintf(h->f, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1f\"/>", svg_x(fr, d->ylo), y + 8, svg_x(fr, d->yhi));
    snprintf(tip, sizeof tip, "%s: simulated is %.3g times the published figure", d->label, d->y);
    svg_mark(h, d->verdict > 0 ? 2 : d->verdict < 0 ? 1 : 7, svg_x(fr, d->y), y + 8, tip);
    fprintf(h->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", fr->left - 8, y + 12);
    html_text_cut(h->f, d->label, 52);
    fputs("</text>\n", h->f);
}

void chart_ratios(struct html *h, const char *title, const struct chart_dot *dot, const double *want, size_t n)
{
    double lo = 0.9, hi = 1.1;
    char desc[200];
    for (size_t i = 0; i < n; i++) {
        lo = least(lo, least(dot[i].y, dot[i].ylo > 0 ? dot[i].ylo : NAN));
        hi = largest(hi, largest(dot[i].y, dot[i].yhi));
        if (want[2 * i + 1] >= want[2 * i]) lo = least(lo, want[2 * i]), hi = largest(hi, want[2 * i + 1]);
    }
    if (!n) return;
    snprintf(desc, sizeof desc,
             "Simulated figure divided by the published one, %zu rows, logarithmic; 1 is agreement, grey is the range "
             "that passes.",
             n);
    struct svg_frame fr = {.h = h, .left = 350, .top = 8, .width = 380, .height = (double)n * 22 + 4};
    fr.x = (struct svg_axis){.log = true, .unit = "1", .label = "simulated / published"};
    svg_axis_fit(&fr.x, fmax(lo, 1e-3), fmin(hi, 1e3));
    fr.y = (struct svg_axis){.lo = 0, .hi = 1, .name = &(const char *){""}, .nnames = 0};
    svg_begin(h, fr.height + 56, title, desc);
    svg_axes(&fr);
    fprintf(h->f, "<path class=\"same\" d=\"M%.1f %.1fv%.1f\"/>\n", svg_x(&fr, 1), fr.top, fr.height);
    for (size_t i = 0; i < n; i++) ratio_row(&fr, &dot[i], &want[2 * i], fr.top + 4 + (double)i * 22);
    for (size_t k = 0; k < 3; k++) {
        static const char *const word[] = {"pass", "fail", "undetermined"};
        static const size_t mark[] = {2, 1, 7};
        svg_mark(h, mark[k], 20 + 70 * (double)k, fr.top + fr.height + 32, NULL);
        svg_label(h, 30 + 70 * (double)k, fr.top + fr.height + 36, "start", word[k]);
    }
    svg_end(h);
}
