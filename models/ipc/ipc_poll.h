/*
 * ipc_poll.h - poll() and select() on a channel.
 *
 * A poller puts a non-exclusive entry on the queue of what it polls and sleeps; every wake of that queue wakes it,
 * and it looks again (Linux 2.6.11 fs/select.c do_poll, 2.6.35 do_sys_poll; pollwake wakes the task as any other
 * entry does). One descriptor only; no timeout.
 */
#ifndef WB_IPC_IPC_POLL_H
#define WB_IPC_IPC_POLL_H

#include "wakebal/workload.h"

/* Per run: one label. Build time, once for each user of ipc_poll(). */
struct ipc_poll {
    uint16_t fn; /* do_sys_poll */
};
void ipc_poll_init(struct wb_sim *s, struct ipc_poll *p);

/* Frame, a whole system call. Sleeps until one of `events` (enum wb_poll_event; HUP always counts) is there. x->ret =
 * the events, or IPC_EINTR. */
void ipc_poll(struct wb_exec *x, const struct ipc_poll *p, struct wb_channel *c, int end, uint32_t events);

#endif
