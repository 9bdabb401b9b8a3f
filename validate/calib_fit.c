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

#define STEP 0.1 /* of a cost's logarithm, for derivatives; a simulated trip jumps by some tenths of a per cent */
#define PRIOR_SD 1.5
#define COPY_SD 0.15
#define REACH 5.3
#define UNTOLD 0.7 /* of the deviation before: the figures have told next to nothing */

struct unknown {
    const char *name, *keys;
    double start; /* factor; or ns */
    double prior; /* deviation of its logarithm before anything is measured */
    bool ns;
    const char *method; /* of its rows */
};

static const struct unknown unknowns[] = {
    {"pipe write",
     "kernel.path.vfs_write kernel.path.pipe_write kernel.path.mutex_lock kernel.path.mutex_unlock "
     "kernel.path.wake_up",
     1, PRIOR_SD, false, "one factor for writing to a pipe, and its lock"},
    {"pipe read", "kernel.path.vfs_read kernel.path.pipe_read kernel.path.pipe_wait", 1, PRIOR_SD, false,
     "one factor for reading from a pipe"},
    {"slot", "kernel.path.pipe_buf", 1, PRIOR_SD, false, "one slot of a pipe, filled or emptied"},
    {"alloc", "kernel.path.alloc_page", 1, PRIOR_SD, false, "getting a page"},
    {"free", "kernel.path.free_page", 1, PRIOR_SD, false, "freeing a page"},
    {"copy", "machine.copy.l1", 1, COPY_SD, false,
     "string moves within the L1, times a factor for what the kernel's copy adds"},
    {"copy beyond", "machine.copy.l2 machine.copy.l3", 1, COPY_SD, false,
     "string moves within L2 and L3, times one factor for what the kernel's copy of whole pages adds"},
    {"wake", "kernel.path.try_to_wake_up kernel.path.enqueue_task kernel.path.place_entity", 1, PRIOR_SD, false,
     "one factor for waking on the own CPU"},
    {"sleep", "kernel.path.dequeue_task", 1, PRIOR_SD, false, "leaving the run queue to sleep"},
    {"switch",
     "kernel.path.schedule kernel.path.context_switch kernel.path.switch_mm kernel.path.pick_next_entity "
     "kernel.path.update_curr",
     1, PRIOR_SD, false, "one factor for switching"},
    {"unix",
     "kernel.path.unix_stream_sendmsg kernel.path.unix_stream_recvmsg kernel.path.sock_alloc_send_pskb "
     "kernel.path.alloc_skb kernel.path.kfree_skb kernel.path.skb_release_data kernel.path.sock_sendmsg "
     "kernel.path.sock_recvmsg",
     1, PRIOR_SD, false, "one factor for AF_UNIX and what all sockets share"},
    {"unix wait", "kernel.path.unix_stream_data_wait kernel.path.sock_def_readable", 1, PRIOR_SD, false,
     "one factor for waiting for a message of AF_UNIX and for telling the one who waits"},
    {"udp",
     "kernel.path.sys_sendto kernel.path.udp_sendmsg kernel.path.udp_recvmsg kernel.path.udp_rcv "
     "kernel.path.ip_append_data kernel.path.ip_push_pending_frames kernel.path.ip_output kernel.path.ip_rcv "
     "kernel.path.loopback_xmit kernel.path.netif_rx kernel.path.netif_receive_skb kernel.path.net_rx_action "
     "kernel.path.skb_recv_datagram kernel.path.sock_queue_rcv_skb",
     1, PRIOR_SD, false, "one factor for UDP, IP and the loopback device"},
    {"tcp",
     "kernel.path.tcp_sendmsg kernel.path.tcp_write_xmit kernel.path.tcp_transmit_skb kernel.path.tcp_v4_rcv "
     "kernel.path.tcp_rcv_established kernel.path.tcp_ack kernel.path.tcp_clean_rtx_queue kernel.path.tcp_recvmsg "
     "kernel.path.tcp_cleanup_rbuf kernel.path.tcp_rcv_space_adjust kernel.path.tcp_send_ack "
     "kernel.path.tcp_send_delayed_ack kernel.path.skb_clone kernel.path.ip_queue_xmit kernel.path.lock_sock "
     "kernel.path.release_sock",
     1, PRIOR_SD, false, "one factor for TCP"},
    {"ipi send", "machine.ipi.send", 2000, PRIOR_SD, true, "what waking a halted CPU adds to a write"},
    {"ipi entry", "machine.ipi.entry", 1000, PRIOR_SD, true, "a wakeup of a CPU that is awake"},
    {"idle exit 0", "machine.idle.i0.exit", 3000, PRIOR_SD, true, "trip after no idle time and after 20 us"},
    {"idle exit 1", "machine.idle.i1.exit", 5000, PRIOR_SD, true, "trip after 200 us of idle time"},
    {"idle exit 2", "machine.idle.i2.exit", 8000, PRIOR_SD, true, "trip after 2 ms of idle time"},
};
#define UNKNOWNS WB_ARRAY_SIZE(unknowns)
#define IPI_AT 14u /* the first that needs two CPUs; the idle states are the last three */
#define IDLE_AT (UNKNOWNS - CALIB_IDLE_STATES)
#define KEYS_MAX 96
/* What is believed before anything is measured: an unknown lies within a factor of e^1.5 = 4.5 of its start (one
 * deviation); a copy in the kernel, within 15 % of the string move measured in user mode, since it is that
 * instruction. It hardly weighs beside a figure known to 1 %, and keeps unknowns that the figures say little about
 * near something possible. Steps of the search beyond a factor of 200 are cut. */

/* sleep_wake: what a sleep and its wakeup cost, from the difference of two trips that share everything else, over the
 * difference of the sleeps that were counted in them. A mistake in what they share is in neither; each trip by itself
 * is believed to 2 % only, and 2 % of a trip are half a sleep. Recordings from before sleeps were counted have the
 * second trip alone.
 *
 * unix_1: a task that sends to itself and receives never waits, so it tells the calls; the trip then tells what waiting
 * and being told add. By the trip alone what the waits cost would go to the calls, and tasks that find messages
 * waiting (hackbench) would pay for waits they do not have.
 *
 * The fit goes in stages, each with its own unknowns and figures, so that a bad figure between two CPUs does not spoil
 * what one CPU tells, and sockets build on what pipes have told. far: the figures have a distance. */
#define FAR_PROBES "transfer dirty shared far_echo awake_echo transfer_again" /* at one distance, so all or none */
static const struct stage {
    const char *figures; /* a|b: b where a was not measured */
    uint32_t first, free;
    bool far;
    const char *name, *probes; /* probes: where the figures come from */
    uint32_t simulations;      /* that it usually takes: for progress only */
} stages[] = {
    {"pipe_1 pipe_4k pipe_8k pipe_64k fill_512 drain_512 fill_4096 drain_4096 local_write local_trip "
     "sleep_wake|pair_trip",
     0, 10, false, "pipes and switches", "loops sides local_echo", 2400},
    {"unix_1 unix_trip", 10, 2, false, "AF_UNIX", "loops socket_echo", 60},
    {"udp_trip", 12, 1, false, "UDP", "socket_echo", 30},
    {"tcp_trip", 13, 1, false, "TCP", "socket_echo", 30},
    {"far_write_0", 14, 1, true, "sending interrupts", FAR_PROBES, 30},
    {"awake_trip", 15, 1, true, "interrupts of a CPU that is awake", FAR_PROBES, 30},
    {"far_trip_0 far_trip_20us", 16, 1, true, "leaving idle at once", FAR_PROBES, 60},
    {"far_trip_200us", 17, 1, true, "leaving idle after 200 us", FAR_PROBES, 30},
    {"far_trip_2ms", 18, 1, true, "leaving idle after 2 ms", FAR_PROBES, 30},
};

struct fit {
    const struct calib_env *env;
    struct calib *c;
    struct calib_sim *sim;
    struct wb_diag *d;
    double x[UNKNOWNS]; /* logarithms, as known so far */
    const struct stage *stage;
    uint32_t simulations;     /* of this stage so far */
    uint32_t first, free;     /* its unknowns */
    uint32_t target, targets; /* figures of this stage */
    double base[KEYS_MAX];    /* cost of each key of the factors, in order of the table */
    double in_switch;         /* of context_switch and switch_mm together, what probes of its own tell: ps */
    double switch_base;       /* those two, of the base profile */
    double step;              /* of derivatives */
    bool both_sides;          /* they are taken of both */
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

static enum wb_unit unit_of(const char *key)
{
    return !strncmp(key, "machine.copy.", 13) ? WB_UNIT_RATE : WB_UNIT_TIME;
}

/* The logarithm of unknown i that is tried for x: within REACH of its start. */
static double within_reach(size_t i, double x)
{
    double from = log(unknowns[i].start);
    return fmax(fmin(x, from + REACH), from - REACH);
}

#define SWITCH_LEAST 0.05 /* of what is no register and no way back */

static bool is_switch(const char *key)
{
    return !strcmp(key, "kernel.path.context_switch") || !strcmp(key, "kernel.path.switch_mm");
}

/* Cost of a key, the k-th of the list, by its factor. A switch of the base profile holds the saving of user registers
 * and the way back to user mode. Where these are measured they are taken out of it, so that schedule() and picking keep
 * their share of the whole: what comes before the clock is read, and what after it. */
static double cost_by(const struct fit *f, const char *key, size_t k, double factor)
{
    double cost = f->base[k] * factor;
    if (f->in_switch <= 0 || !is_switch(key)) return cost;
    return cost * fmax(1 - f->in_switch / (f->switch_base * factor), SWITCH_LEAST);
}

/* One setting: what the key may be of `cost`, in base units. */
static void put_setting(const struct fit *f, struct wb_override *set, char *key, char *value, double cost)
{
    enum wb_unit unit = unit_of(key);
    wb_format_exact(value, 40, (int64_t)llround(calib_within(f->env->keys, key, unit, cost)), unit);
    *set = (struct wb_override){.key = key, .value = value, .from = "calibration"};
}

/* Settings of the parameters x (logarithms). Returns how many. */
static size_t settings(const struct fit *f, const gsl_vector *x, struct wb_override *set, char (*key)[72],
                       char (*value)[40])
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < f->c->unknowns; i++) {
        bool is_free = i >= f->first && i < f->first + f->free;
        double v = exp(within_reach(i, is_free ? gsl_vector_get(x, i - f->first) : f->x[i]));
        for (const char *at = unknowns[i].keys; next_key(&at, key[n], 72); k++) {
            if (f->base[k] <= 0 && !unknowns[i].ns) continue;
            put_setting(f, &set[n], key[n], value[n], unknowns[i].ns ? v * 1e3 : cost_by(f, key[n], k, v));
            n++;
        }
        if (!strcmp(unknowns[i].keys, "machine.ipi.send")) {
            snprintf(key[n], 72, "machine.ipi.offset");
            put_setting(f, &set[n], key[n], value[n], v * 1e3 * OFFSET_SHARE);
            n++;
        }
    }
    return n;
}

/* Progress: a stage that takes more simulations than usual stays where it is nearly done. */
static void tell(struct fit *f)
{
    double all = 0, before = 0;
    f->simulations++;
    if (!f->env->progress) return;
    for (const struct stage *st = stages; st < stages + WB_ARRAY_SIZE(stages); st++) {
        if (st->far && f->c->unknowns < UNKNOWNS) continue;
        all += st->simulations;
        if (st < f->stage) before += st->simulations;
    }
    before += fmin(f->simulations, 0.95 * f->stage->simulations);
    f->env->progress(f->env->ctx, f->stage->name, before / all);
}

static void simulate(struct fit *f, const gsl_vector *x)
{
    struct wb_override set[KEYS_MAX];
    char key[KEYS_MAX][72], value[KEYS_MAX][40];
    size_t n = settings(f, x, set, key, value);
    for (uint32_t i = 0; i < f->targets; i++) {
        struct calib_target *t = &f->c->target[f->target + i];
        t->simulated = f->failed ? NAN : calib_sim_figure(f->sim, t->name, set, n, f->d);
        if (!isfinite(t->simulated)) f->failed = true;
        tell(f);
    }
}

/* Residuals are relative, so that nanoseconds and milliseconds weigh alike; the weights are the figures' own. */
static int residuals(const gsl_vector *x, void *arg, gsl_vector *out)
{
    struct fit *f = arg;
    simulate(f, x);
    if (f->failed || (f->env->stop && *f->env->stop)) return GSL_EFAILED;
    const struct calib_target *t = &f->c->target[f->target];
    for (uint32_t i = 0; i < f->targets; i++) gsl_vector_set(out, i, log(t[i].simulated / t[i].measured));
    for (uint32_t i = 0; i < f->free; i++)
        gsl_vector_set(out, f->targets + i, gsl_vector_get(x, i) - log(unknowns[f->first + i].start));
    return GSL_SUCCESS;
}

/* The derivatives, by steps of the logarithms; of both sides where the intervals hang on them, of one while searching.
 * GSL's own steps are a share of the parameter: of a factor that is 1 the logarithm is 0, and so would be its step. */
static int slopes(const gsl_vector *x, void *arg, gsl_matrix *out)
{
    struct fit *f = arg;
    const double span = f->both_sides ? 2 * f->step : f->step;
    gsl_vector *at = gsl_vector_alloc(x->size), *up = gsl_vector_alloc(out->size1),
               *down = gsl_vector_alloc(out->size1);
    int rc = f->both_sides ? GSL_SUCCESS : residuals(x, arg, down);
    gsl_vector_memcpy(at, x);
    for (size_t k = 0; k < x->size && !rc; k++) {
        double here = gsl_vector_get(x, k);
        gsl_vector_set(at, k, here + f->step);
        rc = residuals(at, arg, up);
        gsl_vector_set(at, k, here - f->step);
        if (!rc && f->both_sides) rc = residuals(at, arg, down);
        gsl_vector_set(at, k, here);
        for (size_t i = 0; i < out->size1 && !rc; i++)
            gsl_matrix_set(out, i, k, (gsl_vector_get(up, i) - gsl_vector_get(down, i)) / span);
    }
    gsl_vector_free(at);
    gsl_vector_free(up);
    gsl_vector_free(down);
    return rc;
}

/* Standard error of a figure, relative: from its interval, and not below 2 %, since a simulated program is never
 * quite the real one; of a sleep 4 %, since how often one of a simulated pair preempts the other jumps with small
 * changes of any cost. */
static double error_of(const struct calib_target *t)
{
    double least = !strcmp(t->name, "sleep_wake") ? 0.04 : 0.02;
    return fmax((t->hi - t->lo) / (2 * 1.96 * t->measured), least);
}

/* The figure, if it was measured and is known to better than a factor of two or so. */
static bool add_target(struct calib *c, const struct probe_set *p, const char *figure, const char *far)
{
    char name[PROBE_NAME];
    snprintf(name, sizeof name, far ? "%s.%s" : "%s", figure, far);
    const struct probe_figure *q = probe_find(p, name);
    if (!q || !q->n || c->ntargets == WB_ARRAY_SIZE(c->target)) return false;
    if (!(q->median > 0) || q->hi - q->lo > q->median) return false;
    struct calib_target *t = &c->target[c->ntargets++];
    memcpy(t->name, name, sizeof name);
    t->measured = q->median;
    t->lo = q->lo;
    t->hi = q->hi;
    return true;
}

/* The usable figures of a stage. Returns how many. */
static uint32_t choose_targets(struct calib *c, const struct probe_set *p, const char *far, const struct stage *st)
{
    char list[160], *save = NULL, *other = NULL;
    uint32_t before = c->ntargets;
    snprintf(list, sizeof list, "%s", st->figures);
    for (char *w = strtok_r(list, " ", &save); w; w = strtok_r(NULL, " ", &save))
        for (char *one = strtok_r(w, "|", &other); one; one = strtok_r(NULL, "|", &other))
            if (add_target(c, p, one, st->far ? far : NULL)) break;
    return c->ntargets - before;
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
    for (size_t i = 0; i < UNKNOWNS; i++)
        for (const char *at = unknowns[i].keys; next_key(&at, key, sizeof key); k++)
            f->base[k] = unknowns[i].ns ? 1 : calib_sim_cost(f->sim, key);
    static const char *const measured[] = {"kernel.path.switch_fpu_prepare", "kernel.path.exit_to_user_mode_loop"};
    f->switch_base =
        calib_sim_cost(f->sim, "kernel.path.context_switch") + calib_sim_cost(f->sim, "kernel.path.switch_mm");
    for (size_t i = 0; i < WB_ARRAY_SIZE(measured); i++) {
        const struct calib_row *r = calib_find(f->c, measured[i]);
        if (r) f->in_switch += r->value;
    }
}

/* Place of the first key of unknown i in the list of base costs. */
static size_t base_at(size_t i)
{
    char key[72];
    size_t k = 0;
    for (size_t j = 0; j < i; j++)
        for (const char *at = unknowns[j].keys; next_key(&at, key, sizeof key);) k++;
    return k;
}

/* Rows of an unknown's keys: its estimate, and 1.96 standard errors of its logarithm each way. */
static void put_rows(struct fit *f, size_t i, double x, double se)
{
    char key[72];
    const struct unknown *u = &unknowns[i];
    size_t k = base_at(i);
    x = within_reach(i, x);
    for (const char *at = u->keys; next_key(&at, key, sizeof key); k++) {
        if (!strncmp(key, "machine.idle.i", 14)) {
            unsigned s = (unsigned)(key[14] - '0');
            f->c->idle[s].exit_ns = exp(x);
            f->c->idle[s].lo = exp(x - 1.96 * se);
            f->c->idle[s].hi = exp(x + 1.96 * se);
            continue;
        }
        struct calib_row *r = (struct calib_row *)(uintptr_t)calib_find(f->c, key);
        if (!u->ns && f->base[k] <= 0) continue; /* this kernel has no such function */
        if (!r) r = calib_add(f->c, key, unit_of(key));
        bool untold = se > UNTOLD * u->prior;
        r->fitted = true;
        r->assumed = untold;
        double factor[] = {exp(x - 1.96 * se), exp(x), exp(x + 1.96 * se)}, cost[3];
        for (int j = 0; j < 3; j++) cost[j] = u->ns ? 1e3 * factor[j] : cost_by(f, key, k, factor[j]);
        r->lo = cost[0];
        r->value = cost[1];
        r->hi = cost[2];
        if (u->ns)
            snprintf(r->method, sizeof r->method, "fitted by simulating the probe: %s", u->method);
        else
            snprintf(r->method, sizeof r->method, "fitted by simulating the probes: %s, %.3g times the %s%s%s",
                     u->method, exp(x), unit_of(key) == WB_UNIT_RATE ? "string moves" : "base profile's",
                     f->in_switch > 0 && is_switch(key) ? ", less registers and return" : "",
                     untold ? "; the probes hardly tell it" : "");
    }
}

static double sum_of_squares(gsl_multifit_nlinear_workspace *w)
{
    const gsl_vector *r = gsl_multifit_nlinear_residual(w);
    double sum = 0;
    for (size_t i = 0; i < r->size; i++) sum += pow(gsl_vector_get(r, i), 2);
    return sum;
}

static void put_offset(struct calib *c)
{
    const struct calib_row *send = calib_find(c, "machine.ipi.send");
    if (!send || calib_find(c, "machine.ipi.offset")) return;
    double v = send->value;
    struct calib_row *r = calib_add(c, "machine.ipi.offset", WB_UNIT_TIME);
    r->assumed = true;
    r->value = v * OFFSET_SHARE;
    r->lo = v * 0.1;
    r->hi = v;
    snprintf(r->method, sizeof r->method, "%.0f %% of sending: the interrupt leaves at the end of the trap",
             OFFSET_SHARE * 100);
}

/* The worst stage so far, and its figure that is farthest off; r: weighted residuals, of the priors too. */
static void note_worst(struct fit *f, const gsl_vector *r, double chi2)
{
    uint32_t far = 0;
    if (f->c->stage && chi2 <= f->c->chi2) return;
    for (uint32_t i = 1; i < f->targets; i++)
        if (fabs(gsl_vector_get(r, i)) > fabs(gsl_vector_get(r, far))) far = i;
    f->c->chi2 = chi2;
    f->c->stage = f->stage->name;
    f->c->again = f->stage->probes;
    f->c->farthest = f->target + far;
}

static void take_result(struct fit *f, gsl_multifit_nlinear_workspace *w, const gsl_vector *x)
{
    gsl_matrix *cov = gsl_matrix_alloc(f->free, f->free);
    double chi2 = sum_of_squares(w) / f->targets; /* the priors stand for the unknowns */
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, cov);
    note_worst(f, gsl_multifit_nlinear_residual(w), chi2);
    /* When the model fits worse than the noise says; but nothing is less known than before anything was measured. */
    double inflate = fmax(1, sqrt(chi2));
    for (uint32_t i = 0; i < f->free; i++) {
        f->x[f->first + i] = gsl_vector_get(x, i);
        put_rows(f, f->first + i, gsl_vector_get(x, i),
                 fmin(sqrt(gsl_matrix_get(cov, i, i)) * inflate, unknowns[f->first + i].prior));
    }
    put_offset(f->c);
    simulate(f, x);
    gsl_matrix_free(cov);
}

/* A search stops short where a derivative was taken over a step of the simulation: it begins again from there, with
 * other steps, until that brings less than a hundredth: there is the least that can be found. How the last search came
 * to its end - small steps, little progress, its share of iterations - says nothing beside that.
 * x: where to begin, and where the least was found. Returns the sum of squares there; infinity when that was not to be
 * had (f->failed, or stopped). */
static double search(struct fit *f, const gsl_vector *weight, gsl_vector *x, bool *converged)
{
    static const double step[] = {STEP, 0.2, 0.07, 0.15, 0.05, 0.3};
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .df = slopes, .n = weight->size, .p = x->size, .params = f};
    gsl_multifit_nlinear_parameters par = gsl_multifit_nlinear_default_parameters();
    double now = INFINITY;
    bool still = true;
    for (size_t k = 0; k < WB_ARRAY_SIZE(step) && still; k++) {
        int info = 0;
        double before = now;
        f->step = step[k];
        f->both_sides = false;
        gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &par, fdf.n, fdf.p);
        if (!w || gsl_multifit_nlinear_winit(x, weight, &fdf, w)) f->failed = true;
        if (!f->failed) (void)gsl_multifit_nlinear_driver(15, 1e-3, 1e-5, 1e-5, NULL, NULL, &info, w);
        if (f->failed || (f->env->stop && *f->env->stop)) {
            if (w) gsl_multifit_nlinear_free(w);
            return INFINITY;
        }
        f->c->iterations += (uint32_t)gsl_multifit_nlinear_niter(w);
        gsl_vector_memcpy(x, gsl_multifit_nlinear_position(w));
        now = sum_of_squares(w);
        still = now < 0.99 * before && now > 1e-3;
        gsl_multifit_nlinear_free(w);
    }
    *converged = !still;
    return now;
}

/* Unknowns that trade against each other leave hollows in which a search stays. So when a stage does not explain its
 * figures, it is searched from other places too: all costs twice and half of what was expected, and every other. */
static int search_from_places(struct fit *f, const gsl_vector *weight, gsl_vector *best)
{
    static const double shift[][2] = {{0, 0}, {0.7, 0.7}, {-0.7, -0.7}, {0.7, -0.7}, {-0.7, 0.7}}; /* even, odd; log */
    gsl_vector *x = gsl_vector_alloc(f->free);
    double least = INFINITY;
    bool converged = false;
    for (size_t k = 0; k < WB_ARRAY_SIZE(shift) && !(least <= CALIB_CHI2_POOR * f->targets); k++) {
        for (uint32_t i = 0; i < f->free; i++) gsl_vector_set(x, i, f->x[f->first + i] + shift[k][i & 1]);
        bool fine = false;
        double sum = search(f, weight, x, &fine);
        if (isinf(sum)) break;
        if (sum < least) gsl_vector_memcpy(best, x), converged = fine, least = sum;
    }
    gsl_vector_free(x);
    if (f->failed || isinf(least) || (f->env->stop && *f->env->stop)) return -1;
    f->c->converged &= converged;
    return 0;
}

/* What is known of the costs at x, where a search has ended. */
static int settle(struct fit *f, const gsl_vector *weight, const gsl_vector *x)
{
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .df = slopes, .n = weight->size, .p = x->size, .params = f};
    gsl_multifit_nlinear_parameters par = gsl_multifit_nlinear_default_parameters();
    f->step = STEP;
    f->both_sides = true;
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &par, fdf.n, fdf.p);
    if (!w || gsl_multifit_nlinear_winit(x, weight, &fdf, w)) f->failed = true;
    if (!f->failed) take_result(f, w, x);
    if (w) gsl_multifit_nlinear_free(w);
    return f->failed ? -1 : 0;
}

/* The unknowns of one stage, by its figures; those of earlier stages stand. */
static int solve(struct fit *f)
{
    gsl_vector *x = gsl_vector_alloc(f->free), *weight = gsl_vector_alloc(f->targets + f->free);
    for (uint32_t i = 0; i < f->free; i++)
        gsl_vector_set(weight, f->targets + i, 1 / pow(unknowns[f->first + i].prior, 2));
    for (uint32_t i = 0; i < f->targets; i++)
        gsl_vector_set(weight, i, 1 / pow(error_of(&f->c->target[f->target + i]), 2));
    int rc = search_from_places(f, weight, x);
    if (!rc) rc = settle(f, weight, x);
    gsl_vector_free(x);
    gsl_vector_free(weight);
    return rc;
}

/* How single exits vary: as one way to the woken partner does around its median, since everything else on that way
 * takes the same time again and again. The fit has the median, the way's cells the rest. */
static void spread_idle(struct calib *c, const struct probe_set *p, const char *far)
{
    static const char *const hop[CALIB_IDLE_STATES] = {"far_hop_0", "far_hop_200us", "far_hop_2ms"};
    static const double after[CALIB_IDLE_STATES] = {0, 63e3, 630e3}; /* halfway between the idle times, by ratio */
    const uint32_t half = CALIB_QUANTILES / 2;
    for (unsigned i = 0; i < WB_MIN(c->nidle, (unsigned)CALIB_IDLE_STATES); i++) {
        const struct probe_figure *below = probe_find_cell(p, hop[i], far, half - 1);
        const struct probe_figure *above = probe_find_cell(p, hop[i], far, half);
        c->idle[i].after_ns = after[i];
        c->idle[i].nquantiles = 0;
        if (!below || !above || !below->n || !above->n) continue;
        double mid = (below->median + above->median) / 2;
        for (uint32_t k = 0; k < CALIB_QUANTILES; k++) {
            const struct probe_figure *q = probe_find_cell(p, hop[i], far, k);
            c->idle[i].quantile[k] = q && q->n ? q->median - mid : 0;
        }
        c->idle[i].nquantiles = CALIB_QUANTILES;
    }
}

/* An idle state whose figure was not usable has the exit of the one before. */
static void fill_states(struct calib *c, const char *far)
{
    static const char *const trip[CALIB_IDLE_STATES] = {"far_trip_0", "far_trip_200us", "far_trip_2ms"};
    char name[PROBE_NAME];
    for (unsigned i = 1; i < WB_MIN(c->nidle, (unsigned)CALIB_IDLE_STATES); i++) {
        bool known = false;
        snprintf(name, sizeof name, "%s.%s", trip[i], far);
        for (uint32_t k = 0; k < c->ntargets; k++) known |= !strcmp(c->target[k].name, name);
        if (known) continue;
        c->idle[i].exit_ns = c->idle[i - 1].exit_ns;
        c->idle[i].lo = c->idle[i - 1].lo;
        c->idle[i].hi = c->idle[i - 1].hi;
    }
}

static int run_stages(struct fit *f, const struct probe_set *p, const char *far)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(stages); i++) {
        f->target = f->c->ntargets;
        f->stage = &stages[i];
        f->simulations = 0;
        f->first = stages[i].first;
        f->free = stages[i].free;
        if (stages[i].far && !far) continue;
        f->targets = choose_targets(f->c, p, far, &stages[i]);
        if (!f->targets) continue; /* not measured: the base profile's costs stay */
        if (solve(f) < 0) return -1;
    }
    return 0;
}

int calib_fit(const struct calib_env *env, const struct probe_set *p, struct calib *c, struct wb_diag *d)
{
    const char *far = nearest_far(p);
    struct fit f = {.env = env, .c = c, .d = d};
    /* The states must exist before they can be set. */
    c->nidle = far ? CALIB_IDLE_STATES : 0;
    c->unknowns = far ? UNKNOWNS : IPI_AT;
    c->converged = true;
    for (size_t i = 0; i < UNKNOWNS; i++) f.x[i] = log(unknowns[i].start);
    for (unsigned i = 0; i < c->nidle; i++)
        c->idle[i].exit_ns = c->idle[i].lo = c->idle[i].hi = unknowns[IDLE_AT + i].start;
    spread_idle(c, p, far);
    for (unsigned i = 0; i < c->nidle; i++) c->idle[i].nquantiles = 0; /* the fit is for the median */
    f.sim = calib_sim_new(env, c, d);
    if (!f.sim) return -1;
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    remember_costs(&f);
    int rc = run_stages(&f, p, far);
    if (rc && !wb_diag_count(d, WB_ERROR) && !(env->stop && *env->stop))
        wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, "calibrate again when the machine has less to do",
                    "no costs were found that explain the probes: what was measured makes no sense together");
    gsl_set_error_handler(old);
    calib_sim_free(f.sim);
    if (!rc && far) {
        fill_states(c, far);
        spread_idle(c, p, far);
    }
    return env->stop && *env->stop ? -EINTR : rc;
}
