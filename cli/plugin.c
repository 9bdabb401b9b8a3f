/* plugin.c - see plugin.h. */
#include "plugin.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "registry.h"
#include "study.h"
#include "wakebal/policy.h"

static char loaded_path[4096];

bool plugin_is_path(const char *policy)
{
    size_t n = strlen(policy);
    return strchr(policy, '/') || (n > 3 && !strcmp(policy + n - 3, ".so"));
}

static int wrong(struct wb_diag *d, const char *path, const char *fix, const char *what)
{
    wb_diag_add(d, WB_ERROR, "E180", (struct wb_place){0}, fix, "policy plug-in %s: %s", path, what);
    return -1;
}

/* ---- checks ---- */

struct hook {
    const char *name;
    size_t at;
};
#define HOOK(n) \
    { \
#n, offsetof(struct wb_policy_ops, n) \
    }
/* Who queues tasks must do all of it: the base would look into its own, empty queues. */
static const struct hook queue_hooks[] = {HOOK(enqueue), HOOK(dequeue), HOOK(put_prev), HOOK(pick),
                                          HOOK(yield),   HOOK(migrate), HOOK(tick),     HOOK(check_preempt)};
#define QUEUE_CORE 4u /* the first four: any of them asks for all eight */
static const struct hook balance_kinds[] = {HOOK(balance_newidle), HOOK(balance_periodic), HOOK(balance_nohz),
                                            HOOK(balance_active)};

static const void *hook_at(const struct wb_policy_ops *p, size_t at)
{
    const void *hook;
    memcpy(&hook, (const unsigned char *)p + at, sizeof hook);
    return hook;
}

static bool has(const struct wb_policy_ops *p, size_t at)
{
    return hook_at(p, at);
}

static int check_queue(const struct wb_policy_ops *p, const char *path, struct wb_diag *d)
{
    char missing[160] = "";
    bool any = false;
    for (size_t i = 0; i < QUEUE_CORE; i++) any = any || has(p, queue_hooks[i].at);
    for (size_t i = 0; any && i < WB_ARRAY_SIZE(queue_hooks); i++)
        if (!has(p, queue_hooks[i].at))
            (void)snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", queue_hooks[i].name);
    if (!*missing) return 0;
    char text[256];
    (void)snprintf(text, sizeof text, "it queues tasks itself but lacks%s", missing);
    return wrong(d, path, "give all eight hooks of the queue, or none and let the base queue", text);
}

static int check_balance(const struct wb_policy_ops *p, const char *path, struct wb_diag *d)
{
    int err = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(balance_kinds); i++) {
        const struct wb_balance_ops *b = hook_at(p, balance_kinds[i].at);
        if (!b || (b->begin && b->next && b->find && b->pull && b->done && b->end)) continue;
        char text[128];
        (void)snprintf(text, sizeof text, "%s lacks one of begin, next, find, pull, done, end", balance_kinds[i].name);
        err = wrong(d, path, "a balancing kind is all six steps; pass on to wb_base_policy() where nothing changes",
                    text);
    }
    return err;
}

static int check_hooks(const struct wb_policy_ops *p, const char *path, struct wb_diag *d)
{
    bool any = false;
    for (size_t at = offsetof(struct wb_policy_ops, place_wakeup); at + sizeof(void *) <= sizeof *p;
         at += sizeof(void *))
        any = any || has(p, at);
    if (!any) return wrong(d, path, "set at least one hook, for example .place_wakeup", "it replaces no decision");
    if (!p->name || !*p->name) return wrong(d, path, "set .name", "it has no name");
    if (p->nrules && !p->rules) return wrong(d, path, "set .rules, or .nrules = 0", "it counts rules and has none");
    for (size_t i = 0; i < p->nrules; i++)
        if (!p->rules[i]) return wrong(d, path, "give each rule a sentence", "a rule has no text");
    return check_queue(p, path, d) | check_balance(p, path, d);
}

static int check_abi(const struct wb_policy_ops *p, const char *path, struct wb_diag *d)
{
    char text[128];
    if (p->abi != WB_POLICY_ABI) {
        (void)snprintf(text, sizeof text, "it was built for ABI %u, this program has ABI %u", p->abi, WB_POLICY_ABI);
        return wrong(d, path, "build it again with the headers of this version", text);
    }
    if (p->size != sizeof *p) {
        (void)snprintf(text, sizeof text, "its table has %u bytes, this program's has %zu", p->size, sizeof *p);
        return wrong(d, path, "set .size = sizeof(struct wb_policy_ops) and build it again", text);
    }
    return 0;
}

/* ---- crashes ---- */

static void put(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* First address of the stack that lies in the plug-in; NULL: none, the crash is ours. */
static void *in_plugin(Dl_info *where)
{
    void *pc[64];
    int n = backtrace(pc, (int)WB_ARRAY_SIZE(pc));
    for (int i = 0; i < n; i++)
        if (dladdr(pc[i], where) && where->dli_fname && !strcmp(where->dli_fname, loaded_path)) return pc[i];
    return NULL;
}

static void on_crash(int sig)
{
    Dl_info where;
    char text[768];
    if (in_plugin(&where)) {
        (void)snprintf(text, sizeof text,
                       "error: policy plug-in %.250s crashed: %.40s in %.60s()\n"
                       "  seed %llu replication %u time %llu ps cpu %d task %d\n"
                       "  = the plug-in is at fault, or passed on something that it should not; run it under gdb: gdb "
                       "--args wakebal ...\n",
                       loaded_path, strsignal(sig), where.dli_sname ? where.dli_sname : "a static function",
                       (unsigned long long)wb_where.seed, wb_where.replication, (unsigned long long)wb_where.now,
                       (int)wb_where.cpu, (int)wb_where.task);
        put(text);
        _exit(EXIT_INVALID);
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

static void watch_crashes(void)
{
    static const int sigs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    void *warm[1];
    (void)backtrace(warm, 1); /* loads what it needs now, not inside the handler */
    for (size_t i = 0; i < WB_ARRAY_SIZE(sigs); i++) {
        struct sigaction sa = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
        (void)sigaction(sigs[i], &sa, NULL);
    }
}

/* ---- loading ---- */

static bool restricted;
static const char *allowed;

void plugin_allow_only(const char *path)
{
    restricted = true;
    allowed = path;
}

int plugin_load(const char *path, struct wb_diag *d)
{
    char here[4096];
    if (restricted && (!allowed || strcmp(allowed, path) != 0))
        return wrong(d, path, "if you trust it, name it on this command line as well: --policy FILE.so",
                     "a manifest asks for it; plug-ins are loaded only when the command line names them");
    (void)snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (access(here, R_OK))
        return wrong(d, path, "name a shared object that can be read", "there is no such file, or it may not be read");
    void *so = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!so) return wrong(d, path, "see docs/plugin-tutorial.md", dlerror());
    void *symbol = dlsym(so, "wb_policy_plugin");
    if (!symbol)
        return wrong(d, path, "export `const struct wb_policy_ops *wb_policy_plugin(void)`",
                     "it exports no wb_policy_plugin()");
    wb_policy_entry entry;
    memcpy(&entry, &symbol, sizeof entry);
    Dl_info info;
    (void)snprintf(loaded_path, sizeof loaded_path, "%s", dladdr(symbol, &info) ? info.dli_fname : here);
    watch_crashes();
    const struct wb_policy_ops *p = entry();
    if (!p) return wrong(d, path, "return the address of a static table", "wb_policy_plugin() returned NULL");
    if (check_abi(p, path, d) || check_hooks(p, path, d)) return -1;
    char *model = study_model_with(here); /* the version, and the file's sum behind the last "+" */
    if (!model) return wrong(d, path, "name a shared object that can be read", "it cannot be read");
    cli_overlay(p, strrchr(model, '+') + 1);
    free(model);
    return 0;
}
