/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_MAP_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_MAP_INTERNAL_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct out;
struct pass;

/*
 * A lane for each CPU, with a column for each piece of time: which task had the CPU for most of it. Pieces are as long
 * as needed for the whole trace to fit: when the trace grows, two pieces become one. Memory is bounded, because a piece
 * keeps only the tasks that ran longest in it.
 */
struct sched_map;

enum { SCHED_MAP_COLUMNS_MIN = 16, SCHED_MAP_COLUMNS_MAX = 1000 };

/* Returns NULL when memory runs out. */
struct sched_map *sched_map_new(struct pass *pass, size_t columns);
void sched_map_free(struct sched_map *map);
void sched_map_see(struct sched_map *map, const struct event *event);
/* Call it after the last event. */
void sched_map_print(struct sched_map *map, struct out *out);

#endif
