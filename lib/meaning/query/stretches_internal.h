/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_STRETCHES_INTERNAL_H
#define WEFT_MEANING_QUERY_STRETCHES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"

/*
 * Times by owner, a number: a thread, a process. They may be added in any order and overlap; after stretches_end() they
 * are in order, and stretches_cover() may be asked.
 */
struct stretches {
	struct u64_map owners; /* struct stretches_owner */
	size_t count;
};

struct stretches_owner {
	struct stretch {
		uint64_t from, to;
	} * at;
	size_t nr;
};

void stretches_init(struct stretches *stretches);
void stretches_release(struct stretches *stretches);

/* False without memory. */
bool must_check stretches_add(struct stretches *stretches, uint64_t owner, uint64_t from, uint64_t to);
/* The stretch of the owner that was added last ends then. */
void stretches_extend(struct stretches *stretches, uint64_t owner, uint64_t to);
void stretches_end(struct stretches *stretches);

/* Whether the owner has one at a moment from `from` to `to`. */
bool stretches_cover(const struct stretches *stretches, uint64_t owner, uint64_t from, uint64_t to);

#endif
