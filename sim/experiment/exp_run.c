#include "exp_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exp_threads.h"

#define SLICE ((size_t)128)     /* simulations whose results are held at once, at least */
#define SLICE_EACH ((size_t)32) /* and per thread: at the end of a slice the last ones wait for each other */

struct work {
    const struct exp_point *point;
    struct exp_result *res;
    size_t min, max, planned; /* replications wanted so far */
    size_t expected;          /* that it will probably take in all */
    const char *metric;       /* asked for, or NULL */
    bool done, failed;
    char *why; /* of the first replication that failed while it ran, or NULL */
};

struct task {
    size_t work;
    uint32_t replication;
    struct exp_rep rep;
    bool failed, recalled;
    char *why; /* failed while it ran: what is to be said */
};

struct pool {
    const struct exp_options *opt;
    struct work *work;
    size_t nworks;
    struct task *task;
    size_t ntasks;
    struct exp_progress progress;
    int broken; /* first -errno of the keeper */
};

static void plan(struct work *w, const struct exp_point *point)
{
    const struct wb_config *c = point->cfg;
    w->point = point;
    w->res = exp_result_new();
    w->min = (size_t)wb_cfg_int(c, "run.replications.min");
    w->max = (size_t)wb_cfg_int(c, "run.replications.max");
    if (w->max < w->min) w->max = w->min;
    w->planned = w->expected = w->min;
    w->res->timed = wb_cfg_has(c, "run.duration");
    w->res->goal = (double)wb_cfg_int(c, "run.replications.half_width") * 1e-6;
    w->res->confidence = (double)wb_cfg_int(c, "run.replications.confidence") * 1e-6;
    if (wb_cfg_has(c, "run.replications.metric")) w->metric = wb_cfg_str(c, "run.replications.metric");
}

/* ------------------------------------------------------------------ one simulation */
static const struct exp_point *point_of(const struct pool *p, const struct task *t)
{
    WB_CHECK(p->work[t->work].point, "a simulation of no point");
    return p->work[t->work].point;
}

static struct wb_sim *build(const struct pool *p, const struct task *t, struct wb_diag *d)
{
    struct wb_run_options run = p->opt->run;
    if (!run.stop) run.stop = p->opt->stop;
    return wb_sim_build(point_of(p, t)->cfg, p->opt->registry, t->replication, &run, d);
}

static void say_stalled(struct task *t, const struct wb_sim *s)
{
    uint32_t instance;
    const char *name = wb_sim_stalled(s, &instance);
    t->failed = true;
    int n = asprintf(&t->why, "workload[%u]: task '%s' goes on and on without time passing", instance, name);
    WB_MEMORY(n >= 0, "out of memory for a message");
}

/* The keeper cannot go on: the first reason is the one that counts. */
static void give_up(struct pool *p, int rc)
{
#ifdef WB_HAVE_OPENMP
#pragma omp critical(exp_broken)
#endif
    if (!p->broken) p->broken = rc;
}

static bool recall(struct pool *p, struct task *t)
{
    const struct exp_keeper *k = p->opt->keeper;
    int rc = k ? k->recall(k->ctx, point_of(p, t), t->replication, &t->rep) : 0;
    if (rc < 0) give_up(p, rc);
    if (rc > 0) t->recalled = true;
    return rc != 0;
}

static void keep(struct pool *p, const struct task *t)
{
    const struct exp_keeper *k = p->opt->keeper;
    int rc = k ? k->keep(k->ctx, point_of(p, t), &t->rep) : 0;
    if (rc < 0) give_up(p, rc);
}

static void simulate(struct pool *p, struct task *t)
{
    if (recall(p, t)) return;
    struct wb_diag *d = wb_diag_new();
    struct wb_sim *s = build(p, t, d);
    wb_diag_free(d);
    t->failed = !s;
    if (!s) return;
    enum wb_run_end end = wb_sim_run(s);
    if (end == WB_RUN_STALLED) say_stalled(t, s);
    if (end == WB_RUN_STALLED || end == WB_RUN_BROKEN) {
        wb_sim_free(s);
        return;
    }
    const struct wb_result *r = wb_sim_result(s); /* it says whether the work was finished */
    t->rep.index = t->replication;
    exp_rep_copy(&t->rep, r);
    keep(p, t);
    if (p->opt->inspect && !t->replication) {
#ifdef WB_HAVE_OPENMP
#pragma omp critical(exp_inspect)
#endif
        p->opt->inspect(p->opt->ctx, t->work, s, r);
    }
    wb_sim_free(s);
}

static void tell(struct pool *p, const struct task *t)
{
#ifdef WB_HAVE_OPENMP
#pragma omp critical(exp_progress)
#endif
    {
        p->progress.runs_done++;
        p->progress.runs_recalled += t->recalled;
        p->progress.label = point_of(p, t)->label;
        if (p->opt->progress) p->opt->progress(p->opt->ctx, &p->progress);
    }
}

static bool stopped(const struct pool *p)
{
    return (p->opt->stop && *p->opt->stop) || p->broken;
}

static void run_tasks(struct pool *p, size_t from, size_t to)
{
#ifdef WB_HAVE_OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(exp_threads(p->opt->jobs, to - from))
#endif
    for (size_t i = from; i < to; i++) {
        if (stopped(p)) continue;
        simulate(p, &p->task[i]);
        if (p->task[i].rep.built) tell(p, &p->task[i]);
    }
}

/* ------------------------------------------------------------------ rounds */
/* Replication-major: the next of every point before the one after it of any. */
static void collect_tasks(struct pool *p)
{
    size_t n = 0, from = SIZE_MAX, to = 0;
    for (size_t w = 0; w < p->nworks; w++) {
        const struct work *k = &p->work[w];
        if (k->done) continue;
        n += k->planned - k->res->replications;
        from = WB_MIN(from, k->res->replications);
        to = WB_MAX(to, k->planned);
    }
    p->task = calloc(n ? n : 1, sizeof *p->task);
    WB_MEMORY(p->task, "out of memory for %zu simulations", n);
    p->ntasks = 0;
    for (size_t r = from; r < to; r++)
        for (size_t w = 0; w < p->nworks; w++) {
            const struct work *k = &p->work[w];
            if (k->done || r < k->res->replications || r >= k->planned) continue;
            p->task[p->ntasks++] = (struct task){.work = w, .replication = (uint32_t)r};
        }
    p->progress.runs += p->ntasks;
    p->progress.runs_expected = WB_MAX(p->progress.runs_expected, p->progress.runs);
    if (p->opt->progress) p->opt->progress(p->opt->ctx, &p->progress); /* so many are planned */
}

static void take_failure(struct work *w, struct task *t)
{
    if (t->failed) w->failed = true;
    if (t->why && !w->why)
        w->why = t->why;
    else
        free(t->why);
}

/* Fold what was run. A replication after a missing one (interrupted) is dropped, so that samples stay a prefix. */
static void fold_tasks(struct pool *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct task *t = &p->task[i];
        struct work *w = &p->work[t->work];
        take_failure(w, t);
        if (t->rep.built && t->replication == w->res->replications) exp_result_fold(w->res, &t->rep);
        exp_rep_free(&t->rep);
    }
}

static size_t slice_of(const struct pool *p)
{
    size_t each = SLICE_EACH * (size_t)exp_threads(p->opt->jobs, p->ntasks); /* makes threads */
    return WB_MAX(SLICE, each);
}

/* Copies of results wait to be folded (30 KiB a histogram), so a long round goes in slices. */
static void run_round(struct pool *p)
{
    collect_tasks(p);
    size_t slice = slice_of(p);
    for (size_t from = 0, to; from < p->ntasks && !stopped(p); from = to) {
        to = WB_MIN(from + slice, p->ntasks);
        run_tasks(p, from, to);
        fold_tasks(p, from, to);
    }
    free(p->task);
    p->task = NULL;
}

/* need: replications that the goal will take, as far as the samples tell; 0 = they do not. */
static double half_width(struct work *w, size_t *need)
{
    struct exp_result *res = w->res;
    struct exp_summary s;
    *need = 0;
    if (!res->replications) return INFINITY;
    if (w->metric) {
        const struct exp_metric *m = exp_result_lookup(res, w->metric);
        res->primary_instance = m ? m->instance : 0;
        res->primary = m ? m->name : NULL;
    } else {
        res->primary = exp_primary_metric(res, w->point->cfg, &res->primary_instance);
    }
    if (!res->primary || !exp_result_summary(res, res->primary_instance, res->primary, &s)) return INFINITY;
    *need = exp_samples_needed(&s, res->goal, res->confidence);
    return exp_relative_half_width(&s);
}

static void decide(struct work *w)
{
    struct exp_result *res = w->res;
    size_t need;
    res->half_width = half_width(w, &need);
    res->goal_reached = res->half_width <= res->goal;
    w->done = res->goal_reached || res->replications >= w->max || w->failed || !res->primary;
    res->stopped = w->min == w->max ? "fixed number" : res->goal_reached ? "precision reached" : "maximum reached";
    if (w->min == w->max) res->goal_reached = true;
    size_t more = WB_MAX((size_t)2, res->replications / 2);
    w->planned = WB_MIN(w->max, res->replications + more);
    w->expected = w->done ? res->replications : WB_MIN(w->max, WB_MAX(w->planned, need));
}

static void decide_all(struct pool *p)
{
    p->progress.points_done = 0;
    p->progress.half_width = 0;
    p->progress.runs_expected = 0;
    for (size_t i = 0; i < p->nworks; i++) {
        struct work *w = &p->work[i];
        if (!w->done) decide(w);
        p->progress.points_done += w->done;
        p->progress.runs_expected += w->expected;
        if (!w->done && w->res->half_width >= p->progress.half_width) {
            p->progress.half_width = w->res->half_width;
            p->progress.goal = w->res->goal;
        }
    }
}

/* Build the first simulation that failed again, so that its errors reach the caller. */
static bool report_failure(struct pool *p, struct wb_diag *d)
{
    for (size_t i = 0; i < p->nworks; i++) {
        if (!p->work[i].failed) continue;
        const char *label = p->work[i].point->label;
        if (p->work[i].why) {
            wb_diag_add(d, WB_ERROR, "E153", (struct wb_place){0}, "give some step of it a cost, or let it end",
                        "%s%s%s", label ? label : "", label && *label ? ": " : "", p->work[i].why);
            return true;
        }
        struct task t = {.work = i, .replication = (uint32_t)p->work[i].res->replications};
        struct wb_sim *s = build(p, &t, d);
        WB_CHECK(!s, "a simulation that could not be built was built the second time");
        return true;
    }
    return false;
}

static bool all_done(const struct pool *p)
{
    return p->progress.points_done == p->nworks;
}

static struct exp_study *make_study(struct pool *p, bool failed)
{
    struct exp_study *study = calloc(1, sizeof *study);
    WB_MEMORY(study, "out of memory for a study");
    study->n = p->nworks;
    study->interrupted = stopped(p) && !all_done(p);
    study->broken = p->broken;
    study->result = calloc(p->nworks ? p->nworks : 1, sizeof(struct exp_result *));
    WB_MEMORY(study->result, "out of memory for a study");
    for (size_t i = 0; i < p->nworks; i++) {
        struct exp_result *res = p->work[i].res;
        if (failed || !res->replications) {
            exp_result_free(res);
            continue;
        }
        if (!p->work[i].done) res->stopped = "interrupted", res->goal_reached = false;
        exp_result_finish(res);
        if (p->opt->registry) memcpy(res->plugin, p->opt->registry->overlay_sum, sizeof res->plugin);
        exp_result_describe(res, p->work[i].point);
        exp_result_remark(res, wb_cfg_int(p->work[i].point->cfg, "run.replications.max"));
        study->result[i] = res;
    }
    return study;
}

struct exp_study *exp_run(const struct exp_point *point, size_t n, const struct exp_options *opt, struct wb_diag *d)
{
    struct pool p = {.opt = opt, .nworks = n, .work = calloc(n ? n : 1, sizeof(struct work))};
    WB_MEMORY(p.work, "out of memory for %zu points", n);
    p.progress = (struct exp_progress){.points = n, .half_width = INFINITY, .stage = opt->stage};
    for (size_t i = 0; i < n; i++) plan(&p.work[i], &point[i]);
    while (!all_done(&p) && !stopped(&p)) {
        run_round(&p);
        if (!stopped(&p)) decide_all(&p);
    }
    bool failed = report_failure(&p, d);
    struct exp_study *study = make_study(&p, failed);
    for (size_t i = 0; i < n; i++) free(p.work[i].why);
    free(p.work);
    if (!failed) return study;
    exp_study_free(study);
    return NULL;
}

int exp_run_some(const struct exp_point *point, size_t n, const struct exp_task_id *id, size_t nids,
                 const struct exp_options *opt, size_t *done, struct wb_diag *d)
{
    struct pool p = {.opt = opt, .nworks = n, .ntasks = nids};
    p.work = calloc(n ? n : 1, sizeof *p.work);
    p.task = calloc(nids ? nids : 1, sizeof *p.task);
    WB_CHECK(p.work && p.task, "out of memory for %zu simulations", nids);
    for (size_t i = 0; i < n; i++) plan(&p.work[i], &point[i]);
    for (size_t i = 0; i < nids; i++) {
        WB_CHECK(id[i].point < n, "point %zu of %zu", id[i].point, n);
        p.task[i] = (struct task){.work = id[i].point, .replication = id[i].replication};
    }
    p.progress = (struct exp_progress){.points = n, .runs = nids, .runs_expected = nids, .half_width = INFINITY};
    *done = 0;
    size_t slice = slice_of(&p);
    for (size_t from = 0, to; from < nids && !stopped(&p); from = to) {
        to = WB_MIN(from + slice, nids);
        run_tasks(&p, from, to);
        for (size_t i = from; i < to; i++) {
            *done += p.task[i].rep.built && !p.broken;
            take_failure(&p.work[p.task[i].work], &p.task[i]);
            exp_rep_free(&p.task[i].rep);
        }
    }
    bool failed = report_failure(&p, d);
    for (size_t i = 0; i < n; i++) {
        exp_result_free(p.work[i].res);
        free(p.work[i].why);
    }
    free(p.work);
    free(p.task);
    return failed ? -1 : p.broken;
}

void exp_study_free(struct exp_study *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) exp_result_free(s->result[i]);
    free(s->result);
    free(s);
}
