/* calib_file.c - a calibration as files: a machine, and a kernel's path costs. */
#include "calib.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_LEAST_NS 100.0 /* a CPU that is caught on its way into idle still has to turn round */

/* "12.3 ns" with as many digits as the interval deserves. */
static const char *quantity(char *buf, size_t n, double v, enum wb_unit unit)
{
    static const struct {
        enum wb_unit unit;
        double base;
        const char *name;
    } form[] = {{WB_UNIT_TIME, 1e12, "s"},   {WB_UNIT_TIME, 1e9, "ms"}, {WB_UNIT_TIME, 1e6, "us"},
                {WB_UNIT_TIME, 1e3, "ns"},   {WB_UNIT_TIME, 1, "ps"},   {WB_UNIT_RATE, 1e9, "GB/s"},
                {WB_UNIT_RATE, 1e6, "MB/s"}, {WB_UNIT_RATE, 1, "B/s"},  {WB_UNIT_FREQ, 1e9, "GHz"},
                {WB_UNIT_FREQ, 1e6, "MHz"},  {WB_UNIT_FREQ, 1, "Hz"},   {WB_UNIT_RATIO, 1e4, "%"},
                {WB_UNIT_RATIO, 1, "%"}};
    size_t i = 0;
    while (form[i].unit != unit || (v < form[i].base && i + 1 < WB_ARRAY_SIZE(form) && form[i + 1].unit == unit)) i++;
    if (unit == WB_UNIT_RATIO) i = 11;
    double x = v / form[i].base;
    snprintf(buf, n, "%.*f %s", x < 10 ? 3 : x < 100 ? 2 : 1, x, form[i].name);
    return buf;
}

/* ( "27.1 ns", "measured", "26.8 ns..27.9 ns", "two CPUs write one line in turns; median of 11; 2026-11-30" ) */
static const char *write_cost(const struct calib *c, const struct calib_row *r, char *buf, size_t n)
{
    char v[32], lo[32], hi[32];
    const char *status = r->assumed || (r->fitted && !calib_explains(c)) ? "assumed" : "measured";
    double a = fmin(r->lo, r->value), b = fmax(r->hi, r->value);
    if (r->unit == WB_UNIT_COUNT) { /* an integer stands without quotes */
        snprintf(buf, n, "( %.0f, \"%s\", \"%.0f..%.0f\", \"%s; %s\" )", r->value, status, a, b, r->method, c->date);
        return buf;
    }
    snprintf(buf, n, "( \"%s\", \"%s\", \"%s..%s\", \"%s; %s\" )", quantity(v, sizeof v, r->value, r->unit), status,
             quantity(lo, sizeof lo, a, r->unit), quantity(hi, sizeof hi, b, r->unit), r->method, c->date);
    return buf;
}

static const char *cost_of(void *ctx, const char *key, char *buf, size_t n)
{
    const struct calib *c = ctx;
    char full[80];
    snprintf(full, sizeof full, "machine.%s", key);
    const struct calib_row *r = calib_find(c, full);
    return r ? write_cost(c, r, buf, n) : NULL;
}

static void put_comment(FILE *out, const char *name, const char *text)
{
    fprintf(out, "// %-12s", name);
    for (; *text; text++) fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
    fputc('\n', out);
}

static void put_head(FILE *out, const struct calib *c, const char *what)
{
    fprintf(out,
            "// %s, calibrated by wakebal on %s. A cost is ( value, status, 95 %% interval, method and date );\n"
            "// what says assumed was not measured. `wakebal calibrate --check` tells whether it still fits.\n",
            what, c->date);
    put_comment(out, "host", c->host.fingerprint);
    put_comment(out, "kernel", c->host.kernel);
    put_comment(out, "cpu", c->host.cpu);
    if (c->host.hypervisor[0]) put_comment(out, "hypervisor", c->host.hypervisor);
    if (c->host.idle[0]) put_comment(out, "idle", c->host.idle);
    if (c->host.boot[0]) put_comment(out, "boot", c->host.boot);
    if (c->ntargets)
        fprintf(out, "// %-12s%s; a figure is off by %.2f of its interval's square%s\n", "fit",
                c->converged ? "converged" : "did not converge", c->chi2,
                calib_explains(c) ? "" : ": too much, so what was fitted is called assumed");
}

static double exit_at(const struct calib *c, uint32_t i, uint32_t k)
{
    return fmax(c->idle[i].exit_ns + c->idle[i].quantile[k], EXIT_LEAST_NS);
}

/* A table's value is its first cell; so that the interval is about it, the cells begin with the median's. */
#define MIDDLE (CALIB_QUANTILES / 2 - 1)

static double first_exit(const struct calib *c, uint32_t i)
{
    return c->idle[i].nquantiles ? exit_at(c, i, MIDDLE) : c->idle[i].exit_ns;
}

/* The median alone, or the measured cells around it. */
static void put_exit(FILE *out, const struct calib *c, uint32_t i)
{
    char text[32];
    uint32_t n = c->idle[i].nquantiles;
    if (!n) {
        fputs(quantity(text, sizeof text, c->idle[i].exit_ns * 1e3, WB_UNIT_TIME), out);
        return;
    }
    for (uint32_t j = 0; j < n; j++) {
        uint32_t k = (j + MIDDLE) % n;
        fprintf(out, "%s%s:%u", j ? ", " : "table(", quantity(text, sizeof text, exit_at(c, i, k) * 1e3, WB_UNIT_TIME),
                probe_cell_weight[k]);
    }
    fputc(')', out);
}

/* Idle states as this host shows them: a halt whose exit takes longer the longer it was idle. */
static void put_idle(FILE *out, const struct calib *c)
{
    char lo[32], hi[32], after[32];
    fprintf(out, "// Leaving idle, by how long the CPU was idle; `enter` is not measured.\nidle :\n{\n");
    for (uint32_t i = 0; i < c->nidle; i++) {
        fprintf(
            out,
            "    i%u :\n    {\n        after = \"%s\";\n        enter = ( \"300 ns\", \"assumed\", \"100 ns..1 us\", "
            "\"not measured\" );\n",
            i, quantity(after, sizeof after, c->idle[i].after_ns * 1e3, WB_UNIT_TIME));
        fprintf(out, "        exit = ( \"");
        put_exit(out, c, i);
        fputc('"', out);
        fprintf(out,
                ", \"%s\", \"%s..%s\", \"fitted by simulating trips between two CPUs; %s\" );\n        wake = "
                "\"ipi\";\n    };\n",
                calib_explains(c) ? "measured" : "assumed",
                quantity(lo, sizeof lo, fmin(c->idle[i].lo, first_exit(c, i)) * 1e3, WB_UNIT_TIME),
                quantity(hi, sizeof hi, fmax(c->idle[i].hi, first_exit(c, i)) * 1e3, WB_UNIT_TIME), c->date);
    }
    fprintf(out, "};\n");
}

char *calib_machine_text(const struct calib *c, const char *name)
{
    char *head = NULL, *idle = NULL;
    size_t n;
    FILE *out = open_memstream(&head, &n);
    if (!out) return NULL;
    put_head(out, c, "Machine");
    if (fclose(out)) return NULL;
    if (c->nidle && (out = open_memstream(&idle, &n))) {
        put_idle(out, c);
        fclose(out);
    }
    struct wb_machine_file_options o = {.name = name,
                                        .origin = "the running system (hwloc)",
                                        .cost = cost_of,
                                        .ctx = (void *)(uintptr_t)c,
                                        .head = head,
                                        .idle = idle};
    char *text = wb_machine_file(c->topo, &o);
    free(head);
    free(idle);
    return text;
}

static void put_noise(FILE *out, const struct calib *c)
{
    char a[3][32], gap[32];
    if (c->noise.gap_ns <= 0) return;
    for (int i = 0; i < 3; i++) quantity(a[i], sizeof a[i], c->noise.cost_ns[i] * 1e3, WB_UNIT_TIME);
    fprintf(out,
            "// What else interrupted a spinning task: 10, 50 and 90 %% of the gaps.\n"
            "noise = ( { gap = \"exp(%s)\"; cost = \"table(%s:30, %s:40, %s:30)\"; } );\n",
            quantity(gap, sizeof gap, c->noise.gap_ns * 1e3, WB_UNIT_TIME), a[0], a[1], a[2]);
}

/* Lines of the kernel's own data. */
static void put_footprint(FILE *out, const struct calib *c)
{
    static const char *const keys[] = {"call_lines", "switch_lines"};
    char key[48], cost[400];
    for (size_t i = 0; i < WB_ARRAY_SIZE(keys); i++) {
        snprintf(key, sizeof key, "kernel.%s", keys[i]);
        const struct calib_row *r = calib_find(c, key);
        if (r) fprintf(out, "%s = %s;\n", keys[i], write_cost(c, r, cost, sizeof cost));
    }
}

#define FUNCTION "kernel.function."

/* Functions of system calls: function : { NAME : { cost = ( ... ); }; }. */
static void put_functions(FILE *out, const struct calib *c)
{
    char cost[400];
    bool open = false;
    for (uint32_t i = 0; i < c->n; i++) {
        const char *key = c->row[i].key;
        if (strncmp(key, FUNCTION, strlen(FUNCTION)) != 0) continue;
        if (!open) fprintf(out, "function :\n{\n");
        open = true;
        key += strlen(FUNCTION);
        fprintf(out, "    %.*s : { cost = %s; };\n", (int)strcspn(key, "."), key,
                write_cost(c, &c->row[i], cost, sizeof cost));
    }
    if (open) fprintf(out, "};\n");
}

/* Whether the kernel stops an idle CPU's tick at once: it has no driver of idle states (cpuidle_idle_call()), or the
 * haltpoll governor. Profiles before 5 do so anyway. */
static bool stops_tick_at_once(const struct calib *c)
{
    const char *base = c->kernel_base;
    if (strncmp(base, "linux-", 6) != 0 || strtol(base + 6, NULL, 10) < 5) return false;
    return !strncmp(c->host.idle, "none/", 5) || strstr(c->host.idle, "/haltpoll") != NULL;
}

char *calib_kernel_text(const struct calib *c, const char *name)
{
    char *text = NULL, cost[400];
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (!out) return NULL;
    put_head(out, c, "Kernel");
    fprintf(out, "schema = 1;\nbase   = \"%s\";\nname   = \"%s\";\ntitle  = \"%s with the path costs of %s\";\n",
            c->kernel_base, name, c->kernel_base, name);
    if (c->hz) fprintf(out, "hz = %u;\n", c->hz);
    if (stops_tick_at_once(c))
        fprintf(out, "policy : { nohz_at_once = true; }; // idle driver and governor: %s\n", c->host.idle);
    put_noise(out, c);
    put_footprint(out, c);
    put_functions(out, c);
    fprintf(out, "path :\n{\n");
    for (uint32_t i = 0; i < c->n; i++)
        if (!strncmp(c->row[i].key, "kernel.path.", 12))
            fprintf(out, "    %s = %s;\n", c->row[i].key + 12, write_cost(c, &c->row[i], cost, sizeof cost));
    fprintf(out, "};\n");
    return fclose(out) ? NULL : text;
}
