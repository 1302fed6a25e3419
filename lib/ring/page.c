// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ring/page.h"

#include "lib/base/bytes.h"
#include "lib/base/fail.h"

#include <errno.h>
#include <inttypes.h>

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
	uint32_t word = commit_word(shape, data) | COMMIT_LOST;
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
