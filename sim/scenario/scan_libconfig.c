#include "scan.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

static struct wb_place origin(const struct scan_expanded *x, int line)
{
    struct wb_place at = {NULL, 0, 0, 0};
    for (size_t i = 0; i < x->segments && x->segment[i].line <= line; i++)
        at = (struct wb_place){x->segment[i].file, x->segment[i].file_line + line - x->segment[i].line, 0, 0};
    return at;
}

static bool same_kind(const struct scan_node *n, const config_setting_t *s)
{
    static const int type[][2] = {
        [SCAN_GROUP] = {CONFIG_TYPE_GROUP, -1},
        [SCAN_LIST] = {CONFIG_TYPE_LIST, -1},
        [SCAN_ARRAY] = {CONFIG_TYPE_ARRAY, -1},
        [SCAN_STRING] = {CONFIG_TYPE_STRING, -1},
        [SCAN_INT] = {CONFIG_TYPE_INT, CONFIG_TYPE_INT64},
        [SCAN_FLOAT] = {CONFIG_TYPE_FLOAT, -1},
        [SCAN_BOOL] = {CONFIG_TYPE_BOOL, -1},
    };
    int t = config_setting_type(s);
    bool aggregate = n->kind <= SCAN_ARRAY;
    return (t == type[n->kind][0] || t == type[n->kind][1]) && (!aggregate || (size_t)config_setting_length(s) == n->n);
}

/* The value that counts is libconfig's. An integer that it wraps keeps ours: it is refused wherever it is used. */
static void copy_value(struct arena *a, struct scan_node *n, const config_setting_t *s)
{
    if (n->kind == SCAN_INT && !n->wraps)
        n->num = config_setting_get_int64(s);
    else if (n->kind == SCAN_BOOL)
        n->num = config_setting_get_bool(s);
    else if (n->kind == SCAN_STRING && strcmp(n->text, config_setting_get_string(s)))
        n->text = scan_strdup(a, config_setting_get_string(s), strlen(config_setting_get_string(s)));
}

/* Both trees side by side. Returns the node where they part, or NULL. */
static const struct scan_node *walk(struct arena *a, struct scan_node *root, config_setting_t *s)
{
    struct scan_node *n = root;
    unsigned index[SCAN_DEPTH_MAX + 2] = {0};
    size_t level = 0;
    for (;;) {
        if (!same_kind(n, s)) return n;
        if (n->name && (!config_setting_name(s) || strcmp(n->name, config_setting_name(s)))) return n;
        copy_value(a, n, s);
        if (n->first) {
            index[++level] = 0;
            n = n->first;
            s = config_setting_get_elem(s, 0);
            continue;
        }
        while (n != root && !n->next) {
            n = n->parent;
            s = config_setting_parent(s);
            level--;
        }
        if (n == root) return NULL;
        n = n->next;
        s = config_setting_get_elem(config_setting_parent(s), ++index[level]);
    }
}

int scan_ask_libconfig(struct arena *a, const struct scan_expanded *x, struct scan_node *root, struct wb_diag *d)
{
    config_t c;
    int rc = -1;
    config_init(&c);
    config_set_auto_convert(&c, CONFIG_TRUE);
    if (config_read_string(&c, x->text ? x->text : "") != CONFIG_TRUE) {
        wb_diag_add(d, WB_ERROR, "E102", origin(x, config_error_line(&c)), "write settings as: key = value;",
                    "libconfig does not accept this line: %s", config_error_text(&c));
        goto out;
    }
    const struct scan_node *odd = walk(a, root, config_root_setting(&c));
    if (odd) {
        wb_diag_add(d, WB_ERROR, "E102", odd->at, "write it in the plain form: key = value;",
                    "libconfig understands this otherwise than wakebal does");
        goto out;
    }
    rc = 0;
out:
    config_destroy(&c);
    return rc;
}
