/*
 * trace_read_head.c - who, where, when, what: the part of a line before the event's own fields.
 *
 * Shapes: ftrace text (kernel/trace/trace_output.c trace_print_context), `trace-cmd report` (the same without flags;
 * -l: CPU and flags in one word; --ts-diff: a difference behind the time), `perf script` (comm tid [cpu] time: period
 * system:event:, or pid/tid; the first and the period may be missing). The time is the first word of digits, dot,
 * digits, colon that an event's name follows: names of tasks may hold anything else.
 */
#include "trace_read.h"

#include <string.h>

enum shape { SHAPE_FTRACE, SHAPE_TRACE_CMD, SHAPE_PERF, SHAPE_LATENCY };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool trace_span_is(struct trace_span s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s.end - s.at) == n && !memcmp(s.at, word, n);
}

bool trace_span_number(struct trace_span *s, int64_t *v)
{
    const char *at = s->at;
    bool minus = at < s->end && *at == '-';
    if (minus) at++;
    if (at == s->end || !is_digit(*at)) return false;
    int64_t n = 0;
    for (; at < s->end && is_digit(*at); at++) {
        if (n > INT64_MAX / 10 - 10) return false;
        n = n * 10 + (*at - '0');
    }
    *v = minus ? -n : n;
    s->at = at;
    return true;
}

static struct trace_span trim(struct trace_span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t')) s.at++;
    while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t')) s.end--;
    return s;
}

/* ---- time and event ---- */

/* "12.000345:" at s.at, or with a comma, as some locales write it; up to nine digits of fraction count. Returns its
 * end, or NULL. */
static const char *read_time(struct trace_span s, uint64_t *ns)
{
    const char *at = s.at;
    uint64_t sec = 0, frac = 0, scale = 1000000000;
    if (at == s.end || !is_digit(*at)) return NULL;
    for (; at < s.end && is_digit(*at); at++) {
        sec = sec * 10 + (uint64_t)(*at - '0');
        if (sec > UINT64_MAX / 1000000000 - 1) return NULL; /* 584 years in ns */
    }
    if (at == s.end || (*at != '.' && *at != ',')) return NULL;
    at++;
    const char *first = at;
    for (; at < s.end && is_digit(*at); at++) {
        if (scale == 1) continue;
        scale /= 10;
        frac = frac * 10 + (uint64_t)(*at - '0');
    }
    if (at == first || at == s.end || *at != ':') return NULL;
    *ns = sec * 1000000000 + frac * scale;
    return at + 1;
}

/* perf script -F +period: how many events a sample stands for. */
static struct trace_span skip_period(struct trace_span s)
{
    const char *at = s.at;
    while (at < s.end && is_digit(*at)) at++;
    return at > s.at && at < s.end && *at == ' ' ? trim((struct trace_span){at, s.end}) : s;
}

/* trace-cmd report --ts-diff: "(+5000)", the time since the line before. */
static struct trace_span skip_difference(struct trace_span s)
{
    const char *close = s.at < s.end && *s.at == '(' ? memchr(s.at, ')', (size_t)(s.end - s.at)) : NULL;
    return close && s.at[1] == '+' ? trim((struct trace_span){close + 1, s.end}) : s;
}

/* "sched_waking: ..." or "sched:sched_waking: ..." */
static bool read_event(struct trace_span rest, struct trace_head *h)
{
    rest = skip_period(skip_difference(trim(rest)));
    const char *at = rest.at, *name = at;
    while (at < rest.end && is_word(*at)) at++;
    if (at == name || at == rest.end || *at != ':') return false;
    const char *colon = at++;
    if (at < rest.end && is_word(*at)) {
        name = at;
        while (at < rest.end && is_word(*at)) at++;
        if (at == rest.end || *at != ':') return false;
        colon = at++;
        h->shape = SHAPE_PERF;
    }
    h->event = (struct trace_span){name, colon};
    h->body = trim((struct trace_span){at, rest.end});
    return true;
}

static bool find_time(struct trace_span line, struct trace_span *before, struct trace_head *h)
{
    for (const char *at = line.at; at < line.end; at++) {
        if (!is_digit(*at) || (at > line.at && at[-1] != ' ' && at[-1] != '\t')) continue;
        const char *end = read_time((struct trace_span){at, line.end}, &h->ns);
        if (!end || !read_event((struct trace_span){end, line.end}, h)) continue;
        *before = trim((struct trace_span){line.at, at});
        return true;
    }
    return false;
}

/* ---- who and where ---- */

/* irqs-off, need-resched, hard or soft interrupt, depth: the third letter tells the context. The real-time patches up
 * to 6.1 have need-resched-lazy (L) before it; depths are digits. */
static uint8_t context_of(struct trace_span flags)
{
    if (flags.end - flags.at < 3) return TRACE_CTX_UNKNOWN;
    bool lazy = flags.at[2] == 'L' || (flags.at[2] == '.' && flags.end - flags.at > 3 && strchr("hHzZs", flags.at[3]));
    switch (flags.at[lazy && flags.end - flags.at > 3 ? 3 : 2]) {
    case 'h':
    case 'H':
    case 'z':
    case 'Z': return TRACE_CTX_HARDIRQ;
    case 's': return TRACE_CTX_SOFTIRQ;
    case '.': return TRACE_CTX_TASK;
    default: return TRACE_CTX_UNKNOWN;
    }
}

static struct trace_span last_word(struct trace_span s)
{
    const char *at = s.end;
    while (at > s.at && at[-1] != ' ' && at[-1] != '\t') at--;
    return (struct trace_span){at, s.end};
}

/* "comm-pid", "comm  tid", "comm  pid/tid"; comm may hold blanks and dashes. perf -F tid,cpu,...: no comm. */
static bool read_who(struct trace_span s, struct trace_head *h)
{
    const char *at = s.end;
    int64_t pid;
    while (at > s.at && is_digit(at[-1])) at--;
    struct trace_span digits = {at, s.end};
    if (!trace_span_number(&digits, &pid) || pid > INT32_MAX) return false;
    h->pid = (int32_t)pid;
    if (at > s.at && at[-1] == '/') {
        at--;
        while (at > s.at && is_digit(at[-1])) at--;
    }
    if (at == s.at) {
        h->comm = (struct trace_span){s.at, s.at};
        h->shape = SHAPE_PERF;
        return true;
    }
    bool dash = at[-1] == '-';
    if (!dash && at[-1] != ' ' && at[-1] != '\t') return false;
    /* "foo -1 [000]" of perf: tid -1 of a task that has gone. */
    h->comm = trim((struct trace_span){s.at, at - 1});
    if (!dash) h->shape = SHAPE_PERF;
    return true;
}

static bool read_cpu_brackets(struct trace_span before, const char *open, struct trace_head *h)
{
    struct trace_span digits = {open + 1, before.end};
    int64_t cpu;
    if (!trace_span_number(&digits, &cpu) || digits.at == digits.end || *digits.at != ']') return false;
    if (cpu < 0 || cpu >= (int64_t)TRACE_CPUS) return false;
    h->cpu = (uint32_t)cpu;
    struct trace_span flags = trim((struct trace_span){digits.at + 1, before.end});
    h->context = context_of(flags);
    if (flags.at == flags.end && h->shape != SHAPE_PERF) h->shape = SHAPE_TRACE_CMD;
    struct trace_span who = trim((struct trace_span){before.at, open});
    if (who.end > who.at && who.end[-1] == ')') { /* (tgid) or (-----) */
        while (who.end > who.at && who.end[-1] != '(') who.end--;
        if (who.end == who.at) return false;
        who.end--;
        who = trim(who);
    }
    return read_who(who, h);
}

/* trace-cmd report -l: "comm-pid   3d..2." */
static bool read_cpu_fused(struct trace_span before, struct trace_head *h)
{
    struct trace_span word = last_word(before), who = trim((struct trace_span){before.at, word.at});
    int64_t cpu;
    if (!trace_span_number(&word, &cpu) || cpu < 0 || cpu >= (int64_t)TRACE_CPUS || word.at == word.end) return false;
    h->cpu = (uint32_t)cpu;
    h->context = context_of(word);
    h->shape = SHAPE_LATENCY;
    return read_who(who, h);
}

static const char *find(struct trace_span s, const char *word)
{
    return s.at < s.end ? memmem(s.at, (size_t)(s.end - s.at), word, strlen(word)) : NULL;
}

/* The function graph tracer writes events as comments; with its options abstime and proc they tell all (kernel/trace/
 * trace_functions_graph.c): "12.000345 |   1)  comm-102   |               |  [comment of] sched_waking: ...". */
static bool read_graph(struct trace_span line, struct trace_head *h)
{
    const char *open = find(line, "/* "), *close = open ? find((struct trace_span){open, line.end}, " */") : NULL;
    struct trace_span head = trim((struct trace_span){line.at, open});
    const char *bar = close ? memchr(head.at, '|', (size_t)(head.end - head.at)) : NULL;
    if (!bar || !read_event((struct trace_span){open + 3, close}, h)) return false;
    struct trace_span time = trim((struct trace_span){head.at, bar}),
                      cpu = trim((struct trace_span){bar + 1, head.end});
    char text[48];
    int64_t n;
    if (time.end - time.at > 40 || !trace_span_number(&cpu, &n) || n < 0 || n >= (int64_t)TRACE_CPUS) return false;
    (void)snprintf(text, sizeof text, "%.*s:", (int)(time.end - time.at), time.at);
    if (!read_time((struct trace_span){text, text + strlen(text)}, &h->ns)) return false;
    if (cpu.at == cpu.end || *cpu.at++ != ')') return false;
    bar = memchr(cpu.at, '|', (size_t)(cpu.end - cpu.at));
    h->cpu = (uint32_t)n;
    h->context = TRACE_CTX_UNKNOWN;
    return bar && read_who(trim((struct trace_span){cpu.at, bar}), h);
}

bool trace_read_head(struct trace_span line, struct trace_head *h)
{
    struct trace_span before;
    *h = (struct trace_head){.shape = SHAPE_FTRACE};
    if (!find_time(line, &before, h)) return read_graph(line, h);
    for (const char *at = before.end; at > before.at;)
        if (*--at == '[') return read_cpu_brackets(before, at, h);
    return read_cpu_fused(before, h);
}
