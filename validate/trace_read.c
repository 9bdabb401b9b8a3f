/* trace_read.c - a recording as a list of events: file, lines, tasks, order. See trace_read.h. */
#include "trace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "exp_file.h"

#define FILE_MAX (1ull << 31)
#define READ_ROOM ((size_t)1 << 20)
#define HOPE_ROOM ((size_t)1 << 24) /* what is no recording is seen by here */
#define STAT_MAX ((size_t)1 << 24)  /* bytes of one schedstat text */
#define STAT_STEP ((size_t)1 << 16) /* by which its room grows */

/* ---- tasks by pid: open addressing ---- */

struct trace_index {
    uint32_t *slot; /* task + 1; 0: empty */
    uint32_t size;  /* power of two */
};

static uint32_t hash(int32_t pid, uint32_t size)
{
    return ((uint32_t)pid * 2654435761u >> 7) & (size - 1);
}

static bool grow_index(struct trace *t)
{
    struct trace_index *x = t->index;
    uint32_t size = x->size ? 2 * x->size : 256;
    uint32_t *slot = calloc(size, sizeof *slot);
    if (!slot) return false;
    for (uint32_t i = 0; i < t->ntasks; i++) {
        uint32_t h = hash(t->task[i].pid, size);
        while (slot[h]) h = (h + 1) & (size - 1);
        slot[h] = i + 1;
    }
    free(x->slot);
    *x = (struct trace_index){slot, size};
    return true;
}

static void name_task(struct trace_task *k, struct trace_span comm)
{
    if (comm.at == comm.end || trace_span_is(comm, "<...>") || trace_span_is(comm, "<idle>")) return;
    size_t n = WB_MIN((size_t)(comm.end - comm.at), TRACE_COMM - 1);
    memcpy(k->comm, comm.at, n);
    k->comm[n] = 0;
    k->named = true;
}

uint32_t trace_task_of(struct trace *t, int32_t pid, struct trace_span comm)
{
    struct trace_index *x = t->index;
    if (2 * (t->ntasks + 1) > x->size && !grow_index(t)) return UINT32_MAX;
    uint32_t h = hash(pid, x->size);
    for (; x->slot[h]; h = (h + 1) & (x->size - 1)) {
        struct trace_task *k = &t->task[x->slot[h] - 1];
        if (k->pid != pid) continue;
        if (pid) name_task(k, comm); /* the latest: exec and prctl change it */
        return x->slot[h] - 1;
    }
    struct trace_task *more = (t->ntasks & (t->ntasks - 1)) && t->ntasks ? t->task : NULL;
    if (!more) {
        more = realloc(t->task, 2 * ((size_t)t->ntasks + 1) * sizeof *more);
        if (!more) return UINT32_MAX;
        t->task = more;
    }
    more[t->ntasks] = (struct trace_task){.pid = pid, .comm = "<...>"};
    if (pid) name_task(&more[t->ntasks], comm);
    x->slot[h] = t->ntasks + 1;
    return t->ntasks++;
}

/* ---- events ---- */

static bool add_event(struct trace *t, const struct trace_event *e)
{
    size_t n = t->nevents;
    if (!(n & (n - 1)) || !n) {
        struct trace_event *more = realloc(t->event, (n ? 2 * n : 64) * sizeof *more);
        if (!more) return false;
        t->event = more;
    }
    t->event[t->nevents++] = *e;
    uint32_t top = e->cpu == TRACE_NO_CPU ? 0 : e->cpu;
    if (e->from != TRACE_NO_CPU) top = WB_MAX(top, e->from);
    if (e->to != TRACE_NO_CPU) top = WB_MAX(top, e->to);
    t->ncpus = WB_MAX(t->ncpus, top + 1);
    return true;
}

static struct trace_event blank(const struct trace *t, uint32_t line)
{
    return (struct trace_event){.line = line,
                                .cpu = TRACE_NO_CPU,
                                .from = TRACE_NO_CPU,
                                .to = TRACE_NO_CPU,
                                .section = (uint16_t)(t->nsections ? t->nsections - 1 : 0),
                                .prio = -1,
                                .next_prio = -1,
                                .state = '?'};
}

/* perf script --show-lost-events: "swapper 0 [002] 1.5: PERF_RECORD_LOST lost 13". */
static bool perf_lost(struct trace_span s, int64_t *n, struct trace_span *cpu)
{
    const char *mark = memmem(s.at, (size_t)(s.end - s.at), "PERF_RECORD_LOST", 16);
    const char *lost = mark ? memmem(mark, (size_t)(s.end - mark), " lost ", 6) : NULL;
    if (!lost) return false;
    struct trace_span digits = {lost + 6, s.end};
    const char *open = memchr(s.at, '[', (size_t)(mark - s.at));
    *cpu = (struct trace_span){open ? open + 1 : s.end, open ? mark : s.end};
    return trace_span_number(&digits, n);
}

/* "CPU:2 [LOST 123 EVENTS]", "CPU:2 [EVENTS DROPPED]", "LOST 12 EVENTS!", perf: "LOST 5 events". */
static bool lost_mark(struct trace *t, struct trace_span s, struct trace_event *e)
{
    const char *lost = memmem(s.at, (size_t)(s.end - s.at), "LOST ", 5);
    const char *where = memmem(s.at, (size_t)(s.end - s.at), "CPU:", 4);
    bool dropped = memmem(s.at, (size_t)(s.end - s.at), "EVENTS DROPPED", 14) != NULL;
    struct trace_span digits = {lost ? lost + 5 : s.at, s.end}, on = {where ? where + 4 : s.end, s.end};
    int64_t n = 0, cpu;
    if (!perf_lost(s, &n, &on)) {
        if (!lost && !dropped) return false;
        if (lost && !trace_span_number(&digits, &n)) return false;
    }
    if (trace_span_number(&on, &cpu) && cpu >= 0 && cpu < (int64_t)TRACE_CPUS) e->cpu = (uint16_t)cpu;
    t->lines.lost_marks++;
    t->lines.lost_events += (uint64_t)n;
    e->kind = TRACE_LOST;
    e->ns = t->nevents ? t->event[t->nevents - 1].ns : 0;
    return true;
}

/* ---- lines ---- */

struct reading {
    struct trace *t;
    struct trace_stat *stat; /* schedstat text that lines go to, or NULL */
    bool no_memory;
    uint64_t last[TRACE_CPUS]; /* ns of the last event, per CPU, in this section */
};

/* A file may hold as many such lines as it likes: none of them may cost more than itself. */
static void keep_stat(struct reading *r, struct trace_span line)
{
    struct trace_stat *k = r->stat;
    size_t n = (size_t)(line.end - line.at), need = k->len + n + 2;
    if (need > STAT_MAX) return;
    if (!k->text || (need - 1) / STAT_STEP > k->len / STAT_STEP) {
        char *more = realloc(k->text, ((need - 1) / STAT_STEP + 1) * STAT_STEP);
        if (!more) return;
        k->text = more;
    }
    memcpy(k->text + k->len, line.at, n);
    memcpy(k->text + k->len + n, "\n", 2);
    k->len += n + 1;
}

static bool is_stat(struct trace_span s)
{
    static const char *const word[] = {"version ", "timestamp ", "cpu", "domain"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(word); i++) {
        size_t n = strlen(word[i]);
        if ((size_t)(s.end - s.at) > n && !memcmp(s.at, word[i], n)) return true;
    }
    return false;
}

static void read_note(struct reading *r, struct trace_span s)
{
    struct trace *t = r->t;
    t->lines.notes++;
    r->stat = NULL;
    uint32_t sections = t->nsections;
    trace_read_note(t, s);
    if (t->nsections != sections) memset(r->last, 0, sizeof r->last);
    if (!t->nsections) return;
    struct trace_section *last = &t->section[t->nsections - 1];
    if (s.end - s.at >= 16 && !memcmp(s.at, " schedstat befor", 16)) r->stat = &last->before;
    if (s.end - s.at >= 16 && !memcmp(s.at, " schedstat after", 16)) r->stat = &last->after;
}

/* No head that can be read, but the name of an event that is wanted: without a CPU, or its time a count of cycles. */
static bool names_event(struct trace_span s)
{
    char text[32];
    for (const char *at = s.at; (at = memmem(at, (size_t)(s.end - at), "sched_", 6)); at++)
        for (unsigned k = 0; k < TRACE_KINDS; k++) {
            size_t n = (size_t)snprintf(text, sizeof text, "%s: ", trace_kind_name[k]);
            if ((size_t)(s.end - at) > n && !memcmp(at, text, n)) return true;
        }
    return false;
}

static void read_event(struct reading *r, struct trace_span s, uint32_t number)
{
    struct trace *t = r->t;
    struct trace_event e = blank(t, number);
    struct trace_head h;
    if (!trace_read_head(s, &h)) {
        if (lost_mark(t, s, &e))
            r->no_memory |= !add_event(t, &e);
        else if (names_event(s))
            t->lines.damaged++;
        else
            t->lines.other++;
        return;
    }
    e.ns = h.ns;
    e.cpu = (uint16_t)h.cpu;
    e.context = h.context;
    int rc = trace_read_body(t, &h, &e);
    t->lines.damaged += rc < 0;
    t->lines.other += rc == 0;
    if (rc <= 0) return;
    t->lines.back += e.ns < r->last[e.cpu];
    r->last[e.cpu] = e.ns;
    e.by = trace_task_of(t, h.pid, h.comm);
    t->lines.by_shape[h.shape]++;
    t->lines.events++;
    r->no_memory |= e.by == UINT32_MAX || !add_event(t, &e);
}

static void read_line(struct reading *r, struct trace_span s, uint32_t number)
{
    while (s.end > s.at && (s.end[-1] == '\r' || s.end[-1] == ' ')) s.end--;
    r->t->lines.all++;
    if (s.at == s.end) return;
    if (s.end - s.at > 3 && !memcmp(s.at, "###", 3)) {
        read_note(r, (struct trace_span){s.at + 3, s.end});
        return;
    }
    if (*s.at == '#') {
        trace_read_comment(r->t, (struct trace_span){s.at + 1, s.end});
        return;
    }
    if (r->stat && is_stat(s)) {
        keep_stat(r, s);
        return;
    }
    read_event(r, s, number);
}

/* ---- order ---- */

static int by_time(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Half a day from the middle event of their section: one wrong digit. Nobody records such events for so long, and
 * sums of a scheduler (weight times time) would not hold the gap. */
#define FAR_NS (12 * 3600 * 1000000000ull)

/* In order of time. */
static void drop_far(struct trace *t)
{
    size_t kept = 0;
    for (size_t first = 0, end; first < t->nevents; first = end) {
        for (end = first; end < t->nevents && t->event[end].section == t->event[first].section;) end++;
        uint64_t middle = t->event[first + (end - first) / 2].ns;
        for (size_t i = first; i < end; i++) {
            struct trace_event e = t->event[i];
            bool far = (e.ns > middle ? e.ns - middle : middle - e.ns) > FAR_NS, line = e.kind != TRACE_LOST;
            t->lines.damaged += far && line;
            t->lines.events -= far && line;
            if (!far) t->event[kept++] = e;
        }
    }
    t->nevents = kept;
}

static void order(struct trace *t)
{
    bool ordered = true;
    for (size_t i = 1; i < t->nevents && ordered; i++) ordered = by_time(&t->event[i - 1], &t->event[i]) <= 0;
    t->sorted = !ordered;
    if (!ordered) qsort(t->event, t->nevents, sizeof *t->event, by_time);
    drop_far(t);
    for (uint32_t s = 0; s < t->nsections; s++) t->section[s].n = 0;
    for (size_t i = 0; i < t->nevents; i++) {
        struct trace_section *s = &t->section[t->event[i].section];
        if (!s->n++) s->first = i;
    }
}

/* ---- whole files ---- */

static struct trace *new_trace(const char *name)
{
    struct trace *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->index = calloc(1, sizeof *t->index);
    t->path = strdup(name);
    static const char idle[] = "<idle>";
    if (!t->index || !t->path || trace_task_of(t, 0, (struct trace_span){idle, idle + 6})) {
        trace_free(t);
        return NULL;
    }
    memcpy(t->task[0].comm, idle, sizeof idle);
    t->task[0].named = true;
    return t;
}

static struct trace *refuse(struct trace *t, struct wb_diag *d, const char *name, const char *fix, const char *what)
{
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = name}, fix, "%s", what);
    trace_free(t);
    return NULL;
}

struct trace *trace_read_text(const char *name, const char *text, size_t len, struct wb_diag *d)
{
    struct trace *t = new_trace(name);
    if (!t) return refuse(NULL, d, name, NULL, "not enough memory");
    struct reading r = {.t = t};
    uint32_t number = 0;
    for (const char *at = text, *end = text + len; at < end;) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        read_line(&r, (struct trace_span){at, nl ? nl : end}, ++number);
        at = nl ? nl + 1 : end;
    }
    if (!t->nsections) {
        t->section = calloc(1, sizeof *t->section);
        t->nsections = t->section ? 1 : 0;
    }
    if (r.no_memory || !t->nsections) return refuse(t, d, name, NULL, "not enough memory for the recording");
    if (!t->lines.events && t->lines.damaged)
        return refuse(
            t, d, name,
            "seconds with a point (trace_clock mono), CPU and task: perf script -F comm,tid,cpu,time,event,trace",
            "lines name scheduler events, but none tells time, CPU and task");
    if (t->lines.back > 16 && t->lines.back > t->lines.events / 4)
        return refuse(t, d, name, "times since the start: perf script without --deltatime",
                      "times go back at more than a quarter of the events: they look like differences");
    if (!t->lines.events)
        return refuse(t, d, name,
                      "record sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task",
                      "no line of it is a scheduler event in the form of ftrace, trace-cmd report or perf script");
    order(t);
    return t;
}

static bool is_binary(const char *text, size_t len)
{
    return len > 7 && (!memcmp(text, "PERFILE2", 8) || !memcmp(text, "\x17\x08\x44tracing", 8));
}

/* What zlib says when it cannot go on: the system's word, or that the data is damaged. */
static const char *gz_fault(gzFile f)
{
    int rc, system = errno;
    (void)gzerror(f, &rc);
    return rc == Z_ERRNO ? strerror(system) : "its compressed data is damaged";
}

/* Endless input is seen before it fills the memory: text has no zeroes, and of so many lines of a recording some are
 * events, whatever their names. */
static const char *hopeless(const char *text, size_t len)
{
    struct trace_head h;
    if (memchr(text, 0, WB_MIN(len, READ_ROOM)) && !is_binary(text, len)) return "it is not text";
    for (const char *at = text, *end = text + len; at < end;) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        if (trace_read_head((struct trace_span){at, nl ? nl : end}, &h)) return NULL;
        at = nl ? nl + 1 : end;
    }
    return "its first 16 MiB hold no event of ftrace, trace-cmd report or perf script";
}

static char *read_on(gzFile f, char *text, size_t *len, const char **why)
{
    for (size_t room = READ_ROOM;;) {
        errno = 0;
        int got = gzread(f, text + *len, (unsigned)WB_MIN(room - *len, 1u << 30));
        if (got < 0) *why = gz_fault(f);
        if (got <= 0) return text;
        *len += (size_t)got;
        if (*len < room) continue;
        if (room == HOPE_ROOM && (*why = hopeless(text, *len))) return text;
        char *more = room < FILE_MAX ? realloc(text, 2 * room) : NULL;
        if (!more) *why = room < FILE_MAX ? "not enough memory" : "it is larger than 2 GiB";
        if (!more) return text;
        text = more;
        room *= 2;
    }
}

/* zlib reads what is not compressed as it is, and tells only on closing that a compressed file ends in its middle. */
static char *read_all(const char *path, size_t *len, bool *cut, const char **why)
{
    int fd = exp_file_open(path, why);
    *len = 0;
    if (fd < 0) return NULL;
    gzFile f = gzdopen(fd, "rb");
    char *text = f ? malloc(READ_ROOM) : NULL;
    if (!f) close(fd);
    if (!text) *why = "not enough memory";
    if (text) text = read_on(f, text, len, why);
    *cut = f && gzclose_r(f) == Z_BUF_ERROR; /* what was read is as good as it was */
    if (*cut && !*len && !*why) *why = "its compressed data ends too early";
    if (!*why) return text;
    free(text);
    return NULL;
}

struct trace *trace_read_file(const char *path, struct wb_diag *d)
{
    const char *why;
    size_t len;
    bool cut;
    char *text = read_all(path, &len, &cut, &why);
    if (!text) {
        wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = path}, NULL, "cannot read the recording: %s", why);
        return NULL;
    }
    struct trace *t = NULL;
    if (is_binary(text, len))
        t = refuse(NULL, d, path, "make text of it first: `trace-cmd report -N`, or `perf script --ns`",
                   "this is a binary recording");
    else
        t = trace_read_text(path, text, len, d);
    if (t) t->lines.cut = cut;
    free(text);
    return t;
}

void trace_free(struct trace *t)
{
    if (!t) return;
    for (uint32_t i = 0; i < t->nsections; i++) {
        free(t->section[i].before.text);
        free(t->section[i].after.text);
    }
    if (t->index) free(t->index->slot);
    free(t->index);
    free(t->section);
    free(t->place);
    free(t->features);
    free(t->event);
    free(t->task);
    free(t->path);
    free(t);
}
