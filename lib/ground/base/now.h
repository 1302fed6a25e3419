/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_NOW_H
#define WEFT_GROUND_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* Signed and wide, so that a product of it is neither cut nor turned positive. */
#define NS_PER_S INT64_C(1000000000)
enum { NS_PER_US = 1000, NS_PER_MS = 1000000 };

/* CLOCK_MONOTONIC in ns, for durations inside this process; not comparable with the times of a trace. */
static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The time of day in ns since 1970, UTC. */
static inline int64_t now_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

#endif
