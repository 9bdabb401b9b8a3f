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

/* Linux 5.4 is 5004. 0: not said. */
static unsigned version_number(const char *v)
{
    unsigned major = 0, minor = 0;
    if (!v || sscanf(v, "%u.%u", &major, &minor) != 2) return 0;
    return major * 1000 + minor;
}

/* Names that Linux has changed; before that they are those of the scenario keys. SHARE_CPUPOWER and cpu_power became
 * capacities in 3.16 (5d4dfddd4f02), SHARE_PKG_RESOURCES became SHARE_LLC in 6.9, LOAD_BALANCE went in 5.10 (all
 * domains balance), the load indexes in 5.3. */
enum { CAPACITY_SINCE = 3016, INDEXES_UNTIL = 5003 };
static const struct {
    uint32_t flag;
    unsigned since;
    const char *name; /* NULL: there is none any more */
} renamed[] = {
    {WB_SD_LOAD_BALANCE, 5010, NULL},
    {WB_SD_SHARE_CPUPOWER, CAPACITY_SINCE, "SHARE_CPUCAPACITY"},
    {WB_SD_SHARE_PKG, 6009, "SHARE_LLC"},
};

static const char *flag_name(unsigned i, unsigned version)
{
    for (size_t k = 0; k < WB_ARRAY_SIZE(renamed); k++)
        if (renamed[k].flag == 1u << i && version >= renamed[k].since) return renamed[k].name;
    return wb_sd_flag_name[i];
}

static void draw_groups(FILE *out, const struct wb_sd *sd, unsigned version)
{
    char text[SPAN_TEXT];
    const char *unit = version >= CAPACITY_SINCE ? "capacity" : "power";
    fputs("  groups    ", out);
    for (uint32_t i = 0; i < sd->ngroups && i < GROUPS_SHOWN; i++) {
        const struct wb_sg *g = wb_sd_group(sd, i);
        fprintf(out, "%s{%s} %s %u", i ? ", " : "", wb_mask_format(text, sizeof text, &g->mask), unit, g->power);
    }
    if (sd->ngroups > GROUPS_SHOWN) fprintf(out, ", ... %u more", sd->ngroups - GROUPS_SHOWN);
    fputc('\n', out);
}

static void draw_flags(FILE *out, const struct wb_sd *sd, unsigned version)
{
    fputs("  flags    ", out);
    for (unsigned i = 0; wb_sd_flag_name[i]; i++)
        if (sd->flags & 1u << i && flag_name(i, version)) fprintf(out, " %s", flag_name(i, version));
    fputc('\n', out);
}

static void draw_numbers(FILE *out, const struct wb_sd_level *l, unsigned version)
{
    char a[40], b[40];
    fprintf(out, "  interval  %s", time_text(a, sizeof a, l->min_interval));
    fprintf(out, " .. %s, first %s, x%u when busy\n", time_text(a, sizeof a, l->max_interval),
            time_text(b, sizeof b, l->initial_interval), l->busy_factor);
    fprintf(out, "  imbalance %u %%, nice tries %u", l->imbalance_pct, l->cache_nice_tries);
    if (l->cache_hot_time) fprintf(out, ", cache hot %s", time_text(a, sizeof a, l->cache_hot_time));
    fputc('\n', out);
    if (version >= INDEXES_UNTIL) return;
    fprintf(out, "  indexes   busy %u, idle %u, newidle %u, wake %u, fork/exec %u\n", l->busy_idx, l->idle_idx,
            l->newidle_idx, l->wake_idx, l->forkexec_idx);
}

void draw_domains(FILE *out, struct wb_sim *s, cpu_id cpu, const char *version)
{
    unsigned number = version_number(version);
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
        draw_groups(out, sd, number);
        draw_flags(out, sd, number);
        draw_numbers(out, sd->level, number);
    }
}
