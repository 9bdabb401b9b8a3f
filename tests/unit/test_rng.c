/*
 * Streams: chi-square of every byte lane, serial pairs, correlation of neighbours (counter, entity, seed), avalanche.
 * The bounds are about six standard deviations, so a sound generator fails once in 10^8; the seeds are fixed, so it
 * is a constant verdict. Distributions: mean, variance, quantiles against closed forms.
 */
#include "wbtest.h"

#include "wakebal/rng.h"

#include <math.h>

enum { DRAWS = 1 << 18 };

static struct wb_stream stream(uint64_t seed, uint64_t entity)
{
    return wb_stream_make(seed, 0, entity, WB_PURPOSE('t', 'e', 's', 't'));
}

/* Chi-square with k - 1 degrees of freedom is about normal with mean k - 1, variance 2 (k - 1). */
static void assert_flat(const uint32_t *seen, size_t k, double draws)
{
    double chi = 0, expected = draws / (double)k;
    for (size_t i = 0; i < k; i++) chi += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    double z = (chi - (double)(k - 1)) / sqrt(2.0 * (double)(k - 1));
    if (fabs(z) > 6) fail_msg("chi-square is %.1f deviations off over %zu cells", z, k);
}

static void bytes_are_flat_in_every_lane(void **state)
{
    (void)state;
    static uint32_t seen[8][256];
    memset(seen, 0, sizeof seen);
    struct wb_stream s = stream(1, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t u = wb_draw_u64(&s);
        for (int lane = 0; lane < 8; lane++) seen[lane][u >> (8 * lane) & 255]++;
    }
    for (int lane = 0; lane < 8; lane++) assert_flat(seen[lane], 256, DRAWS);
}

static void successive_draws_are_independent(void **state)
{
    (void)state;
    static uint32_t high[4096], low[4096];
    struct wb_stream s = stream(2, 0);
    uint64_t last = wb_draw_u64(&s);
    memset(high, 0, sizeof high);
    memset(low, 0, sizeof low);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t u = wb_draw_u64(&s);
        high[last >> 58 << 6 | u >> 58]++;
        low[(last & 63) << 6 | (u & 63)]++;
        last = u;
    }
    assert_flat(high, 4096, DRAWS);
    assert_flat(low, 4096, DRAWS);
}

/* First draws of streams with neighbouring entities, seeds and purposes: as good as one stream. */
static void neighbouring_streams_are_independent(void **state)
{
    (void)state;
    static uint32_t entity[4096], seed[4096], joint[4096];
    memset(entity, 0, sizeof entity);
    memset(seed, 0, sizeof seed);
    memset(joint, 0, sizeof joint);
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct wb_stream a = stream(3, i), b = stream(3, i + 1), c = stream(i, 3);
        uint64_t ua = wb_draw_u64(&a), ub = wb_draw_u64(&b), uc = wb_draw_u64(&c);
        entity[ua >> 52]++;
        seed[uc >> 52]++;
        joint[ua >> 58 << 6 | ub >> 58]++;
    }
    assert_flat(entity, 4096, DRAWS);
    assert_flat(seed, 4096, DRAWS);
    assert_flat(joint, 4096, DRAWS);
}

/* A flipped bit of counter or key flips every output bit half of the time. */
static void avalanche(void **state)
{
    (void)state;
    enum { TRIALS = 4096 };
    for (int bit = 0; bit < 128; bit++) {
        uint64_t flips = 0;
        for (uint64_t i = 0; i < TRIALS; i++) {
            struct wb_stream a = stream(4, i), b;
            a.counter = i * 77;
            b = a;
            if (bit < 64)
                b.counter ^= 1ull << bit;
            else
                b.key ^= 1ull << (bit - 64);
            flips += (uint64_t)__builtin_popcountll(wb_draw_u64(&a) ^ wb_draw_u64(&b));
        }
        double z = ((double)flips - TRIALS * 32.0) / sqrt(TRIALS * 16.0);
        if (fabs(z) > 6) fail_msg("bit %d: %.1f deviations off", bit, z);
    }
}

static void streams_are_apart_and_repeat(void **state)
{
    (void)state;
    struct wb_stream a = wb_stream_make(1, 2, 3, WB_PURPOSE('t', 'i', 'c', 'k')), again = a;
    struct wb_stream b = wb_stream_make(1, 2, 4, WB_PURPOSE('t', 'i', 'c', 'k'));
    struct wb_stream c = wb_stream_make(1, 3, 3, WB_PURPOSE('t', 'i', 'c', 'k'));
    struct wb_stream d = wb_stream_make(1, 2, 3, WB_PURPOSE('t', 'a', 's', 'k'));
    uint64_t first = wb_draw_u64(&a);
    assert_int_equal(first, wb_draw_u64(&again));
    assert_int_not_equal(first, wb_draw_u64(&b));
    assert_int_not_equal(first, wb_draw_u64(&c));
    assert_int_not_equal(first, wb_draw_u64(&d));
    /* The same bytes on every compiler and machine, for ever: published results depend on them. */
    struct wb_stream s = wb_stream_make(42, 0, 7, WB_PURPOSE('t', 'i', 'c', 'k'));
    assert_int_equal(wb_draw_u64(&s), 0x90ad289e89e5866ull);
    assert_int_equal(wb_draw_u64(&s), 0xb6047f260e3502c0ull);
}

static void below_stays_below_and_is_flat(void **state)
{
    (void)state;
    uint32_t seen[7] = {0};
    struct wb_stream s = stream(5, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t v = wb_draw_below(&s, 7);
        assert_true(v < 7);
        seen[v]++;
    }
    assert_flat(seen, 7, DRAWS);
    assert_int_equal(wb_draw_below(&s, 1), 0);
}

struct moments {
    double mean, sd;
};

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t sample[DRAWS];

/* Draw and sort; moments of the sample. */
static struct moments draw_all(const struct wb_dist *d, uint64_t seed)
{
    struct wb_stream s = stream(seed, 9);
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        sample[i] = wb_dist_draw(d, &s);
        sum += (double)sample[i];
    }
    double mean = sum / DRAWS;
    for (int i = 0; i < DRAWS; i++) squares += ((double)sample[i] - mean) * ((double)sample[i] - mean);
    qsort(sample, DRAWS, sizeof sample[0], by_value);
    return (struct moments){mean, sqrt(squares / DRAWS)};
}

static double quantile(double p)
{
    return (double)sample[(size_t)(p * (DRAWS - 1))];
}

static void exponential(void **state)
{
    (void)state;
    const struct wb_dist d = {.kind = WB_DIST_EXP, .a = 10000000};
    struct moments m = draw_all(&d, 11);
    double error = 1e7 / sqrt(DRAWS);
    assert_near(m.mean, 1e7, 5 * error);
    assert_near(m.sd, 1e7, 12 * error);
    static const double p[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
    for (size_t i = 0; i < WB_ARRAY_SIZE(p); i++) /* deviation of a quantile: sqrt(p (1 - p) / n) / density */
        assert_near(quantile(p[i]), -1e7 * log(1 - p[i]), 5 * sqrt(p[i] / (1 - p[i])) * error);
    assert_true(wb_dist_mean(&d) == 1e7);
}

static void normal(void **state)
{
    (void)state;
    const struct wb_dist d = {.kind = WB_DIST_NORMAL, .a = 1000000000, .b = 100000};
    struct moments m = draw_all(&d, 12);
    double error = 1e8 / sqrt(DRAWS);
    assert_near(m.mean, 1e9, 5 * error);
    assert_near(m.sd, 1e8, 5 * error);
    assert_near(quantile(0.5), 1e9, 7 * error);
    assert_near(quantile(0.975), 1e9 + 1.959964e8, 14 * error);
    assert_near(quantile(0.001), 1e9 - 3.090232e8, 50 * error);
    assert_near(wb_dist_mean(&d), 1e9, 1);
}

static void a_wide_normal_is_cut_at_zero(void **state)
{
    (void)state;
    const struct wb_dist d = {.kind = WB_DIST_NORMAL, .a = 1000000, .b = 1000000};
    struct moments m = draw_all(&d, 13);
    assert_int_equal(sample[0], 0);
    assert_near(m.mean, wb_dist_mean(&d), 5 * 1e6 / sqrt(DRAWS));
    assert_near(wb_dist_mean(&d), 1083315.47, 1);
}

static void lognormal(void **state)
{
    (void)state;
    const struct wb_dist d = {.kind = WB_DIST_LOGNORMAL, .a = 1000000, .b = 500000};
    struct moments m = draw_all(&d, 14);
    assert_near(quantile(0.5), 1e6, 7 * 5e5 / sqrt(DRAWS));
    assert_near(m.mean, 1e6 * exp(0.125), 5 * m.sd / sqrt(DRAWS));
    assert_near(m.sd, 1e6 * exp(0.125) * sqrt(exp(0.25) - 1), 0.02e6);
    assert_near(log(quantile(0.99) / 1e6), 0.5 * 2.326348, 0.01);
    assert_near(wb_dist_mean(&d), 1e6 * exp(0.125), 1e-3);
}

static void uniform_and_fixed(void **state)
{
    (void)state;
    const struct wb_dist u = {.kind = WB_DIST_UNIFORM, .a = 10, .b = 19};
    draw_all(&u, 15);
    assert_int_equal(sample[0], 10);
    assert_int_equal(sample[DRAWS - 1], 19);
    uint32_t seen[10] = {0};
    for (int i = 0; i < DRAWS; i++) seen[sample[i] - 10]++;
    assert_flat(seen, 10, DRAWS);
    const struct wb_dist f = {.kind = WB_DIST_FIXED, .a = 5}, n = {.kind = WB_DIST_FIXED, .a = -5};
    struct wb_stream s = stream(1, 1);
    assert_int_equal(wb_dist_draw(&f, &s), 5);
    assert_int_equal(wb_dist_draw(&n, &s), 0);
    assert_int_equal(s.counter, 2); /* one draw each, whatever the kind */
    assert_true(wb_dist_mean(&u) == 14.5 && wb_dist_mean(&f) == 5);
}

static void table(void **state)
{
    (void)state;
    static const int64_t value[] = {100, 200, 900};
    static const uint64_t cumulative[] = {1ull << 30, 3ull << 30, 1ull << 32};
    const struct wb_dist d = {.kind = WB_DIST_TABLE, .value = value, .cumulative = cumulative, .n = 3};
    uint32_t seen[3] = {0};
    draw_all(&d, 16);
    for (int i = 0; i < DRAWS; i++) seen[sample[i] == 100 ? 0 : sample[i] == 200 ? 1 : 2]++;
    assert_near(seen[0], DRAWS * 0.25, 5 * sqrt(DRAWS * 0.1875));
    assert_near(seen[1], DRAWS * 0.5, 5 * sqrt(DRAWS * 0.25));
    assert_near(wb_dist_mean(&d), 350, 1e-9);
}

/* Values near the limits of 64 bits neither wrap nor turn negative. */
static void extremes_are_held(void **state)
{
    (void)state;
    static const struct wb_dist d[] = {
        {.kind = WB_DIST_EXP, .a = INT64_MAX},
        {.kind = WB_DIST_LOGNORMAL, .a = INT64_MAX, .b = 3000000},
        {.kind = WB_DIST_LOGNORMAL, .a = 1, .b = 30000000},
        {.kind = WB_DIST_NORMAL, .a = INT64_MAX / 2, .b = 1000000},
        {.kind = WB_DIST_UNIFORM, .a = 0, .b = INT64_MAX},
        {.kind = WB_DIST_EXP, .a = 0},
    };
    for (size_t k = 0; k < WB_ARRAY_SIZE(d); k++) {
        struct wb_stream s = stream(17, k);
        for (int i = 0; i < 20000; i++) assert_true(wb_dist_draw(&d[k], &s) >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_flat_in_every_lane),
        cmocka_unit_test(successive_draws_are_independent),
        cmocka_unit_test(neighbouring_streams_are_independent),
        cmocka_unit_test(avalanche),
        cmocka_unit_test(streams_are_apart_and_repeat),
        cmocka_unit_test(below_stays_below_and_is_flat),
        cmocka_unit_test(exponential),
        cmocka_unit_test(normal),
        cmocka_unit_test(a_wide_normal_is_cut_at_zero),
        cmocka_unit_test(lognormal),
        cmocka_unit_test(uniform_and_fixed),
        cmocka_unit_test(table),
        cmocka_unit_test(extremes_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
