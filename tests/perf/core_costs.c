/*
 * What the small things of the event path cost: a histogram sample, a random draw, a tick of the ring. CPU time, best
 * of 30 batches. wb-link: wb_measure wb_core
 */
#include "wakebal/bench.h"
#include "wakebal/hist.h"
#include "wakebal/rng.h"

#include "tickring.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 30, BATCH = 100000 };

static struct wb_hist hist;
static struct wb_stream stream;
static struct tickring ring;
static const struct wb_dist dist = {.kind = WB_DIST_EXP, .a = 5000000};
static uint64_t values[4096], sink;

static void add_samples(void)
{
    for (uint32_t i = 0; i < BATCH; i++) wb_hist_add(&hist, values[i & 4095]);
}
static void draw_numbers(void)
{
    for (uint32_t i = 0; i < BATCH; i++) sink += wb_draw_u64(&stream);
}
static void draw_exponential(void)
{
    for (uint32_t i = 0; i < BATCH; i++) sink += (uint64_t)wb_dist_draw(&dist, &stream);
}
static void tick(void)
{
    for (uint32_t i = 0; i < BATCH; i++) tickring_advance(&ring);
}
/* Each CPU elides four ticks of five, so every tick goes through the heap. */
static void tick_and_skip(void)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        cpu_id cpu = evq_entity(tickring_peek(&ring)->key);
        tickring_advance(&ring);
        tickring_skip(&ring, cpu, 4);
    }
}

static double best_ns(void (*f)(void))
{
    double best = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        f();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / BATCH;
        if (ns < best) best = ns;
    }
    return best;
}

static int ring_of(struct arena *a, uint32_t ncpus)
{
    sim_time *phase = calloc(ncpus, sizeof *phase);
    if (!phase || tickring_init(&ring, a, 1, ncpus, WB_MS)) return -1;
    for (cpu_id c = 0; c < ncpus; c++) phase[c] = wb_draw_below(&stream, WB_MS);
    tickring_set_phases(&ring, phase);
    for (cpu_id c = 0; c < ncpus; c++) tickring_start(&ring, c, 0);
    free(phase);
    return 0;
}

int main(void)
{
    static const uint32_t sizes[] = {16, 4096};
    struct arena a;

    if (!wb_bench_build_is_fast()) return fputs("this build is not optimised: its times mean nothing\n", stderr), 2;
    stream = wb_stream_make(1, 0, 0, WB_PURPOSE('p', 'e', 'r', 'f'));
    wb_hist_reset(&hist);
    for (size_t i = 0; i < WB_ARRAY_SIZE(values); i++) values[i] = (uint64_t)wb_dist_draw(&dist, &stream);
    printf("histogram sample        %6.2f ns\n", best_ns(add_samples));
    printf("random 64 bits          %6.2f ns\n", best_ns(draw_numbers));
    printf("exponential draw        %6.2f ns\n", best_ns(draw_exponential));
    for (size_t i = 0; i < WB_ARRAY_SIZE(sizes); i++) {
        arena_init(&a, "ticks");
        if (ring_of(&a, sizes[i])) return 2;
        printf("tick, %4u CPUs         %6.2f ns\n", sizes[i], best_ns(tick));
        printf("tick and skip, %4u CPUs%6.2f ns\n", sizes[i], best_ns(tick_and_skip));
        arena_free(&a);
    }
    return sink == 1; /* never: keeps the draws */
}
