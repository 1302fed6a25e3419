/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_PLAYER_H
#define WEFT_TESTS_UNIT_PLAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/pages/stream/live_source.h"

struct block;
struct source;
struct trace;

/* Plays the pages of a recorded buffer one after the other, as a running kernel writes them. */
enum { PLAYER_CPUS = 8 };

struct player {
	struct source *file;
	struct block *block[PLAYER_CPUS];
	size_t at[PLAYER_CPUS];
	unsigned stutter; /* the number of empty reads of a CPU before each of its pages */
	unsigned silent[PLAYER_CPUS];
	size_t left; /* number of CPUs that still have pages */
	bool ended[PLAYER_CPUS];
};

/*
 * Makes a live source of a trace's first buffer, fed by the player, which must outlive the source. False after a
 * failure.
 */
bool player_new(struct player *player, struct trace *trace, unsigned stutter, size_t queue_max,
		struct live_times *times, struct source **ret);
void player_release(struct player *player);

#endif
