#include "workload_cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/units.h"

enum option_kind { OPT_SIZE, OPT_COUNT, OPT_FLAG, OPT_WORD, OPT_IGNORED, OPT_IGNORED_FLAG };

struct option {
    const char *name, *other; /* "-m", "--message" */
    enum option_kind kind;
    const char *key;
    const char *word; /* OPT_WORD: the value that this option means */
};

struct words;
struct tool {
    const char *words[4]; /* "perf", "bench", "sched", "pipe" */
    const char *kind;
    const char *key, *value; /* what the tool fixes: message = "1 B" */
    int64_t number;
    struct option option[8];
    int (*positional)(struct words *w, struct workload_cmd *out); /* words that are no options; NULL: there are none */
};

static int classic_words(struct words *w, struct workload_cmd *out);

#define OPTION(name_, other_, kind_, key_) \
    { \
        .name = name_, .other = other_, .kind = kind_, .key = key_ \
    }
/* An option that stands for a word: -T for mode = "thread". */
#define WORD(name_, other_, key_, word_) \
    { \
        .name = name_, .other = other_, .kind = OPT_WORD, .key = key_, .word = word_ \
    }

static const struct tool tools[] = {
    {.words = {"bw_pipe"},
     .kind = "pipe_bw",
     .option = {OPTION("-m", NULL, OPT_SIZE, "message"), OPTION("-M", NULL, OPT_SIZE, "total"),
                OPTION("-P", NULL, OPT_COUNT, "copies"), OPTION("-W", NULL, OPT_IGNORED, NULL),
                OPTION("-N", NULL, OPT_IGNORED, NULL)}},
    {.words = {"lat_pipe"},
     .kind = "pipe_latency",
     .key = "message",
     .value = "1 B",
     .number = 1,
     .option = {OPTION("-P", NULL, OPT_COUNT, "copies"), OPTION("-W", NULL, OPT_IGNORED, NULL),
                OPTION("-N", NULL, OPT_IGNORED, NULL)}},
    {.words = {"perf", "bench", "sched", "pipe"},
     .kind = "pipe_latency",
     .key = "message",
     .value = "4 B",
     .number = 4,
     .option = {OPTION("-l", "--loop", OPT_COUNT, "trips"), OPTION("-T", "--threaded", OPT_FLAG, "threads")}},
    {.words = {"hackbench"},
     .kind = "hackbench",
     .option = {WORD("-pipe", NULL, "transport", "pipe"), WORD("-p", "--pipe", "transport", "pipe"),
                OPTION("-g", "--groups", OPT_COUNT, "groups"), OPTION("-f", "--fds", OPT_COUNT, "fds"),
                OPTION("-l", "--loops", OPT_COUNT, "loops"), OPTION("-s", "--datasize", OPT_SIZE, "message"),
                WORD("-T", "--threads", "mode", "thread"), WORD("-P", "--process", "mode", "process")},
     .positional = classic_words},
    {.words = {"perf", "bench", "sched", "messaging"},
     .kind = "hackbench",
     .option = {WORD("-p", "--pipe", "transport", "pipe"), WORD("-t", "--thread", "mode", "thread"),
                OPTION("-g", "--group", OPT_COUNT, "groups"), OPTION("-l", "--nr_loops", OPT_COUNT, "loops")}},
    {.words = {"perf", "bench", "syscall", "basic"},
     .kind = "syscall",
     .option = {OPTION("-l", "--loop", OPT_COUNT, "calls")}},
    {.words = {"lat_syscall", "null"},
     .kind = "syscall",
     .option = {OPTION("-P", NULL, OPT_COUNT, "copies"), OPTION("-W", NULL, OPT_IGNORED, NULL),
                OPTION("-N", NULL, OPT_IGNORED, NULL)}},
};

struct words {
    char text[512];
    const char *word[64];
    size_t at[64], n, pos;
    size_t first; /* index of the word with which the option at hand begins */
    const char *why;
    size_t bad; /* index of the offending word */
};

static int refuse(struct words *w, size_t i, const char *why)
{
    w->why = why;
    w->bad = i < w->n ? i : w->n - (w->n > 0);
    return -1;
}

static int split(struct words *w, const char *text)
{
    size_t n = strlen(text);
    if (n >= sizeof w->text) return refuse(w, 0, "the command is too long");
    memcpy(w->text, text, n + 1);
    for (char *c = w->text; *c;) {
        c += strspn(c, " \t");
        if (!*c) break;
        if (w->n == WB_ARRAY_SIZE(w->word)) return refuse(w, w->n - 1, "too many words");
        w->at[w->n] = (size_t)(c - w->text);
        w->word[w->n++] = c;
        c += strcspn(c, " \t");
        if (*c) *c++ = '\0';
    }
    return w->n ? 0 : refuse(w, 0, "the command is empty");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A decimal number with lmbench's k and m; false when it is none or too large. */
static bool number(const char *text, bool suffix, int64_t *v)
{
    uint64_t n = 0;
    const char *c = text;
    if (*c < '0' || *c > '9') return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        n = n * 10 + (uint64_t)(*c - '0');
        if (n > (uint64_t)1 << 40) return false;
    }
    if (suffix && (*c == 'k' || *c == 'K'))
        n <<= 10, c++;
    else if (suffix && (*c == 'm' || *c == 'M'))
        n <<= 20, c++;
    if (*c || n > (uint64_t)1 << 40) return false;
    *v = (int64_t)n;
    return true;
}

/* Where it stands: from the word with which the option begins to the one just read. */
static void note_place(const struct words *w, struct workload_setting *s)
{
    size_t last = WB_MAX(w->first, w->pos ? w->pos - 1 : 0);
    WB_CHECK(last < w->n && w->word[last], "word %zu of %zu", last, w->n);
    s->at = w->at[w->first];
    s->len = w->at[last] + strlen(w->word[last]) - s->at;
}

static int set_number(struct words *w, struct workload_cmd *out, const char *key, enum option_kind kind, int64_t v)
{
    struct workload_setting *s = (struct workload_setting *)workload_cmd_find(out, key);
    if (!s) {
        if (out->n == WORKLOAD_CMD_MAX) return refuse(w, w->pos, "too many options");
        s = &out->set[out->n++];
    }
    s->key = key;
    s->number = v;
    note_place(w, s);
    if (kind == OPT_SIZE)
        wb_format_exact(s->value, sizeof s->value, v, WB_UNIT_SIZE);
    else if (kind == OPT_FLAG)
        snprintf(s->value, sizeof s->value, "true");
    else
        snprintf(s->value, sizeof s->value, "%lld", (long long)v);
    return 0;
}

static int set_text(struct words *w, struct workload_cmd *out, const char *key, const char *text)
{
    struct workload_setting *s = (struct workload_setting *)workload_cmd_find(out, key);
    if (strlen(text) >= sizeof s->value || (!s && out->n == WORKLOAD_CMD_MAX))
        return refuse(w, w->pos, "too much of a list");
    if (!s) s = &out->set[out->n++];
    s->key = key;
    memcpy(s->value, text, strlen(text) + 1);
    note_place(w, s);
    return 0;
}

/* taskset -c LIST, nice -n N, nice -N: any number of them in front. */
static int prefixes(struct words *w, struct workload_cmd *out)
{
    for (;;) {
        const char *name = w->pos < w->n ? base_name(w->word[w->pos]) : "";
        w->first = w->pos;
        if (!strcmp(name, "taskset")) {
            if (w->pos + 2 >= w->n || (strcmp(w->word[w->pos + 1], "-c") && strcmp(w->word[w->pos + 1], "--cpu-list")))
                return refuse(w, w->pos, "only `taskset -c LIST command` is understood");
            w->pos += 2;
            if (set_text(w, out, "cpus", w->word[w->pos++]) < 0) return -1;
        } else if (!strcmp(name, "nice")) {
            const char *arg = w->pos + 1 < w->n ? w->word[w->pos + 1] : "";
            int64_t v;
            bool two = !strcmp(arg, "-n") && w->pos + 2 < w->n;
            const char *digits = two ? w->word[w->pos + 2] : arg[0] == '-' ? arg + 1 : "";
            bool minus = two && digits[0] == '-';
            if (!number(digits + minus, false, &v) || v > 20)
                return refuse(w, w->pos, "only `nice -n N command` is understood");
            w->pos += two ? 3 : 2;
            if (set_number(w, out, "nice", OPT_COUNT, minus ? -v : v) < 0) return -1;
        } else {
            return 0;
        }
    }
}

static const struct tool *find_tool(struct words *w)
{
    for (size_t t = 0; t < WB_ARRAY_SIZE(tools); t++) {
        size_t n = 0;
        while (n < WB_ARRAY_SIZE(tools[t].words) && tools[t].words[n]) {
            const char *word = w->pos + n < w->n ? w->word[w->pos + n] : "";
            if (strcmp(n ? word : base_name(word), tools[t].words[n])) break;
            n++;
        }
        if (n == WB_ARRAY_SIZE(tools[t].words) || !tools[t].words[n]) {
            w->pos += n;
            return &tools[t];
        }
    }
    return NULL;
}

/* One option and its value, joined ("-m64k", "--loop=9") or apart. */
static int one_option(struct words *w, const struct tool *tool, struct workload_cmd *out)
{
    const char *word = w->word[w->pos];
    for (size_t i = 0; i < WB_ARRAY_SIZE(tool->option) && tool->option[i].name; i++) {
        const struct option *o = &tool->option[i];
        size_t n = strlen(o->name), m = o->other ? strlen(o->other) : 0;
        bool flag = o->kind == OPT_FLAG || o->kind == OPT_WORD || o->kind == OPT_IGNORED_FLAG,
             is_long = m && !strncmp(word, o->other, m);
        if (!is_long && strncmp(word, o->name, n)) continue;
        const char *rest = word + (is_long ? m : n);
        if (flag && *rest) continue;
        if (is_long && *rest && *rest++ != '=') continue;
        w->pos++;
        if (o->kind == OPT_WORD) return set_text(w, out, o->key, o->word);
        if (flag) return o->kind == OPT_FLAG ? set_number(w, out, o->key, o->kind, 1) : 0;
        if (!*rest) rest = w->pos < w->n ? w->word[w->pos++] : "";
        int64_t v;
        if (!number(rest, o->kind == OPT_SIZE, &v)) return refuse(w, w->pos - 1, "a number is needed here");
        if (o->kind == OPT_IGNORED) return 0;
        return v ? set_number(w, out, o->key, o->kind, v) : refuse(w, w->pos - 1, "must be at least 1");
    }
    return refuse(w, w->pos, "this option is not understood");
}

/* hackbench GROUPS [process|thread [LOOPS]]: the command line of the first versions. */
static int classic_words(struct words *w, struct workload_cmd *out)
{
    static const char *const keys[] = {"groups", "mode", "loops"};
    if (workload_cmd_find(out, keys[0])) return 0; /* said already */
    for (size_t i = 0; i < WB_ARRAY_SIZE(keys) && w->pos < w->n && w->word[w->pos][0] != '-'; i++, w->pos++) {
        const char *word = w->word[w->pos];
        int64_t v;
        w->first = w->pos;
        if (i == 1) {
            if (strcmp(word, "process") && strcmp(word, "thread")) return refuse(w, w->pos, "process or thread");
            if (set_text(w, out, keys[i], word) < 0) return -1;
            continue;
        }
        if (!number(word, false, &v) || !v) return refuse(w, w->pos, "a number is needed here");
        if (set_number(w, out, keys[i], OPT_COUNT, v) < 0) return -1;
    }
    return 0;
}

/* An option, or what comes without one. */
static int one_word(struct words *w, const struct tool *tool, struct workload_cmd *out)
{
    size_t before = w->first = w->pos;
    if (tool->positional && tool->positional(w, out) < 0) return -1;
    return w->pos > before ? 0 : one_option(w, tool, out);
}

/* ---- netperf ---- */

/* The value of the option at hand, joined or apart; NULL when there is none. */
static const char *netperf_value(struct words *w)
{
    const char *word = w->word[w->pos++];
    if (word[2]) return word + 2;
    return w->pos < w->n ? w->word[w->pos++] : NULL;
}

/* "-r 1,1024" or "-r 1": both. */
static int netperf_sizes(struct words *w, struct workload_cmd *out)
{
    char first[24];
    const char *text = netperf_value(w), *comma = text ? strchr(text, ',') : NULL;
    size_t n = text ? (comma ? (size_t)(comma - text) : strlen(text)) : sizeof first;
    int64_t request, response;
    if (n >= sizeof first) return refuse(w, w->pos - 1, "two sizes are needed here: REQUEST,RESPONSE");
    memcpy(first, text, n);
    first[n] = '\0';
    if (!number(first, true, &request) || !number(comma ? comma + 1 : first, true, &response) || !request || !response)
        return refuse(w, w->pos - 1, "two sizes are needed here: REQUEST,RESPONSE");
    return set_number(w, out, "request", OPT_SIZE, request) < 0 ? -1
                                                                : set_number(w, out, "response", OPT_SIZE, response);
}

/* "-T 0,7", "-T 0" (both), "-T ,7" (the server). */
static int netperf_bind(struct words *w, struct workload_cmd *out)
{
    char first[16];
    const char *text = netperf_value(w), *comma = text ? strchr(text, ',') : NULL;
    size_t n = text ? (comma ? (size_t)(comma - text) : strlen(text)) : sizeof first;
    if (n >= sizeof first) return refuse(w, w->pos - 1, "CPU numbers are needed here: CLIENT,SERVER");
    memcpy(first, text, n);
    first[n] = '\0';
    const char *second = comma ? comma + 1 : first;
    if (first[strspn(first, "0123456789")] || second[strspn(second, "0123456789")])
        return refuse(w, w->pos - 1, "CPU numbers are needed here: CLIENT,SERVER");
    if (*first && set_text(w, out, "client_cpus", first) < 0) return -1;
    return *second ? set_text(w, out, "server_cpus", second) : 0;
}

static int netperf_test(struct words *w, struct workload_cmd *out)
{
    const char *name = netperf_value(w);
    if (name && !strcmp(name, "TCP_RR"))
        out->kind = "tcp_rr";
    else if (name && !strcmp(name, "UDP_RR"))
        out->kind = "udp_rr";
    else
        return refuse(w, w->pos - 1, "only TCP_RR and UDP_RR are understood");
    return 0;
}

/* Options in front of "--" are netperf's, those behind it the test's. What only says how it measures has no effect. */
static int netperf(struct words *w, struct workload_cmd *out)
{
    bool test = false;
    for (size_t i = 0; i < out->n; i++)
        if (!strcmp(out->set[i].key, "cpus")) out->set[i].key = "client_cpus";
    for (w->pos++; w->pos < w->n;) {
        const char *word = w->word[w->pos], *known = test ? "rD" : "tTHliIpPvcCfaANWD";
        int rc = 0;
        w->first = w->pos;
        if (!strcmp(word, "--") && !test)
            test = true, w->pos++;
        else if (word[0] != '-' || !word[1] || !strchr(known, word[1]))
            return refuse(w, w->pos, "this option is not understood");
        else if (word[1] == 'D' && test)
            rc = set_number(w, out, "nodelay", OPT_FLAG, 1), w->pos++;
        else if (word[1] == 'r')
            rc = netperf_sizes(w, out);
        else if (word[1] == 'T')
            rc = netperf_bind(w, out);
        else if (word[1] == 't')
            rc = netperf_test(w, out);
        else if (word[1] == 'c' || word[1] == 'C' || word[1] == 'N')
            w->pos++;
        else if (!netperf_value(w))
            return refuse(w, w->pos - 1, "a value is needed here");
        if (rc < 0) return -1;
    }
    return out->kind ? 0 : refuse(w, w->n - 1, "name the test: -t TCP_RR or -t UDP_RR");
}

static int parse(struct words *w, const char *text, struct workload_cmd *out)
{
    if (split(w, text) < 0 || prefixes(w, out) < 0) return -1;
    if (w->pos < w->n && !strcmp(base_name(w->word[w->pos]), "netperf")) return netperf(w, out);
    const struct tool *tool = find_tool(w);
    if (!tool)
        return refuse(
            w, w->pos,
            "only bw_pipe, lat_pipe, lat_syscall null, hackbench, netperf, perf bench sched pipe or messaging "
            "and perf bench syscall basic are understood");
    out->kind = tool->kind;
    if (tool->key && set_number(w, out, tool->key, OPT_SIZE, tool->number) < 0) return -1;
    while (w->pos < w->n)
        if (one_word(w, tool, out) < 0) return -1;
    return 0;
}

int wb_workload_from_cmd(const char *text, struct workload_cmd *out, const char **why, size_t *at, size_t *len)
{
    struct words w = {.n = 0};
    *out = (struct workload_cmd){.n = 0};
    if (!parse(&w, text, out)) return 0;
    *why = w.why;
    *at = w.n ? w.at[w.bad] : 0;
    *len = w.n ? strlen(w.word[w.bad]) : strlen(text);
    return -1;
}

const struct workload_setting *workload_cmd_find(const struct workload_cmd *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->set[i].key, key)) return &c->set[i];
    return NULL;
}

static int apply_cpus(struct workload_entry *e, const char *list)
{
    const char *why, *path = workload_key(e, "from_cmd");
    size_t at;
    memset(e->cpus.w, 0, e->cpus.nwords * sizeof *e->cpus.w);
    if (wb_mask_parse(list, &e->cpus, &why, &at) < 0) {
        wb_cfg_error(e->cfg, e->d, path, NULL, "taskset -c %s: %s", list, why);
        return -1;
    }
    e->ncpus = wb_mask_count(&e->cpus);
    e->pinned = e->whole = e->ncpus > 0; /* what taskset sets is inherited by every process of the command */
    return 0;
}

int workload_cmd_cpus(const struct workload_entry *e, const struct workload_cmd *c, const char *key,
                      const struct wb_cpumask **mask)
{
    const char *list = workload_cmd_find(c, key)->value, *why, *path = workload_key(e, "from_cmd");
    size_t at;
    struct wb_cpumask m = {.ncpus = wb_ncpus(e->s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(e->s))};
    m.w = wb_sim_alloc(e->s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    if (wb_mask_parse(list, &m, &why, &at) < 0) {
        wb_cfg_error(e->cfg, e->d, path, NULL, "CPUs '%s': %s", list, why);
        return -1;
    }
    *mask = wb_mask_keep(e->s, &m);
    return 0;
}

/* The command wins over the scenario's keys, which is what it is for; but a key of the command line or of an axis was
 * meant to change something. */
static int refuse_override(struct workload_entry *e, const struct workload_setting *s)
{
    static const char *const meant[] = {"--set", "--vary", "sweep", "variant"};
    const struct wb_origin *o = wb_cfg_origin(e->cfg, workload_key(e, s->key));
    bool refuse_it = false;
    for (size_t i = 0; o && o->from && i < WB_ARRAY_SIZE(meant); i++) refuse_it |= !strcmp(o->from, meant[i]);
    if (!refuse_it) return 0;
    const char *name = workload_key(e, "name");
    bool named = wb_cfg_count(e->cfg, "workload") > 1 && wb_cfg_has(e->cfg, name);
    struct wb_place at = wb_cfg_place_in(e->cfg, workload_key(e, "from_cmd"), 0, s->at, s->len);
    wb_diag_add(e->d, WB_ERROR, "E150", at.file ? at : o->place,
                "take it out of from_cmd, or give --set workload.from_cmd= too: then keys alone count",
                "%s workload.%s%s%s has no effect: from_cmd fixes it at %s and wins", o->from,
                named ? wb_cfg_str(e->cfg, name) : "", named ? "." : "", s->key, s->value);
    return -1;
}

int workload_cmd_read(struct workload_entry *e, const char *kind, struct workload_cmd *c)
{
    const char *path = workload_key(e, "from_cmd"), *why;
    size_t at, len;
    *c = (struct workload_cmd){.n = 0};
    if (!wb_cfg_has(e->cfg, path) || !*wb_cfg_str(e->cfg, path)) return 0; /* an empty one takes back a preset's */
    const char *text = wb_cfg_str(e->cfg, path);
    if (wb_workload_from_cmd(text, c, &why, &at, &len) < 0) {
        wb_diag_add(e->d, WB_ERROR, "E150", wb_cfg_place_in(e->cfg, path, 0, at, len),
                    "see `wakebal help workload.from_cmd`", "command '%s': %s", text, why);
        return -1;
    }
    if (strcmp(c->kind, kind)) {
        wb_cfg_error(e->cfg, e->d, path, "set kind to what the command measures",
                     "this command is of kind %s, the workload is of kind %s", c->kind, kind);
        return -1;
    }
    for (size_t i = 0; i < c->n; i++)
        if (refuse_override(e, &c->set[i]) < 0) return -1;
    const struct workload_setting *cpus = workload_cmd_find(c, "cpus"), *nice = workload_cmd_find(c, "nice");
    if (nice) e->nice = (int)(nice->number > 19 ? 19 : nice->number);
    return cpus ? apply_cpus(e, cpus->value) : 0;
}

int64_t workload_cmd_int(const struct workload_entry *e, const struct workload_cmd *c, const char *key)
{
    const struct workload_setting *s = workload_cmd_find(c, key);
    return s ? s->number : wb_cfg_int(e->cfg, workload_key(e, key));
}

bool workload_cmd_bool(const struct workload_entry *e, const struct workload_cmd *c, const char *key)
{
    const struct workload_setting *s = workload_cmd_find(c, key);
    return s ? s->number != 0 : wb_cfg_bool(e->cfg, workload_key(e, key));
}
