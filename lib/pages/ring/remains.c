// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/ring/remains.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 8 }; /* the header of a record with a word for its length */

struct remains *remains_new(const struct page_shape *shape)
{
	return calloc(1, sizeof(struct remains) + shape->size + REMAINS_ROOM);
}

void remains_take(struct remains *remains, const struct page *page, uint32_t end)
{
	uint32_t size;

	while (remains->taken < end && (size = page_record_size(page, remains->taken))) {
		memcpy(remains->bytes, page->data + remains->taken, size);
		remains->taken += size;
	}
}

void remains_turn(struct remains *remains)
{
	remains->taken = 0;
}

void remains_copy(const struct remains *remains, const struct record *record, uint8_t *to)
{
	memcpy(to, record->data, record->len);
	memcpy(to + record->len, remains->bytes + HEAD + record->len, REMAINS_ROOM);
}
