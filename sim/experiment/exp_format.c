#include "exp_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/units.h"

static char *take(size_t n)
{
    char *s = malloc(n);
    WB_MEMORY(s, "out of memory for %zu bytes of text", n);
    return s;
}

/* ------------------------------------------------------------------ values */
static const struct {
    const char *unit;
    enum wb_unit kind;
    double scale; /* base unit of the metric -> base unit of wb_format_quantity */
} unit_table[] = {{"s", WB_UNIT_TIME, 1e12}, {"B", WB_UNIT_SIZE, 1}, {"B/s", WB_UNIT_RATE, 1}, {"Hz", WB_UNIT_FREQ, 1}};

char *exp_format_percent(char *buf, size_t n, double ratio, int decimals)
{
    if (isnan(ratio))
        snprintf(buf, n, "-");
    else
        snprintf(buf, n, "%.*f %%", decimals, 100 * ratio);
    return buf;
}

/* "116471 /s" -> "116,471 /s": the first run of digits in groups of three, where there is room. */
static void group_digits(char *buf, size_t n)
{
    size_t from = buf[0] == '-', digits = strspn(buf + from, "0123456789"), len = strlen(buf);
    if (strchr("eE", buf[from + digits]) && buf[from + digits]) return;
    for (size_t at = digits; at > 3 && len + 1 < n; len++) {
        at -= 3;
        memmove(buf + from + at + 1, buf + from + at, len - from - at + 1);
        buf[from + at] = ',';
    }
}

/* Three significant digits, never an exponent below a million million. */
static void format_plain(char *buf, size_t n, double v, const char *unit)
{
    bool rate = !strncmp(unit, "1/", 2), one = !strcmp(unit, "1") || !*unit;
    const char *gap = one ? "" : " ", *text = one ? "" : rate ? unit + 1 : unit;
    double size = fabs(v);
    if (size >= 1e12 || (size > 0 && size < 1e-4))
        snprintf(buf, n, "%.3g%s%s", v, gap, text);
    else if (size >= 100 || v == floor(v))
        snprintf(buf, n, "%.0f%s%s", v, gap, text);
    else
        snprintf(buf, n, "%.*f%s%s", size >= 10 ? 1 : size >= 1 ? 2 : 3, v, gap, text);
}

char *exp_format_value(char *buf, size_t n, double value, const char *unit)
{
    if (!isfinite(value)) {
        snprintf(buf, n, "-");
        return buf;
    }
    if (!strcmp(unit, "%")) return exp_format_percent(buf, n, value, 1);
    if (!strcmp(unit, "s") && value == 0) {
        snprintf(buf, n, "0 s"); /* not "0 ps": nobody measured that finely */
        return buf;
    }
    size_t i = 0;
    while (i < WB_ARRAY_SIZE(unit_table) && strcmp(unit, unit_table[i].unit)) i++;
    if (i < WB_ARRAY_SIZE(unit_table))
        wb_format_quantity(buf, n, value * unit_table[i].scale, unit_table[i].kind);
    else
        format_plain(buf, n, value, unit);
    group_digits(buf, n);
    return buf;
}

/* What values of a unit are divided by, and what stands behind them. */
struct shown_unit {
    double scale;
    const char *gap, *text;
};

static struct shown_unit unit_for(double size, const char *unit)
{
    struct shown_unit u = {1, " ", unit};
    for (size_t i = 0; i < WB_ARRAY_SIZE(unit_table); i++) {
        if (strcmp(unit, unit_table[i].unit) != 0) continue;
        u.scale = wb_quantity_scale(size * unit_table[i].scale, unit_table[i].kind, &u.text) / unit_table[i].scale;
        return u;
    }
    if (!strcmp(unit, "%")) u.scale = 0.01;
    if (!strncmp(unit, "1/", 2)) u.text = unit + 1;
    if (!strcmp(unit, "1") || !*unit) u.gap = u.text = "";
    return u;
}

/* Decimals that give `step` two significant digits. */
static int decimals_for(double step)
{
    int d = 1 - (int)floor(log10(step));
    return WB_MAX(0, WB_MIN(d, 6));
}

static char *grouped(char *buf, size_t n, double v, int decimals)
{
    snprintf(buf, n, "%.*f", decimals, v);
    group_digits(buf, n);
    return buf;
}

char *exp_format_interval(char *buf, size_t n, double mean, double half, const char *unit, const char *plus_minus)
{
    char a[64], b[64];
    double size = fmax(fabs(mean), half);
    if (!isfinite(mean) || !isfinite(half) || half < 0 || size >= 1e15) return exp_format_value(buf, n, mean, unit);
    if (half <= 1e-9 * fabs(mean)) {
        exp_format_value(a, sizeof a, mean, unit);
        size_t number = strcspn(a, " ");
        snprintf(buf, n, "%.*s %s 0%s", (int)number, a, plus_minus, a + number);
        return buf;
    }
    struct shown_unit u = unit_for(size, unit);
    int decimals = decimals_for(half / u.scale);
    double least = pow(10, -decimals), h = half / u.scale;
    if (h < least) h = least; /* never narrower than it is */
    snprintf(buf, n, "%s %s %s%s%s", grouped(a, sizeof a, mean / u.scale, decimals), plus_minus,
             grouped(b, sizeof b, h, decimals), u.gap, u.text);
    return buf;
}

char *exp_format_range(char *buf, size_t n, double lo, double hi, const char *unit)
{
    char a[64], b[64];
    double size = fmax(fabs(lo), fabs(hi)), width = hi - lo;
    if (!isfinite(lo) || !isfinite(hi)) {
        snprintf(buf, n, "-");
        return buf;
    }
    if (!(width > 1e-9 * size) || size >= 1e15) {
        snprintf(buf, n, "%s .. %s", exp_format_value(a, sizeof a, lo, unit), exp_format_value(b, sizeof b, hi, unit));
        return buf;
    }
    struct shown_unit u = unit_for(size, unit);
    int decimals = decimals_for(width / u.scale);
    snprintf(buf, n, "%s .. %s%s%s", grouped(a, sizeof a, lo / u.scale, decimals),
             grouped(b, sizeof b, hi / u.scale, decimals), u.gap, u.text);
    return buf;
}

/* ------------------------------------------------------------------ reading */
static enum wb_unit unit_kind(const char *unit, double *scale)
{
    *scale = 1;
    if (!strcmp(unit, "s")) {
        *scale = 1e-12;
        return WB_UNIT_TIME;
    }
    return !strcmp(unit, "B/s") ? WB_UNIT_RATE : !strcmp(unit, "B") ? WB_UNIT_SIZE : WB_UNIT_COUNT;
}

bool exp_parse_value(const char *text, size_t n, const char *unit, double *v)
{
    char buf[128], *end;
    const char *why;
    size_t at;
    double scale;
    int64_t i;
    while (n && text[n - 1] == ' ') n--;
    while (n && *text == ' ') text++, n--;
    if (!n || n >= sizeof buf) return false;
    memcpy(buf, text, n);
    buf[n] = 0;
    *v = strtod(buf, &end);
    if (!*end) return isfinite(*v);
    if (!strcmp(end, " %") || !strcmp(end, "%")) {
        *v /= 100;
        return isfinite(*v);
    }
    if (!strcmp(unit, "1/s") && (!strcmp(end, " /s") || !strcmp(end, "/s"))) return isfinite(*v);
    enum wb_unit kind = unit_kind(unit, &scale);
    if (kind == WB_UNIT_COUNT || wb_parse_quantity(buf, kind, &i, &why, &at)) return false;
    *v = (double)i * scale;
    return true;
}

/* ------------------------------------------------------------------ texts */
size_t exp_text_sequence(const void *text)
{
    const unsigned char *s = text;
    static const struct {
        unsigned char mask, lead;
        uint32_t min;
    } form[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < 4; n++) {
        if ((s[0] & form[n].mask) != form[n].lead) continue;
        uint32_t c = s[0] & (uint32_t)(unsigned char)~form[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((s[i] & 0xc0) != 0x80) return 0;
            c = c << 6 | (s[i] & 0x3fu);
        }
        return c < form[n].min || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n + 1;
    }
    return 0;
}

char *exp_text_utf8(const char *text)
{
    char *out = take(3 * strlen(text) + 1), *o = out;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = exp_text_sequence(p);
        if (n)
            memcpy(o, p, n);
        else
            memcpy(o, "\xef\xbf\xbd", 3);
        o += n ? n : 3;
        p += n ? n : 1;
    }
    *o = 0;
    return out;
}

size_t exp_text_columns(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* C0, DEL and C1 controls (C1 are two bytes in UTF-8), and the bidirectional overrides that reorder a line. */
bool exp_text_is_control(const void *sequence, size_t n)
{
    const unsigned char *p = sequence;
    if (n == 1) return *p < 0x20 || *p == 0x7f;
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0;
    return n == 3 && p[0] == 0xe2 &&
           ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

char *exp_text_terminal(const char *text, size_t columns)
{
    char *out = take(strlen(text) + 4), *o = out, *cut = out;
    size_t used = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; used++) {
        size_t n = exp_text_sequence(p);
        if (columns && used == columns) {
            strcpy(cut, "...");
            return out;
        }
        if (columns && used + 3 == columns) cut = o;
        if (!n || exp_text_is_control(p, n)) {
            *o++ = *p == '\n' || *p == '\t' ? ' ' : '?';
        } else {
            memcpy(o, p, n);
            o += n;
        }
        p += n ? n : 1;
    }
    *o = 0;
    return out;
}

char *exp_text_csv(const char *text)
{
    bool formula = *text && strchr("=+-@\t\r|%", *text), quote = formula || strpbrk(text, ",\"\r\n") || *text == ' ';
    char *out = take(2 * strlen(text) + 4), *o = out;
    if (quote) *o++ = '"';
    if (formula) *o++ = '\'';
    for (size_t n; *text; text += WB_MAX(n, 1u)) {
        n = exp_text_sequence(text);
        if (n && exp_text_is_control(text, n) && !strchr("\t\r\n", *text)) {
            *o++ = '?';
            continue;
        }
        if (*text == '"') *o++ = '"';
        memcpy(o, text, WB_MAX(n, 1u));
        o += WB_MAX(n, 1u);
    }
    if (quote) *o++ = '"';
    *o = 0;
    return out;
}

char *exp_text_markdown(const char *text)
{
    char *clean = exp_text_utf8(text), *out = take(6 * strlen(clean) + 1), *o = out;
    for (const char *p = clean; *p; p++) {
        size_t n = exp_text_sequence(p);
        if (n > 1 && exp_text_is_control(p, n)) {
            *o++ = '?';
            p += n - 1;
        } else if (*p == '<' || *p == '>' || *p == '&')
            o = stpcpy(o, *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : "&amp;");
        else if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *o++ = ' ';
        else {
            if (strchr("\\`*_[]|!~#$", *p)) *o++ = '\\';
            *o++ = *p;
        }
    }
    *o = 0;
    free(clean);
    return out;
}

void exp_put_text(FILE *out, char *(*safe)(const char *), const char *text)
{
    char *s = safe(text ? text : "");
    fputs(s, out);
    free(s);
}

int exp_stream_state(FILE *out)
{
    errno = 0;
    return fflush(out) || ferror(out) ? -(errno ? errno : EIO) : 0;
}
