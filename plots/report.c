/* report.c - which document becomes which section; see report.h. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_inner.h"

static const struct {
    const char *schema;
    enum report_kind kind;
    const char *heading;
} schemas[] = {{"wakebal.result/1", REPORT_RUN, "Run"},
               {"wakebal.results/1", REPORT_RUN, "Run over several points"},
               {"wakebal.study/1", REPORT_STUDY, "Study"},
               {"wakebal.validation/1", REPORT_VALIDATION, "Validation"},
               {"wakebal.cases/1", REPORT_CASES, "Published cases"},
               {"wakebal.manifest/1", REPORT_MANIFEST, "How it was run"}};

static size_t schema_of(const json_t *doc)
{
    const char *s = doc_text(doc, "schema");
    for (size_t i = 0; i < WB_ARRAY_SIZE(schemas); i++)
        if (!strcmp(s, schemas[i].schema)) return i;
    return SIZE_MAX;
}

enum report_kind report_kind_of(const json_t *doc)
{
    size_t i = schema_of(doc);
    return i == SIZE_MAX ? REPORT_UNKNOWN : schemas[i].kind;
}

/* The results in a document: a list of its own, or the document alone. New reference. */
static json_t *results_of(const json_t *doc)
{
    json_t *list = json_object_get(doc, "results");
    return list ? json_incref(list) : json_pack("[O]", doc);
}

static const json_t *costs_of(const json_t *doc, const json_t *results)
{
    const json_t *costs = json_object_get(doc, "costs");
    return costs ? costs : json_object_get(json_array_get(results, 0), "costs");
}

static void results_section(struct html *h, const struct report_input *in, const char *id)
{
    json_t *list = results_of(in->doc);
    const json_t *manifest = json_object_get(in->doc, "manifest");
    if (json_is_false(json_object_get(in->doc, "judged")))
        html_para(
            h, "verdict open",
            "The study is not complete: %zu of %.0f points have results. The same wakebal sweep command continues "
            "it.",
            json_array_size(list), doc_number(in->doc, "points"));
    report_results(h, list, in);
    report_costs(h, costs_of(in->doc, list), id);
    report_repeat(h, in, json_is_object(manifest) ? manifest : NULL);
    json_decref(list);
}

static void section(struct html *h, const struct report_input *in, size_t index, bool several)
{
    char id[32], heading[300];
    size_t s = schema_of(in->doc);
    WB_CHECK(s != SIZE_MAX, "a report of an unknown document");
    snprintf(id, sizeof id, "part%zu", index + 1);
    snprintf(heading, sizeof heading, several ? "%s: %.200s" : "%s", schemas[s].heading, in->name);
    html_heading(h, id, heading);
    snprintf(id, sizeof id, "costs%zu", index + 1);
    switch (schemas[s].kind) {
    case REPORT_RUN:
    case REPORT_STUDY: results_section(h, in, id); break;
    case REPORT_VALIDATION:
        report_validation(h, in);
        report_costs(h, json_object_get(in->doc, "costs"), id);
        report_repeat(h, in, NULL);
        break;
    case REPORT_CASES:
        report_cases(h, in);
        report_repeat(h, in, NULL);
        break;
    default: report_repeat(h, in, in->doc);
    }
}

static void contents(struct html *h, const struct report *r)
{
    if (r->n < 2) return;
    fputs("<nav aria-label=\"Contents\"><ul>", h->f);
    for (size_t i = 0; i < r->n; i++) {
        fprintf(h->f, "<li><a href=\"#part%zu\">%s: ", i + 1, schemas[schema_of(r->input[i].doc)].heading);
        html_text_cut(h->f, r->input[i].name, 60);
        fputs("</a></li>", h->f);
    }
    fputs("</ul></nav>\n", h->f);
}

/* The title of the first document that has one, else its name. */
static const char *title_of(const struct report *r)
{
    if (r->title) return r->title;
    for (size_t i = 0; i < r->n; i++) {
        json_t *list = results_of(r->input[i].doc);
        const char *title = doc_text(json_object_get(json_array_get(list, 0), "run"), "title");
        json_decref(list); /* the document keeps its results */
        if (*title) return title;
    }
    return r->n ? r->input[0].name : "wakebal";
}

int report_write(FILE *to, const struct report *r)
{
    struct html h = {.f = to};
    errno = 0;
    html_head(&h, title_of(r), r->version);
    contents(&h, r);
    for (size_t i = 0; i < r->n; i++) section(&h, &r->input[i], i, r->n > 1);
    html_foot(&h, r->version);
    return fflush(to) || ferror(to) ? -(errno ? errno : EIO) : 0;
}
