/*
 * trace_read_comment.c - what comment lines of the recorders say: CPUs, kernel, topology, overwritten events.
 *
 * ftrace (kernel/trace/trace.c print_event_info): "# entries-in-buffer/entries-written: 100/250   #P:8". perf script
 * --header [-I] (tools/perf/util/header.c): "# os release : 6.1.0", "# nrcpus online : 8", "# sibling sockets : 0-3",
 * "# sibling threads : 0,4", "#  L3 Unified 32768K [0-3]", "# node0 cpu list : 0-3".
 */
#include <string.h>

#include "trace_read.h"

#define HEADER_LINES 20000u

static const char *after(struct trace_span s, const char *word)
{
    const char *at = s.at < s.end ? memmem(s.at, (size_t)(s.end - s.at), word, strlen(word)) : NULL;
    return at ? at + strlen(word) : NULL;
}

/* The number behind a word. */
static bool number_after(struct trace_span s, const char *word, int64_t *v)
{
    struct trace_span rest = {after(s, word), s.end};
    while (rest.at && rest.at < rest.end && *rest.at == ' ') rest.at++;
    return rest.at && trace_span_number(&rest, v) && *v >= 0;
}

static void take_cpus(struct trace *t, int64_t n)
{
    if (n > 0 && n <= (int64_t)TRACE_CPUS) t->ncpus = WB_MAX(t->ncpus, (uint32_t)n);
}

/* Of several buffers in one file the losses add up. */
static void read_ftrace(struct trace *t, struct trace_span s)
{
    int64_t kept, written, cpus;
    const char *slash = after(s, "entries-in-buffer/entries-written:");
    if (!slash) return;
    struct trace_span rest = {slash, s.end};
    if (number_after(rest, "", &kept) && number_after(rest, "/", &written) && written > kept)
        t->lines.overwritten += (uint64_t)(written - kept);
    if (number_after(rest, "#P:", &cpus)) take_cpus(t, cpus);
}

/* ---- perf ---- */

/* Writes the list "0-3,8" as text into a column of each CPU that it holds. */
static void place_list(struct trace *t, struct trace_span list, size_t column)
{
    struct trace_span s = list;
    size_t len = WB_MIN((size_t)(list.end - list.at), sizeof t->place->core - 1);
    int64_t from, to;
    while (trace_span_number(&s, &from)) {
        to = from;
        if (s.at < s.end && *s.at == '-') {
            s.at++;
            if (!trace_span_number(&s, &to)) return;
        }
        if (from < 0 || to < from || to >= (int64_t)TRACE_CPUS || !trace_room_for_place(t, (uint32_t)to)) return;
        for (int64_t c = from; c <= to; c++) {
            char *cell = (char *)&t->place[c] + column;
            memcpy(cell, list.at, len);
            cell[len] = 0;
        }
        if (s.at == s.end || *s.at != ',') return;
        s.at++;
    }
}

static void read_lists(struct trace *t, struct trace_span s)
{
    static const struct {
        const char *word;
        size_t column;
    } list[] = {{" sibling sockets : ", offsetof(struct trace_place, package)},
                {" sibling cores   : ", offsetof(struct trace_place, package)},
                {" sibling threads : ", offsetof(struct trace_place, core)}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(list); i++) {
        const char *at = after(s, list[i].word);
        if (at) place_list(t, (struct trace_span){at, s.end}, list[i].column);
    }
    const char *l3 = after(s, "  L3 Unified"), *open = l3 ? memchr(l3, '[', (size_t)(s.end - l3)) : NULL;
    const char *close = open ? memchr(open, ']', (size_t)(s.end - open)) : NULL;
    if (close) place_list(t, (struct trace_span){open + 1, close}, offsetof(struct trace_place, llc));
}

/* "node1 cpu list : 4-7" */
static void read_node(struct trace *t, struct trace_span s)
{
    const char *list = after(s, " cpu list : ");
    struct trace_span rest = {list, s.end};
    int64_t node, cpu, to;
    if (!list || !number_after(s, " node", &node)) return;
    for (; trace_span_number(&rest, &cpu); rest.at += rest.at < rest.end) {
        to = cpu;
        if (rest.at < rest.end && *rest.at == '-') {
            rest.at++;
            if (!trace_span_number(&rest, &to)) return;
        }
        if (cpu < 0 || to < cpu || to >= (int64_t)TRACE_CPUS || !trace_room_for_place(t, (uint32_t)to)) return;
        for (; cpu <= to; cpu++)
            (void)snprintf(t->place[cpu].node, sizeof t->place[cpu].node, "%u", (uint32_t)WB_MIN(node, 1023));
    }
}

static void read_perf(struct trace *t, struct trace_span s)
{
    const char *release = after(s, " os release : ");
    int64_t n;
    if (release && !t->kernel[0]) {
        size_t len = WB_MIN((size_t)(s.end - release), sizeof t->kernel - 1);
        memcpy(t->kernel, release, len);
        t->kernel[len] = 0;
    }
    if (number_after(s, " nrcpus online : ", &n)) take_cpus(t, n);
    read_lists(t, s);
    read_node(t, s);
}

void trace_read_comment(struct trace *t, struct trace_span s)
{
    trace_read_own(t, s);
    read_ftrace(t, s);
    /* perf's header comes first, and is short: a flood of such lines costs no more than other lines */
    if (t->lines.events || ++t->lines.comments > HEADER_LINES) return;
    read_perf(t, s);
}
