/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_NOW_H
#define WEFT_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns, for durations inside this process; not comparable with the times of a trace. */
static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The time of day in ns since 1970, UTC. */
static inline int64_t now_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
