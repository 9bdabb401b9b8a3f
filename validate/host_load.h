/*
 * host_load.h - what else the machine does: the gate before a real run, the check after it.
 *
 * Foreign load is the CPU time of everything but this run, as a share of all CPUs that this process may use: from
 * /proc/stat's idle time less the CPU time that the caller says was its own. Interrupts and idle entry that our own
 * tasks cause are in it: a pair that halts and wakes 20000 times a second leaves a few per cent. Steal is what the
 * hypervisor gave to others. Culprits are found by walking /proc twice; short-lived processes are only counted
 * (new_processes).
 *
 * In a container that hides the host's processes the sum still holds, the names are missing.
 */
#ifndef WB_VALIDATE_HOST_LOAD_H
#define WB_VALIDATE_HOST_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "wakebal/base.h"

#define HOST_CULPRITS 5

struct host_load {
    bool known; /* /proc/stat was there */
    bool quiet; /* below the limits that were asked for */
    double seconds;
    double foreign;     /* 0..1 of the CPUs */
    double steal;       /* 0..1 */
    double busiest_cpu; /* share of the busiest CPU that was not idle (own load included) */
    uint32_t cpus;
    uint32_t new_processes;
    uint32_t culprits;
    struct {
        char name[16];
        int pid;
        double cpus; /* CPUs' worth: 1 = all of one CPU */
    } culprit[HOST_CULPRITS];
};

struct host_gate {
    double foreign_max, steal_max; /* shares */
    double seconds;                /* that the machine is watched before a run */
};
/* 4.5 % foreign and 1 % steal over half a second. Above that, remote wakeups measured twice too slow. */
extern const struct host_gate host_gate_default;

/* Start watching (root NULL = the real machine). Free with host_meter_end or host_meter_free. NULL when there is no
 * memory. */
struct host_meter;
struct host_meter *host_meter_begin(const char *root);
/* Stop watching; own_cpu_s: CPU time of what the caller ran meanwhile, and its processes' names are not looked for
 * below pid's children that are gone. Frees m. */
void host_meter_end(struct host_meter *m, double own_cpu_s, const struct host_gate *gate, struct host_load *out);
void host_meter_free(struct host_meter *m);

/* Watch for gate->seconds while this process sleeps. */
void host_quiet_before(const struct host_gate *gate, struct host_load *out);
/* For after: begin, run, then host_meter_end with result.cpu_ns_total. In words: "foreign load 60.0 % (1.20 of 2
 * CPUs: cc1 0.95, others 0.25), steal 0.1 %": what is named and the others add up. */
char *host_load_text(const struct host_load *l, char *buf, size_t n);

#endif
