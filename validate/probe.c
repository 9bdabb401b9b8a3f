/* probe.c - the table of probes, their rounds, and what is made of the samples. */
#include "probe_inner.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const struct probe probe_table[] = {
    {"clock", "a chain of negations, one cycle each", "clock", probe_clock, 0.004, false},
    {"lines", "loads, stores, additions with and without lock, on one line",
     "line_rmw line_rmw_plain line_read line_write", probe_lines, 0.008, false},
    {"smt", "the same mixed work alone and beside the sibling thread", "smt_share", probe_smt, 0.009, false},
    {"caches", "a pointer chase, and streams, within each cache",
     "l1_latency l2_latency l3_latency l4_latency l1_read l2_read l3_read l4_read l1_write l2_write l3_write l4_write",
     probe_caches, 0.06, false},
    {"copies", "string moves within each cache", "l1_copy l2_copy l3_copy l4_copy", probe_copies, 0.02, false},
    {"memory", "a pointer chase and streams through memory that no cache holds",
     "memory_latency memory_read memory_write", probe_memory, 0.02, false},
    {"memory_all", "all CPUs read memory at once", "memory_rate", probe_memory_all, 0.016, false},
    {"gaps", "a task that reads the clock all the time: what interrupts it, and how long",
     "tick noise hz ticks_seen noise_rate noise_share", probe_gaps, 0.081, false},
    {"calls", "the same call again and again", "getppid clock_read call_write call_select call_socket_protocol",
     probe_calls, 0.01, false},
    {"timer", "a timer made the CPU's next one, less one moved far away", "timer_program", probe_timer, 0.001, false},
    {"queueing", "poll() of an empty and a ready pipe, less poll() of the ready one first", "wait_entry",
     probe_queueing, 0.003, false},
    {"life", "a child that ends at once; its end until it has been reaped", "fork_call child_end", probe_life, 0.005,
     false},
    {"loops", "a message that a task sends to itself",
     "pipe_1 pipe_4k pipe_8k pipe_12k pipe_64k unix_1 unix_64k udp_1 tcp_1", probe_loops, 0.03, false},
    {"sides", "a pipe filled and emptied by one task", "fill_512 drain_512 fill_4096 drain_4096", probe_sides, 0.002,
     false},
    {"pages", "calls of two to five pages on a pipe that keeps two", "page_first_get page_first_put", probe_pages,
     0.002, false},
    {"local_echo",
     "one byte to and fro between two tasks of one CPU, of SCHED_BATCH (no preemption) and ordinary ones, sleeps "
     "counted",
     "local_trip local_write pair_trip local_sleeps local_switches pair_sleeps pair_switches sleep_wake",
     probe_local_echo, 0.012, false},
    {"cold", "calls, and trips between two tasks of one CPU, with the L1 filled anew before each, and without",
     "cold_calls cold_trip", probe_cold, 0.03, false},
    {"return",
     "a task that sleeps for each page it writes, between calls or within one, less a call that finds no room",
     "switched_save switched_return", probe_return, 0.016, false},
    {"socket_echo", "one byte to and fro over a socket between two tasks of one CPU", "unix_trip udp_trip tcp_trip",
     probe_socket_echo, 0.012, false},
    {"transfer", "locked additions in lines that the other CPU has just modified, or that both have read",
     "transfer upgrade", probe_transfer, 0.003, true},
    {"dirty", "running in order through lines that the other CPU has just written", "dirty_read dirty_write",
     probe_dirty, 0.006, true},
    {"shared", "writing in order through lines that both CPUs have just read", "shared_write", probe_shared, 0.004,
     true},
    {"far_echo", "one byte to and fro between two CPUs, the waker working between the trips",
     "far_trip_0 far_trip_20us far_trip_200us far_trip_2ms far_write_0 far_write_20us far_write_200us far_write_2ms",
     probe_far_echo, 0.38, true},
    {"awake_echo", "the same while tasks of SCHED_IDLE keep both CPUs awake", "awake_trip awake_write",
     probe_awake_echo, 0.06, true},
    {"transfer_again", "the same as transfer, at the end of the round: does the distance last?", "transfer_again",
     probe_transfer_again, 0.003, true},
};
const size_t probe_table_n = WB_ARRAY_SIZE(probe_table);

/* ------------------------------------------------------------------ samples */
static void full_name(const struct probe_run *r, const char *name, char *out)
{
    if (r->far == WB_FAR_SELF)
        snprintf(out, PROBE_NAME, "%s", name);
    else
        snprintf(out, PROBE_NAME, "%.40s.%s", name, wb_distance_name(r->far));
}

static struct probe_figure *figure(struct probe_set *s, const char *name, enum probe_unit unit)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->figure[i].name, name)) return &s->figure[i];
    if (s->n == s->room) {
        uint32_t room = s->room ? 2 * s->room : 64;
        struct probe_figure *p = realloc(s->figure, room * sizeof *p);
        if (!p) return NULL;
        s->figure = p;
        s->room = room;
    }
    struct probe_figure *f = &s->figure[s->n++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->unit = unit;
    return f;
}

void probe_put(struct probe_run *r, const char *name, enum probe_unit unit, double v)
{
    char full[PROBE_NAME];
    full_name(r, name, full);
    if (!isfinite(v) || (v <= 0 && unit != PROBE_COUNT && unit != PROBE_DIFFERENCE)) return;
    struct probe_figure *f = figure(r->set, full, unit);
    if (!f || f->n == PROBE_ROUNDS_MAX) return;
    f->round[f->n] = (uint8_t)r->round;
    f->sample[f->n++] = v;
}

void probe_put_spread(struct probe_run *r, const char *name, double ns)
{
    char full[PROBE_NAME];
    struct probe_set *s = r->set;
    struct probe_spread *p = NULL;
    full_name(r, name, full);
    for (uint32_t i = 0; i < s->nspreads && !p; i++)
        if (!strcmp(s->spread[i].name, full)) p = &s->spread[i];
    if (!p) {
        struct probe_spread *more = realloc(s->spread, (s->nspreads + 1) * sizeof *more);
        if (!more) return;
        s->spread = more;
        p = &more[s->nspreads++];
        *p = (struct probe_spread){.n = 0};
        memcpy(p->name, full, sizeof full);
    }
    if (p->n == p->room) {
        uint32_t room = p->room ? 2 * p->room : 256;
        float *v = realloc(p->v, room * sizeof *v);
        if (!v) return;
        p->v = v;
        p->room = room;
    }
    p->v[p->n++] = (float)ns;
}

const struct probe_figure *probe_find(const struct probe_set *s, const char *name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->figure[i].name, name)) return &s->figure[i];
    return NULL;
}

const struct probe_spread *probe_find_spread(const struct probe_set *s, const char *name)
{
    for (uint32_t i = 0; i < s->nspreads; i++)
        if (!strcmp(s->spread[i].name, name)) return &s->spread[i];
    return NULL;
}

double probe_quantile(const struct probe_spread *s, double q)
{
    if (!s || !s->n) return NAN;
    double at = q * (double)(s->n - 1);
    uint32_t i = (uint32_t)at;
    double below = (double)s->v[i], above = (double)s->v[WB_MIN(i + 1, s->n - 1)];
    return below + (above - below) * (at - (double)i);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

const uint8_t probe_cell_weight[PROBE_CELLS] = {1, 2, 2, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 2, 2, 1};

const struct probe_figure *probe_find_cell(const struct probe_set *s, const char *name, const char *far, uint32_t cell)
{
    char full[PROBE_NAME];
    snprintf(full, sizeof full, "%.30s_q%02u.%.12s", name, cell, far);
    return probe_find(s, full);
}

/* Order statistics: the number of samples below the true median is binomial with p = 1/2. */
void probe_median(double *v, uint32_t n, double *median, double *lo, double *hi)
{
    *median = *lo = *hi = NAN;
    if (!n) return;
    qsort(v, n, sizeof *v, compare_doubles);
    *median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    uint32_t k = 0; /* the most that may be cut off at each end */
    while (k + 1 < n / 2 && gsl_cdf_binomial_P(k + 1, 0.5, n) <= 0.025) k++;
    *lo = v[k];
    *hi = v[n - 1 - k];
}

const char *probe_method(const char *name)
{
    size_t len = strcspn(name, ".");
    for (size_t i = 0; i < probe_table_n; i++)
        for (const char *w = probe_table[i].figures; *w;) {
            size_t n = strcspn(w, " ");
            if (n == len && !memcmp(w, name, n)) return probe_table[i].method;
            w += n + (w[n] == ' ');
        }
    return "";
}

/* ------------------------------------------------------------------ threads and children */
int probe_pin(cpu_id cpu)
{
    struct real_cpus one = {{0}};
    one.w[cpu / 64] |= 1ull << cpu % 64;
    return syscall(SYS_sched_setaffinity, 0, sizeof one.w, one.w) < 0 ? -errno : 0;
}

struct probe_thread {
    pthread_t id;
    cpu_id cpu;
    void (*work)(void *arg);
    void *arg;
};

static void *thread_main(void *arg)
{
    struct probe_thread *t = arg;
    (void)probe_pin(t->cpu);
    t->work(t->arg);
    return NULL;
}

struct probe_thread *probe_beside(cpu_id cpu, void (*work)(void *arg), void *arg)
{
    struct probe_thread *t = malloc(sizeof *t);
    if (!t) return NULL;
    *t = (struct probe_thread){.cpu = cpu, .work = work, .arg = arg};
    if (!pthread_create(&t->id, NULL, thread_main, t)) return t;
    free(t);
    return NULL;
}

void probe_join(struct probe_thread *t)
{
    pthread_join(t->id, NULL);
    free(t);
}

pid_t probe_child(cpu_id cpu, int policy, void (*work)(void *arg), void *arg)
{
    pid_t parent = getpid(), pid = fork();
    if (pid) return pid < 0 ? -errno : pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    struct sched_param p = {0};
    if (getppid() != parent || probe_pin(cpu) || (policy != SCHED_OTHER && sched_setscheduler(0, policy, &p))) _exit(1);
    work(arg);
    _exit(0);
}

void probe_reap(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ------------------------------------------------------------------ rounds */
static void leave_out(struct probe_run *r, const char *what, const char *why)
{
    struct probe_set *s = r->set;
    if (s->nmissing < WB_ARRAY_SIZE(s->missing))
        snprintf(s->missing[s->nmissing++], sizeof s->missing[0], "%.60s: %.50s", what, why);
}

static void choose_cpus(struct probe_run *r)
{
    struct real_cpus own = {{0}};
    (void)syscall(SYS_sched_getaffinity, 0, sizeof own.w, own.w);
    bool asked = false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(own.w); i++) asked |= r->o->cpus.w[i] != 0;
    for (cpu_id c = 0; c < r->topo->ncpus; c++) {
        bool may = own.w[c / 64] >> c % 64 & 1, wanted = !asked || (r->o->cpus.w[c / 64] >> c % 64 & 1);
        if (may && wanted) r->cpus[r->ncpus++] = c;
    }
    r->cpu = r->ncpus ? r->cpus[0] : 0;
    for (uint32_t i = 1; i < r->ncpus; i++) {
        enum wb_distance d = wb_topo_distance(r->topo, r->cpu, r->cpus[i]);
        if (!r->have[d]) r->other[d] = r->cpus[i];
        r->have[d] = true;
    }
}

/* Buffers: some MiB for the caches; for memory two of four times the last cache each, if a quarter of what is free
 * suffices. */
static int make_buffers(struct probe_run *r)
{
    size_t last = 8u << 20;
    for (uint32_t i = 0; i < r->topo->nlevels; i++) {
        const struct wb_topo_cache *c = &r->topo->cache[wb_topo_cache_of(r->topo, r->cpu, i)];
        r->level[i] = c->size;
        last = WB_MAX(last, (size_t)c->size);
    }
    r->bytes = 16u << 20;
    r->arena = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->arena == MAP_FAILED) return -errno;
    memset(r->arena, 1, r->bytes);
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t big = WB_MIN(4 * last, (size_t)256 << 20);
    if (pages <= 0 || (size_t)pages * (size_t)page / 4 < 2 * big || big < 2 * last) return 0;
    r->big = mmap(NULL, 2 * big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->big == MAP_FAILED) return 0;
    (void)madvise(r->big, 2 * big, MADV_HUGEPAGE);
    memset(r->big, 1, 2 * big);
    r->chase = probe_make_chase(r->big, big);
    r->big_bytes = r->chase ? big : 0;
    return 0;
}

static void one_probe(struct probe_run *r, size_t i, bool *off)
{
    const struct probe *p = &probe_table[i];
    for (unsigned d = p->far ? WB_FAR_SELF + 1 : WB_FAR_SELF; d < (p->far ? WB_DISTANCES : WB_FAR_SELF + 1u); d++) {
        if (p->far && !r->have[d]) continue;
        r->far = (enum wb_distance)d;
        int rc = p->round(r);
        if (rc >= 0) continue;
        leave_out(r, p->name, strerror(-rc));
        *off = true;
        return;
    }
}

/* Whether a word of a blank-separated list is `name`. */
static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == n && !memcmp(at, name, n)) return true;
    }
    return false;
}

static int rounds(struct probe_run *r)
{
    bool off[WB_ARRAY_SIZE(probe_table)] = {false};
    bool first = !r->set->rounds; /* later ones leave out the same */
    if (first && r->ncpus < 2) leave_out(r, "everything between two CPUs", "only one CPU may be used");
    if (first && !r->big_bytes) leave_out(r, "memory", "too little of it is free");
    for (uint32_t k = 0; k < r->o->rounds && r->set->rounds < PROBE_ROUNDS_MAX; k++, r->set->rounds++) {
        r->round = r->set->rounds;
        /* New pages: which sets of the caches they fall into is chance, and part of what a figure varies by. */
        if (k) (void)madvise(r->arena, r->bytes, MADV_DONTNEED);
        memset(r->arena, 1, r->bytes);
        for (size_t i = 0; i < probe_table_n; i++) {
            if (off[i] || (r->o->only && !listed(r->o->only, probe_table[i].name))) continue;
            if ((probe_table[i].round == probe_memory || probe_table[i].round == probe_memory_all) && !r->big_bytes)
                continue;
            if (r->o->stop && *r->o->stop) return -EINTR;
            if (r->o->progress) r->o->progress(r->o->ctx, k, r->o->rounds, probe_table[i].name);
            one_probe(r, i, &off[i]);
        }
    }
    return 0;
}

/* Medians of consecutive fifths of the rounds: what drifts within minutes shows there, and order statistics do not see
 * it. The interval takes them in. */
#define BLOCKS 5u
static void widen_by_blocks(struct probe_figure *f)
{
    double v[PROBE_ROUNDS_MAX], median, lo, hi;
    if (f->n < 3 * BLOCKS) return;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t from = f->n * b / BLOCKS, to = f->n * (b + 1) / BLOCKS;
        memcpy(v, f->sample + from, (to - from) * sizeof *v);
        probe_median(v, to - from, &median, &lo, &hi);
        f->lo = fmin(f->lo, median);
        f->hi = fmax(f->hi, median);
    }
}

/* ------------------------------------------------------------------ distances that change */
/* Where sorted samples fall into two groups, at least FAR_APART apart: the ratio's middle; else 0. A hypervisor that
 * moves virtual CPUs between cores of one cache and of several does that: 28 and 126 ns have been seen on one guest,
 * minutes each. */
#define FAR_APART 1.6
#define KEPT_LEAST 3u /* fewer rounds tell less than all of them together */
static double split_at(double *v, uint32_t n)
{
    double best = FAR_APART, at = 0;
    qsort(v, n, sizeof *v, compare_doubles);
    for (uint32_t i = 2; i + 1 < n; i++) { /* one sample alone is no group */
        double by = v[i] / v[i - 1];
        if (by < best) continue;
        best = by;
        at = sqrt(v[i] * v[i - 1]);
    }
    return at;
}

/* 1 far, 0 near, 2: it changed within the round. */
static void mark_rounds(const struct probe_figure *begin, const struct probe_figure *end, double at, uint8_t *mark)
{
    memset(mark, 2, PROBE_ROUNDS_MAX);
    for (uint32_t i = 0; i < begin->n; i++) mark[begin->round[i]] = begin->sample[i] > at;
    for (uint32_t i = 0; end && i < end->n; i++)
        if (mark[end->round[i]] != (end->sample[i] > at)) mark[end->round[i]] = 2;
}

static void keep_marked(struct probe_figure *f, const uint8_t *mark, uint8_t wanted)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (mark[f->round[i]] != wanted) continue;
        f->round[n] = f->round[i];
        f->sample[n++] = f->sample[i];
    }
    f->n = n;
}

/* Figures of a distance come from the rounds in which it was what it mostly was. */
void probe_keep_one_distance(struct probe_set *s, const char *far)
{
    char name[2][PROBE_NAME];
    double v[2 * PROBE_ROUNDS_MAX];
    uint8_t mark[PROBE_ROUNDS_MAX];
    uint32_t n = 0, count[3] = {0};
    snprintf(name[0], sizeof name[0], "transfer.%s", far);
    snprintf(name[1], sizeof name[1], "transfer_again.%s", far);
    const struct probe_figure *f[2] = {probe_find(s, name[0]), probe_find(s, name[1])};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; f[k] && i < f[k]->n; i++) v[n++] = f[k]->sample[i];
    if (!f[0]) return;
    double at = split_at(v, n);
    if (!(at > 0)) return;
    mark_rounds(f[0], f[1], at, mark);
    for (uint32_t i = 0; i < f[0]->n; i++) count[mark[f[0]->round[i]]]++;
    uint8_t wanted = count[1] > count[0];
    if (count[wanted] < KEPT_LEAST) return;
    if (s->nmissing < WB_ARRAY_SIZE(s->missing))
        snprintf(s->missing[s->nmissing++], sizeof s->missing[0],
                 "%u of %u rounds between CPUs (%s): a line took %s %.0f ns, or it changed", f[0]->n - count[wanted],
                 f[0]->n, far, wanted ? "less than" : "more than", at);
    for (uint32_t i = 0; i < s->n; i++) {
        const char *dot = strrchr(s->figure[i].name, '.');
        if (dot && !strcmp(dot + 1, far)) keep_marked(&s->figure[i], mark, wanted);
    }
}

static void digest(struct probe_set *s)
{
    double v[PROBE_ROUNDS_MAX];
    for (unsigned d = WB_FAR_SELF + 1; d < WB_DISTANCES; d++)
        probe_keep_one_distance(s, wb_distance_name((enum wb_distance)d));
    for (uint32_t i = 0; i < s->n; i++) {
        struct probe_figure *f = &s->figure[i];
        memcpy(v, f->sample, f->n * sizeof *v);
        probe_median(v, f->n, &f->median, &f->lo, &f->hi);
        widen_by_blocks(f);
    }
    for (uint32_t i = 0; i < s->nspreads; i++)
        qsort(s->spread[i].v, s->spread[i].n, sizeof *s->spread[i].v, compare_floats);
}

int probe_all(const struct wb_topology *topo, const struct probe_options *o, struct probe_set *out, struct wb_diag *d)
{
    memset(out, 0, sizeof *out);
    int rc = probe_more(topo, o, out, d);
    if (rc) probe_free(out);
    return rc;
}

int probe_more(const struct wb_topology *topo, const struct probe_options *o, struct probe_set *out, struct wb_diag *d)
{
    struct real_cpus before = {{0}};
    struct probe_run *r = calloc(1, sizeof *r);
    if (!r) return -ENOMEM;
    r->topo = topo; /* one by one: a literal of this size would stand on the stack where nothing is optimised */
    r->o = o;
    r->set = out;
    uint64_t begin = real_now();
    choose_cpus(r);
    (void)syscall(SYS_sched_getaffinity, 0, sizeof before.w, before.w);
    int rc = r->ncpus ? probe_pin(r->cpu) : -EINVAL;
    if (rc)
        wb_diag_add(d, WB_ERROR, "E911", (struct wb_place){0}, NULL, "cannot bind to CPU %u: %s", r->cpu,
                    strerror(-rc));
    if (!rc && (rc = make_buffers(r)) < 0)
        wb_diag_add(d, WB_ERROR, "E911", (struct wb_place){0}, NULL, "cannot get %zu MiB of memory: %s", r->bytes >> 20,
                    strerror(-rc));
    if (!rc) rc = rounds(r);
    (void)syscall(SYS_sched_setaffinity, 0, sizeof before.w, before.w);
    if (r->arena && r->arena != MAP_FAILED) munmap(r->arena, r->bytes);
    if (r->big && r->big != MAP_FAILED && r->big_bytes) munmap(r->big, 2 * r->big_bytes);
    out->seconds += (double)(real_now() - begin) * 1e-9;
    if (!rc) digest(out);
    free(r);
    return rc;
}

void probe_free(struct probe_set *s)
{
    for (uint32_t i = 0; i < s->nspreads; i++) free(s->spread[i].v);
    free(s->spread);
    free(s->figure);
    memset(s, 0, sizeof *s);
}

double probe_round_seconds(void)
{
    double sum = 0;
    for (size_t i = 0; i < probe_table_n; i++) sum += probe_table[i].seconds;
    return sum;
}
