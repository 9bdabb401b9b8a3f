/*
 * netscript.h - a workload kind for tests: tasks that run lists of operations on one channel with two ends that both
 * read and write (TCP, UDP).
 *
 *     static const struct net_op client[] = {{NET_WRITE, 1}, {NET_READ, 1}, {NET_DONE, 0}};
 *     struct net_script scripts[] = {{.op = client, .end = 0, .cpu = 0}, ...};
 *     struct netscript s = {.kind = "tcp", .script = scripts, .n = 2};
 *     netscript_build(&s, "kernel : { scheduler = \"o1\"; };");   // machine and run are added when missing
 *     wb_sim_run(s.sim); ... netscript_free(&s);
 *
 * A task ends when a read meets the end of the stream or a call fails; it closes its end.
 */
#ifndef WB_NETSCRIPT_H
#define WB_NETSCRIPT_H

#include "ipc_poll.h"
#include "fair.h"
#include "o1.h"
#include "pipe.h"
#include "simtest.h"
#include "tcp.h"
#include "unix.h"
#include "wakebal/run.h"
#include "wakebal/scenario.h"
#include "wbtest.h"

#include <errno.h>

struct wb_key_registry *cli_keys_new(void); /* all rows that are built in; wb_testsupport has it */

enum net_code {
    NET_DONE,
    NET_READ, /* arg: bytes */
    NET_WRITE,
    NET_SLEEP, /* arg: ps */
    NET_RUN,
    NET_POLL,  /* arg: events */
    NET_KILL,  /* arg: script */
    NET_BIND,  /* arg: CPU, for this task */
    NET_BINDS, /* arg: 3 * script + mask (CPU 0, CPU 1 or both): that one's affinity */
    NET_AGAIN  /* go to the first operation, arg times; 0: for ever */
};

struct net_op {
    enum net_code code;
    uint64_t arg;
};

struct net_script {
    const struct net_op *op;
    int end;
    int cpu; /* -1: free */
    sim_time start;
    int64_t got, put; /* bytes */
    int64_t last;     /* what the last call returned */
    uint32_t calls, rounds;
    bool ended;
    struct wb_task *task;
};

struct netscript {
    const char *kind;
    struct net_script *script;
    uint32_t n;
    /* after netscript_build() */
    struct wb_sim *sim;
    struct wb_channel *channel;
    struct ipc_poll poll;
    const struct wb_cpumask *cpu[3]; /* CPU 0, CPU 1, both */
    struct wb_key_registry *keys;
    struct wb_diag *diag;
    struct wb_scenario *scenario;
    uint32_t instance;
    const char *text;
};

static struct netscript *netscript_now; /* the build callback has no argument for it */

struct net_frame {
    struct wb_frame h;
    struct netscript *s;
    struct net_script *me;
    uint32_t pc, buf;
};

static void net_start(struct wb_exec *x, struct net_frame *f, const struct net_op *op)
{
    struct netscript *s = f->s;
    const struct wb_ipc_ops *ops = s->channel->ops;
    f->me->calls++;
    switch (op->code) {
    case NET_READ: ops->read(x, s->channel, f->me->end, f->buf, op->arg); break;
    case NET_WRITE: ops->write(x, s->channel, f->me->end, f->buf, op->arg); break;
    case NET_SLEEP: wb_sleep_until(x, wb_now(x) + op->arg); break;
    case NET_RUN: wb_charge(x, WB_FN_USER, WB_CAT_USER, op->arg); break;
    case NET_POLL: ipc_poll(x, &s->poll, s->channel, f->me->end, (uint32_t)op->arg); break;
    case NET_KILL: wb_kill(x, s->script[op->arg % s->n].task); break;
    case NET_BIND: wb_set_affinity(x, x->task, s->cpu[op->arg % 2]); break;
    case NET_BINDS: wb_set_affinity(x, s->script[op->arg / 3].task, s->cpu[op->arg % 3]); break;
    case NET_AGAIN: f->pc = !op->arg || ++f->me->rounds < op->arg ? 0 : f->pc; break;
    case NET_DONE: break;
    }
}

static bool net_goes_on(struct wb_exec *x, struct net_frame *f, const struct net_op *op)
{
    if (op->code != NET_READ && op->code != NET_WRITE && op->code != NET_POLL) return !x->task->killed;
    f->me->last = x->ret;
    if (x->ret > 0 && op->code == NET_READ) f->me->got += x->ret;
    if (x->ret > 0 && op->code == NET_WRITE) f->me->put += x->ret;
    return x->ret > 0 && !x->task->killed;
}

static enum wb_ret net_step(struct wb_exec *x, void *frame)
{
    struct net_frame *f = frame;
    WB_BEGIN(f);
    for (;;) {
        f->pc++;
        if (f->me->op[f->pc - 1].code == NET_DONE) break;
        x->user = 1;
        WB_FLUSH(x, f);
        WB_CALL(x, f, net_start(x, f, &f->me->op[f->pc - 1]));
        WB_FLUSH(x, f);
        if (f->pc && !net_goes_on(x, f, &f->me->op[f->pc - 1])) break;
    }
    WB_CALL(x, f, f->s->channel->ops->close(x, f->s->channel, f->me->end));
    f->me->ended = true;
    wb_instance_done(x, f->s->instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static const struct wb_cpumask *net_mask(struct wb_sim *s, cpu_id cpu, cpu_id also)
{
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(s))};
    m.w = wb_sim_alloc(s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    wb_mask_set(&m, cpu);
    wb_mask_set(&m, also);
    return wb_mask_keep(s, &m);
}

static uint64_t net_largest(const struct net_op *op)
{
    uint64_t n = 1;
    for (; op->code != NET_DONE && op->code != NET_AGAIN; op++)
        if (op->code == NET_READ || op->code == NET_WRITE) n = WB_MAX(n, op->arg);
    return n;
}

static int netscript_kind_build(struct wb_sim *sim, const struct wb_config *cfg, const char *path, uint32_t instance,
                                struct wb_diag *d)
{
    struct netscript *s = netscript_now;
    uint32_t holders[2] = {0, 0};
    (void)cfg, (void)path, (void)d;
    s->instance = instance;
    s->channel = wb_ipc_find(sim, s->kind)->open(sim, "script");
    ipc_poll_init(sim, &s->poll);
    for (cpu_id c = 0; c < 2; c++) s->cpu[c] = net_mask(sim, c, c);
    s->cpu[2] = net_mask(sim, 0, 1);
    for (uint32_t i = 0; i < s->n; i++) {
        struct net_script *me = &s->script[i];
        void *frame;
        struct wb_task_spec spec = {.name = "script",
                                    .step = net_step,
                                    .frame_bytes = sizeof(struct net_frame),
                                    .klass = WB_CLASS_NORMAL,
                                    .allowed = me->cpu < 0 ? NULL : s->cpu[me->cpu],
                                    .start_cpu = me->cpu < 0 ? WB_NO_CPU : (cpu_id)me->cpu,
                                    .start_at = me->start,
                                    .start_fixed = true,
                                    .instance = instance};
        me->task = wb_task_new(sim, &spec, &frame);
        struct net_frame *f = frame;
        f->s = s;
        f->me = me;
        f->buf = wb_sim_region(sim, net_largest(me->op), "script");
        holders[me->end]++;
    }
    for (int end = 0; end < 2; end++)
        if (holders[end] > 1) s->channel->ops->hold(s->channel, end, holders[end] - 1);
    wb_instance_expect(sim, instance, s->n);
    return 0;
}

static int net_read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const struct netscript *s = ctx;
    if (strcmp(path, "test.cfg")) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    int n = asprintf(text, "schema = 1;\n%s\n%s\n%s\nworkload = ( { kind = \"netscript\"; } );\n", s->text,
                     strstr(s->text, "machine") ? "" : "machine : { base = \"smp2\"; };",
                     strstr(s->text, "run :") ? "" : "run : { warmup = \"none\"; horizon = \"2 s\"; };");
    *len = n < 0 ? 0 : (size_t)n;
    return n < 0 ? -ENOMEM : 0;
}

static bool net_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "test.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

static const struct wb_key netscript_keys[] = {{.path = "workload.netscript",
                                                .type = WB_KEY_INT,
                                                .def = "0",
                                                .only = "netscript",
                                                .help = "nothing",
                                                .source = "a test"}};
static const struct wb_workload_ops netscript_ops = {.abi = WB_POLICY_ABI,
                                                     .kind = "netscript",
                                                     .keys = netscript_keys,
                                                     .nkeys = 1,
                                                     .frame_need = sizeof(struct net_frame) + 224,
                                                     .build = netscript_kind_build};

static inline void netscript_build(struct netscript *s, const char *text)
{
    static const struct wb_workload_ops *const kinds[] = {&netscript_ops};
    static const struct wb_policy_ops *const policies[] = {&o1_policy, &fair_cfs_policy, &fair_eevdf_policy};
    static const struct wb_ipc_ops *const ipcs[] = {&wb_ipc_pipe, &wb_ipc_unix, &wb_ipc_tcp, &wb_ipc_udp};
    static const struct wb_registry reg = {.policies = policies,
                                           .npolicies = WB_ARRAY_SIZE(policies),
                                           .workloads = kinds,
                                           .nworkloads = 1,
                                           .ipcs = ipcs,
                                           .nipcs = 4};
    static const struct wb_run_options audited = {.audit = true, .task_totals = true};
    struct wb_reader reader = {.read = net_read_text, .exists = net_exists, .ctx = s};
    struct wb_scenario_options o = {.reader = &reader};
    netscript_now = s;
    s->text = text;
    s->keys = cli_keys_new();
    wb_keys_add(s->keys, netscript_keys, 1);
    s->diag = wb_diag_new();
    s->scenario = wb_scenario_load_with("test.cfg", s->keys, &o, s->diag);
    if (s->scenario) s->sim = wb_sim_build(wb_scenario_config(s->scenario), &reg, 0, &audited, s->diag);
    if (s->sim) return;
    char *why = wb_diag_render(s->diag, false);
    fail_msg("scripted scenario:\n%s", why);
    free(why);
}

static inline void netscript_free(struct netscript *s)
{
    wb_sim_free(s->sim);
    wb_scenario_free(s->scenario);
    wb_diag_free(s->diag);
    wb_keys_free(s->keys);
    s->sim = NULL;
}

static inline double netscript_metric(struct netscript *s, const char *name)
{
    const struct wb_metric *m = wb_result_find(wb_sim_result(s->sim), UINT32_MAX, name);
    if (!m) fail_msg("no metric %s", name);
    return m ? m->value : 0;
}

#endif
