/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_SOURCE_H
#define WEFT_PAGES_STREAM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct fail;

/*
 * A source hands out the pages of each CPU of one ring buffer, in order, in blocks. The reader of a block owns a
 * reference to it; records borrow from blocks, so a reader that keeps records keeps their blocks. Not thread-safe:
 * blocks are taken and released by the thread that owns the source.
 */
struct block {
	struct block *next; /* for its owner's use: the next block of a chain */
	uint8_t *data;
	size_t len;  /* whole pages; the last one may be cut short */
	size_t size; /* bytes of memory */
	/* set by the source: where the pages were, for source_ops::place(); whether the CPU has pages before them */
	uint64_t piece, offset;
	bool later;
	/* NULL, or memory for copies of the block's records (lib/pages/ring/remains.h) */
	uint8_t *copies;
	size_t copies_len;
};

/* Blocks in order. The owner of a chain returns its blocks with source_release(). */
struct chain {
	struct block *first, **tail;
	size_t size; /* bytes of memory */
};

struct source;

struct source_ops {
	/*
	 * 1 and the next block of that CPU, 0 at the end, -errno. A live source returns -EAGAIN while it has none yet.
	 */
	int (*next)(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail);
	/*
	 * Makes next() continue with the block that may hold the first record at or after raw time `ts`. May be NULL.
	 */
	int (*seek)(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail);
	/*
	 * Starts again at the first block of all CPUs, for a seek to `ts` that follows. Every block must have been
	 * released. NULL, as the next two: the source is read once.
	 */
	int (*restart)(struct source *source, uint64_t ts, struct fail *fail);
	/* The raw time of the block `part` of `parts` on the way through a CPU: 1, or 0 when there is none. */
	int (*time_at)(struct source *source, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
		       struct fail *fail);
	/* Whether so many bytes of events came since restart() that their number must be checked more exactly. */
	bool (*is_much)(const struct source *source, uint64_t parts);
	/*
	 * Live sources only, else NULL. No record that next() will hand out on this CPU is older than this raw time.
	 * `alone`: a record of that time no longer waits for the record that follows it on its CPU.
	 */
	uint64_t (*bound)(const struct source *source, size_t cpu_index, bool alone);
	/* Notes that memory is short, and that the records are therefore incomplete. May be NULL. */
	void (*lacks_memory)(struct source *source);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct page_shape shape;
	size_t nr_cpus;
	const uint32_t *cpus; /* the kernel's CPU numbers, ascending */
	/* the kernel's file `trace` also printed the bytes behind short records (struct record) */
	bool prints_more;
	/* released blocks for reuse; the oldest comes first, because other cores' caches no longer hold it */
	struct block *spare;
	struct block **spare_tail; /* valid while `spare` is not NULL */
	size_t spare_size;         /* bytes of memory */
};

/* Returns a block of at least `size` bytes, a spare or a new one; NULL when memory is short. */
struct block *source_block(struct source *source, size_t size);

/*
 * Memory for `len` bytes that lives as long as the block; NULL when memory is short. The copies of a block are at most
 * twice as large as its pages.
 */
uint8_t *source_copy(struct block *block, size_t len);
void source_release(struct source *source, struct block *block);
void source_free(struct source *source);

#endif
