/* fair_rules.h - why the fair classes decided as they did: rule ids; their words are in fair_rules.c. Three sections,
 * one for each part. */
#ifndef WB_SCHED_FAIR_RULES_H
#define WB_SCHED_FAIR_RULES_H

enum fair_rule {
    FAIR_R_NONE,
    /* preemption: fair_preempt.c and the orders */
    FAIR_R_CPU_IDLE,
    FAIR_R_RT,
    FAIR_R_RT_CURR,
    FAIR_R_RESCHED_ALREADY,
    FAIR_R_IDLE_CURR,
    FAIR_R_IDLE_WAKEE,
    FAIR_R_BATCH_WAKEE,
    FAIR_R_NO_PREEMPTION,
    FAIR_R_SYNC_UNCHECKED,
    FAIR_R_KEY_FAR,
    FAIR_R_KEY_NEAR,
    FAIR_R_VRUNTIME_FAR,
    FAIR_R_VRUNTIME_NEAR,
    FAIR_R_CHILD_FIRST,
    FAIR_R_PARENT_FIRST,
    FAIR_R_EEVDF_PICKED,
    FAIR_R_EEVDF_SHORT,
    FAIR_R_EEVDF_PROTECTED,
    FAIR_R_EEVDF_INELIGIBLE,
    FAIR_R_EEVDF_LATER,
    /* placement: fair_place*.c */
    /* balancing: fair_balance*.c */
    FAIR_RULES
};
extern const char *const fair_rules[FAIR_RULES];

#endif
