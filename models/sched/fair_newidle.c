/*
 * fair_newidle.c - newly idle balancing as often as it has paid: a dice for each domain of each CPU.
 *
 * Linux kernel/sched/fair.c sched_balance_newidle(), update_newidle_stats(); sched feature NI_RANDOM: "sched/fair:
 * Proportional newidle balance" (33cf66d88306, November 2025; 7.0, stable kernels from 6.12.65 and 6.18.5 on). A domain
 * counts passes and those that pulled. Every 512 passes their share becomes its ratio, and a later pass is made with
 * that probability only; one that was not made counts as one in vain, one that pulled as many as it stands for. A
 * domain begins at one half (sd_init()). The kernels' rng is prandom_u32_state(); here it is a stream of the CPU.
 */
#include "fair_groups.h"

#include "wakebal/config.h"

enum { DICE_SIDES = 1024, DICE_BEGIN = 512 };

static void count(struct wb_sd *sd, uint32_t pulled)
{
    sd->newidle_call++;
    sd->newidle_success += pulled;
    if (sd->newidle_call < DICE_SIDES) return;
    sd->newidle_ratio = (uint16_t)WB_MIN(sd->newidle_success, UINT16_MAX); /* more than all sides of the dice */
    sd->newidle_call /= 2;
    sd->newidle_success /= 2;
}

bool fair_newidle_lets(struct wb_exec *x, cpu_id cpu, struct wb_sd *sd)
{
    const struct fair_sim *f = fair_of(x);
    if (!f->bal.newidle_random) return true;
    if (wb_draw_below(&fair_rq(wb_rq(x->sim, cpu))->bal.dice, DICE_SIDES) <= 1u + sd->newidle_ratio) return true;
    count(sd, 0);
    return false;
}

void fair_newidle_count(const struct fair_sim *f, struct wb_sd *sd, bool pulled)
{
    uint32_t weight = 1u + sd->newidle_ratio;
    if (f->bal.newidle_random) count(sd, pulled ? (DICE_SIDES + weight / 2) / weight : 0);
}

void fair_newidle_init(struct wb_sim *s, struct fair_sim *f, const struct wb_config *cfg)
{
    uint64_t share = fair_given(cfg, "policy.newidle_ratio", 500000); /* ppm */
    f->bal.newidle_random = fair_given_bool(cfg, "policy.newidle_random", false);
    for (cpu_id c = 0; f->bal.newidle_random && c < f->ncpus; c++) {
        fair_rq(wb_rq(s, c))->bal.dice = wb_sim_stream(s, c, WB_PURPOSE('n', 'i', 'd', 'l'));
        WB_FOR_EACH_SD(sd, wb_rq(s, c))
        {
            sd->newidle_call = DICE_BEGIN;
            sd->newidle_ratio = (uint16_t)(share * DICE_SIDES / 1000000);
            sd->newidle_success = sd->newidle_ratio / 2;
        }
    }
}
