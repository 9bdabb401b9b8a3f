/*
 * host_profile.c - which kernel profile is the running kernel's.
 */
#include "host_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "linux-"
#define PACKED "-packed"

/* MAJOR.MINOR[.PATCH] as one number that orders like the version; *end is behind it. 0 when there is none. */
static uint64_t version(const char *text, const char **end)
{
    uint64_t all = 0;
    unsigned parts = 0;
    for (; parts < 3 && *text >= '0' && *text <= '9'; parts++) {
        char *after;
        unsigned long part = strtoul(text, &after, 10);
        if (part > 0xffff) return 0;
        all |= (uint64_t)part << (32 - 16 * parts);
        text = after;
        if (*text != '.' || text[1] < '0' || text[1] > '9') {
            parts++;
            break;
        }
        text++;
    }
    *end = text;
    return parts >= 2 ? all : 0;
}

/* 0 when the name is not a plain profile's. */
static uint64_t plain_version(const char *name)
{
    const char *end = name;
    uint64_t v = strncmp(name, PREFIX, strlen(PREFIX)) ? 0 : version(name + strlen(PREFIX), &end);
    return *end ? 0 : v;
}

/* Of two profiles the one nearer to `own`: not newer beats newer, then the closer one. */
static bool nearer(uint64_t v, uint64_t best, uint64_t own)
{
    if (!best) return true;
    if ((v <= own) != (best <= own)) return v <= own;
    return v <= own ? v > best : v < best;
}

bool host_profile(const struct host_identity *id, char *const *name, size_t n, char out[HOST_PROFILE_MAX])
{
    const char *end, *digits = strpbrk(id->kernel, "0123456789");
    uint64_t own = digits && !strncmp(id->kernel, "Linux", 5) ? version(digits, &end) : 0, best = 0;
    out[0] = 0;
    for (size_t i = 0; own && i < n; i++) {
        uint64_t v = plain_version(name[i]);
        if (!v || !nearer(v, best, own)) continue;
        best = v;
        (void)snprintf(out, HOST_PROFILE_MAX, "%.50s", name[i]);
    }
    size_t len = strlen(out);
    for (size_t i = 0; best && strstr(id->boot, "pack") && i < n; i++)
        if (!strncmp(name[i], out, len) && !strcmp(name[i] + len, PACKED))
            (void)snprintf(out, HOST_PROFILE_MAX, "%.60s", name[i]);
    return best != 0;
}
