/* reserve.c - see reserve.h. */
#include "reserve.h"

#include <sys/mman.h>
#include <unistd.h>

void *reserve_take(size_t bytes)
{
    void *mem = mmap(NULL, WB_MAX(bytes, (size_t)1), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mem == MAP_FAILED ? NULL : mem;
}

void reserve_give(void *mem, size_t bytes)
{
    if (mem) WB_CHECK(!munmap(mem, WB_MAX(bytes, (size_t)1)), "a reserve of %zu bytes cannot be given back", bytes);
}

void reserve_dense(void *mem, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)mem + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)mem + bytes) & ~(page - 1);
    if (from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

size_t reserve_touched(const void *mem, size_t bytes)
{
    enum { STEP = 4096 };
    unsigned char in[STEP];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, touched = 0;
    for (size_t at = 0; at < pages; at += STEP) {
        size_t n = WB_MIN(pages - at, (size_t)STEP);
        if (mincore((char *)(uintptr_t)mem + at * page, n * page, in)) return 0;
        for (size_t i = 0; i < n; i++) touched += in[i] & 1;
    }
    return touched * page;
}
