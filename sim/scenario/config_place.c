#include "config_build.h"

struct wb_place wb_cfg_place_in(const struct wb_config *c, const char *path, size_t i, size_t offset, size_t len)
{
    const struct cfg_entry *e = config_find(c, path);
    const struct scan_node *n = e ? e->node : NULL;
    if (!e) return (struct wb_place){NULL, 0, 0, 0};
    if (n && (n->kind == SCAN_LIST || n->kind == SCAN_ARRAY))
        for (n = n->first; n && i; i--) n = n->next;
    return n && n->kind == SCAN_STRING ? scan_place_in(n, offset, len) : e->origin.place;
}
