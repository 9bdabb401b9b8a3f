/*
 * scripted.h - a workload kind for tests: tasks that run lists of C operations on one pipe and one sleeping
 * lock, and write down when each operation was done and what it returned.
 *
 *     static const struct script_op a[] = {{SCRIPT_WRITE, 1000}, {SCRIPT_WRITE, 4000}, {SCRIPT_DONE, 0}};
 *     struct script scripts[] = {{.op = a, .cpu = 0, .writes = true}};
 *     struct scripted s = {.script = scripts, .n = 1};
 *     scripted_build(&s, "kernel : { pipe = \"2.6.10\"; };");      // machine, workload and run are added when missing
 *     wb_sim_run(s.sim); ... scripted_free(&s);
 *
 * A read that meets the end of file and a write without readers end their task, as DONE does; it closes what
 * it holds.
 */
#ifndef WB_SCRIPTED_H
#define WB_SCRIPTED_H

#include "fair.h"
#include "o1.h"
#include "pipe.h"
#include "simtest.h"
#include "unix.h"
#include "wakebal/run.h"
#include "wakebal/scenario.h"
#include "wbtest.h"

#include <errno.h>

struct wb_key_registry *cli_keys_new(void); /* all rows that are built in; wb_testsupport has it */

enum script_code {
    SCRIPT_DONE,
    SCRIPT_READ, /* arg: bytes */
    SCRIPT_WRITE,
    SCRIPT_SLEEP, /* arg: ps */
    SCRIPT_RUN,
    SCRIPT_LOCK,
    SCRIPT_UNLOCK,
    SCRIPT_TRYLOCK,
    SCRIPT_KILL, /* arg: script, which ends after its call */
    SCRIPT_MOVE, /* arg: CPU (0 or 1): the own affinity becomes that CPU */
    SCRIPT_BIND, /* arg: 3 * script + mask (CPU 0, CPU 1 or both): that one's affinity */
    SCRIPT_AGAIN /* go to the first operation */
};

struct script_op {
    enum script_code code;
    uint64_t arg;
};

struct script {
    const struct script_op *op;
    int cpu; /* -1: free */
    sim_time start;
    bool reads, writes; /* holds that end */
    int64_t moved;      /* bytes read or written */
    bool killed;        /* it ended because it was killed */
    bool ended;
    uint32_t peak; /* bytes of stack used */
    struct wb_task *task;
};

struct script_note {
    sim_time when;
    uint32_t script;
    enum script_code code;
    int64_t ret;
};

struct scripted {
    struct script *script;
    uint32_t n;
    enum wb_sleeplock_kind lock_kind;
    const char *kind; /* of the channel; NULL: pipe */
    /* after scripted_build() */
    struct wb_sim *sim;
    struct wb_channel *channel;
    const struct wb_cpumask *only[3]; /* CPU 0, CPU 1, both */
    struct wb_sleeplock lock;
    struct script_note note[4096];
    uint32_t nnotes;
    struct wb_key_registry *keys;
    struct wb_diag *diag;
    struct wb_scenario *scenario;
    uint32_t instance;
    const char *text;
};

static struct scripted *scripted_now; /* the build callback has no argument for it */

struct script_frame {
    struct wb_frame h;
    struct scripted *s;
    struct script *me;
    uint32_t pc, buf;
};

static void script_note(struct wb_exec *x, struct script_frame *f, const struct script_op *op)
{
    struct scripted *s = f->s;
    if (s->nnotes < WB_ARRAY_SIZE(s->note))
        s->note[s->nnotes++] = (struct script_note){wb_now(x), (uint32_t)(f->me - s->script), op->code, x->ret};
    if ((op->code == SCRIPT_READ || op->code == SCRIPT_WRITE) && x->ret > 0) f->me->moved += x->ret;
}

static void script_start(struct wb_exec *x, struct script_frame *f, const struct script_op *op)
{
    struct scripted *s = f->s;
    switch (op->code) {
    case SCRIPT_READ: s->channel->ops->read(x, s->channel, 1, f->buf, op->arg); break;
    case SCRIPT_WRITE: s->channel->ops->write(x, s->channel, 0, f->buf, op->arg); break;
    case SCRIPT_SLEEP: wb_sleep_until(x, wb_now(x) + op->arg); break;
    case SCRIPT_RUN: wb_charge(x, WB_FN_USER, WB_CAT_USER, op->arg); break;
    case SCRIPT_LOCK: wb_sleeplock_lock(x, &s->lock); break;
    case SCRIPT_UNLOCK: wb_sleeplock_unlock(x, &s->lock); break;
    case SCRIPT_TRYLOCK: x->ret = wb_sleeplock_try(x, &s->lock); break;
    case SCRIPT_KILL:
        if (!s->script[op->arg].ended) wb_kill(x, s->script[op->arg].task);
        break;
    case SCRIPT_MOVE: wb_set_affinity(x, x->task, s->only[op->arg]); break;
    case SCRIPT_BIND: wb_set_affinity(x, s->script[op->arg / 3].task, s->only[op->arg % 3]); break;
    case SCRIPT_AGAIN: f->pc = 0; break;
    case SCRIPT_DONE: break;
    }
}

static enum wb_ret script_step(struct wb_exec *x, void *frame)
{
    struct script_frame *f = frame;
    const struct script_op *op = &f->me->op[f->pc ? f->pc - 1 : 0];
    WB_BEGIN(f);
    for (;;) {
        f->pc++;
        if (f->me->op[f->pc - 1].code == SCRIPT_DONE) break;
        x->user = 1;
        WB_FLUSH(x, f);
        WB_CALL(x, f, script_start(x, f, &f->me->op[f->pc - 1]));
        WB_FLUSH(x, f);
        if (!f->pc) continue;
        op = &f->me->op[f->pc - 1];
        script_note(x, f, op);
        f->me->killed = x->task->killed;
        if (f->me->killed) break;
        if (op->code == SCRIPT_READ && x->ret <= 0) break;
        if (op->code == SCRIPT_WRITE && x->ret < 0) break;
    }
    f->me->peak = x->stack_peak;
    if (f->me->reads) WB_CALL(x, f, f->s->channel->ops->close(x, f->s->channel, 1));
    if (f->me->writes) WB_CALL(x, f, f->s->channel->ops->close(x, f->s->channel, 0));
    f->me->ended = true;
    wb_instance_done(x, f->s->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static const struct wb_cpumask *script_mask(struct wb_sim *s, int cpu, int also)
{
    if (cpu < 0) return NULL;
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(s))};
    m.w = wb_sim_alloc(s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    wb_mask_set(&m, (cpu_id)cpu);
    wb_mask_set(&m, (cpu_id)also);
    return wb_mask_keep(s, &m);
}

static uint64_t script_largest(const struct script_op *op)
{
    uint64_t n = 1;
    for (; op->code != SCRIPT_DONE && op->code != SCRIPT_AGAIN; op++)
        if (op->code == SCRIPT_READ || op->code == SCRIPT_WRITE) n = WB_MAX(n, op->arg);
    return n;
}

static int script_build(struct wb_sim *sim, const struct wb_config *cfg, const char *path, uint32_t instance,
                        struct wb_diag *d)
{
    struct scripted *s = scripted_now;
    uint32_t holders[2] = {0, 0};
    (void)cfg, (void)path, (void)d;
    s->instance = instance;
    s->channel = wb_ipc_find(sim, s->kind ? s->kind : "pipe")->open(sim, "scripted");
    for (int c = 0; c < 2; c++) s->only[c] = script_mask(sim, c, c);
    s->only[2] = wb_ncpus(sim) > 1 ? script_mask(sim, 0, 1) : s->only[0];
    wb_sleeplock_init(sim, &s->lock, s->lock_kind, false);
    for (uint32_t i = 0; i < s->n; i++) {
        struct script *me = &s->script[i];
        void *frame;
        struct wb_task_spec spec = {.name = "script",
                                    .step = script_step,
                                    .frame_bytes = sizeof(struct script_frame),
                                    .klass = WB_CLASS_NORMAL,
                                    .allowed = script_mask(sim, me->cpu, me->cpu),
                                    .start_cpu = me->cpu < 0 ? WB_NO_CPU : (cpu_id)me->cpu,
                                    .start_at = me->start,
                                    .start_fixed = true,
                                    .instance = instance};
        me->task = wb_task_new(sim, &spec, &frame);
        *(struct script_frame *)frame =
            (struct script_frame){.h = *(struct wb_frame *)frame,
                                  .s = s,
                                  .me = me,
                                  .buf = wb_sim_region(sim, script_largest(me->op), "script")};
        holders[0] += me->writes;
        holders[1] += me->reads;
    }
    for (int end = 0; end < 2; end++)
        if (holders[end] > 1) s->channel->ops->hold(s->channel, end, holders[end] - 1);
    wb_instance_expect(sim, instance, s->n);
    return 0;
}

static int script_read(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const struct scripted *s = ctx;
    if (strcmp(path, "test.cfg")) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    int n = asprintf(text, "schema = 1;\n%s\n%s\n%s\n%s\nworkload = ( { kind = \"scripted\"; } );\n", s->text,
                     strstr(s->text, "machine") ? "" : "machine : { base = \"smp2\"; };",
                     strstr(s->text, "kernel") ? "" : "kernel : { scheduler = \"o1\"; };",
                     strstr(s->text, "run") ? "" : "run : { warmup = \"none\"; horizon = \"2 s\"; };");
    *len = n < 0 ? 0 : (size_t)n;
    return n < 0 ? -ENOMEM : 0;
}

static bool script_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "test.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

static const struct wb_workload_ops script_ops = {.abi = 1,
                                                  .kind = "scripted",
                                                  .help = "lists of C operations",
                                                  .frame_need = sizeof(struct script_frame) + 192,
                                                  .build = script_build};
static const struct wb_key script_keys[] = {{.path = "workload.scripted",
                                             .type = WB_KEY_INT,
                                             .def = "0",
                                             .only = "scripted",
                                             .help = "nothing",
                                             .source = "a test"}};

static inline void scripted_build(struct scripted *s, const char *text)
{
    static const struct wb_workload_ops *const kinds[] = {&script_ops};
    static const struct wb_policy_ops *const policies[] = {&o1_policy, &fair_cfs_policy, &fair_eevdf_policy};
    static const struct wb_ipc_ops *const ipcs[] = {&wb_ipc_pipe, &wb_ipc_unix};
    static const struct wb_registry reg = {.policies = policies,
                                           .npolicies = WB_ARRAY_SIZE(policies),
                                           .workloads = kinds,
                                           .nworkloads = 1,
                                           .ipcs = ipcs,
                                           .nipcs = 2};
    struct wb_reader reader = {.read = script_read, .exists = script_exists, .ctx = s};
    struct wb_scenario_options o = {.reader = &reader};
    scripted_now = s;
    s->text = text;
    s->keys = cli_keys_new();
    wb_keys_add(s->keys, script_keys, 1);
    s->diag = wb_diag_new();
    s->nnotes = 0;
    s->scenario = wb_scenario_load_with("test.cfg", s->keys, &o, s->diag);
    static const struct wb_run_options audited = {.audit = true};
    if (s->scenario) s->sim = wb_sim_build(wb_scenario_config(s->scenario), &reg, 0, &audited, s->diag);
    if (s->sim) return;
    char *why = wb_diag_render(s->diag, false);
    fail_msg("scripted scenario:\n%s", why);
    free(why);
}

static inline void scripted_free(struct scripted *s)
{
    wb_sim_free(s->sim);
    wb_scenario_free(s->scenario);
    wb_diag_free(s->diag);
    wb_keys_free(s->keys);
    s->sim = NULL;
}

static inline double scripted_metric(struct scripted *s, const char *name)
{
    const struct wb_metric *m = wb_result_find(wb_sim_result(s->sim), UINT32_MAX, name);
    if (!m) fail_msg("no metric %s", name);
    return m->value;
}

#endif
