/*
 * host_profile.h - which kernel profile is the running kernel's.
 *
 * Profiles are named linux-MAJOR.MINOR (before 3.0: MAJOR.MINOR.PATCH). The nearest is the newest that is not newer
 * than the kernel, or the oldest of all when every one is newer. A variant linux-...-packed is taken where the boot
 * line asks for a packing of wakeups that mainline does not have. Other variants (architectures, UP builds) are never
 * guessed.
 */
#ifndef WB_VALIDATE_HOST_PROFILE_H
#define WB_VALIDATE_HOST_PROFILE_H

#include "host_check.h"

enum { HOST_PROFILE_MAX = 64 };

/* `name`: n profile names, in any order, borrowed. False when none of them is a plain Linux profile or the kernel's
 * version cannot be read; `out` is then "". */
bool host_profile(const struct host_identity *id, char *const *name, size_t n, char out[HOST_PROFILE_MAX]);

#endif
