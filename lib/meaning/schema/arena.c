// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/arena_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 16384, ALIGNMENT = 16 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(ALIGNMENT) unsigned char data[];
};

void arena_init(struct arena *arena, size_t cap)
{
	*arena = (struct arena){ .cap = cap };
}

void arena_release(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	arena->left = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;

	if (size > arena->cap || arena->cap - size < arena->used)
		return NULL;
	size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!chunk || arena->left < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk) {
			arena->starved = true;
			return NULL;
		}
		chunk->next = arena->chunks;
		chunk->size = room;
		arena->chunks = chunk;
		arena->left = room;
	}
	arena->used += size;
	arena->left -= size;
	/* Most chunks are hardly used, so only allocated bytes are cleared. */
	return memset(chunk->data + (chunk->size - arena->left - size), 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_alloc(arena, bytes);
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;

	if (copy && len)
		memcpy(copy, text, len);
	return copy;
}
