/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_SUMS_INTERNAL_H
#define WEFT_ANSWERS_WHY_WHY_SUMS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/why/why_walk_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/samples.h"
#include "lib/ground/base/u64_map.h"

/* Time of links that are the same but for when they were: those of a task by its name, with a state and a cause. */
struct why_part {
	struct why_link link;
	uint64_t ns, links;
	uint64_t longest, longest_at;
	bool several; /* several tasks have that name; the PID is one of them */
};

/* Rows of a table: parts of a task and a state, whichever the causes, where a state has many. */
struct why_sums {
	struct why_row {
		struct why_part part;
		struct why_share {
			uint32_t cause;
			uint64_t ns;
		} * shares; /* of a state that has many causes, as all tasks behind which a task waited */
		size_t nr_shares;
	} * rows;
	size_t nr;
	struct labels keys; /* the index of a row */
	uint64_t ns, links, unknown;
	bool failed;
};

/* Whether rows with this state have a share for each cause. */
static inline bool why_has_shares(uint8_t state)
{
	return state == WHY_WAITED || state == WHY_INTERRUPTED;
}

void why_sums_init(struct why_sums *sums);
void why_sums_release(struct why_sums *sums);
void why_sums_part(struct why_sums *sums, const struct why_part *part);
void why_sums_path(struct why_sums *sums, const struct why_path *path);
/* The largest shares of each row first; and the largest rows. */
void why_sums_sort_shares(struct why_sums *sums);
void why_sums_sort(struct why_sums *sums);
/* The row in which the link would be counted; NULL: there is none. Not after why_sums_sort(). */
const struct why_row *why_sums_find(struct why_sums *sums, const struct why_link *link);

/*
 * The parts of any number of intervals, by how long these lasted: in bins, of which each is at most 1/64 wider than it
 * is long. So one can tell, when all have been seen, how the slowest ones differ from the others. Memory grows with the
 * number of different parts, up to a bound: from then on causes and names are no longer told apart.
 */
enum { WHY_BINS = 64 * 64, WHY_PARTS_MAX = 1 << 16, WHY_CELLS_MAX = 1 << 20 };

struct why_many {
	struct why_bin {
		uint64_t nr, ns;
	} * bins;
	struct labels keys;
	struct why_part *parts; /* by the number of the key */
	size_t nr_parts;
	struct u64_map cells; /* by bin and part: uint64_t ns */
	uint64_t nr, ns;
	uint64_t folded; /* links whose name and cause were not told apart */
	bool failed;
};

void why_many_init(struct why_many *many);
void why_many_release(struct why_many *many);
void why_many_add(struct why_many *many, const struct why_path *path, uint64_t lasted);

/*
 * How long each part took in each interval that has it, for comparisons of recordings. Rows have names that mean the
 * same in each of them.
 */
struct why_lengths {
	struct labels names; /* the index of a row */
	struct why_length {
		struct why_link link; /* one of them */
		struct samples samples;
	} * rows;
	size_t nr;
	bool failed;
};

void why_lengths_init(struct why_lengths *lengths);
void why_lengths_release(struct why_lengths *lengths);

/* Two groups of intervals: the slowest ones, and all others. */
struct why_groups {
	struct why_group {
		uint64_t nr, ns;
		struct why_sums sums;
	} slow, others;
};

/*
 * Divides them where the slowest `per_million` of all begin, or below it, where one bin does not show who is slower.
 * Without `per_million` all are slow. why_groups_release() is called even where it fails, which is without memory.
 */
bool must_check why_many_divide(const struct why_many *many, uint32_t per_million, struct why_groups *ret);
void why_groups_release(struct why_groups *groups);

#endif
