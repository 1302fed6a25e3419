// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ring/page_writer.h"

#include <assert.h>

/* RB_MISSED_EVENTS and RB_MISSED_STORED of kernel/trace/ring_buffer.c. */
#define COMMIT_LOST (1u << 31)
#define COMMIT_LOST_STORED (1u << 30)

/* enum ring_buffer_type of include/linux/ring_buffer.h; the header of an event can express at most 28 words. */
enum { TYPE_LEN_IN_WORD = 0, SMALL_MAX = 28 * 4, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

enum { DELTA_BITS = 27 };

/* An absolute time stamp has 59 bits; the upper 5 are from the time stamp before it. */
#define STAMP_MSB (0xf8ull << 56)

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
	memset(page, 0, shape->size);
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
	memcpy(writer->page + page_head_size(&writer->shape) + writer->used, record->data, record->len);
	writer->used += (record->len + 3) & ~3u;
	writer->ts = record->ts;
	return true;
}

void page_writer_end(struct page_writer *writer)
{
	const struct page_shape *shape = &writer->shape;
	uint8_t *number = writer->page + page_head_size(shape) + writer->used;
	uint32_t commit = writer->used;

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
