/*
 * exp_file.h - reading files that anybody may have made: opening never waits, reading never grows without bound.
 *
 * Regular files and pipes are read (`<(zcat results.json.gz)` of a shell is one); folders, devices and sockets are
 * refused. A pipe that no one writes is an empty file.
 */
#ifndef WB_EXPERIMENT_EXP_FILE_H
#define WB_EXPERIMENT_EXP_FILE_H

#include <jansson.h>

#include "wakebal/base.h"

#define EXP_JSON_MAX ((size_t)256 << 20) /* bytes of a document; its tree takes up to twenty times as much */

/* Descriptor for reading, the caller closes it. -1: *why says why (static). */
int exp_file_open(const char *path, const char **why) WB_MUST_USE;

/* A document; the caller drops the reference. NULL: e->text says why, with line and column where the text is at
 * fault, and e->line < 1 where the file is. */
json_t *exp_json_load(const char *path, json_error_t *e) WB_MUST_USE;

#endif
