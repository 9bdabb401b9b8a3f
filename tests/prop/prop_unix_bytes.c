/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* AF_UNIX pairs lose and invent nothing: random senders and receivers with random sizes, some of whom leave early,
 * are killed in the middle of a call, change their affinity or another's, under every version and on kernels that
 * wake in different ways. Everybody comes to an end; what went in is what came out and what is inside; references on
 * struct pid and struct cred, bytes of send buffers and buffers themselves are those of the messages that are left. */
#include "scripted.h"
#include "simtest.h"

#include "propcheck.h"

#define TASKS 6u
#define OPS 24u

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 64), .a = prop_u64(r), .b = prop_below(r, 100)};
}

static uint64_t size_of(const struct prop_op *op)
{
    static const uint64_t limit[] = {10, 600, 20000, 150000};
    return 1 + op->a % limit[op->b % 4];
}

static struct script_op one(const struct prop_op *op, bool reads)
{
    switch (op->b % 10) {
    case 9: return (struct script_op){SCRIPT_SLEEP, op->a % (200 * WB_US)};
    case 8: return (struct script_op){SCRIPT_RUN, op->a % (50 * WB_US)};
    case 7:
        if (op->a % 2) return (struct script_op){SCRIPT_BIND, op->a / 2 % (3 * TASKS)};
        return (struct script_op){SCRIPT_MOVE, op->a / 2 % 2};
    case 6:
        if (op->a % 4 == 0) return (struct script_op){SCRIPT_KILL, op->a / 4 % TASKS};
        __attribute__((fallthrough));
    default: return (struct script_op){reads ? SCRIPT_READ : SCRIPT_WRITE, size_of(op)};
    }
}

/* One task's list out of the operations that fell to it. Readers go on to the end of the stream unless they leave
 * early. */
static void fill_script(struct script_op *out, const struct prop_op *ops, size_t n, uint32_t task, bool reads)
{
    size_t k = 0;
    bool early = false;
    for (size_t i = 0; i < n && k + 4 < OPS; i++) {
        if (ops[i].kind % TASKS != task) continue;
        out[k++] = one(&ops[i], reads);
        if (ops[i].kind >= 60) early = true;
    }
    if (reads && !early) {
        if (!k) out[k++] = (struct script_op){SCRIPT_READ, 4096};
        out[k++] = (struct script_op){SCRIPT_READ, 10000};
        out[k++] = (struct script_op){SCRIPT_AGAIN, 0};
    }
    out[k++] = (struct script_op){SCRIPT_DONE, 0};
}

/* What the messages that are still queued account for. */
static bool balanced(const struct unix_pair *u, char *why, size_t nwhy)
{
    const struct skb_queue *q = &u->end[1].k.rx;
    uint64_t truesize = 0, refs = 0;
    for (const struct skb *b = q->first; b; b = b->next) {
        truesize += b->truesize;
        refs += u->st->creds;
    }
    bool good = u->end[0].k.wmem == truesize && u->st->pool.alive == q->len && u->st->pid_refs == (int64_t)refs &&
                u->st->cred_refs == (int64_t)refs && !u->end[1].hand && !u->end[1].readlock.owner;
    if (!good)
        snprintf(why, nwhy, "wmem %u of %llu, %llu buffers of %u, %lld and %lld references of %llu", u->end[0].k.wmem,
                 (unsigned long long)truesize, (unsigned long long)u->st->pool.alive, q->len,
                 (long long)u->st->pid_refs, (long long)u->st->cred_refs, (unsigned long long)refs);
    return good;
}

static void make_scripts(struct script *scripts, struct script_op (*list)[OPS], const struct prop_op *ops, size_t n,
                         uint64_t pick)
{
    uint32_t writers = 1 + (uint32_t)(pick >> 20 & 3) % 3;
    for (uint32_t t = 0; t < TASKS; t++) {
        bool reads = t >= writers;
        fill_script(list[t], ops, n, t, reads);
        scripts[t] = (struct script){.op = list[t],
                                     .cpu = (int)(pick >> (24 + t) & 3) - 1,
                                     .reads = reads,
                                     .writes = !reads,
                                     .start = t * 3 * WB_US};
        if (scripts[t].cpu > 1) scripts[t].cpu = -1;
    }
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static const char *const versions[] = {"2.6.10", "2.6.17", "2.6.24", "2.6.26", "2.6.30",
                                           "2.6.35", "2.6.36", "3.2",    "4.10",   "6.18"};
    uint64_t pick = n ? ops[0].a : 0, in, out, inside;
    struct script_op list[TASKS][OPS];
    struct script scripts[TASKS];
    static const char *const kernels[] = {"scheduler = \"o1\"",    "base = \"linux-2.6.24\"", "base = \"linux-5.4\"",
                                          "base = \"linux-5.15\"", "base = \"linux-6.12\"",   "base = \"linux-6.18\""};
    char text[256];
    make_scripts(scripts, list, ops, n, pick);
    snprintf(text, sizeof text, "kernel : { %s; unix = \"%s\"; preempt = %s; };", kernels[(pick >> 44) % 6],
             versions[pick % 10], pick >> 40 & 1 ? "true" : "false");
    struct scripted s = {.script = scripts, .n = TASKS, .kind = "unix"};
    scripted_build(&s, text);
    bool ended = wb_sim_run(s.sim) == 0;
    int64_t written = 0, got = 0;
    for (uint32_t t = 0; t < TASKS; t++) {
        if (scripts[t].reads)
            got += scripts[t].moved;
        else
            written += scripts[t].moved;
    }
    s.channel->ops->audit(s.channel, &in, &out, &inside);
    bool good = balanced(unix_of(s.channel), why, nwhy);
    if (good && (!ended || in != out + inside || (int64_t)in != written || (int64_t)out != got)) {
        snprintf(why, nwhy, "%s; ended %d, in %llu, out %llu, inside %llu, written %lld, read %lld", text, ended,
                 (unsigned long long)in, (unsigned long long)out, (unsigned long long)inside, (long long)written,
                 (long long)got);
        good = false;
    }
    scripted_free(&s);
    return good;
}

static void all_is_conserved(void **state)
{
    (void)state;
    const struct property p = {.name = "unix bytes", .ops_max = 80, .make = make, .run = run};
    assert_true(prop_check(&p, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_conserved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
