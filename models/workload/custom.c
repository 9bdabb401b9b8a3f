#include "custom.h"

#include <string.h>

#include "workloads.h"

/* ---- the entries of `tasks` ---- */

static const char *task_key(const struct custom *c, uint32_t task, const char *key)
{
    return custom_text_path(c, "tasks[%u].%s", task, key);
}

static int read_cpus(struct custom *c, struct custom_task *t, uint32_t i)
{
    const char *key = task_key(c, i, "cpus");
    if (!wb_cfg_has(c->e.cfg, key)) return 0;
    t->pinned = true;
    return workload_cpus(&c->e, key + strlen(c->e.path) + 1, 0, &t->allowed);
}

static int read_task(struct custom *c, uint32_t i)
{
    struct custom_task *t = &c->task[i];
    const struct wb_config *cfg = c->e.cfg;
    t->name = wb_cfg_str(cfg, task_key(c, i, "name"));
    t->count = (uint32_t)wb_cfg_int(cfg, task_key(c, i, "count"));
    t->nice = wb_cfg_has(cfg, task_key(c, i, "nice")) ? (int)wb_cfg_int(cfg, task_key(c, i, "nice")) : c->e.nice;
    t->pair = CUSTOM_NONE;
    if (wb_cfg_has(cfg, task_key(c, i, "process"))) t->process = wb_cfg_str(cfg, task_key(c, i, "process"));
    t->start_given = wb_cfg_has(cfg, task_key(c, i, "start"));
    if (t->start_given) t->start = (sim_time)wb_cfg_int(cfg, task_key(c, i, "start"));
    for (uint32_t j = 0; j < i; j++) {
        if (strcmp(c->task[j].name, t->name)) continue;
        wb_cfg_error(cfg, c->e.d, task_key(c, i, "name"), "use count for several of a kind",
                     "task '%s' is there already", t->name);
        return -1;
    }
    return read_cpus(c, t, i);
}

static int read_pair(struct custom *c, uint32_t i)
{
    const char *key = task_key(c, i, "pair");
    if (!wb_cfg_has(c->e.cfg, key)) return 0;
    const char *name = wb_cfg_str(c->e.cfg, key);
    for (uint32_t j = 0; j < c->ntasks; j++) {
        if (j == i || strcmp(c->task[j].name, name)) continue;
        if (c->task[j].count != c->task[i].count) {
            wb_cfg_error(c->e.cfg, c->e.d, key, NULL, "'%s' and '%s' must have the same count to be pairs",
                         c->task[i].name, name);
            return -1;
        }
        c->task[i].pair = j;
        return 0;
    }
    wb_cfg_error(c->e.cfg, c->e.d, key, NULL, "there is no other task '%s'", name);
    return -1;
}

static int read_tasks(struct custom *c)
{
    const char *key = custom_text_path(c, "tasks");
    int result = 0;
    size_t n = wb_cfg_count(c->e.cfg, key);
    if (!n || n > CUSTOM_OBJECTS) {
        wb_cfg_error(c->e.cfg, c->e.d, key, NULL, n ? "too many tasks" : "a custom workload needs tasks");
        return -1;
    }
    c->ntasks = (uint32_t)n;
    c->task = wb_sim_alloc(c->e.s, n * sizeof *c->task);
    memset(c->task, 0, n * sizeof *c->task);
    for (uint32_t i = 0; i < c->ntasks; i++)
        if (read_task(c, i) < 0) result = -1;
    if (result < 0) return -1;
    for (uint32_t i = 0; i < c->ntasks; i++) {
        if (read_pair(c, i) < 0) result = -1;
        if (custom_compile(c, i) < 0) result = -1;
    }
    return result < 0 ? -1 : custom_check(c);
}

/* ---- one copy of the workload ---- */

static uint32_t count_users(const struct custom *c, uint32_t channel, uint8_t end)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < c->ntasks; t++)
        for (uint32_t i = 0; i < c->task[t].prog.nends; i++)
            if (c->task[t].prog.end[i].channel == channel && c->task[t].prog.end[i].end == end) n += c->task[t].count;
    return n;
}

static int make_channels(struct custom *c, struct custom_copy *k)
{
    const struct custom_list *l = &c->list[CUSTOM_CHANNELS];
    k->channel = wb_sim_alloc(c->e.s, (l->n + 1) * sizeof *k->channel);
    for (uint32_t i = 0; i < l->n; i++) {
        bool is_pipe = !l->decl[i].kind;
        struct wb_channel *ch = k->channel[i] = workload_channel(&c->e, is_pipe ? "pipe" : "unix", l->decl[i].name);
        for (uint8_t end = 0; end < 2; end++) ch->ops->hold(ch, end, count_users(c, i, end) - 1);
        if (!l->decl[i].n) {
            if (is_pipe && (workload_resize(&c->e, ch) < 0 || workload_packets(&c->e, ch, 1) < 0)) return -1;
        } else if (!ch->ops->resize || ch->ops->resize(ch, l->decl[i].n) < 0) {
            wb_cfg_error(c->e.cfg, c->e.d, custom_text_path(c, "channels"), "leave its size out",
                         "channel '%s': pipes of the modelled kernel cannot have this size", l->decl[i].name);
            return -1;
        }
    }
    return 0;
}

static int bad_futex(const struct custom *c)
{
    wb_cfg_error(c->e.cfg, c->e.d, "kernel.futex", "a kernel version such as \"2.6.22\" or \"6.12\"",
                 "'%s' is not a kernel version", wb_cfg_str(c->e.cfg, "kernel.futex"));
    return -1;
}

static int make_objects(struct custom *c, struct custom_copy *k)
{
    struct wb_sim *s = c->e.s;
    const struct custom_list *l = c->list;
    uint32_t nevents = l[CUSTOM_EVENTS].n + c->ntasks;
    k->lock = wb_sim_alloc(s, (l[CUSTOM_LOCKS].n + 1) * sizeof *k->lock);
    k->event = wb_sim_alloc(s, nevents * sizeof *k->event);
    k->region = wb_sim_alloc(s, (l[CUSTOM_REGIONS].n + 1) * sizeof *k->region);
    k->dormant = wb_sim_alloc(s, c->ntasks * sizeof *k->dormant);
    memset(k->dormant, 0, c->ntasks * sizeof *k->dormant);
    k->futex = wb_sim_alloc(s, (l[CUSTOM_LOCKS].n + 1) * sizeof *k->futex);
    for (uint32_t i = 0; i < l[CUSTOM_LOCKS].n; i++) {
        if (l[CUSTOM_LOCKS].decl[i].kind != CUSTOM_LOCK_FUTEX)
            wb_sleeplock_init(s, &k->lock[i], l[CUSTOM_LOCKS].decl[i].kind, false);
        else if (futex_init(s, &k->futex[i], wb_cfg_str(c->e.cfg, "kernel.futex")) < 0)
            return bad_futex(c);
    }
    for (uint32_t i = 0; i < nevents; i++) {
        bool declared = i < l[CUSTOM_EVENTS].n;
        k->event[i] =
            (struct custom_event){.line = wb_sim_line(s), .memory = declared && l[CUSTOM_EVENTS].decl[i].kind};
        if (declared) k->event[i].count = l[CUSTOM_EVENTS].decl[i].n;
        wb_waitq_init(s, &k->event[i].q);
    }
    for (uint32_t i = 0; i < l[CUSTOM_REGIONS].n; i++)
        k->region[i] = wb_sim_region(s, l[CUSTOM_REGIONS].decl[i].n, l[CUSTOM_REGIONS].decl[i].name);
    return 0;
}

/* The first task of a process gives the others its address space and group. */
static struct wb_task *leader_of(const struct custom *c, struct wb_task *const *made, uint32_t task)
{
    for (uint32_t i = 0, at = 0; i <= task && c->task[task].process; at += c->task[i++].count)
        if (c->task[i].process && !strcmp(c->task[i].process, c->task[task].process)) return made[at];
    return NULL;
}

static void make_task(struct custom *c, struct custom_copy *k, uint32_t i, uint32_t nth, struct wb_task **made)
{
    struct custom_task *t = &c->task[i];
    const struct wb_cpumask *cpus = t->allowed;
    void *frame;
    if (!t->pinned) (void)workload_cpus(&c->e, NULL, nth, &cpus);
    struct wb_task_spec spec = workload_task(&c->e, t->name, custom_step, sizeof(struct custom_frame), cpus, nth == 0);
    struct wb_task *leader = leader_of(c, made, i);
    spec.nice = t->nice;
    spec.dormant = t->forked;
    if (t->start_given) {
        spec.start_at = t->start;
        spec.start_fixed = true;
    }
    if (leader) {
        spec.mm = leader->mm;
        spec.tgid = leader->tgid;
    }
    made[nth] = wb_task_new(c->e.s, &spec, &frame);
    struct custom_frame *f = frame;
    f->copy = k;
    f->task = t;
    f->self = made[nth];
    f->draw = wb_sim_stream(c->e.s, made[nth]->id, WB_PURPOSE('c', 's', 't', 'm'));
    f->buf = t->prog.buffer ? wb_sim_region(c->e.s, t->prog.buffer, t->name) : WB_NO_REGION;
    if (!t->forked) return;
    struct custom_frame **last = &k->dormant[i];
    while (*last) last = &(*last)->next_dormant;
    *last = f;
}

static int make_copy(struct custom *c)
{
    struct custom_copy *k = wb_sim_alloc(c->e.s, sizeof *k);
    uint32_t total = 0, nth = 0;
    *k = (struct custom_copy){.c = c};
    if (make_channels(c, k) < 0 || make_objects(c, k) < 0) return -1;
    for (uint32_t i = 0; i < c->ntasks; i++) total += c->task[i].count;
    struct wb_task **made = wb_sim_alloc(c->e.s, total * sizeof *made);
    memset(made, 0, total * sizeof *made);
    for (uint32_t i = 0; i < c->ntasks; i++)
        for (uint32_t j = 0; j < c->task[i].count; j++) make_task(c, k, i, nth++, made);
    for (uint32_t i = 0, at = 0; i < c->ntasks; at += c->task[i++].count) {
        uint32_t other = 0, pair = c->task[i].pair;
        if (pair == CUSTOM_NONE) continue;
        for (uint32_t j = 0; j < pair; j++) other += c->task[j].count;
        for (uint32_t j = 0; j < c->task[i].count; j++)
            if (!made[at + j]->pair && !made[other + j]->pair) wb_pair_tasks(c->e.s, made[at + j], made[other + j]);
    }
    return 0;
}

/* ---- the entry ---- */

/* What an instance reports. */
static const struct wb_metric_def figures[] = {
    {"loops", "1/s", WB_BETTER_HIGHER, "Rounds of outermost loops per second, all tasks together."},
    {"COUNTER", "1/s", WB_BETTER_HIGHER, "Counted by the programs, per second."},
    {"STOPWATCH", "s", WB_BETTER_LOWER, "Time between start and stop of this stopwatch."},
    {"time", "s", WB_BETTER_LOWER, "From the start of the first task until the last one has ended."},
};

/* A given amount of work of which nothing is counted or timed by itself, as an imported recording: its time is the
 * figure. */
static bool is_job(const struct custom *c)
{
    uint32_t watches = 0, endless = 0;
    for (uint32_t i = 0; i < c->ntasks; i++) {
        watches += c->task[i].prog.nwatches;
        endless += c->task[i].prog.endless;
    }
    return !endless && !watches && !c->ncounters && !c->e.background && !wb_cfg_has(c->e.cfg, "run.duration");
}

static void make_figures(struct custom *c)
{
    struct wb_metric_spec loops = wb_metric_spec_of(&figures[0]), time = wb_metric_spec_of(&figures[3]);
    struct wb_sim *s = c->e.s;
    c->progress = wb_sim_alloc(s, (c->ncounters + 1) * sizeof *c->progress);
    for (uint32_t i = 0; i < c->ncounters; i++) {
        struct wb_metric_spec *m = wb_sim_alloc(s, sizeof *m);
        *m = wb_metric_spec_of(&figures[1]);
        m->name = c->counter[i];
        c->progress[i] = wb_progress_new(s, c->e.instance, m);
    }
    time.elapsed = true;
    if (is_job(c)) {
        (void)wb_progress_new(s, c->e.instance, &time);
        loops.better = WB_BETTER_NONE;
    }
    c->loops = wb_progress_new(s, c->e.instance, &loops);
    for (uint32_t t = 0; t < c->ntasks; t++)
        for (uint32_t i = 0; i < c->task[t].prog.nwatches; i++)
            c->task[t].prog.hist[i] = wb_latency_new(s, c->e.instance, c->task[t].prog.watch[i], figures[2].help);
}

/* Something must end the run. */
static int expect_end(struct custom *c)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < c->ntasks; i++)
        if (!c->task[i].prog.endless) parts += c->task[i].count;
    if (c->e.background) return 0;
    if (parts) wb_instance_expect(c->e.s, c->e.instance, parts);
    if (parts || wb_cfg_has(c->e.cfg, "run.duration")) return 0;
    wb_cfg_error(c->e.cfg, c->e.d, custom_text_path(c, "tasks"), "set run.duration, or give a loop a count",
                 "all tasks loop for ever, and nothing ends the run");
    return -1;
}

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    struct custom *c = wb_sim_alloc(s, sizeof *c);
    size_t n = strlen(path) + 1;
    *c = (struct custom){.ntasks = 0};
    if (workload_read(&c->e, s, cfg, path, instance, d) < 0) return -1;
    c->e.path = memcpy(wb_sim_alloc(s, n), path, n);
    c->counter = wb_sim_alloc(s, (CUSTOM_OBJECTS + 1) * sizeof *c->counter);
    c->fn_wait = wb_fn_id(s, "event_wait", WB_CAT_SYSCALL, 0);
    c->fn_wake = wb_fn_id(s, "event_wake", WB_CAT_SYSCALL, 0);
    if (custom_declare(c) < 0 || read_tasks(c) < 0 || expect_end(c) < 0) return -1;
    make_figures(c);
    return make_copy(c);
}

#define ONLY "custom"
static const struct wb_key keys[] = {
    {.path = "workload.channels",
     .type = WB_KEY_STRINGS,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help =
         "Pipes: \"NAME\" or \"NAME pipe 1 MiB\" (a size needs kernel.pipe 2.6.35 or later). AF_UNIX stream pairs, of "
         "which one direction is used: \"NAME unix\", with what SO_SNDBUF asks for \"NAME unix 64 KiB\"."},
    {.path = "workload.locks",
     .type = WB_KEY_STRINGS,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "Sleeping locks of the kernel: \"NAME\" or \"NAME KIND\" with semaphore, mutex, mutex_spin, mutex_handoff "
             "(without KIND) or fair; or futex: a mutex of user space that asks the kernel only when tasks wait."},
    {.path = "workload.events",
     .type = WB_KEY_STRINGS,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "What tasks wait for: \"NAME\" forgets a wake that meets nobody, \"NAME 0\" counts wakes, beginning with "
             "that number (a semaphore)."},
    {.path = "workload.regions",
     .type = WB_KEY_STRINGS,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "Memory that tasks touch: \"NAME SIZE\". Shared by all tasks of the workload."},
    {.path = "workload.tasks",
     .type = WB_KEY_GROUPS,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "The tasks: name and program of each, and how many."},
    {.path = "workload.tasks.name",
     .type = WB_KEY_STRING,
     .only = ONLY,
     .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO,
     .help = "Name of the task in traces and for resume and fork."},
    {.path = "workload.tasks.program",
     .type = WB_KEY_STRINGS,
     .only = ONLY,
     .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO,
     .help = "What it does, a word with its arguments each: run TIME; sleep TIME; timer PERIOD; touch REGION [SIZE] "
             "[read] [random]; read CHANNEL SIZE; "
             "readall CHANNEL SIZE; write CHANNEL SIZE; close CHANNEL; wait EVENT; wake EVENT [all] [sync] (also "
             "sem_wait, sem_post); suspend; resume TASK; "
             "lock LOCK; unlock LOCK; yield; loop [N] ... end; every PERIOD ... end; count NAME [N]; start NAME, stop "
             "NAME (a stopwatch); "
             "fork TASK; pin CPUS; exit. Times may be "
             "distributions: exp(1 ms), uniform(1 us, 9 us). A task ends after its last word, and when a read or write "
             "finds the other side closed."},
    {.path = "workload.tasks.count",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "1000000",
     .def = "1",
     .only = ONLY,
     .help = "Copies of this task.",
     .source = "one of each"},
    {.path = "workload.tasks.nice",
     .type = WB_KEY_INT,
     .min = "-20",
     .max = "19",
     .only = ONLY,
     .help = "Nice value; without it workload.nice."},
    {.path = "workload.tasks.cpus",
     .type = WB_KEY_CPUS,
     .only = ONLY,
     .help = "CPUs that each copy may use. Without it: free, or the next one of workload.cpus."},
    {.path = "workload.tasks.start",
     .type = WB_KEY_TIME,
     .min = "0 s",
     .max = "1000 s",
     .only = ONLY,
     .help = "When it starts; without it as the workload."},
    {.path = "workload.tasks.process",
     .type = WB_KEY_STRING,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "Tasks with the same word here are threads of one process and share its address space."},
    {.path = "workload.tasks.pair",
     .type = WB_KEY_STRING,
     .only = ONLY,
     .flags = WB_KEY_SWEEP_NO,
     .help = "Name of another task with the same count: how long the two are together on a CPU is measured."},
    {.path = "kernel.path.event_wait",
     .type = WB_KEY_COST,
     .unit = "time or cycles",
     .min = "0 ns",
     .max = "1 s",
     .def = "150 cy",
     .flags = WB_KEY_PRICED,
     .help = "Path of `wait` and `suspend` of custom tasks, without lines, queue and sleep.",
     .source = "assumed: 80..400 cy, as a futex call"},
    {.path = "kernel.path.event_wake",
     .type = WB_KEY_COST,
     .unit = "time or cycles",
     .min = "0 ns",
     .max = "1 s",
     .def = "150 cy",
     .flags = WB_KEY_PRICED,
     .help = "Path of `wake` and `resume` of custom tasks, without lines, queue and wakeup.",
     .source = "assumed: 80..400 cy, as a futex call"},
};

const struct wb_workload_ops wb_workload_custom = {
    .abi = WB_POLICY_ABI,
    .kind = "custom",
    .help = "Tasks whose programs stand in the scenario: loops of run, touch, read, write, sleep, wake, wait, lock, "
            "unlock ...",
    .real = "rt-app",
    .weakness = "It is as true as the program that was written down; its locks and events are kernel objects behind a "
                "system call, not futexes.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = CUSTOM_FRAME_NEED,
    .build = build,
};
