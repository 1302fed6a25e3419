// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ring/page_trim.h"

#include "lib/ring/page_writer.h"

#include <errno.h>

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
