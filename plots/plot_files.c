/* plot_files.c - data, script and picture side by side; gnuplot in between.
 *
 * They are made in a folder of their own beside where they shall lie and renamed when they are whole: a program that
 * is killed leaves that folder, and under their names what was there before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot_inner.h"

struct files {
    char *folder, *dat, *gp, *picture; /* names without folder; picture NULL for a terminal */
    char *work;                        /* folder that they are made in; may be the same */
    bool temporary;
};

/* Devices and what lies behind a link are written in place. */
static bool is_replaceable(const char *folder, const char *name)
{
    struct stat st;
    char *path = plot_say("%s/%s", folder, name);
    bool yes = lstat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
    free(path);
    return yes;
}

/* Where no folder can be made the files are tried in place, and what is wrong is told of them. */
static char *choose_work(const struct files *n, const char *stem)
{
    bool beside = !n->temporary && is_replaceable(n->folder, n->dat) && is_replaceable(n->folder, n->gp) &&
                  (!n->picture || is_replaceable(n->folder, n->picture));
    char *work = plot_say("%s/%s.part.XXXXXX", n->folder, stem);
    if (beside && mkdtemp(work)) return work;
    free(work);
    return plot_say("%s", n->folder);
}

static bool name_files(struct files *n, const struct plot_options *o)
{
    char dir[] = "/tmp/wakebal-plot-XXXXXX";
    const char *slash = o->base ? strrchr(o->base, '/') : NULL, *stem = slash ? slash + 1 : o->base ? o->base : "plot";
    n->temporary = !o->base;
    if (n->temporary && !mkdtemp(dir)) return false;
    n->folder = n->temporary       ? plot_say("%s", dir)
                : slash == o->base ? plot_say("/")
                : slash            ? plot_say("%.*s", (int)(slash - o->base), o->base)
                                   : plot_say(".");
    n->dat = plot_say("%s.dat", stem);
    n->gp = plot_say("%s.gp", stem);
    n->picture = o->format == PLOT_TERMINAL ? NULL : plot_say("%s.%s", stem, plot_format_name[o->format]);
    n->work = choose_work(n, stem);
    return true;
}

static FILE *open_in(const struct files *n, const char *name, char **why)
{
    char *path = plot_say("%s/%s", n->work, name);
    FILE *f = fopen(path, "we");
    if (!f) *why = plot_say("cannot write '%s/%s': %s", n->folder, name, strerror(errno));
    free(path);
    return f;
}

static bool close_file(FILE *f, const char *name, char **why)
{
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0;
    if (bad) *why = plot_say("cannot write '%s': %s", name, strerror(errno));
    return !bad;
}

static enum plot_status write_files(const struct files *n, const struct plot_input *in, char **why)
{
    FILE *dat = open_in(n, n->dat, why);
    if (!dat) return PLOT_NO_WRITE;
    plot_ops_of[in->o->kind]->data(dat, in);
    if (!close_file(dat, n->dat, why)) return PLOT_NO_WRITE;
    FILE *gp = open_in(n, n->gp, why);
    if (!gp) return PLOT_NO_WRITE;
    plot_write_script(gp, in, n->gp, n->picture);
    return close_file(gp, n->gp, why) ? PLOT_DONE : PLOT_NO_WRITE;
}

/* The dumb terminal begins pages with form feeds and pads lines with blanks; escapes go unless colours were
 * asked for. */
static void print_picture(FILE *to, const char *text, bool colour)
{
    size_t blanks = 0;
    for (const char *p = text; p && *p; p++) {
        if (*p == '\f') continue;
        if (*p == '\033' && !colour) {
            p += strcspn(p, "m");
            if (!*p) return;
            continue;
        }
        blanks = *p == ' ' ? blanks + 1 : blanks;
        if (*p == ' ') continue;
        for (; *p != '\n' && blanks; blanks--) fputc(' ', to);
        blanks = 0;
        fputc(*p, to);
    }
}

/* pdfcairo notes when a picture was made: overwritten in place with a fixed date, equal inputs give equal bytes. */
static void forget_date(const struct files *n)
{
    static const char mark[] = "/CreationDate (D:", fixed[] = "19700101000000";
    char *path = plot_say("%s/%s", n->work, n->picture), *text = NULL;
    FILE *f = fopen(path, "r+e");
    free(path);
    if (!f) return;
    long size = !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    if (size > 0 && !fseek(f, 0, SEEK_SET)) text = plot_need(malloc((size_t)size));
    size_t got = text ? fread(text, 1, (size_t)size, f) : 0;
    char *at = got ? memmem(text, got, mark, sizeof mark - 1) : NULL;
    size_t from = at ? (size_t)(at - text) + sizeof mark - 1 : 0;
    if (at && from + sizeof fixed - 1 <= got && !fseek(f, (long)from, SEEK_SET)) fputs(fixed, f);
    fclose(f);
    free(text);
}

static enum plot_status run(const struct files *n, const struct plot_input *in, char **why)
{
    const struct plot_options *o = in->o;
    FILE *terminal = o->terminal ? o->terminal : stdout;
    if (o->format == PLOT_TERMINAL && plot_ops_of[o->kind]->text) {
        plot_ops_of[o->kind]->text(terminal, in);
        return PLOT_DONE;
    }
    char *out, *err;
    int rc = plot_run_gnuplot(n->work, n->gp, &out, &err);
    enum plot_status st = rc < 0 ? PLOT_NO_GNUPLOT : rc ? PLOT_REFUSED : PLOT_DONE;
    if (st == PLOT_NO_GNUPLOT && n->temporary) *why = plot_say("cannot plot: gnuplot not found");
    if (st == PLOT_NO_GNUPLOT && !n->temporary)
        *why = plot_say("cannot plot: gnuplot not found. Data and script were written to %s/%s and %s", n->folder,
                        n->dat, n->gp);
    if (st == PLOT_REFUSED)
        *why = plot_say("gnuplot refused %s/%s: %.600s", n->folder, n->gp, err ? err : "no reason given");
    if (st == PLOT_DONE && o->format == PLOT_TERMINAL) {
        print_picture(terminal, out, o->colour);
        if (plot_ops_of[o->kind]->notes) plot_ops_of[o->kind]->notes(terminal, in);
    }
    if (st == PLOT_DONE && o->format == PLOT_PDF) forget_date(n);
    free(out);
    free(err);
    return st;
}

/* Put what is whole where it belongs: data and script also when nothing could be drawn of them. */
static enum plot_status keep_files(const struct files *n, enum plot_status st, char **why)
{
    const char *name[] = {n->dat, n->gp, st == PLOT_DONE ? n->picture : NULL};
    if (st == PLOT_NO_WRITE || !strcmp(n->work, n->folder)) return st;
    for (size_t i = 0; i < WB_ARRAY_SIZE(name) && name[i]; i++) {
        char *from = plot_say("%s/%s", n->work, name[i]), *to = plot_say("%s/%s", n->folder, name[i]);
        if (rename(from, to) && st == PLOT_DONE) {
            *why = plot_say("cannot write '%s': %s", to, strerror(errno));
            st = PLOT_NO_WRITE;
        }
        free(from);
        free(to);
    }
    return st;
}

static void forget_files(struct files *n)
{
    const char *name[] = {n->dat, n->gp, n->picture};
    bool gone = n->temporary || strcmp(n->work, n->folder) != 0;
    for (size_t i = 0; gone && i < WB_ARRAY_SIZE(name) && name[i]; i++) {
        char *path = plot_say("%s/%s", n->work, name[i]);
        unlink(path);
        free(path);
    }
    if (gone) rmdir(n->work);
    free(n->folder);
    free(n->work);
    free(n->dat);
    free(n->gp);
    free(n->picture);
}

enum plot_status plot_make_files(struct plot_input *in, char **why)
{
    struct files n = {0};
    if (!name_files(&n, in->o)) {
        *why = plot_say("cannot make a folder for the plot: %s", strerror(errno));
        return PLOT_NO_WRITE;
    }
    in->dat = n.dat;
    enum plot_status st = write_files(&n, in, why);
    if (st == PLOT_DONE) st = run(&n, in, why);
    st = keep_files(&n, st, why);
    forget_files(&n);
    return st;
}
