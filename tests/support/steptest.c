#include "steptest.h"

#include "wakebal/traceview.h"
#include "wbtest.h"

#include <stdlib.h>
#include <string.h>

struct wb_key_registry *cli_keys_new(void); /* all rows that are built in */

const char steptest_free_machine[] =
    "line : { read = \"0 ns\"; write = \"0 ns\"; rmw = \"0 ns\"; rmw_plain = \"0 ns\"; transfer : { smt = \"0 ns\"; "
    "cluster = \"0 ns\"; llc = \"0 ns\"; package = \"0 ns\"; node = \"0 ns\"; remote = \"0 ns\"; }; };\n"
    "  ipi : { send = \"0 ns\"; offset = \"0 ns\"; entry = \"0 ns\"; flight_smt = \"0 ns\"; flight_cluster = \"0 ns\"; "
    "flight_llc = \"0 ns\"; flight_package = \"0 ns\"; flight_node = \"0 ns\"; flight_remote = \"0 ns\"; };\n"
    "  idle : { c1 : { enter = \"0 ns\"; exit = \"0 ns\"; wake = \"ipi\"; }; };\n"
    "  memory : { latency = \"0 ns\"; remote_latency = \"0 ns\"; };\n";

const char *steptest_free_paths(const char *scheduler)
{
    static char text[8192];
    static const char prefix[] = "kernel.path.";
    size_t at = 0;
    struct wb_key_registry *r = cli_keys_new();
    for (size_t i = 0; i < wb_keys_count(r); i++) {
        const struct wb_key *k = wb_keys_at(r, i);
        const char *path = k->path;
        if (strncmp(path, prefix, sizeof prefix - 1) || (k->only && strcmp(k->only, scheduler))) continue;
        int n = snprintf(text + at, sizeof text - at, "%s = \"0 ns\"; ", path + sizeof prefix - 1);
        assert_true(n > 0 && at + (size_t)n < sizeof text);
        at += (size_t)n;
    }
    wb_keys_free(r);
    return text;
}

/* ---- the workload kind ---- */

static struct steptest *building; /* the build callback has no argument for it */

static const struct wb_cpumask *only(struct wb_sim *s, cpu_id cpu)
{
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(s))};
    m.w = wb_sim_alloc(s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    wb_mask_set(&m, cpu);
    return wb_mask_keep(s, &m);
}

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    struct steptest *t = building;
    (void)cfg, (void)path, (void)d;
    t->instance = instance;
    if (t->setup) t->setup(t, s);
    for (uint32_t i = 0; i < t->n; i++) {
        struct steps_task *k = &t->task[i];
        void *frame;
        struct wb_task_spec spec = {.name = k->name,
                                    .step = k->step,
                                    .frame_bytes = sizeof(struct steps_frame),
                                    .klass = WB_CLASS_NORMAL,
                                    .allowed = k->pinned ? only(s, k->cpu) : NULL,
                                    .start_cpu = k->cpu,
                                    .start_at = k->start,
                                    .start_fixed = true,
                                    .instance = instance};
        k->task = wb_task_new(s, &spec, &frame);
        struct steps_frame *f = frame;
        f->t = t;
        f->me = k;
        f->wait.task = k->task;
    }
    wb_instance_expect(s, instance, t->n);
    return 0;
}

static enum wb_ret end_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    wb_instance_done(x, x->task->owner);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

void steps_end(struct wb_exec *x)
{
    (void)wb_push(x, end_step, sizeof(struct wb_frame));
}

/* A kind is known by its keys, so it needs one. */
static const struct wb_key keys[] = {
    {.path = "workload.steps", .type = WB_KEY_INT, .def = "0", .only = "steps", .help = "Nothing.", .source = "tests"}};
static const struct wb_workload_ops kind = {.abi = 1,
                                            .kind = "steps",
                                            .help = "step functions of a test",
                                            .keys = keys,
                                            .nkeys = 1,
                                            .frame_need = sizeof(struct steps_frame) + 192,
                                            .build = build};

/* ---- building ---- */

static const char *or_none(const char *text)
{
    return text ? text : "";
}

static void late_ticks(char *out, size_t n, unsigned cpus)
{
    size_t at = (size_t)snprintf(out, n, "hz = 10; tick_phases = [ ");
    for (unsigned c = 0; c < cpus && at < n; c++)
        at += (size_t)snprintf(out + at, n - at, "%s\"99 ms\"", c ? ", " : "");
    assert_true(at + 4 < n);
    strcpy(out + at, " ];");
}

void steptest_build(struct steptest *t, const struct wb_run_options *opt)
{
    static const struct wb_workload_ops *const kinds[] = {&kind, NULL};
    char *text, ticks[512];
    late_ticks(ticks, sizeof ticks, t->cpus);
    int n = asprintf(&text,
                     "schema = 1;\nmachine : { topology = \"[numa] pack:1 l3:1 core:%u pu:1\";\n  %s  %s };\n"
                     "kernel : { scheduler = \"%s\"; %s path : { %s}; %s };\nworkload = ( { kind = \"steps\"; } );\n"
                     "run : { warmup = \"none\"; %s };\n",
                     t->cpus, steptest_free_machine, or_none(t->machine), t->scheduler, or_none(t->kernel),
                     steptest_free_paths(t->scheduler), t->ticks ? t->ticks : ticks,
                     t->run ? t->run : "horizon = \"90 ms\";");
    assert_true(n > 0);
    simtest_workloads = kinds;
    building = t;
    t->sim = simtest_build(text, t->sets, opt);
    free(text);
}

void steptest_free(struct steptest *t)
{
    simtest_free(&t->sim);
}

/* ---- timelines ---- */

struct timeline {
    const struct steptest *t;
    struct wb_trace_names names;
    FILE *out;
};

static const char *name_of(const struct timeline *l, uint32_t id)
{
    const struct wb_task *t = wb_task_of(l->t->sim.sim, id);
    if (!t) return "?";
    return t->klass == WB_CLASS_SWAPPER ? "idle" : wb_task_name(t);
}

static void say_because(const struct timeline *l, const struct wb_trace_record *r)
{
    const char *why = r->rule ? l->names.rule(l->names.ctx, r->rule) : NULL;
    fprintf(l->out, why ? " [%s]\n" : "\n", why);
}

static void say_switch(const struct timeline *l, const struct wb_trace_record *r)
{
    const char *how = r->b & 16 ? "preempted" : r->b == WB_DEAD ? "ends" : r->b ? "sleeps" : "leaves";
    if (wb_task_of(l->t->sim.sim, r->task)->klass != WB_CLASS_SWAPPER)
        fprintf(l->out, "%s %s, ", name_of(l, r->task), how);
    fprintf(l->out, "%s runs\n", name_of(l, r->a));
}

static bool wanted(const struct steptest *t, const struct wb_trace_record *r)
{
    switch (r->type) {
    case WB_TR_SWITCH:
    case WB_TR_WAKING:
    case WB_TR_MIGRATE:
    case WB_TR_BALANCE: return true;
    case WB_TR_TICK: return t->show_ticks;
    default: return false;
    }
}

static void say(const struct timeline *l, const struct wb_trace_record *r, sim_time from)
{
    unsigned long long at = (r->when - from) / (WB_US / 10);
    fprintf(l->out, "%7llu.%llu cpu%u: ", at / 10, at % 10, r->cpu);
    switch (r->type) {
    case WB_TR_SWITCH: say_switch(l, r); break;
    case WB_TR_TICK: fprintf(l->out, "tick\n"); break;
    case WB_TR_WAKING:
        fprintf(l->out, "%s wakes %s on cpu%u%s", name_of(l, r->b), name_of(l, r->task), r->a,
                r->c & WB_WF_SYNC ? ", sync" : "");
        say_because(l, r);
        break;
    case WB_TR_MIGRATE:
        fprintf(l->out, "%s moves cpu%u -> cpu%u: %s", name_of(l, r->task), r->a, r->b, wb_mig_name[r->c]);
        say_because(l, r);
        break;
    case WB_TR_BALANCE:
        fprintf(l->out, "balance: ");
        if (r->rule)
            fprintf(l->out, "from cpu%u, %u moved", r->b, r->c & 0xffff);
        else
            fprintf(l->out, "nothing to do");
        say_because(l, r);
        break;
    default: break;
    }
}

char *steptest_timeline(const struct steptest *t, sim_time from, sim_time to)
{
    const struct wb_trace *trace = wb_sim_trace(t->sim.sim);
    struct timeline l = {.t = t};
    char *text = NULL;
    size_t len;
    assert_non_null(trace);
    assert_true(trace->written <= trace->capacity);
    wb_sim_trace_names(t->sim.sim, &l.names);
    l.out = open_memstream(&text, &len);
    assert_non_null(l.out);
    for (uint64_t i = 0; i < trace->written; i++) {
        const struct wb_trace_record *r = &trace->ring[i];
        if (r->when >= from && r->when < to && wanted(t, r)) say(&l, r, from);
    }
    fclose(l.out);
    return text;
}
