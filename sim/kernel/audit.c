/* audit.c - invariants that must hold between any two events: each task in one place, no time lost, no affinity
 * broken. */
#include "sim.h"

/* Per CPU, the categories and what is under way sum to elapsed time exactly. */
static void audit_time(const struct wb_sim *s, const struct wb_cpu *c)
{
    sim_time t = 0;
    if (c->elide.active) return; /* it is behind by intention */
    for (int k = 0; k < WB_CAT_N; k++) t += c->acct[k];
    WB_CHECK(t + (s->now - c->since) == s->now, "cpu %u has accounted %llu of %llu ps", c->id, (unsigned long long)t,
             (unsigned long long)c->since);
}

static void audit_mode(const struct wb_cpu *c)
{
    const struct wb_rq *rq = &c->rq;
    WB_CHECK(c->mode != CPU_RUN || c->ev, "cpu %u runs without an end", c->id);
    WB_CHECK(c->mode != CPU_HALT || (rq->curr == rq->idle && !c->pending), "cpu %u halts with work", c->id);
    WB_CHECK(c->mode != CPU_SPIN || c->spin[c->ctx->level].lock, "cpu %u spins for nothing", c->id);
    WB_CHECK(rq->curr->on_cpu && rq->curr->cpu == c->id, "cpu %u runs task %u, which is elsewhere", c->id,
             rq->curr->id);
}

static void audit_task(const struct wb_sim *s, const struct wb_task *t, uint32_t *queued)
{
    if (t->klass == WB_CLASS_SWAPPER || t->state == WB_NEW) return;
    WB_CHECK(t->cpu < s->ncpus, "task %u is nowhere", t->id);
    const struct wb_cpu *c = &s->cpu[t->cpu];
    bool current = c->rq.curr == t;
    WB_CHECK(!current || t->on_cpu, "task %u is current but not on its cpu", t->id);
    WB_CHECK(!t->on_cpu || current || c->switch_prev == t, "task %u is on cpu %u, which runs another", t->id, t->cpu);
    WB_CHECK(t->state != WB_RUNNING || t->on_rq || t->waking || t->delayed, "task %u is runnable and lost", t->id);
    WB_CHECK(!t->on_rq || current || t->in_migrate_list || wb_mask_test(t->allowed, t->cpu),
             "task %u is queued on cpu %u, which it may not use", t->id, t->cpu);
    /* A sleeper whose dequeue is delayed counts in nr_running or not, as the policy has it. */
    if (t->on_rq) queued[2 * (size_t)t->cpu + t->delayed]++;
}

void sim_audit(struct wb_sim *s)
{
    uint32_t *queued = s->audit_scratch;
    for (size_t i = 0; i < s->ncpus; i++) {
        queued[2 * i] = queued[2 * i + 1] = 0;
        audit_time(s, &s->cpu[i]);
        audit_mode(&s->cpu[i]);
    }
    for (uint32_t i = 0; i < s->ntasks; i++) audit_task(s, s->task[i], queued);
    for (size_t i = 0; i < s->ncpus; i++)
        WB_CHECK(s->cpu[i].rq.nr_running - queued[2 * i] <= queued[2 * i + 1], "cpu %zu counts %u tasks and has %u", i,
                 s->cpu[i].rq.nr_running, queued[2 * i]);
}
