/* conform_score.c - agreement, by kind, rule, fact and place; the first disagreements with what the model saw. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

const char *const conform_kind_name[CONFORM_KINDS] = {
    [CONFORM_TASK] = "task",       [CONFORM_SOFTIRQ] = "softirq",       [CONFORM_HARDIRQ] = "hardirq",
    [CONFORM_ANY] = "any context", [CONFORM_QUEUED] = "still queued",   [CONFORM_BOUND] = "bound to a CPU",
    [CONFORM_RT] = "real time",    [CONFORM_NO_OUTCOME] = "no outcome", [CONFORM_NO_STATE] = "state lost",
    [CONFORM_FORK] = "fork",
};
const char *const conform_place_name[CONFORM_PLACES] = {
    [CONFORM_P_STAY] = "stay with the waker", [CONFORM_P_PULL] = "pulled to the waker",
    [CONFORM_P_PREV] = "previous CPU",        [CONFORM_P_NEAR] = "previous CPU's cache",
    [CONFORM_P_NEAR_WAKER] = "waker's cache", [CONFORM_P_FAR] = "elsewhere",
};
const struct conform_fact_text conform_fact_text[CONFORM_FACTS] = {
    [CONFORM_F_SYNC] = {"sync flag",
                        "by class of waker: tasks wake tasks synchronously, interrupts and kernel threads not"},
    [CONFORM_F_WIDE] = {"wakee flips", "counted since the section began; decided for tasks born in it"},
    [CONFORM_F_CORES] = {"idle cores mark", "followed from idle entries and failed searches"},
    [CONFORM_F_DEPTH] = {"search depth", "how far the cache is searched: none of it or all"},
    [CONFORM_F_LOAD] = {"load averages", "from run times since the section began"},
    [CONFORM_F_RECENT] = {"recently used CPU", "unknown until the task's first search"},
    [CONFORM_F_DELAYED] = {"delayed dequeue", "the task may still have been queued: by the model's own lag"},
    [CONFORM_F_LEAVING] = {"still leaving its CPU", "woken before its CPU was heard of again"},
    [CONFORM_F_RACE] = {"race", "a CPU went idle or busy, or was being woken, while the decision was made"},
    [CONFORM_F_UTIL] = {"utilisation", "of groups, at forks"},
    [CONFORM_F_STAMP] = {"time of going idle", "of CPUs idle since before the section, at forks"},
    [CONFORM_F_CLASS] = {"SCHED_IDLE", "of tasks that seem to be, by where wakeups went"},
    [CONFORM_F_AFFINITY] = {"affinity", "a migration thread has moved the task: it may be bound since"},
    [CONFORM_F_PACK] = {"packing signal", "of the packing rule"},
};

double conform_share(const struct conform_tally *t)
{
    return t->known ? (double)t->known_agree / (double)t->known : 1;
}

static void tally(struct conform_tally *t, const struct conform_answer *a, bool agrees, bool possible)
{
    if (!a->facts) {
        t->known++;
        t->known_agree += agrees;
        return;
    }
    t->derived++;
    t->derived_agree += agrees;
    t->derived_possible += possible;
}

static enum conform_place place_of(const struct conform *c, const struct trace_event *e, cpu_id cpu)
{
    if (cpu == e->cpu) return cpu == e->from ? CONFORM_P_STAY : CONFORM_P_PULL;
    if (cpu == e->from) return CONFORM_P_PREV;
    if (conform_near(c, cpu, e->from)) return CONFORM_P_NEAR;
    return conform_near(c, cpu, e->cpu) ? CONFORM_P_NEAR_WAKER : CONFORM_P_FAR;
}

/* ---- context of a disagreement ---- */

static size_t describe_cpu(const struct conform *c, cpu_id cpu, char *buf, size_t n)
{
    const struct wb_rq *rq = wb_rq(c->s, cpu);
    const struct fair_rq *r = fair_rq(rq);
    const char *sep = cpu ? ", " : "";
    int len;
    if (wb_idle_cpu(rq) && !rq->nr_running && !rq->wake_list)
        len = snprintf(buf, n, "%scpu%u idle", sep, cpu);
    else
        len =
            snprintf(buf, n, "%scpu%u %s nr %u%s load %llu util %llu", sep, cpu,
                     wb_idle_cpu(rq) ? "idle" : wb_task_name(rq->curr), rq->nr_running, rq->wake_list ? " waking" : "",
                     (unsigned long long)r->avg.load_avg, (unsigned long long)r->avg.util_avg);
    return len > 0 ? (size_t)len : 0;
}

void conform_describe(const struct conform *c, const struct wb_task *wakee, char *buf, size_t n)
{
    size_t at = 0;
    for (cpu_id i = 0; i < c->r->ncpus && at < n; i++) at += describe_cpu(c, i, buf + at, n - at);
    if (at >= n || !wakee) return;
    const struct fair_task *p = fair_task(wakee);
    int recent = p->pl.recent_used_cpu == WB_NO_CPU ? -1 : (int)p->pl.recent_used_cpu;
    (void)snprintf(buf + at, n - at, "; wakee recent %d load %llu util %llu", recent,
                   (unsigned long long)p->avg.load_avg, (unsigned long long)p->avg.util_avg);
}

/* Known ones push out those that hang on a fact. */
static struct conform_case *room(struct conform *c, bool known)
{
    struct conform_result *r = c->r;
    if (!r->cases) r->cases = calloc(c->o->first + 1, sizeof *r->cases);
    if (!r->cases || !c->o->first) return NULL;
    if (r->ncases < c->o->first) return &r->cases[r->ncases++];
    for (size_t i = r->ncases; known && i-- > 0;) {
        if (!r->cases[i].facts) continue;
        memmove(&r->cases[i], &r->cases[i + 1], (r->ncases - 1 - i) * sizeof *r->cases);
        return &r->cases[r->ncases - 1];
    }
    return NULL;
}

static void keep(struct conform *c, const struct trace_event *e, const struct conform_answer *a, uint16_t chosen,
                 enum conform_kind kind)
{
    struct conform_case *k = room(c, !a->facts);
    if (!k) return;
    const struct trace_task *waker = &c->t->task[e->by], *wakee = &c->t->task[e->task];
    *k = (struct conform_case){.ns = e->ns,
                               .line = e->line,
                               .section = e->section,
                               .waker = waker->pid,
                               .wakee = wakee->pid,
                               .this_cpu = e->cpu,
                               .prev_cpu = kind == CONFORM_FORK ? e->cpu : e->from,
                               .chosen = chosen,
                               .model = (uint16_t)a->base.cpu,
                               .rule = a->base.rule,
                               .kind = (uint8_t)kind,
                               .facts = a->facts,
                               .possible = conform_is_possible(a, chosen)};
    memcpy(k->waker_comm, waker->comm, sizeof k->waker_comm);
    memcpy(k->wakee_comm, wakee->comm, sizeof k->wakee_comm);
    memcpy(k->state, a->state, sizeof k->state);
}

/* ---- scoring ---- */

/* The kernel put a task beside one that keeps its CPU busy, where no known fact makes the model do so: what runs there
 * may be SCHED_IDLE, which counts as idle. */
static void vote(struct conform *c, const struct conform_answer *a, cpu_id chosen, cpu_id waker_cpu)
{
    const struct wb_rq *rq = wb_rq(c->s, chosen);
    const struct wb_task *t = rq->curr;
    if (a->facts || chosen == a->base.cpu || chosen == waker_cpu || t == rq->idle || rq->nr_running > 1) return;
    if (t->klass == WB_CLASS_NORMAL && !t->kthread) c->votes[t->id - 2 * c->r->ncpus + 1]++;
}

void conform_score(struct conform *c, const struct trace_event *e, const struct conform_question *q,
                   const struct conform_answer *a, uint16_t chosen)
{
    static const enum conform_kind by_context[] = {[TRACE_CTX_UNKNOWN] = CONFORM_ANY,
                                                   [TRACE_CTX_TASK] = CONFORM_TASK,
                                                   [TRACE_CTX_SOFTIRQ] = CONFORM_SOFTIRQ,
                                                   [TRACE_CTX_HARDIRQ] = CONFORM_HARDIRQ};
    struct conform_result *r = c->r;
    enum conform_kind kind = by_context[e->context];
    bool agrees = a->base.cpu == chosen, possible = conform_is_possible(a, chosen);
    (void)q;
    tally(&r->total, a, agrees, possible);
    tally(&r->by_kind[kind], a, agrees, possible);
    tally(&c->by_rule[a->base.rule], a, agrees, possible);
    for (int f = 0; f < CONFORM_FACTS; f++) {
        if (!(a->facts >> f & 1)) continue;
        r->by_fact[f]++;
        r->by_fact_agree[f] += agrees;
    }
    if (chosen < r->ncpus) vote(c, a, chosen, e->cpu);
    if (!a->facts) r->confusion[place_of(c, e, chosen)][place_of(c, e, a->base.cpu)]++;
    if (!agrees) keep(c, e, a, chosen, kind);
    if (a->base.cpu == e->cpu && e->cpu != e->from) conform_count_affine(c, e);
}

void conform_score_fork(struct conform *c, const struct trace_event *e, const struct conform_answer *a)
{
    bool agrees = a->base.cpu == e->to;
    if (e->to < c->r->ncpus) vote(c, a, e->to, e->cpu);
    tally(&c->r->fork, a, agrees, conform_is_possible(a, e->to));
    for (int f = 0; f < CONFORM_FACTS; f++) {
        if (!(a->facts >> f & 1)) continue;
        c->r->by_fact[f]++;
        c->r->by_fact_agree[f] += agrees;
    }
    if (!agrees) keep(c, e, a, e->to, CONFORM_FORK);
}

static int by_use(const void *a, const void *b)
{
    const struct conform_tally *x = &((const struct conform_rule_row *)a)->tally;
    const struct conform_tally *y = &((const struct conform_rule_row *)b)->tally;
    uint64_t n = x->known + x->derived, m = y->known + y->derived;
    if (n != m) return n > m ? -1 : 1;
    return strcmp(((const struct conform_rule_row *)a)->rule, ((const struct conform_rule_row *)b)->rule);
}

int conform_finish(struct conform *c)
{
    const struct wb_policy_ops *ops = wb_drive_ops(c->s);
    struct conform_result *r = c->r;
    r->rule = calloc(ops->nrules, sizeof *r->rule);
    if (!r->rule) return -ENOMEM;
    for (size_t i = 0; i < ops->nrules; i++) {
        const struct conform_tally *t = &c->by_rule[i];
        if (t->known || t->derived) r->rule[r->nrules++] = (struct conform_rule_row){ops->rules[i], *t};
    }
    qsort(r->rule, r->nrules, sizeof *r->rule, by_use);
    for (size_t i = 0; i < r->ncases; i++) r->cases[i].rule_text = ops->rules[r->cases[i].rule];
    conform_levels(c);
    return conform_schedstat(c);
}

void conform_free(struct conform_result *r)
{
    if (!r) return;
    trace_free(r->trace); /* NULL: another result has it */
    trace_health_free(&r->health);
    free(r->rule);
    free(r->cases);
    free(r->domain);
    free(r);
}
