#include "host_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_check_inner.h"
#include "host_file.h"

static void (*const checks[])(struct host_checker *) = {
    host_check_cpus,  host_check_affinity, host_check_quota,    host_check_smt,     host_check_frequency,
    host_check_idle,  host_check_speed,    host_check_distance, host_check_virtual, host_check_kernel,
    host_check_boot,  host_check_symbols,  host_check_features, host_check_sysctl,  host_check_load,
    host_check_clock, host_check_counters, host_check_tracing,  host_check_limits,  host_check_programs,
};

struct host_finding *host_add(struct host_checker *c, const char *id, enum host_level level, const char *fmt, ...)
{
    static struct host_finding lost; /* written to when there is no memory: nobody reads it */
    struct host_report *r = c->report;
    struct host_finding *larger = realloc(r->item, (r->n + 1) * sizeof *larger);
    struct host_finding *f = &lost;
    if (larger) {
        r->item = larger;
        f = &larger[r->n++];
    } else {
        c->no_memory = true;
    }
    *f = (struct host_finding){.id = id, .level = level};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    return f;
}

void host_means(struct host_finding *f, const char *meaning, const char *fix)
{
    snprintf(f->meaning, sizeof f->meaning, "%s", meaning ? meaning : "");
    if (f->meaning[0] && f->level == HOST_OK) f->level = HOST_NOTE;
    snprintf(f->fix, sizeof f->fix, "%s", fix ? fix : "");
}

int host_check(const struct host_check_options *o, struct host_report *r)
{
    struct host_checker c = {.root = o->root, .watch_s = o->watch_s, .report = r};
    memset(r, 0, sizeof *r);
    host_identify(o->root, &r->identity);
    for (size_t i = 0; i < WB_ARRAY_SIZE(checks); i++) checks[i](&c);
    if (!c.no_memory) return 0;
    host_report_free(r);
    return -ENOMEM;
}

void host_report_free(struct host_report *r)
{
    free(r->item);
    r->item = NULL;
    r->n = 0;
}

enum host_level host_report_level(const struct host_report *r)
{
    enum host_level worst = HOST_OK;
    for (size_t i = 0; i < r->n; i++) worst = WB_MAX(worst, r->item[i].level);
    return worst;
}

/* FNV-1a: short, and only meant to tell hosts apart. */
static uint64_t hash(uint64_t h, const char *text)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (h ^ 0xff) * 1099511628211u;
}

static void read_boot(const char *root, struct host_identity *id)
{
    char line[4096];
    struct host_boot_option option[16];
    if (host_read(root, "/proc/cmdline", line, sizeof line) <= 0) return;
    size_t n = host_boot_options(line, option, WB_ARRAY_SIZE(option)), at = 0;
    for (size_t i = 0; i < n && at < sizeof id->boot; i++)
        at += (size_t)snprintf(id->boot + at, sizeof id->boot - at, "%s%s", i ? " " : "", option[i].text);
}

static uint32_t count_online(const char *root)
{
    uint64_t words[WB_CPUMASK_WORDS(WB_CPUS_MAX)] = {0};
    struct wb_cpumask m = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(words), .w = words};
    char text[512];
    const char *why;
    size_t at;
    if (host_read(root, "/sys/devices/system/cpu/online", text, sizeof text) <= 0 ||
        wb_mask_parse(text, &m, &why, &at) < 0)
        return 0;
    return wb_mask_count(&m);
}

void host_identify(const char *root, struct host_identity *id)
{
    char text[64], driver[32] = "none", governor[32] = "none";
    memset(id, 0, sizeof *id);
    if (host_read(root, "/proc/sys/kernel/osrelease", text, sizeof text) > 0)
        snprintf(id->kernel, sizeof id->kernel, "Linux %s", text);
    char *info = host_read_all(root, "/proc/cpuinfo");
    if (info && !host_field(info, "model name", id->cpu, sizeof id->cpu))
        (void)host_field(info, "Model", id->cpu, sizeof id->cpu);
    free(info);
    host_hypervisor(root, id->hypervisor, sizeof id->hypervisor);
    (void)host_read(root, "/sys/devices/system/cpu/cpuidle/current_driver", driver, sizeof driver);
    (void)host_read(root, "/sys/devices/system/cpu/cpuidle/current_governor", governor, sizeof governor);
    snprintf(id->idle, sizeof id->idle, "%s/%s", driver[0] ? driver : "none", governor[0] ? governor : "none");
    read_boot(root, id);
    (void)host_read(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", id->clock,
                    sizeof id->clock);
    id->cpus = count_online(root);
    uint64_t h = 14695981039346656037u;
    const char *const parts[] = {id->kernel, id->cpu, id->hypervisor, id->idle, id->boot, id->clock};
    for (size_t i = 0; i < WB_ARRAY_SIZE(parts); i++) h = hash(h, parts[i]);
    snprintf(text, sizeof text, "%u", id->cpus);
    snprintf(id->fingerprint, sizeof id->fingerprint, "%016" PRIx64, hash(h, text));
}
