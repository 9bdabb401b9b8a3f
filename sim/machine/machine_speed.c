/* machine_speed.c - machine.cpu_speed: cores of several kinds, "0-3 45 %". */
#include <stdlib.h>
#include <string.h>

#include "machine_impl.h"
#include "wakebal/config.h"
#include "wakebal/units.h"

#define KEY "machine.cpu_speed"
#define FULL_PPM 1000000

static int complain(const struct wb_config *cfg, struct wb_diag *d, size_t i, const char *text)
{
    struct wb_place place = wb_cfg_place_in(cfg, KEY, i, 0, strlen(text));
    wb_diag_add(d, WB_ERROR, NULL, place, "write \"0-3 45 %\": CPUs of this machine and their speed, 1 to 100 %",
                KEY ": no CPUs and speed: \"%s\"", text);
    return -1;
}

/* One entry; scratch: a mask of the machine's size. */
static int set_speeds(uint32_t *ppm, const char *text, struct wb_cpumask *scratch)
{
    const char *gap = strchr(text, ' '), *why;
    char cpus[128];
    int64_t v;
    size_t at;
    if (!gap || (size_t)(gap - text) >= sizeof cpus) return -1;
    memcpy(cpus, text, (size_t)(gap - text));
    cpus[gap - text] = 0;
    memset(scratch->w, 0, scratch->nwords * sizeof(uint64_t));
    if (wb_mask_parse(cpus, scratch, &why, &at)) return -1;
    if (wb_parse_quantity(gap + 1, WB_UNIT_RATIO, &v, &why, &at) || v < FULL_PPM / 100 || v > FULL_PPM) return -1;
    WB_FOR_EACH_CPU (c, scratch) ppm[c] = (uint32_t)v;
    return 0;
}

int machine_read_speeds(struct wb_machine *m, const struct wb_config *cfg, struct wb_diag *d)
{
    size_t n = wb_cfg_has(cfg, KEY) ? wb_cfg_count(cfg, KEY) : 0;
    uint32_t ncpus = m->topo->ncpus, nwords = WB_CPUMASK_WORDS(ncpus);
    if (!n) return 0;
    struct wb_cpumask scratch = {.ncpus = ncpus, .nwords = nwords, .w = calloc(nwords, sizeof(uint64_t))};
    m->speed_ppm = calloc(ncpus, sizeof *m->speed_ppm);
    WB_MEMORY(scratch.w && m->speed_ppm, "out of memory for the speeds of %u CPUs", ncpus);
    for (uint32_t c = 0; c < ncpus; c++) m->speed_ppm[c] = FULL_PPM;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const char *text = wb_cfg_str_at(cfg, KEY, i);
        if (set_speeds(m->speed_ppm, text, &scratch)) rc = complain(cfg, d, i, text);
    }
    free(scratch.w);
    return rc;
}

uint32_t wb_machine_speed_ppm(const struct wb_machine *m, cpu_id c)
{
    return m->speed_ppm ? m->speed_ppm[c] : FULL_PPM;
}
