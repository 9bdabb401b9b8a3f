#include "simtest.h"

#include "registry.h"
#include "wbtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The text is the file "test.cfg"; every other path is read from the file system. */
static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    if (strcmp(path, "test.cfg")) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(ctx);
    *len = strlen(ctx);
    return *text ? 0 : -ENOMEM;
}

static bool text_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "test.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

static void give_up(const struct wb_diag *d)
{
    char *text = wb_diag_render(d, false);
    fail_msg("scenario does not load:\n%s", text);
    free(text);
}

static size_t split_sets(const char *const *sets, struct wb_override *out, char (*buf)[256])
{
    size_t n = 0;
    for (; sets && sets[n]; n++) {
        assert_true(n < 16 && strlen(sets[n]) < sizeof buf[n]);
        strcpy(buf[n], sets[n]);
        char *eq = strchr(buf[n], '=');
        assert_non_null(eq);
        *eq = 0;
        out[n] = (struct wb_override){.key = buf[n], .value = eq + 1, .from = "--set"};
    }
    return n;
}

const struct wb_policy_ops *const *simtest_policies;
const struct wb_workload_ops *const *simtest_workloads;

#define MODELS_MAX 32u

/* What is built in and what the test brings. Kept for the simulation's life, so one per process is enough. */
static const struct wb_registry *all_models(struct wb_key_registry *keys)
{
    static const struct wb_policy_ops *policies[MODELS_MAX];
    static const struct wb_workload_ops *workloads[MODELS_MAX];
    static struct wb_registry all;
    all = *cli_models();
    assert_true(all.npolicies < MODELS_MAX / 2 && all.nworkloads < MODELS_MAX / 2);
    memcpy(policies, all.policies, all.npolicies * sizeof *policies);
    memcpy(workloads, all.workloads, all.nworkloads * sizeof *workloads);
    for (size_t i = 0; simtest_policies && simtest_policies[i]; i++) {
        wb_keys_add(keys, simtest_policies[i]->keys, simtest_policies[i]->nkeys);
        policies[all.npolicies++] = simtest_policies[i];
    }
    for (size_t i = 0; simtest_workloads && simtest_workloads[i]; i++) {
        wb_keys_add(keys, simtest_workloads[i]->keys, simtest_workloads[i]->nkeys);
        workloads[all.nworkloads++] = simtest_workloads[i];
    }
    all.policies = policies;
    all.workloads = workloads;
    return &all;
}

/* t.scenario is NULL when it does not load, t.sim when models or kernel refuse what has loaded. */
static struct simtest load_and_build(const char *text, const struct wb_overrides *over,
                                     const struct wb_run_options *opt, uint32_t replication)
{
    struct simtest t = {.keys = cli_keys_new(), .diag = wb_diag_new()};
    const struct wb_registry *models = all_models(t.keys);
    struct wb_reader reader = {.read = read_text, .exists = text_exists, .ctx = (void *)(uintptr_t)text};
    struct wb_scenario_options o = {.overrides = over, .reader = &reader};
    t.scenario = wb_scenario_load_with("test.cfg", t.keys, &o, t.diag);
    if (t.scenario) t.sim = wb_sim_build(wb_scenario_config(t.scenario), models, replication, opt, t.diag);
    return t;
}

static struct simtest try_build(const char *text, const char *const *sets, const struct wb_run_options *opt,
                                uint32_t replication)
{
    struct wb_override item[16];
    char buf[16][256];
    struct wb_overrides over = {.item = item, .n = split_sets(sets, item, buf)};
    struct simtest t = load_and_build(text, &over, opt, replication);
    if (!t.scenario) give_up(t.diag);
    return t;
}

struct simtest simtest_try(const char *text, const struct wb_overrides *over, const struct wb_run_options *opt,
                           char **why)
{
    struct simtest t = load_and_build(text, over, opt, 0);
    if (t.sim) return t;
    if (why) *why = wb_diag_render(t.diag, false);
    simtest_free(&t);
    return t;
}

struct simtest simtest_build_replication(const char *text, const char *const *sets, const struct wb_run_options *opt,
                                         uint32_t replication)
{
    struct simtest t = try_build(text, sets, opt, replication);
    if (!t.sim) give_up(t.diag);
    return t;
}

char *simtest_refused(const char *text, const char *const *sets)
{
    struct simtest t = try_build(text, sets, NULL, 0);
    if (t.sim) fail_msg("this builds, but must not");
    char *said = wb_diag_render(t.diag, false);
    wb_scenario_free(t.scenario);
    wb_diag_free(t.diag);
    wb_keys_free(t.keys);
    return said;
}

struct simtest simtest_build(const char *text, const char *const *sets, const struct wb_run_options *opt)
{
    return simtest_build_replication(text, sets, opt, 0);
}

void simtest_free(struct simtest *t)
{
    wb_sim_free(t->sim);
    wb_scenario_free(t->scenario);
    wb_diag_free(t->diag);
    wb_keys_free(t->keys);
    *t = (struct simtest){0};
}

double simtest_metric(struct simtest *t, uint32_t instance, const char *name)
{
    const struct wb_metric *m = wb_result_find(wb_sim_result(t->sim), instance, name);
    if (!m) fail_msg("no metric %s of workload %d", name, (int)instance);
    return m->value;
}

uint64_t simtest_fingerprint(const char *text, const char *const *sets, const struct wb_run_options *opt)
{
    struct simtest t = simtest_build(text, sets, opt);
    (void)wb_sim_run(t.sim);
    uint64_t fp = wb_sim_result(t.sim)->fingerprint;
    simtest_free(&t);
    return fp;
}
