// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/populate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* For less memory the call costs as much as it saves. */
enum { POPULATE_LEAST = 8 << 10 };

/*
 * From and up to this size memory that grows is copied into new memory, all of which is populated: page by page that
 * would be a fault for each page of the copy. Larger memory is moved by the kernel, without a copy.
 */
enum { COPIED_LEAST = 8 << 10, COPIED_MOST = 512 << 10 };

/* At most so much is populated that nobody may ever use. */
enum { AHEAD_MOST = 512 << 10 };

void populate(void *memory, size_t size)
{
	/* Kernels before 5.14 cannot. */
#ifdef MADV_POPULATE_WRITE
	size_t before = (uintptr_t)memory & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	if (memory && size >= POPULATE_LEAST)
		(void)madvise((char *)memory - before, before + size, MADV_POPULATE_WRITE);
#else
	(void)memory;
	(void)size;
#endif
}

static size_t ahead_of(size_t used, size_t size)
{
	return size - used < AHEAD_MOST ? size - used : AHEAD_MOST;
}

void *populate_grown(void *memory, size_t used, size_t size)
{
	char *grown;

	if (size < COPIED_LEAST || size > COPIED_MOST) {
		grown = realloc(memory, size);
		if (grown && size >= COPIED_LEAST)
			populate(grown + used, ahead_of(used, size));
		return grown;
	}
	grown = malloc(size);
	if (!grown)
		return NULL;
	populate(grown, used + ahead_of(used, size));
	if (used)
		memcpy(grown, memory, used);
	free(memory);
	return grown;
}
