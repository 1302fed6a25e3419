/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STREAM_SOURCE_H
#define WEFT_STREAM_SOURCE_H

#include "lib/base/cleanup.h"
#include "lib/ring/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * A source hands out the pages of each CPU of one ring buffer, in order, in blocks. The reader of a block owns a
 * reference to it; records borrow from blocks, so whoever keeps records keeps the blocks.
 * Not for several threads: blocks are taken and released by the thread that owns the source.
 */
struct block {
	struct block *next; /* free for its owner to chain with */
	uint8_t *data;
	size_t len;  /* whole pages; the last may be cut short */
	size_t size; /* of the memory */
};

/* Blocks in order. Whoever holds a chain gives its blocks back by source_release(). */
struct chain {
	struct block *first, **tail;
	size_t size; /* bytes of memory */
};

struct source;

struct source_ops {
	/* 1 and the next block of that CPU, 0 at the end, -errno. A live source: -EAGAIN while it has none yet. */
	int (*next)(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail);
	/* Makes next() continue with the block that may hold the first record at or after raw time `ts`. May be NULL. */
	int (*seek)(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail);
	/*
	 * Of a live source, else NULL. No record that next() will hand out on this CPU is older than this raw time.
	 * `alone`: a record that old waits no longer for the one that follows it on its CPU.
	 */
	uint64_t (*bound)(const struct source *source, size_t cpu_index, bool alone);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct page_shape shape;
	size_t nr_cpus;
	const uint32_t *cpus; /* their numbers in the kernel, ascending */
	struct block
		*spare; /* released blocks, to be used again: the oldest first, which other cores' caches have left */
	struct block **spare_tail; /* valid while there are spare ones */
	size_t spare_size;         /* bytes of memory */
};

/* A block of at least `size` bytes: a spare one or a new one; NULL without memory. */
struct block *source_block(struct source *source, size_t size);
void source_release(struct source *source, struct block *block);
void source_free(struct source *source);

#endif
