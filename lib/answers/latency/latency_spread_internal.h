/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_SPREAD_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_SPREAD_INTERNAL_H

#include <stdint.h>

#include "lib/answers/latency/latency_split_internal.h"
#include "lib/ground/base/samples.h"
#include "lib/ground/base/u64_map.h"

struct findings;
struct pass;

/*
 * Distributions of all delays and of each of their parts, for comparing two recordings: the longest cases alone only
 * show what happened once. A part is counted in those delays that have it.
 */
struct spreads {
	struct pass *pass;
	struct u64_map by_key; /* struct spread */
};

struct spread {
	struct samples whole, parts[PARTS];
};

/* Borrows the pass. */
void spreads_init(struct spreads *spreads, struct pass *pass);
void spreads_release(struct spreads *spreads);

/* Does nothing unless recordings are compared. */
void spreads_add(struct spreads *spreads, uint64_t key, const struct late *late);

/* Adds a table for the comparison. Each row is named after its key, by call(), and its part. */
void spreads_put(const struct spreads *spreads, const char *name, const char *(*call)(const void *arg, uint64_t key),
		 const void *arg, struct findings *findings);

/* Returns the name of a part. */
const char *latency_part_name(enum part part);

#endif
