/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_SPREAD_H
#define WEFT_ANALYSIS_LATENCY_SPREAD_H

#include "lib/analysis/latency_split.h"
#include "lib/base/samples.h"
#include "lib/base/u64_map.h"

#include <stdint.h>

struct findings;
struct pass;

/*
 * How long all delays were, and each of their parts, where those of two recordings are compared: the longest ones alone
 * tell what happened once. A part counts where a delay has it.
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

/* Nothing where nothing is compared. */
void spreads_add(struct spreads *spreads, uint64_t key, const struct late *late);

/* Adds a table for the comparison, whose rows are called as `call` says of their key, and as their part. */
void spreads_put(const struct spreads *spreads, const char *name, const char *(*call)(const void *arg, uint64_t key),
		 const void *arg, struct findings *findings);

/* What a part is called. */
const char *latency_part_name(enum part part);

#endif
