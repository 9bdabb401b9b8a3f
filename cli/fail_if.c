#include "fail_if.h"

#include <stdlib.h>
#include <string.h>

#include "exp_format.h"

void fail_if_free(struct fail_if *f)
{
    figure_expr_free(f->figure);
    free(f->metric);
    free(f->value);
}

static char *trimmed(const char *from, const char *to)
{
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    char *s = strndup(from, (size_t)(to - from));
    WB_MEMORY(s, "out of memory for --fail-if");
    return s;
}

/* "METRIC worse than FILE by 3%" or "FIGURES < VALUE". NULL when fine, else what is wrong. */
const char *fail_if_parse(const char *text, struct fail_if *f)
{
    const char *worse = strstr(text, " worse than "), *by = NULL, *why;
    size_t at;
    *f = (struct fail_if){0};
    if (worse) {
        f->op = 'w';
        for (const char *p = strstr(worse, " by "); p; p = strstr(p + 1, " by ")) by = p;
        if (by && (!exp_parse_value(by + 4, strlen(by + 4), "1", &f->by) || f->by < 0))
            return "after 'by' a ratio is needed, for example 3%";
        f->metric = trimmed(text, worse);
        f->value = trimmed(worse + 12, by ? by : text + strlen(text));
        return *f->metric && *f->value ? NULL : "write: METRIC worse than FILE by 3%";
    }
    const char *op = strpbrk(text, "<>");
    if (!op) return "write: METRIC < VALUE, METRIC > VALUE, or METRIC worse than FILE by 3%";
    f->op = *op;
    f->metric = trimmed(text, op);
    f->value = trimmed(op + 1 + (op[1] == '='), text + strlen(text));
    f->figure = figure_expr_parse(f->metric, &at, &why);
    return f->figure ? NULL : why;
}

/* The result with this label in a result file: the only one when there is one. */
static const json_t *base_result(const json_t *doc, const char *label)
{
    const json_t *list = json_object_get(doc, "results");
    if (!list) return doc;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *s = json_string_value(json_object_get(json_array_get(list, i), "label"));
        if (s && !strcmp(s, label)) return json_array_get(list, i);
    }
    return json_array_size(list) == 1 ? json_array_get(list, 0) : NULL;
}

static const json_t *base_metric(const json_t *result, const char *name, const char *workload)
{
    const json_t *list = json_object_get(result, "metrics");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i);
        const char *n = json_string_value(json_object_get(m, "name")),
                   *w = json_string_value(json_object_get(m, "workload"));
        if (n && !strcmp(n, name) && (w && workload ? !strcmp(w, workload) : !w && !workload)) return m;
    }
    return NULL;
}

const json_t *fail_if_metric(const json_t *doc, const char *label, const char *name, const char *workload)
{
    return base_metric(base_result(doc, label), name, workload);
}
