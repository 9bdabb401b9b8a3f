#include "study_cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "exp_export.h"
#include "exp_format.h"

const struct study_team *study_team;

int study_report_fault(const char *verb, const struct store_fault *f)
{
    char *text = exp_text_terminal(f->text, 0);
    fprintf(stderr, "%s: the study %s\n", verb, text);
    free(text);
    return f->kind == STORE_BUSY || f->kind == STORE_REFUSED ? EXIT_OUTPUT : EXIT_INVALID;
}

/* ------------------------------------------------------------------ files */
static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n && path[n - 1] == '/') || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

char *study_file(const char *verb, const char *output, const char *name, const struct workers_shard *shard)
{
    char part[64] = "";
    if (output && *output && !is_folder(output)) return wb_text("%s", output);
    if (shard && shard->n > 1) snprintf(part, sizeof part, "shard-%zu-of-%zu", shard->k, shard->n);
    if (!output || !*output) return wb_text("%s%s%s.db", name, *part ? "." : "", part);
    if (mkdir(output, 0777) && errno != EEXIST) {
        char *text = exp_text_terminal(output, 200);
        fprintf(stderr, "%s: cannot make the folder '%s': %s\n", verb, text, strerror(errno));
        free(text);
        return NULL;
    }
    const char *slash = output[strlen(output) - 1] == '/' ? "" : "/";
    return wb_text("%s%s%s.db", output, slash, *part ? part : "study");
}

char *study_file_to_read(const char *path)
{
    const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
    if (is_folder(path)) return wb_text("%s%sstudy.db", path, slash);
    return wb_text("%s", path);
}

/* ------------------------------------------------------------------ exports */
struct export_ctx {
    const struct exp_study *study;
    struct exp_export_options e;
};

static int write_json(FILE *to, void *ctx)
{
    const struct export_ctx *x = ctx;
    return exp_export_json(to, x->study->result, x->study->n, &x->e);
}
static int write_csv(FILE *to, void *ctx)
{
    const struct export_ctx *x = ctx;
    return exp_export_csv(to, x->study->result, x->study->n);
}
static int write_markdown(FILE *to, void *ctx)
{
    const struct export_ctx *x = ctx;
    return exp_export_markdown(to, x->study->result, x->study->n);
}
static int write_data(FILE *to, void *ctx)
{
    const struct export_ctx *x = ctx;
    return exp_export_data(to, x->study->result, x->study->n);
}

int study_write_exports(const struct cli_options *o, const struct exp_study *res, bool sweep, bool *to_stdout,
                        struct study_manifest *m)
{
    const struct {
        const char *option, *path;
        int (*write)(FILE *, void *);
    } list[] = {{"--export-json", o->export_json, write_json},
                {"--export-csv", o->export_csv, write_csv},
                {"--export-markdown", o->export_markdown, write_markdown},
                {"--export-data", o->export_data, write_data}};
    struct export_ctx x = {.study = res, .e = {.sweep = sweep, .keep_samples = o->keep_samples}};
    int rc = EXIT_FINE;
    for (size_t i = 0; i < WB_ARRAY_SIZE(list); i++) {
        if (!list[i].path) continue;
        *to_stdout |= !strcmp(list[i].path, "-");
        int one = out_file(list[i].path, list[i].write, &x);
        if (one)
            rc = one;
        else if (m)
            study_manifest_output(m, list[i].option, list[i].path);
    }
    return rc;
}

int study_write_manifest(const struct cli_options *o, const struct exp_study *res, struct study_manifest *m)
{
    if (!m || !o->manifest) return EXIT_FINE;
    study_manifest_results(m, res);
    char *text = study_manifest_text(m), *lines = wb_text("%s\n", text);
    int rc = out_file(o->manifest, out_put_text, lines);
    free(lines);
    free(text);
    return rc;
}
