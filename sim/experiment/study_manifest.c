#include "study_manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exp_export.h"
#include "exp_format.h"
#include "sha256.h"

#define SHIPPED "shipped:"

struct study_manifest {
    json_t *doc, *files;
    time_t started;
    struct wb_reader layer;
    const struct wb_reader *below; /* what lay over the disk before: a repetition's texts, or NULL */
};

/* ------------------------------------------------------------------ names */
/* The name under scenarios/ of a file that ships, or the path as it is; into buf of n bytes. */
static const char *portable(const char *path, char *buf, size_t n)
{
    const char *root;
    for (size_t i = 0; (root = wb_scenario_root(i)); i++) {
        size_t len = strlen(root);
        if (strncmp(path, root, len) || path[len] != '/') continue;
        snprintf(buf, n, SHIPPED "%s", path + len + 1);
        return buf;
    }
    return path;
}

static const json_t *find_file(const json_t *files, const char *path)
{
    char buf[4096];
    const char *name = portable(path, buf, sizeof buf);
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *s = json_string_value(json_object_get(json_array_get(files, i), "name"));
        if (s && !strcmp(s, name)) return json_array_get(files, i);
    }
    return NULL;
}

/* ------------------------------------------------------------------ noting */
static int note(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    struct study_manifest *m = ctx;
    char buf[4096], sum[65];
    const struct wb_reader *below = m->below ? m->below : &wb_reader_disk;
    int rc = below->read(below->ctx, path, text, len, why);
    if (rc || find_file(m->files, path)) return rc;
    char *clean = exp_text_utf8(*text); /* what the manifest can hold is what is summed */
    sha256_hex(clean, strlen(clean), sum);
    free(clean);
    json_array_append_new(m->files, json_pack("{s:o,s:s,s:o}", "name", exp_json_text(portable(path, buf, sizeof buf)),
                                              "sha256", sum, "text", exp_json_text(*text)));
    return 0;
}

static bool exists_below(void *ctx, const char *path)
{
    const struct study_manifest *m = ctx;
    const struct wb_reader *below = m->below ? m->below : &wb_reader_disk;
    return below->exists(below->ctx, path);
}

static json_t *stamp(time_t t)
{
    char buf[40];
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_string(buf);
}

static json_t *command(int argc, char **argv)
{
    const char *verb = strchr(argv[0], ' ');
    json_t *list = json_pack("[s]", verb ? verb + 1 : argv[0]);
    for (int i = 1; i < argc; i++) json_array_append_new(list, exp_json_text(argv[i]));
    return list;
}

struct study_manifest *study_manifest_open(int argc, char **argv, const char *model)
{
    struct study_manifest *m = calloc(1, sizeof *m);
    char host[65] = "";
    WB_MEMORY(m, "out of memory for a manifest");
    gethostname(host, sizeof host - 1);
    m->started = time(NULL);
    m->files = json_array();
    m->doc = json_pack("{s:s,s:{s:s,s:s,s:o},s:o,s:{s:o},s:o}", "schema", "wakebal.manifest/1", "tool", "name",
                       "wakebal", "version", WB_VERSION, "model", exp_json_text(model), "command", command(argc, argv),
                       "environment", "WAKEBAL_PATH", exp_json_text(getenv("WAKEBAL_PATH")), "files", m->files);
    WB_CHECK(m->doc, "a manifest could not be made");
    json_object_set_new(m->doc, "results", json_array());
    json_object_set_new(m->doc, "outputs", json_array());
    json_object_set_new(m->doc, "host", exp_json_text(host));
    json_object_set_new(m->doc, "started", stamp(m->started));
    m->layer = (struct wb_reader){.read = note, .exists = exists_below, .ctx = m};
    m->below = wb_reader_set_layer(&m->layer);
    return m;
}

void study_manifest_close(struct study_manifest *m)
{
    if (!m) return;
    wb_reader_set_layer(m->below);
    json_decref(m->doc);
    free(m);
}

void study_manifest_results(struct study_manifest *m, const struct exp_study *res)
{
    json_t *list = json_array();
    for (size_t i = 0; i < res->n; i++) {
        const struct exp_result *r = res->result[i];
        char mark[24];
        if (!r) continue;
        snprintf(mark, sizeof mark, "%016" PRIx64, r->fingerprint);
        json_array_append_new(list, json_pack("{s:o,s:s,s:s,s:I,s:s}", "label", exp_json_text(r->label), "id", r->id,
                                              "scenario_sha256", r->sha256, "replications", (json_int_t)r->replications,
                                              "fingerprint", mark));
    }
    json_object_set_new(m->doc, "results", list);
}

static bool sum_file(const char *path, char sum[65])
{
    FILE *f = fopen(path, "re");
    char *all = NULL, buf[8192];
    size_t len = 0, got;
    if (!f) return false;
    while ((got = fread(buf, 1, sizeof buf, f)) > 0) {
        all = realloc(all, len + got);
        WB_MEMORY(all, "out of memory for the sum of an output");
        memcpy(all + len, buf, got);
        len += got;
    }
    bool fine = !ferror(f);
    fclose(f);
    sha256_hex(all ? all : "", len, sum);
    free(all);
    return fine;
}

void study_manifest_output(struct study_manifest *m, const char *option, const char *path)
{
    char sum[65];
    if (!path || !strcmp(path, "-") || !sum_file(path, sum)) return;
    json_array_append_new(json_object_get(m->doc, "outputs"),
                          json_pack("{s:s,s:o,s:s}", "option", option, "file", exp_json_text(path), "sha256", sum));
}

char *study_manifest_text(const struct study_manifest *m)
{
    json_object_set_new(m->doc, "ended", stamp(time(NULL)));
    char *text = json_dumps(m->doc, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    WB_CHECK(text, "a manifest could not become text");
    return text;
}

/* ------------------------------------------------------------------ repeating */
static const char *check_files(const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);
        const char *sum = json_string_value(json_object_get(f, "sha256"));
        const json_t *text = json_object_get(f, "text");
        char is[65];
        if (!json_string_value(json_object_get(f, "name")) || !sum || !json_is_string(text))
            return "a file in it lacks its name, sum or text";
        sha256_hex(json_string_value(text), json_string_length(text), is);
        if (strcmp(is, sum)) return "a file in it is not the one that was read (its sum differs)";
    }
    return json_array_size(files) ? NULL : "it holds no files";
}

json_t *study_manifest_parse(const char *text, const char **why)
{
    json_error_t e;
    json_t *o = json_loads(text, JSON_ALLOW_NUL, &e);
    const char *schema = json_string_value(json_object_get(o, "schema"));
    const json_t *cmd = json_object_get(o, "command");
    *why = !o                                                ? "it is no JSON"
           : !schema || strcmp(schema, "wakebal.manifest/1") ? "it is no manifest of schema wakebal.manifest/1"
           : !json_string_value(json_array_get(cmd, 0))      ? "it holds no command"
                                                             : check_files(json_object_get(o, "files"));
    for (size_t i = 0; !*why && i < json_array_size(cmd); i++)
        if (!json_is_string(json_array_get(cmd, i))) *why = "its command is not made of words";
    if (!*why) return o;
    json_decref(o);
    return NULL;
}

static int read_noted(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const json_t *f = find_file(ctx, path), *t = json_object_get(f, "text");
    if (!t) {
        *why = "the manifest does not hold it";
        return -2; /* ENOENT */
    }
    *len = json_string_length(t);
    *text = malloc(*len + 1);
    WB_MEMORY(*text, "out of memory for a file of a manifest");
    memcpy(*text, json_string_value(t), *len + 1);
    return 0;
}

static bool is_noted(void *ctx, const char *path)
{
    return find_file(ctx, path) != NULL;
}

void study_manifest_replay(const json_t *manifest)
{
    static struct wb_reader noted;
    noted = (struct wb_reader){.read = read_noted, .exists = is_noted, .ctx = json_object_get(manifest, "files")};
    wb_reader_set_layer(manifest ? &noted : NULL);
}

/* ------------------------------------------------------------------ comparing */
static const json_t *same_entry(const json_t *list, const char *key, const json_t *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_object_get(json_array_get(list, i), key), name)) return json_array_get(list, i);
    return NULL;
}

struct differ {
    const char *list, *name, *word;
    const char *key[4]; /* what must be equal */
    bool whole;         /* more than there were is a difference, too */
};

static void compare_lists(FILE *out, const json_t *was, const json_t *is, const struct differ *d, size_t *same)
{
    const json_t *a = json_object_get(was, d->list), *b = json_object_get(is, d->list);
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *x = json_array_get(a, i), *name = json_object_get(x, d->name), *y = same_entry(b, d->name, name);
        const char *text = json_string_value(name) && *json_string_value(name) ? json_string_value(name) : "the run";
        size_t before = *same;
        *same += y != NULL;
        if (!y) fprintf(out, "%s '%s' is missing\n", d->word, text);
        for (size_t k = 0; y && k < WB_ARRAY_SIZE(d->key) && d->key[k]; k++) {
            if (json_equal(json_object_get(x, d->key[k]), json_object_get(y, d->key[k]))) continue;
            fprintf(out, "%s '%s': another %s\n", d->word, text, d->key[k]);
            *same = before;
            break;
        }
    }
    if (d->whole && json_array_size(b) > json_array_size(a))
        fprintf(out, "%zu more of %s than there were\n", json_array_size(b) - json_array_size(a), d->list);
}

char *study_manifest_compare(const json_t *was, const json_t *is, size_t *same)
{
    static const struct differ part[] = {
        {"results", "label", "result", {"scenario_sha256", "replications", "fingerprint", "id"}, true},
        {"outputs", "option", "output of", {"sha256"}, false}};
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    WB_MEMORY(out, "out of memory for a comparison");
    *same = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) compare_lists(out, was, is, &part[i], same);
    fclose(out);
    WB_MEMORY(text, "out of memory for a comparison");
    return text;
}
