/*
 * view_timeline.c - who ran where, one row per CPU and one letter per column.
 *
 * A column shows the task that ran longest inside it (the first of equals). Time on one CPU comes in order, so only
 * the column under way needs sums per task. Letters go to the tasks seen, in order of id; beyond 62 tasks those who
 * ran longest get them.
 */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "tracering.h"
#include "wakebal/traceview.h"

#define WIDTH_DEFAULT 80u
#define WIDTH_MIN 30u
#define CHART_BESIDE_LEGEND 40u /* the legend stands at the right when the chart keeps so many columns */
#define COLUMN_TASKS 16u        /* tasks told apart inside one column */
#define MANY_CPUS 16u           /* with more CPUs, rows that are idle throughout become one line */
#define NOBODY WB_NO_TASK

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
#define NLETTERS (sizeof(letters) - 1)

struct row {
    task_id current;
    sim_time since;
    uint32_t column; /* under way */
    uint32_t n;
    task_id who[COLUMN_TASKS];
    sim_time time[COLUMN_TASKS];
    uint32_t marks;
    bool busy; /* somebody ran */
};
struct chart {
    FILE *out;
    const struct wb_trace *trace;
    const struct wb_trace_names *names;
    struct comm_table tasks;
    sim_time from, to, column; /* column: ps of one */
    uint32_t columns, width, label;
    bool unicode;
    struct row *row;        /* [ncpus] */
    task_id *cell;          /* [ncpus][columns] */
    uint8_t *mark;          /* [ncpus][columns] a task arrived by migration */
    sim_time *ran, *sorted; /* [ntasks]; sorted is scratch */
    char *letter;           /* [ntasks] 0 = not seen */
};

/* ------------------------------------------------------------------ filling the grid */
static void close_column(struct chart *c, uint32_t cpu)
{
    struct row *r = &c->row[cpu];
    uint32_t best = 0;
    for (uint32_t i = 1; i < r->n; i++)
        if (r->time[i] > r->time[best]) best = i;
    c->cell[(size_t)cpu * c->columns + r->column] = r->n ? r->who[best] : NOBODY;
    r->n = 0;
    r->column++;
}

static void add_time(struct row *r, task_id who, sim_time d)
{
    uint32_t i = 0;
    while (i < r->n && r->who[i] != who) i++;
    if (i == COLUMN_TASKS) return;
    if (i == r->n) {
        r->who[i] = who;
        r->time[i] = 0;
        r->n++;
    }
    r->time[i] += d;
}

/* The present task of the CPU ran until `now`. */
static void advance(struct chart *c, uint32_t cpu, sim_time now)
{
    struct row *r = &c->row[cpu];
    now = WB_MIN(WB_MAX(now, c->from), c->to);
    if (r->current < c->names->ntasks) c->ran[r->current] += now - r->since;
    if (now > r->since && r->current != NOBODY && !comm_of(&c->tasks, r->current)->idle) r->busy = true;
    while (r->since < now) {
        sim_time edge = c->from + (r->column + 1ull) * c->column, until = WB_MIN(edge, now);
        add_time(r, r->current, until - r->since);
        r->since = until;
        if (until == edge) close_column(c, cpu);
    }
}

static void note_migration(struct chart *c, const struct wb_trace_record *r)
{
    if (r->when < c->from || r->when >= c->to || r->b >= c->names->ncpus) return;
    size_t at = (size_t)((r->when - c->from) / c->column);
    uint8_t *m = &c->mark[(size_t)r->b * c->columns + at];
    if (!*m) c->row[r->b].marks++;
    *m = 1;
}

static void fill(struct chart *c)
{
    uint64_t n = trace_count(c->trace);
    for (uint64_t i = 0; i < n; i++) {
        const struct wb_trace_record *r = trace_at(c->trace, i);
        if (r->when >= c->to) break;
        if (r->type == WB_TR_MIGRATE) note_migration(c, r);
        if (r->type != WB_TR_SWITCH || r->cpu >= c->names->ncpus) continue;
        advance(c, r->cpu, r->when);
        c->row[r->cpu].current = r->a;
    }
    for (uint32_t cpu = 0; cpu < c->names->ncpus; cpu++) {
        advance(c, cpu, c->to);
        if (c->row[cpu].column < c->columns) close_column(c, cpu);
    }
}

/* ------------------------------------------------------------------ letters */
static bool has_letter(const struct chart *c, task_id id)
{
    return c->ran[id] > 0 && !c->tasks.entry[id].idle;
}

static int longest_first(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;
    return (x < y) - (x > y);
}

/* Run time that a task must reach to get a letter: all get one unless there are too many. */
static sim_time letter_threshold(const struct chart *c)
{
    size_t n = 0;
    for (task_id i = 0; i < c->tasks.n; i++)
        if (has_letter(c, i)) c->sorted[n++] = c->ran[i];
    if (n <= NLETTERS) return 1;
    qsort(c->sorted, n, sizeof(*c->sorted), longest_first);
    return c->sorted[NLETTERS - 1];
}

static void give_letters(struct chart *c)
{
    sim_time least = letter_threshold(c);
    size_t n = 0;
    for (task_id i = 0; i < c->tasks.n; i++) {
        if (!has_letter(c, i)) continue;
        c->letter[i] = c->ran[i] >= least && n < NLETTERS ? letters[n++] : '+';
    }
}

/* ------------------------------------------------------------------ drawing */
static const char *idle_sign(const struct chart *c)
{
    return c->unicode ? "\u00b7" : ".";
}

static const char *mark_sign(const struct chart *c)
{
    return c->unicode ? "\u2502" : "|";
}

static void draw_cell(const struct chart *c, uint32_t cpu, uint32_t col, bool marks)
{
    size_t at = (size_t)cpu * c->columns + col;
    task_id who = c->cell[at];
    if (marks && c->mark[at])
        fputs(mark_sign(c), c->out);
    else if (who >= c->tasks.n || !c->letter[who])
        fputs(idle_sign(c), c->out);
    else
        fputc(c->letter[who], c->out);
}

static bool marks_readable(const struct chart *c, uint32_t cpu)
{
    return c->row[cpu].marks * 4 <= c->columns;
}

/* 1, 2 or 5 times a power of ten ps, at least `least`. */
static sim_time nice_step(sim_time least)
{
    sim_time step = 1;
    for (;;) {
        if (step >= least) return step;
        if (step * 2 >= least) return step * 2;
        if (step * 5 >= least) return step * 5;
        step *= 10;
    }
}

static void draw_axis(const struct chart *c)
{
    static const struct {
        const char *name;
        sim_time ps;
    } unit[] = {{"s", WB_S}, {"ms", WB_MS}, {"us", WB_US}, {"ns", WB_NS}, {"ps", 1}};
    sim_time step = nice_step(c->column * 5);
    unsigned u = 0;
    while (u + 1 < WB_ARRAY_SIZE(unit) && unit[u].ps > step) u++;
    uint32_t at = 0;
    fprintf(c->out, "%-*s", (int)c->label, unit[u].name);
    for (sim_time t = 0; t < c->to - c->from; t += step) {
        uint32_t col = (uint32_t)(t / c->column);
        char text[32];
        uint32_t n = (uint32_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)(t / unit[u].ps));
        if ((t && col < at + 1) || col + n > c->columns) continue;
        fprintf(c->out, "%*s%s", (int)(col - at), "", text);
        at = col + n;
    }
    fputc('\n', c->out);
}

static void legend_item(const struct chart *c, uint32_t *used, uint32_t limit, const char *sign, const char *text)
{
    uint32_t n = 2 + (uint32_t)strlen(text);
    if (*used && *used + 2 + n > limit) {
        fputc('\n', c->out);
        *used = 0;
    }
    fprintf(c->out, "%s%s %s", *used ? "  " : "", sign, text);
    *used += n + (*used ? 2 : 0);
}

static bool any_marks(const struct chart *c)
{
    for (uint32_t i = 0; i < c->names->ncpus; i++)
        if (c->row[i].marks && marks_readable(c, i)) return true;
    return false;
}

/* The name, with the pid when another task of the chart has the same. */
static const char *legend_name(const struct chart *c, task_id id, char *buf, size_t n)
{
    const struct comm_entry *t = &c->tasks.entry[id];
    bool twin = false;
    for (task_id i = 0; i < c->tasks.n && !twin; i++)
        twin = i != id && c->letter[i] && !strcmp(c->tasks.entry[i].comm, t->comm);
    (void)snprintf(buf, n, twin ? "%s:%u" : "%s", t->comm, t->pid);
    return buf;
}

static void draw_legend(const struct chart *c, uint32_t limit)
{
    char name[WB_COMM_MAX + 12];
    uint32_t used = 0, others = 0;
    for (task_id i = 0; i < c->tasks.n; i++) {
        char sign[2] = {c->letter[i], 0};
        if (c->letter[i] == '+')
            others++;
        else if (c->letter[i])
            legend_item(c, &used, limit, sign, legend_name(c, i, name, sizeof name));
    }
    if (others) legend_item(c, &used, limit, "+", "others");
    legend_item(c, &used, limit, idle_sign(c), "idle");
    if (any_marks(c)) legend_item(c, &used, limit, mark_sign(c), "migration");
}

static uint32_t legend_length(const struct chart *c)
{
    char name[WB_COMM_MAX + 12];
    uint32_t n = 6;
    for (task_id i = 0; i < c->names->ntasks; i++)
        if (c->letter[i] && c->letter[i] != '+') n += 4 + (uint32_t)strlen(legend_name(c, i, name, sizeof name));
    return n + (any_marks(c) ? 13 : 0);
}

static void draw_rows(const struct chart *c, bool beside)
{
    bool collapse = c->names->ncpus > MANY_CPUS, first = true;
    for (uint32_t cpu = 0; cpu < c->names->ncpus; cpu++) {
        if (collapse && !c->row[cpu].busy) continue;
        char label[16];
        snprintf(label, sizeof(label), "cpu%u", cpu);
        fprintf(c->out, "%-*s", (int)c->label, label);
        bool marks = marks_readable(c, cpu);
        for (uint32_t col = 0; col < c->columns; col++) draw_cell(c, cpu, col, marks);
        if (beside && first) {
            fputs("   ", c->out);
            draw_legend(c, UINT32_MAX);
        }
        if (!marks) fprintf(c->out, "  (%u columns with migrations)", c->row[cpu].marks);
        fputc('\n', c->out);
        first = false;
    }
}

static void draw_idle_cpus(const struct chart *c)
{
    if (c->names->ncpus <= MANY_CPUS) return;
    const char *lead = "idle throughout: cpu ";
    for (uint32_t cpu = 0; cpu < c->names->ncpus; cpu++) {
        if (c->row[cpu].busy) continue;
        uint32_t last = cpu;
        while (last + 1 < c->names->ncpus && !c->row[last + 1].busy) last++;
        if (last > cpu)
            fprintf(c->out, "%s%u-%u", lead, cpu, last);
        else
            fprintf(c->out, "%s%u", lead, cpu);
        lead = ",";
        cpu = last;
    }
    if (*lead == ',') fputc('\n', c->out);
}

/* ------------------------------------------------------------------ set-up */
static int take_grid(struct chart *c)
{
    size_t cells = (size_t)c->names->ncpus * c->columns;
    free(c->row);
    free(c->cell);
    free(c->mark);
    free(c->ran);
    free(c->sorted);
    free(c->letter);
    c->row = calloc(c->names->ncpus + 1u, sizeof(*c->row));
    c->cell = calloc(cells + 1, sizeof(*c->cell));
    c->mark = calloc(cells + 1, 1);
    c->ran = calloc(c->names->ntasks + 1u, sizeof(*c->ran));
    c->sorted = calloc(c->names->ntasks + 1u, sizeof(*c->sorted));
    c->letter = calloc(c->names->ntasks + 1u, 1);
    return c->row && c->cell && c->mark && c->ran && c->sorted && c->letter ? 0 : -1;
}

/* Fill a grid of `columns`. */
static int compose(struct chart *c, uint32_t columns)
{
    c->columns = columns;
    if (take_grid(c)) return -1;
    c->column = (c->to - c->from + columns - 1) / columns;
    task_id *first = malloc((c->names->ncpus + 1u) * sizeof(*first));
    if (!first) return -1;
    trace_first_tasks(c->trace, c->names, first);
    for (uint32_t i = 0; i < c->names->ncpus; i++) {
        c->row[i].current = first[i];
        c->row[i].since = c->from;
    }
    free(first);
    for (size_t i = 0; i < (size_t)c->names->ncpus * columns; i++) c->cell[i] = NOBODY;
    fill(c);
    give_letters(c);
    return 0;
}

static int draw(struct chart *c)
{
    uint32_t full = c->width - c->label;
    if (compose(c, full)) return -1;
    uint32_t legend = legend_length(c) + 3;
    bool beside = full >= legend + CHART_BESIDE_LEGEND;
    if (beside && compose(c, full - legend)) return -1;
    if (c->from) fprintf(c->out, "from %.9g s\n", (double)c->from / (double)WB_S);
    draw_axis(c);
    draw_rows(c, beside);
    draw_idle_cpus(c);
    if (beside) return 0;
    draw_legend(c, c->width);
    fputc('\n', c->out);
    return 0;
}

/* What to draw: the asked part of what the ring holds. Without a wish it begins with the first event, not with an
 * empty stretch. */
static void window(const struct wb_trace *t, const struct wb_view_options *o, sim_time *from, sim_time *to)
{
    uint64_t n = trace_count(t);
    sim_time first = n ? trace_at(t, 0)->when : 0;
    *from = WB_MAX(o->from, trace_lost(t) ? first : t->from);
    if (!*from) *from = first;
    *to = o->to ? o->to : n ? trace_at(t, n - 1)->when + 1 : 0;
    if (*to <= *from) *to = *from + 1;
}

char *wb_view_timeline(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o)
{
    char *text = NULL;
    size_t n = 0;
    struct chart c = {.trace = t, .names = names, .unicode = o->unicode};
    c.width = WB_MAX(o->width ? o->width : WIDTH_DEFAULT, WIDTH_MIN);
    c.label = names->ncpus > 10000 ? 9 : names->ncpus > 1000 ? 8 : names->ncpus > 100 ? 7 : names->ncpus > 10 ? 6 : 5;
    window(t, o, &c.from, &c.to);
    c.out = open_memstream(&text, &n);
    if (!c.out) return NULL;
    int rc = comm_table_init(&c.tasks, names);
    if (!rc) rc = draw(&c);
    comm_table_free(&c.tasks);
    free(c.row);
    free(c.cell);
    free(c.mark);
    free(c.ran);
    free(c.sorted);
    free(c.letter);
    if (fclose(c.out) || rc) {
        free(text);
        return NULL;
    }
    return text;
}
