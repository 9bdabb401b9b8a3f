#include "rr.h"

#include "workload_cmd.h"
#include "workload_common.h"
#include "workloads.h"

struct rr {
    struct wb_channel *ch;
    struct wb_progress *transactions;
    struct wb_latency *hist;
    const struct wb_dist *think;
    uint32_t instance, buf_client, buf_server;
    uint64_t request, response, total;
    bool endless;
    uint16_t fn_call;
};

struct rr_frame {
    struct wb_frame h;
    struct rr *r;
    struct wb_stream stream;
    uint64_t done;
    sim_time since, left;
};

enum { CLIENT, SERVER };

/* Move a whole message: streams may take or give it in parts. */
struct whole {
    struct wb_frame h;
    const struct rr *r;
    uint64_t left;
    uint32_t buf;
    uint8_t end;
    bool in;
};

static enum wb_ret whole_step(struct wb_exec *x, void *frame)
{
    struct whole *f = frame;
    struct wb_channel *ch = f->r->ch;
    WB_BEGIN(f);
    while (f->left) {
        wb_charge_fn(x, f->r->fn_call);
        WB_CALL(x, f,
                f->in ? ch->ops->read(x, ch, f->end, f->buf, f->left) : ch->ops->write(x, ch, f->end, f->buf, f->left));
        if (x->ret <= 0) WB_RETURN(x, 0);
        f->left -= (uint64_t)x->ret;
    }
    WB_RETURN(x, 1);
    WB_END();
}

/* end: who calls; in: it receives. The server receives requests and sends responses. */
static void move(struct wb_exec *x, const struct rr *r, uint8_t end, bool in)
{
    struct whole *f = WB_PUSH(x, whole_step, struct whole);
    f->r = r;
    f->end = end;
    f->in = in;
    f->buf = end == CLIENT ? r->buf_client : r->buf_server;
    f->left = (end == CLIENT) == in ? r->response : r->request;
}

static enum wb_ret server_step(struct wb_exec *x, void *frame)
{
    struct rr_frame *f = frame;
    struct rr *r = f->r;
    WB_BEGIN(f);
    for (;;) {
        WB_CALL(x, f, move(x, r, SERVER, true));
        if (!x->ret) break;
        if (f->done++) WORKLOAD_COMPUTE(x, f, (sim_time)wb_dist_draw(r->think, &f->stream));
        WB_CALL(x, f, move(x, r, SERVER, false));
        if (!x->ret) break;
    }
    WB_CALL(x, f, r->ch->ops->close(x, r->ch, SERVER));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

static enum wb_ret client_step(struct wb_exec *x, void *frame)
{
    struct rr_frame *f = frame;
    struct rr *r = f->r;
    WB_BEGIN(f);
    WB_CALL(x, f, move(x, r, CLIENT, false));
    WB_CALL(x, f, move(x, r, CLIENT, true));
    WB_FLUSH(x, f);
    for (f->done = 0; r->endless || f->done < r->total; f->done++) {
        f->since = wb_now(x);
        WORKLOAD_COMPUTE(x, f, (sim_time)wb_dist_draw(r->think, &f->stream));
        WB_CALL(x, f, move(x, r, CLIENT, false));
        if (x->ret) WB_CALL(x, f, move(x, r, CLIENT, true));
        if (!x->ret) break;
        WB_FLUSH(x, f);
        wb_progress_add(x, r->transactions, 1);
        wb_latency_add(x, r->hist, wb_now(x) - f->since);
    }
    wb_instance_done(x, r->instance);
    WB_CALL(x, f, r->ch->ops->close(x, r->ch, CLIENT));
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}

/* ---- building ---- */

static struct wb_task *make_end(const struct workload_entry *e, const struct wb_task_spec *spec, struct rr *r)
{
    void *frame;
    struct wb_task *t = wb_task_new(e->s, spec, &frame);
    struct rr_frame *f = frame;
    f->r = r;
    f->stream = wb_sim_stream(e->s, t->id, WB_PURPOSE('t', 'h', 'n', 'k'));
    return t;
}

struct plan {
    struct rr shape; /* of every pair */
    const struct rr_kind *kind;
    const struct workload_cmd *cmd;
    bool threads;
};

/* CPUs of one end: its key, else the command line ("-T 0,7", taskset in front), else its turn of workload.cpus. */
static int end_cpus(const struct workload_entry *e, const struct plan *p, uint32_t turn, const struct wb_cpumask **mask)
{
    const char *key = turn % 2 ? "server_cpus" : "client_cpus";
    if (!wb_cfg_has(e->cfg, workload_key(e, key)) && workload_cmd_find(p->cmd, key))
        return workload_cmd_cpus(e, p->cmd, key, mask);
    return workload_cpus(e, key, turn, mask);
}

static int make_pair(const struct workload_entry *e, const struct plan *p, uint32_t k)
{
    const struct rr_kind *kind = p->kind;
    const struct wb_cpumask *cpus[2];
    struct rr *r = wb_sim_alloc(e->s, sizeof *r);
    if (end_cpus(e, p, 2 * k, &cpus[CLIENT]) < 0 || end_cpus(e, p, 2 * k + 1, &cpus[SERVER]) < 0) return -1;
    *r = p->shape;
    r->ch = workload_channel(e, kind->channel, kind->kind);
    r->buf_client = wb_sim_region(e->s, WB_MAX(r->request, r->response), "client's buffer");
    r->buf_server = wb_sim_region(e->s, WB_MAX(r->request, r->response), "server's buffer");
    struct wb_task_spec c = workload_task(e, kind->client, client_step, sizeof(struct rr_frame), cpus[CLIENT], k == 0);
    struct wb_task *client = make_end(e, &c, r);
    struct wb_task_spec s = workload_task(e, kind->server, server_step, sizeof(struct rr_frame), cpus[SERVER], false);
    if (p->threads) {
        s.mm = client->mm;
        s.tgid = client->tgid;
    }
    wb_pair_tasks(e->s, client, make_end(e, &s, r));
    return 0;
}

const struct wb_metric_def rr_figures[RR_FIGURES] = {
    {"transactions", "1/s", WB_BETTER_HIGHER, "Transactions per second, all copies together."},
    {"transaction_time", "s", WB_BETTER_LOWER, "Time of single transactions, think time included."},
};

static int check_message(const struct workload_entry *e, const struct rr_kind *kind, const char *key, uint64_t bytes)
{
    if (!kind->message_max || bytes <= kind->message_max) return 0;
    wb_cfg_error(e->cfg, e->d, workload_key(e, key), "send less", "a datagram holds at most %llu bytes",
                 (unsigned long long)kind->message_max);
    return -1;
}

int rr_build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d,
             const struct rr_kind *kind)
{
    const struct wb_metric_spec rate = wb_metric_spec_of(&rr_figures[0]);
    struct workload_entry e;
    struct workload_cmd cmd;
    if (workload_read(&e, s, cfg, path, instance, d) < 0 || workload_cmd_read(&e, kind->kind, &cmd) < 0) return -1;
    uint32_t copies = (uint32_t)workload_cmd_int(&e, &cmd, "copies");
    struct plan p = {.kind = kind, .cmd = &cmd, .threads = workload_cmd_bool(&e, &cmd, "threads")};
    struct rr *r = &p.shape;
    *r = (struct rr){.instance = instance, .endless = e.endless, .fn_call = e.fn_call};
    r->request = (uint64_t)workload_cmd_int(&e, &cmd, "request");
    r->response = (uint64_t)workload_cmd_int(&e, &cmd, "response");
    r->total = (uint64_t)workload_cmd_int(&e, &cmd, "transactions");
    r->think = wb_cfg_dist(cfg, workload_key(&e, "think"));
    if (check_message(&e, kind, "request", r->request) < 0 || check_message(&e, kind, "response", r->response) < 0)
        return -1;
    r->transactions = wb_progress_new(s, instance, &rate);
    r->hist = wb_latency_new(s, instance, rr_figures[1].name, rr_figures[1].help);
    for (uint32_t k = 0; k < copies; k++)
        if (make_pair(&e, &p, k) < 0) return -1;
    workload_expect(&e, copies);
    return 0;
}
