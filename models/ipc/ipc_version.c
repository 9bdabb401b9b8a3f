/* ipc_version.c - versions in the texts of kernel.pipe and its like as numbers that can be compared. */
#include "skb.h"

bool ipc_parse_version(const char *text, uint32_t *version)
{
    uint32_t part[3] = {0, 0, 0};
    const char *c = text;
    for (size_t n = 0; n < 3; n++) {
        if (*c < '0' || *c > '9') return false;
        while (*c >= '0' && *c <= '9') {
            part[n] = part[n] * 10 + (uint32_t)(*c++ - '0');
            if (part[n] > 1023) return false;
        }
        if (!*c) break;
        if (*c++ != '.' || n == 2) return false;
    }
    *version = IPC_VERSION(part[0], part[1], part[2]);
    return true;
}
