/* Skipped ticks: whatever tick_idle_for() vouches for, tick_closed() leaves the state that so many real ticks leave,
 * and none of these would have balanced, rescheduled or raised anything.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "propcheck.h"

#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"
#define HT2 "topology = \"[numa] pack:2 l2:1 core:1 pu:2\";"

static struct wb_sim *pair[6][2]; /* per kernel: ticks one by one, ticks in closed form */

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 7), .a = prop_u64(r), .b = prop_u64(r)};
}

/* Ticks come at equal distances; in between, things happen. */
static void pass_time(struct wb_sim *s, uint64_t b)
{
    sim_time end = s->rq[1].last_tick + wb_tick_ps(s);
    s->now += b % (end - s->now);
}

static void real_tick(struct wb_sim *s)
{
    s->now = s->rq[1].last_tick;
    fake_ticks(s, 1, 1);
}

/* One change of state, the same on both sides. */
static void change(struct wb_sim *s, const struct prop_op *op)
{
    struct wb_rq *rq = &s->rq[1];
    pass_time(s, op->b);
    switch (op->kind) {
    case 0: /* wake a task here */
        if (s->ntasks < FAKE_TASKS - 1) (void)fake_runnable(s, 1, (int)(op->a % 40) - 20);
        rq->need_resched = true;
        break;
    case 1: fake_schedule(s, 1, WB_INTERRUPTIBLE); break;
    case 2: fake_schedule(s, 1, WB_RUNNING); break;
    case 3:
        if (!wb_idle_cpu(rq)) o1_task(rq->curr)->sleep_avg = op->a % 1000 * 1000000;
        break;
    case 4:
        if (rq->sd) rq->sd->balance_interval_ms = 1 + op->a % 300;
        o1_rq(rq)->next_balance = o1_rq(rq)->tick_jiffies + op->a % 40;
        break;
    case 5: o1_rq(rq)->load[op->a % 3] = op->a % 3000; break;
    default: break;
    }
    if (rq->need_resched) fake_schedule(s, 1, WB_RUNNING);
}

static bool balances(struct wb_sim *s)
{
    struct wb_balance b = {.kind = wb_idle_cpu(&s->rq[1]) ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY,
                           .this_cpu = 1,
                           .exec_cpu = 1,
                           .dst = 1};
    bool weighted = ((const struct o1_sim *)s->policy)->v->weighted;
    if (!weighted) return o1_balance_periodic.begin(fake_exec_irq(s, 1, WB_LEVEL_HARDIRQ), &b);
    bool raised = s->rq[1].balance_softirq;
    s->rq[1].balance_softirq = false;
    return raised;
}

static bool equal(struct wb_sim *a, struct wb_sim *b)
{
    const struct o1_rq *x = o1_rq(&a->rq[1]), *y = o1_rq(&b->rq[1]);
    bool same = x->clock == y->clock && x->tick_jiffies == y->tick_jiffies && x->idle_at_tick == y->idle_at_tick &&
                x->next_balance == y->next_balance && !memcmp(x->load, y->load, sizeof x->load) &&
                a->rq[1].curr->id == b->rq[1].curr->id;
    if (wb_idle_cpu(&a->rq[1])) return same;
    const struct o1_task *p = o1_task(a->rq[1].curr), *q = o1_task(b->rq[1].curr);
    return same && p->time_slice == q->time_slice && p->prio == q->prio && p->sleep_avg == q->sleep_avg;
}

static bool skip_some(struct wb_sim *a, struct wb_sim *b, uint64_t want, char *why, size_t n)
{
    sim_time start = b->rq[1].last_tick;
    uint64_t k = o1_policy.tick_idle_for(b, &b->rq[1]);
    if (k > want) k = want;
    for (uint64_t i = 0; i < k; i++) {
        real_tick(a);
        if (balances(a) || a->rq[1].need_resched)
            return snprintf(why, n, "tick %llu of %llu did something", (unsigned long long)i + 1,
                            (unsigned long long)k),
                   false;
    }
    if (k) b->now = start + k * wb_tick_ps(b);
    o1_policy.tick_closed(b, &b->rq[1], k, b->now);
    b->rq[1].last_tick = a->rq[1].last_tick;
    if (!equal(a, b)) return snprintf(why, n, "states differ after %llu ticks", (unsigned long long)k), false;
    real_tick(a); /* and a real one on both */
    real_tick(b);
    (void)balances(a);
    (void)balances(b);
    return equal(a, b) ? true : (snprintf(why, n, "states differ after the real tick"), false);
}

static void build(int v)
{
    static const char *const kernels[] = {"linux-2.6.10",      "linux-2.6.11",      "linux-2.6.22",
                                          "linux-2.6.11-i386", "linux-2.6.22-i386", "linux-2.6.11"};
    static const char *const no_idle[] = {"policy.idle_balance=false", NULL};
    for (int i = 0; i < 2; i++)
        pair[v][i] = fake_new(&o1_policy, kernels[v], v > 2 ? HT2 : TIGER, v == 5 ? no_idle : NULL);
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    bool good = true;
    for (int v = 0; v < 6 && good; v++) {
        build(v);
        for (int i = 0; i < 2; i++) {
            fake_ticks(pair[v][i], 1, 1);
            (void)balances(pair[v][i]);
        }
        for (size_t k = 0; k < n && good; k++) {
            change(pair[v][0], &ops[k]);
            change(pair[v][1], &ops[k]);
            good = skip_some(pair[v][0], pair[v][1], 1 + ops[k].a % 200, why, nwhy);
        }
        for (int i = 0; i < 2; i++) fake_free(pair[v][i]);
    }
    return good;
}

int main(void)
{
    const struct property p = {.name = "skipped ticks", .ops_max = 40, .make = make, .run = run};
    return prop_check(&p, 150) ? 0 : 1;
}
