/*
 * real_cmd.c - command lines of the real benchmarks, as settings of our own workloads; see real_spec_from_cmd in
 * real.h.
 *
 * `taskset -c LIST`, `nice -n N`, `chrt -b 0` and `chrt -i 0` may stand in front. Options that only say how a tool
 * measures (lmbench's -W and -N) are taken and have no effect. Options and defaults are those of lmbench 3 src/,
 * netperf src/netsh.c, rt-tests src/hackbench/hackbench.c and tools/perf/bench/ of Linux.
 */
#include "real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

enum option_kind {
    VALUE,   /* as it is */
    SIZE,    /* lmbench's: k and m are powers of 1024 */
    SECONDS, /* "10" */
    FIXED,   /* no argument: the key gets `value` */
    PAIR,    /* "a,b": key and value (a second key) */
    LOCAL,   /* a host name, which must be this one */
    IGNORED, /* with an argument */
    IGNORED_FLAG,
    ENDS /* "--": options of the test follow */
};

struct option {
    const char *short_name, *long_name;
    enum option_kind kind;
    const char *key, *value;
};

struct tool {
    const char *words[4];
    enum real_kind kind;
    const char *preset; /* "message=4 B" */
    struct option option[12];
};

static const struct tool tools[] = {
    {{"bw_pipe"},
     REAL_PIPE_BW,
     NULL,
     {{"-m", NULL, SIZE, "message", NULL},
      {"-M", NULL, SIZE, "total", NULL},
      {"-P", NULL, VALUE, "copies", NULL},
      {"-W", NULL, IGNORED, NULL, NULL},
      {"-N", NULL, IGNORED, NULL, NULL}}},
    {{"lat_pipe"},
     REAL_PIPE_LATENCY,
     NULL,
     {{"-P", NULL, VALUE, "copies", NULL}, {"-W", NULL, IGNORED, NULL, NULL}, {"-N", NULL, IGNORED, NULL, NULL}}},
    {{"lat_unix"},
     REAL_UNIX_RR,
     NULL,
     {{"-m", NULL, SIZE, "request", "response"},
      {"-P", NULL, VALUE, "copies", NULL},
      {"-W", NULL, IGNORED, NULL, NULL},
      {"-N", NULL, IGNORED, NULL, NULL}}},
    {{"netperf"},
     REAL_TCP_RR,
     NULL,
     {{"-t", NULL, VALUE, "test", NULL},
      {"-l", NULL, SECONDS, "duration", NULL},
      {"-H", NULL, LOCAL, NULL, NULL},
      {"-T", NULL, PAIR, "client_cpus", "server_cpus"},
      {"-r", NULL, PAIR, "request", "response"},
      {"-D", NULL, FIXED, "nodelay", "true"},
      {"-P", NULL, IGNORED, NULL, NULL},
      {"-v", NULL, IGNORED, NULL, NULL},
      {"--", NULL, ENDS, NULL, NULL}}},
    {{"hackbench"},
     REAL_HACKBENCH,
     NULL,
     {{"-g", "--groups", VALUE, "groups", NULL},
      {"-f", "--fds", VALUE, "fds", NULL},
      {"-l", "--loops", VALUE, "loops", NULL},
      {"-s", "--datasize", VALUE, "message", NULL},
      {"-pipe", "--pipe", FIXED, "transport", "pipe"},
      {"-p", NULL, FIXED, "transport", "pipe"},
      {"-P", "--process", FIXED, "mode", "process"},
      {"-T", "--threads", FIXED, "mode", "thread"}}},
    {{"perf", "bench", "sched", "messaging"},
     REAL_HACKBENCH,
     NULL,
     {{"-g", "--group", VALUE, "groups", NULL},
      {"-l", "--nr_loops", VALUE, "loops", NULL},
      {"-p", "--pipe", FIXED, "transport", "pipe"},
      {"-t", "--thread", FIXED, "mode", "thread"}}},
    {{"perf", "bench", "sched", "pipe"},
     REAL_PIPE_LATENCY,
     "message=4 B",
     {{"-l", "--loop", VALUE, "trips", NULL}, {"-T", "--threaded", FIXED, "threads", "true"}}},
    {{"perf", "bench", "syscall", "basic"}, REAL_SYSCALL, "call=getppid", {{"-l", "--loop", VALUE, "calls", NULL}}},
    {{"lat_syscall", "null"}, REAL_SYSCALL, "call=getppid", {{"-P", NULL, VALUE, "copies", NULL}}},
};

struct words {
    char text[1024];
    char *word[WORDS_MAX];
    size_t n, at;
    struct wb_diag *d;
};

static int refuse(const struct words *w, const char *word, const char *why)
{
    wb_diag_add(w->d, WB_ERROR, "E904", (struct wb_place){0},
                "known: pipe_bw and the other kinds (wakebal real --list); commands of bw_pipe, lat_pipe, lat_unix, "
                "lat_syscall null, netperf -t TCP_RR|UDP_RR, hackbench, perf bench",
                "command: '%s': %s", word, why);
    return -1;
}

static int split(struct words *w, const char *text)
{
    if (strlen(text) >= sizeof w->text) return refuse(w, "", "too long");
    memcpy(w->text, text, strlen(text) + 1);
    char *next = w->text;
    for (char *word; (word = strsep(&next, " \t"));) {
        if (!*word) continue;
        if (w->n == WORDS_MAX) return refuse(w, word, "too many words");
        w->word[w->n++] = word;
    }
    return w->n ? 0 : refuse(w, "", "empty");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* taskset, nice and chrt in front; remembered as KEY, VALUE pairs for when the kind is known. */
struct prefix {
    const char *key, *value;
};

static int prefixes(struct words *w, struct prefix *p, size_t *n)
{
    static const struct {
        const char *name, *flag, *key, *value;
        size_t words;
    } known[] = {{"taskset", "-c", "allowed", NULL, 3},
                 {"taskset", "--cpu-list", "allowed", NULL, 3},
                 {"nice", "-n", "nice", NULL, 3},
                 {"chrt", "-b", "sched", "batch", 3},
                 {"chrt", "-i", "sched", "idle", 3}};
    while (w->at < w->n && *n < 8) {
        size_t i = 0;
        for (; i < WB_ARRAY_SIZE(known); i++)
            if (w->at + known[i].words < w->n && !strcmp(base_name(w->word[w->at]), known[i].name) &&
                !strcmp(w->word[w->at + 1], known[i].flag))
                break;
        if (i == WB_ARRAY_SIZE(known)) return 0;
        p[(*n)++] = (struct prefix){known[i].key, known[i].value ? known[i].value : w->word[w->at + 2]};
        w->at += known[i].words;
    }
    return 0;
}

static const struct tool *find_tool(struct words *w)
{
    for (size_t t = 0; t < WB_ARRAY_SIZE(tools); t++) {
        size_t n = 0;
        for (; n < WB_ARRAY_SIZE(tools[t].words) && tools[t].words[n]; n++) {
            const char *word = w->at + n < w->n ? w->word[w->at + n] : "";
            if (strcmp(n ? word : base_name(word), tools[t].words[n]) != 0) break;
        }
        if (n < WB_ARRAY_SIZE(tools[t].words) && tools[t].words[n]) continue;
        w->at += n;
        return &tools[t];
    }
    return NULL;
}

/* "64k" as a size that real_spec_set reads. */
static const char *lmbench_size(const char *text, char *buf, size_t n)
{
    size_t digits = strspn(text, "0123456789");
    char unit = text[digits];
    const char *name = unit == 'k' || unit == 'K' ? "KiB" : unit == 'm' || unit == 'M' ? "MiB" : "B";
    snprintf(buf, n, "%.*s %s", (int)digits, text, name);
    return buf;
}

/* A bare number gets the unit that its key wants; netperf's (src/netlib.c convert): k m are powers of 1000, K M of
 * 1024. */
static int set(struct words *w, struct real_spec *s, const char *key, const char *value)
{
    static const struct {
        char letter;
        const char *unit;
    } known[] = {{'\0', "B"}, {'k', "kB"}, {'K', "KiB"}, {'m', "MB"}, {'M', "MiB"}};
    char text[64];
    bool bytes = !strcmp(key, "message") || !strcmp(key, "request") || !strcmp(key, "response");
    size_t digits = strspn(value, "0123456789");
    for (size_t i = 0; bytes && digits && i < WB_ARRAY_SIZE(known); i++) {
        if (value[digits] != known[i].letter || (value[digits] && value[digits + 1])) continue;
        snprintf(text, sizeof text, "%.*s %s", (int)WB_MIN(digits, 32u), value, known[i].unit);
        value = text;
        break;
    }
    return real_spec_set(s, key, value, w->d);
}

static int set_pair(struct words *w, struct real_spec *s, const struct option *o, char *value)
{
    char *comma = strchr(value, ',');
    if (comma) *comma = '\0';
    if (*value && set(w, s, o->key, value) < 0) return -1;
    if (!comma) return set(w, s, o->value, value); /* one value is for both sides */
    return comma[1] ? set(w, s, o->value, comma + 1) : 0;
}

static int apply(struct words *w, struct real_spec *s, const struct option *o, char *value)
{
    char text[64];
    switch (o->kind) {
    case VALUE:
        /* netperf's -t decides on the kind; what was set before it stays. */
        if (strcmp(o->key, "test") != 0) return set(w, s, o->key, value);
        if (strcmp(value, "TCP_RR") != 0 && strcmp(value, "UDP_RR") != 0)
            return refuse(w, value, "only TCP_RR and UDP_RR are known");
        s->kind = value[0] == 'T' ? REAL_TCP_RR : REAL_UDP_RR;
        return 0;
    case SIZE:
        lmbench_size(value, text, sizeof text);
        if (set(w, s, o->key, text) < 0) return -1;
        return o->value ? set(w, s, o->value, text) : 0;
    case SECONDS: snprintf(text, sizeof text, "%.32s s", value); return set(w, s, o->key, text);
    case FIXED: return set(w, s, o->key, o->value);
    case PAIR: return set_pair(w, s, o, value);
    case LOCAL:
        return !strcmp(value, "localhost") || !strcmp(value, "127.0.0.1")
                   ? 0
                   : refuse(w, value, "only this machine is used");
    default: return 0;
    }
}

/* One option: joined ("-m64k", "--loop=9") or apart. */
static int one_option(struct words *w, const struct tool *tool, struct real_spec *s)
{
    char *word = w->word[w->at];
    for (const struct option *o = tool->option; o < tool->option + WB_ARRAY_SIZE(tool->option) && o->short_name; o++) {
        size_t n = strlen(o->short_name), m = o->long_name ? strlen(o->long_name) : 0;
        bool flag = o->kind == FIXED || o->kind == IGNORED_FLAG || o->kind == ENDS,
             is_long = m && !strncmp(word, o->long_name, m);
        if (!is_long && strncmp(word, o->short_name, n) != 0) continue;
        char *rest = word + (is_long ? m : n);
        if (is_long && *rest == '=')
            rest++;
        else if (is_long && *rest)
            continue;
        if (flag && *rest) continue;
        w->at++;
        if (flag) return apply(w, s, o, rest);
        if (!*rest && w->at < w->n) rest = w->word[w->at++];
        return *rest ? apply(w, s, o, rest) : refuse(w, word, "a value is missing");
    }
    return refuse(w, word, "this option is not known");
}

/* Old hackbench: [-pipe] GROUPS [process|thread [LOOPS]]. */
static int classic_hackbench(struct words *w, struct real_spec *s)
{
    if (set(w, s, "groups", w->word[w->at++]) < 0) return -1;
    if (w->at < w->n && real_spec_set(s, "mode", w->word[w->at++], w->d) < 0) return -1;
    if (w->at < w->n && set(w, s, "loops", w->word[w->at++]) < 0) return -1;
    return w->at == w->n ? 0 : refuse(w, w->word[w->at], "one word too many");
}

int real_spec_from_cmd(struct real_spec *s, const char *text, struct wb_diag *d)
{
    struct words w = {.d = d};
    struct prefix prefix[8];
    size_t n = 0;
    if (split(&w, text) < 0 || prefixes(&w, prefix, &n) < 0) return -1;
    const struct tool *tool = find_tool(&w);
    if (!tool) return refuse(&w, w.at < w.n ? w.word[w.at] : text, "this command is not known");
    real_spec_init(s, tool->kind);
    if (tool->preset) {
        char preset[48];
        snprintf(preset, sizeof preset, "%s", tool->preset);
        char *is = strchr(preset, '=');
        *is = '\0';
        if (real_spec_set(s, preset, is + 1, d) < 0) return -1;
    }
    while (w.at < w.n) {
        bool positional = tool->kind == REAL_HACKBENCH && !tool->words[1] && w.word[w.at][0] != '-';
        if (positional) {
            if (classic_hackbench(&w, s) < 0) return -1;
            break;
        }
        if (one_option(&w, tool, s) < 0) return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (real_spec_set(s, prefix[i].key, prefix[i].value, d) < 0) return -1;
    return 0;
}
