/* study_run.c - the keeper: runs come from the store and go to it. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "store_rep.h"
#include "study.h"
#include "study_about.h"

/* Rows of a configuration, so that its identity is made once. */
struct known {
    const struct wb_config *cfg;
    char ident[65];
    int64_t own, base; /* rows; 0 = none yet */
    int64_t until;     /* no replication from here on was there before; later ones are our own */
};

#define PENDING_MAX 256 /* finished runs that may wait for the disk */

struct study {
    struct store *own, *base;
    char *model;
    pthread_mutex_t disk; /* the stores; taken last, and alone while they work */
    pthread_mutex_t lock; /* everything below */
    struct known *known;
    size_t nknown;
    struct store_run *pending;
    size_t npending;
    bool writing, closing;
    pthread_cond_t work, idle; /* something is pending; something was committed */
    pthread_t writer;
    bool has_writer;
    struct store_fault fault;
    struct exp_keeper keeper;
};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory for a study");
    return p;
}

/* ------------------------------------------------------------------ identity */
/* Keys that say how often and why to run, not what a run does. */
static bool matters(const char *line)
{
    static const char *const idle[] = {"run.replications.", "sweep.", "expect", "title "};
    for (size_t i = 0; i < WB_ARRAY_SIZE(idle); i++)
        if (!strncmp(line, idle[i], strlen(idle[i]))) return false;
    return true;
}

void study_ident(const struct wb_config *cfg, const char *model, char out[65])
{
    char *canonical = need(wb_cfg_canonical(cfg)), *to = canonical, *full;
    for (char *line = canonical; *line;) {
        size_t n = strcspn(line, "\n");
        n += line[n] == '\n';
        char *next = line + n;
        if (matters(line)) {
            memmove(to, line, n);
            to += n;
        }
        line = next;
    }
    *to = 0;
    int n = asprintf(&full, "%smodel %s\n", canonical, model);
    WB_MEMORY(n >= 0, "out of memory for a study");
    sha256_hex(full, (size_t)n, out);
    free(full);
    free(canonical);
}

char *study_model_with(const char *plugin)
{
    char *text, sum[65], buf[8192];
    if (!plugin) return need(strdup(study_model()));
    FILE *f = fopen(plugin, "re");
    if (!f) return NULL;
    char *all = NULL;
    size_t len = 0, got;
    while ((got = fread(buf, 1, sizeof buf, f)) > 0) {
        all = need(realloc(all, len + got));
        memcpy(all + len, buf, got);
        len += got;
    }
    bool bad = ferror(f);
    fclose(f);
    sha256_hex(all ? all : "", len, sum);
    free(all);
    if (bad) return NULL;
    if (asprintf(&text, "%s+%.12s", study_model(), sum) < 0) WB_MEMORY(false, "out of memory for a study");
    return text;
}

/* ------------------------------------------------------------------ points */
/* Needs the lock. The pointer stays valid until the next call. */
static struct known *know(struct study *st, const struct exp_point *p)
{
    size_t lo = 0, hi = st->nknown;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (st->known[mid].cfg == p->cfg) return &st->known[mid];
        *(st->known[mid].cfg < p->cfg ? &lo : &hi) = st->known[mid].cfg < p->cfg ? mid + 1 : mid;
    }
    st->known = need(realloc(st->known, (st->nknown + 1) * sizeof *st->known));
    memmove(st->known + lo + 1, st->known + lo, (st->nknown - lo) * sizeof *st->known);
    st->nknown++;
    struct known *k = &st->known[lo];
    *k = (struct known){.cfg = p->cfg};
    study_ident(p->cfg, st->model, k->ident);
    pthread_mutex_lock(&st->disk);
    k->own = store_find_point(st->own, k->ident);
    k->base = st->base ? store_find_point(st->base, k->ident) : 0;
    int64_t own = store_next_run(st->own, k->own), base = st->base ? store_next_run(st->base, k->base) : 0;
    k->until = WB_MAX(own, base);
    pthread_mutex_unlock(&st->disk);
    return k;
}

static int write_point(struct study *st, const struct exp_point *p, struct known *k, int64_t place,
                       const struct exp_result *res, struct store_fault *f)
{
    struct store_point row = {.place = place,
                              .label = need(strdup(p->label ? p->label : "")),
                              .config = need(wb_cfg_canonical(p->cfg)),
                              .about = study_about_write(p),
                              .judgement = res ? study_judgement_write(res) : NULL};
    memcpy(row.ident, k->ident, sizeof row.ident);
    pthread_mutex_lock(&st->disk);
    int rc = store_put_point(st->own, &row, f);
    pthread_mutex_unlock(&st->disk);
    if (!rc) k->own = row.id;
    store_point_free(&row);
    return rc;
}

static int register_all(struct study *st, const struct exp_point *point, size_t n, const size_t *place,
                        struct store_fault *f)
{
    int rc = store_forget_places(st->own, f);
    for (size_t i = 0; i < n && !rc; i++)
        rc = write_point(st, &point[i], know(st, &point[i]), (int64_t)(place ? place[i] : i), NULL, f);
    return rc;
}

int study_register(struct study *st, const struct exp_point *point, size_t n, const size_t *place,
                   struct store_fault *f)
{
    if (study_settle(st)) {
        *f = st->fault;
        return -1;
    }
    pthread_mutex_lock(&st->lock);
    st->nknown = 0; /* configurations of pilots are gone, and their addresses may be used again */
    int rc = store_begin(st->own, f);
    if (!rc) {
        rc = register_all(st, point, n, place, f);
        if (!rc)
            rc = store_commit(st->own, f);
        else
            store_rollback(st->own);
    }
    if (rc) st->nknown = 0;
    pthread_mutex_unlock(&st->lock);
    return rc;
}

int study_judge(struct study *st, const struct exp_point *point, const struct exp_study *res, struct store_fault *f)
{
    if (study_settle(st)) {
        *f = st->fault;
        return -1;
    }
    pthread_mutex_lock(&st->lock);
    int rc = store_begin(st->own, f);
    bool begun = !rc;
    for (size_t i = 0; i < res->n && !rc; i++) {
        bool done = res->result[i] && strcmp(res->result[i]->stopped, "interrupted");
        if (done) rc = write_point(st, &point[i], know(st, &point[i]), (int64_t)i, res->result[i], f);
    }
    if (!rc)
        rc = store_commit(st->own, f);
    else if (begun)
        store_rollback(st->own);
    pthread_mutex_unlock(&st->lock);
    return rc;
}

/* ------------------------------------------------------------------ keeping */
/* Needs the lock. A run of a point that no one registered is a pilot's. */
static int row_of(struct study *st, const struct exp_point *p, int64_t *row)
{
    struct known *k = know(st, p);
    if (k->own <= 0 && write_point(st, p, k, -1, NULL, &st->fault)) return -1;
    *row = k->own;
    return 0;
}

static void free_runs(struct store_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(run[i].layout);
        free(run[i].body);
    }
    free(run);
}

/* Needs the lock, and gives it away while the disk works: all that is pending goes in one transaction. */
static void commit_pending(struct study *st)
{
    struct store_run *run = st->pending;
    struct store_fault f = st->fault;
    size_t n = st->npending;
    bool fine = f.kind == STORE_FINE;
    st->pending = NULL;
    st->npending = 0;
    st->writing = true;
    pthread_mutex_unlock(&st->lock);
    pthread_mutex_lock(&st->disk);
    if (fine && store_put_runs(st->own, run, n, &f) && f.kind == STORE_FINE) f.kind = STORE_REFUSED;
    pthread_mutex_unlock(&st->disk);
    free_runs(run, n);
    pthread_mutex_lock(&st->lock);
    if (st->fault.kind == STORE_FINE) st->fault = f;
    st->writing = false;
    pthread_cond_broadcast(&st->idle);
}

/* A thread of its own waits for the disk, so that no simulation does. */
static void *write_pending(void *ctx)
{
    struct study *st = ctx;
    pthread_mutex_lock(&st->lock);
    while (!st->closing || st->npending) {
        if (st->npending)
            commit_pending(st);
        else
            pthread_cond_wait(&st->work, &st->lock);
    }
    pthread_mutex_unlock(&st->lock);
    return NULL;
}

static int keep(void *ctx, const struct exp_point *p, const struct exp_rep *rep)
{
    struct study *st = ctx;
    struct store_run run = {.replication = rep->index};
    store_rep_write(rep, &run.layout, &run.body);
    pthread_mutex_lock(&st->lock);
    while (st->npending >= PENDING_MAX) pthread_cond_wait(&st->idle, &st->lock);
    if (st->fault.kind == STORE_FINE && !row_of(st, p, &run.point)) {
        st->pending = need(realloc(st->pending, (st->npending + 1) * sizeof *st->pending));
        st->pending[st->npending++] = run;
        pthread_cond_signal(&st->work);
    } else {
        free(run.layout);
        free(run.body);
    }
    int rc = st->fault.kind == STORE_FINE ? 0 : -EIO;
    pthread_mutex_unlock(&st->lock);
    return rc;
}

int study_settle(struct study *st)
{
    pthread_mutex_lock(&st->lock);
    while (st->npending || st->writing) pthread_cond_wait(&st->idle, &st->lock);
    int rc = st->fault.kind == STORE_FINE ? 0 : -1;
    pthread_mutex_unlock(&st->lock);
    return rc;
}

static void fail_with(struct study *st, const struct store_fault *f)
{
    pthread_mutex_lock(&st->lock);
    if (st->fault.kind == STORE_FINE) st->fault = *f;
    pthread_mutex_unlock(&st->lock);
}

/* 1, 0 or -1, as store_get_run(). */
static int look_up(struct study *st, const struct exp_point *p, uint32_t replication, char **layout, char **body)
{
    struct store_fault f = {.kind = STORE_FINE};
    int found = 0;
    pthread_mutex_lock(&st->lock);
    const struct known k = *know(st, p);
    pthread_mutex_unlock(&st->lock);
    if (replication >= k.until) return 0; /* most runs are new: they need not wait until the disk has time */
    pthread_mutex_lock(&st->disk);
    if (k.own > 0) found = store_get_run(st->own, k.own, replication, layout, body, &f);
    if (!found && k.base > 0) found = store_get_run(st->base, k.base, replication, layout, body, &f);
    pthread_mutex_unlock(&st->disk);
    if (found < 0) fail_with(st, &f);
    return found;
}

static int recall(void *ctx, const struct exp_point *p, uint32_t replication, struct exp_rep *rep)
{
    struct study *st = ctx;
    char *layout = NULL, *body = NULL;
    int found = look_up(st, p, replication, &layout, &body);
    if (found > 0 && store_rep_read(layout, body, replication, rep)) {
        struct store_fault f = {.kind = STORE_DAMAGED};
        snprintf(f.text, sizeof f.text, "'%.250s' holds a run that cannot be read.", store_path(st->own));
        fail_with(st, &f);
        found = -1;
    }
    free(layout);
    free(body);
    return found < 0 ? -EIO : found;
}

/* ------------------------------------------------------------------ life */
struct study *study_open(const struct study_options *o, struct store_fault *f)
{
    struct study *st = need(calloc(1, sizeof *st));
    pthread_mutex_init(&st->lock, NULL);
    pthread_mutex_init(&st->disk, NULL);
    pthread_cond_init(&st->work, NULL);
    pthread_cond_init(&st->idle, NULL);
    st->model = need(strdup(o->model));
    st->keeper = (struct exp_keeper){.recall = recall, .keep = keep, .ctx = st};
    st->own = store_open_write(o->path, o->name, o->model, f);
    if (st->own && o->base) st->base = store_open_read(o->base, f);
    if (st->own && (st->base || !o->base)) {
        st->has_writer = !pthread_create(&st->writer, NULL, write_pending, st);
        WB_MEMORY(st->has_writer, "no thread for writing a study");
        return st;
    }
    study_close(st);
    return NULL;
}

void study_close(struct study *st)
{
    if (!st) return;
    if (st->has_writer) {
        pthread_mutex_lock(&st->lock);
        st->closing = true;
        pthread_cond_signal(&st->work);
        pthread_mutex_unlock(&st->lock);
        pthread_join(st->writer, NULL);
    }
    store_close(st->own);
    store_close(st->base);
    free_runs(st->pending, st->npending);
    pthread_cond_destroy(&st->work);
    pthread_cond_destroy(&st->idle);
    pthread_mutex_destroy(&st->lock);
    pthread_mutex_destroy(&st->disk);
    free(st->known);
    free(st->model);
    free(st);
}

struct store *study_store(struct study *st)
{
    return st->own;
}

const struct exp_keeper *study_keeper(struct study *st)
{
    return &st->keeper;
}

const struct store_fault *study_fault(const struct study *st)
{
    return &st->fault;
}
