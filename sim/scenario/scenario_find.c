#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario_build.h"

#define FILE_MAX ((size_t)8 << 20)

/* ---- reading ---- */

static int admit(int fd, const char **why)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        *why = strerrordesc_np(errno);
        return -errno;
    }
    if (S_ISDIR(st.st_mode)) {
        *why = "it is a folder";
        return -EISDIR;
    }
    if (!S_ISREG(st.st_mode)) {
        *why = "it is no regular file";
        return -EINVAL;
    }
    if ((uint64_t)st.st_size > FILE_MAX) {
        *why = "it is larger than 8 MiB";
        return -EFBIG;
    }
    return 0;
}

static int read_all(int fd, char **text, size_t *len, const char **why)
{
    size_t n = 0, room = 1 << 14;
    char *buf = malloc(room);
    while (buf) {
        ssize_t got = read(fd, buf + n, room - n - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        n += (size_t)got;
        if (got == 0 || n > FILE_MAX) {
            buf[n] = '\0';
            *text = buf;
            *len = n;
            return 0;
        }
        if (room - n > 1) continue;
        room *= 2;
        char *more = realloc(buf, room);
        if (!more) break;
        buf = more;
    }
    *why = strerrordesc_np(errno);
    free(buf);
    return -errno;
}

static int read_file(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    (void)ctx;
    /* O_NONBLOCK: opening a fifo must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *why = strerrordesc_np(errno);
        return -errno;
    }
    int rc = admit(fd, why);
    if (rc == 0) rc = read_all(fd, text, len, why);
    close(fd);
    return rc;
}

static bool file_exists(void *ctx, const char *path)
{
    struct stat st;
    (void)ctx;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

const struct wb_reader wb_reader_disk = {.read = read_file, .exists = file_exists};

/* ---- a layer over the disk ---- */

static const struct wb_reader *layer;

const struct wb_reader *wb_reader_set_layer(const struct wb_reader *r)
{
    const struct wb_reader *before = layer;
    layer = r;
    return before;
}

static int read_through(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    return layer ? layer->read(layer->ctx, path, text, len, why) : read_file(ctx, path, text, len, why);
}

static bool exists_through(void *ctx, const char *path)
{
    return layer ? layer->exists(layer->ctx, path) : file_exists(ctx, path);
}

const struct wb_reader wb_reader_files = {.read = read_through, .exists = exists_through};

/* ---- searching ---- */

struct search {
    struct arena *arena;
    const struct wb_reader *reader;
    const char *name, *kind;
};

static const char *try_file(const struct search *s, const char *dir, const char *sub, const char *suffix)
{
    const char *path =
        scan_printf(s->arena, "%s%s%s%s%s%s", dir, *dir ? "/" : "", sub, *sub ? "/" : "", s->name, suffix);
    return s->reader->exists(s->reader->ctx, path) ? path : NULL;
}

/* name as a file of this folder, or name.cfg, here or in the kind's sub-folder. A bare word is never a file without
 * .cfg: the working folder may hold anything. */
static const char *try_folder(const struct search *s, const char *dir)
{
    bool file_like = strchr(s->name, '/') || strchr(s->name, '.');
    const char *found = file_like ? try_file(s, dir, "", "") : NULL;
    if (!found) found = try_file(s, dir, "", ".cfg");
    if (!found && *s->kind) found = try_file(s, dir, s->kind, ".cfg");
    if (!found && *s->kind && file_like) found = try_file(s, dir, s->kind, "");
    return found;
}

#define ROOTS 3
static struct {
    const char *path[ROOTS + 1];
    char prefix[2048], share[2048 + sizeof "/share/wakebal"];
    bool installed;
} root;
static pthread_once_t root_once = PTHREAD_ONCE_INIT;

/* "/usr/bin/wakebal" -> "/usr". */
static bool cut_words(char *path, unsigned words)
{
    for (; words; words--) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    return true;
}

static void find_roots(void)
{
    static const char build[] = WB_BUILD_DIR "/";
    ssize_t n = readlink("/proc/self/exe", root.prefix, sizeof root.prefix - 1);
    root.prefix[n > 0 ? n : 0] = '\0';
    bool built = n <= 0 || !strncmp(root.prefix, build, sizeof build - 1);
    root.installed = !built && cut_words(root.prefix, 2);
    snprintf(root.share, sizeof root.share, "%s/share/wakebal", root.prefix);
    root.installed = root.installed && !access(root.share, R_OK | X_OK);
    size_t k = 0;
    if (root.installed) root.path[k++] = root.share;
    root.path[k++] = built ? WB_SOURCE_SCENARIOS : WB_INSTALL_SCENARIOS;
    root.path[k] = built ? WB_INSTALL_SCENARIOS : WB_SOURCE_SCENARIOS;
}

const char *wb_scenario_root(size_t i)
{
    pthread_once(&root_once, find_roots);
    return i < ROOTS ? root.path[i] : NULL;
}

const char *wb_scenario_prefix(void)
{
    pthread_once(&root_once, find_roots);
    return root.installed ? root.prefix : NULL;
}

const char *find_file(struct arena *a, const struct wb_reader *reader, const char *search, bool only_folder,
                      const char *beside, const char *name, const char *kind)
{
    struct search s = {a, reader, name, kind};
    if (!*name || strlen(name) > 1024) return NULL;
    if (name[0] == '/') return try_folder(&(struct search){a, reader, name, ""}, "");
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    const char *found = try_folder(&s, slash ? scan_strdup(a, beside, (size_t)(slash - beside)) : "");
    for (const char *p = search; !found && !only_folder && p && *p;) {
        size_t n = strcspn(p, ":");
        if (n) found = try_folder(&s, scan_strdup(a, p, n));
        p += n + (p[n] == ':');
    }
    for (size_t i = 0; !found && !only_folder && wb_scenario_root(i); i++) found = try_folder(&s, wb_scenario_root(i));
    return found;
}

char *wb_scenario_find(const char *name, const char *kind)
{
    struct arena a;
    arena_init(&a, "find");
    const char *found = find_file(&a, &wb_reader_files, getenv("WAKEBAL_PATH"), false, NULL, name, kind);
    char *copy = found ? strdup(found) : NULL;
    arena_free(&a);
    return copy;
}

/* ---- listing ---- */

struct names {
    char **name;
    size_t n, cap;
};

static void list_folder(struct names *l, const char *dir, const char *kind)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, kind) >= sizeof path) return;
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        size_t len = strlen(e->d_name);
        if (e->d_name[0] == '.' || len < 5 || strcmp(e->d_name + len - 4, ".cfg")) continue;
        l->name = config_grow(l->name, l->n + 1, &l->cap, sizeof *l->name);
        l->name[l->n] = strndup(e->d_name, len - 4);
        WB_MEMORY(l->name[l->n], "out of memory");
        l->n++;
    }
    closedir(d);
}

/* By version where names hold one: linux-2.6.10 comes after linux-2.6.9. */
static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **wb_scenario_list(const char *kind, size_t *n)
{
    struct names l = {.name = NULL};
    l.name = config_grow(l.name, 1, &l.cap, sizeof *l.name);
    for (const char *p = getenv("WAKEBAL_PATH"); p && *p;) {
        size_t len = strcspn(p, ":");
        char *dir = strndup(p, len);
        WB_MEMORY(dir, "out of memory");
        list_folder(&l, dir, kind);
        free(dir);
        p += len + (p[len] == ':');
    }
    for (size_t i = 0; wb_scenario_root(i); i++) list_folder(&l, wb_scenario_root(i), kind);
    qsort(l.name, l.n, sizeof *l.name, compare_names);
    size_t kept = 0;
    for (size_t i = 0; i < l.n; i++) {
        if (kept && !strcmp(l.name[kept - 1], l.name[i]))
            free(l.name[i]);
        else
            l.name[kept++] = l.name[i];
    }
    l.name[kept] = NULL;
    *n = kept;
    return l.name;
}

void wb_scenario_list_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++) free(names[i]);
    free(names);
}

/* How a word may be meant, the surest first. */
enum { BY_RELEASE, BY_EDITS, BY_PART, BY_FIRST_WORD, WAYS };

/* Linux releases since 2.6.0 of "linux-6.8" or "6.8.3"; -1 when it is no such name. 2.6 ended with .39, 3 with .19, 4
 * with .20, 5 and 6 with .19. */
static int release_count(const char *name)
{
    static const int first[] = {[3] = 40, [4] = 60, [5] = 81, [6] = 101, [7] = 121};
    unsigned v[3] = {0};
    int end = 0;
    if (!strncmp(name, "linux-", 6)) name += 6;
    if (sscanf(name, "%2u.%2u%n", &v[0], &v[1], &end) < 2) return -1;
    if (name[end] == '.') {
        int more = 0;
        if (sscanf(name + end, ".%4u%n", &v[2], &more) < 1) return -1;
        end += more;
    }
    if (name[end]) return -1;
    if (v[0] == 2) return v[1] == 6 ? (int)v[2] : -1;
    return v[0] > 2 && v[0] < WB_ARRAY_SIZE(first) ? first[v[0]] + (int)v[1] : -1;
}

/* The kernel that is the fewest releases away, the older of two: 6.8 means linux-6.6. By edits it would be 6.1. */
static const char *nearest_release(const char *word, char **names, size_t n)
{
    int want = release_count(word), best = 0;
    const char *near = NULL;
    for (size_t i = 0; want >= 0 && i < n; i++) {
        int have = release_count(names[i]), off = abs(have - want);
        if (have < 0 || (near && (off > best || (off == best && have > want)))) continue;
        near = names[i];
        best = off;
    }
    return near;
}

/* Does a part of the name begin with the word? 2.6 and linux of linux-2.6.11, not ux. */
static bool has_part(const char *name, const char *word)
{
    for (const char *p = strstr(name, word); p; p = strstr(p + 1, word))
        if (p == name || strchr("-_.", p[-1])) return true;
    return false;
}

/* The shortest name that holds the word: 2.6.11 means linux-2.6.11. */
static const char *shortest_with(const char *word, char **names, size_t n)
{
    const char *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (has_part(names[i], word) && (!best || strlen(names[i]) < strlen(best))) best = names[i];
    return best;
}

/* The name whose part before the first hyphen is nearest: nehalm means nehalem-ep. */
static const char *nearest_first_word(const char *word, char **names, size_t n)
{
    const char *near = NULL;
    char **first = calloc(n + 1, sizeof *first);
    for (size_t i = 0; first && i < n; i++) first[i] = strndup(names[i], strcspn(names[i], "-"));
    const char *hit = first ? wb_nearest(word, (const char *const *)first, n) : NULL;
    for (size_t i = 0; hit && i < n && !near; i++)
        if (first[i] == hit) near = names[i];
    for (size_t i = 0; first && i < n; i++) free(first[i]);
    free(first);
    return near;
}

static const char *near_name(int way, const char *kind, const char *word, struct arena *a)
{
    size_t n, len = strlen(word);
    char **names = wb_scenario_list(kind, &n);
    const char *near = NULL;
    if (way == BY_RELEASE && !strcmp(kind, "kernels")) near = nearest_release(word, names, n);
    if (len < 200 && way == BY_EDITS) near = wb_nearest(word, (const char *const *)names, n);
    if (len >= 3 && way == BY_PART) near = shortest_with(word, names, n);
    if (len >= 4 && len < 200 && way == BY_FIRST_WORD && !strchr(word, '-')) near = nearest_first_word(word, names, n);
    if (near) near = scan_strdup(a, near, strlen(near));
    wb_scenario_list_free(names);
    return near;
}

const char *suggest_file(struct arena *a, const char *name, const char *kind)
{
    static const char *const scenarios[] = {"cases", "studies", "workloads"};
    bool whole = !strcmp(kind, "cases"); /* where a scenario is wanted, all that can be run by name */
    size_t kinds = whole ? WB_ARRAY_SIZE(scenarios) : 1;
    for (size_t i = 0; i < WAYS * kinds; i++) {
        const char *in = whole ? scenarios[i % kinds] : kind, *near = near_name((int)(i / kinds), in, name, a);
        if (near && !strcmp(near, name)) /* there is one, but not where it is looked for: in a manifest */
            return "the manifest does not hold this file: it is not whole, take another copy of it";
        if (near) return scan_printf(a, "did you mean '%s'?   (wakebal list %s)", near, in);
    }
    static const char *const parts[][3] = {{"machines", "machine", "-m"}, {"kernels", "kernel", "-k"}};
    for (size_t i = 0; whole && i < WAYS * WB_ARRAY_SIZE(parts); i++) {
        const char *const *p = parts[i % WB_ARRAY_SIZE(parts)];
        const char *near = near_name((int)(i / WB_ARRAY_SIZE(parts)), p[0], name, a);
        if (near) return scan_printf(a, "did you mean the %s '%s'?  Beside a scenario: %s %s", p[1], near, p[2], near);
    }
    if (whole)
        return "presets such as pipe and hog: wakebal list workloads; also wakebal list cases, list studies, or the "
               "path "
               "of a file";
    return scan_printf(a, "see `wakebal list %s`, or give the path of a file%s", kind,
                       strcmp(kind, "machines") ? "" : ", or a topology: \"pack:2 core:4 pu:1\"");
}
