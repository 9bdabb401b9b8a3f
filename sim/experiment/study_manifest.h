/*
 * study_manifest.h - what it takes to repeat a run or a study: the command, every file that was read, what came out.
 *
 * While a manifest is open, every scenario file that is read is noted with its text. Files that ship with wakebal are
 * noted by their name under scenarios/, so that a manifest can be repeated on another machine. A repetition reads the
 * noted texts and nothing else.
 *
 * Results and sums of outputs are what a repetition is compared by. Host and times are there for people.
 *
 * One at a time per process: the reader layer is the process's.
 */
#ifndef WB_EXPERIMENT_STUDY_MANIFEST_H
#define WB_EXPERIMENT_STUDY_MANIFEST_H

#include <jansson.h>
#include <stdio.h>

#include "exp_run.h"

struct study_manifest;

/* Begin to note what is read. argv: "wakebal VERB" and its arguments, copied; model: study_model_with(). */
struct study_manifest *study_manifest_open(int argc, char **argv, const char *model);
void study_manifest_close(struct study_manifest *m);
void study_manifest_results(struct study_manifest *m, const struct exp_study *res);
/* A file that was written, by its option ("--export-json"). */
void study_manifest_output(struct study_manifest *m, const char *option, const char *path);
/* Malloc'd JSON. */
char *study_manifest_text(const struct study_manifest *m);

/* A manifest that was read. NULL: *why says in a sentence what is wrong (static). */
json_t *study_manifest_parse(const char *text, const char **why);
/* From now on the scenario files are those of the manifest. It must live as long; NULL ends it. */
void study_manifest_replay(const json_t *manifest);
/* What differs between what was and what is, one line each, malloc'd; "" = nothing. *same = how many agree. */
char *study_manifest_compare(const json_t *was, const json_t *is, size_t *same);

#endif
