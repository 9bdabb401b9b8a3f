/* draw_domains.c - sched domains as text, from the accessors of kernel.h. */
#include "draw_domains.h"

#include <string.h>

#include "wakebal/units.h"

#define GROUPS_SHOWN 16u /* of one domain */
#define SPAN_TEXT 256u

static bool same_spans(struct wb_sim *s, cpu_id a, cpu_id b)
{
    struct wb_sd *x = wb_rq(s, a)->sd, *y = wb_rq(s, b)->sd;
    while (x && y && x->level == y->level && wb_mask_equal(x->span, y->span)) {
        x = x->parent;
        y = y->parent;
    }
    return !x && !y;
}

static void draw_spans(FILE *out, struct wb_sim *s, cpu_id first, cpu_id last)
{
    char text[SPAN_TEXT];
    fprintf(out, first == last ? "cpu%u:" : "cpu%u-%u:", first, last);
    if (!wb_rq(s, first)->sd) fputs(" none", out);
    WB_FOR_EACH_SD(sd, wb_rq(s, first))
    fprintf(out, "%s%s {%s}", sd->child ? "  " : " ", sd->level->name, wb_mask_format(text, sizeof text, sd->span));
    fputc('\n', out);
}

static const char *time_text(char *buf, size_t n, sim_time t)
{
    return wb_format_exact(buf, n, (int64_t)t, WB_UNIT_TIME);
}

static void draw_groups(FILE *out, const struct wb_sd *sd)
{
    char text[SPAN_TEXT];
    fputs("  groups    ", out);
    for (uint32_t i = 0; i < sd->ngroups && i < GROUPS_SHOWN; i++) {
        const struct wb_sg *g = wb_sd_group(sd, i);
        fprintf(out, "%s{%s} power %u", i ? ", " : "", wb_mask_format(text, sizeof text, &g->mask), g->power);
    }
    if (sd->ngroups > GROUPS_SHOWN) fprintf(out, ", ... %u more", sd->ngroups - GROUPS_SHOWN);
    fputc('\n', out);
}

static void draw_flags(FILE *out, const struct wb_sd *sd)
{
    fputs("  flags    ", out);
    for (unsigned i = 0; wb_sd_flag_name[i]; i++)
        if (sd->flags & 1u << i) fprintf(out, " %s", wb_sd_flag_name[i]);
    fputc('\n', out);
}

static void draw_numbers(FILE *out, const struct wb_sd_level *l)
{
    char a[40], b[40];
    fprintf(out, "  interval  %s", time_text(a, sizeof a, l->min_interval));
    fprintf(out, " .. %s, first %s, x%u when busy\n", time_text(a, sizeof a, l->max_interval),
            time_text(b, sizeof b, l->initial_interval), l->busy_factor);
    fprintf(out, "  cache hot %s, imbalance %u %%, nice tries %u\n", time_text(a, sizeof a, l->cache_hot_time),
            l->imbalance_pct, l->cache_nice_tries);
    fprintf(out, "  indexes   busy %u, idle %u, newidle %u, wake %u, fork/exec %u\n", l->busy_idx, l->idle_idx,
            l->newidle_idx, l->wake_idx, l->forkexec_idx);
}

void draw_domains(FILE *out, struct wb_sim *s, cpu_id cpu)
{
    char text[SPAN_TEXT];
    cpu_id n = wb_ncpus(s), last;
    for (cpu_id c = 0; c < n; c = last + 1) {
        for (last = c; last + 1 < n && same_spans(s, c, last + 1);) last++;
        draw_spans(out, s, c, last);
    }
    WB_FOR_EACH_SD(sd, wb_rq(s, cpu))
    {
        fprintf(out, "\n%s of cpu%u, depth %u: {%s}\n", sd->level->name, cpu, sd->depth,
                wb_mask_format(text, sizeof text, sd->span));
        draw_groups(out, sd);
        draw_flags(out, sd);
        draw_numbers(out, sd->level);
    }
}
