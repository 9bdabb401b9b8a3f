/*
 * overlay.c - the policy in force: a built-in one, with the hooks of a plug-in laid over it.
 *
 * A plug-in may replace one decision or all. Hooks it leaves NULL fall through to the base. `init` and `task_init`
 * are called for both, base first. Its rules follow the base's in one table; its private areas lie behind the base's.
 */
#include "sim.h"

#include <string.h>

static size_t rounded(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

/* From place_wakeup on the table holds pointers only. */
static void lay_over(struct wb_policy_ops *merged, const struct wb_policy_ops *over)
{
    unsigned char *to = (unsigned char *)merged;
    const unsigned char *from = (const unsigned char *)over;
    for (size_t at = offsetof(struct wb_policy_ops, place_wakeup); at + sizeof(void *) <= sizeof *merged;
         at += sizeof(void *)) {
        void *hook;
        memcpy(&hook, from + at, sizeof hook);
        if (hook) memcpy(to + at, &hook, sizeof hook);
    }
}

static void join_rules(struct wb_sim *s, const struct wb_policy_ops *over)
{
    size_t n = s->merged.nrules + over->nrules;
    const char **rules = wb_sim_alloc(s, n * sizeof *rules);
    WB_CHECK(n < 0x8000u, "%zu rules", n);
    s->own_rules = (uint32_t)s->merged.nrules;
    for (size_t i = 0; i < n; i++) rules[i] = i < s->own_rules ? s->merged.rules[i] : over->rules[i - s->own_rules];
    s->merged.rules = rules;
    s->merged.nrules = n;
}

static void join(struct wb_sim *s, const struct wb_policy_ops *over)
{
    s->over = over;
    lay_over(&s->merged, over);
    join_rules(s, over);
    s->over_rq = rounded(s->merged.rq_bytes);
    s->over_task = rounded(s->merged.task_bytes);
    s->merged.rq_bytes = s->over_rq + over->rq_bytes;
    s->merged.task_bytes = s->over_task + over->task_bytes;
    s->over_data = wb_sim_alloc(s, over->sim_bytes);
}

int policy_find(struct wb_sim *s, const struct wb_run_options *opt, struct wb_diag *d)
{
    const char *name = wb_cfg_str(s->cfg, "kernel.scheduler");
    const struct wb_policy_ops *over = opt->overlay ? opt->overlay : s->reg->overlay;
    for (size_t i = 0; i < s->reg->npolicies; i++) {
        if (strcmp(s->reg->policies[i]->name, name)) continue;
        s->base_ops = s->reg->policies[i];
        s->merged = *s->base_ops;
        if (over) join(s, over);
        s->ops = &s->merged;
        return 0;
    }
    wb_cfg_error(s->cfg, d, "kernel.scheduler", "see wakebal list policies", "no scheduler family '%s'", name);
    return -1;
}

int policy_init(struct wb_sim *s, struct wb_diag *d)
{
    if (s->base_ops->init(s, s->cfg, d)) return -1;
    return s->over && s->over->init ? s->over->init(s, s->cfg, d) : 0;
}

void policy_task_init(struct wb_sim *s, struct wb_task *t)
{
    s->base_ops->task_init(s, t);
    if (s->over && s->over->task_init) s->over->task_init(s, t);
}

const struct wb_policy_ops *wb_base_policy(const struct wb_sim *s)
{
    return s->base_ops;
}

void *wb_plugin_data(struct wb_sim *s)
{
    return s->over_data;
}

void *wb_plugin_rq(struct wb_sim *s, const struct wb_rq *rq)
{
    return (uint8_t *)rq->policy + s->over_rq;
}

void *wb_plugin_task(struct wb_sim *s, const struct wb_task *t)
{
    return (uint8_t *)t->policy + s->over_task;
}
