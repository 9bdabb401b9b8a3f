/*
 * verb_generate.c - `wakebal generate man|completion|schema DIR`: files for an installation, made from the tables of
 * the program. The build calls it; it is not in the help. `generate words KIND` answers completions, and `generate
 * json FILE` shows a file as the schema sees it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "exp_export.h"
#include "gen.h"
#include "output.h"
#include "registry.h"
#include "scan.h"

/* ------------------------------------------------------------------ what a verb says about itself */
static struct gen_verb *wanted;
static struct arena pool; /* texts of verbs that make their options while they run */

static const char *kept(const char *text)
{
    return text ? scan_strdup(&pool, text, strlen(text)) : NULL;
}

static void note(const struct cli_spec *spec, const struct argp_option *option, size_t n)
{
    wanted->spec = *spec;
    WB_CHECK(n <= GEN_OPTIONS_MAX, "%zu options", n);
    wanted->spec.usage = kept(spec->usage);
    wanted->spec.doc = kept(spec->doc);
    for (size_t i = 0; i < n; i++) {
        wanted->option[i] = option[i];
        wanted->option[i].name = kept(option[i].name);
        wanted->option[i].arg = kept(option[i].arg);
        wanted->option[i].doc = kept(option[i].doc);
    }
    wanted->n = n;
}

void gen_verb_of(const struct verb *v, struct gen_verb *out)
{
    char name[64], *args[] = {name, NULL};
    snprintf(name, sizeof name, "wakebal %s", v->name);
    *out = (struct gen_verb){.verb = v};
    wanted = out;
    cli_options_observer = note;
    int rc = v->run(1, args);
    cli_options_observer = NULL;
    WB_CHECK(rc == EXIT_FINE && out->spec.usage, "the options of '%s' could not be seen", v->name);
}

/* ------------------------------------------------------------------ files */
struct page {
    void (*write)(FILE *f);
    const struct verb *verb;
    struct wb_key_registry *keys;
};

static int write_page(FILE *f, void *ctx)
{
    const struct page *p = ctx;
    if (p->verb)
        gen_man_verb(f, p->verb);
    else if (p->keys)
        gen_man_scenario(f, p->keys);
    else
        p->write(f);
    return ferror(f) ? -EIO : 0;
}

static int put(const char *dir, const char *name, struct page *p)
{
    char path[4096];
    if (mkdir(dir, 0777) && errno != EEXIST) {
        fprintf(stderr, "wakebal generate: folder %s: %s\n", dir, strerror(errno));
        return EXIT_OUTPUT;
    }
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return out_file(path, write_page, p);
}

static int make_man(const char *dir)
{
    struct page p = {.write = gen_man_program};
    int rc = put(dir, "wakebal.1", &p);
    for (size_t i = 0; !rc && i < verb_table_n; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "wakebal-%s.1", verb_table[i].name);
        rc = put(dir, name, &(struct page){.verb = &verb_table[i]});
    }
    if (rc) return rc;
    struct wb_key_registry *keys = cli_keys_new();
    rc = put(dir, "wakebal-scenario.5", &(struct page){.keys = keys});
    wb_keys_free(keys);
    return rc;
}

static int make_completion(const char *dir)
{
    int rc = put(dir, "wakebal.bash", &(struct page){.write = gen_bash});
    if (!rc) rc = put(dir, "_wakebal", &(struct page){.write = gen_zsh});
    if (!rc) rc = put(dir, "wakebal.fish", &(struct page){.write = gen_fish});
    return rc;
}

static void write_schema(FILE *f)
{
    struct wb_key_registry *keys = cli_keys_new();
    int failed = exp_json_write(f, gen_schema(keys));
    (void)failed; /* the stream remembers it */
    wb_keys_free(keys);
}

static int make_schema(const char *dir)
{
    return put(dir, "wakebal-scenario.schema.json", &(struct page){.write = write_schema});
}

static int show_words(const char *kind)
{
    if (gen_words(stdout, kind)) return EXIT_FINE;
    return cli_usage_error("wakebal generate", NULL, "there are no words of the kind '%.60s'", kind);
}

static int show_json(const char *path)
{
    struct wb_diag *d = wb_diag_new();
    struct cli_options o = {.color = CLI_NEVER};
    json_t *doc = gen_file_json(path, d);
    int rc = cli_print_diag(&o, d);
    if (!rc && exp_json_write(stdout, json_incref(doc))) rc = EXIT_OUTPUT;
    json_decref(doc);
    wb_diag_free(d);
    return rc;
}

int verb_generate(int argc, char **argv)
{
    static const struct {
        const char *what;
        int (*run)(const char *arg);
    } list[] = {{"man", make_man},
                {"completion", make_completion},
                {"schema", make_schema},
                {"words", show_words},
                {"json", show_json}};
    struct cli_options o;
    const struct cli_spec spec = {.usage = "man|completion|schema|words|json DIR|KIND|FILE",
                                  .doc = "Make files of an installation from the tables of the program.",
                                  .args_min = 2,
                                  .args_max = 2};
    arena_init(&pool, "options");
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    for (size_t i = 0; rc < 0 && i < WB_ARRAY_SIZE(list); i++)
        if (!strcmp(o.arg[0], list[i].what)) rc = list[i].run(o.arg[1]);
    if (rc < 0) rc = cli_usage_error(argv[0], NULL, "'%.60s' cannot be made", o.arg[0]);
    cli_options_free(&o);
    arena_free(&pool);
    return rc;
}
