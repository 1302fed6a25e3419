/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SCHED_MAP_H
#define WEFT_ANALYSIS_SCHED_MAP_H

#include "lib/base/cleanup.h"

#include <stddef.h>

struct event;
struct out;
struct pass;

/*
 * A lane for each CPU, a column for each piece of time: which task had the CPU for the longest part of it. The pieces
 * are as long as the trace needs to fit; where it grows, two become one. A piece knows its longest tasks only: memory
 * is bounded.
 */
struct sched_map;

enum { SCHED_MAP_COLUMNS_MIN = 16, SCHED_MAP_COLUMNS_MAX = 1000 };

/* NULL without memory. */
struct sched_map *sched_map_new(struct pass *pass, size_t columns);
void sched_map_free(struct sched_map *map);
void sched_map_see(struct sched_map *map, const struct event *event);
/* After the last event. */
void sched_map_print(struct sched_map *map, struct out *out);

#endif
