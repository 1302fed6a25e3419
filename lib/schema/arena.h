/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_ARENA_H
#define WEFT_SCHEMA_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory that is freed all at once. Invariant: what was handed out is zeroed, aligned for anything, and stays where it
 * is until arena_release(). No more than `cap` bytes are ever handed out, so that a hostile text cannot eat the machine.
 */
struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t left; /* in the newest chunk */
	size_t used;
	size_t cap;
	bool starved; /* there was no memory: below the cap more should have been handed out */
};

void arena_init(struct arena *arena, size_t cap);
void arena_release(struct arena *arena);

/* NULL when there is no memory or the cap is reached. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t len);

#endif
