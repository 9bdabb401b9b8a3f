/* idle_states.c - idle states, interrupts between CPUs, and what SMT siblings leave of a core. */
#include "machine_impl.h"

/* A lognormal exit has no upper end, and a segment holds 70 s. */
#define EXIT_MAX (10 * WB_S)

uint32_t wb_smt_speed_ppm(const struct wb_machine *m, uint64_t other_load_ppm)
{
    if (!other_load_ppm) return 1000000;
    const uint32_t *share = m->spec.smt_share_ppm;
    uint64_t whole = other_load_ppm / 1000000, part = other_load_ppm % 1000000;
    if (whole >= WB_SMT_MAX - 1) return share[WB_SMT_MAX - 1];
    int64_t here = share[whole], next = share[whole + 1];
    return (uint32_t)(here + (next - here) * (int64_t)part / 1000000);
}

void wb_ipi_cost(const struct wb_machine *m, cpu_id from, cpu_id to, struct wb_ipi *out)
{
    const struct wb_machine_spec *p = &m->spec;
    *out =
        (struct wb_ipi){p->ipi_send, p->ipi_offset, p->ipi_flight[wb_topo_distance(m->topo, from, to)], p->ipi_entry};
}

static uint32_t state_index(const struct wb_machine *m, sim_time idle_for)
{
    uint32_t i = 0;
    while (i + 1 < m->spec.nidle && m->spec.idle[i + 1].after <= idle_for) i++;
    return i;
}

const struct wb_idle_state *wb_idle_state_at(const struct wb_machine *m, sim_time idle_for)
{
    return &m->spec.idle[state_index(m, idle_for)];
}

sim_time wb_idle_exit_latency(const struct wb_machine *m, sim_time idle_since, sim_time now, struct wb_stream *stream)
{
    WB_CHECK(now >= idle_since, "woken before it went idle");
    sim_time idle_for = now - idle_since;
    uint32_t i = state_index(m, idle_for);
    const struct wb_idle_state *st = &m->spec.idle[i];
    if (idle_for < st->after + st->enter) {
        if (!i) return 0;
        st--;
    }
    sim_time exit = (sim_time)wb_dist_draw(&st->exit, stream);
    return WB_MIN(exit, EXIT_MAX);
}
