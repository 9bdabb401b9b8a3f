/* sha256.h - FIPS 180-4 SHA-256 of a byte string: identity of a scenario in result files. */
#ifndef WB_EXPERIMENT_SHA256_H
#define WB_EXPERIMENT_SHA256_H

#include "wakebal/base.h"

/* Lower-case hexadecimal digest with its terminator. */
void sha256_hex(const void *data, size_t n, char out[65]);

#endif
