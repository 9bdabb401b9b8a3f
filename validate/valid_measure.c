/* valid_measure.c - the real side: all cases once in each round, each run watched for other load. */
#include "valid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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

/* One real run of a case; a run beside too much other load is dropped. 0 or -errno; errors go to why. */
static int one_run(struct valid_case *c, const struct valid_env *env, uint32_t round)
{
    struct real_spec s;
    struct real_result r;
    struct host_load load = {0};
    struct wb_diag *d = wb_diag_new();
    int rc = valid_real_spec(c, &s, d);
    s.stop = env->stop;
    if (c->kind != REAL_HACKBENCH) {
        s.duration_ns = (uint64_t)(env->seconds * 1e9);
        s.warmup_ns = 50000000;
    }
    struct host_meter *m = host_meter_begin(NULL);
    if (!rc) rc = real_run(&s, &r, d);
    if (rc) {
        if (rc != -EINTR) snprintf(c->failed, sizeof c->failed, "the real run was refused (round %u)", round);
        host_meter_free(m);
        wb_diag_free(d);
        return rc;
    }
    if (m) host_meter_end(m, r.cpu_ns_total * 1e-9, &host_gate_default, &load);
    if (load.known && !load.quiet) {
        c->dropped++;
    } else if (c->rounds < VALID_ROUNDS_MAX && r.metric_n && isfinite(r.metric[0].value)) {
        take_figures(c, &r);
        c->real[c->rounds] = r.metric[0].value;
        c->real_together[c->rounds++] = r.together;
    }
    real_result_free(&r);
    wb_diag_free(d);
    return 0;
}

int valid_measure(struct valid_set *v, const struct valid_env *env, struct wb_diag *d)
{
    size_t all = v->n * env->rounds, done = 0;
    (void)d;
    for (uint32_t round = 0; round < env->rounds; round++)
        for (size_t i = 0; i < v->n; i++, done++) {
            struct valid_case *c = &v->c[i];
            if (env->stop && *env->stop) return -EINTR;
            if (!c->predicted || c->failed[0]) continue;
            if (env->progress)
                env->progress(env->ctx, "measuring", done, all, (double)(all - done) * (env->seconds + 0.15));
            if (one_run(c, env, round) == -EINTR) return -EINTR;
        }
    return 0;
}
