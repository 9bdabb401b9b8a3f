#include "fakekernel.h"

#include "../../models/ipc/futex.h"
#include "../../models/workload/calls_keys.h"
#include "domains.h"
#include "pipe.h"
#include "profile.h"
#include "net.h"
#include "skb.h"
#include "unix.h"
#include "wbtest.h"

/* ---- memory ---- */

struct block {
    struct block *next;
};

void *wb_sim_alloc(struct wb_sim *s, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes + 16);
    assert_non_null(b);
    b->next = s->block;
    s->block = b;
    return b + 1;
}

/* ---- accessors ---- */

struct wb_rq *wb_rq(struct wb_sim *s, cpu_id cpu)
{
    WB_CHECK(cpu < s->ncpus, "cpu %u of %u", cpu, s->ncpus);
    return &s->rq[cpu];
}
void *wb_policy_data(struct wb_sim *s)
{
    return s->policy;
}
cpu_id wb_ncpus(const struct wb_sim *s)
{
    return s->ncpus;
}
struct wb_task *wb_task_of(struct wb_sim *s, task_id id)
{
    return s->task[id];
}
uint32_t wb_ntasks(const struct wb_sim *s)
{
    return s->ntasks;
}
sim_time wb_sim_now(const struct wb_sim *s)
{
    return s->now;
}
sim_time wb_now(const struct wb_exec *x)
{
    return x->sim->now;
}
sim_time wb_tick_ps(const struct wb_sim *s)
{
    return WB_S / s->hz;
}
uint64_t wb_jiffies(const struct wb_sim *s)
{
    return s->jiffies_start + s->now / wb_tick_ps(s);
}
const struct wb_machine *wb_machine_of(const struct wb_sim *s)
{
    return s->machine;
}
uint32_t wb_hz(const struct wb_sim *s)
{
    return s->hz;
}
const struct wb_topology *wb_topo(const struct wb_sim *s)
{
    return s->topo;
}

uint16_t wb_fn_id(struct wb_sim *s, const char *name, enum wb_cat cat, sim_time def_ps)
{
    (void)cat;
    (void)def_ps;
    for (uint32_t i = 0; i < s->nfn; i++)
        if (!strcmp(s->fn_name[i], name)) return (uint16_t)i;
    assert_true(s->nfn < FAKE_FNS);
    s->fn_name[s->nfn] = name;
    return (uint16_t)s->nfn++;
}

/* ---- what a policy does ---- */

void wb_charge_fn(struct wb_exec *x, uint16_t fn)
{
    if (fn < FAKE_FNS) x->sim->charged[fn]++;
}
/* Time stands while a decision is made. */
sim_time wb_charged(const struct wb_exec *x)
{
    (void)x;
    return 0;
}
void wb_charge_fn_as(struct wb_exec *x, uint16_t fn, uint32_t n, enum wb_cat cat)
{
    (void)cat;
    if (fn < FAKE_FNS) x->sim->charged[fn] += n;
}
void wb_charge_fn_n(struct wb_exec *x, uint16_t fn, uint32_t n)
{
    if (fn < FAKE_FNS) x->sim->charged[fn] += n;
}
void wb_scan_rq(struct wb_exec *x, cpu_id cpu)
{
    x->sim->scans++;
    (void)cpu;
}
void wb_scan_rqs(struct wb_exec *x, const struct wb_cpumask *m)
{
    WB_FOR_EACH_CPU (c, m)
        if (c != x->cpu) wb_scan_rq(x, c);
}
void wb_scan_idle(struct wb_exec *x, cpu_id cpu)
{
    wb_scan_rq(x, cpu);
}
void wb_resched(struct wb_exec *x, struct wb_rq *rq)
{
    x->sim->resched_calls++;
    rq->need_resched = true;
}
void wb_raise_balance(struct wb_exec *x)
{
    x->sim->balance_raised++;
    x->sim->rq[x->cpu].balance_softirq = true;
}
void wb_kick_nohz(struct wb_exec *x, cpu_id cpu)
{
    x->sim->kicks++;
    x->sim->kicked = cpu;
}
void wb_finish_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t)
{
    assert_true(t->delayed);
    (void)x->sim->ops->dequeue(x, rq, t, WB_DEQ_SLEEP | WB_DEQ_DELAYED);
    t->delayed = t->on_rq = false;
}
/* Every task is called "task" here. */
const char *wb_task_name(const struct wb_task *t)
{
    (void)t;
    return "task";
}
void wb_tick_stop(struct wb_sim *s, cpu_id cpu)
{
    s->tick_stopped[cpu] = true;
}
void wb_tick_start(struct wb_sim *s, cpu_id cpu)
{
    s->tick_stopped[cpu] = false;
}

void wb_adopt_task(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, wb_rule rule)
{
    cpu_id from = t->cpu;
    (void)rule;
    assert_true(t->on_rq && !t->on_cpu && from != rq->cpu);
    assert_true(wb_mask_test(t->allowed, rq->cpu));
    x->sim->ops->migrate(x, t, from, rq->cpu);
    t->cpu = rq->cpu;
    x->sim->moves++;
}

void wb_move_task(struct wb_exec *x, struct wb_balance *b, struct wb_task *t, wb_rule rule)
{
    struct wb_sim *s = x->sim;
    wb_rule why = 0;
    (void)rule;
    assert_true(t->on_rq && !t->on_cpu && t->cpu == b->src);
    assert_true(wb_mask_test(t->allowed, b->dst));
    (void)s->ops->dequeue(x, &s->rq[b->src], t, WB_DEQ_MIGRATE);
    s->ops->migrate(x, t, b->src, b->dst);
    t->cpu = b->dst;
    s->ops->enqueue(x, &s->rq[b->dst], t, WB_ENQ_MIGRATE);
    if (s->ops->check_preempt(x, &s->rq[b->dst], t, WB_WF_MIGRATED, &why)) wb_resched(x, &s->rq[b->dst]);
    b->moved++;
    s->moves++;
}

/* ---- building ---- */

static const struct wb_key no_workload[] = {
    {.path = "workload.nothing",
     .type = WB_KEY_BOOL,
     .only = "none",
     .def = "false",
     .help = "A workload that does nothing."},
    CALLS_KEYS, /* kernel files have the tables of system calls too */
};

static struct wb_key_registry *all_keys(const struct wb_policy_ops *ops)
{
    struct wb_key_registry *r = wb_keys_new();
    size_t n;
    const struct wb_key *rows = wb_machine_keys(&n);
    wb_keys_add(r, rows, n);
    rows = wb_kernel_keys(&n);
    wb_keys_add(r, rows, n);
    rows = wb_domain_keys(&n);
    wb_keys_add(r, rows, n);
    wb_keys_add(r, ops->keys, ops->nkeys);
    wb_keys_add(r, pipe_keys, PIPE_KEYS);
    wb_keys_add(r, unix_keys, UNIX_KEYS);
    wb_keys_add(r, net_keys, NET_KEYS);
    wb_keys_add(r, socket_keys, socket_keys_n);
    wb_keys_add(r, futex_keys, FUTEX_KEYS);
    wb_keys_add(r, no_workload, WB_ARRAY_SIZE(no_workload));
    return r;
}

static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    if (strcmp(path, "fake.cfg")) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(ctx);
    *len = strlen(ctx);
    return *text ? 0 : -1;
}
static bool text_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "fake.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

static void give_up(const struct wb_diag *d)
{
    char *text = wb_diag_render(d, false);
    fail_msg("%s", text);
    free(text);
}

static void load(struct wb_sim *s, const char *kernel, const char *machine, const char *const *sets)
{
    char *text = wb_sim_alloc(s, 4096), buf[16][128];
    struct wb_override item[16];
    struct wb_overrides over = {.item = item};
    bool body = strchr(kernel, '=') != NULL;
    (void)snprintf(text, 4096,
                   "schema = 1;\nmachine : { %s };\nkernel : { %s%s%s };\nworkload = ( { kind = \"none\"; } );\n",
                   machine, body ? "" : "base = \"", kernel, body ? "" : "\";");
    for (; sets && sets[over.n]; over.n++) {
        assert_true(over.n < WB_ARRAY_SIZE(item));
        (void)snprintf(buf[over.n], sizeof buf[0], "%s", sets[over.n]);
        char *eq = strchr(buf[over.n], '=');
        assert_non_null(eq);
        *eq = 0;
        item[over.n] = (struct wb_override){.key = buf[over.n], .value = eq + 1, .from = "--set"};
    }
    s->reader = (struct wb_reader){.read = read_text, .exists = text_exists, .ctx = text};
    struct wb_scenario_options o = {.overrides = &over, .reader = &s->reader};
    s->scenario = wb_scenario_load_with("fake.cfg", s->keys, &o, s->diag);
    if (!s->scenario) give_up(s->diag);
}

static struct wb_task *new_task(struct wb_sim *s, cpu_id cpu, enum wb_sched_class klass)
{
    struct wb_task *t = wb_sim_alloc(s, sizeof *t);
    assert_true(s->ntasks < FAKE_TASKS);
    t->id = s->ntasks;
    t->klass = (uint8_t)klass;
    t->cpu = cpu;
    t->allowed = &s->all;
    t->x = (struct wb_exec){.sim = s, .task = t, .cpu = cpu};
    t->policy = wb_sim_alloc(s, s->ops->task_bytes);
    s->task[s->ntasks++] = t;
    return t;
}

static void build_cpus(struct wb_sim *s)
{
    s->rq = wb_sim_alloc(s, s->ncpus * sizeof *s->rq);
    s->tick_stopped = wb_sim_alloc(s, s->ncpus * sizeof *s->tick_stopped);
    s->all = (struct wb_cpumask){.ncpus = s->ncpus, .nwords = WB_CPUMASK_WORDS(s->ncpus)};
    s->all.w = wb_sim_alloc(s, s->all.nwords * sizeof(uint64_t));
    for (cpu_id c = 0; c < s->ncpus; c++) {
        wb_mask_set(&s->all, c);
        s->rq[c].cpu = c;
        s->rq[c].policy = wb_sim_alloc(s, s->ops->rq_bytes);
        s->rq[c].idle = s->rq[c].curr = new_task(s, c, WB_CLASS_SWAPPER);
        s->rq[c].idle->on_cpu = true;
    }
}

struct wb_sim *fake_load(const struct wb_policy_ops *ops, const char *kernel, const char *machine,
                         const char *const *sets)
{
    struct wb_sim *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->ops = ops;
    s->keys = all_keys(ops);
    s->diag = wb_diag_new();
    load(s, kernel, machine, sets);
    const struct wb_config *cfg = wb_scenario_config(s->scenario);
    s->machine = wb_machine_build(cfg, s->diag);
    if (!s->machine) give_up(s->diag);
    s->topo = wb_machine_topo(s->machine);
    s->ncpus = s->topo->ncpus;
    return s;
}

struct wb_sim *fake_new(const struct wb_policy_ops *ops, const char *kernel, const char *machine,
                        const char *const *sets)
{
    struct wb_sim *s = fake_load(ops, kernel, machine, sets);
    const struct wb_config *cfg = wb_scenario_config(s->scenario);
    s->hz = (uint32_t)wb_cfg_int(cfg, "kernel.hz");
    s->jiffies_start = 1000;
    build_cpus(s);
    struct wb_sd **lowest = wb_sim_alloc(s, s->ncpus * sizeof(struct wb_sd *));
    if (domains_build(s, cfg, s->topo, lowest, s->diag)) give_up(s->diag);
    for (cpu_id c = 0; c < s->ncpus; c++) s->rq[c].sd = lowest[c];
    s->policy = wb_sim_alloc(s, ops->sim_bytes);
    if (ops->init(s, cfg, s->diag)) give_up(s->diag);
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct wb_task *t = new_task(s, c, WB_CLASS_STOP);
        t->kthread = true;
        t->state = WB_INTERRUPTIBLE;
        s->rq[c].stopper = t;
        ops->task_init(s, t);
    }
    return s;
}

void fake_free(struct wb_sim *s)
{
    for (struct block *b = s->block, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    wb_machine_free(s->machine);
    wb_scenario_free(s->scenario);
    wb_diag_free(s->diag);
    wb_keys_free(s->keys);
    free(s);
}

/* ---- states ---- */

struct wb_task *fake_task_of_class(struct wb_sim *s, cpu_id cpu, int nice, enum wb_sched_class klass)
{
    struct wb_task *t = new_task(s, cpu, klass);
    t->nice = (int8_t)nice;
    t->mm = t->id;
    t->state = WB_INTERRUPTIBLE;
    s->ops->task_init(s, t);
    return t;
}

struct wb_task *fake_task(struct wb_sim *s, cpu_id cpu, int nice)
{
    return fake_task_of_class(s, cpu, nice, WB_CLASS_NORMAL);
}

struct wb_exec *fake_exec_irq(struct wb_sim *s, cpu_id cpu, enum wb_level level)
{
    struct wb_exec *x = &s->rq[cpu].curr->x;
    x->cpu = cpu;
    x->level = (uint8_t)level;
    return x;
}

struct wb_exec *fake_exec(struct wb_sim *s, cpu_id cpu)
{
    return fake_exec_irq(s, cpu, WB_LEVEL_TASK);
}

void fake_enqueue(struct wb_sim *s, struct wb_task *t, uint32_t flags)
{
    s->ops->enqueue(fake_exec(s, t->cpu), &s->rq[t->cpu], t, flags);
    t->on_rq = true;
    t->state = WB_RUNNING;
}

void fake_run(struct wb_sim *s, struct wb_task *t)
{
    struct wb_rq *rq = &s->rq[t->cpu];
    rq->curr->on_cpu = false;
    rq->curr = t;
    rq->need_resched = false;
    t->on_cpu = true;
}

struct wb_task *fake_runnable(struct wb_sim *s, cpu_id cpu, int nice)
{
    struct wb_task *t = fake_task(s, cpu, nice);
    fake_enqueue(s, t, WB_ENQ_WAKEUP);
    return t;
}

struct wb_task *fake_running(struct wb_sim *s, cpu_id cpu, int nice)
{
    struct wb_task *t = fake_runnable(s, cpu, nice);
    fake_run(s, t);
    return t;
}

struct wb_task *fake_schedule(struct wb_sim *s, cpu_id cpu, enum wb_task_state state)
{
    struct wb_rq *rq = &s->rq[cpu];
    struct wb_task *prev = rq->curr;
    struct wb_exec *x = fake_exec(s, cpu);
    rq->need_resched = false;
    if (prev != rq->idle) {
        if (state != WB_RUNNING) {
            prev->state = (uint8_t)state;
            prev->delayed = !s->ops->dequeue(x, rq, prev, WB_DEQ_SLEEP | (state == WB_DEAD ? WB_DEQ_EXIT : 0u));
            prev->on_rq = prev->delayed;
        }
        s->ops->put_prev(x, rq, prev);
    }
    struct wb_task *next = s->ops->pick(x, rq, prev);
    if (!next) next = rq->idle;
    prev->on_cpu = false;
    rq->curr = next;
    next->on_cpu = true;
    return next;
}

void fake_ticks(struct wb_sim *s, cpu_id cpu, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        s->now += wb_tick_ps(s);
        s->rq[cpu].last_tick = s->now;
        s->rq[cpu].ticks++;
        s->ops->tick(fake_exec_irq(s, cpu, WB_LEVEL_HARDIRQ), &s->rq[cpu]);
        (void)fake_exec(s, cpu);
    }
}

struct wb_stream wb_sim_stream(struct wb_sim *s, uint64_t entity, uint32_t purpose)
{
    (void)s;
    return wb_stream_make(1, 0, entity, purpose);
}

/* ---- wakeups and balancing ---- */

struct wb_choice fake_wake(struct wb_sim *s, struct wb_task *t, cpu_id waker_cpu, uint32_t flags, wb_rule *preempt)
{
    struct wb_exec *x = &s->rq[waker_cpu].curr->x;
    struct wb_wakeup w = {.task = t, .this_cpu = waker_cpu, .prev_cpu = t->cpu, .flags = flags};
    wb_rule rule = 0;
    if (t->delayed) { /* still queued: where it is */
        s->ops->enqueue(x, &s->rq[t->cpu], t, WB_ENQ_WAKEUP | WB_ENQ_DELAYED);
        t->delayed = false;
        t->state = WB_RUNNING;
        if (s->ops->check_preempt(x, &s->rq[t->cpu], t, flags, &rule)) wb_resched(x, &s->rq[t->cpu]);
        if (preempt) *preempt = rule;
        return (struct wb_choice){.cpu = t->cpu};
    }
    struct wb_choice c = s->ops->place_wakeup(x, &w);
    if (c.cpu != t->cpu) {
        s->ops->migrate(x, t, t->cpu, c.cpu);
        t->cpu = c.cpu;
    }
    s->ops->enqueue(x, &s->rq[c.cpu], t, WB_ENQ_WAKEUP);
    t->on_rq = true;
    t->state = WB_RUNNING;
    if (s->ops->check_preempt(x, &s->rq[c.cpu], t, flags, &rule)) wb_resched(x, &s->rq[c.cpu]);
    if (preempt) *preempt = rule;
    return c;
}

static const struct wb_balance_ops *balance_ops(const struct wb_sim *s, enum wb_balance_kind kind)
{
    if (kind == WB_BAL_NEWIDLE) return s->ops->balance_newidle;
    if (kind == WB_BAL_ACTIVE) return s->ops->balance_active;
    return kind == WB_BAL_NOHZ ? s->ops->balance_nohz : s->ops->balance_periodic;
}

static enum wb_balance_result one_pass(struct wb_exec *x, const struct wb_balance_ops *o, struct wb_balance *b)
{
    b->moved = b->loops = 0;
    b->skip_pull = false;
    b->rule = 0;
    b->imbalance = 0;
    bool found = o->find(x, b);
    if (found && !b->skip_pull && b->src != b->dst) o->pull(x, b);
    return o->done(x, b, found);
}

uint32_t fake_balance(struct wb_sim *s, enum wb_balance_kind kind, cpu_id cpu, enum wb_level level,
                      struct wb_balance *last)
{
    const struct wb_balance_ops *o = balance_ops(s, kind);
    struct wb_exec *x = fake_exec_irq(s, cpu, level);
    struct wb_balance b = {.kind = kind, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU};
    enum wb_balance_result r = WB_BAL_NONE;
    uint32_t moved = 0;
    if (o && o->begin(x, &b)) {
        while (r != WB_BAL_STOP && o->next(x, &b)) {
            do {
                r = one_pass(x, o, &b);
                moved += b.moved;
                if (last) *last = b;
            } while (r == WB_BAL_REDO);
            if (r != WB_BAL_KICK_ACTIVE) continue;
            s->rq[b.src].active_balance = true;
            s->rq[b.src].push_cpu = b.dst;
        }
        o->end(x, &b);
    }
    x->level = WB_LEVEL_TASK;
    return moved;
}
