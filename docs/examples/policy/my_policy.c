/*
 * my_policy.c - a placement of one's own, laid over a built-in scheduler.
 *
 * The idea to try: a sync wakeup says that the waker will sleep in a moment. If the waker is alone on its CPU, keep
 * the wakee there and save the trip; for everything else ask the base policy.
 *
 *     cmake -B build && cmake --build build
 *     wakebal run pipe --policy build/my_policy.so -v          # -v lists how often each rule decided
 */
#include <wakebal/kernel.h>
#include <wakebal/policy.h>

enum { RULE_NONE, RULE_STAY };
static const char *const rules[] = {
    [RULE_NONE] = "none",
    [RULE_STAY] = "my policy: sync wakeup and the waker is alone: its CPU",
};

/* A counter per run: the plug-in's own area, zeroed for each simulation. */
struct mine {
    uint64_t kept;
};

static struct wb_choice place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    struct mine *m = wb_plugin_data(x->sim);
    struct wb_rq *here = wb_rq(x->sim, w->this_cpu);
    bool allowed = wb_mask_test(w->task->allowed, w->this_cpu);

    if ((w->flags & WB_WF_SYNC) && allowed && here->nr_running == 1) {
        m->kept++;
        return (struct wb_choice){.cpu = w->this_cpu, .rule = WB_OWN_RULE(RULE_STAY)};
    }
    return wb_base_policy(x->sim)->place_wakeup(x, w);
}

static const struct wb_policy_ops ops = {
    .abi = WB_POLICY_ABI,
    .size = sizeof(struct wb_policy_ops),
    .name = "my_policy",
    .help = "Sync wakeups stay with a waker that is alone.",
    .rules = rules,
    .nrules = sizeof rules / sizeof rules[0],
    .sim_bytes = sizeof(struct mine),
    .place_wakeup = place_wakeup,
};

const struct wb_policy_ops *wb_policy_plugin(void);
const struct wb_policy_ops *wb_policy_plugin(void)
{
    return &ops;
}
