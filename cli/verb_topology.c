/* verb_topology.c - `wakebal topology`: a machine file from this machine, a synthetic string or an hwloc XML file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "verbs.h"
#include "wakebal/machine.h"

enum { KEY_LIVE = 0x1000, KEY_SYNTHETIC, KEY_HWLOC, KEY_NUMBERING, KEY_NAME, KEY_DRAW };

struct request {
    bool live, draw;
    const char *synthetic, *hwloc, *numbering, *name;
};

static const struct argp_option own_options[] = {
    {"live", KEY_LIVE, NULL, 0, "The machine this runs on", 0},
    {"synthetic", KEY_SYNTHETIC, "STRING", 0, "An hwloc synthetic string: \"pack:2 [numa] l3:1 core:4 pu:2\"", 0},
    {"from-hwloc", KEY_HWLOC, "FILE", 0, "An hwloc XML file (lstopo --of xml FILE)", 0},
    {"numbering", KEY_NUMBERING, "SCHEME", 0, "CPU numbers: default, smt_first, smt_last, interleaved", 0},
    {"name", KEY_NAME, "NAME", 0, "machine.name of the file", 0},
    {"draw", KEY_DRAW, NULL, 0, "Draw the topology instead of writing a file", 0},
    {0}};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    switch (key) {
    case KEY_LIVE: r->live = true; return 0;
    case KEY_SYNTHETIC: r->synthetic = arg; return 0;
    case KEY_HWLOC: r->hwloc = arg; return 0;
    case KEY_NUMBERING: r->numbering = arg; return 0;
    case KEY_NAME: r->name = arg; return 0;
    case KEY_DRAW: r->draw = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Highest clock of CPU 0 in Hz, 0 when the system does not say. */
static uint64_t read_clock(void)
{
    char line[64] = "";
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
    if (f) {
        if (!fgets(line, sizeof line, f)) line[0] = 0;
        fclose(f);
    }
    uint64_t khz = strtoull(line, NULL, 10);
    return khz < 100000000 ? khz * 1000 : 0;
}

static int find_numbering(const char *name, enum wb_numbering *out)
{
    static const char *const names[] = {"default", "smt_first", "smt_last", "interleaved"};
    for (size_t i = 0; name && i < WB_ARRAY_SIZE(names); i++) {
        if (strcmp(name, names[i])) continue;
        *out = (enum wb_numbering)i;
        return 0;
    }
    return name ? -1 : 0;
}

static struct wb_topology *make_topology(const struct request *r, const struct wb_topo_options *opt, struct wb_diag *d)
{
    if (r->synthetic) return wb_topo_from_synthetic(r->synthetic, opt, d);
    return r->hwloc ? wb_topo_from_hwloc_xml(r->hwloc, opt, d) : wb_topo_live(opt, d);
}

static char *make_file(const struct request *r, const struct wb_topology *t)
{
    const char *slash = r->hwloc ? strrchr(r->hwloc, '/') : NULL;
    struct wb_machine_file_options f = {.name = r->name ? r->name : r->live ? "live" : "custom"};
    f.origin = r->synthetic ? "a synthetic string"
               : r->hwloc   ? (slash ? slash + 1 : r->hwloc)
                            : "the running system (hwloc)";
    if (r->live && (f.clock_hz = read_clock()) != 0) f.clock_source = "cpufreq/cpuinfo_max_freq of CPU 0";
    return wb_machine_file(t, &f);
}

static int run(const struct cli_options *o, const struct request *r)
{
    /* Sizes where the source names none: the defaults of machine.cache.*. */
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    if (find_numbering(r->numbering, &opt.numbering))
        return cli_usage_error("wakebal topology", "schemes: default, smt_first, smt_last, interleaved",
                               "no numbering '%s'", r->numbering);
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = make_topology(r, &opt, d);
    int rc = cli_print_diag(o, d);
    wb_diag_free(d);
    if (!t) return rc == EXIT_FINE ? EXIT_INVALID : rc;
    char *text = r->draw ? wb_topo_draw(t, 80, cli_unicode(o)) : make_file(r, t);
    rc = text ? out_file(o->output ? o->output : "-", r->draw ? out_put_text : out_put_scenario, text) : EXIT_INTERNAL;
    free(text);
    wb_topology_free(t);
    return rc;
}

int verb_topology(int argc, char **argv)
{
    struct request r = {0};
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "--live | --synthetic STRING | --from-hwloc FILE",
        .doc = "Write a machine file for a topology: all keys that matter to it, commented, costs at their defaults."
               "\vThe file goes to standard output or to -o FILE; use it with `-m FILE` or `machine : { base = "
               "\"FILE\"; }`.\n"
               "  wakebal topology --live -o me.cfg\n"
               "  wakebal topology --synthetic \"pack:2 [numa] l3:1 core:8 pu:2\" --numbering smt_last --draw",
        .surplus = "A machine that ships is shown with: wakebal show topology nehalem-ep   (wakebal list machines)",
        .groups = CLI_OUTPUT,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &r,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) {
        static const char *const wrong[] = {"say what: --live, --synthetic STRING or --from-hwloc FILE",
                                            "give one of --live, --synthetic and --from-hwloc"};
        int sources = r.live + (r.synthetic != NULL) + (r.hwloc != NULL);
        rc = sources == 1 ? run(&o, &r) : cli_usage_error("wakebal topology", NULL, "%s", wrong[sources > 1]);
    }
    cli_options_free(&o);
    return rc;
}
