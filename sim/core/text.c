/* text.c - formatted texts of any length. */
#include <stdio.h>

#include "wakebal/base.h"

char *wb_vtext(const char *fmt, va_list ap)
{
    char *text;
    WB_MEMORY(vasprintf(&text, fmt, ap) >= 0, "out of memory for a text");
    return text;
}

char *wb_text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    return text;
}
