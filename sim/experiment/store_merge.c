/* store_merge.c - bring the runs of one study into another of the same name and model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store_schema.h"

static int check_same_fact(struct store *to, struct store *from, const char *key, struct store_fault *f)
{
    char *a = store_fact(to, key), *b = store_fact(from, key);
    int rc = 0;
    if (!a || !b || strcmp(a, b))
        rc = store_fail(from, f, STORE_FOREIGN, "does not fit: its %s is '%.80s', and that of '%.120s' is '%.80s'.",
                        key, b ? b : "", store_path(to), a ? a : "");
    free(a);
    free(b);
    return rc;
}

/* The same run twice must say the same: if it does not, one of the files holds what no model of ours computed. */
static int merge_run(struct store *to, struct store *from, const struct store_point *theirs, int64_t mine,
                     uint32_t replication, size_t *copied, struct store_fault *f)
{
    char *layout = NULL, *body = NULL, *l = NULL, *b = NULL;
    int rc = store_get_run(from, theirs->id, replication, &layout, &body, f);
    if (rc <= 0) return rc;
    rc = store_get_run(to, mine, replication, &l, &b, f);
    if (rc > 0 && (strcmp(layout, l) || strcmp(body, b)))
        rc = store_fail(from, f, STORE_DAMAGED, "disagrees with '%.120s' on replication %" PRIu32 " of '%.120s'.",
                        store_path(to), replication, theirs->label);
    else if (rc == 0) {
        const struct store_run run = {.point = mine, .replication = replication, .layout = layout, .body = body};
        rc = store_put_runs(to, &run, 1, f);
        *copied += !rc;
    }
    free(layout);
    free(body);
    free(l);
    free(b);
    return rc < 0 ? -1 : 0;
}

static int merge_runs(struct store *to, struct store *from, const struct store_point *theirs, int64_t mine,
                      size_t *copied, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(from, "SELECT replication FROM run WHERE point = ? ORDER BY replication", f);
    int rc = SQLITE_DONE, bad = 0;
    if (!q) return -1;
    sqlite3_bind_int64(q, 1, theirs->id);
    while (!bad && (rc = sqlite3_step(q)) == SQLITE_ROW)
        bad = merge_run(to, from, theirs, mine, (uint32_t)sqlite3_column_int64(q, 0), copied, f);
    if (!bad && rc != SQLITE_DONE) bad = store_fail_sql(from, f, rc); /* not the end: it cannot be read on */
    sqlite3_finalize(q);
    return bad;
}

/* A point that is here already keeps its row; a place or a judgement that it lacks is taken over. */
static int merge_point(struct store *to, const struct store_point *theirs, struct store_point *known, int64_t *mine,
                       struct store_fault *f)
{
    if (known && known->place >= 0 && (known->judgement || !theirs->judgement)) {
        *mine = known->id;
        return 0;
    }
    struct store_point p = *theirs;
    if (known && p.place < 0) p.place = known->place;
    if (store_put_point(to, &p, f)) return -1;
    *mine = p.id;
    return 0;
}

static struct store_point *find(struct store_point *list, size_t n, const char *ident)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].ident, ident)) return &list[i];
    return NULL;
}

static void free_points(struct store_point *p, size_t n)
{
    for (size_t i = 0; p && i < n; i++) store_point_free(&p[i]);
    free(p);
}

static int merge_all(struct store *to, struct store *from, size_t *copied, struct store_fault *f)
{
    size_t n = 0, have = 0;
    struct store_point *theirs = store_points(from, &n, f), *ours = theirs ? store_points(to, &have, f) : NULL;
    int rc = ours ? 0 : -1;
    for (size_t i = 0; i < n && !rc; i++) {
        int64_t mine = 0;
        rc = merge_point(to, &theirs[i], find(ours, have, theirs[i].ident), &mine, f);
        if (!rc) rc = merge_runs(to, from, &theirs[i], mine, copied, f);
    }
    free_points(theirs, n);
    free_points(ours, have);
    return rc;
}

/* A fact that the first to have it decides. */
static int take_fact(struct store *to, struct store *from, const char *key, struct store_fault *f)
{
    char *mine = store_fact(to, key), *theirs = store_fact(from, key);
    int rc = !mine && theirs ? store_set_fact(to, key, theirs, f) : 0;
    free(mine);
    free(theirs);
    return rc;
}

int store_merge(struct store *to, struct store *from, size_t *copied, struct store_fault *f)
{
    *copied = 0;
    if (check_same_fact(to, from, "name", f) || check_same_fact(to, from, "model", f)) return -1;
    if (store_begin(to, f)) return -1;
    int rc = merge_all(to, from, copied, f);
    if (!rc) rc = take_fact(to, from, "manifest", f);
    if (!rc) rc = take_fact(to, from, "costs", f);
    if (!rc) return store_commit(to, f);
    store_rollback(to);
    return -1;
}
