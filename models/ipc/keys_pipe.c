#include "pipe.h"

#define PATH(name, cost, text, src) \
    { \
        .path = "kernel.path." name, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", \
        .def = cost, .help = text, .source = src, .flags = WB_KEY_PRICED \
    }

/* Both from one measurement: a write and a read of one byte in one task 666 ns, getppid 165 ns, write to /dev/null
 * 198 ns (AMD EPYC guest, about 3 GHz, Linux 6.18, 2026): 33 ns above a bare system call is the file layer, 135 ns
 * more are the pipe, its lock and wake. */
#define DERIVED_VFS "derived: write(/dev/null) 198 ns less getppid 165 ns on an EPYC guest of about 3 GHz, Linux 6.18"
#define DERIVED_PIPE \
    "derived: 1 byte written and read in one task 666 ns, less 2 x 198 ns for system call and file layer, halved " \
    "(135 ns), less lock, " \
    "wake call and copy (about 70 ns)"

const struct wb_key pipe_keys[PIPE_KEYS] = {
    {.path = "kernel.page_size",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "4 KiB",
     .max = "64 KiB",
     .def = "4 KiB",
     .help = "Page size. A pipe slot is one page, so the capacity of a pipe is 16 pages (one page up to 2.6.10).",
     .source = "x86; ia64 kernels were configured with 4, 8, 16 or 64 KiB, 16 KiB by default (arch/ia64/Kconfig)"},
    {.path = "kernel.pipe",
     .type = WB_KEY_VERSION,
     .choices = "freebsd",
     .def = "2.6.11",
     .help = "Kernel version whose pipe rules hold, independent of the scheduler's. Changes came with 2.6.11 (ring of "
             "16 pages), 2.6.14 "
             "(non-interactive sleeps), 2.6.16 (mutex), 2.6.23, 2.6.24 (all wakes sync), 2.6.30 (spinning mutex), "
             "2.6.35 (size can be set), "
             "4.10 (mutex hand-off), 5.5 (two queues, wakes at the edges only) and 6.18; any version between takes the "
             "rules before it. freebsd: those of FreeBSD 4.x and 5.2.1.",
     .source = "fs/pipe.c of the versions named; FreeBSD kern/sys_pipe.c"},
    {.path = "kernel.pipe_lock",
     .type = WB_KEY_ENUM,
     .choices = "version semaphore mutex mutex_spin mutex_handoff fair",
     .def = "version",
     .help = "Kind of the pipe's own lock. semaphore and mutex sleep at once and can be stolen; mutex_spin spins while "
             "the owner runs; "
             "mutex_handoff does too and hands over to a starved waiter; fair always hands over. version: as "
             "kernel.pipe says.",
     .source =
         "fs/pipe.c: i_sem to 2.6.15, i_mutex from 2.6.16, spinning from 2.6.30, hand-off from 4.10 (kernel/mutex.c)"},
    {.path = "kernel.pipe_lock_sync",
     .type = WB_KEY_BOOL,
     .def = "false",
     .help = "The wake of the pipe's lock carries the sync hint. No version's does: a switch to ask what if.",
     .source = "lib/semaphore-sleepers.c __up, kernel/mutex.c: plain wake_up and wake_up_process"},
    {.path = "kernel.pipe_sync",
     .type = WB_KEY_ENUM,
     .choices = "version always never",
     .def = "version",
     .help = "Sync hint of all wakes of reads and writes: as the version says, always, or never. always is what was "
             "proposed for bw_pipe in "
             "January 2005 and rejected because real pipelines lose by it.",
     .source = "fs/pipe.c; L. Torvalds, linux-kernel, 18 January 2005"},
    {.path = "workload.pipe_size",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "4 KiB",
     .max = "1 MiB",
     .only = "pipe_bw pipe_latency custom",
     .help = "Size that the program asks for with F_SETPIPE_SZ; rounded up to a power of two of pages. Without it 16 "
             "pages. Needs kernel.pipe "
             "2.6.35 or later."},
    {.path = "workload.packets",
     .type = WB_KEY_BOOL,
     .def = "false",
     .only = "pipe_bw custom",
     .help =
         "The pipe was made with O_DIRECT: each write takes a slot of its own instead of being added to the last one, "
         "so "
         "that 16 small messages fill it. Messages of a page at most, and reads as large as writes. Needs kernel.pipe "
         "2.6.35 or later (Linux 3.4).",
     .source = "Linux 3.4 fs/pipe.c pipe_write, is_packetized; stress-ng --pipe"},
    PATH("libc_call", "20 cy", "User-mode work around one read or write: loop, call, return.", "assumed: 5..80 cy"),
    PATH("vfs_read", "100 cy", "File layer of a read: descriptor, permission, position. Per call.", DERIVED_VFS),
    PATH("vfs_write", "100 cy", "File layer of a write. Per call.", DERIVED_VFS),
    PATH("pipe_read", "200 cy", "Body of pipe_read without lock, copy, wakes and waits. Per call.", DERIVED_PIPE),
    PATH("pipe_write", "200 cy", "Body of pipe_write without lock, copy, wakes and waits. Per call.", DERIVED_PIPE),
    PATH("pipe_buf", "60 cy", "Handling of one slot: map, check, advance. Per chunk copied.", "assumed: 30..150 cy"),
    PATH("pipe_wait", "80 cy", "Setting up one sleep in a pipe, beside the wait queue's own functions.",
         "assumed: 40..200 cy"),
    PATH("alloc_page", "200 cy", "A page from the CPU's own free list.",
         "assumed: 100..400 cy (Linux 2.6.11 buffered_rmqueue, hot path)"),
    PATH("free_page", "120 cy", "A page back to the CPU's own free list.",
         "assumed: 60..300 cy (Linux 2.6.11 free_hot_cold_page)"),
    PATH("alloc_page_first", "0 ns",
         "What the first page that a write gets from the allocator costs beyond the next ones of the same write: the "
         "allocator's code and data have left the core's nearest buffers since the call before.",
         "a page costs 360 ns as the first of a call and 215 ns after it on a 6.18 guest; elsewhere not told apart"),
    PATH("free_page_first", "0 ns", "The same of the first page that a read gives back.",
         "370 and 230 ns on a 6.18 guest; elsewhere not told apart"),
    PATH("pipe_wire_page", "400 cy", "FreeBSD: a direct write wires and maps one page, and undoes it. Per page.",
         "assumed: 150..1000 cy (kern/sys_pipe.c pipe_build_write_buffer: page fault check, wiring, pmap_qenter)"),
    PATH("pipe_release", "300 cy", "Closing one end of a pipe, without lock and wake.", "assumed: 150..1000 cy"),
    PATH("mutex_spin_on_owner", "40 ns",
         "One look of a spinning mutex at its owner, and one pause. Less than 1 ns is taken as 1 ns.",
         "assumed: 15..60 ns (PAUSE takes about 40 cycles up to Broadwell, 140 from Skylake: Intel 64 optimization "
         "manual)"),
};
