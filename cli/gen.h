/*
 * gen.h - what is made from the tables of the program, so that it cannot disagree with them: man pages, completions,
 * the schema of scenario files. `wakebal generate` writes them at build time.
 *
 * Everything goes to a stream; order and text depend on the tables only.
 */
#ifndef WB_CLI_GEN_H
#define WB_CLI_GEN_H

#include <jansson.h>
#include <stdio.h>

#include "options.h"
#include "verbs.h"
#include "wakebal/keys.h"

#define GEN_OPTIONS_MAX 96

/* A verb with what it says about itself. */
struct gen_verb {
    const struct verb *verb;
    struct cli_spec spec;
    struct argp_option option[GEN_OPTIONS_MAX];
    size_t n;
};
/* Fill in *out. The verb is not run. */
void gen_verb_of(const struct verb *v, struct gen_verb *out);

/* ---- gen_man.c ---- */
void gen_man_program(FILE *f);
void gen_man_verb(FILE *f, const struct verb *v);
void gen_man_scenario(FILE *f, struct wb_key_registry *keys);

/* ---- gen_completion.c ---- */
void gen_bash(FILE *f);
void gen_zsh(FILE *f);
void gen_fish(FILE *f);
/* Names that completions ask for while one types: "machines", "keys", ... one a line. false: no such kind. */
bool gen_words(FILE *f, const char *kind);

/* ---- gen_schema.c ---- */
/* JSON Schema (2020-12) of scenario, machine, kernel and workload files. New reference. */
json_t *gen_schema(struct wb_key_registry *keys);
/* A file with its includes as JSON, as the schema sees it; NULL: errors in d. New reference. */
json_t *gen_file_json(const char *path, struct wb_diag *d);

#endif
