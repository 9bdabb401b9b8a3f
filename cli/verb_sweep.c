/*
 * verb_sweep.c - `wakebal sweep SCENARIO`: a study that survives anything.
 *
 * Every run that is finished is in the study's file (store.h). The same command goes on where the last one stopped,
 * runs only what is missing and exports the same bytes as if nothing had happened. With --shard K/N it does its share
 * and leaves joining to `wakebal merge`. Under wakebal-mpi every rank is a shard; rank 0 joins and reports.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_costs.h"
#include "exp_format.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "run_parts.h"
#include "study.h"
#include "study_cli.h"
#include "verbs.h"

struct sweep {
    struct cli_options o;
    int argc;
    char **argv;
    bool list;
    const char *commands; /* --list=N */
    struct workers_shard shard;
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct wb_scenario *s;
    struct wb_axes *axes;
    struct exp_points *points;
    size_t *place;
    char *model, *path;
    struct study_manifest *manifest;
    struct study *study;
    struct exp_study *result;
    struct out_progress progress;
};

enum { KEY_SHARD = 0x1000, KEY_LIST };
static const struct argp_option own[] = {
    {"shard", KEY_SHARD, "K/N", 0, "Run only the K-th of N shares, into a file of its own (wakebal merge joins)", 3},
    {"list", KEY_LIST, "N", OPTION_ARG_OPTIONAL,
     "List the runs and stop; with =N the commands of N shards and the one that joins them", 3},
    {0},
};

static const char verb[] = "wakebal sweep";

/* 1 to 100000; 0: no such number. */
static long shards_of(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    long n = digits && digits <= 6 && !text[digits] ? strtol(text, NULL, 10) : 0;
    return n <= 100000 ? n : 0;
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct sweep *w = ctx;
    const char *why;
    switch (key) {
    case KEY_SHARD:
        why = workers_shard_parse(arg, &w->shard);
        if (!why) return 0;
        cli_usage_error(verb, "For example: --shard 3/8", "--shard '%.60s': %s", arg, why);
        return EINVAL;
    case KEY_LIST:
        w->list = true;
        w->commands = arg;
        if (!arg || shards_of(arg)) return 0;
        cli_usage_error(verb, "For example: --list=8", "--list=%.60s: N is a number from 1 to 100000", arg);
        return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* -1 = go on, else the exit code. */
static int read_options(struct sweep *w)
{
    struct cli_spec spec = {
        .usage = "SCENARIO",
        .doc = "Run a study: every point of the axes, replicated until precise. Finished runs are kept in one file "
               "(-o; by default NAME.db here): after a kill, a crash or Ctrl-C the same command goes on.\v"
               "Examples:\n"
               "  wakebal sweep ia64-page-size-cpus -o study/\n"
               "  wakebal sweep pipe --vary workload.message=1KiB..64KiB*4 -r 5 -o pipe.db --export-csv pipe.csv\n"
               "  wakebal sweep pipe.cfg -o study/ --shard $SLURM_ARRAY_TASK_ID/8     then: wakebal merge study/\n",
        .groups = CLI_SCENARIO | CLI_MEASURE | CLI_SWEEP | CLI_EXPORT | CLI_RUNS | CLI_OUTPUT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = w,
        .missing = "For example: wakebal sweep pipe --vary workload.message=4KiB,64KiB -o pipe.db.  "
                   "Options: wakebal sweep --help",
        .args_min = 1};
    int rc = cli_options_parse(&spec, w->argc, w->argv, &w->o);
    if (rc >= 0) return rc;
    const struct cli_options *o = &w->o;
    if (w->shard.n > 1 && (o->export_json || o->export_csv || o->export_markdown || o->export_data || o->fail_if_n))
        return cli_usage_error(verb, "Join the shards first (wakebal merge), then give the command without --shard",
                               "a shard has no results of its own to export or to judge");
    if (w->shard.n > 1 && study_team) return cli_usage_error(verb, NULL, "ranks are shards already: no --shard here");
    rc = preflight_fail_if(o, NULL);
    return rc ? rc : -1;
}

/* ------------------------------------------------------------------ preparing */
static int make_axes(struct sweep *w)
{
    const struct cli_options *o = &w->o;
    struct wb_place nowhere = {0};
    int bad = 0;
    w->axes = wb_axes_new(w->keys);
    for (size_t i = 0; i < o->vary_n; i++) bad |= wb_axes_add(w->axes, o->vary[i], nowhere, w->d);
    bad |= wb_axes_add_config(w->axes, wb_scenario_config(w->s), w->d);
    for (size_t i = 0; i < o->zip_n; i++) bad |= wb_axes_zip(w->axes, o->zip[i], nowhere, w->d);
    for (size_t i = 0; i < o->where_n; i++) bad |= wb_axes_where(w->axes, o->where[i], nowhere, w->d);
    return bad ? EXIT_INVALID : EXIT_FINE;
}

static int prepare(struct sweep *w)
{
    struct wb_overrides over = cli_overrides(&w->o);
    w->model = study_model_with(w->o.plugin);
    if (!w->model) return cli_usage_error(verb, NULL, "cannot read '%.200s'", w->o.plugin);
    w->manifest = study_manifest_open(w->argc, w->argv, w->model);
    w->s = wb_scenario_load(w->o.arg[0], w->keys, &over, w->d);
    if (!w->s) {
        preflight_more(w->o.arg[0], w->keys, &over, w->d);
        return EXIT_INVALID;
    }
    int rc = make_axes(w);
    if (rc) return rc;
    w->points = exp_points_new(w->s, w->axes, w->d);
    if (!w->points) return EXIT_INVALID;
    if (w->points->n) return EXIT_FINE;
    return cli_usage_error(verb, "Relax --where, or the scenario's sweep.where",
                           "no point is left: all %zu fail a `where`", w->points->left_out);
}

/* What only the models and the results know, and whether files can be written: before hours are spent. */
static int look_ahead(struct sweep *w)
{
    const struct cli_options *o = &w->o;
    bool own_axes = !o->vary_n && !o->where_n && !o->zip_n && !o->set_n && !o->machine && !o->kernel;
    struct exp_check *k = preflight_points(w->points, own_axes, w->d);
    int rc = wb_diag_count(w->d, WB_ERROR) ? EXIT_INVALID : EXIT_FINE, bad = preflight_fail_if(o, k);
    exp_check_free(k);
    if (rc || bad) return rc ? rc : bad;
    const char *const more[] = {NULL}, *const inputs[] = {wb_scenario_path(w->s), NULL};
    return preflight_outputs(verb, o, more, inputs);
}

static int print_config(const struct sweep *w)
{
    char *text = wb_cfg_print(wb_scenario_config(w->s));
    WB_CHECK(text, "out of memory for the configuration");
    fputs(text, stdout);
    free(text);
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ --list, --dry-run */
static void print_word(const char *word)
{
    bool plain = *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                            "_-+=:,./%@")] == 0;
    if (plain) {
        printf(" %s", word);
        return;
    }
    fputs(" '", stdout);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, stdout);
    putchar('\'');
}

/* One line a shard, for GNU parallel or a batch system, and the command that joins. */
static int list_commands(const struct sweep *w)
{
    long n = shards_of(w->commands);
    for (long k = 1; k <= n; k++) {
        fputs(verb, stdout);
        for (int i = 1; i < w->argc; i++)
            if (strncmp(w->argv[i], "--list", 6)) print_word(w->argv[i]);
        if (!w->o.output) print_word("-o"), print_word("study/");
        printf(" --shard %ld/%ld\n", k, n);
    }
    fputs("# when all are done: wakebal merge", stdout);
    print_word(w->o.output ? w->o.output : "study/");
    putchar('\n');
    return EXIT_FINE;
}

static int list_runs(struct sweep *w)
{
    size_t n;
    if (w->commands) return list_commands(w);
    workers_shard_survey(&w->shard, w->points);
    if (w->shard.n > 1) workers_shard_points(&w->shard, w->points, &w->place);
    struct exp_task_id *id = workers_shard_runs(&w->shard, w->points, w->place, &n);
    for (size_t i = 0; i < n; i++) {
        const char *label = w->points->label[id[i].point];
        char *text = exp_text_terminal(*label ? label : wb_scenario_name(w->s), 0);
        size_t place = w->place ? w->place[id[i].point] : id[i].point;
        printf("%zu\treplication %u\tpoint %zu\t%s\n", i + 1, id[i].replication, place, text);
        free(text);
    }
    free(id);
    if (!w->shard.fixed && !w->o.quiet)
        fprintf(stderr, "%s: these are sure; more follow where an interval is too wide\n", verb);
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ running */
static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct sweep *)ctx)->progress, now);
}

static struct exp_options run_options(struct sweep *w)
{
    bool one = study_team && !w->o.jobs; /* ranks fill the machine already */
    return (struct exp_options){.registry = cli_models(),
                                .jobs = one ? 1 : w->o.jobs,
                                .stop = &out_stop,
                                .progress = on_progress,
                                .ctx = w,
                                .keeper = study_keeper(w->study)};
}

static int open_study(struct sweep *w, const char *base)
{
    struct store_fault f = {.kind = STORE_FINE};
    const struct study_options so = {.path = w->path, .base = base, .name = wb_scenario_name(w->s), .model = w->model};
    w->study = study_open(&so, &f);
    return w->study ? EXIT_FINE : study_report_fault(verb, &f);
}

/* Where every cost comes from: reports show it long after the files have changed. */
static int note_costs(struct sweep *w, struct store_fault *f)
{
    json_t *costs = exp_costs_of_points(w->points->point, w->points->n);
    char *text = json_dumps(costs, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(costs);
    WB_MEMORY(text, "out of memory for the costs of a study");
    int rc = store_set_fact(study_store(w->study), "costs", text, f);
    free(text);
    return rc;
}

/* Warm-up times are part of a point's identity, so they are found before points are written down. */
static int register_points(struct sweep *w, const struct exp_options *opt)
{
    struct store_fault f = {.kind = STORE_FINE};
    if (exp_points_warmup(w->points, w->s, opt, w->d)) {
        if (study_settle(w->study)) return study_report_fault(verb, study_fault(w->study));
        return out_stop ? EXIT_FINE : EXIT_INVALID;
    }
    if (out_stop) return EXIT_FINE;
    char *text = study_manifest_text(w->manifest);
    int rc = store_set_fact(study_store(w->study), "manifest", text, &f);
    free(text);
    if (!rc) rc = note_costs(w, &f);
    if (!rc) rc = study_register(w->study, w->points->point, w->points->n, w->place, &f);
    return rc ? study_report_fault(verb, &f) : EXIT_FINE;
}

/* What is kept, before the study is told that it is complete. */
static int judge(struct sweep *w)
{
    struct store_fault f = {.kind = STORE_FINE};
    if (study_judge(w->study, w->points->point, w->result, &f)) return study_report_fault(verb, &f);
    study_manifest_results(w->manifest, w->result);
    char *text = study_manifest_text(w->manifest);
    int rc = store_set_fact(study_store(w->study), "manifest", text, &f);
    free(text);
    return rc ? study_report_fault(verb, &f) : EXIT_FINE;
}

static int run_all(struct sweep *w)
{
    struct exp_options opt = run_options(w);
    out_progress_init(&w->progress, &w->o, "points");
    int rc = register_points(w, &opt);
    if (!rc && !out_stop) {
        w->result = exp_run(w->points->point, w->points->n, &opt, w->d);
        if (!w->result) rc = EXIT_INVALID;
    }
    out_progress_end(&w->progress);
    if (rc || !w->result) return rc;
    if (study_settle(w->study)) return study_report_fault(verb, study_fault(w->study));
    return judge(w);
}

static int run_share(struct sweep *w)
{
    size_t n = 0, done = 0, points = w->points->n;
    struct exp_options opt = run_options(w);
    workers_shard_survey(&w->shard, w->points);
    workers_shard_points(&w->shard, w->points, &w->place);
    out_progress_init(&w->progress, &w->o, "points");
    int rc = register_points(w, &opt);
    if (!rc && !out_stop && w->shard.fixed) {
        struct exp_task_id *id = workers_shard_runs(&w->shard, w->points, w->place, &n);
        int bad = exp_run_some(w->points->point, w->points->n, id, n, &opt, &done, w->d);
        free(id);
        if (bad == -1) rc = EXIT_INVALID;
    } else if (!rc && !out_stop) {
        w->result = exp_run(w->points->point, w->points->n, &opt, w->d);
        if (!w->result) rc = EXIT_INVALID;
        for (size_t i = 0; w->result && i < w->result->n; i++)
            done += w->result->result[i] ? w->result->result[i]->replications : 0;
    }
    out_progress_end(&w->progress);
    if (study_settle(w->study)) return study_report_fault(verb, study_fault(w->study));
    if (!rc && !study_team && !w->o.quiet)
        printf("shard %zu/%zu of %zu points: %zu runs are in %s%s\n", w->shard.k, w->shard.n, points, done, w->path,
               out_stop ? " (interrupted; the same command goes on)" : "");
    return rc ? rc : out_stop ? out_stop_exit_code() : EXIT_FINE;
}

/* ------------------------------------------------------------------ reporting */
static bool goal_missed(const struct exp_study *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->result[i] && !s->result[i]->goal_reached) return true;
    return false;
}

static int say_interrupted(const struct sweep *w)
{
    const struct exp_study *s = w->result;
    size_t known = 0, least = SIZE_MAX;
    double widest = 0;
    for (size_t i = 0; s && i < s->n; i++) {
        const struct exp_result *r = s->result[i];
        if (!r) continue;
        known++;
        least = WB_MIN(least, r->replications);
        if (r->half_width > widest) widest = r->half_width;
    }
    fprintf(stderr, "%s: interrupted: %zu/%zu points have at least %zu replication%s", verb, known, w->points->n,
            known ? least : 0, known && least == 1 ? "" : "s");
    if (widest > 0 && widest < 1e6) fprintf(stderr, "; widest interval %.2g %%", 100 * widest);
    fprintf(stderr, ". Continue with the same command.\n");
    return out_stop_exit_code();
}

static int report(struct sweep *w)
{
    bool data_on_stdout = false;
    struct run_facts facts = {.known = false};
    struct run_view v = {.o = &w->o, .scenario = w->o.arg[0], .study = w->result, .points = w->points, .facts = &facts};
    if (!w->result || w->result->interrupted) return say_interrupted(w);
    if (w->o.export_json) exp_costs_attach(w->result, w->points->point);
    int rc = study_write_exports(&w->o, w->result, true, &data_on_stdout, w->manifest);
    if (!rc) rc = study_write_manifest(&w->o, w->result, w->manifest);
    bool one = w->result->n == 1 && !wb_axes_count(w->axes);
    if (!data_on_stdout) (one ? run_print_summary : run_print_sweep)(&v);
    if (!data_on_stdout && !w->o.quiet) {
        printf("\n");
        out_line(stdout, "Saved %s.  Try: wakebal compare %s OTHER.db", w->path, w->path);
    }
    if (rc) return rc;
    rc = run_check_expectations(&v, w->d);
    return rc ? rc : goal_missed(w->result) ? EXIT_PRECISION : EXIT_FINE;
}

/* ------------------------------------------------------------------ ranks */
static char *part_path(const char *whole, int rank, int size)
{
    char *path;
    int n = asprintf(&path, "%s.rank-%d-of-%d", whole, rank, size);
    WB_CHECK(n >= 0, "out of memory for a file name");
    return path;
}

static int join_part(struct sweep *w, const char *path, struct store_fault *f)
{
    size_t copied;
    /* For writing: a rank that is still at work on it must not lose its file. */
    struct store *s = store_open_write(path, wb_scenario_name(w->s), w->model, f);
    int rc = s ? store_merge(study_store(w->study), s, &copied, f) : -1;
    store_close(s);
    if (!rc) unlink(path);
    return rc;
}

/* Take over what ranks have left, this time or before they were killed, however many there were; then their files may
 * go. */
static int join_parts(struct sweep *w)
{
    struct store_fault f = {.kind = STORE_FINE};
    WB_CHECK(w->path, "parts of a study that has no file");
    const char *slash = strrchr(w->path, '/'), *name = slash ? slash + 1 : w->path;
    char *folder = slash ? strndup(w->path, (size_t)(slash - w->path + 1)) : strdup("./");
    DIR *d = folder ? opendir(folder) : NULL;
    size_t n = strlen(name);
    int rc = 0;
    for (struct dirent *e; d && !rc && (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        char *part;
        if (strncmp(e->d_name, name, n) || strncmp(e->d_name + n, ".rank-", 6) || strchr("lk", e->d_name[len - 1]))
            continue; /* lock files and journals of parts are no parts */
        if (asprintf(&part, "%s%s", folder, e->d_name) < 0) WB_MEMORY(false, "out of memory for a file name");
        rc = join_part(w, part, &f);
        free(part);
    }
    if (d) closedir(d);
    free(folder);
    return rc ? study_report_fault(verb, &f) : EXIT_FINE;
}

static void drop_study(struct sweep *w)
{
    study_close(w->study);
    w->study = NULL;
}

/* Rank 0 makes the file, or brings it up to date, before the others read it. */
static int begin_team(struct sweep *w)
{
    int rc = EXIT_FINE;
    if (study_team->rank == 0) {
        rc = open_study(w, NULL);
        if (!rc) rc = join_parts(w);
        drop_study(w);
    }
    return study_team->agree(rc);
}

static int work_in_team(struct sweep *w)
{
    char *whole = w->path;
    int rc;
    w->path = part_path(whole, study_team->rank, study_team->size);
    w->shard = (struct workers_shard){.k = (size_t)study_team->rank + 1, .n = (size_t)study_team->size};
    rc = open_study(w, whole);
    if (!rc) rc = run_share(w);
    drop_study(w);
    free(w->path);
    w->path = whole;
    exp_study_free(w->result);
    w->result = NULL;
    exp_points_free(w->points);
    free(w->place);
    w->place = NULL;
    w->points = exp_points_new(w->s, w->axes, w->d);
    return w->points ? rc : EXIT_INTERNAL;
}

/* All ranks return the same code; only rank 0 has reported. */
static int run_team(struct sweep *w)
{
    study_team->speak();
    int rc = begin_team(w);
    if (rc) return rc;
    rc = study_team->agree(work_in_team(w));
    if (rc && rc < 128) return rc;
    w->shard = (struct workers_shard){.k = 1, .n = 1};
    if (study_team->rank == 0) {
        rc = open_study(w, NULL);
        if (!rc) rc = join_parts(w);
        if (!rc) rc = run_all(w);
        if (!rc) rc = report(w);
    }
    return study_team->agree(study_team->rank ? EXIT_FINE : rc);
}

static int run(struct sweep *w)
{
    int rc = prepare(w);
    if (rc) return rc;
    if (w->o.print_config) return print_config(w);
    if (w->list || w->o.dry_run) return list_runs(w);
    bool team = study_team && study_team->size > 1;
    rc = look_ahead(w);
    if (!rc) rc = preflight_output_name(verb, w->o.output, true);
    if (!rc) w->path = study_file(verb, w->o.output, wb_scenario_name(w->s), &w->shard);
    if (!rc && !w->path) rc = EXIT_OUTPUT;
    if (!rc) rc = preflight_spare(verb, &w->o, w->path);
    if (team) rc = study_team->agree(rc); /* disks of ranks may differ */
    if (rc) return rc;
    out_catch_signals();
    if (team) return run_team(w);
    rc = open_study(w, NULL);
    if (rc) return rc;
    if (w->shard.n > 1) return run_share(w);
    rc = run_all(w);
    return rc ? rc : report(w);
}

int verb_sweep(int argc, char **argv)
{
    struct sweep w = {.argc = argc, .argv = argv, .shard = {.k = 1, .n = 1}};
    cli_options_init(&w.o);
    int rc = read_options(&w);
    if (rc < 0) {
        w.keys = cli_keys_new();
        w.d = wb_diag_new();
        rc = run(&w);
        int bad = study_team && study_team->rank ? EXIT_FINE : cli_print_diag(&w.o, w.d);
        if (!rc) rc = bad;
        exp_study_free(w.result);
        study_close(w.study);
        exp_points_free(w.points);
        wb_axes_free(w.axes);
        wb_scenario_free(w.s);
        study_manifest_close(w.manifest);
        wb_diag_free(w.d);
        wb_keys_free(w.keys);
        free(w.place);
        free(w.model);
        free(w.path);
    }
    cli_options_free(&w.o);
    return rc;
}
