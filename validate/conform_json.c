/* conform_json.c - results of conform as JSON (schema wakebal.conform/1). */
#include <stdlib.h>

#include "conform.h"
#include "exp_export.h"

static void put(json_t *o, const char *key, uint64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_text(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, exp_json_text(text));
}

json_t *trace_health_json(const struct trace *t, const struct trace_health *h)
{
    json_t *o = json_object(), *rows = json_object(), *cpus = json_array(), *shapes = json_object();
    static const char *const shape[] = {"ftrace", "trace_cmd", "perf_script", "latency"};
    put(o, "lines", t->lines.all);
    put(o, "events", t->lines.events);
    put(o, "other_lines", t->lines.other);
    put(o, "lost_events", t->lines.lost_events);
    for (size_t i = 0; i < WB_ARRAY_SIZE(shape); i++) put(shapes, shape[i], t->lines.by_shape[i]);
    json_object_set_new(o, "shapes", shapes);
    for (int i = 0; i < TRACE_H_N; i++) put(rows, trace_health_text[i].name, h->count[i]);
    json_object_set_new(o, "checks", rows);
    for (uint32_t c = 0; c < h->ncpus; c++) json_array_append_new(cpus, json_integer((json_int_t)h->per_cpu[c]));
    json_object_set_new(o, "events_per_cpu", cpus);
    return o;
}

static json_t *tally_json(const struct conform_tally *t)
{
    json_t *o = json_object();
    put(o, "known", t->known);
    put(o, "known_agree", t->known_agree);
    put(o, "derived", t->derived);
    put(o, "derived_agree", t->derived_agree);
    put(o, "derived_possible", t->derived_possible);
    return o;
}

static json_t *case_json(const struct conform_result *r, const struct conform_case *k)
{
    json_t *o = json_object(), *facts = json_array();
    json_object_set_new(o, "time", json_real((double)k->ns * 1e-9));
    put(o, "line", k->line);
    put_text(o, "section", r->trace->section[k->section].name);
    put_text(o, "waker", k->waker_comm);
    put(o, "waker_pid", (uint64_t)k->waker);
    put_text(o, "wakee", k->wakee_comm);
    put(o, "wakee_pid", (uint64_t)k->wakee);
    put(o, "this_cpu", k->this_cpu);
    put(o, "prev_cpu", k->prev_cpu);
    put(o, "recorded", k->chosen);
    put(o, "model", k->model);
    put_text(o, "rule", k->rule_text);
    put_text(o, "kind", conform_kind_name[k->kind]);
    for (int f = 0; f < CONFORM_FACTS; f++)
        if (k->facts >> f & 1) json_array_append_new(facts, json_string(conform_fact_text[f].name));
    json_object_set_new(o, "hangs_on", facts);
    json_object_set_new(o, "possible", json_boolean(k->possible));
    put_text(o, "state", k->state);
    return o;
}

static json_t *domains_json(const struct conform_result *r)
{
    static const char *const idle[] = {"idle", "busy", "newidle"};
    json_t *list = json_array();
    for (size_t i = 0; i < r->ndomains; i++) {
        const struct conform_domain *d = &r->domain[i];
        json_t *o = json_object();
        put_text(o, "name", d->name);
        for (int k = 0; k < 3; k++) {
            json_t *g = json_object();
            put(g, "calls", d->calls[k]);
            put(g, "balanced", d->balanced[k]);
            put(g, "failed", d->failed[k]);
            put(g, "gained", d->gained[k]);
            json_object_set_new(o, idle[k], g);
        }
        put(o, "pushed", d->pushed);
        put(o, "moves_recorded", d->moved_seen);
        put(o, "wake_remote", d->wake_remote);
        put(o, "move_affine", d->move_affine);
        put(o, "model_move_affine", d->model_affine);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *levels_json(const struct conform_result *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->nlevels; i++) {
        json_t *o = json_object();
        put_text(o, "recorded", r->level[i].recorded);
        put_text(o, "model", r->level[i].model);
        put_text(o, "differs", r->level[i].differs);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *newidle_json(const struct conform_newidle *n)
{
    json_t *o = json_object();
    put(o, "idle", n->idle);
    put(o, "idle_nobody_waits", n->idle_quiet);
    put(o, "idle_agree", n->idle_agree);
    put(o, "pulls", n->pulls);
    put(o, "same_cpu", n->same_cpu);
    put(o, "same_level", n->same_level);
    put(o, "other_level", n->other_level);
    put(o, "nothing", n->nothing);
    return o;
}

static json_t *confusion_json(const struct conform_result *r)
{
    json_t *o = json_object();
    for (int i = 0; i < CONFORM_PLACES; i++) {
        json_t *row = json_object();
        for (int k = 0; k < CONFORM_PLACES; k++) put(row, conform_place_name[k], r->confusion[i][k]);
        json_object_set_new(o, conform_place_name[i], row);
    }
    return o;
}

static void agreement(json_t *o, const struct conform_result *r)
{
    json_t *kinds = json_object(), *counts = json_object(), *facts = json_object(), *rules = json_array();
    json_object_set_new(o, "wakeups_scored", tally_json(&r->total));
    json_object_set_new(o, "agreement", json_real(conform_share(&r->total)));
    for (int k = 0; k < CONFORM_KINDS; k++) put(counts, conform_kind_name[k], r->count[k]);
    for (int k = 0; k < CONFORM_SCORED; k++)
        json_object_set_new(kinds, conform_kind_name[k], tally_json(&r->by_kind[k]));
    for (int f = 0; f < CONFORM_FACTS; f++) {
        json_t *row = json_object();
        put(row, "decides", r->by_fact[f]);
        put(row, "agree", r->by_fact_agree[f]);
        json_object_set_new(facts, conform_fact_text[f].name, row);
    }
    for (size_t i = 0; i < r->nrules; i++) {
        json_t *row = tally_json(&r->rule[i].tally);
        put_text(row, "rule", r->rule[i].rule);
        json_array_append_new(rules, row);
    }
    json_object_set_new(o, "counts", counts);
    json_object_set_new(o, "by_kind", kinds);
    json_object_set_new(o, "by_fact", facts);
    json_object_set_new(o, "by_rule", rules);
    json_object_set_new(o, "confusion", confusion_json(r));
    json_object_set_new(o, "forks", tally_json(&r->fork));
}

json_t *conform_json(const struct conform_result *r)
{
    json_t *o = json_object(), *cases = json_array(), *moves = json_object();
    json_object_set_new(o, "schema", json_string("wakebal.conform/1"));
    put_text(o, "machine", r->machine);
    json_object_set_new(o, "machine_assumed", json_boolean(r->machine_assumed));
    json_object_set_new(o, "seem_idle", json_integer(r->seem_idle));
    json_object_set_new(o, "kernel_near", json_boolean(r->kernel_near));
    put_text(o, "kernel", r->kernel);
    put(o, "cpus", r->ncpus);
    put(o, "wakeups", r->wakeups);
    put(o, "repaired", r->repaired);
    agreement(o, r);
    for (size_t i = 0; i < r->ncases; i++) json_array_append_new(cases, case_json(r, &r->cases[i]));
    json_object_set_new(o, "disagreements", cases);
    put(moves, "newidle", r->moves_newidle);
    put(moves, "softirq", r->moves_softirq);
    put(moves, "stopper", r->moves_stopper);
    put(moves, "other", r->moves_other);
    json_object_set_new(o, "moves", moves);
    json_object_set_new(o, "newidle", newidle_json(&r->newidle));
    json_object_set_new(o, "domains", domains_json(r));
    json_object_set_new(o, "levels", levels_json(r));
    json_object_set_new(o, "health", trace_health_json(r->trace, &r->health));
    return o;
}
