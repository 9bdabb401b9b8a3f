/* exp_file.c - opening what may be anything, and documents with a limit. See exp_file.h. */
#include "exp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exp_format.h"

#define BLANKS_MAX ((size_t)1 << 16) /* a document that begins with more is none */

int exp_file_open(const char *path, const char **why)
{
    struct stat st;
    /* Without O_NONBLOCK opening a pipe waits for someone who writes it, and opening a device may do anything. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool known = fd >= 0 && !fstat(fd, &st);
    *why = !known                                        ? strerrordesc_np(errno)
           : S_ISDIR(st.st_mode)                         ? "Is a directory"
           : S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ? NULL
                                                         : "it is neither a file nor a pipe";
    if (!*why && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) *why = strerrordesc_np(errno);
    if (!*why) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

struct source {
    int fd;
    size_t all;
    bool begun; /* something that is no blank was seen */
    const char *why;
};

static size_t refill(void *buf, size_t n, void *ctx)
{
    struct source *s = ctx;
    ssize_t got;
    while ((got = read(s->fd, buf, n)) < 0 && errno == EINTR) continue;
    if (got < 0) s->why = strerrordesc_np(errno);
    if (got <= 0) return got < 0 ? (size_t)-1 : 0;
    s->all += (size_t)got;
    for (ssize_t i = 0; i < got && !s->begun; i++) s->begun = !strchr(" \t\r\n", ((const char *)buf)[i]);
    if (s->all > EXP_JSON_MAX) s->why = "it is larger than 256 MiB";
    if (!s->begun && s->all > BLANKS_MAX) s->why = "it begins with 64 KiB of blanks";
    return s->why ? (size_t)-1 : (size_t)got;
}

static void cannot_read(json_error_t *e, const char *path, const char *why)
{
    memset(e, 0, sizeof *e);
    e->line = e->column = -1;
    int room = (int)sizeof e->text - 24 - (int)strlen(why); /* the reason must not be cut off */
    char *name = exp_text_terminal(path, 0);
    snprintf(e->text, sizeof e->text, "unable to read %.*s: %s", room, name, why);
    free(name);
}

/* What the parser quotes of a file may be made to move the cursor. */
static void make_plain(json_error_t *e)
{
    char *plain = exp_text_terminal(e->text, 0);
    snprintf(e->text, sizeof e->text, "%s", plain);
    free(plain);
}

json_t *exp_json_load(const char *path, json_error_t *e)
{
    const char *why;
    struct source s = {.fd = exp_file_open(path, &why)};
    if (s.fd < 0) {
        cannot_read(e, path, why);
        return NULL;
    }
    json_t *doc = json_load_callback(refill, &s, 0, e);
    close(s.fd);
    if (!doc && s.why) cannot_read(e, path, s.why);
    if (!doc && !s.all && !s.why) cannot_read(e, path, "it is empty");
    if (!doc) make_plain(e);
    return doc;
}
