#include "import_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exit_code.h"
#include "registry.h"
#include "trace_table.h"
#include "wakebal/units.h"

static bool read_time(const char *text, size_t n, uint64_t *ns)
{
    char buf[64];
    const char *why;
    size_t at;
    int64_t v;
    if (!n || n >= sizeof buf) return n == 0;
    memcpy(buf, text, n);
    buf[n] = 0;
    if (wb_parse_quantity(buf, WB_UNIT_TIME, &v, &why, &at) || v < 0) return false;
    *ns = (uint64_t)v / WB_NS;
    return true;
}

static error_t read_window(const char *verb, const char *text, struct import_options *o)
{
    const char *dots = strstr(text, "..");
    if (dots && read_time(text, (size_t)(dots - text), &o->from_ns) &&
        read_time(dots + 2, strlen(dots + 2), &o->to_ns) && (!o->to_ns || o->to_ns > o->from_ns))
        return 0;
    (void)cli_usage_error(verb, "For example: --window 10ms..60ms, or --window ..50ms",
                          "--window '%.100s' is no window", text);
    return EINVAL;
}

error_t import_args_parse(const char *verb, struct import_args *a, int key, char *arg)
{
    switch (key - IMPORT_KEY) {
    case 0: a->o.section = arg; return 0;
    case 1: return read_window(verb, arg, &a->o);
    case 2: a->o.all = true; return 0;
    case 3: a->o.keep_cpus = true; return 0;
    case 4: a->as_is = true; return 0;
    case 5: a->strict = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* -m and -k, else what the recording says, else one cache and the newest kernel. */
static void name_host(struct import *m, const struct trace *t, const struct cli_options *o)
{
    if (o->machine)
        (void)snprintf(m->machine, sizeof m->machine, "%s", o->machine);
    else if (t->own_machine[0])
        (void)snprintf(m->machine, sizeof m->machine, "%s", t->own_machine);
    else
        (void)trace_machine(t, m->machine, sizeof m->machine);
    if (o->kernel)
        (void)snprintf(m->kernel, sizeof m->kernel, "%s", o->kernel);
    else if (!trace_kernel(t, m->kernel, sizeof m->kernel))
        (void)snprintf(m->kernel, sizeof m->kernel, "linux-6.18");
}

static bool refused(const char *verb, const struct import_args *a, const struct trace_health *h)
{
    const struct trace_health_text *broken = a->strict ? trace_health_broken(h) : NULL;
    if (broken) fprintf(stderr, "%s: --strict: %s: %s\n", verb, broken->name, broken->help);
    return broken != NULL;
}

struct import *import_args_load(const char *verb, const struct cli_options *o, const struct import_args *a,
                                struct wb_key_registry *keys, int *rc)
{
    struct wb_diag *d = wb_diag_new();
    struct trace *t = trace_read_file(o->arg[0], d);
    struct trace_health h = {0};
    struct import *m = NULL;
    if (t && !trace_infer(t, &h) && !refused(verb, a, &h)) m = import_make(t, &a->o, d);
    if (m) {
        name_host(m, t, o);
        if (!a->as_is && import_settle(m, cli_models(), keys, d)) {
            import_free(m);
            m = NULL;
        }
    }
    *rc = cli_print_diag(o, d);
    if (!m && *rc == EXIT_FINE) *rc = EXIT_INVALID;
    trace_health_free(&h);
    trace_free(t);
    wb_diag_free(d);
    return m;
}
