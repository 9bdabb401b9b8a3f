/*
 * ftrace.c - the ring as tracefs text, the form that Perfetto, trace viewers and people read.
 *
 * Line: `%16s-%-5u (%5u) [%03u] flags %5u.%09u: event: key=value ...` (Linux 5.x trace_print_context() with
 * record-tgid). The task at the head of a line is the one that runs on the CPU, known from the last switch there, or
 * before the first switch from what that switch says it left. Waking and wakeup are both written because readers want
 * one or the other. Numbers are formatted by hand: printf would be five times slower than the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "tracering.h"
#include "wakebal/policy.h"
#include "wakebal/traceview.h"

#define BUFFER 65536u
#define LINE_MAX_BYTES 1024u /* longest line, rule text included */

struct writer {
    FILE *out;
    char *buf, *at, *end; /* end: flush before a line when `at` is past it */
    const struct wb_trace_names *names;
    const struct wb_ftrace_options *opt;
    const struct wb_trace *trace;
    struct comm_table tasks;
    task_id *current; /* [ncpus] */
    int error;
};

/* ------------------------------------------------------------------ formatting */
static void put_text(struct writer *w, const char *s)
{
    size_t n = strlen(s);
    memcpy(w->at, s, n);
    w->at += n;
}

static void put_char(struct writer *w, char c)
{
    *w->at++ = c;
}

/* Decimal; at least `width` characters, filled at the left with `fill`. */
static void put_padded(struct writer *w, uint64_t v, unsigned width, char fill)
{
    char digits[20];
    unsigned n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    for (unsigned i = n; i < width; i++) *w->at++ = fill;
    while (n) *w->at++ = digits[--n];
}

static void put_u(struct writer *w, uint64_t v)
{
    put_padded(w, v, 1, '0');
}

static void put_rule(struct writer *w, uint16_t rule)
{
    const char *text = rule && w->names->rule ? w->names->rule(w->names->ctx, rule) : NULL;
    if (!text) return;
    put_text(w, " (");
    for (size_t i = 0; text[i] && i < 200; i++)
        put_char(w, text[i] < ' ' || text[i] == '|' || text[i] == 127 ? '_' : text[i]);
    put_char(w, ')');
}

/* ------------------------------------------------------------------ the head of a line */
static void put_head(struct writer *w, const struct wb_trace_record *r, task_id current, const char *flags)
{
    const struct comm_entry *t = comm_of(&w->tasks, current);
    const char *name = t->idle ? "<idle>" : t->comm;
    unsigned n = (unsigned)strlen(name);
    for (unsigned i = n; i < 16; i++) put_char(w, ' ');
    put_text(w, name);
    put_char(w, '-');
    char *pid = w->at;
    put_u(w, t->pid);
    while (w->at - pid < 5) put_char(w, ' ');
    if (t->idle || !t->tgid)
        put_text(w, " (-----) [");
    else {
        put_text(w, " (");
        put_padded(w, t->tgid, 5, ' ');
        put_text(w, ") [");
    }
    put_padded(w, r->cpu, 3, '0');
    put_text(w, "] ");
    put_text(w, flags);
    put_char(w, ' ');
    uint64_t ns = r->when / WB_NS;
    put_padded(w, ns / 1000000000u, 5, ' ');
    put_char(w, '.');
    put_padded(w, ns % 1000000000u, 9, '0');
    put_text(w, ": ");
}

static void put_task(struct writer *w, const char *comm_key, const char *pid_key, task_id id)
{
    const struct comm_entry *t = comm_of(&w->tasks, id);
    put_text(w, comm_key);
    put_text(w, t->comm);
    put_text(w, pid_key);
    put_u(w, t->pid);
}

static void put_prio(struct writer *w, task_id id)
{
    put_text(w, " prio=");
    put_u(w, comm_of(&w->tasks, id)->prio);
}

/* A tracing_mark_write line of the "instant" kind, up to its text; 0 owns marks that belong to no process. */
static void put_mark(struct writer *w, const struct wb_trace_record *r, task_id owner)
{
    put_head(w, r, w->current[r->cpu], ".....");
    put_text(w, "tracing_mark_write: I|");
    put_u(w, owner == WB_NO_TASK ? 0 : comm_of(&w->tasks, owner)->tgid);
    put_char(w, '|');
}

/* ------------------------------------------------------------------ one function per record type */
static void put_state(struct writer *w, uint32_t state)
{
    static const char letter[] = {'R', 'S', 'D', 'X', 'R'}; /* enum wb_task_state */
    uint32_t s = state & (TRACE_PREEMPTED - 1);
    put_char(w, s < sizeof(letter) ? letter[s] : '?');
    if (state & TRACE_PREEMPTED) put_char(w, '+');
}

static void line_switch(struct writer *w, const struct wb_trace_record *r)
{
    comm_set_prio(&w->tasks, r->task, r->c >> 16);
    put_head(w, r, r->task, "d..2.");
    put_task(w, "sched_switch: prev_comm=", " prev_pid=", r->task);
    put_text(w, " prev_prio=");
    put_u(w, comm_of(&w->tasks, r->task)->prio);
    put_text(w, " prev_state=");
    put_state(w, r->b);
    comm_set_prio(&w->tasks, r->a, r->c & 0xffff);
    put_task(w, " ==> next_comm=", " next_pid=", r->a);
    put_text(w, " next_prio=");
    put_u(w, comm_of(&w->tasks, r->a)->prio);
    put_char(w, '\n');
    w->current[r->cpu] = r->a;
}

static void wake_line(struct writer *w, const struct wb_trace_record *r, const char *event, uint32_t cpu)
{
    put_text(w, event);
    put_task(w, ": comm=", " pid=", r->task);
    put_prio(w, r->task);
    put_text(w, " target_cpu=");
    put_padded(w, cpu, 3, '0');
    put_char(w, '\n');
}

/* As the kernels do: emitted before the decision, so the CPU is the one that the task slept on. */
static void line_waking(struct writer *w, const struct wb_trace_record *r)
{
    static const char *const flags[] = {"d..3.", "d.s3.", "d.h3."}; /* enum wb_level */
    put_head(w, r, r->b, flags[WB_MIN(r->c >> 8 & 0xff, 2u)]);
    wake_line(w, r, "sched_waking", r->c >> 16);
}

static void line_wakeup(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, w->current[r->cpu], "d..3.");
    wake_line(w, r, "sched_wakeup", r->a);
}

static void line_wakeup_new(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, w->current[r->cpu], "d..3.");
    wake_line(w, r, "sched_wakeup_new", r->a);
}

static void line_migrate(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, w->current[r->cpu], "d..2.");
    put_task(w, "sched_migrate_task: comm=", " pid=", r->task);
    put_prio(w, r->task);
    put_text(w, " orig_cpu=");
    put_u(w, r->a);
    put_text(w, " dest_cpu=");
    put_u(w, r->b);
    put_char(w, '\n');
    if (!w->opt->marks) return;
    put_mark(w, r, r->task);
    put_text(w, "migrate ");
    put_text(w, comm_of(&w->tasks, r->task)->comm);
    put_text(w, " cpu");
    put_u(w, r->a);
    put_text(w, "->cpu");
    put_u(w, r->b);
    put_rule(w, r->rule);
    put_char(w, '\n');
}

static void line_fork(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, r->task, ".....");
    put_task(w, "sched_process_fork: comm=", " pid=", r->task);
    put_task(w, " child_comm=", " child_pid=", r->a);
    put_char(w, '\n');
}

static void line_exit(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, r->task, ".....");
    put_task(w, "sched_process_exit: comm=", " pid=", r->task);
    put_prio(w, r->task);
    put_char(w, '\n');
}

static void line_runtime(struct writer *w, const struct wb_trace_record *r)
{
    put_head(w, r, w->current[r->cpu], "d..2.");
    put_task(w, "sched_stat_runtime: comm=", " pid=", r->task);
    put_text(w, " runtime=");
    put_u(w, (uint64_t)r->b << 32 | r->a);
    put_text(w, " [ns]\n");
}

static void line_idle(struct writer *w, const struct wb_trace_record *r)
{
    if (w->opt->schedule_only) return;
    put_head(w, r, w->current[r->cpu], "d..1.");
    put_text(w, r->a ? "cpu_idle: state=1 cpu_id=" : "cpu_idle: state=4294967295 cpu_id=");
    put_u(w, r->cpu);
    put_char(w, '\n');
}

static const char *const balance_kind[WB_BAL_N] = {[WB_BAL_PERIODIC_IDLE] = "periodic_idle",
                                                   [WB_BAL_PERIODIC_BUSY] = "periodic_busy",
                                                   [WB_BAL_NEWIDLE] = "newidle",
                                                   [WB_BAL_NOHZ] = "nohz",
                                                   [WB_BAL_ACTIVE] = "active"};

static void line_balance(struct writer *w, const struct wb_trace_record *r)
{
    if (!w->opt->marks) return;
    put_mark(w, r, WB_NO_TASK);
    put_text(w, "balance ");
    put_text(w, r->a < WB_BAL_N ? balance_kind[r->a] : "?");
    put_text(w, " domain ");
    put_u(w, r->c >> 16);
    if (r->b == WB_NO_CPU) {
        put_text(w, " found nothing");
    } else {
        put_text(w, " from cpu");
        put_u(w, r->b);
        put_text(w, " moved ");
        put_u(w, r->c & 0xffff);
    }
    put_rule(w, r->rule);
    put_char(w, '\n');
}

static void line_phase(struct writer *w, const struct wb_trace_record *r)
{
    if (!w->opt->marks) return;
    put_mark(w, r, r->task);
    put_text(w, "phase ");
    put_u(w, r->a);
    put_char(w, ' ');
    put_u(w, r->b);
    put_char(w, ' ');
    put_u(w, r->c);
    put_char(w, '\n');
}

static void line_counter(struct writer *w, const struct wb_trace_record *r)
{
    if (!w->opt->marks) return;
    put_head(w, r, w->current[r->cpu], ".....");
    put_text(w, "tracing_mark_write: C|0|counter");
    put_u(w, r->a);
    put_text(w, " cpu");
    put_u(w, r->cpu);
    put_char(w, '|');
    put_u(w, (uint64_t)r->c << 32 | r->b);
    put_char(w, '\n');
}

static void (*const line[WB_TR_N])(struct writer *w, const struct wb_trace_record *r) = {
    [WB_TR_SWITCH] = line_switch,   [WB_TR_WAKING] = line_waking,
    [WB_TR_WAKEUP] = line_wakeup,   [WB_TR_WAKEUP_NEW] = line_wakeup_new,
    [WB_TR_MIGRATE] = line_migrate, [WB_TR_FORK] = line_fork,
    [WB_TR_EXIT] = line_exit,       [WB_TR_RUNTIME] = line_runtime,
    [WB_TR_IDLE] = line_idle,       [WB_TR_BALANCE] = line_balance,
    [WB_TR_PHASE] = line_phase,     [WB_TR_COUNTER] = line_counter,
};

/* ------------------------------------------------------------------ the file */
static void flush(struct writer *w)
{
    size_t n = (size_t)(w->at - w->buf);
    errno = 0;
    if (!w->error && fwrite(w->buf, 1, n, w->out) != n) w->error = errno ? -errno : -EIO;
    w->at = w->buf;
}

/* Text of the user on the comment line: nothing that ends the line or looks like another field. */
static const char *comment(const char *s, char *buf, size_t n)
{
    size_t i = 0;
    for (; s && s[i] && i + 1 < n; i++) buf[i] = s[i] <= ' ' || s[i] == 127 ? '_' : s[i];
    buf[i] = 0;
    return i ? buf : "-";
}

static void put_header(struct writer *w)
{
    const struct wb_ftrace_options *o = w->opt;
    char machine[128], kernel[128], policy[32], run[64], version[32], text[512];
    put_text(w, "# tracer: nop\n#\n");
    snprintf(text, sizeof(text), "# wakebal: simulated; version=%s run=%s seed=%llu replication=%u\n",
             comment(o->version, version, sizeof(version)), comment(o->run, run, sizeof(run)),
             (unsigned long long)o->seed, o->replication);
    put_text(w, text);
    snprintf(text, sizeof(text), "# wakebal: machine=%s kernel=%s scheduler=%s\n#\n",
             comment(o->machine, machine, sizeof(machine)), comment(o->kernel, kernel, sizeof(kernel)),
             comment(o->policy, policy, sizeof(policy)));
    put_text(w, text);
    put_text(w, "#           TASK-PID    (  TGID) CPU#  IRQFL   TIMESTAMP  FUNCTION\n");
    if (!trace_lost(w->trace)) return;
    snprintf(text, sizeof(text), "# %llu older events were overwritten; the ring holds %llu\n",
             (unsigned long long)trace_lost(w->trace), (unsigned long long)w->trace->capacity);
    put_text(w, text);
}

static int prepare(struct writer *w)
{
    w->buf = malloc(BUFFER + LINE_MAX_BYTES);
    w->current = malloc((w->names->ncpus + 1) * sizeof(*w->current));
    if (!w->buf || !w->current) return -ENOMEM;
    w->at = w->buf;
    w->end = w->buf + BUFFER;
    trace_first_tasks(w->trace, w->names, w->current);
    return comm_table_init(&w->tasks, w->names);
}

int wb_trace_write_ftrace(FILE *out, const struct wb_trace *t, const struct wb_trace_names *names,
                          const struct wb_ftrace_options *opt)
{
    static const struct wb_ftrace_options plain;
    struct writer w = {.out = out, .names = names, .opt = opt ? opt : &plain, .trace = t};
    w.error = prepare(&w);
    if (w.error) goto out;
    put_header(&w);
    uint64_t n = trace_count(t);
    for (uint64_t i = 0; i < n && !w.error; i++) {
        const struct wb_trace_record *r = trace_at(t, i);
        WB_CHECK(r->type < WB_TR_N && r->cpu < names->ncpus, "record of type %u on cpu %u", r->type, r->cpu);
        if (line[r->type]) line[r->type](&w, r);
        if (w.at > w.end) flush(&w);
    }
    flush(&w);
    if (!w.error && fflush(out)) w.error = errno ? -errno : -EIO;
out:
    comm_table_free(&w.tasks);
    free(w.buf);
    free(w.current);
    return w.error;
}
