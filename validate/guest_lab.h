/*
 * guest_lab.h - a real kernel on a machine of the user's choosing: QEMU in software emulation, a Debian kernel image,
 * our own init (validate/guest/) as its only program.
 *
 * Nothing is installed and nothing on the host is changed: the kernel's package is downloaded with `apt-get download`
 * and unpacked in a work folder, QEMU runs as an ordinary process without network or disk, and is ended after a time
 * limit. Decisions count there, not times: all CPUs of the guest share the host's.
 *
 * What comes back is one text: kernel, features, topology, domains, then per run /proc/schedstat before and after, and
 * the scheduler's events; trace_read_file() reads it.
 */
#ifndef WB_VALIDATE_GUEST_LAB_H
#define WB_VALIDATE_GUEST_LAB_H

#include "wakebal/base.h"
#include "wakebal/diag.h"

struct guest_options {
    const char *smp;      /* QEMU's form: "16,sockets=2,cores=4,threads=2" */
    const char *kernel;   /* "6.12", "6.1": the newest such Debian cloud kernel; or the path of a vmlinuz */
    const char *features; /* "NO_WA_IDLE,NEXT_BUDDY", or NULL */
    const char *runs;     /* path of a list of runs, or NULL: the shipped one */
    const char *work;     /* folder for kernels and images; made when missing */
    const char *output;   /* path of the report */
    const char *init;     /* path of the guest's program */
    const char *append;   /* more of the kernel's command line, or NULL */
    uint32_t nodes;       /* NUMA nodes; 0 and 1: none */
    uint32_t memory_mib, limit_s;
};

enum guest_outcome { GUEST_FINE, GUEST_INVALID, GUEST_NO_TOOL, GUEST_NO_OUTPUT, GUEST_FAILED };

/* Boot, wait, check that the report is whole. Errors in d. seconds: wall time of the guest. */
enum guest_outcome guest_run(const struct guest_options *o, struct wb_diag *d, double *seconds) WB_MUST_USE;

/* ---- shared by guest_lab*.c ---- */
/* "16,sockets=2,cores=4,threads=2": the number of CPUs, 0 = not understood or the parts do not multiply. */
uint32_t guest_cpus(const char *smp);
/* A newc archive with /init and /runs. 0 or -errno. */
int guest_pack(const char *path, const char *init, const char *runs) WB_MUST_USE;
/* The vmlinuz to boot: malloc'd path, or NULL with an error in d; *outcome says of what kind. */
char *guest_kernel(const struct guest_options *o, struct wb_diag *d, enum guest_outcome *outcome) WB_MUST_USE;
/* Run a program to its end without a shell. limit_s 0: none. Its exit status, -1 when it cannot be started, -2 when the
 * time is over. out: malloc'd standard output, or NULL to leave it. dir: where, or NULL. */
int guest_spawn(const char *const *argv, const char *dir, uint32_t limit_s, char **out);
bool guest_has_tool(const char *name);

#endif
