/* verb_new.c - wakebal new WHAT NAME: a file that works, to start from. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "templates.h"
#include "verbs.h"

/* A C identifier, since it names a file, a target and functions. */
static bool good_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (const char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_') return false;
    return strlen(s) <= 48;
}

/* The name of a file: what a path or an option could be taken for is left out. */
static bool good_file_name(const char *s)
{
    if (!isalnum((unsigned char)*s)) return false;
    for (const char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-.", *p)) return false;
    return strlen(s) <= 48;
}

/* The template with its name and the header folder filled in. */
static void put_template(FILE *f, const char *text, const char *name)
{
    static const char old[] = "my_policy", file[] = "my_name", slot[] = "@WAKEBAL_INCLUDE@";
    for (const char *p = text; *p;) {
        if (!strncmp(p, old, sizeof old - 1)) {
            fputs(name, f);
            p += sizeof old - 1;
        } else if (!strncmp(p, file, sizeof file - 1)) {
            fputs(name, f);
            p += sizeof file - 1;
        } else if (!strncmp(p, slot, sizeof slot - 1)) {
            const char *prefix = wb_scenario_prefix();
            if (prefix)
                fprintf(f, "%s/include", prefix);
            else
                fputs(access(WB_SOURCE_INCLUDE, R_OK) ? WB_INSTALL_INCLUDE : WB_SOURCE_INCLUDE, f);
            p += sizeof slot - 1;
        } else {
            fputc(*p++, f);
        }
    }
}

struct filling {
    const char *text, *name;
};

static int fill_file(FILE *f, void *ctx)
{
    const struct filling *w = ctx;
    put_template(f, w->text, w->name);
    return 0;
}

static int put_file(const char *dir, const char *file, const char *text, const char *name)
{
    char path[512];
    struct filling w = {text, name};
    (void)snprintf(path, sizeof path, "%s/%s", dir, file);
    int rc = out_file_new(path, fill_file, &w);
    if (rc == EXIT_FINE) printf("wrote %s\n", path);
    return rc;
}

static int new_policy(const char *name)
{
    char file[64];
    if (!good_name(name)) {
        out_line(stderr, "error: '%s' cannot name a policy", name);
        fprintf(stderr, "  = use letters, digits and _, at most 48, no digit first\n");
        return EXIT_USAGE;
    }
    if (mkdir(name, 0777) && errno != EEXIST) {
        fprintf(stderr, "error: folder %s: %s\n", name, strerror(errno));
        return EXIT_OUTPUT;
    }
    (void)snprintf(file, sizeof file, "%s.c", name);
    int rc = put_file(name, file, template_policy_c, name);
    if (rc == EXIT_FINE) rc = put_file(name, "CMakeLists.txt", template_policy_cmake, name);
    if (rc != EXIT_FINE) return rc;
    printf("\nBuild and try it:\n  cmake -S %s -B %s/build && cmake --build %s/build\n"
           "  wakebal run lat_pipe -m smp16 -k linux-6.18 --policy %s/build/%s.so -v\n",
           name, name, name, name, name);
    return EXIT_FINE;
}

static const struct {
    const char *what, *text, *next; /* next: what to do with NAME.cfg, for printf */
} kinds[] = {{"scenario", template_scenario, "  wakebal run ./%s.cfg\n"},
             {"machine", template_machine, "  wakebal run pipe -m ./%s.cfg\n"},
             {"kernel", template_kernel, "  wakebal run pipe -k ./%s.cfg\n"},
             {"workload", template_workload, "  wakebal run ./%s.cfg\n"}};

static int new_file(size_t kind, const char *name)
{
    char file[80];
    if (!good_file_name(name)) {
        out_line(stderr, "error: '%s' cannot name a file", name);
        fprintf(stderr, "  = use letters, digits, _, - and ., at most 48, a letter or digit first; .cfg is added%s\n",
                strchr(name, '/') ? ", and the file is made in the folder that you are in" : "");
        return EXIT_USAGE;
    }
    (void)snprintf(file, sizeof file, "%s.cfg", name);
    int rc = put_file(".", file, kinds[kind].text, name);
    if (rc != EXIT_FINE) return rc;
    printf("\nIt works as it is; change it and try it:\n  wakebal check ./%s\n", file);
    printf(kinds[kind].next, name);
    return EXIT_FINE;
}

/* The name without the .cfg that is added anyway. */
static const char *without_cfg(const char *name, char *buf, size_t n)
{
    size_t len = strlen(name);
    if (len <= 4 || len >= n || strcmp(name + len - 4, ".cfg")) return name;
    (void)snprintf(buf, n, "%.*s", (int)(len - 4), name);
    return buf;
}

static int new_thing(const char *what, const char *name)
{
    char stem[64];
    const char *names[WB_ARRAY_SIZE(kinds) + 1] = {"policy"};
    if (!strcmp(what, "policy")) return new_policy(name);
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        if (!strcmp(what, kinds[i].what)) return new_file(i, without_cfg(name, stem, sizeof stem));
        names[i + 1] = kinds[i].what;
    }
    const char *near = wb_nearest(what, names, WB_ARRAY_SIZE(names));
    fprintf(stderr,
            "error: '%.60s' is nothing that can be made\n  = %s%s%swakebal new "
            "policy|scenario|machine|kernel|workload NAME\n",
            what, near ? "did you mean '" : "", near ? near : "", near ? "'?  " : "");
    return EXIT_USAGE;
}

int verb_new(int argc, char **argv)
{
    struct cli_options o;
    struct cli_spec spec = {
        .usage = "policy|scenario|machine|kernel|workload NAME",
        .doc = "Write something that works, to start from: a scenario, machine, kernel or workload as NAME.cfg in this "
               "folder, or a policy plug-in with its CMakeLists.txt in the folder NAME. Nothing that exists is "
               "overwritten.",
        .missing = "For example: wakebal new scenario mine.  Options: wakebal new --help",
        .args_min = 2,
        .args_max = 2};
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) rc = new_thing(o.arg[0], o.arg[1]);
    cli_options_free(&o);
    return rc;
}
