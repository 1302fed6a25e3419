/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_CPU_GAPS_H
#define WEFT_MEANING_FOLLOW_CPU_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"

/*
 * Which CPUs lost events, and whether they did since the consumer last looked: what that CPU has lost in the meantime
 * may be about a task that comes to it.
 */
struct cpu_gaps {
	struct u64_map last; /* by CPU: uint64_t, the number of its last gap */
	uint64_t nr;         /* gaps of all CPUs so far */
};

static inline void cpu_gaps_init(struct cpu_gaps *gaps)
{
	u64_map_init(&gaps->last, sizeof(uint64_t));
	gaps->nr = 0;
}

static inline void cpu_gaps_release(struct cpu_gaps *gaps)
{
	u64_map_release(&gaps->last);
}

/* Without memory `last` is starved. */
static inline void cpu_gaps_add(struct cpu_gaps *gaps, uint16_t cpu)
{
	uint64_t *last = u64_map_add(&gaps->last, cpu);

	gaps->nr++;
	if (last)
		*last = gaps->nr;
}

/* Whether the CPU lost events after the first `nr` gaps. */
static inline bool cpu_gaps_since(const struct cpu_gaps *gaps, uint16_t cpu, uint64_t nr)
{
	const uint64_t *last = u64_map_find(&gaps->last, cpu);

	return last && *last > nr;
}

#endif
