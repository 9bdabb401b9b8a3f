#include "workers_shard.h"

#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX 100000ul

const char *workers_shard_parse(const char *text, struct workers_shard *s)
{
    char *end;
    if (!*text || strspn(text, "0123456789/") != strlen(text)) return "write K/N, for example 3/8";
    s->k = strtoul(text, &end, 10);
    if (end == text || *end != '/' || !end[1]) return "write K/N, for example 3/8";
    s->n = strtoul(end + 1, &end, 10);
    if (*end) return "write K/N, for example 3/8";
    if (!s->n || s->n > SHARDS_MAX) return "N is a number from 1 to 100000";
    return s->k < 1 || s->k > s->n ? "K is a number from 1 to N" : NULL;
}

void workers_shard_survey(struct workers_shard *s, const struct exp_points *p)
{
    s->fixed = true;
    s->total = p->n;
    for (size_t i = 0; i < p->n; i++)
        s->fixed &=
            wb_cfg_int(p->point[i].cfg, "run.replications.min") >= wb_cfg_int(p->point[i].cfg, "run.replications.max");
}

static size_t replications(const struct exp_points *p, size_t i)
{
    return (size_t)wb_cfg_int(p->point[i].cfg, "run.replications.min");
}

/* Is replication r of the point of this rank among the runs of the shard? After as many runs as are a multiple of
 * points and of shards the deal would begin again with the same shard, and of 4 points one of 2 shards would always
 * have the same two, which may be the slow ones: so it goes on with the next shard. */
static bool is_mine(const struct workers_shard *s, size_t place, size_t r)
{
    if (!s->fixed) return place % s->n == s->k - 1;
    WB_CHECK(s->total && s->n, "%zu shards of %zu points", s->n, s->total);
    size_t run = r * s->total + place, turn = s->total / wb_gcd(s->total, s->n) * s->n;
    return (run + run / turn) % s->n == s->k - 1;
}

void workers_shard_points(const struct workers_shard *s, struct exp_points *p, size_t **place)
{
    size_t kept = 0;
    *place = calloc(p->n ? p->n : 1, sizeof **place);
    WB_MEMORY(*place, "out of memory for %zu points", p->n);
    for (size_t i = 0; i < p->n; i++) {
        bool mine = false;
        for (size_t r = 0, n = s->fixed ? replications(p, i) : 1; r < n && !mine; r++) mine = is_mine(s, i, r);
        if (!mine) {
            wb_config_free(p->cfg[i]);
            free(p->label[i]);
            continue;
        }
        p->cfg[kept] = p->cfg[i];
        p->label[kept] = p->label[i];
        p->point[kept] = p->point[i];
        (*place)[kept++] = i;
    }
    p->n = kept;
}

struct exp_task_id *workers_shard_runs(const struct workers_shard *s, const struct exp_points *p, const size_t *place,
                                       size_t *n)
{
    size_t most = 0, room = 0;
    for (size_t i = 0; i < p->n; i++) {
        most = WB_MAX(most, replications(p, i));
        room += replications(p, i);
    }
    struct exp_task_id *id = calloc(room ? room : 1, sizeof *id);
    WB_MEMORY(id, "out of memory for %zu runs", room);
    *n = 0;
    for (size_t r = 0; r < most; r++)
        for (size_t i = 0; i < p->n; i++)
            if (r < replications(p, i) && is_mine(s, place ? place[i] : i, r))
                id[(*n)++] = (struct exp_task_id){.point = i, .replication = (uint32_t)r};
    return id;
}
