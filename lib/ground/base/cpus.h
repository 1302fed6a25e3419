/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_CPUS_H
#define WEFT_GROUND_BASE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * A set of CPU numbers. Plain value: copy it, nothing to release; all zero is the empty set.
 * Invariant: no CPU of CPUS_MAX or above is ever in it (the largest NR_CPUS that any kernel is built with).
 */
enum { CPUS_MAX = 8192 };

struct cpus {
	uint64_t bits[CPUS_MAX / 64];
};

static inline bool cpus_has(const struct cpus *cpus, uint32_t cpu)
{
	return cpu < CPUS_MAX && cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

/* False when the number is too large. */
static inline bool cpus_add(struct cpus *cpus, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return false;
	cpus->bits[cpu / 64] |= (uint64_t)1 << cpu % 64;
	return true;
}

/* The first CPU of the set that is >= cpu, or -1: for (int c = cpus_next(s, 0); c >= 0; c = cpus_next(s, c + 1)). */
int cpus_next(const struct cpus *cpus, int cpu);
uint32_t cpus_count(const struct cpus *cpus);
void cpus_keep(struct cpus *cpus, const struct cpus *others);

/*
 * "0-3,7" as in /sys/devices/system/cpu/online. A hex mask is accepted where it cannot be a list: with a leading "0x",
 * with a letter a-f, or in comma groups of exactly eight digits as tracing_cpumask prints them. "all" and "-1" mean
 * every CPU. -EINVAL with the invalid part in `fail`; an empty set is also an error.
 */
int must_check cpus_parse(const char *text, struct cpus *ret, struct fail *fail);

/* Prints "0-3,7"; cpus_mask() prints "f,ffffffff" as tracing_cpumask takes it. False: no memory. */
bool cpus_list(const struct cpus *cpus, struct buf *buf);
bool cpus_mask(const struct cpus *cpus, struct buf *buf);

#endif
