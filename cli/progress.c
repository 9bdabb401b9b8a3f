/* progress.c - how far the runs are: a line on the terminal, or now and then a line of the log. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

#define NS_PER_S 1000000000ll
#define REDRAW_NS (NS_PER_S / 10)
#define LOG_NS (30 * NS_PER_S)

struct out_watch {
    pthread_t thread;
    pthread_mutex_t lock; /* of the struct out_progress */
    pthread_cond_t end;
    bool ended;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ------------------------------------------------------------------ texts */
/* Seconds that the runs expected will still take; negative: cannot be said. How many replications a goal takes is known
 * only about, and better with each of them. */
static double seconds_left(const struct out_progress *p, int64_t t)
{
    const struct exp_progress *n = &p->now;
    size_t fresh = n->runs_done - n->runs_recalled; /* what was kept took no time */
    if (!n->runs || !fresh) return -1;
    return (double)(t - p->started) / NS_PER_S * (double)(n->runs_expected - n->runs_done) / (double)fresh;
}

static char *clock_text(char *buf, size_t n, double seconds)
{
    unsigned long s = seconds < 0 ? 0 : seconds > 3e6 ? 3000000 : (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(buf, n, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buf, n, "%02lu:%02lu", s / 60, s % 60);
    return buf;
}

/* The widest interval of what is at work, or false when none is known yet. */
static bool widest(const struct exp_progress *now)
{
    return isfinite(now->half_width) && now->half_width > 0;
}

static void draw_json(const struct out_progress *p, int64_t t)
{
    const struct exp_progress *now = &p->now;
    double seconds = seconds_left(p, t);
    fprintf(stderr, "{\"points\":%zu,\"points_done\":%zu,\"runs\":%zu,\"runs_done\":%zu,\"runs_kept\":%zu", now->points,
            now->points_done, now->runs, now->runs_done, now->runs_recalled);
    if (now->runs_expected > now->runs) fprintf(stderr, ",\"runs_expected\":%zu", now->runs_expected);
    if (widest(now)) fprintf(stderr, ",\"half_width\":%.4g,\"goal\":%.4g", now->half_width, now->goal);
    if (seconds >= 0) fprintf(stderr, ",\"seconds_left\":%.0f", seconds);
    fputs("}\n", stderr);
}

/* "12 of 60 runs", "12 of about 90 runs (10 points)": points end together, since replications go round all of them,
 * so it is runs that are counted. */
static void print_count(const struct out_progress *p, const char *done)
{
    const struct exp_progress *now = &p->now;
    fprintf(stderr, "%s%s%zu of %s%zu runs%s", now->stage ? now->stage : "", now->stage ? ": " : "", now->runs_done,
            now->runs_expected > now->runs ? "about " : "", now->runs_expected, done);
    if (now->points > 1) fprintf(stderr, " (%zu %s)", now->points, p->what);
}

static void draw_line(struct out_progress *p, int64_t t)
{
    const struct exp_progress *now = &p->now;
    char bar[16], left[32] = "--:--";
    double share = now->runs ? (double)now->runs_done / (double)now->runs_expected : 0, seconds = seconds_left(p, t);
    for (size_t i = 0; i < 14; i++) bar[i] = (double)i < share * 14 ? '#' : '-';
    bar[14] = 0;
    if (seconds >= 0) clock_text(left, sizeof left, seconds);
    fprintf(stderr, "\r\033[K[%s] ", bar);
    print_count(p, "");
    if (widest(now))
        fprintf(stderr, "  widest interval %.2g %% (goal %.2g %%)", 100 * now->half_width, 100 * now->goal);
    fprintf(stderr, "  ETA %s%s", now->runs_expected > now->runs && seconds >= 0 ? "about " : "", left);
    fflush(stderr);
    p->line = true;
}

static void log_line(const struct out_progress *p, int64_t t)
{
    const struct exp_progress *now = &p->now;
    char taken[32], left[32];
    double seconds = seconds_left(p, t);
    fputs("wakebal: ", stderr);
    print_count(p, " done");
    fprintf(stderr, " after %s", clock_text(taken, sizeof taken, (double)(t - p->started) / NS_PER_S));
    if (widest(now))
        fprintf(stderr, ", widest interval %.2g %% (goal %.2g %%)", 100 * now->half_width, 100 * now->goal);
    if (seconds >= 0) fprintf(stderr, ", about %s to go", clock_text(left, sizeof left, seconds));
    fputc('\n', stderr);
}

static void draw(struct out_progress *p, int64_t t)
{
    p->drawn = t;
    if (p->mode == CLI_JSON)
        draw_json(p, t);
    else if (p->terminal)
        draw_line(p, t);
    else
        log_line(p, t);
}

/* Time between two lines. */
static int64_t pause_of(const struct out_progress *p)
{
    if (p->terminal) return REDRAW_NS;
    return p->mode == CLI_ALWAYS ? NS_PER_S : LOG_NS;
}

/* ------------------------------------------------------------------ the watch */
static void *watch(void *ctx)
{
    struct out_progress *p = ctx;
    struct out_watch *w = p->watch;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        int64_t due = p->drawn + (p->terminal ? NS_PER_S : pause_of(p)), t = now_ns();
        if (t >= due) {
            if (p->known) draw(p, t);
            p->drawn = t;
            continue;
        }
        struct timespec until = {.tv_sec = due / NS_PER_S, .tv_nsec = due % NS_PER_S};
        pthread_cond_timedwait(&w->end, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Without a thread, lines come when runs end; that is no reason to fail. */
static void start_watch(struct out_progress *p)
{
    pthread_condattr_t attr;
    struct out_watch *w = calloc(1, sizeof *w);
    if (!w) return;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &attr);
    pthread_condattr_destroy(&attr);
    p->watch = w;
    if (!pthread_create(&w->thread, NULL, watch, p)) return;
    p->watch = NULL;
    free(w);
}

/* ------------------------------------------------------------------ from outside */
void out_progress_init(struct out_progress *p, const struct cli_options *o, const char *what)
{
    const char *term = getenv("TERM");
    int64_t t = now_ns();
    *p = (struct out_progress){.mode = o->progress, .started = t, .drawn = t, .what = what};
    p->terminal = isatty(2) && term && strcmp(term, "dumb");
    p->active = o->progress == CLI_JSON || o->progress == CLI_ALWAYS || (o->progress == CLI_AUTO && !o->quiet);
    if (p->terminal) p->drawn -= REDRAW_NS;
    if (p->active && p->mode != CLI_JSON) start_watch(p);
}

void out_progress_step(struct out_progress *p, const struct exp_progress *now)
{
    if (!p->active) return;
    if (p->watch) pthread_mutex_lock(&p->watch->lock);
    int64_t t = now_ns();
    if (p->known && now->runs_done < p->now.runs_done) p->started = t; /* another stage begins */
    p->now = *now;
    p->known = true;
    if (p->mode == CLI_JSON || t - p->drawn >= pause_of(p)) draw(p, t);
    if (p->watch) pthread_mutex_unlock(&p->watch->lock);
}

void out_progress_end(struct out_progress *p)
{
    struct out_watch *w = p->watch;
    if (w) {
        pthread_mutex_lock(&w->lock);
        w->ended = true;
        pthread_cond_signal(&w->end);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->end);
        pthread_mutex_destroy(&w->lock);
        free(w);
    }
    p->watch = NULL;
    if (p->line) fputs("\r\033[K", stderr);
    p->line = false;
}
