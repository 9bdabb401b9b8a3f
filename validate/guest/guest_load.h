/*
 * guest_load.h - small scheduler workloads inside the guest; run by its init (guest_init.c).
 *
 * Each does a bounded amount of work in processes of its own and ends when they have: what counts is the decisions
 * that it causes, not its speed (the guest is emulated).
 */
#ifndef WB_GUEST_LOAD_H
#define WB_GUEST_LOAD_H

/* "pipe 1 400": kind and up to three numbers. 0, or -1 when there is no such kind. Kinds: pipe PAIRS LOOPS, stream
 * PAIRS LOOPS BYTES, hack GROUPS ENDS LOOPS, fan WAKEES LOOPS, hog N MS, mixed HOGS LOOPS, sleep N LOOPS US, tcp
 * PAIRS LOOPS, brew HOGS PAIRS LOOPS (hogs, TCP pairs and a group at once). */
int guest_load_run(const char *kind, const long arg[3]);

#endif
