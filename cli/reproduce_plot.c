#include "reproduce_plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "exp_export.h"
#include "exp_format.h"
#include "output.h"

int plot_make_folder(const char *folder)
{
    if (!mkdir(folder, 0777) || errno == EEXIST) return EXIT_FINE;
    char *name = exp_text_terminal(folder, 200);
    fprintf(stderr, "wakebal: cannot make the folder '%s': %s\n", name, strerror(errno));
    free(name);
    return EXIT_OUTPUT;
}

int plot_and_tell(const json_t *doc, const struct plot_options *p, const char *verb)
{
    static const int code[] = {[PLOT_DONE] = EXIT_FINE,
                               [PLOT_NOTHING] = EXIT_INVALID,
                               [PLOT_NO_GNUPLOT] = EXIT_TOOL,
                               [PLOT_REFUSED] = EXIT_TOOL,
                               [PLOT_NO_WRITE] = EXIT_OUTPUT};
    char *why;
    enum plot_status st = plot_draw(doc, p, &why);
    if (st != PLOT_DONE) {
        char *text = exp_text_terminal(why, 0);
        fprintf(stderr, "%s: error: %s   [%s]\n", verb, text, st == PLOT_NO_GNUPLOT ? "E701" : "E702");
        free(text);
    }
    free(why);
    return code[st];
}

/* All variants that were run, as a sweep; their names are the labels. */
static json_t *windows_document(const struct case_file *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->nvariants; i++)
        if (c->study->result[i]) json_array_append_new(list, exp_json_result(c->study->result[i], false));
    return json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", list);
}

/* What a variant is, and which one where several are said to be the same. Malloc'd. */
static char *name_variant(const struct case_file *c, size_t i)
{
    const struct case_variant *v = &c->variant[i];
    bool alone = true;
    for (size_t k = 0; k < c->nvariants; k++) alone &= k == i || strcmp(c->variant[k].help, v->help);
    char *text;
    int n = alone ? asprintf(&text, "%s", v->help) : asprintf(&text, "%s: %s", v->name, v->help);
    WB_MEMORY(n >= 0, "out of memory for a label");
    return text;
}

/* The deciding figure of each variant only, divided by the number of copies where the case says so. */
static json_t *bar_of(const struct case_file *c, size_t i)
{
    const struct exp_result *r = c->study->result[i];
    const struct exp_metric *m = r && r->primary ? exp_result_find(r, r->primary_instance, r->primary) : NULL;
    const struct case_variant *v = &c->variant[i];
    if (!m) return NULL;
    double by = 1 / (double)v->per;
    char label[256], *variant = name_variant(c, i);
    snprintf(label, sizeof label, v->per == 1 ? "%s" : "%s, per copy", variant);
    free(variant);
    json_t *metric = json_pack("{s:o,s:s,s:o,s:o,s:[o,o]}", "name", exp_json_text(m->name), "workload", "bars", "unit",
                               exp_json_text(m->unit), "mean", exp_json_number(m->sum.mean * by), "ci",
                               exp_json_number(m->sum.lo * by), exp_json_number(m->sum.hi * by));
    json_object_set_new(metric, "n", json_integer((json_int_t)m->sum.n));
    json_object_set_new(metric, "confidence", exp_json_number(r->confidence));
    return json_pack("{s:o,s:{s:s,s:o,s:o},s:[o]}", "label", exp_json_text(label), "run", "id", r->id, "title",
                     exp_json_text(c->title), "metric", exp_json_text(m->name), "metrics", metric);
}

static json_t *bars_document(const struct case_file *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->nvariants; i++) {
        json_t *bar = bar_of(c, i);
        if (bar) json_array_append_new(list, bar);
    }
    return json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", list);
}

/* Variants for the picture over time, and what the legend calls them (malloc'd). */
static size_t choose_windows(const struct case_file *c, const char **only, char **name, size_t most)
{
    const struct wb_config *cfg = wb_scenario_config(c->scenario);
    size_t n = 0, asked = wb_cfg_has(cfg, "windows") ? wb_cfg_count(cfg, "windows") : 0;
    for (size_t k = 0; k < asked && n < most; k++)
        for (size_t i = 0; i < c->nvariants; i++)
            if (!strcmp(c->variant[i].name, wb_cfg_str_at(cfg, "windows", k)))
                only[n] = c->variant[i].name, name[n++] = name_variant(c, i);
    for (size_t i = 0; !asked && i < c->nvariants && n < WB_MIN(most, (size_t)2); i++)
        if (c->study->result[i]) only[n] = c->variant[i].name, name[n++] = name_variant(c, i);
    return n;
}

static int draw_both(const json_t *doc, const struct plot_options *as, const struct case_file *c, const char *folder,
                     const struct cli_options *o)
{
    char base[4096], command[256];
    struct plot_options own = *as, *p = &own; /* it points to texts of ours */
    snprintf(base, sizeof base, "%s/%s-%s", folder, c->name, plot_kind_name[p->kind]);
    snprintf(command, sizeof command, "wakebal reproduce %s --plot %s", c->name, folder);
    p->base = base;
    p->command = command;
    p->format = PLOT_PNG;
    int rc = plot_and_tell(doc, p, "wakebal reproduce");
    if (rc) return rc;
    fflush(stdout);
    if (!o->quiet) out_line(stderr, "Picture: %s.png (with .gp and .dat)", base);
    if (o->quiet) return EXIT_FINE;
    p->base = NULL;
    p->format = PLOT_TERMINAL;
    p->colour = cli_color(o, 1);
    p->unicode = cli_unicode(o);
    p->terminal = stdout;
    return plot_and_tell(doc, p, "wakebal reproduce");
}

int reproduce_plot(const struct case_file *c, const char *folder, const struct cli_options *o)
{
    const char *only[PLOT_SERIES_MAX];
    char *name[PLOT_SERIES_MAX];
    struct plot_options w = {.kind = PLOT_WINDOWS, .title = c->title, .only = only, .name = (const char *const *)name};
    struct plot_options b = {.kind = PLOT_BARS, .title = c->title};
    int rc = plot_make_folder(folder);
    if (rc) return rc;
    w.nonly = choose_windows(c, only, name, PLOT_SERIES_MAX);
    json_t *doc = windows_document(c), *bars = bars_document(c);
    rc = draw_both(doc, &w, c, folder, o);
    int second = draw_both(bars, &b, c, folder, o);
    json_decref(doc);
    json_decref(bars);
    for (size_t i = 0; i < w.nonly; i++) free(name[i]);
    return rc ? rc : second;
}
