/* real_spec.c - the keys of real workloads: one table for options, help, parsing and defaults; see real.h. */
#include "real.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wakebal/units.h"

#define K(kind) (1u << (kind))
#define ALL (K(REAL_KINDS) - 1)
#define RR (K(REAL_TCP_RR) | K(REAL_UDP_RR) | K(REAL_UNIX_RR))
#define TIMED (ALL & ~K(REAL_HACKBENCH))
#define SINGLE (K(REAL_HOG) | K(REAL_PERIODIC))

enum value_type { SIZE, NUMBER, NUMBER32, TIME, DIST, BOOL, ENUM, CPUS, NICE, BACKGROUND };

struct key {
    struct real_key k;
    enum value_type type;
    size_t at;                  /* offset in struct real_spec */
    uint64_t min, max;          /* of SIZE, NUMBER, TIME (ns) */
    const char *const *choices; /* of ENUM; an index is stored (bool or uint32_t by `bytes`) */
    bool as_bool;               /* ENUM of two into a bool */
    bool is_work;               /* fixed work: no duration unless that is given too */
};

static const char *const sched_names[] = {"other", "batch", "idle", NULL};
static const char *const counter_names[] = {"auto", "proc", "perf", "none", NULL};
static const char *const mode_names[] = {"process", "thread", NULL};
static const char *const transport_names[] = {"socket", "pipe", NULL};
static const char *const pattern_names[] = {"stream", "random", NULL};

#define AT(field) offsetof(struct real_spec, field)
#define HOUR 3600000000000u
static const struct key keys[] = {
    {{"message", "SIZE", "bytes of a message", K(REAL_PIPE_BW) | K(REAL_PIPE_LATENCY) | K(REAL_HACKBENCH)},
     SIZE,
     AT(message),
     1,
     64 << 20,
     NULL,
     false,
     false},
    {{"total", "SIZE", "bytes that each reader takes, instead of a duration", K(REAL_PIPE_BW)},
     SIZE,
     AT(total),
     1,
     1ull << 40,
     NULL,
     false,
     true},
    {{"trips", "N", "round trips of each copy, instead of a duration", K(REAL_PIPE_LATENCY)},
     NUMBER,
     AT(count_each),
     1,
     1000000000,
     NULL,
     false,
     true},
    {{"transactions", "N", "transactions of each copy, instead of a duration", RR},
     NUMBER,
     AT(count_each),
     1,
     1000000000,
     NULL,
     false,
     true},
    {{"calls", "N", "calls of each copy, instead of a duration", K(REAL_SYSCALL)},
     NUMBER,
     AT(count_each),
     1,
     100000000000,
     NULL,
     false,
     true},
    {{"chunks", "N", "chunks of each hog, instead of a duration", K(REAL_HOG)},
     NUMBER,
     AT(count_each),
     1,
     1000000000,
     NULL,
     false,
     true},
    {{"cycles", "N", "cycles of each task, instead of a duration", K(REAL_PERIODIC)},
     NUMBER,
     AT(count_each),
     1,
     1000000000,
     NULL,
     false,
     true},
    {{"call", "NAME", "which call: write socket select gettimeofday getppid ...", K(REAL_SYSCALL)},
     ENUM,
     AT(call),
     0,
     0,
     NULL,
     false,
     false},
    {{"request", "SIZE", "bytes of a request", RR}, SIZE, AT(request), 1, 64 << 20, NULL, false, false},
    {{"response", "SIZE", "bytes of a response", RR}, SIZE, AT(response), 1, 64 << 20, NULL, false, false},
    {{"copies", "N", "pairs, or callers, at once", TIMED & ~SINGLE},
     NUMBER32,
     AT(copies),
     1,
     REAL_COPIES_MAX,
     NULL,
     false,
     false},
    {{"count", "N", "how many tasks", SINGLE}, NUMBER32, AT(copies), 1, REAL_COPIES_MAX, NULL, false, false},
    {{"groups", "N", "groups of senders and receivers", K(REAL_HACKBENCH)},
     NUMBER32,
     AT(groups),
     1,
     1000,
     NULL,
     false,
     false},
    {{"fds", "N", "senders, and receivers, of a group", K(REAL_HACKBENCH)},
     NUMBER32,
     AT(fds),
     1,
     100,
     NULL,
     false,
     false},
    {{"loops", "N", "messages of each sender to each receiver", K(REAL_HACKBENCH)},
     NUMBER,
     AT(loops),
     1,
     10000000,
     NULL,
     false,
     false},
    {{"mode", "MODE", "process or thread", K(REAL_HACKBENCH)}, ENUM, AT(threads), 0, 0, mode_names, true, false},
    {{"transport", "KIND", "socket (AF_UNIX stream pairs) or pipe", K(REAL_HACKBENCH)},
     ENUM,
     AT(pipe),
     0,
     0,
     transport_names,
     true,
     false},
    {{"threads", "BOOL", "both ends are threads of one process", K(REAL_PIPE_BW) | K(REAL_PIPE_LATENCY) | RR},
     BOOL,
     AT(threads),
     0,
     0,
     NULL,
     false,
     false},
    {{"nodelay", "BOOL", "set TCP_NODELAY", K(REAL_TCP_RR)}, BOOL, AT(nodelay), 0, 0, NULL, false, false},
    {{"pipe_size", "SIZE", "capacity of the pipes", K(REAL_PIPE_BW) | K(REAL_PIPE_LATENCY)},
     SIZE,
     AT(pipe_size),
     4096,
     1 << 30,
     NULL,
     false,
     false},
    {{"think", "TIME", "work of each side before it sends: \"5 us\", \"exp(20 us)\"", K(REAL_PIPE_LATENCY) | RR},
     DIST,
     AT(think),
     0,
     0,
     NULL,
     false,
     false},
    {{"chunk", "TIME", "work of a hog that counts as one", K(REAL_HOG)}, DIST, AT(chunk), 0, 0, NULL, false, false},
    {{"working_set", "SIZE", "bytes that a hog writes to after each chunk", K(REAL_HOG)},
     SIZE,
     AT(working_set),
     0,
     1 << 30,
     NULL,
     false,
     false},
    {{"pattern", "KIND", "stream or random: order in which it does", K(REAL_HOG)},
     ENUM,
     AT(random_pattern),
     0,
     0,
     pattern_names,
     true,
     false},
    {{"run", "TIME", "work of a cycle", K(REAL_PERIODIC)}, DIST, AT(run), 0, 0, NULL, false, false},
    {{"sleep", "TIME", "sleep after the work; not used with a period", K(REAL_PERIODIC)},
     DIST,
     AT(sleep),
     0,
     0,
     NULL,
     false,
     false},
    {{"period", "TIME", "wake at multiples of this time", K(REAL_PERIODIC)},
     TIME,
     AT(period_ns),
     1000,
     HOUR,
     NULL,
     false,
     false},
    {{"timer_slack", "TIME", "how late the kernel may fire its timer", K(REAL_PERIODIC)},
     TIME,
     AT(timer_slack_ns),
     1,
     HOUR,
     NULL,
     false,
     false},
    {{"duration", "TIME", "length of the counted part", TIMED},
     TIME,
     AT(duration_ns),
     1000000,
     HOUR,
     NULL,
     false,
     false},
    {{"warmup", "TIME", "before it", ALL}, TIME, AT(warmup_ns), 0, HOUR, NULL, false, false},
    {{"window", "TIME", "of the series", TIMED}, TIME, AT(window_ns), 100000, HOUR, NULL, false, false},
    {{"limit", "TIME", "wall time after which the run is ended", ALL},
     TIME,
     AT(limit_ns),
     1000000,
     HOUR,
     NULL,
     false,
     false},
    {{"nice", "N", "-20 to 19", ALL}, NICE, AT(nice), 0, 0, NULL, false, false},
    {{"sched", "CLASS", "other, batch or idle", ALL}, ENUM, AT(sched), 0, 0, sched_names, false, false},
    {{"counters", "FROM", "auto, proc, perf or none: where switches are counted", ALL},
     ENUM,
     AT(counters),
     0,
     0,
     counter_names,
     false,
     false},
    {{"seed", "N", "of random think, run and sleep times", ALL},
     NUMBER,
     AT(seed),
     0,
     UINT64_MAX >> 1,
     NULL,
     false,
     false},
    {{"allowed", "CPUS", "all tasks may use these, as taskset -c", ALL}, CPUS, AT(allowed), 0, 0, NULL, false, false},
    {{"cpus", "CPUS", "handed out: task k gets the k-th of them, in turn", ALL},
     CPUS,
     AT(cpus),
     0,
     0,
     NULL,
     false,
     false},
    {{"writer_cpus", "CPUS", "of every writer", K(REAL_PIPE_BW)}, CPUS, AT(end_cpus[0]), 0, 0, NULL, false, false},
    {{"reader_cpus", "CPUS", "of every reader", K(REAL_PIPE_BW)}, CPUS, AT(end_cpus[1]), 0, 0, NULL, false, false},
    {{"parent_cpus", "CPUS", "of every timed end", K(REAL_PIPE_LATENCY)},
     CPUS,
     AT(end_cpus[0]),
     0,
     0,
     NULL,
     false,
     false},
    {{"child_cpus", "CPUS", "of every answering end", K(REAL_PIPE_LATENCY)},
     CPUS,
     AT(end_cpus[1]),
     0,
     0,
     NULL,
     false,
     false},
    {{"client_cpus", "CPUS", "of every client", RR}, CPUS, AT(end_cpus[0]), 0, 0, NULL, false, false},
    {{"server_cpus", "CPUS", "of every server", RR}, CPUS, AT(end_cpus[1]), 0, 0, NULL, false, false},
    {{"sender_cpus", "CPUS", "of every sender", K(REAL_HACKBENCH)}, CPUS, AT(end_cpus[0]), 0, 0, NULL, false, false},
    {{"receiver_cpus", "CPUS", "of every receiver", K(REAL_HACKBENCH)},
     CPUS,
     AT(end_cpus[1]),
     0,
     0,
     NULL,
     false,
     false},
    {{"background", "LOAD",
      "load beside it: \"hog,count=2,nice=10,cpus=0\", \"periodic,run=1ms,period=4ms\"; may be repeated", ALL},
     BACKGROUND,
     0,
     0,
     0,
     NULL,
     false,
     false},
};
_Static_assert(WB_ARRAY_SIZE(keys) <= 64, "given is a mask of 64 keys");

static const struct {
    const char *name, *help, *peer;
} kinds[REAL_KINDS] = {
    [REAL_PIPE_BW] = {"pipe_bw", "bandwidth of a pipe", "lmbench bw_pipe"},
    [REAL_PIPE_LATENCY] = {"pipe_latency", "a token to and fro through two pipes",
                           "lmbench lat_pipe, perf bench sched pipe"},
    [REAL_TCP_RR] = {"tcp_rr", "request and response over TCP on 127.0.0.1", "netperf TCP_RR"},
    [REAL_UDP_RR] = {"udp_rr", "request and response over UDP on 127.0.0.1", "netperf UDP_RR"},
    [REAL_UNIX_RR] = {"unix_rr", "request and response over an AF_UNIX stream", "lmbench lat_unix"},
    [REAL_HACKBENCH] = {"hackbench", "groups of senders and receivers", "hackbench, perf bench sched messaging"},
    [REAL_SYSCALL] = {"syscall", "one system call in a loop", "perf bench syscall basic, lmbench lat_syscall"},
    [REAL_HOG] = {"hog", "tasks that compute without end", "stress-ng --cpu"},
    [REAL_PERIODIC] = {"periodic", "tasks that run and sleep", "cyclictest, rt-app"},
};

const char *real_kind_name(enum real_kind kind)
{
    return (unsigned)kind < REAL_KINDS ? kinds[kind].name : NULL;
}
const char *real_kind_help(enum real_kind kind)
{
    return (unsigned)kind < REAL_KINDS ? kinds[kind].help : NULL;
}
const char *real_kind_peer(enum real_kind kind)
{
    return (unsigned)kind < REAL_KINDS ? kinds[kind].peer : NULL;
}

/* '-' in option names is '_' in keys. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b)) return false;
    return *a == *b;
}

int real_kind_find(const char *name, enum real_kind *kind)
{
    for (unsigned k = 0; k < REAL_KINDS; k++)
        if (same_name(name, kinds[k].name)) {
            *kind = (enum real_kind)k;
            return 0;
        }
    return -1;
}

const struct real_key *real_key_table(size_t *n)
{
    static struct real_key table[WB_ARRAY_SIZE(keys)];
    for (size_t i = 0; i < WB_ARRAY_SIZE(keys); i++) table[i] = keys[i].k;
    *n = WB_ARRAY_SIZE(keys);
    return table;
}

void real_spec_init(struct real_spec *s, enum real_kind kind)
{
    static const uint64_t message[REAL_KINDS] = {
        [REAL_PIPE_BW] = 64 << 10, [REAL_PIPE_LATENCY] = 1, [REAL_HACKBENCH] = 100};
    static const struct real_spec start = {
        /* on the stack it would take 44 KB where nothing is optimised */
        .message = 1,
        .total = 10 << 20,
        .request = 1,
        .response = 1,
        .count_each = 100000,
        .copies = 1,
        .groups = 10,
        .fds = 20,
        .loops = 100,
        .chunk = {.a = (int64_t)WB_MS},
        .run = {.a = (int64_t)WB_MS},
        .sleep = {.a = 9 * (int64_t)WB_MS},
        .timer_slack_ns =
            50000, /* what every task has unless it asks otherwise: Linux Documentation/filesystems/proc.rst */
        .duration_ns = 2000000000u,
        .warmup_ns = 200000000u,
        .window_ns = 100000000u,
        .seed = 1,
    };
    *s = start;
    s->kind = kind;
    if (message[kind]) s->message = message[kind];
    if (kind == REAL_HACKBENCH) s->duration_ns = 0;
}

static int wrong(struct wb_diag *d, const char *fix, const char *key, const char *value, const char *why)
{
    wb_diag_add(d, WB_ERROR, "E901", (struct wb_place){0}, fix, "%s = \"%s\": %s", key, value, why);
    return -1;
}

static int out_of_range(struct wb_diag *d, const struct key *k, const char *value)
{
    char low[32], high[32], fix[96];
    enum wb_unit unit = k->type == SIZE ? WB_UNIT_SIZE : k->type == TIME ? WB_UNIT_TIME : WB_UNIT_COUNT;
    double scale = k->type == TIME ? (double)WB_NS : 1;
    snprintf(fix, sizeof fix, "from %s to %s", wb_format_quantity(low, sizeof low, (double)k->min * scale, unit),
             wb_format_quantity(high, sizeof high, (double)k->max * scale, unit));
    return wrong(d, fix, k->k.name, value, "out of range");
}

static int set_quantity(const struct key *k, void *at, const char *value, struct wb_diag *d)
{
    enum wb_unit unit = k->type == SIZE ? WB_UNIT_SIZE : k->type == TIME ? WB_UNIT_TIME : WB_UNIT_COUNT;
    int64_t v;
    const char *why;
    size_t where;
    if (wb_parse_quantity(value, unit, &v, &why, &where) < 0) return wrong(d, NULL, k->k.name, value, why);
    if (k->type == TIME) v /= (int64_t)WB_NS;
    if (v < 0 || (uint64_t)v < k->min || (uint64_t)v > k->max) return out_of_range(d, k, value);
    if (k->type == NUMBER32)
        *(uint32_t *)at = (uint32_t)v;
    else
        *(uint64_t *)at = (uint64_t)v;
    return 0;
}

static int set_enum(const struct key *k, void *at, const char *value, struct wb_diag *d)
{
    char fix[160] = "one of", *end = fix + strlen(fix);
    bool is_call = at && !k->choices;
    for (uint32_t i = 0;; i++) {
        const char *name = is_call ? real_call_name(i) : k->choices[i];
        if (!name) break;
        if (!strcmp(name, value)) {
            if (k->as_bool)
                *(bool *)at = i;
            else
                *(uint32_t *)at = i;
            return 0;
        }
        end += snprintf(end, sizeof fix - (size_t)(end - fix), " %s", name);
    }
    return wrong(d, fix, k->k.name, value, "unknown");
}

static int set_bool(const struct key *k, bool *at, const char *value, struct wb_diag *d)
{
    static const char *const yes[] = {"true", "yes", "on", "1", ""}, *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(yes); i++)
        if (!strcmp(value, yes[i])) return *at = true, 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(no); i++)
        if (!strcmp(value, no[i])) return *at = false, 0;
    return wrong(d, "true or false", k->k.name, value, "neither true nor false");
}

static int set_nice(int *at, const char *value, struct wb_diag *d)
{
    char *end;
    errno = 0;
    long v = strtol(value, &end, 10);
    if (errno || end == value || *end || v < -20 || v > 19)
        return wrong(d, "from -20 to 19", "nice", value, "no nice value");
    *at = (int)v;
    return 0;
}

static int set_cpus(const char *key, struct real_cpus *at, const char *value, struct wb_diag *d)
{
    struct real_cpus set = {.w = {0}};
    struct wb_cpumask m = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(set.w), .w = set.w};
    const char *why;
    size_t where;
    if (strcmp(value, "free") != 0 && wb_mask_parse(value, &m, &why, &where) < 0)
        return wrong(d, "a list such as 0,2-5, or free", key, value, why);
    *at = set;
    return 0;
}

/* One quantity of "exp(20 us)": up to `stop`. */
static bool dist_part(const char **text, char stop, enum wb_unit unit, int64_t *v)
{
    char part[48];
    const char *end = strchr(*text, stop), *why;
    size_t at, n = end ? (size_t)(end - *text) : sizeof part;
    if (n >= sizeof part) return false;
    memcpy(part, *text, n);
    part[n] = '\0';
    while (n && part[n - 1] == ' ') part[--n] = '\0';
    *text = end + 1;
    return wb_parse_quantity(part + strspn(part, " "), unit, v, &why, &at) >= 0 && *v >= 0;
}

/* The distributions of scenarios, but for tables. */
static int set_dist(const char *key, struct wb_dist *at, const char *value, struct wb_diag *d)
{
    static const struct {
        const char *head;
        enum wb_dist_kind kind;
        bool two;
        enum wb_unit second;
    } form[] = {{"fixed(", WB_DIST_FIXED, false, WB_UNIT_TIME},
                {"exp(", WB_DIST_EXP, false, WB_UNIT_TIME},
                {"uniform(", WB_DIST_UNIFORM, true, WB_UNIT_TIME},
                {"normal(", WB_DIST_NORMAL, true, WB_UNIT_RATIO},
                {"lognormal(", WB_DIST_LOGNORMAL, true, WB_UNIT_RATIO}};
    const char *
        fix = "\"5 us\", \"exp(20 us)\", \"uniform(1 us, 3 us)\", \"normal(10 us, 10 %)\" or \"lognormal(10 us, 0.5)\"",
       *why;
    struct wb_dist x = {.kind = WB_DIST_FIXED};
    size_t where;
    for (size_t i = 0; i < WB_ARRAY_SIZE(form); i++) {
        size_t n = strlen(form[i].head);
        if (strncmp(value, form[i].head, n) != 0) continue;
        const char *rest = value + n;
        x.kind = form[i].kind;
        if (!dist_part(&rest, form[i].two ? ',' : ')', WB_UNIT_TIME, &x.a) ||
            (form[i].two && !dist_part(&rest, ')', form[i].second, &x.b)) || *rest)
            return wrong(d, fix, key, value, "not understood");
        *at = x;
        return 0;
    }
    if (wb_parse_quantity(value, WB_UNIT_TIME, &x.a, &why, &where) < 0) return wrong(d, fix, key, value, why);
    if (x.a < 0) return wrong(d, fix, key, value, "must not be negative");
    *at = x;
    return 0;
}

static int set_background(struct real_spec *s, const char *value, struct wb_diag *d);

static int set_value(struct real_spec *s, const struct key *k, const char *value, struct wb_diag *d)
{
    void *at = (char *)s + k->at;
    switch (k->type) {
    case SIZE:
    case NUMBER:
    case NUMBER32:
    case TIME: return set_quantity(k, at, value, d);
    case DIST: return set_dist(k->k.name, at, value, d);
    case BOOL: return set_bool(k, at, value, d);
    case ENUM: return set_enum(k, at, value, d);
    case CPUS: return set_cpus(k->k.name, at, value, d);
    case NICE: return set_nice(at, value, d);
    case BACKGROUND: return set_background(s, value, d);
    }
    return -1;
}

static const struct key *find_key(enum real_kind kind, const char *name)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(keys); i++)
        if (keys[i].k.kinds & K(kind) && same_name(name, keys[i].k.name)) return &keys[i];
    return NULL;
}

static int unknown_key(enum real_kind kind, const char *name, struct wb_diag *d)
{
    const char *names[WB_ARRAY_SIZE(keys)], *near;
    size_t n = 0;
    char fix[80];
    for (size_t i = 0; i < WB_ARRAY_SIZE(keys); i++)
        if (keys[i].k.kinds & K(kind)) names[n++] = keys[i].k.name;
    near = wb_nearest(name, names, n);
    if (near)
        snprintf(fix, sizeof fix, "did you mean '%s'?", near);
    else
        snprintf(fix, sizeof fix, "see `wakebal real %s --help`", kinds[kind].name);
    wb_diag_add(d, WB_ERROR, "E902", (struct wb_place){0}, fix, "%s has no key '%s'", kinds[kind].name, name);
    return -1;
}

int real_spec_set(struct real_spec *s, const char *key, const char *value, struct wb_diag *d)
{
    const struct key *k = find_key(s->kind, key), *duration = find_key(REAL_HOG, "duration");
    if (!k) return unknown_key(s->kind, key, d);
    if (set_value(s, k, value, d) < 0) return -1;
    s->given |= 1ull << (k - keys);
    if (k->is_work && !(s->given & 1ull << (duration - keys))) s->duration_ns = 0;
    return 0;
}

/* The keys behind the kind, cut at the commas; value: all of it, for messages. 0 or -1. */
static int background_keys(struct real_spec *one, char *next, const char *value, struct wb_diag *d)
{
    static const char *const may[] = {"count",       "nice",    "sched", "cpus",  "chunk",
                                      "working_set", "pattern", "run",   "sleep", "period"};
    char *word;
    while ((word = strsep(&next, ","))) {
        char *is = strchr(word, '=');
        size_t i = 0;
        if (!is) return wrong(d, "hog,KEY=VALUE,...", "background", value, "no '=' after a key");
        *is = '\0';
        while (i < WB_ARRAY_SIZE(may) && !same_name(word, may[i])) i++;
        if (i == WB_ARRAY_SIZE(may)) return unknown_key(one->kind, word, d);
        for (char *c = is + 1; *c; c++)
            if (*c == '+') *c = ','; /* cpus=0+2: a comma would end the value */
        if (real_spec_set(one, word, is + 1, d) < 0) return -1;
    }
    return 0;
}

/* "hog,count=2,nice=10": a spec of its own is filled, then taken over. */
static int set_background(struct real_spec *s, const char *value, struct wb_diag *d)
{
    char text[160], *next = text;
    enum real_kind kind;
    if (s->background_n == REAL_BACKGROUND_MAX) return wrong(d, NULL, "background", value, "too many");
    if (strlen(value) >= sizeof text) return wrong(d, NULL, "background", value, "too long");
    memcpy(text, value, strlen(value) + 1);
    const char *word = strsep(&next, ",");
    if (real_kind_find(word, &kind) < 0 || !(K(kind) & SINGLE))
        return wrong(d, "hog or periodic", "background", value, "unknown kind of load");
    struct real_spec *one = calloc(1, sizeof *one);
    WB_MEMORY(one, "out of memory for a load in the background");
    real_spec_init(one, kind);
    int rc = background_keys(one, next, value, d);
    if (!rc)
        s->background[s->background_n++] = (struct real_background){.kind = kind,
                                                                    .count = one->copies,
                                                                    .nice = one->nice,
                                                                    .sched = one->sched,
                                                                    .cpus = one->cpus,
                                                                    .chunk = one->chunk,
                                                                    .run = one->run,
                                                                    .sleep = one->sleep,
                                                                    .period_ns = one->period_ns,
                                                                    .working_set = one->working_set,
                                                                    .random_pattern = one->random_pattern};
    free(one);
    return rc;
}
