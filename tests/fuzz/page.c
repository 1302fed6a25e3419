// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/ring/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/*
 * The first byte chooses the shape of the page, the others are the page. Each record must lie inside the page, and a
 * walk must take no more steps than the page has words.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct page_shape shape;
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;
	size_t steps = 0;

	if (!len)
		return 0;
	shape = (struct page_shape){ .size = data[0] & 4 ? 4096 : 256,
				     .long_size = data[0] & 1 ? 8 : 4,
				     .swap = data[0] & 2 };
	data++;
	len--;
	if (len > shape.size)
		len = shape.size;
	if (page_init(&page, &shape, data, len, &fail) < 0)
		return 0;
	while (page_next(&page, &record, &fail) > 0) {
		if (record.data < data || record.data > data + len || record.len > (size_t)(data + len - record.data) ||
		    !record.len || ++steps > len / 4)
			abort();
	}
	return 0;
}
