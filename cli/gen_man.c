/* gen_man.c - manual pages; see gen.h. */
#include "gen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config_build.h"
#include "exit_code.h"

static const struct {
    int code;
    const char *text;
} exit_table[] = {
    {EXIT_FINE, "Fine."},
    {EXIT_INTERNAL, "Internal error: a bug of wakebal."},
    {EXIT_USAGE, "Wrong command line."},
    {EXIT_INVALID, "A scenario, trace, study or result file is wrong."},
    {EXIT_EXPECTATION, "An expectation, a prediction or --fail-if is violated."},
    {EXIT_TOLERANCE, "A validation is outside its tolerance."},
    {EXIT_PRECISION, "The goal of precision was not reached; results are printed."},
    {EXIT_TOOL, "An optional tool is missing."},
    {EXIT_PERMISSION, "Not permitted, the host is not safe for it, or it has too little memory."},
    {EXIT_OUTPUT, "Output cannot be written."},
    {EXIT_INTERRUPTED, "Interrupted by SIGINT (143: SIGTERM, 129: SIGHUP); what is complete is reported."}};

static const struct {
    const char *name, *text;
} environment[] = {
    {"WAKEBAL_PATH",
     "Folders, separated by colons, in which machines, kernels, workloads, cases and studies are looked "
     "for before those that ship."},
    {"NO_COLOR", "When set and not empty, no colours."},
    {"CLICOLOR_FORCE", "When set and neither empty nor 0, colours even where the output is no terminal."},
    {"TERM", "No colours when it is dumb."},
    {"COLUMNS", "Width of tables."},
    {"TMPDIR", "Where temporary files go."}};

/* Text as roff takes it: no request, no escape, hyphens as they are typed. */
static void put_text(FILE *f, const char *s, bool line_start)
{
    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\'')) fputs("\\&", f);
        line_start = *s == '\n';
        switch (*s) {
        case '\\': fputs("\\e", f); break;
        case '-': fputs("\\-", f); break;
        case '`': fputs("\\(ga", f); break;
        case '\'': fputs("\\(aq", f); break;
        case '^': fputs("\\(ha", f); break;
        case '~': fputs("\\(ti", f); break;
        default: fputc(*s, f);
        }
    }
}

static void para(FILE *f, const char *text)
{
    put_text(f, text, true);
    if (!*text || text[strlen(text) - 1] != '\n') fputc('\n', f);
}

static void head(FILE *f, const char *name, const char *section, const char *summary)
{
    char title[64];
    size_t i = 0;
    for (; name[i] && i < sizeof title - 1; i++) title[i] = (char)toupper((unsigned char)name[i]);
    title[i] = '\0';
    fputs(".TH ", f);
    put_text(f, title, false);
    fprintf(f, " %s \"\" \"wakebal " WB_VERSION "\" \"wakebal manual\"\n.nh\n.ad l\n.SH NAME\n", section);
    put_text(f, name, true);
    fputs(" \\- ", f);
    para(f, summary);
}

static void item(FILE *f, const char *term, const char *text)
{
    fputs(".TP\n.B ", f);
    put_text(f, term, false);
    fputc('\n', f);
    para(f, text);
}

static void option_item(FILE *f, const struct argp_option *o)
{
    bool optional = o->flags & OPTION_ARG_OPTIONAL;
    fputs(".TP\n", f);
    if (o->key > 32 && o->key < 127) fprintf(f, "\\fB\\-%c\\fR%s", o->key, o->name ? ", " : "");
    if (o->name) {
        fputs("\\fB\\-\\-", f);
        put_text(f, o->name, false);
        fputs("\\fR", f);
    }
    if (o->arg) {
        fputs(optional ? "[=\\fI" : "=\\fI", f);
        put_text(f, o->arg, false);
        fputs(optional ? "\\fR]" : "\\fR", f);
    }
    fputc('\n', f);
    para(f, o->doc ? o->doc : "");
}

static void exit_codes(FILE *f)
{
    fputs(".SH EXIT STATUS\n", f);
    for (size_t i = 0; i < WB_ARRAY_SIZE(exit_table); i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", exit_table[i].code);
        item(f, code, exit_table[i].text);
    }
}

void gen_man_program(FILE *f)
{
    head(f, "wakebal", "1", "simulate wakeups, placement and load balancing of communicating tasks");
    fputs(".SH SYNOPSIS\n.B wakebal\n.I VERB\n.RI [ OPTION \"...] [\" ARGUMENT \"...]\"\n.SH DESCRIPTION\n", f);
    para(
        f,
        "Two tasks that talk through a pipe or a socket are pulled together by the wakeup path and pushed apart by the "
        "load balancer. wakebal simulates that contest on a described machine under a described kernel, predicts "
        "throughput and latency in the unit of the real benchmark, and says why.");
    fputs(".PP\n", f);
    para(f, "Data goes to standard output, everything else to standard error. Each verb has a page of its own, "
            "wakebal-VERB(1), and explains itself with --help.");
    fputs(".SH VERBS\n", f);
    for (size_t i = 0; i < verb_table_n; i++) {
        char term[200];
        snprintf(term, sizeof term, "%s %s", verb_table[i].name, verb_table[i].usage);
        item(f, term, verb_table[i].summary);
    }
    exit_codes(f);
    fputs(".SH ENVIRONMENT\n", f);
    for (size_t i = 0; i < WB_ARRAY_SIZE(environment); i++) item(f, environment[i].name, environment[i].text);
    fputs(".SH EXAMPLES\n.nf\n", f);
    para(f, "wakebal run pipe\nwakebal run pipe --vary workload.message=4KiB,64KiB\nwakebal report pipe -o pipe.html\n"
            "wakebal learn\nwakebal help workload.message");
    fputs(".fi\n.SH SEE ALSO\n.BR wakebal\\-scenario (5)", f);
    for (size_t i = 0; i < verb_table_n; i++) {
        fputs(",\n.BR wakebal\\-", f);
        put_text(f, verb_table[i].name, false);
        fputs(" (1)", f);
    }
    fputc('\n', f);
}

void gen_man_verb(FILE *f, const struct verb *v)
{
    char name[64];
    struct gen_verb g;
    gen_verb_of(v, &g);
    const char *doc = g.spec.doc, *more = strchr(doc, '\v');
    snprintf(name, sizeof name, "wakebal-%s", v->name);
    head(f, name, "1", v->summary);
    fputs(".SH SYNOPSIS\n\\fBwakebal ", f);
    put_text(f, v->name, false);
    fputs("\\fR [\\fIOPTION\\fR...] ", f);
    put_text(f, g.spec.usage, false);
    fputs("\n.SH DESCRIPTION\n", f);
    char *first = strndup(doc, more ? (size_t)(more - doc) : strlen(doc));
    WB_MEMORY(first, "out of memory for a manual page");
    para(f, first);
    free(first);
    if (more) {
        fputs(".PP\n.nf\n", f);
        para(f, more + 1);
        fputs(".fi\n", f);
    }
    fputs(".SH OPTIONS\n", f);
    for (size_t i = 0; i < g.n; i++) option_item(f, &g.option[i]);
    fputs(".SH EXIT STATUS\nSee\n.BR wakebal (1).\n.SH SEE ALSO\n.BR wakebal (1),\n.BR wakebal\\-scenario (5)\n", f);
}

/* ------------------------------------------------------------------ wakebal-scenario(5) */
static void key_item(FILE *f, struct wb_key_registry *keys, const struct wb_key *k)
{
    fputs(".TP\n.B ", f);
    put_text(f, k->path, false);
    fputs("\n\\fI", f);
    put_text(f, wb_key_type_name(k->type), false);
    fputs("\\fR", f);
    char text[2048];
    size_t n = 0;
    text[0] = '\0';
#define ADD(...) \
    n += (size_t)snprintf(text + WB_MIN(n, sizeof text - 1), sizeof text - WB_MIN(n, sizeof text - 1), __VA_ARGS__)
    if (k->type == WB_KEY_ENUM) ADD(" %s", keys_choices(keys, k));
    if (k->def && *k->def) ADD(", default %s", k->def);
    if (k->flags & WB_KEY_REQUIRED) ADD(", required");
    if (k->min && k->max)
        ADD(", %s to %s", k->min, k->max);
    else if (k->min)
        ADD(", at least %s", k->min);
    else if (k->max)
        ADD(", at most %s", k->max);
    if (k->only) ADD(", only for %s", k->only);
    if (k->versions) ADD(", in %s", k->versions);
    ADD(".%s\n", k->flags & WB_KEY_PRICED ? " A cost." : "");
    ADD("%s%s%s%s", k->help, k->source ? " Source: " : "", k->source ? k->source : "", k->source ? "." : "");
#undef ADD
    para(f, text);
}

void gen_man_scenario(FILE *f, struct wb_key_registry *keys)
{
    head(f, "wakebal-scenario", "5", "files that describe machines, kernels, loads and questions for wakebal");
    fputs(".SH DESCRIPTION\n", f);
    para(f, "A scenario joins a machine, a kernel and workloads; each comes from a shipped preset (base) with changes, "
            "or is "
            "written out. Files are in the syntax of libconfig: key = value, groups in braces, lists in parentheses, "
            "comments after // or #, @include \"file\" alone on its line. Times, sizes, rates and frequencies are text "
            "with a unit: \"10 us\", \"64 KiB\", \"6.4 GB/s\".");
    fputs(".PP\n", f);
    para(f,
         "A cost may be a plain value, or a list of value, status, plausible range and source; the status is measured, "
         "quoted, derived or assumed.");
    fputs(".PP\n", f);
    para(f, "wakebal check finds all mistakes of a file, wakebal fmt formats it, wakebal help KEY explains a key.");
    fputs(".SH EXAMPLE\n.nf\n", f);
    para(f, "schema = 1;\ntitle  = \"two copies of bw_pipe\";\nmachine  : { base = \"itanium2-tiger4\"; };\n"
            "kernel   : { base = \"linux-2.6.11\"; pipe = \"2.6.10\"; };\n"
            "workload = ( { kind = \"pipe_bw\"; message = \"64 KiB\"; copies = 2; } );");
    fputs(".fi\n.SH KEYS\n", f);
    for (size_t i = 0; i < wb_keys_count(keys); i++) key_item(f, keys, wb_keys_at(keys, i));
    fputs(".SH SEE ALSO\n.BR wakebal (1),\n.BR wakebal\\-check (1),\n.BR wakebal\\-fmt (1)\n", f);
}
