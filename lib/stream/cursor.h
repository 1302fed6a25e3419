/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STREAM_CURSOR_H
#define WEFT_STREAM_CURSOR_H

#include "lib/base/cleanup.h"
#include "lib/ring/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct chain;
struct fail;
struct source;

/*
 * A cursor walks the records of one CPU and always stands on one: `head` is read, not yet passed. Blocks that it has left
 * are appended to the chain of its owner, who releases them when no record of theirs is used any more.
 */
struct cursor {
	struct record head; /* valid while live */
	int64_t lost;       /* events lost just before head: see PAGE_LOST_*; the owner clears it */
	bool live;
	bool dry;   /* not live, but its source may have more later */
	bool first; /* head stands on the first page of its CPU */
	uint16_t cpu;
	uint16_t cpu_index;
	struct page page;
	struct source *source;
	struct block *block;
	size_t next_page;      /* in the block */
	bool held;             /* a record of the block was handed out */
	struct chain *retired; /* the owner's */
};

/* Nothing is read before the first cursor_next(). `retired` is the owner's chain; blocks without a record do not get there. */
void cursor_init(struct cursor *cursor, struct source *source, size_t cpu_index, struct chain *retired);
void cursor_release(struct cursor *cursor);

/*
 * Moves to the next record: 1, or 0 at the end (live is false then; dry tells whether it is only that of what a live source
 * has now). -errno when the CPU is damaged: it ends there, and live is false.
 */
int must_check cursor_next_slowly(struct cursor *cursor, struct fail *fail);

static inline int must_check cursor_next(struct cursor *cursor, struct fail *fail)
{
	if (__builtin_expect(page_next_plain(&cursor->page, &cursor->head), 1))
		return 1;
	return cursor_next_slowly(cursor, fail);
}

/* Whether a record follows the head on its page. */
bool cursor_followed(const struct cursor *cursor);

#endif
