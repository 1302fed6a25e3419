// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutator/pages.h"

#include <string.h>

#include "tests/fuzz/mutator/dice.h"

enum { RECORDS = 512, PADDING = 29, TIME_EXTEND = 30, TIME_STAMP = 31 };

static uint64_t load(const struct pages *pages, size_t at, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++)
		value = value << 8 | pages->data[at + (pages->big ? i : width - 1 - i)];
	return value;
}

static void store(const struct pages *pages, size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		pages->data[at + (pages->big ? width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static unsigned type_len(const struct pages *pages, uint32_t word)
{
	return pages->big ? word >> 27 : word & 31;
}

/* The offset at which the records of a page begin. */
static size_t find_records(const struct pages *pages, size_t page, size_t end, size_t *ret)
{
	size_t head = 8 + (pages->long_size == 4 ? 4 : 8), nr = 0;
	uint64_t commit;

	if (end - page < head)
		return 0;
	commit = load(pages, page + 8, (unsigned)head - 8) & 0xfffff;
	if (commit < end - page - head)
		end = page + head + (size_t)commit;
	for (size_t at = page + head; end - at >= 4 && nr < RECORDS;) {
		uint32_t word = (uint32_t)load(pages, at, 4);
		unsigned type = type_len(pages, word);
		size_t size = 4 + 4 * type;

		ret[nr++] = at;
		if (type == TIME_EXTEND || type == TIME_STAMP)
			size = 8;
		else if (!type || type == PADDING)
			size = end - at < 8 ? 4 : 4 + (size_t)load(pages, at + 4, 4);
		if (size < 4 || size > end - at)
			break;
		at += size;
	}
	return nr;
}

static void change_head(struct dice *dice, const struct pages *pages, size_t page, size_t end)
{
	unsigned width = pages->long_size == 4 ? 4 : 8;

	if (end - page < 16)
		return;
	if (dice_once_in(dice, 2))
		store(pages, page, 8, dice_claim(dice, load(pages, page, 8), pages->len));
	else
		store(pages, page + 8, width, dice_claim(dice, load(pages, page + 8, width), pages->page));
}

/* Type and time share a word: 5 bits and 27 bits. */
static void change_word(struct dice *dice, const struct pages *pages, size_t at)
{
	uint32_t word = (uint32_t)load(pages, at, 4);
	unsigned type = type_len(pages, word);
	uint32_t time = pages->big ? word & 0x7ffffff : word >> 5;

	if (dice_once_in(dice, 2))
		type = dice_once_in(dice, 2) ? (unsigned)dice_below(dice, 32) : PADDING + (unsigned)dice_below(dice, 3);
	else
		time = (uint32_t)dice_claim(dice, time, 1 << 20) & 0x7ffffff;
	store(pages, at, 4, pages->big ? type << 27 | time : time << 5 | type);
}

static void change_record(struct dice *dice, const struct pages *pages, const size_t *records, size_t nr, size_t end)
{
	size_t which = dice_below(dice, nr), at = records[which], other = records[dice_below(dice, nr)];
	size_t next = which + 1 < nr ? records[which + 1] : end, size = next - at;

	switch (dice_below(dice, 5)) {
	case 0:
		change_word(dice, pages, at);
		break;
	case 1: /* the type of another event */
		if (size >= 6 && end - other >= 6)
			memcpy(pages->data + at + 4, pages->data + other + 4, 2);
		break;
	case 2:
		if (size >= 6)
			store(pages, at + 4, 2, dice_claim(dice, load(pages, at + 4, 2), 2048));
		break;
	case 3:
		memmove(pages->data + at, pages->data + other, size < end - other ? size : end - other);
		break;
	case 4:
		for (size_t i = 1 + dice_below(dice, 3); i-- && size >= 8;) {
			unsigned width = 1u << dice_below(dice, 4);
			size_t field = at + 4 + dice_below(dice, size - 4) / width * width;

			if (field + width <= end)
				store(pages, field, width, dice_claim(dice, load(pages, field, width), size));
		}
		break;
	}
}

void pages_change(struct dice *dice, const struct pages *pages)
{
	size_t size = pages->page && pages->page < pages->len ? pages->page : pages->len, records[RECORDS], nr;
	size_t count = size ? (pages->len + size - 1) / size : 0;
	size_t page = dice_below(dice, count) * size, other = dice_below(dice, count) * size, end = page + size;

	if (!count)
		return;
	end = end < pages->len ? end : pages->len;
	nr = find_records(pages, page, end, records);
	switch (dice_below(dice, 10)) {
	case 0:
		change_head(dice, pages, page, end);
		break;
	case 1:
		page += dice_below(dice, end - page);
		pages->data[page] = (uint8_t)dice_u64(dice);
		break;
	case 2:
		size = dice_below(dice, size);
		if (other + size <= pages->len && page + size <= pages->len)
			memmove(pages->data + page, pages->data + other, size);
		break;
	default:
		if (nr)
			change_record(dice, pages, records, nr, end);
	}
}
