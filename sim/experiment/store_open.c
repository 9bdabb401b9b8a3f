/* store_open.c - opening, checking and locking a study. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_schema.h"

#define BUSY_MS 30000 /* a reader may hold the file for a moment */

/* ------------------------------------------------------------------ the writer's lock */
/* The file that was locked may have been removed by its last owner meanwhile: then another one has to be locked. */
static bool still_there(int fd, const char *path)
{
    struct stat a, b;
    return !fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static int busy(struct store *s, int fd, struct store_fault *f)
{
    char who[128];
    ssize_t n = pread(fd, who, sizeof who - 1, 0);
    who[n > 0 ? n : 0] = 0;
    who[strcspn(who, "\n")] = 0;
    return store_fail(s, f, STORE_BUSY, "is being written by another wakebal (%s). Wait for it, or name another file.",
                      *who ? who : "unknown process");
}

static void sign(int fd)
{
    char host[64] = "", who[128];
    gethostname(host, sizeof host - 1);
    int n = snprintf(who, sizeof who, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) || pwrite(fd, who, (size_t)n, 0) != n) return; /* it only serves a message */
}

int store_lock(struct store *s, struct store_fault *f)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    /* a symbolic link is the same study; one that is not there yet has no links */
    char *real = realpath(s->path, NULL);
    if (asprintf(&s->lock_path, "%s.lock", real ? real : s->path) < 0) WB_MEMORY(false, "out of memory for a study");
    free(real);
    for (;;) {
        int fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0) {
            free(s->lock_path);
            s->lock_path = NULL;
            return store_fail(s, f, STORE_REFUSED, "cannot be written: no lock file beside it: %s.", strerror(errno));
        }
        if (fcntl(fd, F_OFD_SETLK, &whole)) {
            bool held = errno == EAGAIN || errno == EACCES;
            int rc = held ? busy(s, fd, f) : store_fail(s, f, STORE_REFUSED, "cannot be locked: %s.", strerror(errno));
            close(fd);
            free(s->lock_path);
            s->lock_path = NULL;
            return rc;
        }
        if (still_there(fd, s->lock_path)) {
            sign(fd);
            s->lock = fd;
            return 0;
        }
        close(fd);
    }
}

void store_unlock(struct store *s)
{
    if (s->lock_path) unlink(s->lock_path); /* while it is still ours */
    if (s->lock >= 0) close(s->lock);
    free(s->lock_path);
    s->lock_path = NULL;
    s->lock = -1;
}

/* ------------------------------------------------------------------ checking */
static int check_kind(struct store *s, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s, "PRAGMA application_id", f);
    if (!q) return -1;
    int rc = sqlite3_step(q);
    int64_t application = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    if (rc != SQLITE_ROW) return store_fail_sql(s, f, rc);
    int64_t version = store_number(s, "PRAGMA user_version", -1);
    if (application != STORE_APPLICATION)
        return store_fail(s, f, STORE_FOREIGN,
                          "is no study of wakebal, or its head is damaged. It was left as it is; name another file.");
    if (version == STORE_SCHEMA) return 0;
    return store_fail(
        s, f, STORE_FOREIGN,
        "is a study with tables of version %lld, and this wakebal reads version %d. It was left as it is; "
        "use the wakebal that made it, or start another file.",
        (long long)version, STORE_SCHEMA);
}

/* The schema is ours to the letter: no other tables, no triggers, no other text of the view. */
static int check_schema(struct store *s, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL", f);
    size_t found = 0;
    int rc;
    if (!q) return -1;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0), *sql = (const char *)sqlite3_column_text(q, 1);
        size_t i = 0;
        while (i < store_schema_n &&
               (!name || !sql || strcmp(name, store_schema[i].name) || strcmp(sql, store_schema[i].sql)))
            i++;
        if (i == store_schema_n) break;
        found++;
    }
    sqlite3_finalize(q);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) return store_fail_sql(s, f, rc);
    if (rc == SQLITE_DONE && found == store_schema_n) return 0;
    return store_fail(s, f, STORE_DAMAGED, "is damaged: its tables are not those of a study. It was left as it is.");
}

static int check_pages(struct store *s, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s, "PRAGMA integrity_check(1)", f);
    if (!q) return -1;
    int rc = sqlite3_step(q);
    char *text = rc == SQLITE_ROW ? store_text(q, 0) : NULL;
    sqlite3_finalize(q);
    bool fine = text && !strcmp(text, "ok");
    free(text);
    if (fine) return 0;
    if (rc != SQLITE_ROW) return store_fail_sql(s, f, rc);
    return store_fail_sql(s, f, SQLITE_CORRUPT);
}

/* A word of the file, as SQLite stores them; true when it could be read. Through SQLite's own handle: closing another
 * would give its locks away (sqlite.org/howtocorrupt.html, 2.2). */
static bool read_word(sqlite3_file *file, int64_t at, uint32_t *word)
{
    uint8_t b[4];
    if (file->pMethods->xRead(file, b, sizeof b, at) != SQLITE_OK) return false;
    *word = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return true;
}

/* As many free pages as the head says: SQLite notices only when it wants one, and then others have been written
 * (sqlite.org/fileformat2.html, 1.5: a page that lists free ones begins with the next such page and how many). */
static int check_free_pages(struct store *s, struct store_fault *f)
{
    sqlite3_file *file = NULL;
    int64_t page_bytes = store_number(s, "PRAGMA page_size", 0), left = store_number(s, "PRAGMA freelist_count", 0);
    uint32_t trunk = 0, listed = 0;
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file->pMethods) return 0;
    bool good = read_word(file, 32, &trunk);
    while (good && trunk && left > 0) {
        int64_t at = ((int64_t)trunk - 1) * page_bytes;
        good = read_word(file, at + 4, &listed) && read_word(file, at, &trunk);
        left -= 1 + (int64_t)listed;
    }
    return good && !trunk && !left ? 0 : store_fail_sql(s, f, SQLITE_CORRUPT);
}

static int bad_row(struct store *s, struct store_fault *f, const char *what)
{
    return store_fail(s, f, STORE_DAMAGED,
                      "is damaged: a %s is not as it was written (its sum differs). It was left as it is; take a "
                      "copy, or start again in another file.",
                      what);
}

/* Each row of `sql`: the sum it carries in column 0, and what is summed in the others. */
static int check_sums(struct store *s, const char *sql, const char *what, struct store_fault *f)
{
    sqlite3_stmt *q = store_prepare(s, sql, f);
    int rc, bad = 0;
    if (!q) return -1;
    while (!bad && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *text[8], *carried = (const char *)sqlite3_column_text(q, 0);
        char sum[65];
        size_t n = (size_t)sqlite3_column_count(q) - 1;
        for (size_t i = 0; i < n && i < 8; i++) text[i] = (const char *)sqlite3_column_text(q, (int)i + 1);
        store_sum(sum, text, n);
        if (!carried || strcmp(sum, carried)) bad = bad_row(s, f, what);
    }
    sqlite3_finalize(q);
    if (bad || rc == SQLITE_DONE) return bad;
    return store_fail_sql(s, f, rc);
}

int store_verify(struct store *s, struct store_fault *f)
{
    static const struct {
        const char *what, *sql;
    } rows[] = {
        {"fact", "SELECT sum, key, value FROM study"},
        {"point", "SELECT sum, ident, ifnull(place, -1), label, config, about, judgement FROM point"},
        {"layout", "SELECT sum, json FROM layout"},
        {"run", "SELECT r.sum, p.ident, r.replication, l.sum, r.json FROM run r LEFT JOIN point p ON p.point = r.point "
                "LEFT JOIN layout l ON l.layout = r.layout"},
    };
    if (check_kind(s, f) || check_schema(s, f) || check_pages(s, f) || check_free_pages(s, f)) return -1;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++)
        if (check_sums(s, rows[i].sql, rows[i].what, f)) return -1;
    return 0;
}

/* ------------------------------------------------------------------ opening */
/* The journal is named after the file: under a second name SQLite would not see what a killed writer left to undo, and
 * the study would be ruined (sqlite.org/howtocorrupt.html, 2.5). */
static int check_names(struct store *s, struct store_fault *f)
{
    struct stat st;
    if (stat(s->path, &st) || st.st_nlink < 2) return 0;
    return store_fail(s, f, STORE_REFUSED, "has %lu names (hard links), which is not safe to write. Take a copy.",
                      (unsigned long)st.st_nlink);
}

static struct store *alloc_store(const char *path)
{
    struct store *s = calloc(1, sizeof *s);
    WB_MEMORY(s, "out of memory for a study");
    s->path = strdup(path);
    s->lock = -1;
    WB_MEMORY(s->path, "out of memory for a study");
    return s;
}

static int open_db(struct store *s, int flags, struct store_fault *f)
{
    char *path; /* some names mean something to SQLite (":memory:"), none with a slash does */
    if (asprintf(&path, "%s%s", *s->path == '/' ? "" : "./", s->path) < 0)
        WB_MEMORY(false, "out of memory for a study");
    int rc = sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    free(path);
    if (rc != SQLITE_OK) return store_fail_sql(s, f, rc);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return 0;
}

/* A folder, a fifo or a device is no study, and SQLite must not be pointed at one. */
static int check_file(struct store *s, struct store_fault *f, bool *empty)
{
    struct stat st;
    *empty = true;
    if (stat(s->path, &st)) {
        if (errno == ENOENT) return store_fail(s, f, STORE_MISSING, "does not exist.");
        return store_fail(s, f, STORE_REFUSED, "cannot be looked at: %s.", strerror(errno));
    }
    *empty = st.st_size == 0;
    if (S_ISREG(st.st_mode)) return 0;
    return store_fail(s, f, STORE_FOREIGN, "is no regular file.");
}

struct store *store_open_read(const char *path, struct store_fault *f)
{
    struct store *s = alloc_store(path);
    bool empty;
    int rc = check_file(s, f, &empty);
    /* Writing is only wanted to roll back what a killed program left; where it is not allowed, reading does. */
    if (!rc && !access(path, W_OK))
        rc = open_db(s, SQLITE_OPEN_READWRITE, f);
    else if (!rc)
        rc = open_db(s, SQLITE_OPEN_READONLY, f);
    if (!rc) rc = store_verify(s, f);
    if (!rc) return s;
    store_close(s);
    return NULL;
}

static int create(struct store *s, const char *name, const char *model, struct store_fault *f)
{
    char pragma[96];
    snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION,
             STORE_SCHEMA);
    if (store_begin(s, f)) return -1;
    int rc = store_exec(s, pragma, f);
    for (size_t i = 0; i < store_schema_n && !rc; i++) rc = store_exec(s, store_schema[i].sql, f);
    if (!rc) rc = store_set_fact(s, "name", name, f);
    if (!rc) rc = store_set_fact(s, "model", model, f);
    if (!rc) rc = store_set_fact(s, "tool", WB_VERSION, f);
    if (!rc) return store_commit(s, f);
    store_rollback(s);
    return -1;
}

static int check_same(struct store *s, const char *name, const char *model, struct store_fault *f)
{
    char *its_name = store_fact(s, "name"), *its_model = store_fact(s, "model");
    int rc = 0;
    if (!its_name || strcmp(its_name, name))
        rc = store_fail(s, f, STORE_FOREIGN, "is a study of '%.80s', not of '%.80s'. Name another file with -o.",
                        its_name ? its_name : "", name);
    else if (!its_model || strcmp(its_model, model))
        rc = store_fail(s, f, STORE_FOREIGN,
                        "was made by model %.60s, and this is model %.60s: their runs may differ and are not mixed. It "
                        "was left as it is; start another file with -o, or compare the two.",
                        its_model ? its_model : "unknown", model);
    free(its_name);
    free(its_model);
    return rc;
}

/* A file without tables is one that was being made when the program was killed. */
static int open_or_create(struct store *s, const char *name, const char *model, bool empty, struct store_fault *f)
{
    if (open_db(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, f)) return -1;
    if (sqlite3_db_readonly(s->db, "main") == 1) return store_fail_sql(s, f, SQLITE_READONLY);
    if (!empty && store_number(s, "SELECT count(*) FROM sqlite_master", -1) == 0 &&
        store_number(s, "PRAGMA page_count", -1) == 0)
        empty = true;
    if (!empty && store_verify(s, f)) return -1;
    if (store_exec(s, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL", f)) return -1;
    return empty ? create(s, name, model, f) : check_same(s, name, model, f);
}

struct store *store_open_write(const char *path, const char *name, const char *model, struct store_fault *f)
{
    struct store *s = alloc_store(path);
    bool empty;
    int rc = check_file(s, f, &empty);
    if (rc && f->kind == STORE_MISSING) rc = 0;
    if (!rc) rc = check_names(s, f);
    if (!rc) rc = store_lock(s, f);
    if (!rc) (void)check_file(s, f, &empty); /* under the lock: another may have made it meanwhile */
    if (!rc) rc = open_or_create(s, name, model, empty, f);
    if (!rc) return s;
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (!s) return;
    /* Leaves no journal file behind; where that fails, the next opening deals with it. */
    if (s->db && s->lock >= 0) (void)sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close_v2(s->db);
    store_unlock(s);
    free(s->path);
    free(s);
}

const char *store_path(const struct store *s)
{
    return s->path;
}
