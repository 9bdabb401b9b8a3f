/* verb_guest.c - `wakebal guest`: boot a real kernel on a chosen topology, record its scheduler, compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "guest_lab.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

enum { KEY_SMP = 0x1000, KEY_FEATURES, KEY_RUNS, KEY_WORK, KEY_NODES, KEY_MEMORY, KEY_LIMIT, KEY_APPEND, KEY_KERNEL };

struct request {
    struct guest_options g;
    char work[512], init[512], runs[512];
};

static const struct argp_option own_options[] = {
    {"smp", KEY_SMP, "CPUS", 0,
     "CPUs as QEMU has them: 16,sockets=2,cores=4,threads=2 (default 8,sockets=2,cores=2,threads=2)", 1},
    {"kernel", KEY_KERNEL, "SERIES|FILE", 0,
     "6.12 or 6.1: Debian's newest cloud kernel of it; or a vmlinuz (default 6.12)", 1},
    {"features", KEY_FEATURES, "LIST", 0, "Scheduler features to turn: NO_WA_IDLE,NEXT_BUDDY", 1},
    {"numa", KEY_NODES, "N", 0, "NUMA nodes, with equal shares of CPUs and memory", 1},
    {"runs", KEY_RUNS, "FILE", 0, "What to run, a line each: NAME KIND NUMBERS", 1},
    {"memory", KEY_MEMORY, "MIB", 0, "Memory of the guest (default 1024)", 1},
    {"limit", KEY_LIMIT, "SECONDS", 0, "End it after this long (default 600)", 1},
    {"work", KEY_WORK, "FOLDER", 0, "Where kernels are kept (default ~/.cache/wakebal/guest)", 1},
    {"append", KEY_APPEND, "TEXT", 0, "More of the kernel's command line", 1},
    {0}};

static error_t read_number(const char *name, const char *text, unsigned long max, uint32_t *n)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *n = (uint32_t)v;
    if (end != text && !*end && *text != '-' && v && v <= max) return 0;
    (void)cli_usage_error("wakebal guest", NULL, "--%s takes a number from 1 to %lu, not '%.100s'", name, max, text);
    return EINVAL;
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    switch (key) {
    case KEY_SMP: r->g.smp = arg; return 0;
    case KEY_KERNEL: r->g.kernel = arg; return 0;
    case KEY_FEATURES: r->g.features = arg; return 0;
    case KEY_RUNS: r->g.runs = arg; return 0;
    case KEY_WORK: r->g.work = arg; return 0;
    case KEY_APPEND: r->g.append = arg; return 0;
    case KEY_NODES: return read_number("numa", arg, 8, &r->g.nodes);
    case KEY_MEMORY: return read_number("memory", arg, 65536, &r->g.memory_mib);
    case KEY_LIMIT: return read_number("limit", arg, 86400, &r->g.limit_s);
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Beside the sources while it runs from the build tree, else where it is installed. */
static void default_paths(struct request *r)
{
    const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
    char base[256];
    if (cache)
        (void)snprintf(base, sizeof base, "%.255s", cache);
    else
        (void)snprintf(base, sizeof base, "%.240s/.cache", home ? home : "/tmp");
    if (!r->g.work) {
        (void)mkdir(base, 0700);
        (void)snprintf(r->work, sizeof r->work, "%s/wakebal", base);
        (void)mkdir(r->work, 0777);
        (void)snprintf(r->work, sizeof r->work, "%s/wakebal/guest", base);
        r->g.work = r->work;
    }
    const char *prefix = wb_scenario_prefix();
    bool built = !prefix && !access(WB_BUILD_DIR "/wakebal-guest-init", R_OK);
    bool sources = !prefix && !access(WB_SOURCE_GUEST "/default.runs", R_OK);
    char installed[sizeof base + 64];
    (void)snprintf(installed, sizeof installed, "%s%s", prefix ? prefix : "",
                   prefix ? "/libexec/wakebal" : WB_INSTALL_LIBEXEC);
    (void)snprintf(r->init, sizeof r->init, "%s/wakebal-guest-init", built ? WB_BUILD_DIR : installed);
    r->g.init = r->init;
    (void)snprintf(r->runs, sizeof r->runs, "%s/default.runs", sources ? WB_SOURCE_GUEST : installed);
    if (!r->g.runs) r->g.runs = r->runs;
}

static int run(const struct cli_options *o, struct request *r)
{
    static const int code[] = {[GUEST_FINE] = EXIT_FINE,
                               [GUEST_INVALID] = EXIT_USAGE,
                               [GUEST_NO_TOOL] = EXIT_TOOL,
                               [GUEST_NO_OUTPUT] = EXIT_OUTPUT,
                               [GUEST_FAILED] = EXIT_TOOL};
    struct wb_diag *d = wb_diag_new();
    double seconds;
    r->g.output = o->output ? o->output : "guest.trace";
    default_paths(r);
    if (!o->quiet) out_line(stderr, "Booting Linux %s with %s CPUs in software emulation ...", r->g.kernel, r->g.smp);
    enum guest_outcome got = guest_run(&r->g, d, &seconds);
    (void)cli_print_diag(o, d);
    wb_diag_free(d);
    if (got == GUEST_FINE && !o->quiet)
        out_line(stderr, "Report: %s (%.0f s). Compare it: wakebal conform %s", r->g.output, seconds, r->g.output);
    return code[got];
}

int verb_guest(int argc, char **argv)
{
    struct request r = {
        .g = {.smp = "8,sockets=2,cores=2,threads=2", .kernel = "6.12", .memory_mib = 1024, .limit_s = 600}};
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "",
        .doc = "Boot a real Debian kernel under QEMU (software emulation, no root, nothing installed) on a topology of "
               "your "
               "choosing, run small workloads there and record what its scheduler decides."
               "\vDecisions count, not times. The report goes to -o FILE (guest.trace); `wakebal conform` reads it.\n"
               "Needs: qemu-system-x86, apt (or a kernel image), a static C library at build time.\n"
               "  wakebal guest --smp 16,sockets=2,cores=4,threads=2 --kernel 6.12 --features NO_WA_IDLE -o g.trace",
        .groups = CLI_OUTPUT,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &r,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) rc = run(&o, &r);
    cli_options_free(&o);
    return rc;
}
