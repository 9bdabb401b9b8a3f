/*
 * keys_index.h - walking the key table: which keys are valid where.
 *
 * A *pattern* is a path as rows write it: no list indexes, "*" where any name goes. A *selector* is the value that
 * rows' `only` refers to: a workload's kind, the scheduler family of kernel and policy.
 */
#ifndef WB_SCENARIO_KEYS_INDEX_H
#define WB_SCENARIO_KEYS_INDEX_H

#include "wakebal/keys.h"

#define KEYS_PATTERN_MAX 256

/* Does a row lie below this pattern? "" = the top level. */
bool keys_is_group(const struct wb_key_registry *r, const char *pattern);
/* Pattern of the child `name` of `pattern`: literal if some row has it, else "*". False: no such key. */
bool keys_child(const struct wb_key_registry *r, const char *pattern, const char *name, char child[KEYS_PATTERN_MAX]);
/* Names valid below `pattern` for `selector` (NULL = any), sorted, no doubles. Returns how many there are; fills up
 * to max. They point into *text, which is malloc'd; the caller frees it. */
size_t keys_children(const struct wb_key_registry *r, const char *pattern, const char *selector, const char **name,
                     size_t max, char **text);
/* Does `only` (space separated, NULL = all) hold `selector` (NULL = none known)? */
bool keys_only_holds(const char *only, const char *selector);
/* Which versions have a key: "2.6.23 to 6.1" by its row, else from the first to the last that the policies named by its
 * row's `only` have (their policy.version). Empty when nobody says. Returns buf. */
char *keys_versions(const struct wb_key_registry *r, const struct wb_key *row, char *buf, size_t n);
/* Is the word in a space separated list? */
bool keys_word_in(const char *words, const char *word, size_t len);
/* The key whose value selects among rows of this pattern's first segment: "kind" (of the entry) for workload,
 * "kernel.scheduler" for kernel and policy; NULL: rows there have no `only`. */
const char *keys_selector_key(const char *pattern);

/* Words that an enum may be: its own choices, or the selectors that it chooses among. Owned by the registry. */
const char *keys_choices(struct wb_key_registry *r, const struct wb_key *row);

#endif
