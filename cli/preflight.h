/*
 * preflight.h - everything that can be known to be wrong before anything runs: of a scenario with its axes and
 * expectations, of --fail-if, of the files that results go to.
 */
#ifndef WB_CLI_PREFLIGHT_H
#define WB_CLI_PREFLIGHT_H

#include "exp_check.h"
#include "options.h"
#include "wakebal/scenario.h"

/* Judge points that were made of a scenario; own: as its own axes make them. Errors go to d; what is returned serves
 * --fail-if and is freed with exp_check_free(). */
struct exp_check *preflight_points(const struct exp_points *p, bool own, struct wb_diag *d);
/* The same of the scenario without its axes, when these make no points. */
void preflight_base(const struct wb_scenario *s, struct wb_diag *d);
/* The scenario could not be loaded: look for further mistakes as far as its values are known. */
void preflight_more(const char *name, const struct wb_key_registry *keys, const struct wb_overrides *over,
                    struct wb_diag *d);
/* "No point is left" at the place of sweep.where. */
void preflight_no_points(const struct exp_points *p, const struct wb_scenario *s, struct wb_diag *d);
/* All of one file that `check` is given: syntax, keys, points, expectations, rows of a case. 0, or -1 with errors in
 * d. */
int preflight_file(const char *name, const struct wb_key_registry *keys, struct wb_diag *d);
/* --fail-if: syntax always; with k also figures, units and files. EXIT_FINE or EXIT_USAGE with the reason printed. */
int preflight_fail_if(const struct cli_options *o, const struct exp_check *k);

/* Files that will be written when all is done: can they be, is none named twice, is none read as input? `more`: files
 * beyond the exports of o, `inputs`: files that must not be overwritten; both end with NULL. EXIT_FINE, EXIT_USAGE or
 * EXIT_OUTPUT with the reason printed. */
int preflight_outputs(const char *verb, const struct cli_options *o, const char *const *more,
                      const char *const *inputs);
/* -o that names a folder or a study: a name that looks like a single file of another kind is a misunderstanding. The
 * user can insist with a '/' behind it. study: a file of any ending that is none of ours is a study's. EXIT_FINE or
 * EXIT_USAGE with the reason printed. */
int preflight_output_name(const char *verb, const char *output, bool study);
/* No export goes to the file of the study itself. */
int preflight_spare(const char *verb, const struct cli_options *o, const char *study);

#endif
