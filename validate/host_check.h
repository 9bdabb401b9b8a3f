/*
 * host_check.h - can this machine be measured, and what would the figures mean? The checks behind `wakebal doctor`.
 *
 * Each check looks at one thing (/proc, /sys, a quick trial) and adds findings: what is there, what it means for a
 * result, how to change it. Nothing is changed on the machine; the whole takes about a second, most of it watching
 * for other load. What cannot be read is a finding, not an error.
 *
 * Levels: ok = nothing to say; note = something is absent or its own way, and results hold: what is left out, or what
 * to remember with them; warn = results say something else or less than on a plain machine; fail = real runs cannot
 * work, or would mean nothing. A finding that has a meaning for a result is never just ok.
 */
#ifndef WB_VALIDATE_HOST_CHECK_H
#define WB_VALIDATE_HOST_CHECK_H

#include "host_load.h"

enum host_level { HOST_OK, HOST_NOTE, HOST_WARN, HOST_FAIL };

struct host_finding {
    const char *id; /* "smt", "governor": stable, for scripts */
    enum host_level level;
    char text[200];    /* what is there */
    char meaning[240]; /* for a result; "" = nothing to say */
    char fix[200];     /* how to change it; "" = nothing to change */
};

/* What identifies the host for a calibration: figures measured on one fit another only when these agree. */
struct host_identity {
    char kernel[80];      /* "Linux 6.12.9" */
    char cpu[96];         /* model name */
    char hypervisor[32];  /* "" = none seen */
    char idle[64];        /* "haltpoll/haltpoll": idle driver and governor */
    char boot[160];       /* boot options that change scheduling, in their order */
    char clock[32];       /* clock source */
    uint32_t cpus;        /* online */
    char fingerprint[17]; /* hash of the above, hex */
};

struct host_report {
    struct host_finding *item;
    size_t n;
    struct host_identity identity;
    struct host_load load;
};

struct host_check_options {
    const char *root; /* NULL = the real machine; else a folder with proc/ and sys/ (tests): trials are left out */
    double watch_s;   /* how long to watch for other load; 0 = not at all */
};

/* 0, or -ENOMEM. The caller frees *r. */
int host_check(const struct host_check_options *o, struct host_report *r) WB_MUST_USE;
void host_report_free(struct host_report *r);
enum host_level host_report_level(const struct host_report *r); /* the worst */
void host_identify(const char *root, struct host_identity *id);

#endif
