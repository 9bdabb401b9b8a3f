/* task.c - making tasks, and what models ask of the simulation while building. See workload.h. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

void *wb_sim_alloc(struct wb_sim *s, size_t bytes)
{
    void *p = arena_alloc(&s->arena, 1, bytes ? bytes : 1, bytes % 16 ? 8 : 16);
    WB_MEMORY(p, "out of memory while a simulation of %u CPUs is built (%zu bytes more)", s->ncpus, bytes);
    return p;
}

/* Tables whose length nobody knows beforehand: on the heap, so that no outgrown copy stays. wb_sim_free() frees
 * them. */
void *table_grow(void *old, uint32_t *room, size_t size)
{
    uint32_t want = *room ? *room + *room / 2 : 64;
    void *p = realloc(old, want * size);
    WB_MEMORY(p, "out of memory while building (a table of %u)", want);
    *room = want;
    return p;
}

/* Names are kept once each; task names repeat (bw_pipe-wr), so the last few are looked through. */
void **wb_sim_shared(struct wb_sim *s, const char *name)
{
    size_t i = 0;
    while (i < WB_ARRAY_SIZE(s->shared) && s->shared[i].name && strcmp(s->shared[i].name, name)) i++;
    WB_CHECK(i < WB_ARRAY_SIZE(s->shared), "no room for the shared pointer %s", name);
    s->shared[i].name = name;
    return &s->shared[i].p;
}

const char *sim_intern(struct wb_sim *s, const char *text, uint32_t *id)
{
    for (uint32_t i = s->nnames; i-- > 0 && i + 16 > s->nnames;) {
        if (strcmp(s->names[i], text)) continue;
        *id = i;
        return s->names[i];
    }
    if (s->nnames == s->names_room) s->names = table_grow(s->names, &s->names_room, sizeof *s->names);
    char *copy = arena_strdup(&s->arena, text, strlen(text));
    WB_MEMORY(copy, "out of memory while building");
    *id = s->nnames;
    return s->names[s->nnames++] = copy;
}

const char *wb_task_name(const struct wb_task *t)
{
    return t->x.sim->names[t->name];
}

uint32_t wb_mm_new(struct wb_sim *s)
{
    return ++s->next_mm;
}

/* One piece: the task, the policy's area, its frame stack. */
struct wb_task *task_alloc(struct wb_sim *s, const struct wb_task_spec *spec)
{
    bool kthread = spec->klass == WB_CLASS_SWAPPER || spec->klass == WB_CLASS_STOP;
    size_t policy = (s->ops->task_bytes + 7) & ~(size_t)7;
    size_t line = s->ncpus >= ROOMY_CPUS ? ARENA_LINE : 8; /* a node of a queue then lies in one line */
    size_t fixed = (sizeof(struct wb_task) + line - 1) & ~(line - 1);
    size_t stack = kthread ? KTHREAD_STACK_BYTES : s->instance[spec->instance].stack;
    if (!kthread && s->ncpus <= OWN_MIDDLE_CPUS && s->ntasks < OWN_DEEP_TASKS) stack += OWN_DEEP_BYTES;
    uint8_t *mem = arena_alloc(&s->arena, 1, fixed + policy + stack, line);
    WB_MEMORY(mem, "out of memory for task %u", s->ntasks);
    struct wb_task *t = (struct wb_task *)(void *)mem;
    exec_init(&t->x, s, mem + fixed + policy, stack);
    t->x.task = t;
    t->x.big = s->k.big_lock ? WB_BIG_FREE : WB_BIG_NONE;
    t->policy = mem + fixed;
    if (s->ntasks == s->tasks_room) s->task = table_grow(s->task, &s->tasks_room, sizeof *s->task);
    t->id = s->ntasks;
    s->task[s->ntasks++] = t;
    (void)sim_intern(s, spec->name, &t->name);
    t->state = WB_NEW;
    t->klass = (uint8_t)spec->klass;
    t->nice = (int8_t)spec->nice;
    t->allowed = spec->allowed ? spec->allowed : s->all_cpus;
    WB_CHECK(spec->instance <= UINT16_MAX, "workload %u", spec->instance);
    t->owner = (uint16_t)spec->instance;
    t->cpu = WB_NO_CPU;
    t->wake_cpu = t->migrated_from = UINT16_MAX;
    t->pid_line = WB_NO_LINE;
    return t;
}

static struct wb_task *leader_of(const struct wb_sim *s, const struct wb_task *t)
{
    uint32_t i = 0;
    while (i < s->ntasks && s->task[i]->pid != t->tgid) i++;
    WB_CHECK(i < s->ntasks, "process %u has no leader", t->tgid);
    return s->task[i];
}

/* A process has a struct pid, a struct cred and a table of files of its own; its threads share them (copy_creds() and
 * copy_files() of kernel/cred.c and kernel/fork.c with CLONE_THREAD and CLONE_FILES). The leader comes before them. */
static void share_process(struct wb_sim *s, struct wb_task *t, uint32_t tgid)
{
    if (!tgid) {
        wb_sim_lines_later(s, 2);
        return;
    }
    struct wb_task *leader = leader_of(s, t);
    WB_CHECK(leader != t, "process %u has no leader", tgid);
    t->shares_files = leader->shares_files = true;
}

uint32_t wb_task_pid_line(struct wb_task *t)
{
    struct wb_sim *s = t->x.sim;
    if (t->pid_line != WB_NO_LINE) return t->pid_line;
    struct wb_task *leader = t->tgid == t->pid ? t : leader_of(s, t);
    if (leader->pid_line == WB_NO_LINE) leader->pid_line = wb_lines_new(s->hw, 2);
    t->pid_line = leader->pid_line;
    return t->pid_line;
}

static void start_when(struct wb_sim *s, struct wb_task *t, const struct wb_task_spec *spec)
{
    struct wb_stream r = wb_sim_stream(s, t->id, WB_PURPOSE('s', 't', 'r', 't'));
    sim_time when = spec->start_at;
    if (!spec->start_fixed && s->start_spread) when += wb_draw_below(&r, s->start_spread);
    cpu_id cpu = spec->start_cpu;
    if (cpu == WB_NO_CPU) { /* the shell that starts it runs somewhere */
        cpu = wb_mask_nth(t->allowed, (uint32_t)wb_draw_below(&r, wb_mask_count(t->allowed)));
    }
    s->first_start = WB_MIN(s->first_start, when);
    event_post(s, when, EV_START, t->id, cpu);
}

struct wb_task *wb_task_new(struct wb_sim *s, const struct wb_task_spec *spec, void **frame)
{
    struct wb_task *t = task_alloc(s, spec);
    t->pid = ++s->next_pid;
    t->tgid = spec->tgid ? spec->tgid : t->pid;
    t->mm = spec->mm ? spec->mm : wb_mm_new(s);
    share_process(s, t, spec->tgid);
    void *f = wb_push(&t->x, spec->step, spec->frame_bytes);
    if (frame) *frame = f;
    t->x.user = 1;
    push_first(&t->x);
    policy_task_init(s, t);
    if (!spec->dormant) start_when(s, t, spec);
    return t;
}

void task_gone(struct wb_sim *s, struct wb_task *t)
{
    if (t->pair) measure_pair_end(s->m, s->pair[t->pair - 1].measure, s->now);
}

/* ---- memory that models declare: laid out once everything is known ---- */

uint32_t wb_sim_region(struct wb_sim *s, uint64_t bytes, const char *name)
{
    WB_CHECK(!s->hw, "regions are declared while building");
    if (s->nregions == s->regions_room) s->region = table_grow(s->region, &s->regions_room, sizeof *s->region);
    s->region[s->nregions] = (struct declared_region){.bytes = bytes, .name = name};
    return s->nregions++;
}

uint32_t wb_sim_line(struct wb_sim *s)
{
    WB_CHECK(!s->hw, "lines are declared while building");
    return s->nlines++;
}

void wb_sim_lines_later(struct wb_sim *s, uint32_t n)
{
    WB_CHECK(!s->hw, "lines are declared while building");
    s->nlines_later += n;
}

void wb_sim_pages(struct wb_sim *s, uint32_t n, uint32_t page_bytes)
{
    WB_CHECK(!s->page_bytes || s->page_bytes == page_bytes, "pages of %u and of %u bytes", s->page_bytes, page_bytes);
    s->page_bytes = page_bytes;
    s->npages += n;
}

struct wb_machine_state *wb_machine_state_of(struct wb_sim *s)
{
    return s->hw;
}

int memory_layout(struct wb_sim *s)
{
    struct wb_machine_sizes sizes = {.regions = WB_MAX(s->nregions, 1u),
                                     .pages = WB_MAX(s->npages, 1u),
                                     .lines = WB_MAX(s->nlines + s->nlines_later, 1u),
                                     .walked_first = s->rq_lines,
                                     .walked = s->ncpus > 2 ? s->ncpus : 0,
                                     .page_bytes = s->page_bytes ? s->page_bytes : 4096};
    s->hw = wb_machine_state_new(s->machine, &sizes);
    if (!s->hw) return -1;
    for (uint32_t i = 0; i < s->nregions; i++) {
        region_id r = wb_region_new(s->hw, s->region[i].bytes, s->region[i].name);
        WB_CHECK(r == i, "region %u got id %u", i, r);
    }
    free(s->region);
    s->region = NULL;
    line_id l = wb_lines_new(s->hw, s->nlines);
    WB_CHECK(!l, "the first line got id %u", l);
    return 0;
}

/* ---- measuring objects ---- */

struct wb_progress *wb_progress_new(struct wb_sim *s, uint32_t instance, const struct wb_metric_spec *spec)
{
    return measure_progress_new(s->m, instance, spec);
}
void wb_progress_add(struct wb_exec *x, struct wb_progress *p, uint64_t n)
{
    (void)x;
    measure_progress_add(p, n);
}
struct wb_latency *wb_latency_new(struct wb_sim *s, uint32_t instance, const char *name, const char *help)
{
    return measure_latency_new(s->m, instance, name, help);
}
void wb_latency_add(struct wb_exec *x, struct wb_latency *l, sim_time v)
{
    (void)x;
    measure_latency_add(l, v);
}
struct wb_counter *wb_counter_new(struct wb_sim *s, uint32_t instance, const char *name, const char *unit,
                                  const char *help)
{
    return measure_counter_new(s->m, instance, name, unit, help);
}
void wb_counter_add(struct wb_exec *x, struct wb_counter *c, uint64_t n)
{
    (void)x;
    measure_counter_add(c, n);
}

void wb_instance_expect(struct wb_sim *s, uint32_t instance, uint32_t parts)
{
    struct instance_record *r = &s->instance[instance];
    if (!r->expect && parts && !r->background) s->instances_left++;
    r->expect += parts;
}

void wb_instance_begin(struct wb_exec *x, uint32_t instance)
{
    measure_instance_begin(x->sim->m, instance, x->sim->now);
}

void wb_instance_done(struct wb_exec *x, uint32_t instance)
{
    struct wb_sim *s = x->sim;
    struct instance_record *r = &s->instance[instance];
    if (++r->done != r->expect) return;
    measure_instance_done(s->m, instance, s->now);
    if (r->background || --s->instances_left) return;
    s->finished = true;
    if (s->stop_when_done) engine_stop(s);
}

/* ---- IPC kinds ---- */

static size_t ipc_index(const struct wb_sim *s, const struct wb_ipc_ops *ops)
{
    for (size_t i = 0; i < s->reg->nipcs; i++)
        if (s->reg->ipcs[i] == ops) return i;
    WB_CHECK(false, "IPC kind %s is not registered", ops->kind);
    return 0;
}
const struct wb_ipc_ops *wb_ipc_find(struct wb_sim *s, const char *kind)
{
    for (size_t i = 0; i < s->reg->nipcs; i++)
        if (!strcmp(s->reg->ipcs[i]->kind, kind)) return s->reg->ipcs[i];
    return NULL;
}
void *wb_ipc_state(struct wb_sim *s, const struct wb_ipc_ops *ops)
{
    return s->ipc_state[ipc_index(s, ops)];
}
void wb_ipc_set_state(struct wb_sim *s, const struct wb_ipc_ops *ops, void *state)
{
    s->ipc_state[ipc_index(s, ops)] = state;
}

/* ---- plain accessors ---- */

const struct wb_task_totals *wb_task_totals(const struct wb_task *t)
{
    const struct wb_sim *s = t->x.sim;
    return s->totals ? &s->totals[t->id] : NULL;
}

void *wb_policy_data(struct wb_sim *s)
{
    return s->policy;
}
cpu_id wb_ncpus(const struct wb_sim *s)
{
    return s->ncpus;
}
struct wb_task *wb_task_of(struct wb_sim *s, task_id id)
{
    return id < s->ntasks ? s->task[id] : NULL;
}
uint32_t wb_ntasks(const struct wb_sim *s)
{
    return s->ntasks;
}
sim_time wb_sim_now(const struct wb_sim *s)
{
    return s->now;
}
sim_time wb_tick_ps(const struct wb_sim *s)
{
    return s->tick_ps;
}
uint32_t wb_hz(const struct wb_sim *s)
{
    return s->k.hz;
}
const struct wb_topology *wb_topo(const struct wb_sim *s)
{
    return s->topo;
}
const struct wb_machine *wb_machine_of(const struct wb_sim *s)
{
    return s->machine;
}
struct wb_stream wb_sim_stream(struct wb_sim *s, uint64_t entity, uint32_t purpose)
{
    return wb_stream_make(s->seed, s->replication, entity, purpose);
}
