#include "testpol.h"

#include "wakebal/kernel.h"

#include <stdio.h>

const char *const testpol_hook_name[TP_HOOKS] = {
    "init",
    "task_init",
    "place_wakeup",
    "place_fork",
    "place_exec",
    "fork",
    "exit",
    "enqueue",
    "dequeue",
    "put_prev",
    "pick",
    "yield",
    "migrate",
    "tick",
    "tick_idle_for",
    "tick_closed",
    "check_preempt",
    "switched",
    "newidle",
    "periodic",
    "nohz",
    "active",
    "redo",
    "queue_remote",
    "domains_built",
    "idle_enter",
    "idle_exit",
    "task_changed",
    "describe",
    "delayed dequeue",
    "finished dequeue",
    "recalled dequeue",
    "pulled task",
    "pushed task",
};

enum { RULE_NONE, RULE_IDLE, RULE_WAIT, RULE_STAY, RULE_RUN, RULE_PULL, RULE_PUSH, RULES };
static const char *const rules[RULES] = {
    [RULE_NONE] = "none",
    [RULE_IDLE] = "an idle CPU",
    [RULE_WAIT] = "waits at home",
    [RULE_STAY] = "stays",
    [RULE_RUN] = "runs at once",
    [RULE_PULL] = "has waited longest",
    [RULE_PUSH] = "pushed to an idle CPU",
};

struct pol {
    uint64_t count[TP_HOOKS];
    bool delay, remote, tickless, softirq, active;
    uint32_t sleeps, waiting;
    uint64_t arrivals;
    uint16_t fn;
};
struct pol_rq {
    struct pol_task *head, *tail;
    uint32_t nr; /* in the list, delayed ones too */
    uint64_t ticks;
    bool stopped;
};
struct pol_task {
    struct wb_task *t;
    struct pol_task *next, *prev;
    uint64_t arrival;
};

static struct pol *pol_of(struct wb_sim *s)
{
    return wb_policy_data(s);
}
static struct pol_task *task_of(const struct wb_task *t)
{
    return t->policy;
}
static struct pol_rq *rq_of(const struct wb_rq *rq)
{
    return rq->policy;
}
static void count(struct wb_sim *s, enum testpol_hook h)
{
    pol_of(s)->count[h]++;
}

const uint64_t *testpol_counts(struct wb_sim *s)
{
    return pol_of(s)->count;
}

/* ---- the lists ---- */

static void append(struct pol_rq *r, struct pol_task *p)
{
    p->next = NULL;
    p->prev = r->tail;
    *(r->tail ? &r->tail->next : &r->head) = p;
    r->tail = p;
    r->nr++;
}

static void take_out(struct pol_rq *r, struct pol_task *p)
{
    *(p->prev ? &p->prev->next : &r->head) = p->next;
    *(p->next ? &p->next->prev : &r->tail) = p->prev;
    p->next = p->prev = NULL;
    r->nr--;
}

uint32_t testpol_waiting(struct wb_sim *s)
{
    uint32_t n = 0;
    for (cpu_id c = 0; c < wb_ncpus(s); c++)
        for (const struct pol_task *p = rq_of(wb_rq(s, c))->head; p; p = p->next) n += !p->t->on_cpu && !p->t->delayed;
    return n;
}

/* ---- building ---- */

static int init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct pol *o = pol_of(s);
    (void)d;
    o->delay = wb_cfg_bool(cfg, "policy.delay_dequeue");
    o->remote = wb_cfg_bool(cfg, "policy.queue_remote");
    o->tickless = wb_cfg_bool(cfg, "policy.tickless");
    o->softirq = wb_cfg_bool(cfg, "policy.softirq");
    o->active = wb_cfg_bool(cfg, "policy.active");
    o->fn = wb_fn_id(s, "testpol_scan", WB_CAT_BALANCE, 0);
    count(s, TP_INIT);
    return 0;
}

static void domains_built(struct wb_sim *s)
{
    count(s, TP_DOMAINS_BUILT);
}

static void task_init(struct wb_sim *s, struct wb_task *t)
{
    count(s, TP_TASK_INIT);
    task_of(t)->t = t;
}

/* ---- placement ---- */

static bool free_cpu(struct wb_sim *s, cpu_id c)
{
    const struct wb_rq *rq = wb_rq(s, c);
    return wb_idle_cpu(rq) && !rq->nr_running && !rq->need_resched && !rq->wake_list;
}

static struct wb_choice place(struct wb_exec *x, const struct wb_task *t, cpu_id prev)
{
    struct wb_sim *s = x->sim;
    if (wb_mask_test(t->allowed, prev) && free_cpu(s, prev)) return (struct wb_choice){.cpu = prev, .rule = RULE_IDLE};
    for (cpu_id c = wb_mask_first(t->allowed); c != WB_NO_CPU; c = wb_mask_next(t->allowed, c + 1))
        if (free_cpu(s, c)) return (struct wb_choice){.cpu = c, .rule = RULE_IDLE, .scanned = c + 1};
    return (struct wb_choice){.cpu = wb_mask_first(t->allowed), .rule = RULE_WAIT, .scanned = wb_ncpus(s)};
}

static struct wb_choice place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    count(x->sim, TP_PLACE_WAKEUP);
    return place(x, w->task, w->prev_cpu);
}

static struct wb_choice place_fork(struct wb_exec *x, struct wb_task *child)
{
    WB_CHECK(!wb_charged(x), "a child is placed before its fork is over");
    count(x->sim, TP_PLACE_FORK);
    return place(x, child, x->cpu);
}

static struct wb_choice place_exec(struct wb_exec *x, struct wb_task *t)
{
    WB_CHECK(!wb_charged(x), "exec is placed before the work that led to it has passed");
    struct wb_choice c = place(x, t, x->cpu);
    count(x->sim, TP_PLACE_EXEC);
    return c.rule == RULE_IDLE ? c : (struct wb_choice){.cpu = x->cpu, .rule = RULE_STAY};
}

static bool queue_remote(struct wb_exec *x, const struct wb_wakeup *w, cpu_id cpu)
{
    (void)w;
    if (!pol_of(x->sim)->remote) return false;
    count(x->sim, TP_QUEUE_REMOTE);
    return cpu != x->cpu;
}

/* ---- life ---- */

static void fork_hook(struct wb_exec *x, struct wb_task *parent, struct wb_task *child)
{
    (void)parent;
    (void)child;
    count(x->sim, TP_FORK);
}
static void exit_hook(struct wb_exec *x, struct wb_task *t)
{
    (void)t;
    count(x->sim, TP_EXIT);
}
static void task_changed(struct wb_exec *x, struct wb_task *t)
{
    (void)t;
    count(x->sim, TP_TASK_CHANGED);
}

/* ---- queue ---- */

static void enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    struct pol *o = pol_of(x->sim);
    count(x->sim, TP_ENQUEUE);
    if (flags & WB_ENQ_DELAYED) { /* still there: it only counts as runnable again */
        count(x->sim, TP_RECALLED);
        take_out(rq_of(rq), task_of(t));
    }
    if (!(flags & WB_ENQ_MIGRATE)) task_of(t)->arrival = ++o->arrivals;
    append(rq_of(rq), task_of(t));
    rq->nr_running++;
}

static bool dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    struct pol *o = pol_of(x->sim);
    count(x->sim, TP_DEQUEUE);
    if (flags & WB_DEQ_DELAYED) {
        count(x->sim, TP_FINISHED);
        take_out(rq_of(rq), task_of(t));
        return true;
    }
    if (!t->delayed) rq->nr_running--; /* a delayed one does not count */
    if (o->delay && flags & WB_DEQ_SLEEP && !(flags & WB_DEQ_EXIT) && t->klass == WB_CLASS_NORMAL &&
        ++o->sleeps % 3 == 0) {
        count(x->sim, TP_DELAYED);
        take_out(rq_of(rq), task_of(t)); /* to the end, behind who still wants to run */
        append(rq_of(rq), task_of(t));
        return false;
    }
    take_out(rq_of(rq), task_of(t));
    return true;
}

static void put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    (void)rq;
    (void)prev;
    count(x->sim, TP_PUT_PREV);
}

/* Migration threads first, then in order of arrival; sleepers on the way are let go. */
static struct wb_task *pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    struct pol_rq *r = rq_of(rq);
    (void)prev;
    count(x->sim, TP_PICK);
    for (struct pol_task *p = r->head; p; p = p->next)
        if (p->t->klass == WB_CLASS_STOP) return p->t;
    while (r->head && r->head->t->delayed) wb_finish_dequeue(x, rq, r->head->t);
    return r->head ? r->head->t : NULL;
}

static void yield(struct wb_exec *x, struct wb_rq *rq)
{
    struct pol_task *p = task_of(rq->curr);
    count(x->sim, TP_YIELD);
    take_out(rq_of(rq), p);
    append(rq_of(rq), p);
}

static void migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to)
{
    WB_CHECK(from != to, "task %u moves from cpu %u to itself", t->id, from);
    count(x->sim, TP_MIGRATE);
}

static bool check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    (void)flags;
    count(x->sim, TP_CHECK_PREEMPT);
    bool now = wb_idle_cpu(rq) || t->klass == WB_CLASS_STOP;
    *rule = now ? RULE_RUN : RULE_NONE;
    return now;
}

static void switched(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev, struct wb_task *next)
{
    WB_CHECK(prev != next && rq->cpu == x->cpu, "switch from task %u to task %u", prev->id, next->id);
    count(x->sim, TP_SWITCHED);
}

/* ---- ticks ---- */

static void tick(struct wb_exec *x, struct wb_rq *rq)
{
    struct pol *o = pol_of(x->sim);
    count(x->sim, TP_TICK);
    if (++rq_of(rq)->ticks % 8 || !o->softirq) return;
    wb_raise_balance(x);
    for (cpu_id c = 0; c < wb_ncpus(x->sim); c++)
        if (c != rq->cpu && rq_of(wb_rq(x->sim, c))->stopped && !rq->nr_running) {
            wb_kick_nohz(x, c);
            break;
        }
}

static uint64_t tick_idle_for(struct wb_sim *s, struct wb_rq *rq)
{
    count(s, TP_TICK_IDLE_FOR);
    return 7 - rq_of(rq)->ticks % 8;
}

static void tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last)
{
    (void)last;
    count(s, TP_TICK_CLOSED);
    rq_of(rq)->ticks += n;
    pol_of(s)->count[TP_TICK] += n;
}

static bool idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    count(x->sim, TP_IDLE_ENTER);
    return rq_of(rq)->stopped = pol_of(x->sim)->tickless;
}

static void idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    count(x->sim, TP_IDLE_EXIT);
    if (!rq_of(rq)->stopped) return;
    rq_of(rq)->stopped = false;
    wb_tick_start(x->sim, rq->cpu);
}

/* ---- balancing: the oldest waiting task of the machine goes to who has nothing to do ---- */

static struct pol_task *oldest(struct wb_sim *s, cpu_id src, cpu_id dst)
{
    struct pol_task *p = rq_of(wb_rq(s, src))->head;
    while (p && (p->t->on_cpu || p->t->delayed || p->t->klass == WB_CLASS_STOP || !wb_mask_test(p->t->allowed, dst)))
        p = p->next;
    return p;
}

static bool begin(struct wb_exec *x, struct wb_balance *b)
{
    static const enum testpol_hook hook[WB_BAL_N] = {TP_PERIODIC, TP_PERIODIC, TP_NEWIDLE, TP_NOHZ, TP_ACTIVE};
    struct wb_rq *rq = wb_rq(x->sim, b->this_cpu);
    if (b->kind == WB_BAL_PERIODIC_BUSY || (b->kind == WB_BAL_PERIODIC_IDLE && x->level == WB_LEVEL_HARDIRQ))
        return false;
    count(x->sim, hook[b->kind]);
    return b->kind == WB_BAL_ACTIVE || !rq->nr_running;
}

static bool next(struct wb_exec *x, struct wb_balance *b)
{
    if (b->flags++) return false;
    b->sd = wb_rq(x->sim, b->this_cpu)->sd;
    return true;
}

static bool find(struct wb_exec *x, struct wb_balance *b)
{
    struct pol_task *best = NULL;
    wb_charge_fn(x, pol_of(x->sim)->fn);
    for (cpu_id c = 0; c < wb_ncpus(x->sim); c++) {
        struct pol_task *p = c == b->dst ? NULL : oldest(x->sim, c, b->dst);
        if (!p || (best && best->arrival < p->arrival)) continue;
        best = p;
        b->src = c;
    }
    b->rule = best ? RULE_PULL : RULE_NONE;
    return best;
}

static void pull(struct wb_exec *x, struct wb_balance *b)
{
    struct pol_task *p = wb_rq(x->sim, b->dst)->nr_running ? NULL : oldest(x->sim, b->src, b->dst);
    if (!p) return;
    count(x->sim, TP_PULLED);
    wb_move_task(x, b, p->t, RULE_PULL);
}

/* What was found may be gone by the time of the locks: look again. With policy.active, ask a busy CPU to push. */
static enum wb_balance_result done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    struct pol *o = pol_of(x->sim);
    if (b->moved) return WB_BAL_PULLED;
    if (found && b->redo++ < 2) {
        count(x->sim, TP_REDO);
        return WB_BAL_REDO;
    }
    if (!o->active || b->kind != WB_BAL_PERIODIC_IDLE) return WB_BAL_NONE;
    for (cpu_id c = 0; c < wb_ncpus(x->sim); c++) {
        struct wb_rq *rq = wb_rq(x->sim, c);
        if (c == b->dst || wb_idle_cpu(rq) || rq->active_balance || rq->curr->klass != WB_CLASS_NORMAL) continue;
        b->src = c;
        return WB_BAL_KICK_ACTIVE;
    }
    return WB_BAL_NONE;
}

static void end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
}

static const struct wb_balance_ops balance = {
    .begin = begin, .next = next, .find = find, .pull = pull, .done = done, .end = end};

static bool push_find(struct wb_exec *x, struct wb_balance *b)
{
    b->src = b->exec_cpu;
    b->dst = wb_rq(x->sim, b->exec_cpu)->push_cpu;
    b->rule = RULE_PUSH;
    return b->dst != b->src && oldest(x->sim, b->src, b->dst);
}

static void push(struct wb_exec *x, struct wb_balance *b)
{
    struct pol_task *p = oldest(x->sim, b->src, b->dst);
    if (!p) return;
    count(x->sim, TP_PUSHED);
    wb_move_task(x, b, p->t, RULE_PUSH);
}

static enum wb_balance_result push_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    (void)x;
    (void)found;
    return b->moved ? WB_BAL_PULLED : WB_BAL_STOP;
}

static const struct wb_balance_ops active = {
    .begin = begin, .next = next, .find = push_find, .pull = push, .done = push_done, .end = end};

static void describe(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n)
{
    count((struct wb_sim *)(uintptr_t)s, TP_DESCRIBE);
    snprintf(buf, n, "%u queued%s", rq_of(rq)->nr, t ? ", a task" : "");
}

#define SWITCH(name, text) \
    { \
        .path = "policy." name, .type = WB_KEY_BOOL, .def = "false", .only = "testpol", .help = text, \
        .source = "tests" \
    }

static const struct wb_key keys[] = {
    SWITCH("delay_dequeue", "Every third sleeper stays queued until it is met."),
    SWITCH("queue_remote", "Remote wakeups go through the target's wake list."),
    SWITCH("tickless", "Idle CPUs stop their tick."),
    SWITCH("softirq", "Every eighth tick raises the balance softirq."),
    SWITCH("active", "Idle CPUs that found nothing ask a migration thread."),
};

const struct wb_policy_ops testpol_ops = {
    .abi = WB_POLICY_ABI,
    .size = sizeof(struct wb_policy_ops),
    .name = "testpol",
    .help = "Global FIFO queue for tests.",
    .rules = rules,
    .nrules = RULES,
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .sim_bytes = sizeof(struct pol),
    .rq_bytes = sizeof(struct pol_rq),
    .task_bytes = sizeof(struct pol_task),
    .init = init,
    .task_init = task_init,
    .place_wakeup = place_wakeup,
    .place_fork = place_fork,
    .place_exec = place_exec,
    .fork = fork_hook,
    .exit = exit_hook,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .put_prev = put_prev,
    .pick = pick,
    .yield = yield,
    .migrate = migrate,
    .tick = tick,
    .tick_idle_for = tick_idle_for,
    .tick_closed = tick_closed,
    .check_preempt = check_preempt,
    .switched = switched,
    .balance_newidle = &balance,
    .balance_periodic = &balance,
    .balance_nohz = &balance,
    .balance_active = &active,
    .queue_remote = queue_remote,
    .domains_built = domains_built,
    .idle_enter = idle_enter,
    .idle_exit = idle_exit,
    .task_changed = task_changed,
    .describe = describe,
};
