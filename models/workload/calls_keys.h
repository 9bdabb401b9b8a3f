/*
 * calls_keys.h - rows of the tables that say what system calls do; they stand among the keys of the workload syscall.
 */
#ifndef WB_WORKLOAD_CALLS_KEYS_H
#define WB_WORKLOAD_CALLS_KEYS_H

#include "wakebal/keys.h"

#define CALLS_KEYS \
    {.path = "kernel.timecounter", \
     .type = WB_KEY_STRING, \
     .def = "tsc", \
     .help = "Device that tells the time: a name in machine.timecounter. Calls that read it pay for it.", \
     .source = "x86 since about 2008: the cycle counter"}, \
        {.path = "kernel.locks", \
         .type = WB_KEY_GROUP, \
         .help = \
             "Locks, and lines without a lock, that system calls meet, by the name of the source: locks : { Giant " \
             ": { kind = \"mutex\"; }; }."}, \
        {.path = "kernel.locks.*", .type = WB_KEY_GROUP, .help = "One lock, or one line."}, \
        {.path = "kernel.locks.*.kind", \
         .type = WB_KEY_ENUM, \
         .choices = "spin test-and-set ticket queued semaphore mutex mutex_spin mutex_handoff fair line", \
         .def = "spin", \
         .help = \
             "spin: as kernel.spinlock says. test-and-set, ticket, queued: who gets it when several spin. " \
             "semaphore, mutex, mutex_spin, mutex_handoff, fair: sleeping locks as of kernel.pipe_lock. line: only " \
             "a cache line.", \
         .source = "the kinds of locks of the engine"}, \
        {.path = "kernel.locks.*.scope", \
         .type = WB_KEY_ENUM, \
         .choices = "global process task", \
         .def = "global", \
         .help = "One for all, one for each process (its threads share it), or one for each task.", \
         .source = "convention of this program"}, \
        {.path = "kernel.locks.*.xchg", \
         .type = WB_KEY_BOOL, \
         .def = "false", \
         .help = \
             "A spinning lock is released by a locked instruction instead of a store, also in kernels for one CPU.", \
         .source = "FreeBSD 5: atomic_store_rel is an xchg (sys/i386/include/atomic.h); Linux stores"}, \
        {.path = "kernel.locks.*.irqs_off", \
         .type = WB_KEY_BOOL, \
         .def = "false", \
         .help = "Interrupts wait while a spinning lock is held or spun for.", \
         .source = "spin_lock_irqsave; FreeBSD's spin mutexes always"}, \
        {.path = "kernel.function", \
         .type = WB_KEY_GROUP, \
         .help = "Functions that system calls go through, by their name in the source."}, \
        {.path = "kernel.function.*", .type = WB_KEY_GROUP, .help = "One function of the kernel."}, \
        {.path = "kernel.function.*.cost", \
         .type = WB_KEY_COST, \
         .unit = "time or cycles", \
         .min = "0 ns", \
         .max = "1 ms", \
         .def = "0 ns", \
         .flags = WB_KEY_PRICED, \
         .help = "Its own path, without locks and without what it calls.", \
         .source = "nothing of its own"}, \
        {.path = "kernel.function.*.steps", \
         .type = WB_KEY_STRINGS, \
         .help = \
             "What it does in order: names of functions; self (its own cost; without it that comes first); lock " \
             "NAME, unlock NAME, atomic NAME, read NAME, write NAME (of kernel.locks); clock. An xN after NAME: so " \
             "often."}, \
        {.path = "kernel.calls", \
         .type = WB_KEY_GROUP, \
         .help = "What system calls do between entering and leaving the kernel: calls : { getppid : { steps = [ " \
                 "\"lock PROC\", \"unlock PROC\" ]; }; }."}, \
        {.path = "kernel.calls.*", .type = WB_KEY_GROUP, .help = "What one system call does."}, \
        {.path = "kernel.calls.*.steps", \
         .type = WB_KEY_STRINGS, \
         .help = "As steps of a function, without self. None: the call does nothing."}, \
    { \
        .path = "kernel.calls.*.mpsafe", .type = WB_KEY_BOOL, .def = "false", \
        .help = "Runs without the big lock where there is one (kernel.big_lock).", \
        .source = "FreeBSD 4: MPSAFE in kern/syscalls.master" \
    }

#endif
