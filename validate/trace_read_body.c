/*
 * trace_read_body.c - the fields of scheduler events, in the kernel's words and in those of trace-cmd's plug-in.
 *
 * Kernel: "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b ..." (include/trace/events/sched.h), raw:
 * the state as a number and no "==>". Plug-in: "a:1 [120] S ==> b:2 [120]", "b:2 [120] CPU:003". Before 5.14 wakeups
 * have a success field; a wakeup that did not succeed is none.
 */
#include "trace_read.h"

#include <string.h>

const char *const trace_kind_name[TRACE_KINDS] = {
    [TRACE_SWITCH] = "sched_switch",
    [TRACE_WAKING] = "sched_waking",
    [TRACE_WAKEUP] = "sched_wakeup",
    [TRACE_WAKEUP_NEW] = "sched_wakeup_new",
    [TRACE_MIGRATE] = "sched_migrate_task",
    [TRACE_FORK] = "sched_process_fork",
    [TRACE_EXIT] = "sched_process_exit",
    [TRACE_RUNTIME] = "sched_stat_runtime",
    [TRACE_LOST] = "lost",
};

static const char *find(struct trace_span s, const char *word)
{
    return s.at < s.end ? memmem(s.at, (size_t)(s.end - s.at), word, strlen(word)) : NULL;
}

/* The number after "key=". */
static bool number_of(struct trace_span s, const char *key, int64_t *v)
{
    const char *at = find(s, key);
    if (!at) return false;
    struct trace_span rest = {at + strlen(key), s.end};
    return trace_span_number(&rest, v);
}

/* Where the key is that a number follows, and behind that the next key: a name may hold one of them, hardly both. */
static const char *find_pid(struct trace_span s, const char *key, const char *next)
{
    const char *some = NULL;
    for (const char *at = s.at; (at = find((struct trace_span){at, s.end}, key)) != NULL; at++) {
        struct trace_span digits = {at + strlen(key), s.end};
        int64_t n;
        if (!trace_span_number(&digits, &n)) continue;
        some = at;
        if ((size_t)(digits.end - digits.at) >= strlen(next) && !memcmp(digits.at, next, strlen(next))) return at;
    }
    return some;
}

struct task_keys {
    const char *comm, *pid, *next;
};
static const struct task_keys prev_keys = {"prev_comm=", " prev_pid=", " prev_prio="},
                              next_keys = {"next_comm=", " next_pid=", " next_prio="},
                              wake_keys = {"comm=", " pid=", " prio="},
                              parent_keys = {"comm=", " pid=", " child_comm="},
                              child_keys = {"child_comm=", " child_pid=", ""},
                              runtime_keys = {"comm=", " pid=", " runtime="};

/* "comm=NAME pid=N": the name may hold blanks and more, so it ends where its pid key begins. s: what follows. */
static bool task_by_keys(struct trace *t, struct trace_span *s, const struct task_keys *k, uint32_t *task)
{
    const char *comm = find(*s, k->comm);
    const char *pid = comm ? find_pid((struct trace_span){comm, s->end}, k->pid, k->next) : NULL;
    int64_t n;
    if (!pid) return false;
    struct trace_span digits = {pid + strlen(k->pid), s->end}, name = {comm + strlen(k->comm), pid};
    if (!trace_span_number(&digits, &n) || n < 0 || n > INT32_MAX) return false;
    *task = trace_task_of(t, (int32_t)n, name);
    *s = digits;
    return *task != UINT32_MAX;
}

/* "NAME:PID [PRIO]": the last of them, since the name may hold colons, brackets and all of it. rest: what follows. */
static bool task_by_plugin(struct trace *t, struct trace_span s, uint32_t *task, int16_t *prio, struct trace_span *rest)
{
    struct trace_span name = {NULL, NULL};
    int64_t pid = 0, last_pid = 0, p, last_p = 0;
    for (const char *open = s.at; (open = find((struct trace_span){open, s.end}, " [")) != NULL; open += 2) {
        struct trace_span digits = {open + 2, s.end};
        const char *at = open;
        bool closed = trace_span_number(&digits, &p) && digits.at < s.end && *digits.at == ']';
        while (at > s.at && at[-1] >= '0' && at[-1] <= '9') at--;
        struct trace_span number = {at, open};
        if (!closed || at == s.at || at[-1] != ':' || !trace_span_number(&number, &pid) || pid > INT32_MAX) continue;
        name = (struct trace_span){s.at, at - 1};
        *rest = (struct trace_span){digits.at + 1, s.end};
        last_pid = pid;
        last_p = p;
    }
    if (!name.at) return false;
    *task = trace_task_of(t, (int32_t)last_pid, name);
    *prio = (int16_t)WB_MIN(last_p, 1000);
    return *task != UINT32_MAX;
}

/* Raw state: bits of include/linux/sched.h TASK_REPORT; 0x100: preempted. */
static char state_of_number(int64_t n)
{
    static const char letter[] = "SDTtXZPI";
    if (n == 0 || n & 0x100) return 'R';
    if ((n & 0x402) == 0x402) return 'I';
    for (int i = 0; letter[i]; i++)
        if (n >> i & 1) return letter[i];
    return '?';
}

static char state_of(struct trace_span s)
{
    int64_t n;
    while (s.at < s.end && *s.at == ' ') s.at++;
    if (s.at == s.end) return '?';
    if (*s.at >= '0' && *s.at <= '9') return trace_span_number(&s, &n) ? state_of_number(n) : '?';
    return *s.at && strchr("RSDTtXZPI", *s.at) ? *s.at : '?';
}

static int read_switch(struct trace *t, struct trace_span b, struct trace_event *e)
{
    int64_t v;
    if (find(b, "prev_comm=")) {
        if (!task_by_keys(t, &b, &prev_keys, &e->task)) return -1;
        const char *state = find(b, "prev_state="), *next = find(b, "next_comm=");
        if (!next || !state) return -1;
        if (number_of((struct trace_span){b.at, next}, "prev_prio=", &v)) e->prio = (int16_t)v;
        e->state = state_of((struct trace_span){state + strlen("prev_state="), next});
        b.at = next;
        if (!task_by_keys(t, &b, &next_keys, &e->next)) return -1;
        if (number_of(b, "next_prio=", &v)) e->next_prio = (int16_t)v;
        return 1;
    }
    struct trace_span rest;
    const char *arrow = b.at;
    /* names are short */
    for (int n = 0; n < 4 && (arrow = find((struct trace_span){arrow, b.end}, " ==> ")); n++, arrow += 5) {
        if (!task_by_plugin(t, (struct trace_span){b.at, arrow}, &e->task, &e->prio, &rest)) continue; /* of a name */
        e->state = state_of(rest);
        return task_by_plugin(t, (struct trace_span){arrow + 5, b.end}, &e->next, &e->next_prio, &rest) ? 1 : -1;
    }
    return -1;
}

static bool take_cpu(int64_t v, uint16_t *cpu)
{
    if (v < 0 || v >= (int64_t)TRACE_CPUS) return false;
    *cpu = (uint16_t)v;
    return true;
}

static int read_wake(struct trace *t, struct trace_span b, struct trace_event *e)
{
    uint16_t *cpu = e->kind == TRACE_WAKING ? &e->from : &e->to;
    int64_t v;
    struct trace_span rest;
    if (find(b, "comm=") && find(b, " pid=")) { /* else of a name */
        if (!task_by_keys(t, &b, &wake_keys, &e->task)) return -1;
        if (number_of(b, " prio=", &v)) e->prio = (int16_t)v;
        if (number_of(b, "success=", &v) && !v) return 0;
        return number_of(b, "target_cpu=", &v) && take_cpu(v, cpu) ? 1 : -1;
    }
    if (!task_by_plugin(t, b, &e->task, &e->prio, &rest)) return -1;
    return number_of(rest, "CPU:", &v) && take_cpu(v, cpu) ? 1 : -1;
}

static int read_migrate(struct trace *t, struct trace_span b, struct trace_event *e)
{
    int64_t from, to, v;
    if (!task_by_keys(t, &b, &wake_keys, &e->task)) return -1;
    if (number_of(b, " prio=", &v)) e->prio = (int16_t)v;
    if (!number_of(b, "orig_cpu=", &from) || !number_of(b, "dest_cpu=", &to)) return -1;
    return take_cpu(from, &e->from) && take_cpu(to, &e->to) ? 1 : -1;
}

static int read_fork(struct trace *t, struct trace_span b, struct trace_event *e)
{
    if (!task_by_keys(t, &b, &parent_keys, &e->task)) return -1;
    return task_by_keys(t, &b, &child_keys, &e->next) ? 1 : -1;
}

static int read_exit(struct trace *t, struct trace_span b, struct trace_event *e)
{
    return task_by_keys(t, &b, &wake_keys, &e->task) ? 1 : -1;
}

static int read_runtime(struct trace *t, struct trace_span b, struct trace_event *e)
{
    int64_t v;
    if (!task_by_keys(t, &b, &runtime_keys, &e->task) || !number_of(b, " runtime=", &v) || v < 0) return -1;
    e->runtime = (uint64_t)v;
    return 1;
}

static int (*const readers[TRACE_KINDS])(struct trace *t, struct trace_span body, struct trace_event *e) = {
    [TRACE_SWITCH] = read_switch,   [TRACE_WAKING] = read_wake,     [TRACE_WAKEUP] = read_wake,
    [TRACE_WAKEUP_NEW] = read_wake, [TRACE_MIGRATE] = read_migrate, [TRACE_FORK] = read_fork,
    [TRACE_EXIT] = read_exit,       [TRACE_RUNTIME] = read_runtime,
};

int trace_read_body(struct trace *t, const struct trace_head *h, struct trace_event *e)
{
    for (unsigned k = 0; k < TRACE_KINDS; k++) {
        if (!readers[k] || !trace_span_is(h->event, trace_kind_name[k])) continue;
        e->kind = (uint8_t)k;
        return readers[k](t, h->body, e);
    }
    return 0;
}
