#include "custom.h"

#include <string.h>

/* ---- declarations: "NAME [...]" ---- */

static const char *const list_keys[CUSTOM_KINDS] = {"channels", "locks", "events", "regions"};
static const char *const list_what[CUSTOM_KINDS] = {"channel", "lock", "event", "region"};

static bool good_name(const char *s, size_t n)
{
    if (!n || n > 31 || (s[0] >= '0' && s[0] <= '9')) return false;
    for (size_t i = 0; i < n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", s[i])) return false;
    return true;
}

static uint32_t find_decl(const struct custom_list *l, const char *name, size_t n)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strlen(l->decl[i].name) == n && !memcmp(l->decl[i].name, name, n)) return i;
    return CUSTOM_NONE;
}

static int declare_channel(struct custom_text *t, struct custom_decl *d)
{
    size_t start, len = custom_text_word(t, &start);
    bool is_pipe = !len || (len == 4 && !memcmp(t->text + start, "pipe", 4));
    d->kind = !is_pipe && len == 4 && !memcmp(t->text + start, "unix", 4);
    if (!is_pipe && !d->kind)
        return custom_text_error(t, start, len, "\"NAME pipe\", \"NAME pipe 1 MiB\" or \"NAME unix\"",
                                 "'%.*s' is not a kind of channel", (int)WB_MIN(len, 40), t->text + start);
    size_t mark = t->pos;
    if (!custom_text_word(t, &start)) return 0;
    t->pos = mark;
    return custom_text_quantity(t, ARGS_CHANNEL_SIZE, true, &d->n);
}

static int declare_lock(struct custom_text *t, struct custom_decl *d)
{
    size_t start, len = custom_text_word(t, &start);
    d->kind = WB_LOCK_MUTEX_HANDOFF;
    if (!len) return 0;
    for (uint8_t k = 0; wb_sleeplock_kind_name[k]; k++) {
        if (strlen(wb_sleeplock_kind_name[k]) != len || memcmp(wb_sleeplock_kind_name[k], t->text + start, len))
            continue;
        d->kind = k;
        return 0;
    }
    d->kind = CUSTOM_LOCK_FUTEX;
    if (len == 5 && !memcmp(t->text + start, "futex", 5)) return 0;
    return custom_text_error(t, start, len, "semaphore, mutex, mutex_spin, mutex_handoff, fair or futex",
                             "'%.*s' is not a kind of lock", (int)WB_MIN(len, 40), t->text + start);
}

static int declare_event(struct custom_text *t, struct custom_decl *d)
{
    size_t start, len = custom_text_word(t, &start);
    if (!len) return 0;
    d->kind = 1;
    for (size_t i = 0; i < len; i++) {
        char c = t->text[start + i];
        if (c < '0' || c > '9' || i > 8)
            return custom_text_error(t, start, len, "\"NAME\" forgets wakes, \"NAME 0\" counts them",
                                     "not a count of 0 or more");
        d->n = d->n * 10 + (uint64_t)(c - '0');
    }
    return 0;
}

static int declare_region(struct custom_text *t, struct custom_decl *d)
{
    return custom_text_quantity(t, ARGS_REGION, true, &d->n);
}

static int (*const declare_rest[CUSTOM_KINDS])(struct custom_text *, struct custom_decl *) = {
    declare_channel, declare_lock, declare_event, declare_region};

static int declare_one(struct custom_text *t, struct custom_list *l, enum custom_kind kind)
{
    struct custom_decl *d = &l->decl[l->n];
    size_t start, len = custom_text_word(t, &start);
    if (!good_name(t->text + start, len))
        return custom_text_error(t, start, len, "letters, digits, _ and -; at most 31, no digit first",
                                 "a %s needs a name", l->what);
    if (find_decl(l, t->text + start, len) != CUSTOM_NONE)
        return custom_text_error(t, start, len, NULL, "%s '%.*s' is there already", l->what, (int)len, t->text + start);
    *d = (struct custom_decl){.name = custom_text_keep(t, start, len), .line = (uint32_t)t->index};
    if (declare_rest[kind](t, d) < 0) return -1;
    len = custom_text_word(t, &start);
    if (len) return custom_text_error(t, start, len, NULL, "nothing may follow here");
    l->n++;
    return 0;
}

int custom_declare(struct custom *c)
{
    int result = 0;
    for (int k = 0; k < CUSTOM_KINDS; k++) {
        struct custom_list *l = &c->list[k];
        *l = (struct custom_list){.key = list_keys[k], .what = list_what[k]};
        struct custom_text t = {.c = c, .path = custom_text_path(c, "%s", list_keys[k])};
        size_t n = wb_cfg_has(c->e.cfg, t.path) ? wb_cfg_count(c->e.cfg, t.path) : 0;
        if (n > CUSTOM_OBJECTS) {
            wb_cfg_error(c->e.cfg, c->e.d, t.path, NULL, "more than %u %ss", CUSTOM_OBJECTS, l->what);
            return -1;
        }
        l->decl = wb_sim_alloc(c->e.s, (n + 1) * sizeof *l->decl);
        for (t.index = 0; t.index < n; t.index++) {
            t.text = wb_cfg_str_at(c->e.cfg, t.path, t.index);
            t.pos = 0;
            if (declare_one(&t, l, (enum custom_kind)k) < 0) result = -1;
        }
    }
    return result;
}

/* ---- programs ---- */

struct compiler {
    struct custom *c;
    struct custom_task *task;
    struct custom_program *p;
    struct custom_text t;
    const struct custom_word *word;
    size_t at, len;              /* of the word */
    uint32_t loop[CUSTOM_DEPTH]; /* operations that began the open loops */
    size_t loop_line[CUSTOM_DEPTH];
    uint64_t rounds[CUSTOM_DEPTH + 1]; /* how often what stands at this depth is done; saturates */
    uint32_t depth;
    uint32_t held[CUSTOM_DEPTH + 1][16]; /* locks held when the loop began, and now */
    uint32_t nheld[CUSTOM_DEPTH + 1];
    bool timed[CUSTOM_DEPTH + 1]; /* something at this depth takes more time than the 1 ns of `end` */
    bool closed[CUSTOM_ENDS];
    bool running[CUSTOM_WATCHES];
};

static uint64_t times(uint64_t a, uint64_t b)
{
    return a && b > UINT32_MAX / a ? UINT32_MAX : a * b;
}

/* The object that the next word names. */
static int object(struct compiler *k, enum custom_kind kind, uint32_t *ref)
{
    const struct custom_list *l = &k->c->list[kind];
    const char *names[CUSTOM_OBJECTS];
    char name[64];
    size_t start, len = custom_text_word(&k->t, &start);
    if (!len) return custom_text_error(&k->t, k->at, k->len, k->word->form, "the name of a %s is missing", l->what);
    *ref = find_decl(l, k->t.text + start, len);
    if (*ref != CUSTOM_NONE) return 0;
    for (uint32_t i = 0; i < l->n; i++) names[i] = l->decl[i].name;
    memcpy(name, k->t.text + start, WB_MIN(len, 63));
    name[WB_MIN(len, 63)] = '\0';
    const char *near = wb_nearest(name, names, l->n);
    char fix[160];
    custom_text_join(fix, sizeof fix, near ? "did you mean '" : "declare it: ", near ? near : l->key,
                     near ? "'?" : " = [ \"NAME\" ]");
    return custom_text_error(&k->t, start, len, fix, "there is no %s '%s'", l->what, name);
}

static int task_ref(struct compiler *k, uint32_t *ref)
{
    size_t start, len = custom_text_word(&k->t, &start);
    for (uint32_t i = 0; len && i < k->c->ntasks; i++) {
        *ref = i;
        if (strlen(k->c->task[i].name) == len && !memcmp(k->c->task[i].name, k->t.text + start, len)) return 0;
    }
    return custom_text_error(&k->t, len ? start : k->at, len ? len : k->len, k->word->form,
                             len ? "there is no task '%.*s'" : "the name of a task is missing%.*s",
                             (int)WB_MIN(len, 60), k->t.text + start);
}

static int channel_end(struct compiler *k, uint32_t channel, uint8_t end, uint16_t *index)
{
    struct custom_program *p = k->p;
    uint32_t i = 0;
    while (i < p->nends && (p->end[i].channel != channel || p->end[i].end != end)) i++;
    if (i == CUSTOM_ENDS)
        return custom_text_error(&k->t, k->at, k->len, NULL, "a program may use %u channel ends", CUSTOM_ENDS);
    if (i == p->nends) p->end[p->nends++] = (struct custom_end){.channel = channel, .end = end};
    if (k->closed[i]) return custom_text_error(&k->t, k->at, k->len, NULL, "this channel was closed above");
    *index = (uint16_t)i;
    return 0;
}

static int args_transfer(struct compiler *k, struct custom_op *op)
{
    if (object(k, CUSTOM_CHANNELS, &op->ref) < 0) return -1;
    if (channel_end(k, op->ref, op->code != CUSTOM_WRITE, &op->end) < 0) return -1;
    if (custom_text_quantity(&k->t, ARGS_CHANNEL_SIZE, true, &op->n) < 0) return -1;
    k->p->buffer = WB_MAX(k->p->buffer, op->n);
    return 0;
}

static int args_close(struct compiler *k, struct custom_op *op)
{
    bool any = false;
    if (object(k, CUSTOM_CHANNELS, &op->ref) < 0) return -1;
    if (k->depth)
        return custom_text_error(&k->t, k->at, k->len, NULL,
                                 "close stands in a loop: the second round would find the channel closed");
    for (uint32_t i = 0; i < k->p->nends; i++) {
        if (k->p->end[i].channel != op->ref || k->closed[i]) continue;
        any = k->closed[i] = true;
        op->how |= (uint8_t)(1u << k->p->end[i].end);
    }
    return any ? 0 : custom_text_error(&k->t, k->at, k->len, NULL, "the program has no open end of this channel here");
}

/* How much of a region, and how. */
static int args_region(struct compiler *k, struct custom_op *op)
{
    size_t start, len, from;
    char *copy;
    if (object(k, CUSTOM_REGIONS, &op->ref) < 0) return -1;
    op->n = k->c->list[CUSTOM_REGIONS].decl[op->ref].n;
    k->t.pos += strspn(k->t.text + k->t.pos, " \t");
    from = k->t.pos;
    while ((len = custom_text_word(&k->t, &start)) && k->t.text[start] >= '0' && k->t.text[start] <= '9')
        custom_text_word(&k->t, &start); /* a number and its unit */
    if (start > from) {
        copy = (char *)custom_text_keep(&k->t, 0, start); /* the same columns, without what follows */
        struct custom_text part = k->t;
        part.text = copy;
        part.pos = from;
        if (custom_text_quantity(&part, ARGS_REGION, true, &op->n) < 0) return -1;
        if (op->n > k->c->list[CUSTOM_REGIONS].decl[op->ref].n)
            return custom_text_error(&k->t, from, start - from, NULL, "the region is smaller than this");
    }
    for (; len; len = custom_text_word(&k->t, &start)) {
        const char *w = k->t.text + start;
        if (len == 4 && !memcmp(w, "read", 4))
            op->how |= CUSTOM_TOUCH_READ;
        else if (len == 6 && !memcmp(w, "random", 6))
            op->how |= CUSTOM_TOUCH_RANDOM;
        else if (!(len == 5 && !memcmp(w, "write", 5)) && !(len == 6 && !memcmp(w, "stream", 6)))
            return custom_text_error(&k->t, start, len, k->word->form, "'%.*s' says nothing about a touch",
                                     (int)WB_MIN(len, 40), w);
    }
    return 0;
}

static int args_event(struct compiler *k, struct custom_op *op)
{
    size_t start, len;
    if (object(k, CUSTOM_EVENTS, &op->ref) < 0) return -1;
    if (k->word->args != ARGS_EVENT_HOW) return 0;
    while ((len = custom_text_word(&k->t, &start))) {
        const char *w = k->t.text + start;
        if (len == 3 && !memcmp(w, "all", 3))
            op->how |= CUSTOM_HOW_ALL;
        else if (len == 4 && !memcmp(w, "sync", 4))
            op->how |= CUSTOM_HOW_SYNC;
        else
            return custom_text_error(&k->t, start, len, k->word->form, "'%.*s' says nothing about a wake",
                                     (int)WB_MIN(len, 40), w);
    }
    return 0;
}

static int args_lock(struct compiler *k, struct custom_op *op)
{
    uint32_t *held = k->held[k->depth], *n = &k->nheld[k->depth], i = 0;
    if (object(k, CUSTOM_LOCKS, &op->ref) < 0) return -1;
    while (i < *n && held[i] != op->ref) i++;
    if (op->code == CUSTOM_LOCK) {
        if (i < *n)
            return custom_text_error(&k->t, k->at, k->len, NULL,
                                     "the lock is held already: the task would wait for itself");
        if (*n == WB_ARRAY_SIZE(k->held[0]))
            return custom_text_error(&k->t, k->at, k->len, NULL, "too many locks at once");
        held[(*n)++] = op->ref;
        return 0;
    }
    if (i == *n) return custom_text_error(&k->t, k->at, k->len, NULL, "the lock is not held here");
    held[i] = held[--*n];
    return 0;
}

/* What follows up to the matching `end` is done so many rounds. */
static int open_loop(struct compiler *k, uint64_t rounds)
{
    if (k->depth == CUSTOM_DEPTH)
        return custom_text_error(&k->t, k->at, k->len, NULL, "at most %u loops inside each other", CUSTOM_DEPTH);
    k->timed[k->depth + 1] = false;
    memcpy(k->held[k->depth + 1], k->held[k->depth], sizeof k->held[0]);
    k->nheld[k->depth + 1] = k->nheld[k->depth];
    k->rounds[k->depth + 1] = times(k->rounds[k->depth], rounds);
    k->loop[k->depth] = k->p->nops;
    k->loop_line[k->depth++] = k->t.index;
    return 0;
}

static int args_loop(struct compiler *k, struct custom_op *op)
{
    size_t start, mark = k->t.pos;
    if (custom_text_word(&k->t, &start)) {
        k->t.pos = mark;
        if (custom_text_quantity(&k->t, ARGS_LOOP, false, &op->n) < 0) return -1;
    }
    if (!op->n) k->p->endless = true;
    return open_loop(k, op->n ? op->n : UINT32_MAX);
}

static int args_every(struct compiler *k, struct custom_op *op)
{
    if (k->p->neveries == CUSTOM_EVERIES)
        return custom_text_error(&k->t, k->at, k->len, NULL, "at most %u of these in a program", CUSTOM_EVERIES);
    if (custom_text_quantity(&k->t, ARGS_TIME, false, &op->n) < 0) return -1;
    op->ref = k->p->neveries++;
    return open_loop(k, 1);
}

static int args_end(struct compiler *k, struct custom_op *op)
{
    if (!k->depth) return custom_text_error(&k->t, k->at, k->len, NULL, "no loop is open here");
    bool every = k->p->op[k->loop[k->depth - 1]].code == CUSTOM_EVERY; /* may be passed over, which takes no time */
    if (every) op->how = CUSTOM_END_EVERY;
    if (!every && !k->timed[k->depth] && k->rounds[k->depth] > CUSTOM_IDLE_ROUNDS)
        return custom_text_error(&k->t, k->at, k->len, "put a run, sleep, touch or a system call into it",
                                 "nothing in this loop takes time: %s rounds of 1 ns would be simulated",
                                 k->rounds[k->depth] == UINT32_MAX ? "endless" : "millions of");
    k->depth--;
    k->timed[k->depth] |= k->timed[k->depth + 1] && !every;
    const uint32_t *before = k->held[k->depth], *now = k->held[k->depth + 1], n = k->nheld[k->depth + 1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;
        while (j < k->nheld[k->depth] && before[j] != now[i]) j++;
        if (j == k->nheld[k->depth])
            return custom_text_error(&k->t, k->at, k->len, NULL, "lock '%s' is still held when the loop begins again",
                                     k->c->list[CUSTOM_LOCKS].decl[now[i]].name);
    }
    if (n != k->nheld[k->depth])
        return custom_text_error(&k->t, k->at, k->len, NULL,
                                 "the loop drops a lock that it does not take: the second round would not hold it");
    op->jump = k->loop[k->depth] + 1;
    k->p->op[k->loop[k->depth]].jump = k->p->nops + 1;
    return 0;
}

static int args_counter(struct compiler *k, struct custom_op *op)
{
    size_t start, len = custom_text_word(&k->t, &start), mark = k->t.pos, next;
    struct custom *c = k->c;
    if (!good_name(k->t.text + start, len))
        return custom_text_error(&k->t, len ? start : k->at, len ? len : k->len, k->word->form,
                                 "the name of a figure is missing or not a name");
    for (op->ref = 0; op->ref < c->ncounters; op->ref++)
        if (strlen(c->counter[op->ref]) == len && !memcmp(c->counter[op->ref], k->t.text + start, len)) break;
    if (op->ref == CUSTOM_OBJECTS)
        return custom_text_error(&k->t, start, len, NULL, "more than %u figures", CUSTOM_OBJECTS);
    if (len == 5 && !memcmp(k->t.text + start, "loops", 5))
        return custom_text_error(&k->t, start, len, NULL, "'loops' is counted anyway");
    if (op->ref == c->ncounters) c->counter[c->ncounters++] = custom_text_keep(&k->t, start, len);
    op->n = 1;
    if (!custom_text_word(&k->t, &next)) return 0;
    k->t.pos = mark;
    return custom_text_quantity(&k->t, ARGS_COUNTER, false, &op->n);
}

static int args_watch(struct compiler *k, struct custom_op *op)
{
    size_t start, len = custom_text_word(&k->t, &start);
    struct custom_program *p = k->p;
    if (!good_name(k->t.text + start, len))
        return custom_text_error(&k->t, len ? start : k->at, len ? len : k->len, k->word->form,
                                 "the name of a stopwatch is missing or not a name");
    for (op->ref = 0; op->ref < p->nwatches; op->ref++)
        if (strlen(p->watch[op->ref]) == len && !memcmp(p->watch[op->ref], k->t.text + start, len)) break;
    if (op->code == CUSTOM_STOP)
        return op->ref < p->nwatches && k->running[op->ref]
                   ? 0
                   : custom_text_error(&k->t, start, len, NULL, "this stopwatch was not started");
    if (op->ref == CUSTOM_WATCHES)
        return custom_text_error(&k->t, start, len, NULL, "at most %u stopwatches", CUSTOM_WATCHES);
    if (op->ref == p->nwatches) p->watch[p->nwatches++] = custom_text_keep(&k->t, start, len);
    k->running[op->ref] = true;
    return 0;
}

static int args_task(struct compiler *k, struct custom_op *op)
{
    if (task_ref(k, &op->ref) < 0) return -1;
    if (op->code != CUSTOM_FORK) return 0;
    struct custom_task *child = &k->c->task[op->ref];
    child->forked = true;
    child->forks = WB_MIN(child->forks + times(k->rounds[k->depth], k->task->count), (uint64_t)UINT32_MAX);
    return 0;
}

static int args_dist(struct compiler *k, struct custom_op *op)
{
    return custom_text_dist(&k->t, &op->dist);
}
static int args_time(struct compiler *k, struct custom_op *op)
{
    return custom_text_quantity(&k->t, ARGS_TIME, false, &op->n);
}
static int args_cpus(struct compiler *k, struct custom_op *op)
{
    return custom_text_cpus(&k->t, &op->mask);
}
static int args_none(struct compiler *k, struct custom_op *op)
{
    return op->code == CUSTOM_END ? args_end(k, op) : 0;
}

static int (*const args[])(struct compiler *, struct custom_op *) = {
    [ARGS_NONE] = args_none,
    [ARGS_DIST] = args_dist,
    [ARGS_TIME] = args_time,
    [ARGS_REGION] = args_region,
    [ARGS_CHANNEL_SIZE] = args_transfer,
    [ARGS_CHANNEL] = args_close,
    [ARGS_EVENT] = args_event,
    [ARGS_EVENT_HOW] = args_event,
    [ARGS_LOCK] = args_lock,
    [ARGS_TASK] = args_task,
    [ARGS_LOOP] = args_loop,
    [ARGS_EVERY] = args_every,
    [ARGS_COUNTER] = args_counter,
    [ARGS_WATCH] = args_watch,
    [ARGS_CPUS] = args_cpus,
};

static int unknown_word(struct compiler *k)
{
    const char *names[64];
    char word[64], fix[160];
    size_t n = WB_MIN(k->len, sizeof word - 1);
    WB_CHECK(custom_words_n <= WB_ARRAY_SIZE(names), "more words than expected");
    for (size_t i = 0; i < custom_words_n; i++) names[i] = custom_words[i].word;
    memcpy(word, k->t.text + k->at, n);
    word[n] = '\0';
    const char *near = wb_nearest(word, names, custom_words_n);
    custom_text_join(fix, sizeof fix, near ? "did you mean '" : "the words are listed by ",
                     near ? near : "`wakebal help workload.tasks.program`", near ? "'?" : "");
    return custom_text_error(&k->t, k->at, k->len, fix, "unknown word '%s'", word);
}

/* Does the operation take time by itself? Bookkeeping does not; system calls, touches and work do. */
static bool takes_time(const struct custom_op *op)
{
    static const bool no_time[CUSTOM_CODES] = {[CUSTOM_LOOP] = true,  [CUSTOM_EVERY] = true, [CUSTOM_END] = true,
                                               [CUSTOM_COUNT] = true, [CUSTOM_START] = true, [CUSTOM_STOP] = true};
    bool draws = op->code == CUSTOM_RUN || op->code == CUSTOM_SLEEP;
    return !no_time[op->code] && !(draws && wb_dist_mean(op->dist) < (double)WB_NS);
}

static int compile_line(struct compiler *k)
{
    size_t start, len;
    k->t.text = wb_cfg_str_at(k->c->e.cfg, k->t.path, k->t.index);
    k->t.pos = 0;
    k->len = custom_text_word(&k->t, &k->at);
    if (!k->len) return 0;
    k->word = custom_word_find(k->t.text + k->at, k->len);
    if (!k->word) return unknown_word(k);
    struct custom_op *op = &k->p->op[k->p->nops];
    *op = (struct custom_op){.code = k->word->code};
    if (args[k->word->args](k, op) < 0) return -1;
    k->timed[k->depth] |= takes_time(op);
    len = custom_text_word(&k->t, &start);
    if (len) return custom_text_error(&k->t, start, len, k->word->form, "nothing may follow here");
    k->p->nops++;
    return 0;
}

int custom_compile(struct custom *c, uint32_t task)
{
    struct compiler k = {.c = c, .task = &c->task[task], .p = &c->task[task].prog, .rounds = {1}};
    int result = 0;
    k.t = (struct custom_text){.c = c, .path = custom_text_path(c, "tasks[%u].program", task)};
    size_t n = wb_cfg_count(c->e.cfg, k.t.path);
    if (n > CUSTOM_OPS) {
        wb_cfg_error(c->e.cfg, c->e.d, k.t.path, NULL, "a program may have %u words", CUSTOM_OPS);
        return -1;
    }
    k.p->op = wb_sim_alloc(c->e.s, (n + 1) * sizeof *k.p->op);
    for (k.t.index = 0; k.t.index < n; k.t.index++)
        if (compile_line(&k) < 0) result = -1;
    if (result < 0) return -1;
    if (k.depth) {
        k.t.index = k.loop_line[k.depth - 1];
        return custom_text_error(&k.t, 0, 4, "add \"end\"", "this loop has no end");
    }
    if (k.nheld[0]) {
        wb_cfg_error(c->e.cfg, c->e.d, k.t.path, NULL, "task '%s' ends holding lock '%s'", k.task->name,
                     c->list[CUSTOM_LOCKS].decl[k.held[0][0]].name);
        return -1;
    }
    k.p->op[k.p->nops++] = (struct custom_op){.code = CUSTOM_EXIT};
    return 0;
}

/* ---- all programs together ---- */

static bool uses(const struct custom *c, uint32_t channel, uint8_t end)
{
    for (uint32_t t = 0; t < c->ntasks; t++)
        for (uint32_t i = 0; i < c->task[t].prog.nends; i++)
            if (c->task[t].prog.end[i].channel == channel && c->task[t].prog.end[i].end == end) return true;
    return false;
}

int custom_check(struct custom *c)
{
    int result = 0;
    const struct custom_list *l = &c->list[CUSTOM_CHANNELS];
    for (uint32_t i = 0; i < l->n; i++) {
        bool in = uses(c, i, 0), out = uses(c, i, 1);
        struct custom_text t = {.c = c, .path = custom_text_path(c, "%s", l->key), .index = l->decl[i].line};
        if (in && out) continue;
        result = custom_text_error(&t, 0, strlen(l->decl[i].name), NULL, "channel '%s' is never %s", l->decl[i].name,
                                   in ? "read" : "written");
    }
    for (uint32_t i = 0; i < c->ntasks; i++) {
        const struct custom_task *t = &c->task[i];
        if (!t->forked || t->forks >= t->count) continue;
        wb_cfg_error(c->e.cfg, c->e.d, custom_text_path(c, "tasks[%u].name", i), "lower count, or fork it as often",
                     "task '%s' has %u copies, of which only %llu are forked", t->name, t->count,
                     (unsigned long long)t->forks);
        result = -1;
    }
    return result;
}
