/* report_svg.c - axes and marks of inline pictures; see report_inner.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_inner.h"

void svg_begin(struct html *h, double height, const char *title, const char *desc)
{
    unsigned id = ++h->ids;
    fputs("<figure><figcaption>", h->f);
    html_text(h->f, title);
    fprintf(h->f,
            "</figcaption><svg viewBox=\"0 0 %g %g\" role=\"img\" aria-labelledby=\"p%ut p%ud\">"
            "<title id=\"p%ut\">",
            SVG_WIDTH, height, id, id, id);
    html_text(h->f, title);
    fprintf(h->f, "</title><desc id=\"p%ud\">", id);
    html_text(h->f, desc);
    fputs("</desc>\n", h->f);
}

void svg_end(struct html *h)
{
    fputs("</svg></figure>\n", h->f);
}

void svg_label(struct html *h, double x, double y, const char *anchor, const char *text)
{
    fprintf(h->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_text_cut(h->f, text, 60);
    fputs("</text>\n", h->f);
}

void svg_tip(struct html *h, const char *text)
{
    fputs("<title>", h->f);
    html_text(h->f, text);
    fputs("</title>", h->f);
}

/* ------------------------------------------------------------------ scales */
static double place(const struct svg_axis *a, double v)
{
    if (a->log) return (log10(fmax(v, a->lo)) - log10(a->lo)) / (log10(a->hi) - log10(a->lo));
    return (v - a->lo) / (a->hi - a->lo);
}

double svg_x(const struct svg_frame *fr, double v)
{
    return fr->left + fr->width * fmin(fmax(place(&fr->x, v), 0), 1);
}

double svg_y(const struct svg_frame *fr, double v)
{
    return fr->top + fr->height * (1 - fmin(fmax(place(&fr->y, v), 0), 1));
}

/* 1, 2 or 5 times a power of ten, so that about so many ticks fit. */
static double step_of(double span, unsigned ticks)
{
    double about = span / (ticks ? ticks : 5), p = pow(10, floor(log10(about))), f = about / p;
    return p * (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10);
}

void svg_axis_fit(struct svg_axis *a, double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi)) lo = a->log ? 1 : 0, hi = a->log ? 10 : 1;
    if (a->log) {
        static const double part[] = {1, 2, 5, 10};
        double p = pow(10, floor(log10(lo))), q = pow(10, floor(log10(hi)));
        a->lo = p;
        for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++)
            if (p * part[i] <= lo) a->lo = p * part[i];
        a->hi = q * 10;
        for (size_t i = WB_ARRAY_SIZE(part); i-- > 0;)
            if (q * part[i] >= hi) a->hi = q * part[i];
        if (a->hi <= a->lo) a->hi = a->lo * 2;
        return;
    }
    if (hi <= lo) hi = lo + (lo != 0 ? fabs(lo) : 1);
    double step = step_of(hi - lo, a->ticks);
    a->lo = floor(lo / step) * step;
    a->hi = ceil(hi / step - 1e-9) * step;
}

/* ------------------------------------------------------------------ axes */
static void tick(const struct svg_frame *fr, bool vertical, double v, const char *text)
{
    double at = vertical ? svg_y(fr, v) : svg_x(fr, v);
    if (vertical) {
        fprintf(fr->h->f, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>", fr->left, at, fr->width);
        svg_label(fr->h, fr->left - 6, at + 4, "end", text);
    } else {
        fprintf(fr->h->f, "<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>", at, fr->top, fr->height);
        svg_label(fr->h, at, fr->top + fr->height + 16, "middle", text);
    }
}

static void tick_value(const struct svg_frame *fr, bool vertical, double v)
{
    char text[64];
    const struct svg_axis *a = vertical ? &fr->y : &fr->x;
    if (fabs(v) < 1e-9 * fabs(a->hi))
        snprintf(text, sizeof text, "0");
    else if (a->unit && !strcmp(a->unit, "1/s") && fabs(v) >= 1e4) /* few digits beside an axis */
        snprintf(text, sizeof text, "%.3g %s/s", v / (fabs(v) >= 1e6 ? 1e6 : 1e3), fabs(v) >= 1e6 ? "M" : "k");
    else
        doc_format(text, sizeof text, v, a->unit);
    tick(fr, vertical, v, text);
}

static void log_ticks(const struct svg_frame *fr, bool vertical)
{
    const struct svg_axis *a = vertical ? &fr->y : &fr->x;
    double decades = log10(a->hi / a->lo);
    static const double part[] = {1, 2, 5};
    int every = decades > 8 ? (int)ceil(decades / 8) : 1, last = (int)ceil(log10(a->hi));
    for (int e = (int)floor(log10(a->lo)); e <= last; e += every)
        for (size_t i = 0; i < (decades > 2.5 ? 1 : WB_ARRAY_SIZE(part)); i++) {
            double v = part[i] * pow(10, e);
            if (v >= a->lo * 0.999 && v <= a->hi * 1.001) tick_value(fr, vertical, v);
        }
}

static void ticks(const struct svg_frame *fr, bool vertical)
{
    const struct svg_axis *a = vertical ? &fr->y : &fr->x;
    if (a->name) {
        for (size_t i = 0; i < a->nnames; i++)
            if (a->nnames <= 12 || i % (a->nnames / 12 + 1) == 0) tick(fr, vertical, (double)i, a->name[i]);
        return;
    }
    if (a->log) {
        log_ticks(fr, vertical);
        return;
    }
    double step = step_of(a->hi - a->lo, a->ticks);
    for (int i = 0; a->lo + i * step <= a->hi + step * 1e-6; i++) tick_value(fr, vertical, a->lo + i * step);
}

void svg_axes(const struct svg_frame *fr)
{
    ticks(fr, false);
    ticks(fr, true);
    fprintf(fr->h->f, "<path class=\"axis\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", fr->left, fr->top, fr->height, fr->width);
    if (fr->x.label) svg_label(fr->h, fr->left + fr->width / 2, fr->top + fr->height + 36, "middle", fr->x.label);
    if (fr->y.label) svg_label(fr->h, 4, fr->top - 10, "start", fr->y.label);
}

void svg_mark(struct html *h, size_t series, double x, double y, const char *tip)
{
    static const char *const shape[] = {"m-4-4h8v8h-8z",   "m0-5l5 9h-10z",  "m0-5l5 5l-5 5l-5-5z",    "m0 5l5-9h-10z",
                                        "m-5-2h10v4h-10z", "m-2-5h4v10h-4z", "m-5-5l10 10m0-10l-10 10"};
    fputs("<g>", h->f);
    if (tip) svg_tip(h, tip);
    if (!series)
        fprintf(h->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"var(--s0)\"/></g>\n", x, y);
    else
        fprintf(h->f, "<path d=\"M%.1f %.1f%s\" fill=\"var(--s%zu)\" stroke=\"var(--s%zu)\"/></g>\n", x, y,
                shape[(series - 1) % WB_ARRAY_SIZE(shape)], series % 8, series % 8);
}
