/*
 * calls_compile.c - from the tables of a kernel profile to a flat list of operations and to locks; see calls.h.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 16u

static const struct {
    const char *word;
    enum call_op op;
} words[] = {{"lock", CALL_LOCK}, {"unlock", CALL_UNLOCK}, {"atomic", CALL_ATOMIC},
             {"read", CALL_READ}, {"write", CALL_WRITE},   {"clock", CALL_CLOCK}};

/* A list of steps that is being worked off: of the call or of a function. */
struct level {
    char path[96]; /* "kernel.function.fget" */
    uint16_t fn;
    uint32_t i, n;
    bool own_done; /* its own cost is charged, or a "self" will do it */
};
struct compiler {
    const struct workload_entry *e;
    struct call *c;
    struct call_step step[CALL_STEPS];
    struct level level[DEPTH];
    uint32_t depth;
};

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

static bool is_call(const struct level *l)
{
    return !strncmp(l->path, "kernel.calls.", 13);
}

static const char *steps_path(const struct level *l)
{
    return wb_cfg_path("%s.steps", l->path);
}

static int mistake(struct compiler *m, const char *fix, const char *what, const char *word)
{
    const struct level *l = &m->level[m->depth - 1];
    char path[128];
    (void)snprintf(path, sizeof path, "%s.steps", l->path);
    wb_cfg_error(m->e->cfg, m->e->d, path, fix, "'%.80s': %s", word, what);
    return -1;
}

static int lock_index(const struct workload_entry *e, const char *name)
{
    const char *member;
    for (size_t i = 0; i < CALL_LOCKS && (member = wb_cfg_member(e->cfg, "kernel.locks", i)); i++)
        if (!strcmp(member, name)) return (int)i;
    return -1;
}

/* Kernels for one CPU have no spinlocks, but those that are released by xchg were left in (FreeBSD 5.2). */
static bool compiled_out(const struct workload_entry *e, enum call_op op, int ref)
{
    if ((op != CALL_LOCK && op != CALL_UNLOCK) || strcmp(wb_cfg_str(e->cfg, "kernel.build"), "up")) return false;
    const char *name = wb_cfg_member(e->cfg, "kernel.locks", (size_t)ref);
    bool sleeps = find_name(wb_sleeplock_kind_name, wb_cfg_str(e->cfg, wb_cfg_path("kernel.locks.%s.kind", name))) >= 0;
    return !sleeps && !wb_cfg_bool(e->cfg, wb_cfg_path("kernel.locks.%s.xchg", name));
}

static int add(struct compiler *m, enum call_op op, uint16_t fn, int ref)
{
    if (compiled_out(m->e, op, ref)) return 0;
    if (m->c->nsteps == CALL_STEPS) return mistake(m, "leave out what costs little", "the call has too many steps", "");
    m->step[m->c->nsteps++] = (struct call_step){.op = (uint8_t)op, .fn = fn, .ref = (uint16_t)ref};
    m->c->count[op]++;
    return 0;
}

/* Cost of a function under its name, as a profiler would print it. */
static uint16_t label(const struct workload_entry *e, const char *name, const char *path)
{
    const struct wb_machine_spec *spec = wb_machine_costs(wb_machine_of(e->s));
    sim_time cost = wb_cfg_cost(e->cfg, wb_cfg_path("%s.cost", path), spec->clock_hz, spec->cpi_ppm);
    return wb_fn_id(e->s, name, WB_CAT_SYSCALL, cost);
}

static bool has_self(const struct workload_entry *e, const char *path)
{
    size_t n = wb_cfg_has(e->cfg, path) ? wb_cfg_count(e->cfg, path) : 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(wb_cfg_str_at(e->cfg, path, i), "self")) return true;
    return false;
}

/* Go into a function (or the call itself). */
static int enter(struct compiler *m, const char *group, const char *name)
{
    char path[96], steps[112];
    (void)snprintf(path, sizeof path, "kernel.%s.%s", group, name);
    (void)snprintf(steps, sizeof steps, "%s.steps", path);
    if (m->depth == DEPTH)
        return mistake(m, "functions must not call each other in a circle", "nested too deeply", name);
    struct level *l = &m->level[m->depth++];
    *l = (struct level){.n = wb_cfg_has(m->e->cfg, steps) ? (uint32_t)wb_cfg_count(m->e->cfg, steps) : 0};
    memcpy(l->path, path, sizeof path);
    if (is_call(l)) return 0;
    l->fn = label(m->e, name, path);
    return has_self(m->e, steps) ? 0 : add(m, CALL_RUN, l->fn, 0);
}

static bool is_function(const struct workload_entry *e, const char *name)
{
    const char *member;
    for (size_t i = 0; (member = wb_cfg_member(e->cfg, "kernel.function", i)); i++)
        if (!strcmp(member, name)) return true;
    return false;
}

/* "lock NAME" and its like. 1: done, 0: no such word, -1: error. */
static int primitive(struct compiler *m, const char *word, const char *object)
{
    const struct level *l = &m->level[m->depth - 1];
    for (size_t i = 0; i < WB_ARRAY_SIZE(words); i++) {
        if (strcmp(word, words[i].word) || (words[i].op != CALL_CLOCK && !*object)) continue; /* a function write() */
        int ref = words[i].op == CALL_CLOCK ? 0 : lock_index(m->e, object);
        if (ref < 0) return mistake(m, "declare it in kernel.locks", "there is no such lock", object);
        uint16_t fn = l->fn ? l->fn : wb_fn_id(m->e->s, word, WB_CAT_SYSCALL, 0);
        return add(m, words[i].op, fn, ref) < 0 ? -1 : 1;
    }
    return 0;
}

/* "x12" -> 12. -1: it says no number of times. */
static int times_of(const char *word)
{
    size_t digits = word[0] == 'x' ? strspn(word + 1, "0123456789") : 0;
    return digits && digits <= 3 && !word[1 + digits] ? (int)strtoul(word + 1, NULL, 10) : -1;
}

/* One step: words, then perhaps xN. */
static int one_step(struct compiler *m, const char *text)
{
    char word[64], object[64] = "", last[64] = "";
    int n = sscanf(text, "%63s %63s %63s", word, object, last), times = 1;
    if (n < 1) return mistake(m, "see `wakebal help kernel.calls`", "empty step", text);
    if (n == 3 && (times = times_of(last)) < 0) return mistake(m, "write xN, N up to 999", "no number of times", last);
    if (n == 2 && times_of(object) >= 0) {
        times = times_of(object);
        object[0] = 0;
    }
    const struct level *l = &m->level[m->depth - 1];
    if (!times) return mistake(m, "leave it out", "no times", text);
    for (; times; times--) {
        if (!strcmp(word, "self") && !is_call(l)) {
            if (add(m, CALL_RUN, l->fn, 0) < 0) return -1;
            continue;
        }
        int done = primitive(m, word, object);
        if (done < 0) return -1;
        if (done) continue;
        if (times > 1) return mistake(m, "write the step as often", "only lock, atomic and the like can have xN", text);
        if (!is_function(m->e, word)) return mistake(m, "declare it in kernel.function", "no such function", word);
        return enter(m, "function", word);
    }
    return 0;
}

static int flatten(struct compiler *m, const char *name)
{
    if (enter(m, "calls", name) < 0) return -1;
    while (m->depth) {
        struct level *l = &m->level[m->depth - 1];
        if (l->i == l->n) {
            m->depth--;
            continue;
        }
        const char *text = wb_cfg_str_at(m->e->cfg, steps_path(l), l->i++);
        if (one_step(m, text) < 0) return -1;
    }
    return 0;
}

static sim_time clock_of(const struct workload_entry *e)
{
    const struct wb_machine_spec *spec = wb_machine_costs(wb_machine_of(e->s));
    char path[96];
    (void)snprintf(path, sizeof path, "machine.timecounter.%.40s", wb_cfg_str(e->cfg, "kernel.timecounter"));
    if (!wb_cfg_has(e->cfg, wb_cfg_path("%s.read", path))) return 0;
    return wb_cfg_cost(e->cfg, wb_cfg_path("%s.read", path), spec->clock_hz, 1000000) *
           (sim_time)wb_cfg_int(e->cfg, wb_cfg_path("%s.reads", path));
}

/* Each lock that a call takes it must drop. */
static int check_balance(const struct workload_entry *e, const struct call *c, const char *name)
{
    int held[CALL_LOCKS] = {0};
    bool bad = false;
    for (uint32_t i = 0; i < c->nsteps; i++) {
        int *h = &held[c->step[i].ref];
        *h += (c->step[i].op == CALL_LOCK) - (c->step[i].op == CALL_UNLOCK);
        bad |= *h < 0 || *h > 1;
    }
    for (uint32_t i = 0; i < CALL_LOCKS; i++) bad |= held[i] != 0;
    if (!bad) return 0;
    wb_cfg_error(e->cfg, e->d, wb_cfg_path("kernel.calls.%s.steps", name), "each `lock X` needs its `unlock X`",
                 "call %s takes a lock twice or leaves with one held", name);
    return -1;
}

int call_compile(const struct workload_entry *e, const char *name, struct call *out)
{
    const char *member = NULL;
    for (size_t i = 0; (member = wb_cfg_member(e->cfg, "kernel.calls", i)) && strcmp(member, name);) i++;
    if (!member) {
        wb_cfg_error(e->cfg, e->d, workload_key(e, "call"), "see its kernel.calls, or take another kernel",
                     "this kernel does not say what the call '%.60s' does", name);
        return -1;
    }
    struct compiler *m = calloc(1, sizeof *m);
    WB_MEMORY(m, "out of memory while a call was compiled");
    *m = (struct compiler){.e = e, .c = out};
    *out = (struct call){.mpsafe = wb_cfg_bool(e->cfg, wb_cfg_path("kernel.calls.%s.mpsafe", name))};
    int rc = flatten(m, name);
    if (!rc) {
        out->step = wb_sim_alloc(e->s, (out->nsteps + 1) * sizeof *out->step);
        memcpy(out->step, m->step, out->nsteps * sizeof *out->step);
        out->clock = clock_of(e);
        rc = check_balance(e, out, name);
    }
    if (!rc && out->count[CALL_CLOCK] && !out->clock) {
        wb_cfg_error(e->cfg, e->d, "kernel.timecounter", "give machine.timecounter.NAME.read",
                     "this machine does not say what reading '%.40s' costs", wb_cfg_str(e->cfg, "kernel.timecounter"));
        rc = -1;
    }
    free(m);
    return rc;
}

uint32_t call_locks(const struct workload_entry *e, const struct call *c, const char *lock)
{
    int ref = lock_index(e, lock);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nsteps; i++) n += c->step[i].op == CALL_LOCK && c->step[i].ref == ref;
    return n;
}

/* ---- locks ---- */

static struct call_lock *make_lock(const struct workload_entry *e, const char *name)
{
    static const char *const spins[] = {"test-and-set", "ticket", "queued", NULL};
    const char *kind = wb_cfg_str(e->cfg, wb_cfg_path("kernel.locks.%s.kind", name));
    struct call_lock *l = wb_sim_alloc(e->s, sizeof *l);
    int sleeping = find_name(wb_sleeplock_kind_name, kind), spinning = find_name(spins, kind);
    *l = (struct call_lock){.sleeps = sleeping >= 0, .line_only = !strcmp(kind, "line")};
    if (l->line_only) {
        l->line = wb_sim_line(e->s);
    } else if (l->sleeps) {
        wb_sleeplock_init(e->s, &l->sleep, (enum wb_sleeplock_kind)sleeping, false);
        l->line = l->sleep.line;
    } else {
        if (spinning < 0)
            wb_spin_init(e->s, &l->spin);
        else
            wb_spin_init_kind(e->s, &l->spin, (enum wb_spin_kind)spinning);
        l->line = l->spin.line;
        l->spin.xchg = wb_cfg_bool(e->cfg, wb_cfg_path("kernel.locks.%s.xchg", name));
        l->irqs_off = wb_cfg_bool(e->cfg, wb_cfg_path("kernel.locks.%s.irqs_off", name));
    }
    return l;
}

/* Those with scope global are there once for all workloads of the run. */
static struct call_lock **global_locks(const struct workload_entry *e)
{
    void **shared = wb_sim_shared(e->s, "kernel.locks");
    if (!*shared) {
        *shared = wb_sim_alloc(e->s, CALL_LOCKS * sizeof(struct call_lock *));
        memset(*shared, 0, CALL_LOCKS * sizeof(struct call_lock *));
    }
    return *shared;
}

struct call_lock **call_locks_new(const struct workload_entry *e, struct call_lock *const *of)
{
    struct call_lock **global = global_locks(e);
    struct call_lock **mine = wb_sim_alloc(e->s, CALL_LOCKS * sizeof(struct call_lock *));
    const char *name;
    memset(mine, 0, CALL_LOCKS * sizeof(struct call_lock *));
    for (size_t i = 0; i < CALL_LOCKS && (name = wb_cfg_member(e->cfg, "kernel.locks", i)); i++) {
        const char *scope = wb_cfg_str(e->cfg, wb_cfg_path("kernel.locks.%s.scope", name));
        if (!strcmp(scope, "global")) {
            if (!global[i]) global[i] = make_lock(e, name);
            mine[i] = global[i];
        } else {
            mine[i] = of && !strcmp(scope, "process") ? of[i] : make_lock(e, name);
        }
    }
    return mine;
}
