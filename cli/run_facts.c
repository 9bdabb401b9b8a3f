/* run_facts.c - what a summary tells about the simulated machine. */
#include <stdio.h>
#include <string.h>

#include "run_parts.h"
#include "wakebal/kernel.h"
#include "wakebal/machine.h"

static void describe_machine(struct run_facts *f, const struct wb_topology *t)
{
    static const struct {
        enum wb_topo_level level;
        const char *one, *many;
    } part[] = {
        {WB_LVL_NODE, "node", "nodes"}, {WB_LVL_PACKAGE, "package", "packages"}, {WB_LVL_CORE, "core", "cores"}};
    uint32_t above = 1;
    size_t used = (size_t)snprintf(f->machine, sizeof f->machine, "%u CPU%s", t->ncpus, t->ncpus == 1 ? "" : "s");
    const char *between = ": ";
    for (size_t i = 0; i < WB_ARRAY_SIZE(part) && used < sizeof f->machine; i++) {
        uint32_t n = t->level[part[i].level].ngroups, each = n / above;
        if (i == 0 && n == 1) continue;
        if (!each || n % above) break; /* not symmetric: the count of CPUs must do */
        used += (size_t)snprintf(f->machine + used, sizeof f->machine - used, "%s%u %s", between, each,
                                 each == 1 ? part[i].one : part[i].many);
        between = " x ";
        above = n;
    }
    if (t->nsmt > 1 && used < sizeof f->machine)
        snprintf(f->machine + used, sizeof f->machine - used, " x %u threads", t->nsmt);
}

void run_facts_take(struct run_facts *f, struct wb_sim *s)
{
    describe_machine(f, wb_topo(s));
    f->ndomains = 0;
    WB_FOR_EACH_SD(sd, wb_rq(s, 0))
    {
        if (f->ndomains == WB_ARRAY_SIZE(f->domain)) break;
        snprintf(f->domain[f->ndomains++], sizeof f->domain[0], "%s", sd->level->name);
    }
    f->known = true;
}
