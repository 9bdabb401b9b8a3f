/*
 * host_file.h - small files of /proc and /sys, read below a root that tests can replace.
 *
 * root NULL is the real machine. Nothing here allocates but host_read_all; text is cut at the buffer's size and
 * always terminated.
 */
#ifndef WB_VALIDATE_HOST_FILE_H
#define WB_VALIDATE_HOST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Text of ROOT/path without trailing blanks and line ends. Its length, or -errno (text is then empty). */
ssize_t host_read(const char *root, const char *path, char *text, size_t n);
/* The whole file, of any size up to 64 MiB; malloc'ed, the caller frees it. NULL with errno. */
char *host_read_all(const char *root, const char *path);
/* A whole number at the start of the file. */
bool host_read_number(const char *root, const char *path, int64_t *value);
bool host_exists(const char *root, const char *path);
/* ROOT/path may be opened for reading (directories: listed) by this process. */
bool host_readable(const char *root, const char *path);
/* The rest of the line that begins with `key`, without the key, blanks and ':' or '='; false when there is none. */
bool host_field(const char *text, const char *key, char *value, size_t n);
/* Where a program is on PATH; false when it is not. */
bool host_find_program(const char *name, char *path, size_t n);

#endif
