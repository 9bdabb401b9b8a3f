/*
 * fair_balance_init.c - version rules of balancing, intervals, powers and capacities, configuration.
 *
 * Linux kernel/sched.c init_sched_groups_power, kernel/sched_fair.c update_cpu_power; kernel/sched/topology.c
 * build_sched_domains (imb_numa_nr), kernel/sched/fair.c get_sd_balance_interval.
 */
#include "fair_groups.h"

#include <string.h>

#define WEIGHT .generation = FAIR_LB_WEIGHT, .trap_always = true
#define FUZZY \
    .busiest = { \
        .scale = WEIGHT_NICE_0, .fuzz = WEIGHT_NICE_0, .keep_task = true, .small_stands = true, .empty_counts = true}
#define SCALED .busiest = {.scale = WEIGHT_NICE_0, .scaled_task = true, .small_stands = true}
#define SIBLINGS \
    WEIGHT, SCALED, .order = FAIR_PULL_HEAD, .gate = FAIR_GATE_IDLE, .group_imb = true, .prefer_sibling = true, \
                    .newidle_unlocked = true, .newidle_learns = true, .hot_test = true, .buddies_hot = true, \
                    .limited = true
#define PELT_TIMES \
    .order = FAIR_PULL_TAIL, .nohz = FAIR_NOHZ_FLAGS, .newidle_unlocked = true, .hot_test = true, .buddies_hot = true, \
    .limited = true
#define TYPES PELT_TIMES, .generation = FAIR_LB_TYPES, .less_one = true, .failed_resets = true, .only_task_active = true
#define COSTED .gate = FAIR_GATE_COST, .newidle_bails = true, .blocked_first = true, .numa = FAIR_NUMA_LLCS

const struct fair_balance_rules fair_balance_rules[FAIR_RELEASES] = {
    [FAIR_2_6_23] = {WEIGHT, FUZZY, .order = FAIR_PULL_TREE},
    [FAIR_2_6_24] = {WEIGHT, FUZZY, .order = FAIR_PULL_TREE, .group_imb = true, .hot_test = true, .limited = true},
    [FAIR_2_6_35] = {SIBLINGS},
    [FAIR_2_6_36] = {SIBLINGS, .nohz = FAIR_NOHZ_PUSH, .asym_lowest = true},
    [FAIR_5_4] = {PELT_TIMES, SCALED, .generation = FAIR_LB_LOAD, .gate = FAIR_GATE_OVERLOADED},
    [FAIR_5_15] = {TYPES, .gate = FAIR_GATE_OVERLOADED, .numa = FAIR_NUMA_QUARTER, .halve_first = true},
    [FAIR_6_1] = {TYPES, COSTED, .no_average = true, .past_pinned = true},
    [FAIR_6_6] = {TYPES, COSTED, .sibling_cores = true, .smt_balance = true, .past_pinned = true},
    [FAIR_6_12] = {TYPES, COSTED, .sibling_cores = true, .smt_balance = true, .util_shift = true,
                   .misfit_uncounted = true, .strict_ties = true},
    [FAIR_6_18] = {TYPES, COSTED, .sibling_cores = true, .smt_balance = true, .util_shift = true,
                   .misfit_uncounted = true, .strict_ties = true, .cost_bump = true, .ineligible_stays = true},
};

/* ---- intervals ---- */

uint64_t fair_interval(const struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd)
{
    const struct fair_sim *f = fair_of(x);
    bool busy = ladder_busy(b);
    if (busy && f->v->release >= FAIR_5_15) /* 5.6: 323af6deaf70 */
        busy = !fair_sched_idle(wb_rq(x->sim, b->this_cpu));
    uint64_t ms = sd->balance_interval_ms * (busy ? sd->level->busy_factor : 1);
    uint64_t jiffies = (ms * f->hz + 999) / 1000;
    if (busy && f->br->less_one && jiffies) jiffies--;
    return WB_MAX(WB_MIN(jiffies, f->bal.interval_cap), 1u);
}

/* ---- powers ---- */

static uint32_t power_of_caches(struct wb_sim *s, const struct wb_sd *sd, const struct wb_sd *child,
                                const struct wb_sg *g)
{
    (void)s;
    return ladder_power_of_caches(sd, child, g, WEIGHT_NICE_0);
}

/* Sum of what its CPUs can do. */
static uint32_t power_of_cpus(struct wb_sim *s, const struct wb_sd *sd, const struct wb_sd *child,
                              const struct wb_sg *g)
{
    const struct fair_sim *f = wb_policy_data(s);
    uint64_t sum = 0;
    (void)sd;
    (void)child;
    WB_FOR_EACH_CPU (c, &g->mask) sum += fair_capacity(f, c);
    return (uint32_t)sum;
}

/* Up to 3.x a thread is worth its part of smt_gain (update_cpu_power); later a whole CPU. */
static void thread_capacities(struct wb_sim *s, struct fair_sim *f)
{
    for (cpu_id c = 0; c < f->ncpus; c++) {
        f->bal.capacity[c] = WEIGHT_NICE_0;
        if (f->v->release > FAIR_2_6_36) {
            f->bal.capacity[c] =
                (uint32_t)(WEIGHT_NICE_0 * (uint64_t)wb_machine_speed_ppm(wb_machine_of(s), c) / 1000000);
            continue;
        }
        WB_FOR_EACH_SD(sd, wb_rq(s, c))
        {
            if (sd->flags & WB_SD_SHARE_CPUPOWER && sd->span_weight > 1 && sd->level->smt_gain)
                f->bal.capacity[c] = WB_MAX(sd->level->smt_gain / sd->span_weight, 1u);
        }
    }
}

/* ---- what groups are made of ---- */

static uint32_t cores_in(const struct wb_topology *t, const struct wb_sg *g, bool smt)
{
    uint32_t n = 0;
    WB_FOR_EACH_CPU (c, &g->mask) n += !smt || t->smt_index[c] == 0;
    return n;
}

static void describe_groups(struct wb_sim *s, const struct fair_sim *f, struct wb_sd *sd)
{
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = &sd->groups[i];
        const struct wb_sd *there = ladder_same_level(s, g->first, sd);
        uint32_t flags = there && there->child ? there->child->flags : 0;
        g->cookie[0] = 0;
        g->cookie[1] = flags | (uint64_t)cores_in(wb_topo(s), g, f->pl.smt) << 32;
    }
}

/* build_sched_domains: imb_numa_nr of the NUMA levels, from the last-level caches of a node. */
static void allow_imbalance(struct wb_sim *s, const struct fair_sim *f, cpu_id c)
{
    const struct wb_topology *t = wb_topo(s);
    uint32_t node, first = 0, llc = f->pl.seat[c].llc_size;
    (void)wb_topo_members(t, WB_LVL_NODE, c, &node);
    uint32_t caches = node / llc, imb = WB_MAX(caches == 1 ? node >> 3 : caches, 1u);
    WB_FOR_EACH_SD(sd, wb_rq(s, c))
    {
        if (!(sd->flags & WB_SD_NUMA)) continue;
        if (!first) first = sd->span_weight;
        sd->cookie[0] = (uint64_t)imb * WB_MAX(sd->span_weight / first, 1u);
    }
}

/* ---- asymmetric machines ---- */

struct listing {
    struct wb_sim *s;
    const struct wb_config *cfg;
    struct wb_diag *d;
    const char *key;
    int64_t min, max;
};

static int complain(const struct listing *l, size_t i, const char *text)
{
    struct wb_place place = wb_cfg_place_in(l->cfg, l->key, i, 0, strlen(text));
    wb_diag_add(l->d, WB_ERROR, NULL, place, "write \"0-3 512\": CPUs of this machine and a number",
                "%s: no CPUs and number: \"%s\"", l->key, text);
    return -1;
}

static bool number(const char *text, int64_t *out)
{
    bool minus = *text == '-';
    int64_t v = 0;
    text += minus;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || v > INT32_MAX) return false;
        v = v * 10 + (*text - '0');
    }
    *out = minus ? -v : v;
    return true;
}

/* "0-3 512" for each part of the machine. set: takes a CPU's number. */
static int read_listing(const struct listing *l, void (*set)(struct fair_sim *f, cpu_id c, int64_t v))
{
    struct fair_sim *f = wb_policy_data(l->s);
    struct wb_cpumask m = f->pl.scratch;
    size_t n = wb_cfg_has(l->cfg, l->key) ? wb_cfg_count(l->cfg, l->key) : 0, at;
    for (size_t i = 0; i < n; i++) {
        const char *text = wb_cfg_str_at(l->cfg, l->key, i), *gap = strchr(text, ' '), *why;
        char cpus[128];
        int64_t v;
        if (!gap || (size_t)(gap - text) >= sizeof cpus) return complain(l, i, text);
        memcpy(cpus, text, (size_t)(gap - text));
        cpus[gap - text] = 0;
        memset(m.w, 0, m.nwords * sizeof(uint64_t));
        if (wb_mask_parse(cpus, &m, &why, &at) || !number(gap + 1, &v) || v < l->min || v > l->max)
            return complain(l, i, text);
        WB_FOR_EACH_CPU (c, &m) set(f, c, v);
    }
    return 0;
}

static void set_capacity(struct fair_sim *f, cpu_id c, int64_t v)
{
    f->bal.capacity[c] = (uint32_t)v;
}

static void set_priority(struct fair_sim *f, cpu_id c, int64_t v)
{
    f->bal.priority[c] = (int32_t)v;
}

#define KINDS 64u /* of CPUs by capacity; beyond that they count as one */

/* How many capacities there are among the CPUs of a mask, or of the machine. */
static uint32_t count_kinds(const struct fair_sim *f, const struct wb_cpumask *span)
{
    uint32_t kind[KINDS], n = 0;
    for (cpu_id c = 0; c < f->ncpus && n < KINDS; c++) {
        uint32_t i = 0;
        if (span && !wb_mask_test(span, c)) continue;
        while (i < n && kind[i] != f->bal.capacity[c]) i++;
        if (i == n) kind[n++] = f->bal.capacity[c];
    }
    return n;
}

/* Levels above an asymmetric one do not spread: "don't attempt to spread across CPUs of different capacities". */
static void flag_capacity(struct fair_sim *f, struct wb_sd *sd)
{
    sd->flags |= WB_SD_ASYM_CAPACITY;
    f->bal.asym_capacity = true;
    if (sd->child) sd->child->flags &= ~(uint32_t)WB_SD_PREFER_SIBLING;
}

/* asym_cpu_capacity_classify (5.14+): each level that spans different ones; sd_asym_cpucapacity is the lowest that
 * spans all there are. */
static void classify_capacities(struct fair_sim *f, const struct wb_rq *rq, uint32_t kinds)
{
    struct fair_seat *seat = &f->pl.seat[rq->cpu];
    WB_FOR_EACH_SD(sd, rq)
    {
        uint32_t n = count_kinds(f, sd->span);
        if (n > 1) flag_capacity(f, sd);
        if (n == kinds && !seat->asym) seat->asym = sd;
    }
}

/* asym_cpu_capacity_level (up to 5.13): the lowest level at which everybody sees the biggest CPU that it ever sees. */
static uint32_t level_of_biggest(struct wb_sim *s, const struct fair_sim *f)
{
    uint32_t level = 0;
    for (cpu_id c = 0; c < f->ncpus; c++) {
        uint32_t most = f->bal.capacity[c];
        WB_FOR_EACH_SD(sd, wb_rq(s, c))
        {
            if (sd->level->rank < level) continue;
            WB_FOR_EACH_CPU (o, sd->span) {
                if (f->bal.capacity[o] <= most) continue;
                most = f->bal.capacity[o];
                level = sd->level->rank;
            }
        }
    }
    return level;
}

/* sd_init of 5.4: that level only has the flag; it and those below also place wakeups that are not affine. */
static void flag_one_level(struct fair_sim *f, const struct wb_rq *rq, uint32_t level)
{
    WB_FOR_EACH_SD(sd, rq)
    {
        if (sd->level->rank != level) continue;
        flag_capacity(f, sd);
        f->pl.seat[rq->cpu].asym = sd;
        for (struct wb_sd *t = sd; t; t = t->child) t->flags |= WB_SD_BALANCE_WAKE;
    }
}

static void flag_capacities(struct wb_sim *s, struct fair_sim *f)
{
    for (cpu_id c = 0; c < f->ncpus; c++) f->bal.max_capacity = WB_MAX(f->bal.max_capacity, f->bal.capacity[c]);
    uint32_t kinds = count_kinds(f, NULL);
    if (kinds < 2 || f->v->release < FAIR_5_4) return;
    bool one = f->v->release == FAIR_5_4;
    uint32_t level = one ? level_of_biggest(s, f) : 0;
    for (cpu_id c = 0; c < f->ncpus; c++) {
        if (one)
            flag_one_level(f, wb_rq(s, c), level);
        else
            classify_capacities(f, wb_rq(s, c), kinds);
    }
}

/* ITMT: packing on levels within a package that span different priorities. */
static void flag_priorities(struct wb_sim *s, const struct fair_sim *f)
{
    for (cpu_id c = 0; c < f->ncpus; c++) {
        WB_FOR_EACH_SD(sd, wb_rq(s, c))
        {
            if (sd->flags & WB_SD_NUMA) break;
            WB_FOR_EACH_CPU (o, sd->span)
                if (f->bal.priority[o] != f->bal.priority[c]) sd->flags |= WB_SD_ASYM_PACKING;
        }
    }
}

static int read_asymmetry(struct wb_sim *s, struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d)
{
    struct listing capacity = {s, cfg, d, "policy.cpu_capacity", 1, WEIGHT_NICE_0};
    struct listing priority = {s, cfg, d, "policy.cpu_priority", 0, 1000000};
    thread_capacities(s, f);
    for (cpu_id c = 0; c < f->ncpus; c++) f->bal.priority[c] = -(int32_t)c; /* arch_asym_cpu_priority */
    if (read_listing(&capacity, set_capacity) || read_listing(&priority, set_priority)) return -1;
    flag_capacities(s, f);
    if (wb_cfg_has(cfg, priority.key)) flag_priorities(s, f);
    return 0;
}

/* ---- start ---- */

static void read_switches(struct wb_sim *s, struct fair_sim *f, const struct wb_config *cfg)
{
    static const struct {
        const char *key;
        uint32_t flag;
    } flags[] = {{"policy.wake_affine", WB_SD_WAKE_AFFINE},
                 {"policy.exec_balance", WB_SD_EXEC},
                 {"policy.fork_balance", WB_SD_FORK}};
    static const char *const numa[] = {"none", "source", "quarter", "llcs"};
    (void)s;
    f->bal.ladder.flag_mask = UINT32_MAX;
    for (size_t i = 0; i < WB_ARRAY_SIZE(flags); i++)
        if (!fair_given_bool(cfg, flags[i].key, true)) f->bal.ladder.flag_mask &= ~flags[i].flag;
    f->bal.cache_hot = fair_given_bool(cfg, "policy.cache_hot", true);
    f->bal.idle_balance = fair_given_bool(cfg, "policy.idle_balance", true);
    f->bal.newidle = fair_given_bool(cfg, "policy.newidle", true) && f->bal.idle_balance;
    f->bal.busy_balance = fair_given_bool(cfg, "policy.busy_balance", true);
    f->bal.active_balance = fair_given_bool(cfg, "policy.active_balance", true);
    f->bal.newidle_one = fair_given_bool(cfg, "policy.newidle_one", fair_given_bool(cfg, "kernel.preempt", false));
    f->bal.numa = f->br->numa;
    for (size_t i = 0; wb_cfg_has(cfg, "policy.numa_imbalance") && i < WB_ARRAY_SIZE(numa); i++)
        if (!strcmp(wb_cfg_str(cfg, "policy.numa_imbalance"), numa[i])) f->bal.numa = (enum fair_numa)i;
    /* max_load_balance_interval; up to 2.6.36 by NR_CPUS of the build. */
    uint64_t cpus = f->v->release <= FAIR_2_6_36 ? fair_given(cfg, "policy.nr_cpus_configured", 255) : f->ncpus;
    f->bal.interval_cap = WB_MAX(f->hz * cpus / 10, 1u);
}

static void label(struct wb_sim *s, struct fair_sim *f)
{
    f->bal.fn_group = wb_fn_id(s, "find_busiest_group", WB_CAT_BALANCE, 150 * WB_NS);
    f->bal.fn_queue = wb_fn_id(s, "find_busiest_queue", WB_CAT_BALANCE, 40 * WB_NS);
    f->bal.fn_pull = wb_fn_id(s, f->v->release >= FAIR_5_4 ? "detach_tasks" : "move_tasks", WB_CAT_BALANCE, 60 * WB_NS);
    f->bal.fn_blocked = wb_fn_id(s, "update_blocked_averages", WB_CAT_BALANCE, 60 * WB_NS);
    f->bal.ladder.fn_visit = wb_fn_id(s, "rebalance_domains", WB_CAT_BALANCE, 20 * WB_NS);
}

static void *zeroed(struct wb_sim *s, size_t bytes)
{
    void *p = wb_sim_alloc(s, bytes);
    memset(p, 0, bytes);
    return p;
}

/* The machine has been up for long: no CPU has periods to catch up with. */
static void settle(struct wb_sim *s, cpu_id c)
{
    uint64_t now = wb_jiffies(s);
    const struct fair_sim *f = wb_policy_data(s);
    fair_rq(wb_rq(s, c))->bal.next_balance = now;
    fair_rq(wb_rq(s, c))->capacity = f->v->release < FAIR_5_4 ? WEIGHT_NICE_0 : f->bal.capacity[c];
    WB_FOR_EACH_SD(sd, wb_rq(s, c))
    {
        sd->last_balance = now;
        sd->next_decay = now;
    }
}

/* The rules of a release; a copy of them where the scenario sets some of its own. */
static const struct fair_balance_rules *rules_of(struct wb_sim *s, const struct wb_config *cfg, size_t release)
{
    static const struct {
        const char *word;
        enum fair_newidle_gate gate;
    } gates[] = {{"none", FAIR_GATE_NONE}, {"cost", FAIR_GATE_COST}, {"migration_cost", FAIR_GATE_BOTH}};
    bool gate = wb_cfg_has(cfg, "policy.newidle_gate"), bump = wb_cfg_has(cfg, "policy.newidle_bump");
    if (!gate && !bump) return &fair_balance_rules[release];
    struct fair_balance_rules *own = wb_sim_alloc(s, sizeof *own);
    *own = fair_balance_rules[release];
    if (bump) own->cost_bump = wb_cfg_bool(cfg, "policy.newidle_bump");
    for (size_t i = 0; gate && i < WB_ARRAY_SIZE(gates); i++)
        if (!strcmp(wb_cfg_str(cfg, "policy.newidle_gate"), gates[i].word)) own->gate = gates[i].gate;
    return own;
}

int fair_balance_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct fair_sim *f = wb_policy_data(s);
    struct fair_balance_sim *b = &f->bal;
    f->br = rules_of(s, cfg, f->v->release);
    b->capacity = zeroed(s, f->ncpus * sizeof *b->capacity);
    b->priority = zeroed(s, f->ncpus * sizeof *b->priority);
    b->overloaded = zeroed(s, sizeof *b->overloaded);
    b->first_pick = b->second_pick = WB_NO_CPU;
    nohz_owner_init(s, &b->nohz);
    read_switches(s, f, cfg);
    b->ladder.serializing = &b->serializing;
    b->ladder.interval = fair_interval;
    label(s, f);
    if (read_asymmetry(s, f, cfg, d)) return -1;
    ladder_set_powers(s, f->v->release <= FAIR_2_6_24 ? power_of_caches : power_of_cpus);
    for (cpu_id c = 0; c < f->ncpus; c++) {
        settle(s, c);
        allow_imbalance(s, f, c);
        WB_FOR_EACH_SD(sd, wb_rq(s, c))
        if (!sd->groups[0].cookie[1]) describe_groups(s, f, sd); /* shared by the CPUs of a span */
    }
    fair_newidle_init(s, f, cfg);
    b->nohz_next_balance = b->nohz_next_blocked = wb_jiffies(s);
    return 0;
}
