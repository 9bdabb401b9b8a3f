/* guest_pack.c - the guest's root file system: a cpio archive of two files (the "newc" form of the kernel's
 * Documentation/driver-api/early-userspace/buffer-format.rst). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guest_lab.h"

struct archive {
    FILE *f;
    uint32_t inode;
    size_t at;
};

static void pad(struct archive *a)
{
    for (; a->at % 4; a->at++) fputc(0, a->f);
}

static void entry(struct archive *a, const char *name, uint32_t mode, const char *data, size_t n)
{
    size_t len = strlen(name) + 1;
    fprintf(a->f, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++a->inode, mode, 0u, 0u, 1u, 0u,
            (unsigned)n, 0u, 0u, 0u, 0u, (unsigned)len, 0u);
    fwrite(name, 1, len, a->f);
    a->at += 110 + len;
    pad(a);
    if (n) fwrite(data, 1, n, a->f);
    a->at += n;
    pad(a);
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    struct stat st;
    *n = 0;
    if (f && !fstat(fileno(f), &st) && S_ISREG(st.st_mode) && st.st_size < 1 << 28) {
        text = malloc((size_t)st.st_size + 1);
        if (text) *n = fread(text, 1, (size_t)st.st_size, f);
    }
    if (f) fclose(f);
    return text;
}

int guest_pack(const char *path, const char *init, const char *runs)
{
    size_t ninit, nruns;
    char *program = slurp(init, &ninit), *list = slurp(runs, &nruns);
    struct archive a = {.f = program && list ? fopen(path, "w") : NULL};
    int err = program && list && a.f ? 0 : errno ? -errno : -EIO;
    if (a.f) {
        static const char *const folder[] = {"proc", "sys", "dev", "tmp"};
        for (size_t i = 0; i < WB_ARRAY_SIZE(folder); i++) entry(&a, folder[i], 040755, NULL, 0);
        entry(&a, "init", 0100755, program, ninit);
        entry(&a, "runs", 0100644, list, nruns);
        entry(&a, "TRAILER!!!", 0, NULL, 0);
        if (ferror(a.f)) err = -EIO;
        if (fclose(a.f)) err = -errno;
    }
    free(program);
    free(list);
    return err;
}
