/*
 * replay_main.c - feed files to a fuzz target without a fuzzer.
 *
 * Each argument is a file or a folder; folders are read one level deep, in name order. No input at all is a failure:
 * a corpus that went missing must not pass as green.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return -1;
    }
    size_t n = 0, room = 1 << 16;
    uint8_t *data = malloc(room);
    while (data) {
        n += fread(data + n, 1, room - n, f);
        if (n < room) break;
        room *= 2;
        uint8_t *more = realloc(data, room);
        if (!more) free(data);
        data = more;
    }
    fclose(f);
    if (!data) return -1;
    /* An exact-size copy, so that the address sanitizer sees a read past the end. */
    uint8_t *exact = malloc(n ? n : 1);
    if (exact) {
        memcpy(exact, data, n);
        LLVMFuzzerTestOneInput(exact, n);
    }
    free(exact);
    free(data);
    return exact ? 1 : -1;
}

static int feed_folder(const char *path)
{
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort), fed = 0;
    if (n < 0) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        struct stat st;
        snprintf(name, sizeof name, "%s/%s", path, list[i]->d_name);
        if (fed >= 0 && !stat(name, &st) && S_ISREG(st.st_mode)) fed = feed(name) < 0 ? -1 : fed + 1;
        free(list[i]);
    }
    free(list);
    return fed;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        int n = !stat(argv[i], &st) && S_ISDIR(st.st_mode) ? feed_folder(argv[i]) : feed(argv[i]);
        if (n < 0) return 1;
        total += n;
    }
    printf("%d inputs replayed\n", total);
    return total ? 0 : 1;
}
