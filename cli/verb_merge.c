/* verb_merge.c - `wakebal merge STUDY...`: join the shards of a study into one file. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "exp_format.h"
#include "store.h"
#include "study_cli.h"
#include "verbs.h"

static const char verb[] = "wakebal merge";

struct merge {
    struct cli_options o;
    char **file; /* to be read */
    size_t n;
    char *to;
};

static void add(struct merge *m, const char *folder, const char *name)
{
    char *path;
    int n = folder ? asprintf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name)
                   : asprintf(&path, "%s", name);
    m->file = realloc(m->file, (m->n + 1) * sizeof *m->file);
    WB_MEMORY(n >= 0 && m->file, "out of memory for file names");
    m->file[m->n++] = path;
}

static int is_shard(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return !strncmp(e->d_name, "shard-", 6) && n > 3 && !strcmp(e->d_name + n - 3, ".db");
}

/* A folder stands for the shards in it. */
static int gather(struct merge *m)
{
    for (size_t i = 0; i < m->o.arg_n; i++) {
        struct stat st;
        struct dirent **list;
        const char *arg = m->o.arg[i];
        if (stat(arg, &st) || !S_ISDIR(st.st_mode)) {
            add(m, NULL, arg);
            continue;
        }
        int n = scandir(arg, &list, is_shard, alphasort);
        for (int k = 0; k < n; k++) {
            add(m, arg, list[k]->d_name);
            free(list[k]);
        }
        if (n > 0) free(list);
        if (!m->to) m->to = study_file(verb, arg, "study", NULL);
        if (n <= 0) return cli_usage_error(verb, NULL, "'%.200s' holds no shard-K-of-N.db", arg);
    }
    if (m->o.output) {
        free(m->to);
        m->to = study_file(verb, m->o.output, "study", NULL);
    }
    if (m->to) return EXIT_FINE;
    return cli_usage_error(verb, "For example: wakebal merge -o study.db shard1.db shard2.db", "-o is missing");
}

/* Name and model come from the first shard; the others have to agree. */
static int merge_one(const char *path, const char *target, struct store **to, size_t *copied, struct store_fault *f)
{
    struct store *from = store_open_read(path, f);
    int rc = from ? 0 : -1;
    if (!rc && !*to) {
        char *name = store_fact(from, "name"), *model = store_fact(from, "model");
        *to = store_open_write(target, name ? name : "", model ? model : "", f);
        free(name);
        free(model);
        rc = *to ? 0 : -1;
    }
    if (!rc) rc = store_merge(*to, from, copied, f);
    store_close(from);
    return rc;
}

static int merge(struct merge *m)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct store *to = NULL;
    size_t copied, all = 0;
    int rc = gather(m);
    if (rc) return rc;
    for (size_t i = 0; i < m->n && !rc; i++) {
        struct stat a, b;
        if (!stat(m->file[i], &a) && !stat(m->to, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev) continue;
        rc = merge_one(m->file[i], m->to, &to, &copied, &f);
        if (!rc) all += copied;
    }
    if (rc) rc = study_report_fault(verb, &f);
    if (!rc && to && !m->o.quiet) {
        char *name = exp_text_terminal(m->to, 200);
        printf(
            "%zu runs from %zu files, of which %zu were new, are in %s.\nThe sweep's command with -o %s runs what is "
            "missing and exports.\n",
            store_count_all(to), m->n, all, name, name);
        free(name);
    }
    store_close(to);
    return rc;
}

int verb_merge(int argc, char **argv)
{
    struct merge m = {.n = 0};
    const struct cli_spec spec = {
        .usage = "STUDY...|FOLDER",
        .doc = "Join the shards of a study into one file, which may exist already. Shards are left as they are.\v"
               "A FOLDER stands for the shard-K-of-N.db in it, and study.db in it is the result.\n"
               "Examples:\n"
               "  wakebal merge study/\n"
               "  wakebal merge -o all.db one.db two.db\n",
        .groups = CLI_OUTPUT,
        .args_min = 1,
        .args_max = SIZE_MAX};
    cli_options_init(&m.o);
    int rc = cli_options_parse(&spec, argc, argv, &m.o);
    if (rc < 0) rc = merge(&m);
    for (size_t i = 0; i < m.n; i++) free(m.file[i]);
    free(m.file);
    free(m.to);
    cli_options_free(&m.o);
    return rc;
}
