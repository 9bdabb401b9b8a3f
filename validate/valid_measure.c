/* valid_measure.c - the real side: all cases once in each round, each run watched for other load. */
#include "valid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

/* What a run shows beside its throughput. A histogram's quantile is of single operations; of calls, of 64. */
static void take_figures(struct valid_case *c, const struct real_result *r)
{
    static const uint32_t ppm[] = {[VALID_P50] = 500000, [VALID_P90] = 900000, [VALID_P99] = 990000};
    double seconds = r->count_seconds, switches = (double)(r->counts.voluntary + r->counts.involuntary);
    bool counted = seconds > 0 && r->counts.have & REAL_HAVE_SWITCHES;
    bool moved = seconds > 0 && r->counts.have & REAL_HAVE_MIGRATIONS;
    for (int k = VALID_P50; k <= VALID_P99; k++)
        valid_note_figure(c, (enum valid_figure_kind)k,
                          r->latency && r->latency->count ? (double)wb_hist_quantile(r->latency, ppm[k]) * 1e-12 : NAN);
    valid_note_figure(c, VALID_SWITCHES,
                      counted ? valid_per_operation(c, switches / seconds, r->metric[0].value) : NAN);
    valid_note_figure(c, VALID_MIGRATIONS, moved ? (double)r->counts.migrations / seconds : NAN);
    valid_note_figure(c, VALID_TOGETHER, r->together);
}

/* ------------------------------------------------------------------ how far apart the CPUs are */
#define OTHERWISE 1.6 /* probe.c: two lengths of a move */

bool valid_same_distance(double calibrated_ns, double ns)
{
    if (!(calibrated_ns > 0) || !(ns > 0)) return true;
    return ns < calibrated_ns * OTHERWISE && ns > calibrated_ns / OTHERWISE;
}

void valid_watch_distance(struct valid_set *v, const struct wb_topology *topo, const cpu_id *cpus, uint32_t ncpus,
                          const struct wb_config *cfg)
{
    char key[64];
    v->watch[0] = v->watch[1] = ncpus ? cpus[0] : 0;
    v->line_ns = NAN;
    if (ncpus < 2) return;
    v->watch[1] = cpus[1];
    snprintf(key, sizeof key, "machine.line.transfer.%s", wb_distance_name(wb_topo_distance(topo, cpus[0], cpus[1])));
    const struct wb_origin *o = wb_cfg_origin(cfg, key);
    if (o && o->status == WB_MEASURED)
        v->line_ns = (double)wb_cfg_cost(cfg, key, (uint64_t)wb_cfg_int(cfg, "machine.clock"), 1000000) * 1e-3;
}

static bool on_two_cpus(const struct valid_case *c)
{
    return c->klass != VALID_SYSCALL && c->klass != VALID_SAME && c->klass != VALID_BW_SAME;
}

double valid_distance_now(const struct valid_set *v)
{
    if (v->watch[0] == v->watch[1] || isnan(v->line_ns)) return NAN;
    return probe_line_move(v->watch[0], v->watch[1]);
}

/* NAN: it does not matter for this case. */
static double distance_now(const struct valid_set *v, const struct valid_case *c)
{
    return on_two_cpus(c) ? valid_distance_now(v) : NAN;
}

const char *valid_why_dropped(const struct valid_case *c, char *buf, size_t n)
{
    if (c->rounds || !c->dropped) return NULL;
    if (c->moved == c->dropped)
        snprintf(buf, n, "the CPUs lay nearer or farther apart than when they were calibrated in all %u runs",
                 c->moved);
    else
        snprintf(buf, n, "the machine was not quiet in %u of %u runs%s", c->dropped - c->moved, c->dropped,
                 c->moved ? ", and not as calibrated in the others" : "");
    return buf;
}

/* 0 or -errno with an error in d; on 0 the caller owns *r. */
static int run_case(const struct valid_case *c, const struct valid_env *env, struct real_result *r, struct wb_diag *d)
{
    struct real_spec *s = calloc(1, sizeof *s);
    WB_MEMORY(s, "out of memory for a real run");
    int rc = valid_real_spec(c, s, d);
    s->stop = env->stop;
    if (c->kind != REAL_HACKBENCH) {
        s->duration_ns = (uint64_t)(env->seconds * 1e9);
        s->warmup_ns = 50000000;
    }
    if (!rc) rc = real_run(s, r, d);
    free(s);
    return rc;
}

/* One real run of a case; a run beside too much other load, or while the CPUs lie otherwise than when they were
 * calibrated, is dropped. 0 or -errno; errors go to why. */
static int one_run(const struct valid_set *v, struct valid_case *c, const struct valid_env *env, uint32_t round)
{
    double before = distance_now(v, c);
    if (!valid_same_distance(v->line_ns, before)) {
        c->moved++;
        c->dropped++;
        return 0;
    }
    struct real_result r;
    struct host_load load = {0};
    struct wb_diag *d = wb_diag_new();
    struct host_meter *m = host_meter_begin(NULL);
    int rc = run_case(c, env, &r, d);
    if (rc) {
        if (rc != -EINTR) snprintf(c->failed, sizeof c->failed, "the real run was refused (round %u)", round);
        host_meter_free(m);
        wb_diag_free(d);
        return rc;
    }
    if (m) host_meter_end(m, r.cpu_ns_total * 1e-9, &host_gate_default, &load);
    double after = distance_now(v, c);
    if (!valid_same_distance(v->line_ns, after)) {
        c->moved++;
        c->dropped++;
    } else if (load.known && !load.quiet) {
        c->dropped++;
    } else if (c->rounds < VALID_ROUNDS_MAX && r.metric_n && isfinite(r.metric[0].value)) {
        take_figures(c, &r);
        c->real[c->rounds] = r.metric[0].value;
        c->line_ns[c->rounds] = after;
        c->real_together[c->rounds++] = r.together;
    }
    real_result_free(&r);
    wb_diag_free(d);
    return 0;
}

/* One more run of each case that still lacks some, as A B C. 0 or -EINTR. */
static int one_round(struct valid_set *v, const struct valid_env *env, uint32_t round, bool again)
{
    for (size_t i = 0; i < v->n; i++) {
        struct valid_case *c = &v->c[i];
        double left = (double)(env->rounds - WB_MIN(round, env->rounds)) * (double)v->n - (double)i;
        if (env->stop && *env->stop) return -EINTR;
        if (!c->predicted || c->failed[0] || (again && (!c->dropped || c->rounds >= env->rounds))) continue;
        if (env->progress)
            env->progress(env->ctx, again ? "measuring again" : "measuring", i, v->n,
                          fmax(left, 0) * (env->seconds + 0.15));
        if (one_run(v, c, env, round) == -EINTR) return -EINTR;
    }
    return 0;
}

int valid_measure(struct valid_set *v, const struct valid_env *env, struct wb_diag *d)
{
    uint32_t extra = (env->rounds + 1) / 2; /* for what was dropped */
    int rc = 0;
    (void)d;
    for (uint32_t round = 0; round < env->rounds + extra && !rc; round++)
        rc = one_round(v, env, round, round >= env->rounds);
    return rc;
}
