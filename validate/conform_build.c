/*
 * conform_build.c - the kernel that a recording is compared with: scenario, machine, features, tasks.
 *
 * Machine and kernel come from the options, else from the recording's notes ("### topo", "### kernel", "###
 * features") or the head of a simulation's trace, else the machine is taken to be one package with one last-level
 * cache; the result says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

/* ---- machine ---- */

static void choose_machine(struct conform *c)
{
    struct conform_result *r = c->r;
    if (c->o->machine)
        (void)snprintf(r->machine, sizeof r->machine, "%s", c->o->machine);
    else if (c->t->own_machine[0])
        (void)snprintf(r->machine, sizeof r->machine, "%s", c->t->own_machine);
    else
        r->machine_assumed = !trace_machine(c->t, r->machine, sizeof r->machine);
}

/* ---- kernel ---- */

static int choose_kernel(struct conform *c, struct wb_diag *d)
{
    struct conform_result *r = c->r;
    if (c->o->kernel)
        (void)snprintf(r->kernel, sizeof r->kernel, "%s", c->o->kernel);
    else if (!trace_kernel(c->t, r->kernel, sizeof r->kernel))
        r->kernel[0] = '\0';
    r->kernel_near = !c->o->kernel && trace_kernel_is_near(c->t);
    if (r->kernel[0]) return 0;
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = c->t->path}, "give it: --kernel linux-6.12",
                "the recording does not say which kernel made it");
    return -1;
}

/* The recorded machine's features as a list for policy.features: those that differ from the version's defaults. */
static void choose_features(const struct conform *c, char *buf, size_t n)
{
    char *copy = c->t->features ? strdup(c->t->features) : NULL, *rest = copy, *word;
    const char *version = strncmp(c->r->kernel, "linux-", 6) ? "" : c->r->kernel + 6;
    size_t at = 0;
    buf[0] = 0;
    while (copy && (word = strsep(&rest, " ")) != NULL) {
        if (!*word || !fair_feature_differs(version, word)) continue;
        at += (size_t)snprintf(buf + at, at < n ? n - at : 0, "%s\"%s\"", at ? ", " : "[ ", word);
    }
    if (at && at + 3 < n) (void)snprintf(buf + at, n - at, " ]");
    if (at + 3 >= n) buf[0] = 0;
    free(copy);
}

/* A stable kernel of 6.12 that has aa3ee4f0b754 (6.12.37 of July 2025 brought what it needs). */
static bool skips_delayed(const struct conform *c)
{
    unsigned patch;
    return !strcmp(c->r->kernel, "linux-6.12") && sscanf(c->t->kernel, "6.12.%u", &patch) == 1 && patch >= 37;
}

/* Versions between 5.4 and 5.15 (8 to 14): 5.15 with their placement, and searches bounded as they had it. */
static size_t add_placement(const struct conform *c, bool features, struct wb_override *item)
{
    unsigned minor;
    size_t n = 0;
    if (c->o->kernel || strcmp(c->r->kernel, "linux-5.15") != 0 || sscanf(c->t->kernel, "5.%u", &minor) != 1 ||
        minor > 14)
        return 0;
    item[n++] =
        (struct wb_override){.key = "policy.placement", .value = minor < 12 ? "5.10" : "5.13", .from = "recording"};
    if (!features)
        item[n++] = (struct wb_override){
            .key = "policy.features", .value = "[ \"SIS_PROP\", \"NO_SIS_UTIL\" ]", .from = "recording"};
    return n;
}

/* What no synthetic string says of the recorded machine. Returns how many. */
static size_t add_columns(const struct conform *c, struct wb_override *item, char *text[TRACE_COLUMNS])
{
    size_t n = 0;
    for (int i = 0; i < TRACE_COLUMNS && !c->o->machine && !c->t->own_machine[0]; i++) {
        text[i] = trace_machine_column(c->t, (enum trace_column)i);
        if (text[i])
            item[n++] = (struct wb_override){.key = trace_column_key[i], .value = text[i], .from = "recording"};
    }
    return n;
}

static int load(struct conform *c, const struct wb_key_registry *keys, struct wb_diag *d)
{
    char features[2048], isolated[256], *column[TRACE_COLUMNS] = {NULL};
    struct wb_override *item = calloc(c->o->set_n + 5 + TRACE_COLUMNS, sizeof *item);
    if (!item) return -1;
    size_t n = add_columns(c, item, column);
    choose_features(c, features, sizeof features);
    if (features[0]) item[n++] = (struct wb_override){.key = "policy.features", .value = features, .from = "recording"};
    if (!c->o->machine && trace_isolated(c->t, isolated, sizeof isolated))
        item[n++] = (struct wb_override){.key = "kernel.isolated", .value = isolated, .from = "recording"};
    n += add_placement(c, features[0], item + n);
    if (skips_delayed(c))
        item[n++] = (struct wb_override){.key = "policy.sync_skips_delayed", .value = "true", .from = "recording"};
    for (size_t i = 0; i < c->o->set_n; i++) item[n++] = c->o->set[i];
    struct wb_overrides over = {.item = item, .n = n, .machine = c->r->machine, .kernel = c->r->kernel};
    c->scenario = wb_scenario_load("hog", keys, &over, d);
    free(item);
    for (int i = 0; i < TRACE_COLUMNS; i++) free(column[i]);
    if (!c->scenario) return -1;
    c->cfg = wb_scenario_config(c->scenario);
    return 0;
}

/* ---- tasks ---- */

static bool ends_in_number(const char *comm, char before, uint32_t *n)
{
    const char *at = strrchr(comm, before);
    char *end;
    if (!at || at[1] < '0' || at[1] > '9') return false;
    *n = (uint32_t)strtoul(at + 1, &end, 10);
    return *end == 0;
}

/* Kernel threads of one CPU, by name: "ksoftirqd/3", "migration/0", "kworker/2:1", not "kworker/u8:0". */
static bool one_cpu(const char *comm, uint32_t *cpu)
{
    static const char *const prefix[] = {"ksoftirqd/",   "migration/", "cpuhp/",    "rcuc/",
                                         "idle_inject/", "irq_work/",  "watchdog/", "stopper/"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(prefix); i++)
        if (!strncmp(comm, prefix[i], strlen(prefix[i]))) return ends_in_number(comm, '/', cpu);
    if (strncmp(comm, "kworker/", 8) != 0 || comm[8] < '0' || comm[8] > '9') return false;
    char *end;
    *cpu = (uint32_t)strtoul(comm + 8, &end, 10);
    return *end == ':' || *end == '-';
}

static bool is_kthread(const char *comm)
{
    static const char *const prefix[] = {"kworker/", "ksoftirqd/", "migration/", "rcu_",   "rcuc/",      "kthreadd",
                                         "kswapd",   "kcompactd",  "khugepaged", "cpuhp/", "oom_reaper", "irq/",
                                         "kauditd",  "khungtaskd", "jbd2/",      "scsi_"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(prefix); i++)
        if (!strncmp(comm, prefix[i], strlen(prefix[i]))) return true;
    return false;
}

struct census {
    struct wb_drive_task *spec; /* [ntasks] of task i + 1 */
    char (*name)[TRACE_COMM];
    struct wb_cpumask *one; /* [ncpus] */
    uint64_t *word;
    uint32_t ncpus;
};

static int make_census(struct census *k, uint32_t ntasks, uint32_t ncpus)
{
    uint32_t words = WB_CPUMASK_WORDS(ncpus);
    k->spec = calloc(ntasks, sizeof *k->spec);
    k->one = calloc(ncpus, sizeof *k->one);
    k->word = calloc((size_t)ncpus * words, sizeof *k->word);
    k->ncpus = ncpus;
    if (!k->spec || !k->one || !k->word) return -ENOMEM;
    for (cpu_id c = 0; c < ncpus; c++) {
        k->one[c] = (struct wb_cpumask){.ncpus = ncpus, .nwords = words, .w = k->word + (size_t)c * words};
        wb_mask_set(&k->one[c], c);
    }
    return 0;
}

static void class_of(struct wb_drive_task *s, int prio)
{
    s->klass = prio >= 0 && prio < 100 ? WB_CLASS_FIFO : WB_CLASS_NORMAL;
    if (prio >= 0 && prio < 100) s->rt_prio = (uint8_t)(99 - prio);
    if (prio >= 100 && prio < 140) s->nice = (int8_t)(prio - 120);
}

/* Priority and first CPU of each task, by the first event that tells. */
static void look_at_tasks(const struct conform *c, struct census *k)
{
    const struct trace *t = c->t;
    int16_t *prio = calloc(t->ntasks, sizeof *prio);
    bool *placed = calloc(t->ntasks, sizeof *placed);
    for (size_t i = 0; prio && placed && i < t->nevents; i++) {
        const struct trace_event *e = &t->event[i];
        uint32_t who[2] = {e->task, e->kind == TRACE_SWITCH ? e->next : 0};
        int16_t p[2] = {e->prio, e->next_prio};
        uint16_t cpu = e->from != TRACE_NO_CPU ? e->from : e->cpu;
        for (int j = 0; j < 2; j++) {
            if (!who[j]) continue;
            if (p[j] >= 0 && !prio[who[j]]) prio[who[j]] = (int16_t)(p[j] + 1);
            if (!placed[who[j]] && cpu < k->ncpus) k->spec[who[j] - 1].cpu = cpu;
            placed[who[j]] = true;
        }
    }
    for (uint32_t i = 1; prio && i < t->ntasks; i++) class_of(&k->spec[i - 1], prio[i] ? prio[i] - 1 : 120);
    free(prio);
    free(placed);
}

static int build_sim(struct conform *c, const struct wb_registry *reg, struct wb_diag *d)
{
    const struct trace *t = c->t;
    struct census k = {0};
    struct wb_machine *m = wb_machine_build(c->cfg, d);
    if (!m) return -1;
    uint32_t ncpus = wb_machine_ncpus(m), cpu = 0;
    wb_machine_free(m);
    if (ncpus < t->ncpus) {
        wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = t->path}, "name the machine that it was recorded on",
                    "the recording has CPU %u, the machine \"%s\" %u CPUs", t->ncpus - 1, c->r->machine, ncpus);
        return -1;
    }
    int err = make_census(&k, t->ntasks, ncpus);
    if (!err) look_at_tasks(c, &k);
    for (uint32_t i = 1; i < t->ntasks && !err; i++) {
        struct wb_drive_task *s = &k.spec[i - 1];
        s->name = t->task[i].comm;
        s->kthread = is_kthread(t->task[i].comm);
        if (c->idle && c->idle[i]) s->klass = WB_CLASS_IDLE;
        c->bound[i] = one_cpu(t->task[i].comm, &cpu) && cpu < ncpus;
        if (c->bound[i]) s->allowed = &k.one[cpu];
    }
    if (!err) c->s = wb_drive_build(c->cfg, reg, k.spec, t->ntasks - 1, d);
    free(k.spec);
    /* The masks live as long as the run: kept in the model. */
    c->masks[0] = k.one;
    c->masks[1] = k.word;
    if (err) wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = t->path}, NULL, "not enough memory");
    return c->s ? 0 : -1;
}

/* Wakee flips of tasks that were there before the recording, and of all they fork: a shell, or an init, has woken a few
 * others. No recording tells the count. 2 is what fitted a 2-CPU guest's hackbench (docs/validation.md,
 * policy.start_flips of linux-6.18-packed); assumed. A simulation's own trace begins with none. */
#define START_FLIPS 2u

static bool flips_unknown(const struct conform *c)
{
    return c->f->v->release >= FAIR_5_4 && !c->t->own_machine[0] && !wb_cfg_has(c->cfg, "policy.start_flips");
}

int conform_build(struct conform *c, const struct wb_registry *reg, const struct wb_key_registry *keys,
                  struct wb_diag *d)
{
    choose_machine(c);
    if (choose_kernel(c, d) || load(c, keys, d) || build_sim(c, reg, d)) return -1;
    c->f = wb_policy_data(c->s);
    fair_rows_off(&c->f->rows);       /* what-if questions change loads behind the policy's back */
    c->f->bal.newidle_random = false; /* no recording tells how the dice fell */
    c->r->ncpus = wb_ncpus(c->s);
    bool flips = flips_unknown(c);
    for (uint32_t i = 1; i < c->t->ntasks; i++) {
        struct fair_task *p = fair_task(conform_task(c, i));
        p->is_new = false; /* sleepers have been about for long: they come with nothing, not with full averages */
        if (flips) p->pl.wakee_flips = START_FLIPS;
    }
    c->tick_ns = 1000000000ull / wb_hz(c->s);
    return 0;
}
