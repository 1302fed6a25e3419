/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RING_PAGE_WRITER_H
#define WEFT_RING_PAGE_WRITER_H

#include "lib/ring/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A page writer makes one page of records as the kernel would have written it (kernel/trace/ring_buffer.c:
 * rb_update_event(), rb_add_time_stamp()), in the byte order and with the sizeof(long) of its shape. The page is the
 * caller's memory of shape->size bytes.
 * Invariant: lib/ring/page.h reads the same records with the same time stamps back. Usage: begin, add records until one
 * does not fit, end, and begin the next page.
 */
struct page_writer {
	struct page_shape shape;
	uint8_t *page;
	uint32_t used; /* bytes of records so far */
	uint32_t room; /* bytes that records may take */
	uint64_t ts;   /* time stamp of the last record */
	int64_t lost;  /* like page::lost */
};

/* `lost`: the number of events lost just before the first record, or PAGE_LOST_*; room for this number is reserved. */
void page_writer_begin(struct page_writer *writer, const struct page_shape *shape, void *page, int64_t lost);

/*
 * False, and no change, when the page has no room for the record, or its time is too far from the time of the record
 * before: then end the page and begin another one. A record that does not fit on an empty page fits on no page.
 */
bool page_writer_add(struct page_writer *writer, const struct record *record);

static inline bool page_writer_empty(const struct page_writer *writer)
{
	return !writer->used;
}

/* Completes the page's head and fills the unused bytes with zeros. */
void page_writer_end(struct page_writer *writer);

#endif
