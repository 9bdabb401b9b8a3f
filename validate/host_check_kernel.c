/* host_check_kernel.c - hypervisor, kernel version, boot options, symbols, features, settings, other load; see
 * host_check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#include "host_check_inner.h"
#include "host_file.h"

/* Above this share of foreign load a real run means nothing. */
#define LOAD_HOPELESS 0.25

/* --- hypervisor
 * ------------------------------------------------------------------------------------------------------- */

#if defined __x86_64__ || defined __i386__
/* Intel SDM and AMD APM: leaf 1 ecx bit 31 = under a hypervisor; leaf 0x40000000 = its signature. */
static bool cpuid_hypervisor(char *name, size_t n)
{
    static const struct {
        const char *signature, *name;
    } known[] = {{"KVMKVMKVM", "KVM"},
                 {"Microsoft Hv", "Hyper-V"},
                 {"VMwareVMware", "VMware"},
                 {"XenVMMXenVMM", "Xen"},
                 {"TCGTCGTCGTCG", "QEMU emulation"},
                 {"bhyve bhyve ", "bhyve"},
                 {"QNXQVMBSQG", "QNX"},
                 {"ACRNACRNACRN", "ACRN"}};
    unsigned a, b, c, d;
    char signature[13] = "";
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31)) return false;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(signature, &b, 4);
    memcpy(signature + 4, &c, 4);
    memcpy(signature + 8, &d, 4);
    snprintf(name, n, "%s", signature[0] ? signature : "unnamed");
    for (size_t i = 0; i < WB_ARRAY_SIZE(known); i++)
        if (!strcmp(signature, known[i].signature)) snprintf(name, n, "%s", known[i].name);
    return true;
}
#else
static bool cpuid_hypervisor(char *name, size_t n)
{
    (void)name, (void)n;
    return false;
}
#endif

void host_hypervisor(const char *root, char *name, size_t n)
{
    static const char *const products[] = {
        "KVM",        "QEMU",       "VMware", "VirtualBox", "Virtual Machine", "HVM domU", "Google Compute Engine",
        "Amazon EC2", "Firecracker"};
    char text[128];
    name[0] = '\0';
    if (!root && cpuid_hypervisor(name, n)) return;
    if (host_read(root, "/sys/hypervisor/type", text, sizeof text) > 0) {
        snprintf(name, n, "%s", text);
        return;
    }
    if (host_read(root, "/sys/class/dmi/id/product_name", text, sizeof text) > 0)
        for (size_t i = 0; i < WB_ARRAY_SIZE(products) && !name[0]; i++)
            if (strstr(text, products[i])) snprintf(name, n, "%s", text);
    if (name[0] || !root) return;
    char *info = host_read_all(root, "/proc/cpuinfo"), flags[4096];
    if (info && host_field(info, "flags", flags, sizeof flags) && strstr(flags, " hypervisor"))
        snprintf(name, n, "unnamed");
    free(info);
}

static void check_container(struct host_checker *c)
{
    static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(marks); i++) {
        if (!host_exists(c->root, marks[i])) continue;
        host_means(host_add(c, "container", HOST_OK, "inside a container (%s)", marks[i]),
                   "other load may be outside what /proc shows; perf events and tracing may be refused", "");
        return;
    }
}

void host_check_virtual(struct host_checker *c)
{
    const char *name = c->report->identity.hypervisor;
    if (!name[0]) {
        host_add(c, "virtual", HOST_OK, "no hypervisor is seen");
    } else if (strstr(name, "emulation")) {
        host_means(host_add(c, "virtual", HOST_FAIL, "the CPU is emulated (%s)", name),
                   "times mean nothing here; only decisions of the scheduler can be compared",
                   "use hardware virtualisation, or compare traces only");
    } else {
        host_means(host_add(c, "virtual", HOST_WARN, "a virtual machine (%s)", name),
                   "a remote wakeup pays the trap to the hypervisor and the wake of a halted virtual CPU: several "
                   "times what bare metal pays. Results hold for such guests",
                   "compare with other guests of this kind; for bare metal, measure on bare metal");
    }
    check_container(c);
}

/* --- kernel
 * ------------------------------------------------------------------------------------------------------------- */

static const char *family(unsigned long major, unsigned long minor)
{
    unsigned long v = major * 1000 + minor;
    if (v >= 6006) return "EEVDF"; /* Linux 6.6, commit 147f3efaa241 */
    return v >= 2006 ? "CFS" : "O(1)";
}

void host_check_kernel(struct host_checker *c)
{
    char version[200] = "", state[32], release[80];
    unsigned long major = 0, minor = 0;
    char *dot = release;
    if (host_read(c->root, "/proc/sys/kernel/osrelease", release, sizeof release) > 0)
        major = strtoul(release, &dot, 10);
    if (*dot == '.') minor = strtoul(dot + 1, NULL, 10);
    if (!major) {
        host_means(host_add(c, "kernel", HOST_WARN, "the kernel's version is not told"),
                   "no kernel profile can be chosen for it", "");
        return;
    }
    (void)host_read(c->root, "/proc/sys/kernel/version", version, sizeof version);
    const char *preempt = strstr(version, "PREEMPT_RT")        ? "PREEMPT_RT"
                          : strstr(version, "PREEMPT_DYNAMIC") ? "PREEMPT_DYNAMIC"
                          : strstr(version, "PREEMPT")         ? "PREEMPT"
                                                               : "no kernel preemption";
    struct host_finding *f =
        host_add(c, "kernel", HOST_OK, "Linux %.80s: %s, %s", release, family(major, minor), preempt);
    if (strstr(preempt, "_RT")) {
        f->level = HOST_WARN;
        host_means(f, "spinlocks sleep and interrupts are threads: no kernel profile describes that", "");
    }
    if (host_read(c->root, "/sys/kernel/sched_ext/state", state, sizeof state) > 0 && strcmp(state, "disabled") != 0)
        host_means(host_add(c, "sched_ext", HOST_FAIL, "a sched_ext scheduler is %s", state),
                   "tasks are placed by a BPF program, not by the kernel's own rules", "stop it (systemctl stop scx)");
}

static const struct {
    const char *name; /* up to and with '=' when it takes a value */
    const char *what;
} boot_known[] = {
    {"isolcpus=", "those CPUs are outside load balancing: free tasks never go there"},
    {"nohz_full=", "those CPUs have no tick while one task runs"},
    {"nohz=", "sets whether idle CPUs stop their tick"},
    {"highres=", "sets whether timers are finer than the tick"},
    {"nosmt", "SMT siblings are off"},
    {"maxcpus=", "CPUs are left off"},
    {"nr_cpus=", "CPUs are left off"},
    {"preempt=", "sets when the kernel may be preempted"},
    {"idle=", "sets how CPUs idle"},
    {"processor.max_cstate=", "limits idle states"},
    {"intel_idle.max_cstate=", "limits idle states"},
    {"cpuidle.governor=", "sets how idle states are chosen"},
    {"cpuidle.off=", "sets whether idle states are chosen at all"},
    {"cpuidle_haltpoll.force=", "guests may poll before they halt"},
    {"haltpoll.guest_halt_poll_ns=", "how long a guest polls before it halts"},
    {"skew_tick=", "ticks of CPUs are apart"},
    {"threadirqs", "interrupts are threads"},
    {"noautogroup", "sessions are not grouped"},
    {"numa_balancing=", "sets whether pages and tasks follow each other"},
    {"mitigations=", "sets what system calls and switches cost"},
    {"relax_domain_level=", "sets how far idle CPUs are looked for"},
};

/* Boot options of mainline that begin with sched_ (Documentation/admin-guide/kernel-parameters.txt, 2.6.11 to 6.18);
 * others are somebody's own. */
static const char *const boot_sched[] = {
    "sched_verbose",           "sched_debug",       "sched_thermal_decay_shift=", "sched_proxy_exec=",
    "sched_mc_power_savings=", "sched_clock_stable"};

static bool is_option(const char *word, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(word, name, n) && (name[n - 1] == '=' || !word[n] || word[n] == '=');
}

size_t host_boot_options(const char *cmdline, struct host_boot_option *out, size_t max)
{
    char text[4096], *next = text;
    size_t n = 0;
    snprintf(text, sizeof text, "%s", cmdline);
    for (char *word; n < max && (word = strsep(&next, " \n"));) {
        struct host_boot_option o = {.mainline = true};
        bool ours = !strncmp(word, "sched_", 6);
        if (!strcmp(word, "--")) break; /* what follows is for init */
        for (size_t i = 0; i < WB_ARRAY_SIZE(boot_known); i++)
            if (is_option(word, boot_known[i].name)) {
                o.what = boot_known[i].what;
                ours = true;
            }
        if (!ours) continue;
        if (!o.what) {
            o.mainline = false;
            for (size_t i = 0; i < WB_ARRAY_SIZE(boot_sched); i++) o.mainline |= is_option(word, boot_sched[i]);
        }
        snprintf(o.text, sizeof o.text, "%.63s", word);
        out[n++] = o;
    }
    return n;
}

void host_check_boot(struct host_checker *c)
{
    char line[4096];
    struct host_boot_option o[16];
    if (host_read(c->root, "/proc/cmdline", line, sizeof line) <= 0) {
        host_means(host_add(c, "boot", HOST_OK, "the boot line is not shown here"),
                   "options that change scheduling (isolcpus, preempt, mitigations) would not be noticed", "");
        return;
    }
    size_t n = host_boot_options(line, o, WB_ARRAY_SIZE(o));
    for (size_t i = 0; i < n; i++) {
        bool isolates =
            is_option(o[i].text, "isolcpus=") || is_option(o[i].text, "nohz_full=") || is_option(o[i].text, "idle=");
        struct host_finding *f =
            host_add(c, "boot", o[i].mainline && !isolates ? HOST_OK : HOST_WARN, "boot option %s%s", o[i].text,
                     o[i].mainline ? "" : ": not one of mainline Linux");
        if (o[i].mainline)
            host_means(f, o[i].what, "");
        else if (strstr(o[i].text, "pack"))
            host_means(f,
                       "wakeups are packed onto busy CPUs by a rule that mainline does not have: score unpinned runs "
                       "only with a kernel profile that has it; pinned runs are not affected",
                       "boot without it, or pin the tasks");
        else
            host_means(f, "tasks may be placed by rules that no kernel profile has: trust pinned runs only",
                       "boot without it, or pin the tasks");
    }
    if (!n) host_add(c, "boot", HOST_OK, "no boot option that changes scheduling");
}

void host_check_symbols(struct host_checker *c)
{
    static const struct {
        const char *symbol, *what;
    } known[] = {
        {"vcpu_pack_room", "a rule that packs wakeups onto busy CPUs"},
        {"sched_bore", "BORE: bursts change the order of tasks"},
        {"cacule_", "CacULE instead of the kernel's own order"},
        {"muqss_", "MuQSS instead of the kernel's own scheduler"},
        {"alt_sched_debug", "BMQ or PDS instead of the kernel's own scheduler"},
    };
    char *text = host_read_all(c->root, "/proc/kallsyms");
    uint32_t found = 0;
    if (!text || !text[0]) {
        free(text);
        host_means(host_add(c, "symbols", HOST_OK, "kernel symbols are not shown here"),
                   "changes of the scheduler by a vendor would not be noticed", "");
        return;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(known); i++) {
        char word[48];
        snprintf(word, sizeof word, " %s", known[i].symbol); /* at its beginning */
        if (!strstr(text, word)) continue;
        found++;
        host_means(host_add(c, "symbols", HOST_WARN, "the kernel has %s: %s", known[i].symbol, known[i].what),
                   "not mainline's scheduler: free runs follow other rules than the kernel profiles (pinned runs are "
                   "not affected)",
                   "");
    }
    free(text);
    if (!found) host_add(c, "symbols", HOST_OK, "no symbol of a scheduler that is not mainline's");
}

/* Linux kernel/sched/features.h, those that matter to placement and preemption, as 6.6 to 6.18 have them. */
static const struct {
    const char *name;
    bool on;
} features[] = {
    {"PLACE_LAG", true},   {"RUN_TO_PARITY", true},   {"WAKEUP_PREEMPTION", true}, {"CACHE_HOT_BUDDY", true},
    {"NEXT_BUDDY", false}, {"TTWU_QUEUE", true},      {"SIS_UTIL", true},          {"WA_IDLE", true},
    {"WA_WEIGHT", true},   {"WA_BIAS", true},         {"NONTASK_CAPACITY", true},  {"LB_MIN", false},
    {"UTIL_EST", true},    {"ATTACH_AGE_LOAD", true}, {"PREEMPT_SHORT", true},     {"DELAY_DEQUEUE", true}};

void host_check_features(struct host_checker *c)
{
    char text[2048];
    uint32_t changed = 0;
    if (host_read(c->root, "/sys/kernel/debug/sched/features", text, sizeof text) <= 0) {
        host_means(host_add(c, "features", HOST_OK, "scheduler features cannot be read (debugfs)"),
                   "defaults of the version are assumed", "as root: mount -t debugfs none /sys/kernel/debug");
        return;
    }
    for (char *next = text, *word; (word = strsep(&next, " \n"));) {
        bool on = strncmp(word, "NO_", 3) != 0;
        for (size_t i = 0; i < WB_ARRAY_SIZE(features); i++) {
            if (strcmp(on ? word : word + 3, features[i].name) != 0 || on == features[i].on) continue;
            changed++;
            char fix[120];
            snprintf(fix, sizeof fix, "echo %s%s >/sys/kernel/debug/sched/features", features[i].on ? "" : "NO_",
                     features[i].name);
            host_means(host_add(c, "features", HOST_WARN, "scheduler feature %s is %s, unlike in mainline",
                                features[i].name, on ? "on" : "off"),
                       "choose a kernel profile with the same switch", fix);
        }
    }
    if (!changed) host_add(c, "features", HOST_OK, "scheduler features are mainline's");
}

void host_check_sysctl(struct host_checker *c)
{
    static const struct {
        const char *path, *id;
        int64_t usual;
        const char *meaning, *fix;
    } known[] = {
        {"/proc/sys/kernel/sched_autogroup_enabled", "autogroup", -1,
         "hogs of another session weigh as much as this whole session", "sysctl kernel.sched_autogroup_enabled=0"},
        {"/proc/sys/kernel/numa_balancing", "numa_balancing", 0,
         "tasks and pages are moved between nodes by page faults, which the model has not",
         "sysctl kernel.numa_balancing=0"},
        {"/proc/sys/kernel/timer_migration", "timer_migration", 1,
         "timers fire on the CPU that set them even when it idles", "sysctl kernel.timer_migration=1"},
        {"/proc/sys/kernel/sched_energy_aware", "energy_aware", 0,
         "wakeups may be placed by energy when the CPUs are asymmetric", "sysctl kernel.sched_energy_aware=0"},
        {"/proc/sys/kernel/sched_child_runs_first", "child_runs_first", 0, "a forked child preempts its parent",
         "sysctl kernel.sched_child_runs_first=0"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(known); i++) {
        int64_t v;
        if (!host_read_number(c->root, known[i].path, &v)) continue;
        const char *name = strrchr(known[i].path, '/') + 1;
        bool usual = known[i].usual < 0 || v == known[i].usual ||
                     (!strcmp(known[i].id, "energy_aware") && c->report->identity.hypervisor[0]);
        struct host_finding *f =
            host_add(c, known[i].id, usual ? HOST_OK : HOST_WARN, "%s is %lld", name, (long long)v);
        if (!usual || (known[i].usual < 0 && v)) host_means(f, known[i].meaning, usual ? "" : known[i].fix);
    }
}

/* --- other load
 * --------------------------------------------------------------------------------------------------------------- */

void host_check_load(struct host_checker *c)
{
    struct host_gate gate = host_gate_default;
    struct host_load *l = &c->report->load;
    char text[160];
    if (c->watch_s <= 0) return;
    gate.seconds = c->watch_s;
    host_quiet_before(&gate, l);
    if (!l->known) {
        host_means(host_add(c, "load", HOST_WARN, "other load cannot be seen (/proc/stat)"),
                   "a disturbed run would not be noticed", "");
        return;
    }
    enum host_level level = l->foreign > LOAD_HOPELESS      ? HOST_FAIL
                            : l->foreign > gate.foreign_max ? HOST_WARN
                                                            : HOST_OK;
    struct host_finding *f = host_add(c, "load", level, "over %.1f s: %s, %u new processes", l->seconds,
                                      host_load_text(l, text, sizeof text), l->new_processes);
    if (level != HOST_OK)
        host_means(f, "cross-CPU figures may be off two-fold, unpinned ones by more: real runs are refused or marked",
                   "stop what runs, or wait");
    bool stolen = l->steal > gate.steal_max;
    f = host_add(c, "steal", stolen ? HOST_WARN : HOST_OK, "steal %.2f %%", l->steal * 100);
    if (stolen)
        host_means(f, "the hypervisor ran others on these CPUs: times are stretched, at random",
                   "another time, or dedicated CPUs");
}
