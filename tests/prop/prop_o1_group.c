/* find_busiest_group() against a naive twin written straight from the definition: one array of loads, plain loops.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "propcheck.h"

#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define HT4 "topology = \"[numa] pack:4 l2:1 core:1 pu:2\";"
#define UP8 "topology = \"[numa] pack:4 l2:2 core:1 pu:1\";"

static struct wb_sim *sims[4]; /* 2.6.11 with and without SMT, 2.6.22 with and without */

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 8), .a = prop_below(r, 6), .b = prop_u64(r)};
}

/* Runqueue state from an operation: kind = CPU. */
static void set_cpu(struct wb_sim *s, const struct prop_op *op)
{
    struct wb_rq *rq = &s->rq[op->kind];
    struct o1_rq *r = o1_rq(rq);
    rq->nr_running = (uint32_t)op->a;
    r->weight = op->a * 128 + (op->a ? op->b % 3 * 77 : 0);
    for (int i = 0; i < 3; i++) r->load[i] = (op->b >> (8 * i + 4)) % 700;
    rq->curr = op->a && op->b % 5 ? s->rq[op->kind].stopper : rq->idle; /* sometimes runnable but still idle */
}

struct answer {
    bool found;
    cpu_id group; /* first CPU */
    int64_t imbalance;
};

static double pick(double a, double b, bool low)
{
    return (a < b) == low ? a : b;
}

static uint64_t load_of(const struct wb_sim *s, cpu_id c, uint32_t idx, bool local)
{
    const struct o1_rq *r = o1_rq(&s->rq[c]);
    bool weighted = ((const struct o1_sim *)s->policy)->v->weighted;
    uint64_t raw = weighted ? r->weight : s->rq[c].nr_running * 128ull;
    uint64_t old = weighted ? (idx ? r->load[idx - 1] : raw) : r->load[1];
    return (uint64_t)pick((double)raw, (double)old, !local);
}

struct sums {
    uint64_t avg, nr, weight, power, total;
};

static struct sums sum(const struct wb_sim *s, const struct wb_sg *g, uint32_t idx, bool local)
{
    struct sums u = {.power = g->power};
    for (cpu_id c = 0; c < s->ncpus; c++) {
        if (!wb_mask_test(&g->mask, c)) continue;
        u.total += load_of(s, c, idx, local);
        u.nr += s->rq[c].nr_running;
        u.weight += o1_rq(&s->rq[c])->weight;
    }
    u.avg = u.total * 128 / g->power;
    return u;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Work done by a group of `power` under load, one task being worth `one`. */
static uint64_t work(uint64_t power, uint64_t one, uint64_t load)
{
    return power * least(one, load);
}

static struct answer twin_tasks(const struct wb_sim *s, const struct wb_sd *sd, enum wb_balance_kind kind)
{
    struct sums here = sum(s, wb_sd_group(sd, 0), 0, true), there = {0}, u;
    uint64_t total = here.total, power = here.power;
    struct answer a = {.group = WB_NO_CPU};
    for (uint32_t i = 1; i < sd->ngroups; i++) {
        u = sum(s, wb_sd_group(sd, i), 0, false);
        total += u.total;
        power += u.power;
        if (u.avg <= there.avg) continue;
        there = u;
        a.group = wb_sd_group(sd, i)->first;
    }
    if (a.group == WB_NO_CPU) return a;
    uint64_t avg = 128 * total / power;
    a.imbalance = 1;
    if (here.avg < there.avg && here.avg < avg && 100 * there.avg > sd->level->imbalance_pct * here.avg) {
        uint64_t im = least(there.avg - avg, avg - here.avg) * least(here.power, there.power) / 128;
        uint64_t off = 128 * 128 / there.power, add = least(128 * 128 / here.power, there.avg);
        uint64_t now = (work(there.power, 128, there.avg) + work(here.power, 128, here.avg)) / 128;
        uint64_t then =
            ((there.avg > off ? work(there.power, 128, there.avg - off) : 0) + work(here.power, 128, here.avg + add)) /
            128;
        if (im >= 127) a.imbalance = (int64_t)((im + 1) / 128);
        a.found = im >= 127 || there.avg - here.avg >= 256 || then >= now + 16;
    }
    if (!a.found) a.found = kind == WB_BAL_NEWIDLE || (kind == WB_BAL_PERIODIC_IDLE && there.avg > 128);
    return a;
}

static bool my_turn(const struct wb_sim *s, const struct wb_sd *sd, cpu_id this_cpu)
{
    for (cpu_id c = 0; c < s->ncpus; c++)
        if (wb_mask_test(&wb_sd_group(sd, 0)->mask, c) && wb_idle_cpu(&s->rq[c])) return c == this_cpu;
    return wb_mask_first(&wb_sd_group(sd, 0)->mask) == this_cpu;
}

static struct answer twin_weight(const struct wb_sim *s, const struct wb_sd *sd, enum wb_balance_kind kind,
                                 cpu_id this_cpu)
{
    const struct wb_sd_level *l = sd->level;
    uint32_t idx = kind == WB_BAL_NEWIDLE ? l->newidle_idx : kind == WB_BAL_PERIODIC_IDLE ? l->idle_idx : l->busy_idx;
    struct sums here = sum(s, wb_sd_group(sd, 0), idx, true), there = {0}, u;
    uint64_t total = here.total, power = here.power;
    struct answer a = {.group = WB_NO_CPU};
    if (kind != WB_BAL_NEWIDLE && !my_turn(s, sd, this_cpu)) return a;
    for (uint32_t i = 1; i < sd->ngroups; i++) {
        u = sum(s, wb_sd_group(sd, i), idx, false);
        total += u.total;
        power += u.power;
        if (u.avg <= there.avg || u.nr <= u.power / 128) continue;
        there = u;
        a.group = wb_sd_group(sd, i)->first;
    }
    if (a.group == WB_NO_CPU || here.avg >= there.avg || !there.nr) return a;
    uint64_t avg = 128 * total / power, one = there.weight / there.nr, mine = here.nr ? here.weight / here.nr : 128;
    if (here.avg >= avg || 100 * there.avg <= l->imbalance_pct * here.avg || there.avg <= one) return a;
    uint64_t im = 0;
    if (there.avg >= avg)
        im = least(least(there.avg - avg, there.avg - one) * there.power, (avg - here.avg) * here.power) / 128;
    a.imbalance = (int64_t)im;
    a.found = there.avg >= avg && im >= one;
    if (a.found) return a;
    a.imbalance = (int64_t)one;
    uint64_t apart = here.nr && one > mine ? 1 : 2, off = one * 128 / there.power;
    uint64_t add = there.avg * there.power < one * 128 ? there.avg * there.power / here.power : one * 128 / here.power;
    uint64_t now = (work(there.power, one, there.avg) + work(here.power, mine, here.avg)) / 128;
    uint64_t then =
        ((there.avg > off ? work(there.power, one, there.avg - off) : 0) + work(here.power, mine, here.avg + add)) /
        128;
    a.found = there.avg - here.avg >= one * apart || then > now;
    return a;
}

static bool agree(struct wb_sim *s, struct wb_sd *sd, enum wb_balance_kind kind, cpu_id cpu, char *why, size_t n)
{
    bool weighted = ((const struct o1_sim *)s->policy)->v->weighted;
    struct wb_balance b = {.kind = kind, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU, .sd = sd};
    struct wb_sg *g = NULL;
    struct answer a = weighted ? twin_weight(s, sd, kind, cpu) : twin_tasks(s, sd, kind);
    bool found = (weighted ? o1_group_weight : o1_group_tasks)(&s->rq[cpu].idle->x, &b, &g);
    if (found == a.found && (!found || (g->first == a.group && b.imbalance == a.imbalance))) return true;
    (void)snprintf(why, n, "cpu %u kind %d level %s: found %d imbalance %lld from %u, twin %d %lld from %u", cpu,
                   (int)kind, sd->level->name, found, (long long)b.imbalance, g ? g->first : WB_NO_CPU, a.found,
                   (long long)a.imbalance, a.group);
    return false;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    for (size_t v = 0; v < 4; v++) {
        struct wb_sim *s = sims[v];
        for (uint32_t c = 0; c < 8; c++) set_cpu(s, &(struct prop_op){.kind = c});
        for (size_t i = 0; i < n; i++) set_cpu(s, &ops[i]);
        for (cpu_id c = 0; c < s->ncpus; c += 3) {
            s->rq[c].idle->x.cpu = c;
            WB_FOR_EACH_SD(sd, &s->rq[c])
            for (enum wb_balance_kind k = WB_BAL_PERIODIC_IDLE; k <= WB_BAL_NEWIDLE; k++)
                if (!agree(s, sd, k, c, why, nwhy)) return false;
        }
    }
    return true;
}

int main(void)
{
    static const char *const kernels[] = {"linux-2.6.11-i386", "linux-2.6.11", "linux-2.6.22", "linux-2.6.22"};
    static const char *const machines[] = {HT4, UP8, HT4, UP8};
    for (int i = 0; i < 4; i++) sims[i] = fake_new(&o1_policy, kernels[i], machines[i], NULL);
    const struct property p = {.name = "find_busiest_group", .ops_max = 12, .make = make, .run = run};
    bool good = prop_check(&p, 20000);
    for (int i = 0; i < 4; i++) fake_free(sims[i]);
    return good ? 0 : 1;
}
