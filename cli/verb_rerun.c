/*
 * verb_rerun.c - `wakebal rerun MANIFEST|STUDY`: do again what a manifest says, from the files noted in it.
 *
 * The verb is called as it was, but every output goes into one folder: a temporary one, or that of -o. With --check
 * results and outputs are then compared with what the manifest notes, sum by sum.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_format.h"
#include "plugin.h"
#include "study.h"
#include "study_cli.h"
#include "verbs.h"

static const char verb[] = "wakebal rerun";

struct rerun {
    struct cli_options o;
    bool check;
    const char *plugin; /* that may be loaded */
    json_t *manifest;
    char folder[512];
    bool own_folder; /* to be removed */
    char *word[512];
    int n;
};

enum { KEY_CHECK = 0x1000 };
static const struct argp_option own[] = {
    {"check", KEY_CHECK, NULL, 0, "Compare results and outputs with the manifest; exit code 4 when they differ", 1},
    {"policy", 'p', "FILE.so", 0, "The plug-in that the manifest asks for: it is loaded only when named here too", 1},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct rerun *r = ctx;
    if (key == 'p')
        r->plugin = arg;
    else if (key == KEY_CHECK)
        r->check = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* ------------------------------------------------------------------ the manifest */
static int refuse(const char *path, const char *why)
{
    char *name = exp_text_terminal(path, 200);
    fprintf(stderr, "%s: cannot use '%s': %s\n", verb, name, why);
    free(name);
    return EXIT_INVALID;
}

static char *text_of_study(const char *path, int *rc)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct store *s = store_open_read(path, &f);
    char *text = s ? store_fact(s, "manifest") : NULL;
    store_close(s);
    *rc = text ? EXIT_FINE : s ? refuse(path, "it holds no manifest") : study_report_fault(verb, &f);
    return text;
}

static char *text_of_file(const char *path, int *rc)
{
    char *text;
    size_t len;
    const char *why = "";
    *rc = wb_reader_disk.read(wb_reader_disk.ctx, path, &text, &len, &why) ? refuse(path, why) : EXIT_FINE;
    return *rc ? NULL : text;
}

static int read_manifest(struct rerun *r)
{
    int rc;
    const char *why;
    char *path = study_file_to_read(r->o.arg[0]);
    char *text = study_is_file(path) ? text_of_study(path, &rc) : text_of_file(path, &rc);
    if (text) {
        r->manifest = study_manifest_parse(text, &why);
        if (!r->manifest) rc = refuse(path, why);
    }
    free(text);
    free(path);
    return rc;
}

/* ------------------------------------------------------------------ the command */
/* Options that name outputs, with how the repetition gives them. */
static const struct {
    const char *option, *file;
    size_t least; /* letters of an abbreviation that getopt would take */
} outputs[] = {{"--export-json", "results.json", 10},
               {"--export-csv", "results.csv", 10},
               {"--export-markdown", "results.md", 10},
               {"--export-data", "results.dat", 10},
               {"--manifest", NULL, 5},
               {"--output", NULL, 3},
               {"--jobs", NULL, 3},
               {"--shard", NULL, 4}};

/* Index of the output option that the word is, with or without "=value"; -1: none. */
static int output_option(const char *word, bool *separate)
{
    size_t n = strcspn(word, "=");
    *separate = !word[n];
    for (size_t i = 0; i < WB_ARRAY_SIZE(outputs); i++)
        if (n >= outputs[i].least && !strncmp(word, outputs[i].option, n)) return (int)i;
    return -1;
}

static void add(struct rerun *r, const char *a, const char *b)
{
    char *text;
    WB_CHECK((size_t)r->n + 1 < WB_ARRAY_SIZE(r->word), "a command of more than %zu words", WB_ARRAY_SIZE(r->word));
    int n = asprintf(&text, "%s%s", a, b);
    WB_CHECK(n >= 0, "out of memory for a command");
    r->word[r->n++] = text;
}

static void add_letters(struct rerun *r, const char *word, int n)
{
    char *text;
    if (asprintf(&text, "%.*s", n, word) < 0) WB_MEMORY(false, "out of memory for a command");
    add(r, text, "");
    free(text);
}

static void add_in_folder(struct rerun *r, const char *option, const char *file)
{
    char *path;
    int n = asprintf(&path, "%s=%s/", option, r->folder);
    WB_CHECK(n >= 0, "out of memory for a command");
    add(r, path, file);
    free(path);
}

/* -o and -j, also behind letters that take nothing ("-qo", "file"): the rest of the word from there on; NULL:
 * neither. */
static const char *short_output(const char *w)
{
    const char *at = w[0] == '-' && w[1] != '-' ? w + 1 + strspn(w + 1, "qv") : "";
    return *at == 'o' || *at == 'j' ? at : NULL;
}

/* getopt takes --tr for --trace; --trace-format alone records nothing. */
static bool asks_trace(const char *w)
{
    size_t n = strcspn(w, "=");
    return n >= 4 && n <= strlen("--trace") && !strncmp(w, "--trace", n);
}

/* The words as they were, with outputs in the folder. */
static int build_command(struct rerun *r)
{
    const json_t *cmd = json_object_get(r->manifest, "command");
    const char *name = json_string_value(json_array_get(cmd, 0));
    bool sweep = !strcmp(name, "sweep"), separate, trace = false;
    if (!sweep && strcmp(name, "run")) return refuse(r->o.arg[0], "its command is neither run nor sweep");
    if (json_array_size(cmd) > WB_ARRAY_SIZE(r->word) - 16) return refuse(r->o.arg[0], "its command is too long");
    add(r, "wakebal ", name);
    for (size_t i = 1; i < json_array_size(cmd); i++) {
        const char *w = json_string_value(json_array_get(cmd, i)), *at = short_output(w);
        int k = output_option(w, &separate);
        trace |= asks_trace(w);
        if (k >= 0) {
            i += separate;
            if (outputs[k].file) add_in_folder(r, outputs[k].option, outputs[k].file);
        } else if (at) {
            if (at > w + 1) add_letters(r, w, (int)(at - w));
            i += !at[1];
        } else {
            add(r, w, "");
        }
    }
    if (sweep) add_in_folder(r, "--output", "study.db");
    if (trace) add_in_folder(r, "--output", "trace.txt");
    add_in_folder(r, "--manifest", "manifest.json");
    if (r->o.jobs) {
        char jobs[32];
        snprintf(jobs, sizeof jobs, "--jobs=%u", r->o.jobs);
        add(r, jobs, "");
    }
    return EXIT_FINE;
}

static int make_folder(struct rerun *r)
{
    const char *tmp = getenv("TMPDIR");
    r->own_folder = !r->o.output;
    if (r->o.output) {
        snprintf(r->folder, sizeof r->folder, "%s", r->o.output);
        if (!mkdir(r->folder, 0777) || errno == EEXIST) return EXIT_FINE;
    } else {
        snprintf(r->folder, sizeof r->folder, "%s/wakebal-rerun-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (mkdtemp(r->folder)) return EXIT_FINE;
    }
    fprintf(stderr, "%s: cannot make a folder '%.200s': %s\n", verb, r->folder, strerror(errno));
    r->own_folder = false;
    return EXIT_OUTPUT;
}

/* Only what the repetition wrote is in it. */
static void remove_folder(const struct rerun *r)
{
    char path[1024];
    DIR *d = r->own_folder ? opendir(r->folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", r->folder, e->d_name) < sizeof path && *e->d_name != '.')
            unlink(path);
    if (d) {
        closedir(d);
        rmdir(r->folder);
    }
}

/* ------------------------------------------------------------------ running and comparing */
/* While comparing, what the verb prints is not of interest; -1: not redirected. */
static int silence(const struct rerun *r)
{
    fflush(stdout);
    int kept = r->check ? dup(STDOUT_FILENO) : -1, nothing = kept >= 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
    return kept;
}

static void speak(int kept)
{
    if (kept < 0) return;
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

static int repeat(struct rerun *r)
{
    const json_t *path = json_object_get(json_object_get(r->manifest, "environment"), "WAKEBAL_PATH");
    if (json_is_string(path))
        setenv("WAKEBAL_PATH", json_string_value(path), 1);
    else
        unsetenv("WAKEBAL_PATH");
    const struct verb *v = verb_find(strchr(r->word[0], ' ') + 1);
    WB_CHECK(v, "no verb for a repetition");
    study_manifest_replay(r->manifest);
    int kept = silence(r), rc = v->run(r->n, r->word);
    speak(kept);
    study_manifest_replay(NULL);
    return rc;
}

static int compare(const struct rerun *r)
{
    char path[1024];
    int rc = EXIT_FINE;
    const char *why = "";
    size_t same;
    snprintf(path, sizeof path, "%s/manifest.json", r->folder);
    char *text = text_of_file(path, &rc);
    json_t *is = text ? study_manifest_parse(text, &why) : NULL;
    free(text);
    if (!is) return rc ? rc : refuse(path, why);
    const json_t *was_model = json_object_get(json_object_get(r->manifest, "tool"), "model"),
                 *is_model = json_object_get(json_object_get(is, "tool"), "model");
    char *differences = study_manifest_compare(r->manifest, is, &same);
    if (!json_equal(was_model, is_model))
        fprintf(stderr, "%s: the manifest is of model %s, and this is model %s\n", verb,
                json_string_value(was_model) ? json_string_value(was_model) : "unknown", json_string_value(is_model));
    if (*differences) {
        char *line = differences, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            char *safe = exp_text_terminal(line, 200);
            printf("differs: %s\n", safe);
            free(safe);
        }
        rc = EXIT_EXPECTATION;
    } else if (!same) {
        rc = refuse(r->o.arg[0], "it notes no results to compare with (the run was not finished)");
    }
    if (!rc || rc == EXIT_EXPECTATION)
        printf("%s: %zu results and outputs are the same\n", rc ? "not the same" : "same", same);
    free(differences);
    json_decref(is);
    return rc;
}

static int rerun(struct rerun *r)
{
    int rc = read_manifest(r);
    if (!rc) rc = make_folder(r);
    if (!rc) rc = build_command(r);
    if (rc) return rc;
    plugin_allow_only(r->plugin);
    rc = repeat(r);
    /* Codes of what came out (expectations, precision) are those of the original, too; others mean that it failed. */
    bool came_out = rc == EXIT_FINE || rc == EXIT_EXPECTATION || rc == EXIT_PRECISION;
    return r->check && came_out ? compare(r) : rc;
}

int verb_rerun(int argc, char **argv)
{
    struct rerun r = {.n = 0};
    const struct cli_spec spec = {
        .usage = "MANIFEST|STUDY",
        .doc = "Repeat a run or a study exactly, from the files noted in its manifest (--manifest, or the study "
               "itself), whatever became of them since.\vOutputs go into the folder of -o; without it they are "
               "compared or printed, and then removed.\n"
               "Examples:\n"
               "  wakebal run pipe --export-json r.json --manifest m.json\n"
               "  wakebal rerun m.json --check\n",
        .groups = CLI_OUTPUT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &r,
        .args_min = 1};
    cli_options_init(&r.o);
    int rc = cli_options_parse(&spec, argc, argv, &r.o);
    if (rc < 0) rc = rerun(&r);
    remove_folder(&r);
    for (int i = 0; i < r.n; i++) free(r.word[i]);
    json_decref(r.manifest);
    cli_options_free(&r.o);
    return rc;
}
