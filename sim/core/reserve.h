/*
 * reserve.h - memory for the worst case that costs only what is used of it.
 *
 * Address space straight from the system, zeroed; a page of it becomes memory when it is first written. Pools whose
 * bound is far above what they ever hold (deep parts of stacks, overflow of caches and lines) live here and hand out
 * what was given back before what is fresh. One owner; nothing is ever moved.
 */
#ifndef WB_CORE_RESERVE_H
#define WB_CORE_RESERVE_H

#include "wakebal/base.h"

/* NULL when the system refuses. Page aligned. */
void *reserve_take(size_t bytes) WB_MUST_USE;
/* mem may be NULL. bytes: as taken. */
void reserve_give(void *mem, size_t bytes);
/* It will be used as a whole, or from its beginning on: the system may use large pages for it (whole pages of what is
 * given; any memory will do). No more than a hint. */
void reserve_dense(void *mem, size_t bytes);
/* How much of it has been touched: bytes of whole pages in memory. 0 when the system does not say. */
size_t reserve_touched(const void *mem, size_t bytes);

#endif
