/*
 * fuzz_study.c - bytes as the texts of a study: a run's layout and body, a point's description, a manifest.
 *
 * The texts stand one after the other, each ended by a zero byte. What can be read as a run is written again and read
 * back to the same texts.
 */
/* wb-link: wb_experiment wb_kernel wb_scenario wb_machine wb_measure wb_core */
#include <stdlib.h>
#include <string.h>

#include "store_rep.h"
#include "study_about.h"
#include "study_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_run(const char *layout, const char *body)
{
    struct exp_rep rep, again;
    char *l, *b, *l2, *b2;
    if (store_rep_read(layout, body, 1, &rep)) return;
    store_rep_write(&rep, &l, &b);
    WB_CHECK(!store_rep_read(l, b, 1, &again), "what was written cannot be read");
    store_rep_write(&again, &l2, &b2);
    WB_CHECK(!strcmp(l, l2) && !strcmp(b, b2), "a run changes when it is written");
    exp_rep_free(&rep);
    exp_rep_free(&again);
    free(l);
    free(b);
    free(l2);
    free(b2);
}

static void try_about(const char *about, const char *judgement)
{
    struct exp_result *res = exp_result_new();
    struct study_about a;
    struct study_judgement j;
    if (!study_about_read(about, res, &a)) WB_CHECK(a.min > 0 && a.max > 0, "a goal of nothing");
    study_about_free(&a);
    if (!study_judgement_read(judgement, &j)) WB_CHECK(j.stopped, "stopped by nothing");
    exp_result_free(res);
}

static void try_manifest(const char *text)
{
    const char *why;
    size_t same;
    json_t *m = study_manifest_parse(text, &why);
    if (!m) return;
    char *differences = study_manifest_compare(m, m, &same);
    free(differences);
    json_decref(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 2);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = text[size + 1] = 0;
    const char *second = text + strlen(text) + 1;
    if (second > text + size) second = text + size;
    try_run(text, second);
    try_about(text, second);
    try_manifest(text);
    free(text);
    return 0;
}
