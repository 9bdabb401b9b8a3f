/*
 * study_cli.h - what the verbs on studies share: faults as messages and exit codes, where a study's file is.
 */
#ifndef WB_CLI_STUDY_CLI_H
#define WB_CLI_STUDY_CLI_H

#include "options.h"
#include "output.h"
#include "study_manifest.h"
#include "store.h"
#include "workers_shard.h"

/* Print "VERB: the study ..." on stderr; the exit code: 3 missing, foreign or damaged; 9 busy or refused. */
int study_report_fault(const char *verb, const struct store_fault *f);

/* The file of a study: `output` when it names a file; in a folder (one that exists, or a name that ends in '/')
 * study.db, or shard-K-of-N.db; NULL: NAME.db or NAME.shard-K-of-N.db here. Folders are made. Malloc'd; NULL: cannot,
 * and has been said. shard NULL = the whole. */
char *study_file(const char *verb, const char *output, const char *name, const struct workers_shard *shard);
/* The file that is meant by a name given to be read: itself, or study.db in it. Malloc'd. */
char *study_file_to_read(const char *path);

/* The exports of the command line, noted in the manifest (may be NULL). EXIT_FINE or EXIT_OUTPUT. */
int study_write_exports(const struct cli_options *o, const struct exp_study *res, bool sweep, bool *to_stdout,
                        struct study_manifest *m);
/* --manifest: write it. EXIT_FINE or EXIT_OUTPUT. */
int study_write_manifest(const struct cli_options *o, const struct exp_study *res, struct study_manifest *m);

/* Set by wakebal-mpi: several processes that share one study. NULL: alone. */
struct study_team {
    int rank, size;
    /* All meet here; each learns the largest value that any brought. */
    int (*agree)(int value);
    /* From here on a rank may have something of its own to say; what all find out alike is said once. */
    void (*speak)(void);
};
extern const struct study_team *study_team;

#endif
