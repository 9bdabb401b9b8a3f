/* verb_replay.c - `wakebal replay`: a recording's tasks under another kernel or on another machine. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "exit_code.h"
#include "import_args.h"
#include "output.h"
#include "registry.h"
#include "verbs.h"

enum { KEY_ON = 0x1000, KEY_UNDER };

struct request {
    struct import_args a;
    const char *on, *under;
};

static const struct argp_option own_options[] = {
    {"under", KEY_UNDER, "KERNEL", 0, "Kernel to replay under (default: the one that recorded it, -k)", 1},
    {"on", KEY_ON, "MACHINE", 0, "Machine to replay on (default: the one that recorded it, -m)", 1},
    IMPORT_OPTIONS,
    {0}};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    if (key == KEY_ON) r->on = arg;
    if (key == KEY_UNDER) r->under = arg;
    return key == KEY_ON || key == KEY_UNDER ? 0 : import_args_parse("wakebal replay", &r->a, key, arg);
}

static double ms(uint64_t ns)
{
    return (double)ns * 1e-6;
}

static void print_tasks(const struct import *m, const struct replay_result *r)
{
    static const char *const head[] = {"task",    "recorded ms", "replayed ms", "waited ms",
                                       "wakeups", "switches",    "moves"};
    struct out_table *t = out_table_new("<>>>>>>");
    out_table_row(t, head);
    for (uint32_t i = 0; i < m->n; i++) {
        char v[6][32];
        const struct replay_task *k = &r->task[i];
        (void)snprintf(v[0], 32, "%.3f", ms(m->task[i].run_ns));
        (void)snprintf(v[1], 32, "%.3f", ms(k->run_ns));
        (void)snprintf(v[2], 32, "%.3f", ms(k->wait_ns));
        (void)snprintf(v[3], 32, "%u", k->wakeups);
        (void)snprintf(v[4], 32, "%u", k->switches);
        (void)snprintf(v[5], 32, "%u", k->migrations);
        const char *cell[] = {m->task[i].name, v[0], v[1], v[2], v[3], v[4], v[5]};
        out_table_row(t, cell);
    }
    out_table_print(t, stdout, 2, 0, 120, "");
}

struct results {
    const struct import *m;
    const struct replay_result *r;
    const char *kernel, *machine;
};

static int put_json(FILE *to, void *ctx)
{
    const struct results *x = ctx;
    json_t *o = json_object(), *tasks = json_array();
    json_object_set_new(o, "schema", json_string("wakebal.replay/1"));
    json_object_set_new(o, "kernel", json_string(x->kernel));
    json_object_set_new(o, "machine", json_string(x->machine));
    json_object_set_new(o, "recorded_length", json_real((double)x->m->length_ns * 1e-9));
    json_object_set_new(o, "length", json_real((double)x->r->length_ns * 1e-9));
    json_object_set_new(o, "finished", json_boolean(x->r->finished));
    for (uint32_t i = 0; i < x->m->n; i++) {
        const struct replay_task *k = &x->r->task[i];
        json_t *t = json_object();
        json_object_set_new(t, "name", json_string(x->m->task[i].name));
        json_object_set_new(t, "recorded_run", json_real((double)x->m->task[i].run_ns * 1e-9));
        json_object_set_new(t, "run", json_real((double)k->run_ns * 1e-9));
        json_object_set_new(t, "wait", json_real((double)k->wait_ns * 1e-9));
        json_object_set_new(t, "wakeups", json_integer(k->wakeups));
        json_object_set_new(t, "switches", json_integer(k->switches));
        json_object_set_new(t, "migrations", json_integer(k->migrations));
        json_array_append_new(tasks, t);
    }
    json_object_set_new(o, "tasks", tasks);
    int rc = out_put_sorted_json(to, o);
    json_decref(o);
    return rc;
}

static int show(const struct cli_options *o, struct results *x)
{
    const struct replay_result *r = x->r;
    if (!o->export_json || *o->export_json != '-' || o->export_json[1]) {
        out_line(stdout, "%s on \"%s\": %.3f ms, recorded %.3f ms%s", x->kernel, x->machine, ms(r->length_ns),
                 ms(x->m->length_ns), r->finished ? "" : " (did not finish)");
        print_tasks(x->m, r);
    }
    return o->export_json ? out_file(o->export_json, put_json, x) : EXIT_FINE;
}

static int run(const struct cli_options *o, const struct request *q)
{
    struct wb_key_registry *keys = cli_keys_new();
    struct replay_result r = {0};
    int rc;
    struct import *m = import_args_load("wakebal replay", o, &q->a, keys, &rc);
    if (m) {
        struct wb_diag *d = wb_diag_new();
        struct wb_overrides over = {.item = o->set, .n = o->set_n, .machine = q->on, .kernel = q->under};
        int err = replay_run(m, &over, cli_models(), keys, d, &r);
        rc = cli_print_diag(o, d);
        struct results x = {m, &r, q->under ? q->under : m->kernel, q->on ? q->on : m->machine};
        if (!err) rc = show(o, &x);
        wb_diag_free(d);
    }
    replay_free(&r);
    import_free(m);
    wb_keys_free(keys);
    return rc;
}

int verb_replay(int argc, char **argv)
{
    struct request q = {0};
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "RECORDING",
        .doc = "Import a recording's tasks and run them under another kernel or on another machine."
               "\v-m and -k name the machine and kernel that recorded it, --on and --under those to replay with.\n"
               "  wakebal replay guest.trace --section pipe4 -k linux-6.12 --under linux-6.1",
        .groups = CLI_SCENARIO | CLI_EXPORT_JSON,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &q,
        .args_min = 1,
        .args_max = 1,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) rc = run(&o, &q);
    cli_options_free(&o);
    return rc;
}
