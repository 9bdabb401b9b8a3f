#include "trace_table.h"

#include <inttypes.h>

#include "output.h"

void trace_table_print(const struct cli_options *o, const struct trace *t, const struct trace_health *h)
{
    struct out_style s = out_style(o, 1);
    printf("%sRecording%s\n  %" PRIu64 " events in %u section%s, %u tasks; per CPU:", s.bold, s.off, t->lines.events,
           t->nsections, t->nsections == 1 ? "" : "s", t->ntasks - 1);
    for (uint32_t c = 0; c < h->ncpus; c++) printf(" %" PRIu64, h->per_cpu[c]);
    printf("\n");
    for (int i = 0; i < TRACE_H_N; i++) {
        if (!h->count[i]) continue;
        const char *colour = trace_health_text[i].strict ? s.warn : "";
        printf("  %s%s: %" PRIu64 "%s (%s)\n", colour, trace_health_text[i].name, h->count[i], *colour ? s.off : "",
               trace_health_text[i].help);
    }
    if (t->lines.lost_events) printf("  lost events by the recorder's own count: %" PRIu64 "\n", t->lines.lost_events);
}
