#include "pipe.h"

#include <string.h>

#include "skb.h"

/* clang-format off */
const struct pipe_rules pipe_rules[] = {
    /* Linux 2.6.10 fs/pipe.c pipe_readv, pipe_writev, pipe_wait; the reader does not clear do_wakeup when it wakes
     * before sleeping. */
    { .name = "2.6.0", .version = IPC_VERSION(2, 6, 0), .gen = PIPE_GEN_PAGE, .wake_writer = PIPE_WAKE_PROGRESS,
      .lock = WB_LOCK_SEM, .sync_sleep = true, .syscall_merging = true,
      .text = "one page, one wait queue; sync wake before sleeping, plain wake at the end of each call" },
    /* Linux 2.6.11 fs/pipe.c: ring of PIPE_BUFFERS = 16 buffers, one cached page. */
    { .name = "2.6.11", .version = IPC_VERSION(2, 6, 11), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_SMALL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 24, .lock = WB_LOCK_SEM, .sync_sleep = true, .syscall_merging = true,
      .text = "ring of 16 pages; sync wake before sleeping, plain wake at the end of each call" },
    /* Linux 2.6.14, commit d79fc0fc6645: pipe_wait() sleeps TASK_INTERRUPTIBLE | TASK_NONINTERACTIVE. */
    { .name = "2.6.14", .version = IPC_VERSION(2, 6, 14), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_SMALL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 24, .lock = WB_LOCK_SEM, .sync_sleep = true, .syscall_merging = true, .noninteractive = true,
      .text = "as 2.6.11, sleeps do not count as interactive" },
    /* Linux 2.6.16: i_sem became i_mutex; pipe_writev merges the odd tail of any write (total_len & (PAGE_SIZE -
     * 1)). */
    { .name = "2.6.16", .version = IPC_VERSION(2, 6, 16), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX, .sync_sleep = true, .syscall_merging = true, .noninteractive = true,
      .text = "as 2.6.14 with a mutex; the odd tail of a write may join the last page" },
    /* Linux 2.6.23: TASK_NONINTERACTIVE went with the O(1) scheduler. */
    { .name = "2.6.23", .version = IPC_VERSION(2, 6, 23), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX, .sync_sleep = true, .syscall_merging = true,
      .text = "as 2.6.16, sleeps are ordinary again" },
    /* Linux 2.6.24, commit 71e20f1873d5: all wakes of pipes are sync. */
    { .name = "2.6.24", .version = IPC_VERSION(2, 6, 24), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX, .sync_sleep = true, .sync_end = true, .sync_close = true, .syscall_merging = true,
      .text = "every wake is sync" },
    { .name = "2.6.30", .version = IPC_VERSION(2, 6, 30), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX_SPIN, .sync_sleep = true, .sync_end = true, .sync_close = true, .syscall_merging = true,
      .text = "the mutex spins while its owner runs" },
    /* Linux 2.6.35: fcntl(F_SETPIPE_SZ). */
    { .name = "2.6.35", .version = IPC_VERSION(2, 6, 35), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX_SPIN, .sync_sleep = true, .sync_end = true, .sync_close = true, .syscall_merging = true,
      .resizable = true, .text = "the size can be set (F_SETPIPE_SZ)" },
    { .name = "4.10", .version = IPC_VERSION(4, 10, 0), .gen = PIPE_GEN_RING, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_PROGRESS,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX_HANDOFF, .sync_sleep = true, .sync_end = true, .sync_close = true,
      .syscall_merging = true, .resizable = true, .text = "the mutex hands over to a starved waiter" },
    /* Linux 5.5 fs/pipe.c pipe_read, pipe_write: head and tail, rd_wait and wr_wait, exclusive sleepers, no syscall
     * merging. */
    { .name = "5.5", .version = IPC_VERSION(5, 5, 0), .gen = PIPE_GEN_HEAD, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_WAS_FULL,
      .tmp_pages = 1, .slot_bytes = 40, .lock = WB_LOCK_MUTEX_HANDOFF, .sync_sleep = true, .sync_end = true, .publish_first = true, .resizable = true,
      .text = "two queues, exclusive sleepers; wakes only when the ring was empty or full, always sync" },
    /* Linux 6.18 fs/pipe.c anon_pipe_read, anon_pipe_write. */
    { .name = "6.18", .version = IPC_VERSION(6, 18, 0), .gen = PIPE_GEN_HEAD, .merge = PIPE_MERGE_TAIL, .wake_writer = PIPE_WAKE_FREED,
      .tmp_pages = 2, .slot_bytes = 40, .lock = WB_LOCK_MUTEX_HANDOFF, .sync_sleep = true, .sync_end = true, .resizable = true,
      .text = "as 5.5; the writer is woken only if a slot was freed while the ring was full; two cached pages" },
};
/* clang-format on */
const size_t pipe_rules_n = WB_ARRAY_SIZE(pipe_rules);

/* FreeBSD 4.x, 5.2.1 kern/sys_pipe.c; the lock sleeps at once (PIPE_LOCKFL) and is stolen by who comes first. */
static const struct pipe_rules freebsd = {.name = "freebsd",
                                          .gen = PIPE_GEN_BSD,
                                          .lock = WB_LOCK_MUTEX,
                                          .text = "16 KiB, then 64 KiB; from 8192 bytes on straight from the writer's "
                                                  "memory; no sync wakes"};

const struct pipe_rules *pipe_rules_find(const char *version)
{
    const struct pipe_rules *found = NULL;
    uint32_t v;
    if (!strcmp(version, freebsd.name)) return &freebsd;
    if (!ipc_parse_version(version, &v)) return NULL;
    for (size_t i = 0; i < pipe_rules_n && pipe_rules[i].version <= v; i++) found = &pipe_rules[i];
    return found;
}
