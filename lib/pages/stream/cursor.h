/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_CURSOR_H
#define WEFT_PAGES_STREAM_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct block;
struct chain;
struct fail;
struct remains;
struct source;

/*
 * A cursor walks the records of one CPU and always stands on one: `head` is read but not yet passed. Blocks that the
 * cursor has left go to the owner's chain; the owner releases them when no record in them is used any more.
 */
struct cursor {
	struct record head; /* valid while `live` is true */
	int64_t lost;       /* events lost just before head, or PAGE_LOST_*; the owner clears it */
	bool live;
	bool dry;    /* not live, but the source may have more records later */
	bool broken; /* not live: the CPU's data is damaged here */
	bool first;  /* head stands on the first page of this CPU */
	uint16_t cpu;
	uint16_t cpu_index;
	struct page page;
	struct source *source;
	struct block *block;
	size_t next_page;      /* offset in the block */
	bool held;             /* a record of this block was handed out */
	struct chain *retired; /* belongs to the owner */
	/* NULL until a record has `more` bytes than its own */
	struct remains *remains;
};

/*
 * Nothing is read before the first cursor_next(). `retired` is the owner's chain; blocks without a record are not put
 * there.
 */
void cursor_init(struct cursor *cursor, struct source *source, size_t cpu_index, struct chain *retired);
void cursor_release(struct cursor *cursor);

/*
 * Moves to the next record: 1, or 0 at the end. At the end `live` is false, and `dry` shows whether a live source may
 * have more later. -errno when the CPU's data is damaged: the CPU ends there, and `live` is false.
 */
int must_check cursor_next_slowly(struct cursor *cursor, struct fail *fail);

static inline int must_check cursor_next(struct cursor *cursor, struct fail *fail)
{
	if (__builtin_expect(page_next_plain(&cursor->page, &cursor->head), 1))
		return 1;
	return cursor_next_slowly(cursor, fail);
}

/* Where the head of a cursor is: the same in two readers that stand on the same record. */
struct cursor_place {
	uint64_t piece, page; /* page: the offset after the head's page; piece UINT64_MAX: no record is left */
	uint64_t record;      /* the offset after the head in its page */
	int64_t lost;
};

void cursor_place(const struct cursor *cursor, struct cursor_place *ret);

/* Whether another record follows the head on its page. */
bool cursor_followed(const struct cursor *cursor);

#endif
