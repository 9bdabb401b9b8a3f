/* Any text as a recording: read, missing switches put in, made into a workload. wb-link: all */
#include <stdint.h>
#include <stdlib.h>

#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wb_diag *d = wb_diag_new();
    struct trace_health h = {0};
    struct trace *t = size < 1 << 20 ? trace_read_text("fuzz", (const char *)data, size, d) : NULL;
    if (t && !trace_infer(t, &h)) {
        static const struct import_options all = {.all = true};
        struct import *m = import_make(t, &all, d);
        if (m) free(import_text(m, d));
        import_free(m);
    }
    trace_health_free(&h);
    trace_free(t);
    wb_diag_free(d);
    return 0;
}
