/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_ARENA_INTERNAL_H
#define WEFT_MEANING_SCHEMA_ARENA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory that is freed all at once.
 * Invariant: an allocation is zeroed, aligned for any type, and stays in place until arena_release(). At most `cap`
 * bytes are handed out, so that a hostile text cannot use up the memory.
 */
struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t left; /* in the newest chunk */
	size_t used;
	size_t cap;
	bool starved; /* an allocation below the cap failed */
};

void arena_init(struct arena *arena, size_t cap);
void arena_release(struct arena *arena);

/* NULL when there is no memory or the cap is reached. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t len);

#endif
