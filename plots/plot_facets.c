/* plot_facets.c - small multiples of kinds that draw a curve or a row a result: a panel for each value of --facets. */
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

/* Curves that a coordinate tells apart are called by it; a single one a panel needs no name. */
static void name_curves(struct plot_facets *fa)
{
    if (!fa->axes.series.nkeys) return;
    fa->name = plot_need(calloc(fa->axes.series.n, sizeof *fa->name));
    for (size_t i = 0; i < fa->axes.series.n; i++) fa->name[i] = plot_value_name(&fa->axes.series, i);
}

struct plot_facets *plot_facets_read(struct plot_input *in, size_t most_series)
{
    struct plot_facets *fa = plot_need(calloc(1, sizeof *fa));
    if (!plot_axes_read_facets(in, &fa->axes, most_series)) {
        plot_facets_free(fa);
        return NULL;
    }
    name_curves(fa);
    fa->panels = plot_panels_of(in, fa->axes.facet.n);
    in->panelled = true;
    return fa;
}

void plot_facets_free(struct plot_facets *fa)
{
    if (!fa) return;
    for (size_t i = 0; fa->name && i < fa->axes.series.n; i++) free(fa->name[i]);
    free(fa->name);
    plot_axes_free(&fa->axes);
    free(fa);
}

void plot_facets_entries(FILE *f, const struct plot_facets *fa)
{
    for (size_t s = 0; s < fa->axes.series.n; s++) {
        fprintf(f, "%sNaN with linespoints ls %zu title ", s ? ", " : "", s + 1);
        plot_put_quoted(f, fa->name[s]);
    }
}

void plot_facets_begin(FILE *f, const struct plot_input *in, const struct plot_facets *fa,
                       void (*entries)(FILE *f, const struct plot_input *in))
{
    fputs("set multiplot\nunset key\n", f);
    if (fa->panels.key_rows) plot_put_key_panel(f, in, &fa->panels, fa->key_columns, entries);
}

void plot_facets_curves(FILE *f, const struct plot_input *in, const struct plot_facets *fa, size_t panel,
                        const char *column)
{
    bool points = in->o->format != PLOT_TERMINAL, first = true; /* they tell greys apart */
    fputs("plot ", f);
    for (size_t s = 0; s < fa->axes.series.n; s++)
        for (size_t i = 0; i < in->n; i++) {
            if (fa->axes.series.place[i] != s || fa->axes.facet.place[i] != panel) continue;
            fputs(first ? "" : ", \\\n     ", f);
            plot_put_quoted(f, in->dat);
            fprintf(f, " index %zu using 1:%s with %s ls %zu%s notitle", i, column, points ? "linespoints" : "lines",
                    s + 1, points ? " pi 10" : "");
            first = false;
        }
    fputc('\n', f);
}
