#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_build.h"

#define VALUE_SHOWN 4096 /* bytes of one value that are printed: a title may be 1 MB */

static const char *const status_name[] = {
    [WB_STATUS_NONE] = "",    [WB_MEASURED] = "measured", [WB_QUOTED] = "quoted",
    [WB_DERIVED] = "derived", [WB_ASSUMED] = "assumed",   [WB_STATUS_USER] = "user"};

const char *wb_status_name(enum wb_status s)
{
    WB_CHECK((size_t)s < WB_ARRAY_SIZE(status_name), "status %d", (int)s);
    return status_name[s];
}

/* User text on one line: control characters never reach the terminal. */
static void put_escaped(FILE *out, const char *s, size_t max)
{
    for (size_t i = 0; s[i]; i++) {
        unsigned char c = (unsigned char)s[i];
        if (i >= max) {
            fputs("...", out);
            return;
        }
        if (c == '\n')
            fputs("\\n", out);
        else if (c == '\t')
            fputs("\\t", out);
        else if (c == '"')
            fputs("\\\"", out);
        else if (c == '\\')
            fputs("\\\\", out);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out, "\\x%02x", c);
        /* C1 controls in UTF-8 */
        else if (c == 0xc2 && (unsigned char)s[i + 1] >= 0x80 && (unsigned char)s[i + 1] < 0xa0) {
            fprintf(out, "\\xc2\\x%02x", (unsigned char)s[i + 1]);
            i++;
        } else
            fputc(c, out);
    }
}

static bool is_bare(enum wb_key_type t)
{
    return t == WB_KEY_INT || t == WB_KEY_BOOL || t == WB_KEY_GROUPS || t == WB_KEY_TABLE;
}

static void put_list(FILE *out, const struct cfg_entry *e, size_t max)
{
    fputs("[", out);
    for (size_t i = 0; i < e->v.n; i++) {
        fputs(i ? ", " : " ", out);
        if (e->row->type == WB_KEY_TABLE) {
            fprintf(out, "%" PRId64, e->v.ints[i]);
            continue;
        }
        fputc('"', out);
        put_escaped(out, e->v.strs[i], max);
        fputc('"', out);
    }
    fputs(" ]", out);
}

static void put_value(FILE *out, const struct cfg_entry *e, size_t max)
{
    char buf[128];
    enum wb_key_type t = e->row->type;
    if (t == WB_KEY_STRINGS || t == WB_KEY_TABLE) {
        put_list(out, e, max);
    } else if (e->v.text) {
        fputc('"', out);
        put_escaped(out, e->v.text, max);
        fputc('"', out);
    } else {
        fprintf(out, is_bare(t) ? "%s" : "\"%s\"", value_text(e->row, &e->v, buf, sizeof buf));
    }
}

static void put_origin(FILE *out, const struct cfg_entry *e)
{
    const struct wb_origin *o = &e->origin;
    char lo[64], hi[64];
    enum wb_unit unit = e->v.cycles ? WB_UNIT_CYCLES : config_unit(e->row->type, e->row->unit);
    if (o->place.file) {
        if (strcmp(o->from, "file")) fprintf(out, "%s ", o->from);
        put_escaped(out, o->place.file, VALUE_SHOWN);
        fprintf(out, ":%d:%d", o->place.line, o->place.col);
    } else {
        fputs(o->from, out);
    }
    if (o->status != WB_STATUS_NONE) fprintf(out, "; %s", status_name[o->status]);
    if (o->range_lo <= o->range_hi)
        fprintf(out, " %s .. %s", wb_format_exact(lo, sizeof lo, o->range_lo, unit),
                wb_format_exact(hi, sizeof hi, o->range_hi, unit));
    if (o->source) {
        fputs("; ", out);
        put_escaped(out, o->source, VALUE_SHOWN);
    }
}

char *wb_cfg_print(const struct wb_config *c)
{
    char *text = NULL;
    size_t len, width = 0;
    FILE *out = open_memstream(&text, &len);
    WB_MEMORY(out, "out of memory");
    for (size_t i = 0; i < c->n; i++) width = WB_MAX(width, strlen(c->entry[i].path));
    width = WB_MIN(width, (size_t)40);
    fputs("# effective configuration of ", out);
    put_escaped(out, c->label ? c->label : "?", VALUE_SHOWN);
    fputs("\n", out);
    for (size_t i = 0; i < c->n; i++) {
        fprintf(out, "%-*s = ", (int)width, c->entry[i].path);
        put_value(out, &c->entry[i], VALUE_SHOWN);
        fputs("   # ", out);
        put_origin(out, &c->entry[i]);
        fputs("\n", out);
    }
    fclose(out);
    WB_MEMORY(text, "out of memory");
    return text;
}

char *wb_cfg_canonical(const struct wb_config *c)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    WB_MEMORY(out, "out of memory");
    for (size_t i = 0; i < c->n; i++) {
        fprintf(out, "%s = ", c->entry[i].path);
        put_value(out, &c->entry[i], SIZE_MAX);
        fputs("\n", out);
    }
    fclose(out);
    WB_MEMORY(text, "out of memory");
    return text;
}
