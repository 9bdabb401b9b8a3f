/* calib.c - a calibration from its probes: rows, fit, and comparison with an older one. */
#include "calib.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int calib_make(const struct calib_env *env, const struct wb_topology *topo, const struct probe_set *p, struct calib *c,
               struct wb_diag *d)
{
    time_t now = time(NULL);
    struct tm tm;
    memset(c, 0, sizeof *c);
    c->topo = topo;
    c->kernel_base = env->kernel_base;
    if (gmtime_r(&now, &tm)) strftime(c->date, sizeof c->date, "%Y-%m-%d", &tm);
    host_identify(NULL, &c->host);
    calib_direct(c, p);
    int rc = calib_fit(env, p, c, d);
    if (rc) calib_free(c);
    return rc;
}

void calib_free(struct calib *c)
{
    free(c->row);
    memset(c, 0, sizeof *c);
}

double calib_cost(const struct wb_config *cfg, const char *key)
{
    const struct wb_key *row = wb_cfg_row(cfg, key);
    if (!row) return 0;
    if (row->type != WB_KEY_COST) return (double)wb_cfg_int(cfg, key);
    return (double)wb_cfg_cost(cfg, key, (uint64_t)wb_cfg_int(cfg, "machine.clock"), 1000000);
}

uint32_t calib_compare(const struct calib *c, const struct wb_config *cfg, struct calib_change *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct calib_row *r = &c->row[i];
        if (!wb_cfg_has(cfg, r->key)) continue;
        struct calib_change *o = &out[n++];
        *o = (struct calib_change){
            .was = calib_cost(cfg, r->key), .now = r->value, .lo = r->lo, .hi = r->hi, .unit = r->unit};
        snprintf(o->key, sizeof o->key, "%s", r->key);
        double slack = fmax(0.05 * r->value, 1.5 * (r->hi - r->lo));
        o->fits = fabs(o->was - o->now) <= slack;
    }
    return n;
}
