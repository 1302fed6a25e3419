/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_APART_H
#define WEFT_GROUND_BASE_APART_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Memory that shares no cache line with other memory: for what one thread writes for each event while another thread
 * works on something else. Two threads that write to the same line make each other wait, although they share nothing.
 */
enum { APART_LINE = 64 };

/* `nr` items of zeros, or NULL. */
static inline void *apart_calloc(size_t nr, size_t size)
{
	size_t around = (APART_LINE + size - 1) / size;
	char *memory = calloc(nr + 2 * around, size);

	return memory ? memory + APART_LINE : NULL;
}

/* `items` may be NULL. */
static inline void apart_free(void *items)
{
	if (items)
		free((char *)items - APART_LINE);
}

#endif
