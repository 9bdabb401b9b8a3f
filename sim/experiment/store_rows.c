/* store_rows.c - facts, points and runs of a study. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_schema.h"

static int step_done(struct store *s, sqlite3_stmt *q, struct store_fault *f)
{
    int rc = sqlite3_step(q);
    sqlite3_finalize(q);
    return rc == SQLITE_DONE ? 0 : store_fail_sql(s, f, rc);
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
    sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC); /* NULL becomes NULL */
}

/* ------------------------------------------------------------------ transactions */
int store_begin(struct store *s, struct store_fault *f)
{
    return store_exec(s, "BEGIN IMMEDIATE", f);
}

int store_commit(struct store *s, struct store_fault *f)
{
    int rc = store_exec(s, "COMMIT", f);
    if (rc) store_rollback(s);
    return rc;
}

void store_rollback(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db)) (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ------------------------------------------------------------------ facts */
char *store_fact(struct store *s, const char *key)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT value FROM study WHERE key = ?", NULL);
    if (!q) return NULL;
    bind_text(q, 1, key);
    char *value = sqlite3_step(q) == SQLITE_ROW ? store_text(q, 0) : NULL;
    sqlite3_finalize(q);
    return value;
}

int store_set_fact(struct store *s, const char *key, const char *value, struct store_fault *f)
{
    char sum[65];
    const char *const text[] = {key, value};
    store_sum(sum, text, 2);
    sqlite3_stmt *q = store_prepare(s, "INSERT OR REPLACE INTO study VALUES (?, ?, ?)", f);
    if (!q) return -1;
    bind_text(q, 1, key);
    bind_text(q, 2, value);
    bind_text(q, 3, sum);
    return step_done(s, q, f);
}

/* ------------------------------------------------------------------ points */
void store_point_free(struct store_point *p)
{
    free(p->label);
    free(p->config);
    free(p->about);
    free(p->judgement);
    *p = (struct store_point){.place = -1};
}

int64_t store_find_point(struct store *s, const char *ident)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT point FROM point WHERE ident = ?", NULL);
    if (!q) return -1;
    bind_text(q, 1, ident);
    int rc = sqlite3_step(q);
    int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : rc == SQLITE_DONE ? 0 : -1;
    sqlite3_finalize(q);
    return id;
}

int store_put_point(struct store *s, struct store_point *p, struct store_fault *f)
{
    char sum[65];
    store_sum_point(p, sum);
    sqlite3_stmt *q = store_prepare(
        s,
        "INSERT INTO point (ident, place, label, config, about, judgement, sum) VALUES (?, ?, ?, ?, ?, "
        "?, ?) ON CONFLICT (ident) DO UPDATE SET place = excluded.place, label = excluded.label, config = "
        "excluded.config, about = excluded.about, judgement = excluded.judgement, sum = excluded.sum",
        f);
    if (!q) return -1;
    const char *const text[] = {p->label, p->config, p->about, p->judgement, sum};
    bind_text(q, 1, p->ident);
    if (p->place >= 0) sqlite3_bind_int64(q, 2, p->place);
    for (int i = 0; i < 5; i++) bind_text(q, 3 + i, text[i]);
    if (step_done(s, q, f)) return -1;
    p->id = store_find_point(s, p->ident);
    return p->id > 0 ? 0 : store_fail_sql(s, f, SQLITE_CORRUPT);
}

static void read_point(sqlite3_stmt *q, struct store_point *p)
{
    const char *ident = (const char *)sqlite3_column_text(q, 1);
    *p = (struct store_point){.id = sqlite3_column_int64(q, 0),
                              .place = sqlite3_column_type(q, 2) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, 2),
                              .label = store_text(q, 3),
                              .config = store_text(q, 4),
                              .about = store_text(q, 5),
                              .judgement = store_text(q, 6)};
    strncpy(p->ident, ident ? ident : "", sizeof p->ident - 1);
}

struct store_point *store_points(struct store *s, size_t *n, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT point, ident, place, label, config, about, judgement FROM point ORDER BY "
                                    "place IS NULL, place, ident",
                                    f);
    struct store_point *list = calloc(1, sizeof *list);
    int rc = SQLITE_DONE;
    *n = 0;
    while (q && list && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        list = realloc(list, (*n + 1) * sizeof *list);
        WB_MEMORY(list, "out of memory for the points of a study");
        read_point(q, &list[(*n)++]);
    }
    sqlite3_finalize(q);
    if (q && rc == SQLITE_DONE) return list;
    if (q) store_fail_sql(s, f, rc);
    for (size_t i = 0; i < *n; i++) store_point_free(&list[i]);
    free(list);
    return NULL;
}

int store_forget_places(struct store *s, struct store_fault *f)
{
    size_t n;
    struct store_point *p = store_points(s, &n, f);
    int rc = p ? 0 : -1;
    for (size_t i = 0; p && i < n; i++) {
        if (!rc && p[i].place >= 0) {
            p[i].place = -1;
            rc = store_put_point(s, &p[i], f);
        }
        store_point_free(&p[i]);
    }
    free(p);
    return rc;
}

/* ------------------------------------------------------------------ runs */
/* Row of a layout, written when it is new; 0 on failure. */
static int64_t layout_row(struct store *s, const char *json, struct store_fault *f)
{
    char sum[65];
    store_sum(sum, &json, 1);
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO layout (sum, json) VALUES (?, ?) ON CONFLICT (sum) DO NOTHING", f);
    if (!q) return 0;
    bind_text(q, 1, sum);
    bind_text(q, 2, json);
    if (step_done(s, q, f)) return 0;
    q = store_prepare(s, "SELECT layout FROM layout WHERE sum = ?", f);
    if (!q) return 0;
    bind_text(q, 1, sum);
    int64_t id = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return id;
}

static int ident_of(struct store *s, int64_t point, char out[65], struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT ident FROM point WHERE point = ?", f);
    if (!q) return -1;
    sqlite3_bind_int64(q, 1, point);
    int rc = sqlite3_step(q);
    const char *ident = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
    snprintf(out, 65, "%s", ident ? ident : "");
    sqlite3_finalize(q);
    return ident ? 0 : store_fail_sql(s, f, SQLITE_CORRUPT);
}

static int put_run(struct store *s, const struct store_run *r, struct store_fault *f)
{
    char ident[65], sum[65];
    if (ident_of(s, r->point, ident, f)) return -1;
    int64_t layout = layout_row(s, r->layout, f);
    if (!layout) return -1;
    store_sum_run(ident, r->replication, r->layout, r->body, sum);
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO run VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", f);
    if (!q) return -1;
    sqlite3_bind_int64(q, 1, r->point);
    sqlite3_bind_int64(q, 2, r->replication);
    sqlite3_bind_int64(q, 3, layout);
    bind_text(q, 4, r->body);
    bind_text(q, 5, sum);
    return step_done(s, q, f);
}

int store_put_runs(struct store *s, const struct store_run *run, size_t n, struct store_fault *f)
{
    bool own = sqlite3_get_autocommit(s->db) != 0;
    if (own && store_begin(s, f)) return -1;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) rc = put_run(s, &run[i], f);
    if (!own) return rc;
    if (!rc) return store_commit(s, f);
    store_rollback(s);
    return -1;
}

/* What was read is summed again: a disk may lie after the file was opened. */
static int check_run(struct store *s, sqlite3_stmt *q, uint32_t replication, struct store_fault *f)
{
    char sum[65];
    const char *ident = (const char *)sqlite3_column_text(q, 0), *layout = (const char *)sqlite3_column_text(q, 1),
               *body = (const char *)sqlite3_column_text(q, 2), *carried = (const char *)sqlite3_column_text(q, 3);
    if (ident && layout && body && carried) {
        store_sum_run(ident, replication, layout, body, sum);
        if (!strcmp(sum, carried)) return 0;
    }
    return store_fail(s, f, STORE_DAMAGED, "is damaged: replication %" PRIu32 " of a point is not as it was written.",
                      replication);
}

int store_get_run(struct store *s, int64_t point, uint32_t replication, char **layout, char **body,
                  struct store_fault *f)
{
    sqlite3_stmt *q =
        store_prepare(s,
                      "SELECT p.ident, l.json, r.json, r.sum FROM run r JOIN point p ON p.point = "
                      "r.point JOIN layout l ON l.layout = r.layout WHERE r.point = ? AND r.replication = ?",
                      f);
    if (!q) return -1;
    sqlite3_bind_int64(q, 1, point);
    sqlite3_bind_int64(q, 2, replication);
    int rc = sqlite3_step(q), found = rc == SQLITE_ROW;
    if (found && check_run(s, q, replication, f)) found = -1;
    if (found > 0) {
        *layout = store_text(q, 1);
        *body = store_text(q, 2);
    }
    sqlite3_finalize(q);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return store_fail_sql(s, f, rc);
    return found;
}

int64_t store_next_run(struct store *s, int64_t point)
{
    char sql[96];
    if (point <= 0) return 0;
    snprintf(sql, sizeof sql, "SELECT ifnull(max(replication), -1) + 1 FROM run WHERE point = %lld", (long long)point);
    return store_number(s, sql, INT64_MAX); /* cannot be told: then every run is asked for */
}

size_t store_count_runs(struct store *s, int64_t point)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT replication FROM run WHERE point = ? ORDER BY replication", NULL);
    int64_t n = 0;
    if (!q) return 0;
    sqlite3_bind_int64(q, 1, point);
    while (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_int64(q, 0) == n) n++;
    sqlite3_finalize(q);
    return (size_t)n;
}

size_t store_count_all(struct store *s)
{
    return (size_t)store_number(s, "SELECT count(*) FROM run", 0);
}
