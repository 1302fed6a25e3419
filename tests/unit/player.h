/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_PLAYER_H
#define WEFT_TESTS_UNIT_PLAYER_H

#include "lib/stream/live_source.h"

#include <stdbool.h>
#include <stddef.h>

struct block;
struct source;
struct trace;

/* The pages of a recorded buffer, which come one after the other, as those of a running kernel do. */
enum { PLAYER_CPUS = 8 };

struct player {
	struct source *file;
	struct block *block[PLAYER_CPUS];
	size_t at[PLAYER_CPUS];
	unsigned stutter; /* each CPU has nothing that often before each of its pages */
	unsigned silent[PLAYER_CPUS];
	size_t left; /* CPUs that have not ended */
	bool ended[PLAYER_CPUS];
};

/* The live source of a trace's first buffer, fed by the player, which outlives it. False: it cannot be made. */
bool player_new(struct player *player, struct trace *trace, unsigned stutter, size_t queue_max,
		struct live_times *times, struct source **ret);
void player_release(struct player *player);

#endif
