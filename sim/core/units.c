/* units.c - one table of unit names per kind of quantity; exact decimal arithmetic in 128 bits. */
#include "wakebal/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 u128;

struct unit_name {
    const char *name; /* "" = the bare number */
    uint64_t scale;   /* base units in one of it */
    bool show;        /* used by wb_format_quantity; parsing takes them all */
};

struct unit_kind {
    const struct unit_name *names; /* ascending where shown; ends with a NULL name */
    const char *no_unit, *bad_unit, *too_large;
    bool whole;      /* fractions are refused */
    bool keep_zeros; /* three digits even when they are zeros */
};

static const struct unit_name count_names[] = {{"", 1, true}, {0}};
static const struct unit_name time_names[] = {
    {"ps", WB_PS, true},         {"ns", WB_NS, true},       {"us", WB_US, true},
    {"\xc2\xb5s", WB_US, false}, {"ms", WB_MS, true},       {"s", WB_S, true},
    {"min", 60 * WB_S, false},   {"h", 3600 * WB_S, false}, {0},
};
static const struct unit_name size_names[] = {
    {"B", 1, true},
    {"kB", 1000, false},
    {"KiB", 1ull << 10, true},
    {"MB", 1000000, false},
    {"MiB", 1ull << 20, true},
    {"GB", 1000000000, false},
    {"GiB", 1ull << 30, true},
    {"TB", 1000000000000, false},
    {"TiB", 1ull << 40, true},
    {0},
};
static const struct unit_name rate_names[] = {
    {"B/s", 1, true},
    {"kB/s", 1000, true},
    {"KiB/s", 1ull << 10, false},
    {"MB/s", 1000000, true},
    {"MiB/s", 1ull << 20, false},
    {"GB/s", 1000000000, true},
    {"GiB/s", 1ull << 30, false},
    {"TB/s", 1000000000000, true},
    {0},
};
static const struct unit_name freq_names[] = {
    {"Hz", 1, true}, {"kHz", 1000, true}, {"MHz", 1000000, true}, {"GHz", 1000000000, true}, {0},
};
static const struct unit_name ratio_names[] = {{"ppm", 1, false}, {"%", 10000, true}, {"", 1000000, false}, {0}};
static const struct unit_name cycle_names[] = {
    {"cy", 1000, true}, {"kcy", 1000000, true}, {"Mcy", 1000000000, true}, {0}};

static const struct unit_kind kinds[] = {
    [WB_UNIT_COUNT] = {count_names, "", "a count has no unit", "too large: the most is 9223372036854775807", true,
                       false},
    [WB_UNIT_TIME] = {time_names, "a time needs a unit, for example \"10 us\"",
                      "not a unit of time: ps, ns, us, ms, s, min or h", "too large: the most is 106 days", false,
                      false},
    [WB_UNIT_SIZE] = {size_names, "a size needs a unit, for example \"64 KiB\"",
                      "not a unit of size: B, KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000)",
                      "too large: the most is 8388607 TiB", false, false},
    [WB_UNIT_RATE] = {rate_names, "a rate needs a unit, for example \"6.4 GB/s\"",
                      "not a unit of rate: B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s or GiB/s",
                      "too large: the most is 9223372 TB/s", false, true},
    [WB_UNIT_FREQ] = {freq_names, "a frequency needs a unit, for example \"1.5 GHz\"",
                      "not a unit of frequency: Hz, kHz, MHz or GHz", "too large: the most is 9223372036 GHz", false,
                      false},
    [WB_UNIT_RATIO] = {ratio_names, "", "not a ratio: write \"2 %\", 0.02 or \"20000 ppm\"", "too large for a ratio",
                       false, false},
    [WB_UNIT_CYCLES] = {cycle_names, "cycles need a unit, for example \"400 cy\"",
                        "not a unit of cycles: cy, kcy or Mcy", "too large: the most is 9223372036 Mcy", false, false},
};

enum { DIGITS_MAX = 19 };

/* A decimal number: digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
    bool negative;
};

struct cursor {
    const char *text;
    size_t at;
    const char *why;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int refuse(struct cursor *c, size_t at, const char *why)
{
    c->at = at;
    c->why = why;
    return -1;
}

/* Add one digit. Zeros are held back in *zeros until a digit follows, so that trailing ones never count. */
static int add_digit(struct cursor *c, struct decimal *d, int *used, int *zeros, int digit)
{
    if (!digit) {
        if (*used) ++*zeros;
        return 0;
    }
    for (; *zeros; --*zeros, ++*used) {
        if (*used >= DIGITS_MAX) return refuse(c, c->at, "more than 19 significant digits");
        d->digits *= 10;
    }
    if (*used >= DIGITS_MAX) return refuse(c, c->at, "more than 19 significant digits");
    ++*used;
    d->digits = d->digits * 10 + (uint64_t)digit;
    return 0;
}

static int read_exponent(struct cursor *c, struct decimal *d)
{
    const char *s = c->text;
    size_t at = c->at + 1;
    bool negative = s[at] == '-';
    int value = 0;
    if (s[at] == '-' || s[at] == '+') at++;
    if (!is_digit(s[at])) return 0; /* not an exponent: a unit that starts with e, refused later */
    for (; is_digit(s[at]); at++)
        if (value < 1000) value = value * 10 + (s[at] - '0');
    d->exponent += negative ? -value : value;
    c->at = at;
    return 0;
}

/* [sign] digits [. digits] [e exponent], leaving the cursor behind it. */
static int read_decimal(struct cursor *c, struct decimal *d)
{
    const char *s = c->text;
    int used = 0, zeros = 0, fraction = 0, seen = 0;
    bool point = false;
    size_t start;

    *d = (struct decimal){0};
    while (s[c->at] == ' ') c->at++;
    start = c->at;
    if (s[c->at] == '-' || s[c->at] == '+') d->negative = s[c->at++] == '-';
    for (;; c->at++) {
        if (s[c->at] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(s[c->at])) break;
        if (add_digit(c, d, &used, &zeros, s[c->at] - '0')) return -1;
        seen++;
        if (point && fraction < 100000) fraction++;
    }
    if (!seen) return refuse(c, start, s[start] ? "not a number" : "a number is missing");
    if (s[c->at - 1] == '.') return refuse(c, c->at - 1, "a digit must follow the point");
    d->exponent = zeros - fraction;
    if (s[c->at] == 'e' || s[c->at] == 'E') return read_exponent(c, d);
    return 0;
}

static const struct unit_name *find_unit(const struct unit_kind *kind, const char *text, size_t len)
{
    for (const struct unit_name *u = kind->names; u->name; u++)
        if (strlen(u->name) == len && !memcmp(u->name, text, len)) return u;
    return NULL;
}

/* Why a text is no unit of this kind, in the words that help most. */
static const char *why_no_unit(const struct unit_kind *kind, const char *text, size_t len)
{
    if (!len) return kind->no_unit;
    if (*text == ',' || *text == '_' || *text == '\'') return "digits stand without separators";
    if (kind->names == size_names && (!strncmp(text, "KB", 2) || !strncmp(text, "K", len) || !strncmp(text, "k", len)))
        return "ambiguous: write KiB (1024 bytes) or kB (1000 bytes)";
    if (kind->names == rate_names && !strncmp(text, "KB/s", 4))
        return "ambiguous: write KiB/s (1024 bytes) or kB/s (1000 bytes)";
    return kind->bad_unit;
}

/* magnitude = digits * scale * 10^exponent, rounded half up; false when it does not fit. */
static bool scale_decimal(const struct decimal *d, uint64_t scale, uint64_t *magnitude)
{
    u128 v = (u128)d->digits * scale, limit = (u128)INT64_MAX + d->negative;
    if (d->exponent < 0) {
        if (d->exponent < -37) {
            *magnitude = 0; /* v < 10^36 */
            return true;
        }
        u128 den = 1;
        for (int i = d->exponent; i; i++) den *= 10;
        v = (v + den / 2) / den;
    }
    for (int i = 0; i < d->exponent && v; i++) {
        if (v > limit) return false;
        v *= 10;
    }
    *magnitude = (uint64_t)v;
    return v <= limit;
}

static bool is_whole(const struct decimal *d)
{
    /* Trailing zeros were dropped, so a negative exponent means a fraction, unless the number is 0. */
    return d->exponent >= 0 || !d->digits;
}

static int parse(struct cursor *c, const struct unit_kind *kind, int64_t *value)
{
    struct decimal d;
    uint64_t magnitude;

    if (read_decimal(c, &d)) return -1;
    size_t number_end = c->at;
    while (c->text[c->at] == ' ') c->at++;
    size_t len = strlen(c->text + c->at);
    while (len && c->text[c->at + len - 1] == ' ') len--;
    const struct unit_name *u = find_unit(kind, c->text + c->at, len);
    if (!u && !len && !d.digits) u = kind->names; /* 0 is 0 in any unit */
    if (!u) return refuse(c, len ? c->at : number_end, why_no_unit(kind, c->text + c->at, len));
    if (kind->whole && !is_whole(&d)) return refuse(c, 0, "must be a whole number");
    if (!scale_decimal(&d, u->scale, &magnitude)) return refuse(c, 0, kind->too_large);
    *value = d.negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

int wb_parse_quantity(const char *text, enum wb_unit unit, int64_t *value, const char **why, size_t *at)
{
    WB_CHECK(text && value, "nothing to parse");
    WB_CHECK((size_t)unit < WB_ARRAY_SIZE(kinds), "unit kind %d", (int)unit);
    struct cursor c = {.text = text};
    if (!parse(&c, &kinds[unit], value)) return 0;
    if (why) *why = c.why;
    if (at) *at = c.at;
    return -1;
}

/* --- formatting -------------------------------------------------------------------------------------------- */

/* "12.50" from 1250 and 2 decimals, by hand: printf's point depends on the locale. Returns the length. */
static int put_decimal(char *buf, size_t n, uint64_t scaled, int decimals, bool keep_zeros)
{
    uint64_t unit = 1;
    for (int i = 0; i < decimals; i++) unit *= 10;
    uint64_t fraction = scaled % unit;
    if (!keep_zeros)
        for (; decimals && !(fraction % 10); decimals--) fraction /= 10;
    if (!decimals) return snprintf(buf, n, "%" PRIu64, scaled / unit);
    return snprintf(buf, n, "%" PRIu64 ".%0*" PRIu64, scaled / unit, decimals, fraction);
}

/* The largest unit that is shown and of which there is about one. */
static const struct unit_name *fitting(const struct unit_kind *kind, double magnitude)
{
    const struct unit_name *u = kind->names, *best = u;
    do {
        if (u->show && (!best->show || magnitude >= 0.9995 * (double)u->scale)) best = u;
    } while ((++u)->name); /* there is always a first */
    return best;
}

double wb_quantity_scale(double value, enum wb_unit unit, const char **name)
{
    const struct unit_name *u = fitting(&kinds[unit], value < 0 ? -value : value);
    *name = u->name;
    return (double)u->scale;
}

char *wb_format_quantity(char *buf, size_t n, double value, enum wb_unit unit)
{
    const struct unit_kind *kind = &kinds[unit];
    double magnitude = value < 0 ? -value : value;
    char digits[48];

    if (!(magnitude <= 1e24)) { /* not a number, or absurd */
        snprintf(buf, n, "-");
        return buf;
    }
    const struct unit_name *best = fitting(kind, magnitude);
    double x = magnitude / (double)best->scale;
    int decimals = x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.9995 || x == 0 ? 2 : 3;
    for (double y = x; decimals >= 3 && decimals < 6 && y < 0.09995; y *= 10) decimals++;
    double power = 1;
    for (int i = 0; i < decimals; i++) power *= 10;
    uint64_t scaled = x * power < 1.8e19 ? (uint64_t)(x * power + 0.5) : UINT64_MAX;
    put_decimal(digits, sizeof digits, scaled, decimals, kind->keep_zeros);
    snprintf(buf, n, "%s%s%s%s", value < 0 && scaled ? "-" : "", digits, *best->name ? " " : "", best->name);
    return buf;
}

/* All values of a scenario are written in all units: no printf. */
static int put_whole(char *buf, uint64_t v)
{
    char digit[20];
    int n = 0;
    do digit[n++] = (char)('0' + (int)(v % 10));
    while (v /= 10);
    for (int i = 0; i < n; i++) buf[i] = digit[n - 1 - i];
    return n;
}

/* value / scale as an exact decimal; false when it has no end or more digits than are read back. n: room for the whole
 * part at least. */
static bool put_exact(char *buf, size_t n, uint64_t magnitude, const struct unit_name *u)
{
    uint64_t whole = magnitude / u->scale;
    u128 rest = magnitude % u->scale;
    size_t name = strlen(u->name);
    int len = put_whole(buf, whole), digits = whole ? len : 0;
    if (rest) buf[len++] = '.';
    for (; rest; digits += digits || rest) {
        if (digits >= DIGITS_MAX || (size_t)len + 1 >= n) return false;
        rest *= 10;
        buf[len++] = (char)('0' + (int)(rest / u->scale));
        rest %= u->scale;
    }
    if ((size_t)len + 1 + name >= n) return false;
    if (name) buf[len++] = ' ';
    memcpy(buf + len, u->name, name + 1);
    return true;
}

char *wb_format_exact(char *buf, size_t n, int64_t value, enum wb_unit unit)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char best[64] = "", text[64];

    for (const struct unit_name *u = kinds[unit].names; u->name; u++) {
        if ((unsigned char)u->name[0] > 127) continue; /* the ASCII spelling is there too */
        if (!put_exact(text, sizeof text, magnitude, u)) continue;
        size_t old = strlen(best), len = strlen(text);
        /* At equal length the one without a point. */
        if (!old || len < old || (len == old && strchr(best, '.') && !strchr(text, '.'))) strcpy(best, text);
    }
    snprintf(buf, n, "%s%s", value < 0 ? "-" : "", best);
    return buf;
}
