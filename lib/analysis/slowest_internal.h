/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_SLOWEST_INTERNAL_H
#define WEFT_ANALYSIS_SLOWEST_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_options;

/*
 * The longest cases of an analysis one by one, the longest first: for who asks what was going on in one of them. The
 * first member of an item is its time, a uint64_t.
 */
struct slowest {
	void *items; /* owned */
	size_t nr, size, most;
	uint64_t longer; /* ns; only cases that lasted longer are kept; 0: all, also those that lasted no time */
};

enum { SLOWEST_MAX = 1000 };

/* `most` 0: none is kept. */
void slowest_init(struct slowest *slowest, size_t size, size_t most, uint64_t longer);
/* As the options say; NULL: none is kept. */
void slowest_init_rows(struct slowest *slowest, size_t size, const struct row_options *rows);
void slowest_release(struct slowest *slowest);

static inline bool slowest_wants(const struct slowest *slowest, uint64_t lasted)
{
	return __builtin_expect(slowest->most != 0, 0) && (!slowest->longer || lasted > slowest->longer);
}

/* Whether such a case is also among the longest up to now: for who has to find out much about it. */
bool slowest_room(const struct slowest *slowest, uint64_t lasted);

/*
 * Makes room for a case: returns an item of zeros but for its time, valid until the next one is added. NULL: it is not
 * among the longest, or memory ran out, and then *ret_failed is set.
 */
void *slowest_add(struct slowest *slowest, uint64_t lasted, bool *ret_failed);

static inline const void *slowest_at(const struct slowest *slowest, size_t index)
{
	return (const char *)slowest->items + index * slowest->size;
}

#endif
