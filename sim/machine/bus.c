/*
 * bus.c - shared bandwidth: front-side buses, memory controllers, links.
 *
 * Each server divides its rate among the CPUs that are inside a stage. Max-min fairness: everybody gets at most the
 * share; what small demands leave is given to the others. While the demands fit, nothing is divided and a join is O(1).
 */
#include <stdio.h>

#include "machine_impl.h"

static void name_servers(struct wb_machine_state *s, uint32_t first, uint32_t n, const char *kind, uint64_t rate)
{
    for (uint32_t i = 0; i < n; i++) {
        struct server *v = &s->server[first + i];
        *v = (struct server){.rate = rate, .share = UINT64_MAX, .head = WB_NO_CPU, .tail = WB_NO_CPU};
        snprintf(v->name, sizeof v->name, "%s%u", kind, i);
    }
}

void bus_init(struct wb_machine_state *s)
{
    const struct wb_machine *m = s->m;
    name_servers(s, 0, m->nbuses, "bus", m->spec.bus.rate);
    name_servers(s, m->nbuses, m->nmemories, "memory", m->spec.memory_bw.rate);
    name_servers(s, m->nbuses + m->nmemories, m->nlinks, "link", m->spec.link.rate);
    for (uint32_t i = 0; i < m->topo->ncpus * WB_STAGE_SERVERS; i++) s->job[i].server = WB_NO_SERVER;
}

uint32_t wb_server_count(const struct wb_machine_state *s)
{
    return s->m->nservers;
}

const char *wb_server_name(const struct wb_machine_state *s, server_id v)
{
    WB_CHECK(v < s->m->nservers, "server %u", v);
    return s->server[v].name;
}

uint64_t wb_stage_demand(const struct wb_stage *stage)
{
    if (!stage->time) return 0;
    return (uint64_t)((unsigned __int128)stage->bytes * (unsigned __int128)WB_S / stage->time);
}

/* The job slot of a CPU at a server; WB_NO_SERVER finds a free slot. */
static struct job_link *job_at(const struct wb_machine_state *s, cpu_id cpu, server_id v)
{
    struct job_link *j = &s->job[(size_t)cpu * WB_STAGE_SERVERS];
    for (uint32_t i = 0; i < WB_STAGE_SERVERS; i++)
        if (j[i].server == v) return &j[i];
    return NULL;
}

/* Water filling: who wants less than the share is served in full, the others divide what is left. Each round serves
 * at least one more job, so it ends; it needs as many rounds as there are different levels of demand below the
 * share. */
static uint64_t fair_share(const struct wb_machine_state *s, const struct server *v)
{
    uint64_t share = v->rate / v->active;
    for (;;) {
        uint64_t small = 0;
        uint32_t nsmall = 0;
        for (cpu_id c = v->head; c != WB_NO_CPU;) {
            const struct job_link *j = job_at(s, c, (server_id)(v - s->server));
            if (j->demand <= share) {
                small += j->demand;
                nsmall++;
            }
            c = j->next;
        }
        if (nsmall == v->active) return UINT64_MAX;
        uint64_t better = (v->rate - small) / (v->active - nsmall);
        if (better <= share) return share;
        share = better;
    }
}

/* True when the share changed. */
static bool divide(const struct wb_machine_state *s, struct server *v)
{
    uint64_t share = v->demand <= v->rate || !v->active ? UINT64_MAX : fair_share(s, v);
    bool changed = share != v->share;
    v->share = share;
    return changed;
}

bool wb_server_join(struct wb_machine_state *s, server_id id, cpu_id cpu, uint64_t demand)
{
    WB_CHECK(id < s->m->nservers && cpu < s->m->topo->ncpus, "server %u CPU %u", id, cpu);
    WB_CHECK(!job_at(s, cpu, id), "CPU %u is on %s already", cpu, s->server[id].name);
    struct server *v = &s->server[id];
    struct job_link *j = job_at(s, cpu, WB_NO_SERVER);
    WB_CHECK(j, "CPU %u is on too many servers", cpu);
    *j = (struct job_link){.prev = v->tail, .next = WB_NO_CPU, .server = id, .demand = demand};
    if (v->tail != WB_NO_CPU)
        job_at(s, v->tail, id)->next = cpu;
    else
        v->head = cpu;
    v->tail = cpu;
    v->active++;
    v->demand += demand;
    return divide(s, v) && v->active > 1;
}

bool wb_server_leave(struct wb_machine_state *s, server_id id, cpu_id cpu)
{
    WB_CHECK(id < s->m->nservers && cpu < s->m->topo->ncpus, "server %u CPU %u", id, cpu);
    struct server *v = &s->server[id];
    struct job_link *j = job_at(s, cpu, id);
    WB_CHECK(j, "CPU %u is not on %s", cpu, v->name);
    if (j->prev != WB_NO_CPU)
        job_at(s, j->prev, id)->next = j->next;
    else
        v->head = j->next;
    if (j->next != WB_NO_CPU)
        job_at(s, j->next, id)->prev = j->prev;
    else
        v->tail = j->prev;
    v->active--;
    v->demand -= j->demand;
    j->server = WB_NO_SERVER;
    return divide(s, v) && v->active > 0;
}

uint32_t wb_server_speed_ppm(const struct wb_machine_state *s, server_id id, cpu_id cpu)
{
    WB_CHECK(id < s->m->nservers, "server %u", id);
    const struct job_link *j = job_at(s, cpu, id);
    WB_CHECK(j, "CPU %u is not on %s", cpu, s->server[id].name);
    uint64_t share = s->server[id].share;
    if (j->demand <= share) return 1000000;
    return (uint32_t)((unsigned __int128)share * 1000000 / j->demand);
}

uint32_t wb_server_active(const struct wb_machine_state *s, server_id id)
{
    WB_CHECK(id < s->m->nservers, "server %u", id);
    return s->server[id].active;
}

cpu_id wb_server_first(const struct wb_machine_state *s, server_id id)
{
    WB_CHECK(id < s->m->nservers, "server %u", id);
    return s->server[id].head;
}

cpu_id wb_server_next(const struct wb_machine_state *s, server_id id, cpu_id cpu)
{
    const struct job_link *j = job_at(s, cpu, id);
    WB_CHECK(j, "CPU %u is not on server %u", cpu, id);
    return j->next;
}
