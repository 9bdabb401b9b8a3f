/*
 * store.h - a study in one SQLite file: what was run, point by point and replication by replication.
 *
 * A run's row is written in a transaction of its own or together with others that finished meanwhile, and is on
 * disk when store_put_runs() returns: killing the program at any moment loses what had not been handed over, and
 * nothing else. Rows are never changed or deleted.
 *
 * The journal is SQLite's rollback journal, not the write-ahead log: a study is then one file at every moment that
 * nobody writes (it can be copied, sent, read from a read-only folder or over a network file system), and since
 * finished runs are committed in groups the log's smaller cost per commit would not be seen.
 *
 * Nothing is trusted. Opening compares the schema's text with ours, asks SQLite to check the file, and compares every
 * row with the SHA-256 sum it carries. What is damaged, made by another schema, or no study at all is refused and not
 * touched. One writer at a time, held by a lock file beside the study; readers come and go.
 *
 * Not thread-safe: one thread at a time uses a store.
 */
#ifndef WB_EXPERIMENT_STORE_H
#define WB_EXPERIMENT_STORE_H

#include "wakebal/base.h"

#define STORE_SCHEMA 1 /* PRAGMA user_version; a file with another one is refused */

enum store_trouble {
    STORE_FINE,
    STORE_MISSING, /* no such file */
    STORE_FOREIGN, /* no study, a study of other things, or of another version */
    STORE_DAMAGED, /* not what was written */
    STORE_BUSY,    /* another program writes it */
    STORE_REFUSED  /* the system says no: permission, full disk, read-only */
};
struct store_fault {
    enum store_trouble kind;
    char text[640]; /* a sentence that names the file and what to do; text of the user is in it as it is */
};

struct store;

/* Open for reading. NULL: *f says why. */
struct store *store_open_read(const char *path, struct store_fault *f) WB_MUST_USE;
/* Open for writing, and make the file when there is none. `name`: what the study is of; `model`: version of all that
 * decides a run's outcome. A study of another name or model is refused. NULL: *f says why. */
struct store *store_open_write(const char *path, const char *name, const char *model,
                               struct store_fault *f) WB_MUST_USE;
/* Gives the lock back. NULL is allowed. */
void store_close(struct store *s);
const char *store_path(const struct store *s);

/* Facts on the study as a whole: "name", "model", "tool", "manifest", "axes", "costs". Malloc'd, or NULL. */
char *store_fact(struct store *s, const char *key);
int store_set_fact(struct store *s, const char *key, const char *value, struct store_fault *f) WB_MUST_USE;

/* A point, or the pilot run of one. */
struct store_point {
    char ident[65];  /* SHA-256 of effective values and model: what makes a run what it is */
    int64_t id;      /* row; set by the store */
    int64_t place;   /* rank in the study as last asked for; -1 = not part of it (pilots, values no longer asked) */
    char *label;     /* coordinates */
    char *config;    /* canonical text of the effective configuration */
    char *about;     /* JSON: what results say about it; see study.h */
    char *judgement; /* JSON, or NULL: how many replications are enough */
};
void store_point_free(struct store_point *p); /* its texts */
/* The row of an ident; 0 = none, -1 = cannot be read. */
int64_t store_find_point(struct store *s, const char *ident);
/* Write or renew a point by its ident; sets p->id. 0, or -1. */
int store_put_point(struct store *s, struct store_point *p, struct store_fault *f) WB_MUST_USE;
/* All points, those of the study in order of place and then the others; malloc'd, with *n. NULL: *f says why. */
struct store_point *store_points(struct store *s, size_t *n, struct store_fault *f) WB_MUST_USE;
/* No point has a place any more. */
int store_forget_places(struct store *s, struct store_fault *f) WB_MUST_USE;

struct store_run {
    int64_t point; /* row of the point */
    uint32_t replication;
    char *layout, *body; /* of store_rep.h */
};
/* Several at once, all or none. A run that is there already is left as it is. */
int store_put_runs(struct store *s, const struct store_run *run, size_t n, struct store_fault *f) WB_MUST_USE;
/* 1 with malloc'd texts, 0 = not there, -1 = *f says why. */
int store_get_run(struct store *s, int64_t point, uint32_t replication, char **layout, char **body,
                  struct store_fault *f) WB_MUST_USE;
/* One more than the highest replication of a point; 0: none (point 0 or -1: no such row). */
int64_t store_next_run(struct store *s, int64_t point);
/* How many replications from 0 on are there without a gap. */
size_t store_count_runs(struct store *s, int64_t point);
size_t store_count_all(struct store *s);

/* Group several writes: all or none. */
int store_begin(struct store *s, struct store_fault *f) WB_MUST_USE;
int store_commit(struct store *s, struct store_fault *f) WB_MUST_USE;
void store_rollback(struct store *s);

/* Copy all that `from` has and `to` lacks: points, layouts, runs. Where both have a run, it must be the same one.
 * *copied = how many runs came over. 0, or -1. */
int store_merge(struct store *to, struct store *from, size_t *copied, struct store_fault *f) WB_MUST_USE;

#endif
