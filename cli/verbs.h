/*
 * verbs.h - the entries of the verbs, one file each (verb_NAME.c), and the table that main.c dispatches from.
 *
 * An entry gets the arguments after the program name: argv[0] is "wakebal VERB". It returns the exit code
 * (exit_code.h), prints data on stdout and all else on stderr, and frees what it took.
 */
#ifndef WB_CLI_VERBS_H
#define WB_CLI_VERBS_H

#include <stddef.h>
#include <stdio.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;   /* after the name: "SCENARIO|PRESET" */
    const char *summary; /* one line, no full stop */
};

extern const struct verb verb_table[];
extern const size_t verb_table_n;
const struct verb *verb_find(const char *name); /* NULL = unknown */

/* The verbs that one needs first, and examples: one screen. */
void cli_short_help(FILE *to);

/* The whole program but for its main(): finds the verb, runs it, returns the exit code. */
int cli_main(int argc, char **argv);

int verb_bench(int argc, char **argv);
int verb_calibrate(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_conform(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_merge(int argc, char **argv);
int verb_new(int argc, char **argv);
int verb_fmt(int argc, char **argv);
int verb_generate(int argc, char **argv); /* not in the table: for the build and for completions */
int verb_guest(int argc, char **argv);
int verb_help(int argc, char **argv);
int verb_import(int argc, char **argv);
int verb_learn(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_plot(int argc, char **argv);
int verb_real(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_reproduce(int argc, char **argv);
int verb_replay(int argc, char **argv);
int verb_rerun(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_show(int argc, char **argv);
int verb_sweep(int argc, char **argv);
int verb_validate(int argc, char **argv);
int verb_topology(int argc, char **argv);

#endif
