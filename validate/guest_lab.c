/* guest_lab.c - boot the guest and take its report. See guest_lab.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest_lab.h"

#define ARGS 96
#define ATTEMPTS 3

/* ---- QEMU's command line ---- */

struct args {
    const char *arg[ARGS];
    char *made[ARGS]; /* to be freed */
    size_t n, nmade;
};

static void add(struct args *a, const char *arg)
{
    if (a->n + 1 < ARGS) a->arg[a->n++] = arg;
}

static void WB_PRINTF(2, 3) add_made(struct args *a, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0) text = NULL;
    va_end(ap);
    if (!text || a->nmade == ARGS) return;
    a->made[a->nmade++] = text;
    add(a, text);
}

uint32_t guest_cpus(const char *smp)
{
    uint32_t cpus = 0, product = 1;
    bool parts = false;
    char *copy = strdup(smp), *rest = copy, *word;
    while (copy && (word = strsep(&rest, ",")) != NULL) {
        static const char *const part[] = {"sockets=", "dies=", "clusters=", "cores=", "threads="};
        const char *number = word;
        bool known = false;
        for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) {
            if (strncmp(word, part[i], strlen(part[i])) != 0) continue;
            number = word + strlen(part[i]);
            known = true;
        }
        if (!strncmp(word, "cpus=", 5)) number = word + 5;
        char *end;
        unsigned long v = strtoul(number, &end, 10);
        if (*end || end == number || !v || v > 1024) product = 0;
        if (known) product *= (uint32_t)v;
        if (!known) cpus = (uint32_t)v;
        parts = parts || known;
    }
    free(copy);
    if (!product || (!cpus && !parts)) return 0;
    if (!cpus) cpus = product;
    return !parts || cpus == product ? cpus : 0;
}

/* Equal shares of CPUs and memory. */
static void add_nodes(struct args *a, const struct guest_options *o)
{
    uint32_t cpus = guest_cpus(o->smp), share = cpus / o->nodes;
    for (uint32_t i = 0; i < o->nodes; i++) {
        add(a, "-object");
        add_made(a, "memory-backend-ram,id=m%u,size=%uM", i, o->memory_mib / o->nodes);
        add(a, "-numa");
        add_made(a, "node,nodeid=%u,memdev=m%u,cpus=%u-%u", i, i, i * share, (i + 1) * share - 1);
    }
}

static void add_command_line(struct args *a, const struct guest_options *o, bool one_thread)
{
    /* Without a vendor that has them, older kernels do not believe in SMT siblings. */
    static const char *const fixed[] = {"qemu-system-x86_64",
                                        "-nodefaults",
                                        "-no-user-config",
                                        "-no-reboot",
                                        "-display",
                                        "none",
                                        "-machine",
                                        "q35",
                                        "-cpu",
                                        "max,vendor=GenuineIntel",
                                        "-net",
                                        "none",
                                        "-accel"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(fixed); i++) add(a, fixed[i]);
    add(a, one_thread ? "tcg,thread=single" : "tcg,thread=multi");
    add(a, "-smp");
    add(a, o->smp);
    add(a, "-m");
    add_made(a, "%u", o->memory_mib);
    if (o->nodes > 1) add_nodes(a, o);
}

static void add_boot(struct args *a, const struct guest_options *o, const char *image, const char *initrd)
{
    add(a, "-kernel");
    add(a, image);
    add(a, "-initrd");
    add(a, initrd);
    add(a, "-append");
    add_made(a,
             "console=ttyS0 panic=-1 softlockup_panic=1 watchdog_thresh=30 no_timer_check quiet mitigations=off "
             "nokaslr tsc=reliable "
             "schedstats=enable noautogroup "
             "sched_verbose rdinit=/init%s%s %s",
             o->features ? " wb_features=" : "", o->features ? o->features : "", o->append ? o->append : "");
    add(a, "-serial");
    add_made(a, "file:%s.console", o->output);
    add(a, "-serial");
    add_made(a, "file:%s", o->output);
}

/* ---- before and after ---- */

static enum guest_outcome fail(struct wb_diag *d, enum guest_outcome what, const char *fix, const char *text)
{
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, fix, "%s", text);
    return what;
}

static enum guest_outcome check(const struct guest_options *o, struct wb_diag *d)
{
    uint32_t cpus = guest_cpus(o->smp);
    if (!cpus || cpus > 255)
        return fail(d, GUEST_INVALID, "for example: --smp 16,sockets=2,cores=4,threads=2",
                    "the CPUs are not understood, or their parts do not multiply to them (255 at most)");
    if (o->nodes > 1 && cpus % o->nodes)
        return fail(d, GUEST_INVALID, NULL, "the CPUs do not divide by the NUMA nodes");
    if (!guest_has_tool("qemu-system-x86_64"))
        return fail(d, GUEST_NO_TOOL, "apt-get install qemu-system-x86", "there is no qemu-system-x86_64");
    if (access(o->init, R_OK))
        return fail(d, GUEST_NO_TOOL, "build it: it needs a static C library (Debian: libc6-dev)",
                    "the guest's program wakebal-guest-init is missing");
    if (mkdir(o->work, 0777) && errno != EEXIST)
        return fail(d, GUEST_NO_OUTPUT, NULL, "the work folder cannot be made");
    return GUEST_FINE;
}

/* The last of its notes is there. */
static bool is_whole(const char *path)
{
    char tail[64] = "";
    FILE *f = fopen(path, "r");
    if (!f) return false;
    if (!fseek(f, -(long)(sizeof tail - 1), SEEK_END)) {
        size_t n = fread(tail, 1, sizeof tail - 1, f);
        tail[n] = 0;
    }
    fclose(f);
    return strstr(tail, "### done") != NULL;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One boot. */
static int boot(const struct guest_options *o, const char *image, const char *initrd, bool one_thread)
{
    struct args a = {0};
    add_command_line(&a, o, one_thread);
    add_boot(&a, o, image, initrd);
    int status = guest_spawn(a.arg, NULL, o->limit_s, NULL);
    for (size_t i = 0; i < a.nmade; i++) free(a.made[i]);
    return status;
}

/* A kernel that patches its own code now and then traps on it, or locks up in it (it panics after a minute), while
 * several threads emulate its CPUs: once more, then with one thread for all. */
static enum guest_outcome boot_until_whole(const struct guest_options *o, const char *image, const char *initrd,
                                           struct wb_diag *d)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int status = boot(o, image, initrd, attempt + 1 == ATTEMPTS);
        if (status == -2)
            return fail(d, GUEST_FAILED, "give it more: --limit SECONDS", "the guest did not end in time");
        if (!status && is_whole(o->output)) return GUEST_FINE;
    }
    return fail(d, GUEST_FAILED, "its console is in the file of the same name with .console",
                "the guest ended without a whole report");
}

enum guest_outcome guest_run(const struct guest_options *o, struct wb_diag *d, double *seconds)
{
    char initrd[512];
    enum guest_outcome rc = check(o, d);
    *seconds = 0;
    if (rc) return rc;
    char *image = guest_kernel(o, d, &rc);
    if (!image) return rc;
    (void)snprintf(initrd, sizeof initrd, "%s/initrd.%ld", o->work, (long)getpid());
    double start = seconds_now();
    if (guest_pack(initrd, o->init, o->runs))
        rc = fail(d, GUEST_NO_OUTPUT, NULL, "the guest's root file system cannot be written, or the list of runs read");
    else
        rc = boot_until_whole(o, image, initrd, d);
    *seconds = seconds_now() - start;
    (void)unlink(initrd);
    free(image);
    return rc;
}
