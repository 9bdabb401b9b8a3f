/* report_html.c - text, tables and the frame of the page; see report_inner.h. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "report_inner.h"
#include "sha256.h"

#define SENTENCE 60

/* ------------------------------------------------------------------ text */
static void put_byte(FILE *f, unsigned char c)
{
    switch (c) {
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    case '&': fputs("&amp;", f); break;
    case '"': fputs("&quot;", f); break;
    case '\'': fputs("&#39;", f); break;
    default: fputc(c < 0x20 || c == 0x7f ? ' ' : c, f);
    }
}

void html_text_cut(FILE *f, const char *text, size_t most)
{
    char *clean = exp_text_utf8(text);
    size_t n = 0;
    for (const char *p = clean; *p;) {
        size_t length = WB_MAX(exp_text_sequence(p), (size_t)1);
        if (n++ >= most) {
            fputs("...", f);
            break;
        }
        bool control = length > 1 && exp_text_is_control(p, length);
        if (control) fputc(' ', f);
        for (size_t i = 0; i < length && !control; i++) put_byte(f, (unsigned char)p[i]);
        p += length;
    }
    free(clean);
}

void html_text(FILE *f, const char *text)
{
    html_text_cut(f, text, 20000);
}

static void put_formatted(FILE *f, const char *fmt, va_list ap)
{
    char *text = wb_vtext(fmt, ap);
    html_text(f, text);
    free(text);
}

/* ------------------------------------------------------------------ page */
/* Only this script may run: its digest as the content policy wants it. */
static void put_digest(FILE *f, const char *script)
{
    static const char code[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[65], two[3] = "";
    unsigned char raw[33] = {0};
    sha256_hex(script, strlen(script), hex);
    for (size_t i = 0; i < 32; i++) {
        memcpy(two, hex + 2 * i, 2);
        raw[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    for (size_t i = 0; i < 33; i += 3) {
        uint32_t v = (uint32_t)raw[i] << 16 | (uint32_t)raw[i + 1] << 8 | raw[i + 2];
        fprintf(f, "%c%c%c%c", code[v >> 18], code[v >> 12 & 63], code[v >> 6 & 63], i == 30 ? '=' : code[v & 63]);
    }
}

void html_head(struct html *h, const char *title, const char *version)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-",
          h->f);
    put_digest(h->f, report_js);
    fputs("'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"wakebal ",
          h->f);
    html_text(h->f, version);
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>", h->f);
    html_text_cut(h->f, title, 120);
    fprintf(h->f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<p class=\"dim\">wakebal report</p>\n<h1>",
            report_css);
    html_text_cut(h->f, title, 300);
    fputs("</h1>\n</header>\n<main>\n", h->f);
}

void html_foot(struct html *h, const char *version)
{
    fputs("</main>\n<footer><p class=\"dim\">Made by wakebal ", h->f);
    html_text(h->f, version);
    fprintf(h->f,
            ", a simulator: figures are of the model unless they are called measured or published.</p></footer>\n"
            "<script>%s</script>\n</body>\n</html>\n",
            report_js);
}

void html_heading(struct html *h, const char *id, const char *text)
{
    if (id)
        fprintf(h->f, "<h2 id=\"%s\">", id);
    else
        fputs("<h3>", h->f);
    html_text_cut(h->f, text, 300);
    fputs(id ? "</h2>\n" : "</h3>\n", h->f);
}

void html_para(struct html *h, const char *class, const char *fmt, ...)
{
    va_list ap;
    fprintf(h->f, *class ? "<p class=\"%s\">" : "<p>%s", class);
    va_start(ap, fmt);
    put_formatted(h->f, fmt, ap);
    va_end(ap);
    fputs("</p>\n", h->f);
}

void html_facts_begin(struct html *h)
{
    fputs("<dl>\n", h->f);
}

void html_fact(struct html *h, const char *term, const char *fmt, ...)
{
    va_list ap;
    fputs("<dt>", h->f);
    html_text(h->f, term);
    fputs("</dt><dd>", h->f);
    va_start(ap, fmt);
    put_formatted(h->f, fmt, ap);
    va_end(ap);
    fputs("</dd>\n", h->f);
}

void html_facts_end(struct html *h)
{
    fputs("</dl>\n", h->f);
}

void html_fold_begin(struct html *h, const char *summary)
{
    fputs("<details><summary>", h->f);
    html_text(h->f, summary);
    fputs("</summary>\n", h->f);
}

void html_fold_end(struct html *h)
{
    fputs("</details>\n", h->f);
}

/* ------------------------------------------------------------------ tables */
/* A heading may break behind the dots of a key. */
static void heading(struct html *h, const char *text, size_t n)
{
    char *own = strndup(text, n), *clean = own ? exp_text_utf8(own) : NULL;
    WB_MEMORY(clean, "out of memory for a heading");
    for (const char *p = clean; *p; p++) {
        put_byte(h->f, (unsigned char)*p);
        if (*p == '.') fputs("<wbr>", h->f);
    }
    free(clean);
    free(own);
}

void html_table_begin(struct html *h, const char *caption, const char *columns)
{
    fputs("<div class=\"scroll\"><table><caption>", h->f);
    html_text(h->f, caption);
    fputs("</caption>\n<thead><tr>", h->f);
    for (const char *p = columns; *p;) {
        bool number = *p == '#';
        size_t n = strcspn(p += number, "|");
        fprintf(h->f, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        heading(h, p, n);
        fputs("</th>", h->f);
        p += n + (p[n] == '|');
    }
    fputs("</tr></thead>\n<tbody>\n", h->f);
}

void html_table_end(struct html *h)
{
    fputs("</tbody></table></div>\n", h->f);
}

void html_row_begin(struct html *h, const char *class)
{
    fprintf(h->f, *class ? "<tr class=\"%s\">" : "<tr>%s", class);
}

void html_row_end(struct html *h)
{
    fputs("</tr>\n", h->f);
}

/* Sentences get room: squeezed by the numbers beside them they would make rows as high as pictures. */
void html_cell(struct html *h, const char *text)
{
    fputs(strlen(text) > SENTENCE ? "<td class=\"long\">" : "<td>", h->f);
    html_text_cut(h->f, text, 1000);
    fputs("</td>", h->f);
}

void html_cell_value(struct html *h, double v, const char *unit)
{
    char buf[64];
    if (isfinite(v))
        fprintf(h->f, "<td class=\"n\" data-v=\"%.12g\">", v);
    else
        fputs("<td class=\"n\">", h->f);
    html_text(h->f, doc_format(buf, sizeof buf, v, unit));
    fputs("</td>", h->f);
}

void html_cell_range(struct html *h, double lo, double hi, const char *unit)
{
    char text[128];
    if (!isfinite(lo) || !isfinite(hi)) {
        fputs("<td class=\"n\">-</td>", h->f);
        return;
    }
    fprintf(h->f, "<td class=\"n\" data-v=\"%.12g\">", hi - lo);
    html_text(h->f, exp_format_range(text, sizeof text, lo, hi, unit));
    fputs("</td>", h->f);
}

void html_cell_verdict(struct html *h, const char *word, const char *class)
{
    fprintf(h->f, *class ? "<td class=\"%s\">" : "<td>%s", class);
    html_text(h->f, word);
    fputs("</td>", h->f);
}

/* ------------------------------------------------------------------ documents */
const char *doc_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

double doc_number(const json_t *o, const char *key)
{
    return number(json_object_get(o, key));
}

double doc_number_at(const json_t *o, const char *key, size_t i)
{
    return number(json_array_get(json_object_get(o, key), i));
}

char *doc_value_text(const json_t *v, char *buf, size_t n)
{
    if (json_is_string(v))
        snprintf(buf, n, "%s", json_string_value(v));
    else if (json_is_boolean(v))
        snprintf(buf, n, "%s", json_is_true(v) ? "true" : "false");
    else if (json_is_number(v))
        snprintf(buf, n, "%.12g", json_number_value(v));
    else
        snprintf(buf, n, "-");
    return buf;
}

char *doc_format(char *buf, size_t n, double v, const char *unit)
{
    return exp_format_value(buf, n, v, unit);
}
