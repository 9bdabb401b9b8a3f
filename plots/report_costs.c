/* report_costs.c - where every cost comes from, what a manifest says, and how to do it again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_inner.h"

#define STATUSES 5
static const char *const status[STATUSES] = {"measured", "quoted", "derived", "assumed", "user"};

/* "assumed" costs are the ones to doubt. */
static const char *status_class(const char *s)
{
    return !strcmp(s, "assumed") ? "open" : !strcmp(s, "measured") || !strcmp(s, "quoted") ? "good" : "";
}

/* The configurations that hold a row: all of few, else how many. */
static void cell_in(struct html *h, const json_t *in)
{
    size_t n = json_array_size(in);
    char text[200] = "all";
    if (n) text[0] = '\0';
    for (size_t i = 0; i < n && i < 4; i++) {
        size_t used = strlen(text);
        const char *name = json_string_value(json_array_get(in, i));
        snprintf(text + used, sizeof text - used, "%s%.40s", i ? ", " : "", name ? name : "?");
    }
    if (n > 4) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " and %zu more", n - 4);
    }
    html_cell(h, text);
}

static void summary(struct html *h, const json_t *costs)
{
    size_t count[STATUSES] = {0}, n = json_array_size(costs);
    char text[300] = "";
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < STATUSES; k++)
            count[k] += !strcmp(doc_text(json_array_get(costs, i), "status"), status[k]);
    for (size_t k = 0; k < STATUSES; k++) {
        size_t used = strlen(text);
        if (count[k]) snprintf(text + used, sizeof text - used, "%s%zu %s", *text ? ", " : "", count[k], status[k]);
    }
    html_para(h, "",
              "%zu costs: %s. Measured: on the host that it describes. Quoted: from the source named. Derived: by "
              "arithmetic from such. Assumed: nobody has checked; the plausible range is given where it is known.",
              n, text);
}

void report_costs(struct html *h, const json_t *costs, const char *id)
{
    size_t n = json_array_size(costs);
    bool several = false;
    if (id) html_heading(h, id, "Where the costs come from");
    if (!n) {
        html_para(h, "dim",
                  "The document does not carry its costs. Give the scenario to wakebal report in its place, or run "
                  "it again with this version.");
        return;
    }
    for (size_t i = 0; i < n; i++) several |= json_object_get(json_array_get(costs, i), "in") != NULL;
    summary(h, costs);
    html_fold_begin(h, "All costs with value, status, plausible range and source");
    html_table_begin(h, "Costs",
                     several ? "key|value|status|range|source|set by|in" : "key|value|status|range|source|set by");
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(costs, i);
        const char *s = doc_text(o, "status");
        html_row_begin(h, "");
        html_cell(h, doc_text(o, "key"));
        html_cell(h, doc_text(o, "value"));
        html_cell_verdict(h, *s ? s : "-", status_class(s));
        html_cell(h, *doc_text(o, "range") ? doc_text(o, "range") : "-");
        html_cell(h, *doc_text(o, "source") ? doc_text(o, "source") : "-");
        html_cell(h, doc_text(o, "from"));
        if (several) cell_in(h, json_object_get(o, "in"));
        html_row_end(h);
    }
    html_table_end(h);
    html_fold_end(h);
}

/* ------------------------------------------------------------------ how to repeat */
/* A word as a shell takes it. */
static void put_shell_word(FILE *f, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        html_text(f, word);
        return;
    }
    html_text(f, "'");
    for (const char *p = word; *p;) {
        size_t n = strcspn(p, "'");
        char *part = strndup(p, n);
        WB_MEMORY(part, "out of memory for the text of a report");
        html_text(f, part);
        free(part);
        p += n;
        if (*p) {
            html_text(f, "'\\''");
            p++;
        }
    }
    html_text(f, "'");
}

static void command_of(struct html *h, const json_t *manifest)
{
    const json_t *command = json_object_get(manifest, "command");
    fputs("<pre>wakebal", h->f);
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        fputc(' ', h->f);
        put_shell_word(h->f, word ? word : "");
    }
    fputs("</pre>\n", h->f);
}

void report_manifest(struct html *h, const json_t *manifest)
{
    const json_t *files = json_object_get(manifest, "files");
    html_facts_begin(h);
    html_fact(h, "Model", "%s", doc_text(json_object_get(manifest, "tool"), "model"));
    html_fact(h, "Started", "%s", doc_text(manifest, "started"));
    html_facts_end(h);
    html_table_begin(h, "Files that were read", "file|SHA-256");
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *o = json_array_get(files, i);
        html_row_begin(h, "");
        html_cell(h, doc_text(o, "name"));
        html_cell(h, doc_text(o, "sha256"));
        html_row_end(h);
    }
    html_table_end(h);
}

void report_repeat(struct html *h, const struct report_input *in, const json_t *manifest)
{
    html_heading(h, NULL, "How to repeat it");
    if (manifest) {
        command_of(h, manifest);
        html_para(h, "", "Or, with the very files of then: wakebal rerun %s --check", in->name);
        report_manifest(h, manifest);
        return;
    }
    if (in->command) {
        fputs("<pre>", h->f);
        html_text(h->f, in->command);
        fputs("</pre>\n", h->f);
    }
    html_para(h, "dim", "Same scenario, seed and version of wakebal give the same figures to the last digit.");
}
