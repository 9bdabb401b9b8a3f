/*
 * real_json.h - a real run as JSON (schema wakebal.real/1): what was asked, what came out, what was left out.
 *
 * Numbers are in base units (seconds, bytes, 1/s); null = not known. Keys are only ever added within /1. The caller
 * owns what is returned; NULL when there is no memory.
 */
#ifndef WB_VALIDATE_REAL_JSON_H
#define WB_VALIDATE_REAL_JSON_H

#include <jansson.h>

#include "host_load.h"
#include "real.h"

json_t *real_spec_json(const struct real_spec *s);
/* before, after: the machine's other load; NULL = not looked at. */
json_t *real_result_json(const struct real_spec *s, const struct real_result *r, const struct host_load *before,
                         const struct host_load *after);
json_t *host_load_json(const struct host_load *l);

#endif
