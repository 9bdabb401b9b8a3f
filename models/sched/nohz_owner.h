/*
 * nohz_owner.h - tickless idle of 2.6.21 .. 2.6.35: one idle CPU keeps its tick and balances for all that stopped
 * theirs (kernel/sched.c select_nohz_load_balancer, trigger_load_balance, run_rebalance_domains).
 *
 * 2.6.36 keeps the mask and the owner, but nobody has to keep a tick: busy CPUs kick the owner.
 */
#ifndef WB_SCHED_NOHZ_OWNER_H
#define WB_SCHED_NOHZ_OWNER_H

#include "wakebal/kernel.h"

struct nohz_owner {
    struct wb_cpumask mask; /* CPUs without tick */
    uint32_t count;
    cpu_id ilb; /* load_balancer, or WB_NO_CPU */
};

void nohz_owner_init(struct wb_sim *s, struct nohz_owner *o);
/* A CPU is about to halt. True: its tick may stop. */
bool nohz_owner_enter(struct nohz_owner *o, cpu_id cpu, uint32_t ncpus);
void nohz_owner_leave(struct nohz_owner *o, cpu_id cpu);
/* The CPU leaves the idle loop. Whose tick stood gets it back and is out of the mask; the owner's never stood: it stays
 * the owner until a tick finds it busy (tick_nohz_restart_sched_tick: !ts->tick_stopped). */
void nohz_owner_restart(struct nohz_owner *o, cpu_id cpu);
/* First busy tick after idling tickless: somebody else has to balance for the idle. */
void nohz_owner_nominate(struct wb_exec *x, struct nohz_owner *o);
/* A tick on an idle CPU. False: it does not raise the softirq. All CPUs idle: the owner is told to stop its tick. */
bool nohz_owner_idle_tick(struct wb_exec *x, struct nohz_owner *o, struct wb_rq *rq);
/* Next CPU after `after` (WB_NO_CPU: the first) that the executing owner balances for, or WB_NO_CPU. */
cpu_id nohz_owner_next(struct wb_exec *x, const struct nohz_owner *o, cpu_id after);

#endif
