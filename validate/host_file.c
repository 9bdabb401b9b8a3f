#include "host_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)64 << 20)

static int open_below(const char *root, const char *path, int flags)
{
    char full[512];
    if (snprintf(full, sizeof full, "%s%s", root ? root : "", path) >= (int)sizeof full) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, flags | O_CLOEXEC);
}

static ssize_t read_fd(int fd, char *text, size_t n)
{
    size_t got = 0;
    ssize_t more;
    while (got < n && (more = read(fd, text + got, n - got)) != 0) {
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return -errno;
        got += (size_t)more;
    }
    return (ssize_t)got;
}

ssize_t host_read(const char *root, const char *path, char *text, size_t n)
{
    text[0] = '\0';
    int fd = open_below(root, path, O_RDONLY);
    if (fd < 0) return -errno;
    ssize_t got = read_fd(fd, text, n - 1);
    close(fd);
    if (got < 0) got = 0;
    while (got > 0 && strchr(" \n\t", text[got - 1])) got--;
    text[got] = '\0';
    return got;
}

char *host_read_all(const char *root, const char *path)
{
    size_t room = 1 << 16, got = 0;
    int fd = open_below(root, path, O_RDONLY);
    if (fd < 0) return NULL;
    char *text = malloc(room);
    while (text) {
        ssize_t more = read_fd(fd, text + got, room - 1 - got);
        if (more < 0 || room >= FILE_MAX) {
            free(text);
            close(fd);
            errno = more < 0 ? (int)-more : EFBIG;
            return NULL;
        }
        got += (size_t)more;
        if (got < room - 1) break;
        char *larger = realloc(text, room *= 2);
        if (!larger) free(text);
        text = larger;
    }
    close(fd);
    if (text) text[got] = '\0';
    return text;
}

bool host_read_number(const char *root, const char *path, int64_t *value)
{
    char text[64], *end;
    if (host_read(root, path, text, sizeof text) <= 0) return false;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text) return false;
    *value = v;
    return true;
}

bool host_exists(const char *root, const char *path)
{
    int fd = open_below(root, path, O_PATH);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

bool host_readable(const char *root, const char *path)
{
    int fd = open_below(root, path, O_RDONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

bool host_field(const char *text, const char *key, char *value, size_t n)
{
    size_t k = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, k) != 0) continue;
        const char *v = line + k + strspn(line + k, " \t");
        if (*v != ':' && *v != '=' && v == line + k && *v) continue;
        if (*v == ':' || *v == '=') v++;
        v += strspn(v, " \t");
        size_t len = strcspn(v, "\n");
        snprintf(value, n, "%.*s", (int)len, v);
        return true;
    }
    return false;
}

bool host_find_program(const char *name, char *path, size_t n)
{
    const char *dirs = getenv("PATH");
    for (const char *at = dirs ? dirs : "/usr/bin:/bin"; *at;) {
        size_t len = strcspn(at, ":");
        if (len && snprintf(path, n, "%.*s/%s", (int)len, at, name) < (int)n && !access(path, X_OK)) return true;
        at += len + (at[len] == ':');
    }
    return false;
}
