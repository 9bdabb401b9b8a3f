/* study_load.c - results of a study from its file alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store_rep.h"
#include "study.h"
#include "study_about.h"

static int damaged(const struct store *s, struct store_fault *f, const char *what)
{
    f->kind = STORE_DAMAGED;
    snprintf(f->text, sizeof f->text, "'%.250s' holds %s that cannot be read.", store_path(s), what);
    return -1;
}

static int fold(struct store *s, const struct store_point *p, size_t n, struct exp_result *res, struct store_fault *f)
{
    for (uint32_t r = 0; r < n; r++) {
        char *layout = NULL, *body = NULL;
        struct exp_rep rep;
        int rc = store_get_run(s, p->id, r, &layout, &body, f);
        if (rc > 0 && store_rep_read(layout, body, r, &rep)) rc = damaged(s, f, "a run");
        free(layout);
        free(body);
        if (rc <= 0) return rc ? rc : damaged(s, f, "a point");
        if (r && rep.r.ncpus != res->ncpus) {
            exp_rep_free(&rep);
            return damaged(s, f, "runs of different machines at one point");
        }
        exp_result_fold(res, &rep);
        exp_rep_free(&rep);
    }
    return 0;
}

static void choose_primary(struct exp_result *res, const struct study_about *a)
{
    if (a->metric) {
        const struct exp_metric *m = exp_result_lookup(res, a->metric);
        res->primary = m ? m->name : NULL;
        res->primary_instance = m ? m->instance : 0;
    } else {
        res->primary = exp_primary_among(res, a->background, a->nbackground, &res->primary_instance);
    }
    struct exp_summary s;
    res->half_width = res->primary && exp_result_summary(res, res->primary_instance, res->primary, &s)
                          ? exp_relative_half_width(&s)
                          : INFINITY;
}

/* What exp_run() decided, or what the runs that are there allow to say. */
static void judge(struct exp_result *res, const struct study_about *a, const struct study_judgement *j)
{
    choose_primary(res, a);
    if (j) {
        res->stopped = j->stopped;
        res->goal_reached = j->goal_reached;
        return;
    }
    bool fixed = a->min == a->max && res->replications >= (size_t)a->max;
    res->stopped = fixed ? "fixed number" : "interrupted";
    res->goal_reached = fixed;
}

/* The study's model is "version+sources", and "+sum" behind it where a plug-in was laid over. */
static void read_plugin(struct store *s, struct exp_result *res)
{
    char *model = store_fact(s, "model"), *plus = model ? strchr(model, '+') : NULL;
    if (plus) plus = strchr(plus + 1, '+');
    if (plus) (void)snprintf(res->plugin, sizeof res->plugin, "%s", plus + 1);
    free(model);
}

static int load_point(struct store *s, const struct store_point *p, struct exp_result *res, bool *judged,
                      struct store_fault *f)
{
    struct study_about a;
    struct study_judgement j;
    size_t have = store_count_runs(s, p->id), n = have;
    bool known = p->judgement && !study_judgement_read(p->judgement, &j) && j.replications <= have;
    if (known) n = j.replications;
    int rc = study_about_read(p->about, res, &a) ? damaged(s, f, "a point") : 0;
    if (!rc) rc = fold(s, p, n, res, f);
    if (!rc && res->replications) {
        free(res->label);
        res->label = strdup(p->label);
        WB_MEMORY(res->label, "out of memory for a study");
        judge(res, &a, known ? &j : NULL);
        exp_result_finish(res);
        read_plugin(s, res);
        exp_result_identify(res, p->config);
        res->timed = strstr(p->config, "\nrun.duration = ") != NULL;
        exp_result_remark(res, a.max);
    }
    *judged &= known;
    study_about_free(&a);
    return rc;
}

static int load_points(struct store *s, struct study_loaded *l, struct store_point *p, struct store_fault *f)
{
    l->judged = true;
    for (size_t i = 0; i < l->points; i++) {
        struct exp_result *res = exp_result_new();
        int rc = load_point(s, &p[i], res, &l->judged, f);
        if (rc || !res->replications)
            exp_result_free(res);
        else
            l->study->result[i] = res;
        if (rc) return rc;
    }
    l->study->interrupted = !l->judged;
    return 0;
}

static struct study_loaded *load(struct store *s, struct store_fault *f)
{
    struct study_loaded *l = calloc(1, sizeof *l);
    WB_MEMORY(l, "out of memory for a study");
    l->study = calloc(1, sizeof *l->study);
    l->name = store_fact(s, "name");
    l->model = store_fact(s, "model");
    l->manifest = store_fact(s, "manifest");
    l->costs = store_fact(s, "costs");
    size_t n = 0;
    struct store_point *p = store_points(s, &n, f);
    for (size_t i = 0; p && i < n; i++) l->points += p[i].place >= 0; /* those with a place come first */
    WB_MEMORY(l->study, "out of memory for a study");
    l->study->n = l->points;
    l->study->result = calloc(l->points ? l->points : 1, sizeof(struct exp_result *));
    WB_MEMORY(l->study->result, "out of memory for a study");
    int rc = p ? load_points(s, l, p, f) : -1;
    for (size_t i = 0; p && i < n; i++) store_point_free(&p[i]);
    free(p);
    if (!rc) return l;
    study_loaded_free(l);
    return NULL;
}

struct study_loaded *study_load(const char *path, struct store_fault *f)
{
    struct store *s = store_open_read(path, f);
    struct study_loaded *l = s ? load(s, f) : NULL;
    store_close(s);
    return l;
}

void study_loaded_free(struct study_loaded *l)
{
    if (!l) return;
    exp_study_free(l->study);
    free(l->name);
    free(l->model);
    free(l->manifest);
    free(l->costs);
    free(l);
}

bool study_is_file(const char *path)
{
    char head[16] = "";
    struct stat st;
    /* Opening a pipe would wait for someone who writes it, and take away what is in it. */
    FILE *f = stat(path, &st) || !S_ISREG(st.st_mode) ? NULL : fopen(path, "re");
    if (!f) return false;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n == sizeof head && !memcmp(head, "SQLite format 3", 16);
}
