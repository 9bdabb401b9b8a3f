/* store_schema.c - tables, errors, sums. */
#include "store_schema.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"

/* SQLite keeps these texts as they are, and store_verify() compares. Each table is documented in docs/studies.md. */
const struct store_table store_schema[] = {
    {"study", "CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID"},
    {"point", "CREATE TABLE point (point INTEGER PRIMARY KEY, ident TEXT NOT NULL UNIQUE, place INTEGER,"
              " label TEXT NOT NULL, config TEXT NOT NULL, about TEXT NOT NULL, judgement TEXT, sum TEXT NOT NULL)"},
    {"layout", "CREATE TABLE layout (layout INTEGER PRIMARY KEY, sum TEXT NOT NULL UNIQUE, json TEXT NOT NULL)"},
    {"run", "CREATE TABLE run (point INTEGER NOT NULL REFERENCES point, replication INTEGER NOT NULL,"
            " layout INTEGER NOT NULL REFERENCES layout, json TEXT NOT NULL, sum TEXT NOT NULL,"
            " UNIQUE (point, replication))"},
    {"result",
     "CREATE VIEW result AS SELECT p.place AS place, p.label AS label, r.replication AS replication,"
     " json_extract(m.value, '$.workload') AS workload, json_extract(m.value, '$.name') AS metric, v.value AS value,"
     " json_extract(m.value, '$.unit') AS unit, json_extract(m.value, '$.better') AS better"
     " FROM point p JOIN run r ON r.point = p.point JOIN layout l ON l.layout = r.layout,"
     " json_each(l.json, '$.metrics') m JOIN json_each(r.json, '$.values') v ON v.key = m.key"
     " WHERE p.place IS NOT NULL"},
};
const size_t store_schema_n = WB_ARRAY_SIZE(store_schema);

/* ------------------------------------------------------------------ errors */
int store_fail(const struct store *s, struct store_fault *f, enum store_trouble kind, const char *fmt, ...)
{
    if (!f) return -1;
    f->kind = kind;
    int n = snprintf(f->text, sizeof f->text, "'%.250s' ", s->path);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text + n, sizeof f->text - (size_t)n, fmt, ap);
    va_end(ap);
    return -1;
}

static const struct {
    int code;
    enum store_trouble kind;
    const char *text;
} sql_trouble[] = {
    {SQLITE_NOTADB, STORE_FOREIGN, "is no study of wakebal (no SQLite file). It was left as it is; name another file."},
    {SQLITE_CORRUPT, STORE_DAMAGED, "is damaged. It was left as it is; take a copy, or start again in another file."},
    {SQLITE_FULL, STORE_REFUSED,
     "cannot grow: no space is left on the disk. All that was committed is safe; make room and give the same command "
     "again."},
    {SQLITE_READONLY, STORE_REFUSED, "cannot be written: it, or its folder, is read-only."},
    {SQLITE_PERM, STORE_REFUSED, "cannot be opened: permission denied."},
    {SQLITE_BUSY, STORE_BUSY, "is in use by another program; wait for it, or name another file."},
    {SQLITE_LOCKED, STORE_BUSY, "is in use by another program; wait for it, or name another file."},
};

int store_fail_sql(const struct store *s, struct store_fault *f, int rc)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(sql_trouble); i++)
        if (sql_trouble[i].code == (rc & 0xff)) return store_fail(s, f, sql_trouble[i].kind, "%s", sql_trouble[i].text);
    int sys = sqlite3_system_errno(s->db);
    bool write = rc == SQLITE_IOERR_WRITE || rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_TRUNCATE;
    if (write)
        return store_fail(s, f, STORE_REFUSED,
                          "cannot be written: the system refused (a quota, a limit on file sizes, a failing disk)%s%s. "
                          "All that was committed is safe; make room and give the same command again.",
                          sys ? ": " : "", sys ? strerror(sys) : "");
    bool system = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
    return store_fail(s, f, system ? STORE_REFUSED : STORE_DAMAGED, "cannot be used: %s%s%s.", sqlite3_errmsg(s->db),
                      sys ? ": " : "", sys ? strerror(sys) : "");
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct store_fault *f)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (rc != SQLITE_OK) store_fail_sql(s, f, rc);
    return rc == SQLITE_OK ? q : NULL;
}

int store_exec(struct store *s, const char *sql, struct store_fault *f)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_fail_sql(s, f, rc);
}

int64_t store_number(struct store *s, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *q = store_prepare(s, sql, NULL);
    int64_t v = q && sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : otherwise;
    sqlite3_finalize(q);
    return v;
}

char *store_text(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    if (!text) return NULL;
    char *copy = strdup(text);
    WB_MEMORY(copy, "out of memory for a study");
    return copy;
}

/* ------------------------------------------------------------------ sums */
void store_sum(char out[65], const char *const *text, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) len += (text[i] ? strlen(text[i]) : 0) + 1;
    char *all = malloc(len + 1), *at = all;
    WB_MEMORY(all, "out of memory for a study");
    for (size_t i = 0; i < n; i++) {
        at = stpcpy(at, text[i] ? text[i] : "");
        *at++ = '\n';
    }
    sha256_hex(all, len, out);
    free(all);
}

void store_sum_point(const struct store_point *p, char out[65])
{
    char place[32];
    snprintf(place, sizeof place, "%" PRId64, p->place);
    const char *const text[] = {p->ident, place, p->label, p->config, p->about, p->judgement};
    store_sum(out, text, WB_ARRAY_SIZE(text));
}

void store_sum_run(const char *ident, uint32_t replication, const char *layout, const char *body, char out[65])
{
    char number[16], sum[65];
    const char *const one[] = {layout};
    snprintf(number, sizeof number, "%" PRIu32, replication);
    store_sum(sum, one, 1);
    const char *const text[] = {ident, number, sum, body};
    store_sum(out, text, WB_ARRAY_SIZE(text));
}
