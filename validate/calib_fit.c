/* calib_fit.c - the costs that no probe isolates: fitted by simulating the probes. */
#include "calib.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unknown. `keys`: costs that are multiplied by it, blank-separated; or, with `ns`, one cost that it is. */
/* When the interrupt leaves, as a share of what sending costs the sender. In a guest sending is a trap, and the
 * trap's work comes before the delivery; on bare metal both are so short that it hardly matters. Assumed: the probes
 * see only its sum with flight and entry. */
#define OFFSET_SHARE 0.9

#define PRIOR_SD 1.5
#define COPY_SD 0.7
#define REACH 5.3

struct unknown {
    const char *name, *keys;
    double start; /* factor; or ns */
    double prior; /* deviation of its logarithm before anything is measured */
    bool ns;
    const char *method; /* of its rows */
};

static const struct unknown unknowns[] = {
    {"pipe path",
     "kernel.path.vfs_read kernel.path.vfs_write kernel.path.pipe_read kernel.path.pipe_write kernel.path.pipe_buf "
     "kernel.path.mutex_lock kernel.path.mutex_unlock kernel.path.wake_up",
     1, PRIOR_SD, false, "one factor for the pipe's path"},
    {"page", "kernel.path.alloc_page kernel.path.free_page", 1, PRIOR_SD, false,
     "one factor for getting and freeing a page"},
    {"copy", "machine.copy.l1", 1, COPY_SD, false,
     "string moves within the L1, times a factor for what the kernel's copy adds"},
    {"copy beyond", "machine.copy.l2 machine.copy.l3", 1, COPY_SD, false,
     "string moves within L2 and L3, times one factor for what the kernel's copy of whole pages adds"},
    {"switch",
     "kernel.path.schedule kernel.path.context_switch kernel.path.switch_mm kernel.path.try_to_wake_up "
     "kernel.path.enqueue_task kernel.path.dequeue_task kernel.path.pick_next_entity kernel.path.update_curr "
     "kernel.path.place_entity kernel.path.prepare_to_wait kernel.path.finish_wait kernel.path.pipe_wait",
     1, PRIOR_SD, false, "one factor for sleeping, waking and switching"},
    {"ipi send", "machine.ipi.send", 2000, PRIOR_SD, true, "what waking a halted CPU adds to a write"},
    {"ipi entry", "machine.ipi.entry", 1000, PRIOR_SD, true, "a wakeup of a CPU that is awake"},
    {"idle exit 0", "machine.idle.i0.exit", 3000, PRIOR_SD, true, "trip after no idle time and after 20 us"},
    {"idle exit 1", "machine.idle.i1.exit", 5000, PRIOR_SD, true, "trip after 200 us of idle time"},
    {"idle exit 2", "machine.idle.i2.exit", 8000, PRIOR_SD, true, "trip after 2 ms of idle time"},
};
#define UNKNOWNS WB_ARRAY_SIZE(unknowns)
#define KEYS_MAX 64
/* What is believed before anything is measured: an unknown lies within a factor of e^1.5 = 4.5 of its start (one
 * deviation); a copy in the kernel, within a factor of 2 of the string move that was measured in user mode. It hardly
 * weighs beside a figure known to 1 %, and keeps unknowns that the figures say little about near something possible.
 * Steps of the search beyond a factor of 200 are cut. */

/* Figures that the fit meets, without the distance. The first ones need one CPU only. */
static const struct {
    const char *name;
    bool far;
} figures[] = {
    {"pipe_1", false},       {"pipe_4k", false},       {"pipe_16k", false},    {"pipe_64k", false},
    {"local_trip", false},   {"far_write_0", true},    {"awake_trip", true},   {"far_trip_0", true},
    {"far_trip_20us", true}, {"far_trip_200us", true}, {"far_trip_2ms", true},
};

struct fit {
    const struct calib_env *env;
    struct calib *c;
    struct calib_sim *sim;
    struct wb_diag *d;
    size_t used;           /* unknowns */
    double base[KEYS_MAX]; /* cost of each key of the factors, in order of the table */
    bool failed;
};

/* The next word of a list; false at its end. */
static bool next_key(const char **at, char *key, size_t n)
{
    while (**at == ' ') (*at)++;
    size_t len = strcspn(*at, " ");
    if (!len) return false;
    snprintf(key, n, "%.*s", (int)len, *at);
    *at += len;
    return true;
}

static bool is_rate(const char *key)
{
    return !strncmp(key, "machine.copy.", 13);
}

/* Settings of the parameters x (logarithms). Returns how many. */
static size_t settings(const struct fit *f, const gsl_vector *x, struct wb_override *set, char (*key)[72],
                       char (*value)[40])
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < f->used; i++) {
        double from = log(unknowns[i].start), v = exp(fmax(fmin(gsl_vector_get(x, i), from + REACH), from - REACH));
        for (const char *at = unknowns[i].keys; next_key(&at, key[n], 72); k++) {
            double cost = unknowns[i].ns ? v * 1e3 : f->base[k] * v;
            if (f->base[k] <= 0 && !unknowns[i].ns) continue;
            wb_format_exact(value[n], 40, (int64_t)llround(cost), is_rate(key[n]) ? WB_UNIT_RATE : WB_UNIT_TIME);
            set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "calibration"};
            n++;
        }
        if (!strcmp(unknowns[i].keys, "machine.ipi.send")) {
            snprintf(key[n], 72, "machine.ipi.offset");
            wb_format_exact(value[n], 40, (int64_t)llround(v * 1e3 * OFFSET_SHARE), WB_UNIT_TIME);
            set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "calibration"};
            n++;
        }
    }
    return n;
}

static void simulate(struct fit *f, const gsl_vector *x)
{
    struct wb_override set[KEYS_MAX];
    char key[KEYS_MAX][72], value[KEYS_MAX][40];
    size_t n = settings(f, x, set, key, value);
    for (uint32_t i = 0; i < f->c->ntargets; i++) {
        struct calib_target *t = &f->c->target[i];
        t->simulated = f->failed ? NAN : calib_sim_figure(f->sim, t->name, set, n, f->d);
        if (!isfinite(t->simulated)) f->failed = true;
    }
}

/* Residuals are relative, so that nanoseconds and milliseconds weigh alike; the weights are the figures' own. */
static int residuals(const gsl_vector *x, void *arg, gsl_vector *out)
{
    struct fit *f = arg;
    simulate(f, x);
    if (f->failed || (f->env->stop && *f->env->stop)) return GSL_EFAILED;
    for (uint32_t i = 0; i < f->c->ntargets; i++)
        gsl_vector_set(out, i, log(f->c->target[i].simulated / f->c->target[i].measured));
    for (size_t i = 0; i < f->used; i++)
        gsl_vector_set(out, f->c->ntargets + i, gsl_vector_get(x, i) - log(unknowns[i].start));
    return GSL_SUCCESS;
}

/* Standard error of a figure, relative: from its interval, and not below 2 %, since a simulated program is never
 * quite the real one. */
static double error_of(const struct calib_target *t)
{
    return fmax((t->hi - t->lo) / (2 * 1.96 * t->measured), 0.02);
}

static void choose_targets(struct calib *c, const struct probe_set *p, const char *far)
{
    char name[PROBE_NAME];
    for (size_t i = 0; i < WB_ARRAY_SIZE(figures); i++) {
        if (figures[i].far && !far) continue;
        snprintf(name, sizeof name, figures[i].far ? "%s.%s" : "%s", figures[i].name, far);
        const struct probe_figure *q = probe_find(p, name);
        if (!q || !q->n || c->ntargets == WB_ARRAY_SIZE(c->target)) continue;
        struct calib_target *t = &c->target[c->ntargets++];
        snprintf(t->name, sizeof t->name, "%s", name);
        t->measured = q->median;
        t->lo = q->lo;
        t->hi = q->hi;
    }
}

/* The nearest distance at which everything was measured: what the fit of interrupts and idle states stands on. */
static const char *nearest_far(const struct probe_set *p)
{
    char name[PROBE_NAME];
    for (unsigned d = WB_FAR_SELF + 1; d < WB_DISTANCES; d++) {
        const char *far = wb_distance_name((enum wb_distance)d);
        snprintf(name, sizeof name, "awake_trip.%s", far);
        if (d != WB_FAR_SMT && probe_find(p, name)) return far;
    }
    return NULL;
}

static void remember_costs(struct fit *f)
{
    char key[72];
    size_t k = 0;
    for (size_t i = 0; i < f->used; i++)
        for (const char *at = unknowns[i].keys; next_key(&at, key, sizeof key); k++)
            f->base[k] = unknowns[i].ns ? 1 : calib_sim_cost(f->sim, key);
}

/* Rows of an unknown's keys: its estimate, and 1.96 standard errors of its logarithm each way. */
static void put_rows(struct fit *f, size_t i, size_t *k, double x, double se)
{
    char key[72];
    const struct unknown *u = &unknowns[i];
    for (const char *at = u->keys; next_key(&at, key, sizeof key); (*k)++) {
        if (!strncmp(key, "machine.idle.i", 14)) {
            unsigned s = (unsigned)(key[14] - '0');
            f->c->idle[s].exit_ns = exp(x);
            f->c->idle[s].lo = exp(x - 1.96 * se);
            f->c->idle[s].hi = exp(x + 1.96 * se);
            f->c->nidle = WB_MAX(f->c->nidle, s + 1);
            continue;
        }
        struct calib_row *r = (struct calib_row *)(uintptr_t)calib_find(f->c, key);
        if (!r) r = calib_add(f->c, key, is_rate(key) ? WB_UNIT_RATE : WB_UNIT_TIME);
        double cost = u->ns ? 1e3 : f->base[*k];
        r->fitted = true;
        r->value = cost * exp(x);
        r->lo = cost * exp(x - 1.96 * se);
        r->hi = cost * exp(x + 1.96 * se);
        if (u->ns)
            snprintf(r->method, sizeof r->method, "fitted by simulating the probe: %s", u->method);
        else
            snprintf(r->method, sizeof r->method, "fitted by simulating the probes: %s, %.3g times the base profile's",
                     u->method, exp(x));
    }
}

static void put_offset(struct calib *c)
{
    const struct calib_row *send = calib_find(c, "machine.ipi.send");
    if (!send) return;
    double v = send->value;
    struct calib_row *r = calib_add(c, "machine.ipi.offset", WB_UNIT_TIME);
    r->assumed = true;
    r->value = v * OFFSET_SHARE;
    r->lo = v * 0.1;
    r->hi = v;
    snprintf(r->method, sizeof r->method, "%.0f %% of sending: the interrupt leaves at the end of the trap",
             OFFSET_SHARE * 100);
}

static void take_result(struct fit *f, gsl_multifit_nlinear_workspace *w)
{
    size_t n = f->c->ntargets, p = f->used, k = 0;
    gsl_matrix *cov = gsl_matrix_alloc(p, p);
    gsl_vector *x = gsl_multifit_nlinear_position(w), *res = gsl_multifit_nlinear_residual(w);
    double chi2 = 0;
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, cov);
    for (size_t i = 0; i < n; i++) chi2 += pow(gsl_vector_get(res, i), 2);
    f->c->chi2 = n > p ? chi2 / (double)(n - p) : chi2;
    /* When the model fits worse than the noise says; but nothing is less known than before anything was measured. */
    double inflate = fmax(1, sqrt(f->c->chi2));
    for (size_t i = 0; i < p; i++) put_rows(f, i, &k, gsl_vector_get(x, i), sqrt(gsl_matrix_get(cov, i, i)) * inflate);
    put_offset(f->c);
    simulate(f, x);
    gsl_matrix_free(cov);
}

static int solve(struct fit *f)
{
    size_t p = f->used, n = f->c->ntargets + p; /* figures, then the unknowns' own prior */
    gsl_multifit_nlinear_parameters par = gsl_multifit_nlinear_default_parameters();
    par.trs = gsl_multifit_nlinear_trs_lm;
    par.h_df = 0.01; /* simulations are whole trips in a fixed time: not smooth far below that */
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = n, .p = p, .params = f};
    gsl_vector *x = gsl_vector_alloc(p), *weight = gsl_vector_alloc(n);
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &par, n, p);
    int info = 0, rc = -1;
    for (size_t i = 0; i < p; i++) gsl_vector_set(x, i, log(unknowns[i].start));
    for (uint32_t i = 0; i < f->c->ntargets; i++) gsl_vector_set(weight, i, 1 / pow(error_of(&f->c->target[i]), 2));
    for (size_t i = 0; i < p; i++) gsl_vector_set(weight, f->c->ntargets + i, 1 / pow(unknowns[i].prior, 2));
    if (w && !gsl_multifit_nlinear_winit(x, weight, &fdf, w)) {
        int status = gsl_multifit_nlinear_driver(40, 1e-4, 1e-6, 1e-8, NULL, NULL, &info, w);
        f->c->converged = status == GSL_SUCCESS || status == GSL_ENOPROG;
        f->c->iterations = (uint32_t)gsl_multifit_nlinear_niter(w);
        rc = f->failed || (f->env->stop && *f->env->stop) ? -1 : 0;
        if (!rc) take_result(f, w);
    }
    if (w) gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
    gsl_vector_free(weight);
    return rc;
}

/* How much single exits vary: what a trip varies more than its median explains, by the logarithm of its 90 % over its
 * 50 % quantile. Two exits are in a trip, one of them of this state when the waker works in between. */
static void spread_idle(struct calib *c, const struct probe_set *p, const char *far)
{
    static const char *const trip[CALIB_IDLE_STATES] = {"far_trip_20us", "far_trip_200us", "far_trip_2ms"};
    static const double after[CALIB_IDLE_STATES] = {0, 63e3, 630e3}; /* halfway between the idle times, by ratio */
    char name[PROBE_NAME];
    for (unsigned i = 0; i < c->nidle; i++) {
        snprintf(name, sizeof name, "%s.%s", trip[i], far);
        const struct probe_spread *s = probe_find_spread(p, name);
        double mid = probe_quantile(s, 0.5), high = probe_quantile(s, 0.9);
        c->idle[i].after_ns = after[i];
        double sd = isfinite(high) ? (high - mid) / 1.2816 / sqrt(i ? 1.0 : 2.0) : 0;
        c->idle[i].sigma = fmin(log1p(sd / c->idle[i].exit_ns), 1);
    }
}

int calib_fit(const struct calib_env *env, const struct probe_set *p, struct calib *c, struct wb_diag *d)
{
    const char *far = nearest_far(p);
    struct fit f = {.env = env, .c = c, .d = d, .used = far ? UNKNOWNS : 5};
    choose_targets(c, p, far);
    if (c->ntargets < f.used) return 0; /* too little was measured: the base profile's costs stay */
    /* The states must exist before they can be set. */
    c->nidle = far ? CALIB_IDLE_STATES : 0;
    for (unsigned i = 0; i < c->nidle; i++) c->idle[i].exit_ns = c->idle[i].lo = c->idle[i].hi = unknowns[7 + i].start;
    spread_idle(c, p, far);
    for (unsigned i = 0; i < c->nidle; i++) c->idle[i].sigma = 0;
    f.sim = calib_sim_new(env, c, d);
    if (!f.sim) return -1;
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    remember_costs(&f);
    int rc = solve(&f);
    gsl_set_error_handler(old);
    calib_sim_free(f.sim);
    if (!rc && far) spread_idle(c, p, far);
    return env->stop && *env->stop ? -EINTR : rc;
}
