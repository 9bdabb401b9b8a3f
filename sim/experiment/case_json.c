/* case_json.c - cases as documents, and comparison with committed verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exp_costs.h"
#include "exp_export.h"

static json_t *published_json(const struct case_row *r)
{
    if (!r->has_published) return json_null();
    if (r->range) return json_pack("[o,o]", exp_json_number(r->lo), exp_json_number(r->hi));
    return exp_json_number(r->lo);
}

static json_t *swings_json(const struct case_row *r)
{
    json_t *a = json_array();
    for (size_t i = 0; i < r->nswings; i++) {
        const struct case_swing *s = &r->swing[i];
        json_array_append_new(a,
                              json_pack("{s:s,s:s,s:s,s:o,s:o}", "key", s->key, "low", s->low, "high", s->high,
                                        "at_low", exp_json_number(s->at_low), "at_high", exp_json_number(s->at_high)));
    }
    return a;
}

static json_t *row_json(const struct case_row *r)
{
    const char *direction = r->direction > 0 ? "higher" : r->direction < 0 ? "lower" : NULL;
    json_t *o = json_object();
    json_object_set_new(o, "name", exp_json_text(r->name));
    json_object_set_new(o, "class", json_string(case_class_name[r->class]));
    json_object_set_new(o, "metric", exp_json_text(r->metric));
    json_object_set_new(o, "published", published_json(r));
    json_object_set_new(o, "direction", exp_json_text(direction));
    json_object_set_new(o, "simulated", exp_json_number(r->sum.mean));
    json_object_set_new(o, "ci",
                        isfinite(r->sum.hi) ? json_pack("[o,o]", exp_json_number(r->sum.lo), exp_json_number(r->sum.hi))
                                            : json_null());
    json_object_set_new(o, "n", json_integer((json_int_t)r->sum.n));
    json_object_set_new(o, "unit", exp_json_text(r->unit));
    json_object_set_new(o, "tolerance", exp_json_number(r->tolerance));
    if (r->verdict != CASE_NONE) json_object_set_new(o, "verdict", json_string(case_verdict_name[r->verdict]));
    if (r->verdict == CASE_PASS && r->finding) json_object_set_new(o, "finding", exp_json_text(r->finding));
    json_object_set_new(o, "flips", exp_json_text(r->flips));
    if (r->nswings) {
        json_object_set_new(o, "sensitivity", swings_json(r));
        json_object_set_new(o, "sensitivity_base", exp_json_number(r->unswung));
    }
    json_object_set_new(o, "reason", exp_json_text(r->reason));
    json_object_set_new(o, "source", exp_json_text(r->source));
    return o;
}

static json_t *variants_json(const struct case_file *c)
{
    json_t *a = json_array();
    for (size_t i = 0; i < c->nvariants; i++)
        if (c->study->result[i])
            json_array_append_new(a, json_pack("{s:o,s:o,s:s}", "name", exp_json_text(c->variant[i].name), "help",
                                               exp_json_text(c->variant[i].help), "run", c->study->result[i]->id));
    return a;
}

/* Of the variants that were run. */
static json_t *costs_json(const struct case_file *c)
{
    const struct wb_config **cfg = calloc(c->nvariants ? c->nvariants : 1, sizeof(struct wb_config *));
    const char **name = calloc(c->nvariants ? c->nvariants : 1, sizeof *name);
    WB_MEMORY(cfg && name, "out of memory for the costs of a case");
    for (size_t i = 0; i < c->nvariants; i++)
        if (c->study->result[i]) cfg[i] = c->variant[i].cfg, name[i] = c->variant[i].name;
    json_t *costs = exp_costs_json(cfg, name, c->nvariants);
    free(cfg);
    free(name);
    return costs;
}

json_t *case_json(struct case_file *const *c, size_t n)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *rows = json_array(), *reported = json_array(), *o = json_object();
        for (size_t k = 0; k < c[i]->nrows; k++)
            json_array_append_new(c[i]->row[k].verdict == CASE_NONE ? reported : rows, row_json(&c[i]->row[k]));
        json_object_set_new(o, "name", exp_json_text(c[i]->name));
        json_object_set_new(o, "title", exp_json_text(c[i]->title));
        json_object_set_new(o, "source", exp_json_text(c[i]->source));
        json_object_set_new(o, "rows", rows);
        json_object_set_new(o, "reported", reported);
        json_object_set_new(o, "variants", variants_json(c[i]));
        json_object_set_new(o, "costs", costs_json(c[i]));
        json_array_append_new(cases, o);
    }
    return json_pack("{s:s,s:o}", "schema", "wakebal.cases/1", "cases", cases);
}

json_t *case_expected_json(struct case_file *const *c, size_t n)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *rows = json_array();
        for (size_t k = 0; k < c[i]->nrows; k++)
            if (c[i]->row[k].verdict != CASE_NONE)
                json_array_append_new(rows, json_pack("{s:o,s:s}", "name", exp_json_text(c[i]->row[k].name), "verdict",
                                                      case_verdict_name[c[i]->row[k].verdict]));
        json_array_append_new(cases, json_pack("{s:o,s:o}", "name", exp_json_text(c[i]->name), "rows", rows));
    }
    return json_pack("{s:s,s:o}", "schema", "wakebal.expected/1", "cases", cases);
}

/* ------------------------------------------------------------------ comparison */
/* The member of a list whose "name" it is. */
static const json_t *by_name(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *s = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (s && !strcmp(s, name)) return json_array_get(list, i);
    }
    return NULL;
}

static int differ(FILE *out, const char *name, const char *row, const char *expected, const char *now)
{
    fprintf(out, "%s: '%s' was %s and is now %s\n", name, row, expected, now);
    return 1;
}

static int compare_case(FILE *out, const struct case_file *c, const json_t *expected)
{
    int n = 0;
    const json_t *rows = json_object_get(expected, "rows");
    for (size_t k = 0; k < c->nrows; k++) {
        const struct case_row *r = &c->row[k];
        if (r->verdict == CASE_NONE) continue;
        const char *was = json_string_value(json_object_get(by_name(rows, r->name), "verdict"));
        const char *now = case_verdict_name[r->verdict];
        if (!was || strcmp(was, now)) n += differ(out, c->name, r->name, was ? was : "not there", now);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(rows, i), "name"));
        const char *was = json_string_value(json_object_get(json_array_get(rows, i), "verdict"));
        bool found = false;
        for (size_t k = 0; name && k < c->nrows; k++)
            found |= !strcmp(c->row[k].name, name) && c->row[k].verdict != CASE_NONE;
        if (!found) n += differ(out, c->name, name ? name : "(no name)", was ? was : "without verdict", "gone");
    }
    return n;
}

int case_compare_expected(struct case_file *const *c, size_t n, const json_t *expected, char **text)
{
    const char *schema = json_string_value(json_object_get(expected, "schema"));
    size_t size;
    int differences = 0;
    *text = NULL;
    if (!schema || (strcmp(schema, "wakebal.expected/1") && strcmp(schema, "wakebal.cases/1"))) return -1;
    FILE *out = open_memstream(text, &size);
    WB_MEMORY(out, "out of memory while verdicts were compared");
    for (size_t i = 0; i < n; i++)
        differences += compare_case(out, c[i], by_name(json_object_get(expected, "cases"), c[i]->name));
    fclose(out);
    return differences;
}
