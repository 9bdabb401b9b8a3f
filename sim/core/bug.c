/* bug.c - where a failing check ends. */
#include "wakebal/base.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local struct wb_where wb_where = {.cpu = WB_NO_CPU, .task = WB_NO_TASK};

static void say_id(const char *name, uint32_t id)
{
    if (id == UINT32_MAX)
        fprintf(stderr, " %s -", name);
    else
        fprintf(stderr, " %s %" PRIu32, name, id);
}

_Noreturn void wb_bug(const char *file, int line, const char *cond, const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fprintf(stderr, "wakebal: bug at %s:%d: check '%s' failed: ", file, line, cond);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n  seed %" PRIu64 " replication %" PRIu32 " time %" PRIu64 " ps", wb_where.seed,
            wb_where.replication, wb_where.now);
    say_id("cpu", wb_where.cpu);
    say_id("task", wb_where.task);
    fprintf(stderr, "\n  This is a mistake in wakebal, not in your files. Please report it with these lines.\n");
    abort();
}

void (*wb_no_memory_hook)(const char *text);

_Noreturn void wb_no_memory(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (wb_no_memory_hook) wb_no_memory_hook(text);
    fprintf(stderr, "wakebal: %s\n", text);
    abort();
}
