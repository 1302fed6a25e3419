/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RING_PAGE_H
#define WEFT_RING_PAGE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fail;

/*
 * A page is one ring-buffer sub-buffer (kernel/trace/ring_buffer.c: struct buffer_data_page). It borrows its bytes and
 * never allocates. Invariants: every record handed out lies wholly inside the committed bytes of the page; a walk ends
 * on any input.
 * Not supported: pages written by kernels before 2.6.31.
 */
struct page_shape {
	uint32_t size;     /* bytes of a whole sub-buffer, head included */
	uint8_t long_size; /* the traced kernel's sizeof(long): 4 or 8 */
	bool swap;         /* the kernel's byte order is not ours */
};

enum {
	PAGE_LOST_NONE = 0,
	PAGE_LOST_UNKNOWN = -1, /* the page says that events were lost, but had no room for how many */
};

struct page {
	const uint8_t *data; /* the first byte behind the head */
	uint32_t next;       /* offset of the next record in data */
	uint32_t commit;     /* committed bytes of data */
	uint64_t ts;         /* time of the last record handed out; at first that of the head */
	int64_t lost;        /* events lost just before this page: a count, or PAGE_LOST_* */
	bool swap;
};

/* One event as the ring buffer holds it: u16 type, u8 flags, u8 preempt count, s32 pid, fields. */
struct record {
	uint64_t ts;         /* raw clock units */
	const uint8_t *data; /* borrowed from the page */
	uint32_t len;        /* bytes of payload, rounded up to words: up to 3 more than the event has; never 0 */
};

static inline uint32_t page_head_size(const struct page_shape *shape)
{
	return 8u + shape->long_size;
}

/*
 * The time stamp and the committed bytes of the head alone. `len` may be as short as the head.
 * -EBADMSG when it is shorter or the commit exceeds a page.
 */
int must_check page_head(const struct page_shape *shape, const void *data, size_t len, uint64_t *ret_ts,
			 uint32_t *ret_commit, struct fail *fail);

/*
 * In which byte order the page was written, which shape->swap need not tell: true when its head makes sense in one of the two alone,
 * with *ret_swap for it. False for an empty or a damaged page. `len` may be as short as the head.
 */
bool page_order(const struct page_shape *shape, const void *data, size_t len, bool *ret_swap);

/* `len` is shape->size, or less for a page cut short. -EBADMSG when the commit exceeds it. */
int must_check page_init(struct page *page, const struct page_shape *shape, const void *data, size_t len,
			 struct fail *fail);

/* 1 and a record, 0 at the end, -EBADMSG when a record crosses the end; the records before it stay good. */
int must_check page_next(struct page *page, struct record *ret, struct fail *fail);

/*
 * What page_next() nearly always comes to, for those who walk millions: a record of the kind whose length is in its header
 * and whose byte order is ours. False, and nothing done, when page_next() is to be asked.
 */
static inline bool page_next_plain(struct page *page, struct record *ret)
{
	uint32_t left = page->commit - page->next, word, len;
	const uint8_t *at;

	if (left < sizeof(word) || page->swap || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		return false;
	/* Not before: there may be no page yet. */
	at = page->data + page->next;
	memcpy(&word, at, sizeof(word));
	/* Another core may have decompressed it. */
	__builtin_prefetch(at + 512);
	len = (word & 31) * 4;
	/* RINGBUF_TYPE_DATA_TYPE_LEN_MAX; 0 stands for a length in the next word. */
	if (len - 4 >= 28 * 4 || len > left - sizeof(word))
		return false;
	page->ts += word >> 5;
	page->next += (uint32_t)sizeof(word) + len;
	ret->ts = page->ts;
	ret->data = at + sizeof(word);
	ret->len = len;
	return true;
}

#endif
