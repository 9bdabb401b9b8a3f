/* plot_panel.c - panels side by side, with one legend over all of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

/* Size of a character, in the units of the picture. */
static double column_of(const struct plot_input *in)
{
    return in->o->format == PLOT_TERMINAL ? 1 : 8.5;
}
static double line_of(const struct plot_input *in)
{
    return in->o->format == PLOT_TERMINAL ? 1 : 19;
}
static double width_of(const struct plot_input *in)
{
    return in->o->format == PLOT_TERMINAL ? (double)plot_columns(in->o) : in->width;
}
static double height_of(const struct plot_input *in)
{
    return in->o->format == PLOT_TERMINAL ? in->o->rows ? in->o->rows : in->rows : in->height;
}

struct plot_panels plot_panels_of(struct plot_input *in, size_t n)
{
    struct plot_panels p = {.n = n, .columns = n <= 1 ? 1 : n <= 4 ? 2 : 3, .left = 11, .right = 3};
    p.rows = ((unsigned)n + p.columns - 1) / p.columns;
    in->height = p.rows == 1 ? 560 : 170 + 300 * p.rows;
    in->rows = p.rows == 1 ? 30 : 8 + 18 * p.rows;
    return p;
}

struct place {
    double left, right, bottom, top; /* shares of the screen */
};

static void put_place(FILE *f, struct place p)
{
    fprintf(f,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset bmargin at screen %.4f\n"
            "set tmargin at screen %.4f\n",
            p.left, p.right, p.bottom, p.top);
}

static struct place place_of(const struct plot_input *in, const struct plot_panels *p, size_t i)
{
    double c = column_of(in) / width_of(in), l = line_of(in) / height_of(in);
    struct place all = {p->left * c, 1 - p->right * c, 4.2 * l,
                        1 - (2.4 + p->key_rows * 1.1 + (p->n > 1 ? 1.3 : 0)) * l};
    double gap_x = 5.5 * c, gap_y = 4.2 * l, columns = p->columns, rows = p->rows;
    double w = (all.right - all.left - (columns - 1) * gap_x) / columns,
           h = (all.top - all.bottom - (rows - 1) * gap_y) / rows;
    size_t column = i % p->columns, row = i / p->columns;
    double left = all.left + (double)column * (w + gap_x), top = all.top - (double)row * (h + gap_y);
    return (struct place){left, left + w, top - h, top};
}

void plot_put_panel_part(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t i, double from,
                         double until)
{
    struct place all = place_of(in, p, i), part = all;
    part.bottom = all.bottom + from * (all.top - all.bottom);
    part.top = all.bottom + until * (all.top - all.bottom);
    put_place(f, part);
}

void plot_put_panel(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t i,
                    const struct plot_axis *facet, const char *x_name, const char *y_name)
{
    bool lowest = i + p->columns >= p->n, first = i % p->columns == 0;
    if (i == 1) fputs("unset label 1\nunset label 2\nunset colorbox\n", f);
    put_place(f, place_of(in, p, i));
    if (p->n > 1) {
        char *name = plot_value_name(facet, i);
        fputs("set title ", f);
        plot_put_quoted(f, name);
        fputs(" noenhanced offset 0,-0.5\n", f);
        free(name);
    }
    fputs("set xlabel ", f);
    plot_put_quoted(f, lowest ? x_name : "");
    fputs(" noenhanced\n", f);
    plot_put_y_name(f, in, first ? y_name : "");
    fputc('\n', f);
}

unsigned plot_key_rows(const struct plot_input *in, char *const *text, size_t n, size_t *columns)
{
    size_t longest = 1;
    for (size_t i = 0; i < n; i++) longest = WB_MAX(longest, plot_text_columns(text[i]));
    size_t room = (size_t)(width_of(in) / column_of(in)) - 12;
    *columns = WB_MAX(room / (longest + 9), (size_t)1);
    *columns = WB_MIN(*columns, n ? n : 1);
    return (unsigned)((n + *columns - 1) / *columns);
}

void plot_put_key(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t columns)
{
    if (!p->key_rows) {
        fputs("unset key\n", f);
        return;
    }
    fprintf(f,
            "set key at screen 0.5,screen %.4f center top horizontal Left reverse noenhanced samplen 3 maxcols %zu\n",
            1 - 1.9 * line_of(in) / height_of(in), columns);
}

/* gnuplot fits a legend to the width of its panel: this one is as wide as the picture and has nothing but the
 * legend. */
void plot_put_key_panel(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t columns,
                        void (*entries)(FILE *f, const struct plot_input *in))
{
    double l = line_of(in) / height_of(in);
    put_place(f, (struct place){0.02, 0.98, 1 - (2.4 + p->key_rows * 1.1) * l, 1 - 1.6 * l});
    fprintf(f,
            "unset border\nunset tics\nset xrange [1:2]\nset yrange [1:2]\n"
            "set key center center horizontal Left reverse noenhanced samplen 3 maxcols %zu\nplot ",
            columns);
    entries(f, in);
    fputs("\nunset key\nunset label 1\nunset label 2\nset border 3\nset xtics nomirror\nset ytics nomirror\n", f);
}

char *plot_value_name(const struct plot_axis *a, size_t i)
{
    const char *v = a->value[i].text;
    bool bare = a->nkeys > 1 || (isalpha((unsigned char)*v) && strcmp(v, "true") && strcmp(v, "false"));
    return bare ? plot_say("%s", v) : plot_say("%s=%s", a->name, v);
}
