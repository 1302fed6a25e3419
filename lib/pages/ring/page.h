/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_RING_PAGE_H
#define WEFT_PAGES_RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A page is one sub-buffer of the ring buffer (kernel/trace/ring_buffer.c: struct buffer_data_page). It borrows its
 * bytes and allocates nothing.
 * Invariants: every record that is handed out lies wholly inside the committed bytes of the page; a walk ends on any
 * input.
 * Not supported: pages of kernels before 2.6.31.
 */
struct page_shape {
	uint32_t size;     /* bytes of a whole sub-buffer, its head included */
	uint8_t long_size; /* the traced kernel's sizeof(long): 4 or 8 */
	bool swap;         /* the byte order of the traced kernel differs from this machine's */
};

enum {
	PAGE_LOST_NONE = 0,
	PAGE_LOST_UNKNOWN = -1, /* events were lost, and the page had no room for their number */
};

struct page {
	const uint8_t *data; /* the first byte after the head */
	uint32_t next;       /* offset of the next record in data */
	uint32_t commit;     /* committed bytes of data */
	/* time stamp of the last record that was handed out; before the first record, the head's */
	uint64_t ts;
	int64_t lost; /* events lost just before this page: a count, or PAGE_LOST_* */
	bool swap;
};

/* One event as the ring buffer holds it: u16 type, u8 flags, u8 preempt count, s32 pid, fields. */
struct record {
	uint64_t ts;         /* raw clock units */
	const uint8_t *data; /* borrowed from the page */
	uint32_t len;        /* bytes of payload, rounded up to words: up to 3 more than the event has, at least 4 */
	uint32_t more; /* RECORD_MORE if the kernel takes so many bytes behind the payload for the event's; else 0 */
};

/*
 * Some 64-bit kernels (CONFIG_HAVE_64BIT_ALIGNED_ACCESS: mips64, riscv64) give every record a word for its length.
 * Until 7.2 ring_buffer_event_length() counts this word to the payload of a record of up to 112 bytes.
 */
enum { RECORD_MORE = 4 };

static inline uint32_t page_head_size(const struct page_shape *shape)
{
	return 8u + shape->long_size;
}

/*
 * Reads the time stamp and the committed size from the head alone. `len` may be as short as the head. -EBADMSG when
 * `len` is shorter than the head or the committed size exceeds a page.
 */
int must_check page_head(const struct page_shape *shape, const void *data, size_t len, uint64_t *ret_ts,
			 uint32_t *ret_commit, struct fail *fail);

/*
 * Finds the byte order of a page from its head, whatever shape->swap says. True when the head is plausible in exactly
 * one byte order; *ret_swap then shows which. False for an empty or a damaged page. `len` may be as short as the head.
 */
bool page_order(const struct page_shape *shape, const void *data, size_t len, bool *ret_swap);

/* Says in the head of a page that an unknown number of events was lost before it. */
void page_set_lost(const struct page_shape *shape, void *data);

/* `len` is shape->size, or less for a page that was cut short. -EBADMSG when the committed size exceeds it. */
int must_check page_init(struct page *page, const struct page_shape *shape, const void *data, size_t len,
			 struct fail *fail);

/*
 * 1 and a record, 0 at the end of the page, -EBADMSG when a record crosses the end; the records before it stay valid.
 */
int must_check page_next(struct page *page, struct record *ret, struct fail *fail);

/*
 * The bytes of the record at this offset of page->data, with its header; 0 at the end of the page and for a record that
 * crosses it. Time stamps and discarded records count as records.
 */
uint32_t page_record_size(const struct page *page, uint32_t at);

/*
 * The fast path of page_next(): takes a record whose length is in its header, on a page in this machine's byte order.
 * Returns false and changes nothing when the caller has to use page_next() instead.
 */
static inline bool page_next_plain(struct page *page, struct record *ret)
{
	uint32_t left = page->commit - page->next, word, len;
	const uint8_t *at;

	if (left < sizeof(word) || page->swap || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		return false;
	/* Not earlier in this function: there may be no page yet. */
	at = page->data + page->next;
	memcpy(&word, at, sizeof(word));
	/* Another core may have decompressed these bytes, so they may not be in this core's cache. */
	__builtin_prefetch(at + 512);
	len = (word & 31) * 4;
	/* RINGBUF_TYPE_DATA_TYPE_LEN_MAX is 28; 0 means that the next word holds the length. */
	if (len - 4 >= 28 * 4 || len > left - sizeof(word))
		return false;
	page->ts += word >> 5;
	page->next += (uint32_t)sizeof(word) + len;
	ret->ts = page->ts;
	ret->data = at + sizeof(word);
	ret->len = len;
	ret->more = 0;
	return true;
}

/*
 * Copies the events from `from` to `to` of a page into another one of the same shape. A page with no other events is
 * copied as it is. Events that were lost before the page are told only if its first event stays.
 * Returns 1, 0 if there is no such event, or -EBADMSG. *ret_first, *ret_last: times of the events in the copy.
 */
int must_check page_trim(const struct page_shape *shape, const void *data, uint64_t from, uint64_t to, void *into,
			 uint64_t *ret_first, uint64_t *ret_last, struct fail *fail);

/*
 * Copies only what makes a page one: its head, the heads of its records with their lengths and times, and the number of
 * lost events that stands behind them. The payloads and all other bytes become zero. page_next() finds the same records
 * at the same places in both. `into` has shape->size bytes, `data` has `len`, which may be less.
 */
void page_blank(const struct page_shape *shape, const void *data, size_t len, void *into);

/*
 * A page writer makes one page of records as the kernel would have written it (kernel/trace/ring_buffer.c:
 * rb_update_event(), rb_add_time_stamp()), in the byte order and with the sizeof(long) of its shape. The page is the
 * caller's memory of shape->size bytes.
 * Invariant: lib/pages/ring/page.h reads the same records with the same time stamps back. Usage: begin, add records
 * until one does not fit, end, and begin the next page.
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
