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
    calib_rows_within(c, env->keys);
    int rc = calib_fit(env, p, c, d);
    calib_rows_within(c, env->keys);
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

static bool measured_range(const struct wb_config *cfg, const char *key)
{
    const struct wb_origin *o = wb_cfg_has(cfg, key) ? wb_cfg_origin(cfg, key) : NULL;
    return o && o->status == WB_MEASURED && o->range_lo <= o->range_hi && o->range_hi > 0;
}

/* Keys that one factor scales carry the same method text; the first stands for all. */
static bool seen_before(const struct wb_config *cfg, const char *source, const struct calib_overlap *out, uint32_t n)
{
    if (!source || strncmp(source, "fitted", 6) != 0) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(wb_cfg_origin(cfg, out[i].key)->source, source)) return true;
    return false;
}

static enum wb_unit unit_of(const struct wb_config *cfg, const char *key)
{
    enum wb_key_type t = wb_cfg_row(cfg, key)->type;
    return t == WB_KEY_RATE    ? WB_UNIT_RATE
           : t == WB_KEY_FREQ  ? WB_UNIT_FREQ
           : t == WB_KEY_INT   ? WB_UNIT_COUNT
           : t == WB_KEY_RATIO ? WB_UNIT_RATIO
                               : WB_UNIT_TIME;
}

static bool fill_overlap(const struct wb_config *const *cfg, uint32_t n, const char *key, struct calib_overlap *o)
{
    *o = (struct calib_overlap){.unit = unit_of(cfg[0], key)};
    snprintf(o->key, sizeof o->key, "%s", key);
    for (uint32_t i = 0; i < n; i++) {
        if (!measured_range(cfg[i], key)) return false;
        const struct wb_origin *at = wb_cfg_origin(cfg[i], key);
        const struct wb_dist *d = wb_cfg_row(cfg[i], key)->type == WB_KEY_DIST ? wb_cfg_dist(cfg[i], key) : NULL;
        o->value[i] = !d ? calib_cost(cfg[i], key) : d->kind == WB_DIST_TABLE ? (double)d->value[0] : (double)d->a;
        o->lo[i] = (double)at->range_lo;
        o->hi[i] = (double)at->range_hi;
        for (uint32_t k = 0; k < i; k++) o->apart += o->lo[i] > o->hi[k] || o->lo[k] > o->hi[i];
    }
    return true;
}

uint32_t calib_agree(const struct wb_config *const *cfg, uint32_t n, struct calib_overlap *out, uint32_t max)
{
    uint32_t found = 0;
    for (size_t i = 0; found < max; i++) {
        const char *path = wb_cfg_path_at(cfg[0], i);
        if (!path) break;
        char key[72];
        snprintf(key, sizeof key, "%s", path);
        if (!measured_range(cfg[0], key) || strlen(path) >= sizeof key) continue;
        if (seen_before(cfg[0], wb_cfg_origin(cfg[0], key)->source, out, found)) continue;
        found += fill_overlap(cfg, n, key, &out[found]);
    }
    return found;
}
