// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/ring/page.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"

/* RB_MISSED_EVENTS and RB_MISSED_STORED in the commit word of a page's head; the other bits are the committed size. */
#define COMMIT_LOST (1u << 31)
#define COMMIT_LOST_STORED (1u << 30)
#define COMMIT_SIZE 0x07ffffffu

/* enum ring_buffer_type of include/linux/ring_buffer.h */
enum { SMALL_MAX = 28 * 4 }; /* RB_MAX_SMALL_DATA */
enum { TYPE_LEN_IN_WORD = 0, TYPE_DATA_MAX = 28, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

/* An absolute time stamp has 59 bits; the upper 5 come from the time stamp before it. */
#define STAMP_MSB (0xf8ull << 56)

static uint32_t commit_word(const struct page_shape *shape, const uint8_t *head)
{
	/* Linux 6.1 sign-extends the 32-bit word; on a big-endian 64-bit kernel its low half is the second one. */
	if (shape->long_size == 8)
		return (uint32_t)load_u64(head + 8, shape->swap);
	return load_u32(head + 8, shape->swap);
}

void page_set_lost(const struct page_shape *shape, void *data)
{
	uint32_t word = (commit_word(shape, data) | COMMIT_LOST) & ~COMMIT_LOST_STORED;
	uint64_t wide = shape->swap ? __builtin_bswap64(word) : word;

	word = shape->swap ? __builtin_bswap32(word) : word;
	memcpy((uint8_t *)data + 8, shape->long_size == 8 ? (const void *)&wide : &word, shape->long_size);
}

int page_head(const struct page_shape *shape, const void *data, size_t len, uint64_t *ret_ts, uint32_t *ret_commit,
	      struct fail *fail)
{
	uint32_t commit;

	if (len < page_head_size(shape))
		return fail_set(fail, -EBADMSG, "%zu bytes are too few for the header of a sub-buffer", len);
	commit = commit_word(shape, data) & COMMIT_SIZE;
	if (commit > shape->size - page_head_size(shape))
		return fail_set(fail, -EBADMSG, "commit %" PRIu32 " exceeds the page's %" PRIu32 " bytes", commit,
				shape->size - page_head_size(shape));
	*ret_ts = load_u64(data, shape->swap);
	*ret_commit = commit;
	return 0;
}

static int64_t page_lost(const struct page_shape *shape, const uint8_t *data, uint32_t commit, size_t room)
{
	uint32_t word = commit_word(shape, data - page_head_size(shape));

	if (!(word & COMMIT_LOST))
		return PAGE_LOST_NONE;
	if (!(word & COMMIT_LOST_STORED) || room - commit < shape->long_size)
		return PAGE_LOST_UNKNOWN;
	if (shape->long_size == 8)
		return (int64_t)(load_u64(data + commit, shape->swap) & INT64_MAX);
	return load_u32(data + commit, shape->swap);
}

/*
 * A commit word is plausible when its size is a multiple of 4, not 0, fits in the page, and no other bits than the two
 * flags are set. The upper half of a 64-bit commit word must be 0 or the sign extension of 6.1.
 */
static bool is_commit(const struct page_shape *shape, const uint8_t *head, bool swap)
{
	uint64_t word = shape->long_size == 8 ? load_u64(head + 8, swap) : load_u32(head + 8, swap);
	uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32), size = low & COMMIT_SIZE;

	return (!high || (high == UINT32_MAX && low & COMMIT_LOST)) &&
	       !(low & ~(COMMIT_SIZE | COMMIT_LOST | COMMIT_LOST_STORED)) && size && size % sizeof(uint32_t) == 0 &&
	       size <= shape->size - page_head_size(shape);
}

bool page_order(const struct page_shape *shape, const void *data, size_t len, bool *ret_swap)
{
	bool plain, swapped;

	if (len < page_head_size(shape))
		return false;
	plain = is_commit(shape, data, false);
	swapped = is_commit(shape, data, true);
	*ret_swap = swapped;
	return plain != swapped;
}

int page_init(struct page *page, const struct page_shape *shape, const void *data, size_t len, struct fail *fail)
{
	uint32_t commit = 0, head = page_head_size(shape);
	uint64_t ts = 0;
	int err = page_head(shape, data, len, &ts, &commit, fail);

	if (err)
		return err;
	if (commit > len - head)
		return fail_set(fail, -EBADMSG, "commit %" PRIu32 " exceeds the %zu bytes that the page has", commit,
				len - head);
	*page = (struct page){ .data = (const uint8_t *)data + head, .commit = commit, .ts = ts, .swap = shape->swap };
	page->lost = page_lost(shape, page->data, commit, len - head);
	return 0;
}

static int page_broken(const struct page *page, struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "the record at byte %" PRIu32 " crosses the page's %" PRIu32 " committed bytes",
			page->next, page->commit);
}

int page_next(struct page *page, struct record *ret, struct fail *fail)
{
	uint32_t left;

	while ((left = page->commit - page->next) >= 4) {
		const uint8_t *at = page->data + page->next;
		uint32_t word = load_u32(at, page->swap), type, delta, len;

		/*
		 * The event header is a bit field, so the order of its parts follows the byte order of the traced
		 * kernel.
		 */
		if (page->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
			type = word & 31;
			delta = word >> 5;
		} else {
			type = word >> 27;
			delta = word & 0x07ffffff;
		}

		if (__builtin_expect(type - 1 < TYPE_DATA_MAX, 1)) {
			len = type * 4;
			if (len > left - 4)
				return page_broken(page, fail);
			page->ts += delta;
			page->next += 4 + len;
			*ret = (struct record){ .ts = page->ts, .data = at + 4, .len = len };
			return 1;
		}
		if (type == TYPE_PADDING && !delta)
			break;
		if (left < 8)
			return page_broken(page, fail);
		len = load_u32(at + 4, page->swap);
		switch (type) {
		case TYPE_TIME_EXTEND:
			page->ts += ((uint64_t)len << 27) + delta;
			page->next += 8;
			continue;
		case TYPE_TIME_STAMP:
			page->ts = (page->ts & STAMP_MSB) | (((uint64_t)len << 27) + delta);
			page->next += 8;
			continue;
		case TYPE_PADDING:
		case TYPE_LEN_IN_WORD:
			/* The length includes its own word. */
			if (len < 4 || len > left - 4)
				return page_broken(page, fail);
			/* The kernel's readers also add the time delta of a discarded event: rb_update_read_stamp(). */
			if (type == TYPE_LEN_IN_WORD)
				page->ts += delta;
			page->next += 4 + ((len + 3) & ~3u);
			if (page->next > page->commit)
				page->next = page->commit;
			if (type == TYPE_PADDING || len == 4)
				continue;
			*ret = (struct record){ .ts = page->ts, .data = at + 8, .len = len - 4 };
			ret->more = ret->len <= SMALL_MAX ? RECORD_MORE : 0;
			return 1;
		}
	}
	return 0;
}

uint32_t page_record_size(const struct page *page, uint32_t at)
{
	uint32_t left = at < page->commit ? page->commit - at : 0, word, type, len;

	if (left < 8)
		return 0;
	word = load_u32(page->data + at, page->swap);
	type = page->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? word & 31 : word >> 27;
	len = load_u32(page->data + at + 4, page->swap);
	if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP)
		return 8;
	if (type != TYPE_LEN_IN_WORD && type != TYPE_PADDING)
		len = type * 4;
	if (len < 4 || len > left - 4)
		return 0;
	len = 4 + ((len + 3) & ~3u);
	return len < left ? len : left;
}

int page_trim(const struct page_shape *shape, const void *data, uint64_t from, uint64_t to, void *into,
	      uint64_t *ret_first, uint64_t *ret_last, struct fail *fail)
{
	struct page_writer writer;
	uint64_t first = 0, last = 0, kept = 0, left_out = 0;
	bool whole = false;
	struct record record;
	struct page page;
	int r = page_init(&page, shape, data, shape->size, fail);

	if (r)
		return r;
	page_writer_begin(&writer, shape, into, PAGE_LOST_NONE);
	while ((r = page_next(&page, &record, fail)) > 0) {
		if (record.ts < from || record.ts > to) {
			left_out++;
			continue;
		}
		if (!kept++) {
			writer.lost = left_out ? PAGE_LOST_NONE : page.lost;
			first = record.ts;
		}
		last = record.ts;
		whole |= !page_writer_add(&writer, &record);
	}
	if (r < 0 || !kept)
		return r;
	if (writer.lost > 0 && writer.room - writer.used < shape->long_size)
		writer.lost = PAGE_LOST_UNKNOWN;
	page_writer_end(&writer);
	/* A page that cannot be written again keeps its other events, too. */
	if (!left_out || whole)
		memcpy(into, data, shape->size);
	*ret_first = first;
	*ret_last = last;
	return 1;
}

enum { WORD = 4 };
/* RINGBUF_TYPE_PADDING */
#define PADDING 29u

static uint32_t type_of(const struct page *page, uint32_t at)
{
	uint32_t word = load_u32(page->data + at, page->swap);

	return page->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? word & 31 : word >> 27;
}

/* Padding without a time: no record follows, whatever is there. */
static bool is_end(const struct page *page, uint32_t at)
{
	uint32_t word = load_u32(page->data + at, page->swap);

	return type_of(page, at) == PADDING &&
	       word == (page->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? PADDING : PADDING << 27);
}

/* The bytes of a record's head: its word, and a second one with a length or more of a time. Nothing follows the end. */
static uint32_t head_size(const struct page *page, uint32_t at)
{
	uint32_t type = type_of(page, at);

	return (type && type <= 28) || is_end(page, at) ? WORD : 2 * WORD;
}

void page_blank(const struct page_shape *shape, const void *data, size_t len, void *into)
{
	uint32_t head = page_head_size(shape), size;
	uint8_t *body = (uint8_t *)into + head;
	struct fail fail = FAIL_INIT;
	struct page page;

	memset(into, 0, shape->size);
	if (len > shape->size || page_init(&page, shape, data, len, &fail))
		return;
	memcpy(into, data, head);
	/* A count that is cut off would read as 0. */
	if (page.lost == PAGE_LOST_UNKNOWN)
		page_set_lost(shape, into);
	for (uint32_t at = 0; page.commit - at >= WORD; at += size) {
		uint32_t heads = head_size(&page, at);

		size = page_record_size(&page, at);
		memcpy(body + at, page.data + at, heads < page.commit - at ? heads : page.commit - at);
		if (!size || is_end(&page, at))
			break;
	}
	if (page.lost > 0 && len - head - page.commit >= shape->long_size)
		memcpy(body + page.commit, page.data + page.commit, shape->long_size);
}

enum { DELTA_BITS = 27 };

static void store_u32(uint8_t *at, uint32_t value, bool swap)
{
	value = swap ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
}

static void store_u64(uint8_t *at, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(at, &value, sizeof(value));
}

void page_writer_begin(struct page_writer *writer, const struct page_shape *shape, void *page, int64_t lost)
{
	uint32_t number = lost > 0 ? shape->long_size : 0;

	assert(shape->size > page_head_size(shape) + number);
	*writer = (struct page_writer){
		.shape = *shape, .page = page, .lost = lost, .room = shape->size - page_head_size(shape) - number
	};
	memset(page, 0, page_head_size(shape));
}

/* The header is a bit field, so the order of its parts follows the byte order of the traced kernel. */
static void put_head(struct page_writer *writer, uint32_t type, uint32_t delta)
{
	bool big_endian = writer->shape.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint8_t *at = writer->page + page_head_size(&writer->shape) + writer->used;

	store_u32(at, big_endian ? type << DELTA_BITS | delta : delta << 5 | type, writer->shape.swap);
	writer->used += 4;
}

static void put_word(struct page_writer *writer, uint32_t word)
{
	store_u32(writer->page + page_head_size(&writer->shape) + writer->used, word, writer->shape.swap);
	writer->used += 4;
}

/* Writes a separate time stamp, for a record whose time is too far from the previous one for the header of a record. */
static void put_time(struct page_writer *writer, uint32_t type, uint64_t time)
{
	put_head(writer, type, (uint32_t)(time & ((1u << DELTA_BITS) - 1)));
	put_word(writer, (uint32_t)(time >> DELTA_BITS));
}

static bool is_small(const struct record *record)
{
	return record->len && record->len <= SMALL_MAX && record->len % 4 == 0;
}

bool page_writer_add(struct page_writer *writer, const struct record *record)
{
	uint64_t since = writer->used ? writer->ts : record->ts, delta = record->ts - since;
	bool back = record->ts < since, far = delta >> DELTA_BITS;
	uint64_t need = 4u + (is_small(record) ? 0u : 4u) + (far ? 8u : 0u) + (((uint64_t)record->len + 3) & ~3ull);
	uint8_t *to;

	if (need > writer->room - writer->used)
		return false;
	if (far && (back ? (record->ts ^ since) & STAMP_MSB : delta & STAMP_MSB))
		return false;
	if (!writer->used)
		store_u64(writer->page, record->ts, writer->shape.swap);
	if (far)
		put_time(writer, back ? TYPE_TIME_STAMP : TYPE_TIME_EXTEND, back ? record->ts & ~STAMP_MSB : delta);
	put_head(writer, is_small(record) ? record->len / 4 : TYPE_LEN_IN_WORD, far ? 0 : (uint32_t)delta);
	if (!is_small(record))
		put_word(writer, record->len + 4);
	to = writer->page + page_head_size(&writer->shape) + writer->used;
	if (record->len % 4)
		memset(to + record->len / 4 * 4, 0, 4);
	memcpy(to, record->data, record->len);
	writer->used += (record->len + 3) & ~3u;
	writer->ts = record->ts;
	return true;
}

void page_writer_end(struct page_writer *writer)
{
	const struct page_shape *shape = &writer->shape;
	uint8_t *number = writer->page + page_head_size(shape) + writer->used;
	uint32_t commit = writer->used;

	memset(number, 0, shape->size - page_head_size(shape) - writer->used);
	if (writer->lost)
		commit |= COMMIT_LOST;
	if (writer->lost > 0)
		commit |= COMMIT_LOST_STORED;
	if (shape->long_size == 8)
		store_u64(writer->page + 8, commit, shape->swap);
	else
		store_u32(writer->page + 8, commit, shape->swap);
	if (writer->lost <= 0)
		return;
	if (shape->long_size == 8)
		store_u64(number, (uint64_t)writer->lost, shape->swap);
	else
		store_u32(number, writer->lost > UINT32_MAX ? UINT32_MAX : (uint32_t)writer->lost, shape->swap);
}
