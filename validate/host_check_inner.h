/* host_check_inner.h - how checks add findings; private to validate/host_check*.c. */
#ifndef WB_VALIDATE_HOST_CHECK_INNER_H
#define WB_VALIDATE_HOST_CHECK_INNER_H

#include "host_check.h"
#include "wakebal/cpumask.h"

struct host_checker {
    const char *root;
    double watch_s;
    struct host_report *report;
    bool no_memory;
};

/* Add a finding and return it, so that meaning and fix can be set; never NULL. */
struct host_finding *host_add(struct host_checker *c, const char *id, enum host_level level, const char *fmt, ...)
    WB_PRINTF(4, 5);
void host_means(struct host_finding *f, const char *meaning, const char *fix);

/* The checks, in the order in which they are printed. */
void host_check_cpus(struct host_checker *c);
void host_check_affinity(struct host_checker *c);
void host_check_quota(struct host_checker *c);
void host_check_smt(struct host_checker *c);
void host_check_frequency(struct host_checker *c);
void host_check_idle(struct host_checker *c);
void host_check_speed(struct host_checker *c);
void host_check_distance(struct host_checker *c);
void host_check_kernel(struct host_checker *c);
void host_check_virtual(struct host_checker *c);
void host_check_boot(struct host_checker *c);
void host_check_symbols(struct host_checker *c);
void host_check_features(struct host_checker *c);
void host_check_sysctl(struct host_checker *c);
void host_check_load(struct host_checker *c);
void host_check_clock(struct host_checker *c);
void host_check_counters(struct host_checker *c);
void host_check_tracing(struct host_checker *c);
void host_check_limits(struct host_checker *c);
void host_check_programs(struct host_checker *c);

/* The hypervisor's name, "" when none is seen. */
void host_hypervisor(const char *root, char *name, size_t n);
/* Options of the boot line that change scheduling or idling: the i-th word that does, into text; false past the last.
 * `mainline`: the option is one of mainline Linux. what: what it does, or NULL. */
struct host_boot_option {
    char text[64];
    bool mainline;
    const char *what;
};
size_t host_boot_options(const char *cmdline, struct host_boot_option *out, size_t max);

#endif
