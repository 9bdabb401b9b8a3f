#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_format.h"
#include "format.h"

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while printing");
    return p;
}

struct out_style out_style(const struct cli_options *o, int fd)
{
    static const struct out_style plain = {"", "", "", "", "", "", ""};
    static const struct out_style colour = {"\033[1m", "\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[0m", ""};
    struct out_style s = cli_color(o, fd) ? colour : plain;
    s.plus_minus = cli_unicode(o) ? "\u00b1" : "+-";
    return s;
}

void out_line(FILE *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap), *shown = exp_text_terminal(text, 0);
    va_end(ap);
    fprintf(to, "%s\n", shown);
    free(shown);
    free(text);
}

/* ------------------------------------------------------------------ tables */
struct out_table {
    char align[OUT_COLUMNS_MAX + 1];
    size_t columns, n;
    struct row {
        char *cell[OUT_COLUMNS_MAX];
        const char *colour[OUT_COLUMNS_MAX];
        bool line;
    } * row;
};

struct out_table *out_table_new(const char *align)
{
    struct out_table *t = need(calloc(1, sizeof *t));
    t->columns = strlen(align);
    WB_CHECK(t->columns && t->columns <= OUT_COLUMNS_MAX, "a table of %zu columns", t->columns);
    strcpy(t->align, align);
    return t;
}

void out_table_row(struct out_table *t, const char *const *cell)
{
    t->row = need(realloc(t->row, (t->n + 1) * sizeof *t->row));
    struct row *r = &t->row[t->n++];
    memset(r, 0, sizeof *r);
    r->line = !cell;
    for (size_t c = 0; cell && c < t->columns; c++) r->cell[c] = exp_text_terminal(cell[c] ? cell[c] : "", 0);
}

void out_table_colour(struct out_table *t, size_t column, const char *colour)
{
    WB_CHECK(t->n && column < t->columns, "no such cell");
    t->row[t->n - 1].colour[column] = colour;
}

/* Widths of all columns, the one at `cut` narrowed so that a line fits. */
static void measure_columns(const struct out_table *t, size_t indent, size_t cut, size_t width, size_t *w)
{
    size_t total = indent;
    for (size_t c = 0; c < t->columns; c++) {
        w[c] = 0;
        for (size_t i = 0; i < t->n; i++)
            if (!t->row[i].line) w[c] = WB_MAX(w[c], exp_text_columns(t->row[i].cell[c]));
        total += w[c] + (c ? 2 : 0);
    }
    if (cut < t->columns && total > width)
        w[cut] = total - width < w[cut] ? WB_MAX(w[cut] - (total - width), (size_t)8) : 8;
}

static void pad(FILE *to, size_t n, char with)
{
    while (n--) fputc(with, to);
}

static void print_cell(const struct out_table *t, const struct row *r, size_t c, size_t w, FILE *to, const char *off)
{
    char *text = exp_text_columns(r->cell[c]) > w ? exp_text_terminal(r->cell[c], w) : r->cell[c];
    size_t blank = w - WB_MIN(w, exp_text_columns(text));
    bool last = c + 1 == t->columns;
    if (t->align[c] == '>') pad(to, blank, ' ');
    fprintf(to, "%s%s%s", r->colour[c] ? r->colour[c] : "", text, r->colour[c] ? off : "");
    if (t->align[c] != '>' && !last) pad(to, blank, ' ');
    if (!last) fputs("  ", to);
    if (text != r->cell[c]) free(text);
}

void out_table_print(struct out_table *t, FILE *to, size_t indent, size_t cut, size_t width, const char *off)
{
    size_t w[OUT_COLUMNS_MAX], all = 0;
    measure_columns(t, indent, cut, width, w);
    for (size_t c = 0; c < t->columns; c++) all += w[c] + (c ? 2 : 0);
    for (size_t i = 0; i < t->n; i++) {
        pad(to, indent, ' ');
        if (t->row[i].line) pad(to, all, '-');
        for (size_t c = 0; !t->row[i].line && c < t->columns; c++) {
            print_cell(t, &t->row[i], c, w[c], to, off);
            free(t->row[i].cell[c]);
        }
        fputc('\n', to);
    }
    free(t->row);
    free(t);
}

/* ------------------------------------------------------------------ interruption */
volatile int out_stop;

static void on_signal(int number)
{
    if (out_stop) _exit(128 + number); /* asked twice: not even for the report */
    static const char text[] = "\nwakebal: stopping; what is complete is reported\n";
    out_stop = number;
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n;
}

void out_catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal}, was;
    for (size_t i = 0; i < WB_ARRAY_SIZE(caught); i++)
        if (!sigaction(caught[i], NULL, &was) && was.sa_handler != SIG_IGN) sigaction(caught[i], &a, NULL);
}

int out_stop_exit_code(void)
{
    return 128 + out_stop;
}

/* ------------------------------------------------------------------ files */
static int refuse(const char *path, int rc)
{
    char *name = exp_text_terminal(path, 200);
    fprintf(stderr, "wakebal: cannot write '%s': %s%s\n", name, strerror(-rc),
            rc == -EEXIST ? "; it is left as it is: take another name, or remove it first" : "");
    free(name);
    return EXIT_OUTPUT;
}

/* Devices, fifos and what lies behind a symbolic link are written in place. */
static bool replaceable(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* A write in the middle failed, and errno has been used for other things since: the same again says why. What is there
 * is broken already. */
static int ask_again(FILE *f)
{
    errno = 0;
    clearerr(f);
    return (fputc('\n', f) == EOF || fflush(f)) && errno ? -errno : -EIO;
}

static int write_stream(FILE *f, int (*write)(FILE *, void *), void *ctx)
{
    int rc = write(f, ctx);
    if (rc) return rc == -1 ? ask_again(f) : rc;
    errno = 0;
    if (fflush(f)) return errno ? -errno : -EIO;
    return ferror(f) ? ask_again(f) : 0;
}

/* Open the file beside `path` that will take its place; NULL with errno set, or the stream with its name in *tmp. */
static FILE *open_beside(const char *path, char **tmp)
{
    *tmp = wb_text("%s.part.%ld", path, (long)getpid());
    /* The name can be guessed: a link that somebody laid there is not followed. What a killed program of the same
     * number left is replaced. */
    int fd =
        unlink(*tmp) && errno != ENOENT ? -1 : open(*tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    int why = errno;
    if (f) return f;
    if (fd >= 0) close(fd);
    free(*tmp);
    *tmp = NULL;
    errno = why;
    return NULL;
}

/* fresh: nothing that exists may be replaced. */
static int put_in_place(const char *tmp, const char *path, bool fresh)
{
    if (!fresh) return rename(tmp, path) ? -errno : 0;
    if (!renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE)) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    return access(path, F_OK) ? put_in_place(tmp, path, false) : -EEXIST; /* file systems that cannot tell */
}

static int write_beside(const char *path, bool fresh, int (*write)(FILE *, void *), void *ctx)
{
    char *tmp;
    FILE *f = open_beside(path, &tmp);
    if (!f) return -errno;
    int rc = write_stream(f, write, ctx);
    if (fclose(f) && !rc) rc = -errno;
    if (!rc) rc = put_in_place(tmp, path, fresh);
    if (rc) unlink(tmp);
    free(tmp);
    return rc;
}

int out_put_text(FILE *to, void *ctx)
{
    return fputs(ctx, to) == EOF ? -1 : 0;
}

int out_put_scenario(FILE *to, void *ctx)
{
    char *text = format_text(ctx, strlen(ctx), false);
    int rc = text && fputs(text, to) != EOF ? 0 : -1;
    free(text);
    return rc;
}

static int put_document(FILE *to, const json_t *doc, size_t order)
{
    return json_dumpf(doc, to, order | JSON_REAL_PRECISION(12)) || fputc('\n', to) == EOF ? -1 : 0;
}

int out_put_json(FILE *to, void *ctx)
{
    return put_document(to, ctx, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
}

int out_put_sorted_json(FILE *to, void *ctx)
{
    return put_document(to, ctx, JSON_INDENT(2) | JSON_SORT_KEYS);
}

int out_file_new(const char *path, int (*write)(FILE *to, void *ctx), void *ctx)
{
    struct stat st;
    int rc = lstat(path, &st) ? write_beside(path, true, write, ctx) : -EEXIST;
    return rc ? refuse(path, rc) : EXIT_FINE;
}

int out_file_possible(const char *path)
{
    char *tmp;
    if (!replaceable(path)) return access(path, W_OK) ? -errno : 0;
    FILE *f = open_beside(path, &tmp);
    if (!f) return -errno;
    fclose(f);
    unlink(tmp);
    free(tmp);
    return 0;
}

int out_file(const char *path, int (*write)(FILE *to, void *ctx), void *ctx)
{
    int rc;
    errno = 0;
    if (!strcmp(path, "-")) {
        rc = write_stream(stdout, write, ctx);
    } else if (replaceable(path)) {
        rc = write_beside(path, false, write, ctx);
    } else {
        FILE *f = fopen(path, "we");
        rc = f ? write_stream(f, write, ctx) : -errno;
        if (f && fclose(f) && !rc) rc = -errno;
    }
    return rc ? refuse(path, rc) : EXIT_FINE;
}

char *out_thousands(char *buf, size_t n, double v)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.0f", v);
    size_t len = strlen(digits), at = 0, sign = digits[0] == '-';
    for (size_t i = 0; i < len && at + 2 < n; i++) {
        if (i > sign && (len - i) % 3 == 0) buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at < n ? at : n - 1] = 0;
    return buf;
}
