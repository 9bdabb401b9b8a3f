/*
 * store_schema.h - the tables of a study, and what the files store_*.c share.
 *
 * docs/studies.md explains the tables to those who read them with sqlite3.
 */
#ifndef WB_EXPERIMENT_STORE_SCHEMA_H
#define WB_EXPERIMENT_STORE_SCHEMA_H

#include <sqlite3.h>

#include "store.h"

#define STORE_APPLICATION 0x77626c73 /* "wbls": PRAGMA application_id */

struct store {
    sqlite3 *db;
    char *path, *lock_path;
    int lock; /* descriptor of the lock file, -1 = reader */
};

struct store_table {
    const char *name, *sql;
};
extern const struct store_table store_schema[];
extern const size_t store_schema_n;

/* Fill in *f: the sentence, preceded by the path. Returns -1. */
int store_fail(const struct store *s, struct store_fault *f, enum store_trouble kind, const char *fmt, ...)
    WB_PRINTF(4, 5);
/* The same from what SQLite says of its last call. Returns -1. */
int store_fail_sql(const struct store *s, struct store_fault *f, int rc);
/* NULL on failure, with *f filled in (f may be NULL). */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct store_fault *f);
int store_exec(struct store *s, const char *sql, struct store_fault *f) WB_MUST_USE;
/* A single number, or `otherwise`. */
int64_t store_number(struct store *s, const char *sql, int64_t otherwise);
/* Column text, malloc'd; NULL for NULL. */
char *store_text(sqlite3_stmt *q, int column);

/* SHA-256 of the texts joined by newlines (NULL counts as empty text). */
void store_sum(char out[65], const char *const *text, size_t n);
void store_sum_point(const struct store_point *p, char out[65]);
void store_sum_run(const char *ident, uint32_t replication, const char *layout, const char *body, char out[65]);

/* Everything that can be wrong with a file that opened. 0 or -1. */
int store_verify(struct store *s, struct store_fault *f) WB_MUST_USE;
/* Take the writer's lock. 0 or -1. */
int store_lock(struct store *s, struct store_fault *f) WB_MUST_USE;
void store_unlock(struct store *s);

#endif
