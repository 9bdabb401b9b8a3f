/*
 * ipc_file.h - what every call on a descriptor does, whatever is behind it.
 */
#ifndef WB_IPC_IPC_FILE_H
#define WB_IPC_IPC_FILE_H

#include "wakebal/kernel.h"

/* A line that is touched a few cycles after the last thing that others could see: it is served at the time of that,
 * which saves the engine half of its events. Accesses can be out of order by up to IPC_SOON. */
#define IPC_SOON (20 * WB_NS)
#define IPC_LINE(x, f, line, kind, fn) \
    do { \
        if (wb_charged(x) > IPC_SOON) WB_FLUSH(x, f); \
        wb_line_soon((x), (line), (kind), (fn)); \
    } while (0)
/* fget_light() and fput_light(): a table that threads share costs a locked operation on the file at both ends of a
 * call; a process of its own looks only. */
#define IPC_FGET(x, f, line, fn) \
    do { \
        if ((x)->task->shares_files) IPC_LINE(x, f, line, WB_LINE_RMW, fn); \
    } while (0)

#endif
