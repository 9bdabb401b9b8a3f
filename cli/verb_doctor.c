/* verb_doctor.c - `wakebal doctor`: what this machine is, what that means for real runs, what to change. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "host_check.h"
#include "options.h"
#include "output.h"
#include "real_json.h"
#include "verbs.h"
#include "wakebal/units.h"
#include "wrap.h"

enum { OPT_JSON = 0x1000, OPT_WATCH };

#define WATCH_MAX_S 600

struct request {
    bool json;
    double watch_s;
    struct cli_options o;
};

static const char *const level_name[] = {
    [HOST_OK] = "ok", [HOST_NOTE] = "note", [HOST_WARN] = "warn", [HOST_FAIL] = "fail"};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    int64_t ps;
    const char *why;
    size_t at;
    switch (key) {
    case OPT_JSON: r->json = true; return 0;
    case OPT_WATCH:
        if (wb_parse_quantity(arg, WB_UNIT_TIME, &ps, &why, &at) < 0 || ps < 0 || ps > WATCH_MAX_S * (int64_t)WB_S) {
            cli_usage_error("wakebal doctor", "A time up to 10 min, for example --watch 5s; 0s looks at nothing",
                            "--watch '%.60s' is not understood", arg);
            return EINVAL;
        }
        r->watch_s = (double)ps * 1e-12;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

static json_t *identity_json(const struct host_identity *id)
{
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:i}", "fingerprint", id->fingerprint, "kernel",
                     text_or_null(id->kernel), "cpu", text_or_null(id->cpu), "hypervisor", text_or_null(id->hypervisor),
                     "idle", text_or_null(id->idle), "boot", text_or_null(id->boot), "clock", text_or_null(id->clock),
                     "cpus", (int)id->cpus);
}

static json_t *report_json(const struct host_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n; i++) {
        const struct host_finding *f = &r->item[i];
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:o,s:o}", "id", f->id, "level", level_name[f->level], "text",
                                        f->text, "meaning", text_or_null(f->meaning), "fix", text_or_null(f->fix)));
    }
    return json_pack("{s:s,s:s,s:o,s:o,s:o}", "schema", "wakebal.doctor/1", "level", level_name[host_report_level(r)],
                     "host", identity_json(&r->identity), "load",
                     r->load.seconds > 0 ? host_load_json(&r->load) : json_null(), "findings", list);
}

static void print_finding(const struct host_finding *f, const struct out_style *style, bool all)
{
    const char *const colours[] = {
        [HOST_OK] = style->good, [HOST_NOTE] = style->dim, [HOST_WARN] = style->warn, [HOST_FAIL] = style->bad};
    const char *colour = colours[f->level];
    printf("  %s%-4s%s  %s\n", colour, level_name[f->level], style->off, f->text);
    if (f->meaning[0] && (all || f->level != HOST_OK)) wrap_print(stdout, f->meaning, 8, wrap_width());
    if (f->fix[0] && (all || f->level != HOST_OK)) printf("        fix: %s\n", f->fix);
}

static void print_report(const struct request *q, const struct host_report *r)
{
    struct out_style style = out_style(&q->o, STDOUT_FILENO);
    size_t n[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < r->n; i++) {
        n[r->item[i].level]++;
        if (!q->o.quiet || r->item[i].level != HOST_OK) print_finding(&r->item[i], &style, q->o.verbose > 0);
    }
    printf("%zu ok, %zu note, %zu warn, %zu fail%s\n", n[HOST_OK], n[HOST_NOTE], n[HOST_WARN], n[HOST_FAIL],
           n[HOST_FAIL]   ? ": real runs would mean nothing now"
           : n[HOST_WARN] ? ": read the warnings with each real result"
           : n[HOST_NOTE] ? ": results hold; notes say what is left out"
                          : "");
}

static int run(const struct request *q)
{
    struct host_report r;
    struct host_check_options o = {.watch_s = q->watch_s};
    if (host_check(&o, &r) < 0) {
        fprintf(stderr, "wakebal: out of memory\n");
        return EXIT_INTERNAL;
    }
    int rc = EXIT_FINE;
    if (q->json) {
        json_t *j = report_json(&r);
        if (!j || out_put_json(stdout, j)) rc = EXIT_OUTPUT;
        json_decref(j);
    } else {
        print_report(q, &r);
    }
    if (rc == EXIT_FINE && host_report_level(&r) == HOST_FAIL) rc = EXIT_PERMISSION;
    host_report_free(&r);
    return rc;
}

int verb_doctor(int argc, char **argv)
{
    static const struct argp_option own[] = {
        {"json", OPT_JSON, NULL, 0, "Print JSON (schema wakebal.doctor/1)", 1},
        {"watch", OPT_WATCH, "TIME", 0, "How long to watch for other load (1 s)", 1},
        {0},
    };
    struct request r = {.watch_s = 1};
    const struct cli_spec spec = {
        .usage = "",
        .doc =
            "Look at this machine: CPUs, quotas, virtualisation, kernel, other load, clock, counters, tools. Each "
            "line says ok, note (absent or its own way: results hold), warn (they say less or something else) or fail, "
            "what it means for a real run, and how to change it."
            "\vNothing is changed. Exit code 8 when real runs cannot work here or would mean nothing now, else 0.",
        .groups = CLI_TERMINAL,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &r,
    };
    cli_options_init(&r.o);
    int rc = cli_options_parse(&spec, argc, argv, &r.o);
    if (rc < 0) rc = run(&r);
    cli_options_free(&r.o);
    return rc;
}
