/*
 * fair_features.c - sched features: which version has which, and what the scenario switched.
 *
 * kernel/sched_features.h, kernel/sched/features.h (2.6.23, 2.6.24: the default of sysctl_sched_features).
 * policy.features = ["NO_RUN_TO_PARITY", "NEXT_BUDDY"], written as into /sys/kernel/debug/sched/features.
 */
#include "fair.h"

#include <stdio.h>
#include <string.h>

/* What turning it does in the model. */
enum effect {
    MODELLED,
    INERT,  /* nothing: it concerns what is not part of any scenario */
    MISSING /* it would matter, and cannot be turned on */
};

struct row {
    const char *name;
    enum fair_feature id;
    uint32_t has, on; /* sets of releases */
    enum effect effect;
    const char *why; /* of INERT and MISSING */
};

#define IN(from, to) FAIR_IN(FAIR_##from, FAIR_##to)
#define ONLY(r) (1u << FAIR_##r)
#define NO_TIMER "slices end at ticks here: there is no high resolution preemption timer"

static const struct row rows[] = {
    {"FAIR_SLEEPERS", FAIR_F_FAIR_SLEEPERS, ONLY(2_6_23), ONLY(2_6_23), MODELLED, NULL},
    {"SLEEPER_AVG", FAIR_F_SLEEPER_AVG, ONLY(2_6_23), 0, MODELLED, NULL},
    {"SLEEPER_LOAD_AVG", FAIR_F_SLEEPER_LOAD_AVG, ONLY(2_6_23), ONLY(2_6_23), MODELLED, NULL},
    {"PRECISE_CPU_LOAD", FAIR_F_PRECISE_CPU_LOAD, ONLY(2_6_23), ONLY(2_6_23), MODELLED, NULL},
    {"SKIP_INITIAL", FAIR_F_SKIP_INITIAL, ONLY(2_6_23), 0, MODELLED, NULL},
    {"START_DEBIT", FAIR_F_START_DEBIT, IN(2_6_23, 6_1), IN(2_6_23, 6_1), MODELLED, NULL},
    {"NEW_FAIR_SLEEPERS", FAIR_F_NEW_FAIR_SLEEPERS, ONLY(2_6_24), ONLY(2_6_24), MODELLED, NULL},
    {"TREE_AVG", FAIR_F_TREE_AVG, ONLY(2_6_24), 0, MODELLED, NULL},
    {"APPROX_AVG", FAIR_F_APPROX_AVG, ONLY(2_6_24), 0, MODELLED, NULL},
    {"WAKEUP_PREEMPT", FAIR_F_WAKEUP_PREEMPTION, IN(2_6_24, 2_6_36), IN(2_6_24, 2_6_36), MODELLED, NULL},
    {"GENTLE_FAIR_SLEEPERS", FAIR_F_GENTLE_FAIR_SLEEPERS, IN(2_6_35, 6_1), IN(2_6_35, 6_1), MODELLED, NULL},
    {"AFFINE_WAKEUPS", FAIR_F_AFFINE_WAKEUPS, IN(2_6_35, 2_6_36), IN(2_6_35, 2_6_36), MODELLED, NULL},
    {"LAST_BUDDY", FAIR_F_LAST_BUDDY, IN(2_6_35, 6_1), IN(2_6_35, 6_1), MODELLED, NULL},
    {"NEXT_BUDDY", FAIR_F_NEXT_BUDDY, IN(2_6_35, 6_18), 0, MODELLED, NULL},
    {"PICK_BUDDY", FAIR_F_PICK_BUDDY, ONLY(6_18), ONLY(6_18), MODELLED, NULL},
    {"CACHE_HOT_BUDDY", FAIR_F_CACHE_HOT_BUDDY, IN(2_6_35, 6_18), IN(2_6_35, 6_18), MODELLED, NULL},
    {"LB_BIAS", FAIR_F_LB_BIAS, IN(2_6_35, 2_6_36), IN(2_6_35, 2_6_36), MODELLED, NULL},
    {"LB_SHARES_UPDATE", FAIR_F_LB_SHARES_UPDATE, IN(2_6_35, 2_6_36), IN(2_6_35, 2_6_36), INERT,
     "there are no task groups"},
    {"ASYM_EFF_LOAD", FAIR_F_ASYM_EFF_LOAD, IN(2_6_35, 2_6_36), IN(2_6_35, 2_6_36), INERT, "there are no task groups"},
    {"OWNER_SPIN", FAIR_F_OWNER_SPIN, IN(2_6_35, 2_6_36), IN(2_6_35, 2_6_36), INERT,
     "whether a mutex spins is said by the kind of the lock"},
    {"ARCH_POWER", FAIR_F_ARCH_POWER, IN(2_6_35, 2_6_36), 0, MISSING, "the clock of a CPU is constant here"},
    {"HRTICK", FAIR_F_HRTICK, IN(2_6_35, 6_18), 0, MISSING, NO_TIMER},
    {"HRTICK_DL", FAIR_F_HRTICK_DL, IN(5_15, 6_18), 0, INERT, "there are no deadline tasks"},
    {"DOUBLE_TICK", FAIR_F_DOUBLE_TICK, IN(2_6_35, 6_12), 0, INERT, "it concerns HRTICK"},
    {"NONTASK_CAPACITY", FAIR_F_NONTASK_CAPACITY, IN(5_4, 6_18), IN(5_4, 6_18), INERT,
     "interrupts do not reduce a CPU's capacity here"},
    {"WAKEUP_PREEMPTION", FAIR_F_WAKEUP_PREEMPTION, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"ALT_PERIOD", FAIR_F_ALT_PERIOD, IN(5_15, 6_1), IN(5_15, 6_1), INERT, "there are no task groups"},
    {"BASE_SLICE", FAIR_F_BASE_SLICE, IN(5_15, 6_1), IN(5_15, 6_1), MODELLED, NULL},
    {"PLACE_LAG", FAIR_F_PLACE_LAG, IN(6_6, 6_18), IN(6_6, 6_18), MODELLED, NULL},
    {"PLACE_DEADLINE_INITIAL", FAIR_F_PLACE_DEADLINE_INITIAL, IN(6_6, 6_18), IN(6_6, 6_18), MODELLED, NULL},
    {"PLACE_REL_DEADLINE", FAIR_F_PLACE_REL_DEADLINE, IN(6_12, 6_18), IN(6_12, 6_18), MODELLED, NULL},
    {"RUN_TO_PARITY", FAIR_F_RUN_TO_PARITY, IN(6_6, 6_18), IN(6_6, 6_18), MODELLED, NULL},
    {"PREEMPT_SHORT", FAIR_F_PREEMPT_SHORT, IN(6_12, 6_18), IN(6_12, 6_18), MODELLED, NULL},
    {"DELAY_DEQUEUE", FAIR_F_DELAY_DEQUEUE, IN(6_12, 6_18), IN(6_12, 6_18), MODELLED, NULL},
    {"DELAY_ZERO", FAIR_F_DELAY_ZERO, IN(6_12, 6_18), IN(6_12, 6_18), MODELLED, NULL},
    {"TTWU_QUEUE", FAIR_F_TTWU_QUEUE, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"SIS_AVG_CPU", FAIR_F_SIS_AVG_CPU, ONLY(5_4), 0, MODELLED, NULL},
    {"SIS_PROP", FAIR_F_SIS_PROP, IN(5_4, 6_6), ONLY(5_4), MODELLED, NULL},
    {"SIS_UTIL", FAIR_F_SIS_UTIL, IN(5_15, 6_18), IN(5_15, 6_18), MODELLED, NULL},
    {"WA_IDLE", FAIR_F_WA_IDLE, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"WA_WEIGHT", FAIR_F_WA_WEIGHT, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"WA_BIAS", FAIR_F_WA_BIAS, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"LB_MIN", FAIR_F_LB_MIN, IN(5_4, 6_18), 0, MODELLED, NULL},
    {"ATTACH_AGE_LOAD", FAIR_F_ATTACH_AGE_LOAD, IN(5_4, 6_18), IN(5_4, 6_18), INERT,
     "it concerns changes of group and class"},
    {"UTIL_EST", FAIR_F_UTIL_EST, IN(5_4, 6_18), IN(5_4, 6_18), MODELLED, NULL},
    {"UTIL_EST_FASTUP", FAIR_F_UTIL_EST_FASTUP, IN(5_15, 6_6), IN(5_15, 6_6), MODELLED, NULL},
    {"WARN_DOUBLE_CLOCK", FAIR_F_WARN_DOUBLE_CLOCK, IN(5_4, 6_18), 0, INERT, "it only warns"},
    {"RT_RUNTIME_SHARE", FAIR_F_RT_RUNTIME_SHARE, IN(5_4, 6_18), ONLY(5_4), INERT,
     "real-time tasks have no bandwidth limit here"},
    {"RT_PUSH_IPI", FAIR_F_RT_PUSH_IPI, IN(5_4, 6_18), IN(5_4, 6_18), INERT, "real-time tasks are not balanced here"},
    {"LATENCY_WARN", FAIR_F_LATENCY_WARN, IN(5_15, 6_18), 0, INERT, "it only prints"},
    {"HZ_BW", FAIR_F_HZ_BW, ONLY(6_6), ONLY(6_6), INERT, "there are no bandwidth limits"},
};

static bool has(const struct row *r, const struct fair_sim *f)
{
    return r->has >> f->v->release & 1;
}

bool fair_feature_differs(const char *version, const char *text)
{
    const struct fair_version *v = fair_version_find(version);
    bool on = strncmp(text, "NO_", 3) != 0;
    const char *name = on ? text : text + 3;
    for (size_t i = 0; v && i < WB_ARRAY_SIZE(rows); i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->name, name) != 0 || !(r->has >> v->release & 1) || r->effect != MODELLED) continue;
        return on != (r->on >> v->release & 1);
    }
    return false;
}

static void defaults(struct fair_sim *f)
{
    f->features = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++)
        if (rows[i].on >> f->v->release & 1) f->features |= 1ull << rows[i].id;
}

/* The row of this version, else one of another version, else NULL. */
static const struct row *find(const struct fair_sim *f, const char *name)
{
    const struct row *other = NULL;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        if (has(&rows[i], f)) return &rows[i];
        other = &rows[i];
    }
    return other;
}

struct reading {
    struct fair_sim *f;
    const struct wb_config *cfg;
    struct wb_diag *d;
    size_t at; /* element of policy.features */
};

static void complain(const struct reading *in, enum wb_severity severity, const char *fix, const char *name,
                     const char *what)
{
    struct wb_place place = wb_cfg_place_in(in->cfg, "policy.features", in->at, 0, strlen(name));
    wb_diag_add(in->d, severity, NULL, place, fix, "sched feature %s %s", name, what);
}

static int unknown(const struct reading *in, const char *name)
{
    const char *names[WB_ARRAY_SIZE(rows)], *near;
    char fix[128];
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) names[i] = rows[i].name;
    near = wb_nearest(name, names, WB_ARRAY_SIZE(rows));
    if (near)
        (void)snprintf(fix, sizeof fix, "did you mean %s?", near);
    else
        (void)snprintf(fix, sizeof fix, "see wakebal help policy.features");
    complain(in, WB_ERROR, fix, name, "does not exist in any version");
    return -1;
}

static int elsewhere(const struct reading *in, const struct row *r)
{
    char set[96], what[160];
    (void)snprintf(what, sizeof what, "does not exist in Linux %s; it is in %s", in->f->v->name,
                   fair_releases_text(r->has, set, sizeof set));
    complain(in, WB_ERROR, "leave it out or choose such a kernel", r->name, what);
    return -1;
}

static int turn(const struct reading *in, const char *text)
{
    bool on = strncmp(text, "NO_", 3) != 0;
    const char *name = on ? text : text + 3;
    const struct row *r = find(in->f, name);
    if (!r) return unknown(in, name);
    if (!has(r, in->f)) return elsewhere(in, r);
    uint64_t bit = 1ull << r->id;
    bool changes = on != fair_on(in->f, r->id);
    if (changes && r->effect == MISSING) {
        complain(in, WB_ERROR, r->why, name, "cannot be turned on in the model");
        return -1;
    }
    if (changes && r->effect == INERT) complain(in, WB_WARNING, r->why, name, "has no effect in the model");
    in->f->features = on ? in->f->features | bit : in->f->features & ~bit;
    return 0;
}

int fair_features_read(struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d)
{
    struct reading in = {.f = f, .cfg = cfg, .d = d};
    int err = 0;
    defaults(f);
    if (!wb_cfg_has(cfg, "policy.features")) return 0;
    size_t n = wb_cfg_count(cfg, "policy.features");
    for (in.at = 0; in.at < n; in.at++)
        if (turn(&in, wb_cfg_str_at(cfg, "policy.features", in.at))) err = -1;
    return err;
}
