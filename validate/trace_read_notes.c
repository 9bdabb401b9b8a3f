/* trace_read_notes.c - "###" lines of the guest lab: kernel, features, topology, sections. */
#include "trace_read.h"

#include <stdlib.h>
#include <string.h>

/* The first word of *s, which moves behind it and the blanks after it. */
static struct trace_span word(struct trace_span *s)
{
    while (s->at < s->end && *s->at == ' ') s->at++;
    struct trace_span w = {s->at, s->at};
    while (w.end < s->end && *w.end != ' ') w.end++;
    s->at = w.end;
    while (s->at < s->end && *s->at == ' ') s->at++;
    return w;
}

static void copy(char *to, size_t n, struct trace_span s)
{
    size_t len = WB_MIN((size_t)(s.end - s.at), n - 1);
    memcpy(to, s.at, len);
    to[len] = 0;
}

bool trace_room_for_place(struct trace *t, uint32_t cpu)
{
    if (cpu < t->nplaces) return true;
    struct trace_place *more = realloc(t->place, ((size_t)cpu + 1) * sizeof *more);
    if (!more) return false;
    memset(more + t->nplaces, 0, ((size_t)cpu + 1 - t->nplaces) * sizeof *more);
    t->place = more;
    t->nplaces = cpu + 1;
    return true;
}

static bool is_place(struct trace_span w)
{
    return trace_span_is(w, "core") || trace_span_is(w, "pkg") || trace_span_is(w, "llc") || trace_span_is(w, "node");
}

/* "cpu3 core 2-3 pkg 0-3 llc 0-3" */
static void note_place(struct trace *t, struct trace_span s)
{
    struct trace_span cpu = word(&s);
    int64_t n;
    if (cpu.end - cpu.at < 4 || memcmp(cpu.at, "cpu", 3) != 0) return;
    cpu.at += 3;
    if (!trace_span_number(&cpu, &n) || n < 0 || n >= (int64_t)TRACE_CPUS) return;
    if (!trace_room_for_place(t, (uint32_t)n)) return;
    struct trace_place *p = &t->place[n];
    while (s.at < s.end) {
        struct trace_span key = word(&s), rest = s, value = word(&s);
        if (is_place(value)) { /* an offline CPU has no siblings */
            s = rest;
            continue;
        }
        if (trace_span_is(key, "core")) copy(p->core, sizeof p->core, value);
        if (trace_span_is(key, "pkg")) copy(p->package, sizeof p->package, value);
        if (trace_span_is(key, "llc")) copy(p->llc, sizeof p->llc, value);
        if (trace_span_is(key, "node")) copy(p->node, sizeof p->node, value);
    }
    if (p->core[0]) t->ncpus = WB_MAX(t->ncpus, (uint32_t)n + 1);
}

static uint32_t number(struct trace_span s)
{
    int64_t v;
    return trace_span_number(&s, &v) && v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* "domain1 MC flags SD_BALANCE_NEWIDLE SD_WAKE_AFFINE  imb 117 min 4 max 8" */
static void note_level(struct trace *t, struct trace_span s)
{
    if (t->nlevels == TRACE_LEVELS) return;
    struct trace_level *l = &t->level[t->nlevels++];
    (void)word(&s);
    copy(l->name, sizeof l->name, word(&s));
    while (s.at < s.end) {
        struct trace_span w = word(&s);
        size_t have = strlen(l->flags), n = (size_t)(w.end - w.at);
        if (n > 3 && !memcmp(w.at, "SD_", 3) && have + n + 2 < sizeof l->flags) {
            memcpy(l->flags + have, w.at, n);
            memcpy(l->flags + have + n, " ", 2);
        }
        if (trace_span_is(w, "imb")) l->imbalance_pct = number(word(&s));
        if (trace_span_is(w, "min")) l->min_ms = number(word(&s));
        if (trace_span_is(w, "max")) l->max_ms = number(word(&s));
    }
}

static void note_section(struct trace *t, struct trace_span name)
{
    struct trace_section *more = realloc(t->section, (t->nsections + 1) * sizeof *more);
    if (!more || t->nsections >= UINT16_MAX) {
        if (more) t->section = more;
        return;
    }
    t->section = more;
    more[t->nsections] = (struct trace_section){.first = t->nevents};
    copy(more[t->nsections].name, sizeof more->name, name);
    t->nsections++;
}

void trace_read_note(struct trace *t, struct trace_span s)
{
    struct trace_span what = word(&s);
    if (trace_span_is(what, "kernel")) copy(t->kernel, sizeof t->kernel, word(&s));
    if (trace_span_is(what, "features") && !t->features) t->features = strndup(s.at, (size_t)(s.end - s.at));
    if (trace_span_is(what, "isolated")) copy(t->isolated, sizeof t->isolated, word(&s));
    if (trace_span_is(what, "topo")) note_place(t, s);
    if (trace_span_is(what, "dom")) note_level(t, s);
    if (trace_span_is(what, "begin")) note_section(t, word(&s));
}

/* " wakebal: machine=nehalem-ep kernel=linux-6.12 scheduler=eevdf"; "-": not told. */
void trace_read_own(struct trace *t, struct trace_span s)
{
    if (!trace_span_is(word(&s), "wakebal:")) return;
    while (s.at < s.end) {
        struct trace_span w = word(&s);
        size_t n = (size_t)(w.end - w.at);
        if (n > 8 && !memcmp(w.at, "machine=", 8))
            copy(t->own_machine, sizeof t->own_machine, (struct trace_span){w.at + 8, w.end});
        if (n > 7 && !memcmp(w.at, "kernel=", 7))
            copy(t->own_kernel, sizeof t->own_kernel, (struct trace_span){w.at + 7, w.end});
    }
    if (!strcmp(t->own_machine, "-")) t->own_machine[0] = 0;
    for (char *at = t->own_machine; strchr(t->own_machine, ':') && *at; at++)
        if (*at == '_') *at = ' '; /* a topology string: the writer has no blanks in words */
    if (!strcmp(t->own_kernel, "-")) t->own_kernel[0] = 0;
}
