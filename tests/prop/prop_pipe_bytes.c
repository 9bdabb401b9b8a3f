/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* No byte is lost or invented by a pipe: random readers and writers with random sizes, some of whom leave early, with
 * every version of the rules, every page size and every kind of lock. Everybody must come to an end; what went in is
 * what came out and what is inside. */
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
    static const uint64_t limit[] = {10, 5000, 70000, 300000};
    return 1 + op->a % limit[op->b % 4];
}

/* One task's list out of the operations that fell to it. Readers go on to the end of file unless they die early. */
static size_t fill_script(struct script_op *out, const struct prop_op *ops, size_t n, uint32_t task, bool reads)
{
    size_t k = 0;
    bool early = false;
    for (size_t i = 0; i < n && k + 4 < OPS; i++) {
        if (ops[i].kind % TASKS != task) continue;
        if (ops[i].b % 10 == 9)
            out[k++] = (struct script_op){SCRIPT_SLEEP, ops[i].a % (200 * WB_US)};
        else if (ops[i].b % 10 == 8)
            out[k++] = (struct script_op){SCRIPT_RUN, ops[i].a % (50 * WB_US)};
        else
            out[k++] = (struct script_op){reads ? SCRIPT_READ : SCRIPT_WRITE, size_of(&ops[i])};
        if (ops[i].kind >= 60) early = true;
    }
    if (reads && !early) {
        if (!k) out[k++] = (struct script_op){SCRIPT_READ, 4096};
        out[k++] = (struct script_op){SCRIPT_READ, 10000};
        out[k++] = (struct script_op){SCRIPT_AGAIN, 0};
    }
    out[k++] = (struct script_op){SCRIPT_DONE, 0};
    return k;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static const char *const versions[] = {"2.6.10", "2.6.11", "2.6.14", "2.6.16", "2.6.24",
                                           "2.6.30", "4.10",   "5.5",    "6.18",   "freebsd"};
    static const char *const pages[] = {"4 KiB", "8 KiB", "16 KiB", "64 KiB"};
    static const char *const locks[] = {"version", "semaphore", "mutex", "mutex_spin", "mutex_handoff", "fair"};
    static const char *const syncs[] = {"version", "always", "never"};
    uint64_t pick = n ? ops[0].a : 0, in, out, inside;
    struct script_op list[TASKS][OPS];
    struct script scripts[TASKS];
    char text[512];
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
    snprintf(text, sizeof text,
             "kernel : { scheduler = \"o1\"; pipe = \"%s\"; page_size = \"%s\"; pipe_lock = \"%s\"; pipe_sync = "
             "\"%s\"; preempt = %s; };",
             versions[pick % 10], pages[pick / 10 % 4], locks[pick / 40 % 6], syncs[pick / 240 % 3],
             pick >> 40 & 1 ? "true" : "false");
    struct scripted s = {.script = scripts, .n = TASKS};
    scripted_build(&s, text);
    bool ended = wb_sim_run(s.sim) == 0;
    int64_t written = 0, readd = 0;
    for (uint32_t t = 0; t < TASKS; t++) {
        if (scripts[t].reads)
            readd += scripts[t].moved;
        else
            written += scripts[t].moved;
    }
    s.channel->ops->audit(s.channel, &in, &out, &inside);
    bool good = ended && in == out + inside && (int64_t)in == written && (int64_t)out == readd;
    if (!good)
        snprintf(why, nwhy, "%s; ended %d, in %llu, out %llu, inside %llu, written %lld, read %lld", text, ended,
                 (unsigned long long)in, (unsigned long long)out, (unsigned long long)inside, (long long)written,
                 (long long)readd);
    scripted_free(&s);
    return good;
}

static void bytes_are_conserved(void **state)
{
    (void)state;
    const struct property p = {.name = "pipe bytes", .ops_max = 80, .make = make, .run = run};
    assert_true(prop_check(&p, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_conserved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
