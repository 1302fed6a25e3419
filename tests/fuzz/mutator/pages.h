/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_PAGES_H
#define WEFT_FUZZ_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice;

/* Sub-buffers of a ring buffer, one behind the other. */
struct pages {
	uint8_t *data;
	size_t len, page;
	bool big;
	unsigned long_size;
};

/* Changes one item: a head; a record's type, time, length or bytes; or puts in a record or page from elsewhere. */
void pages_change(struct dice *dice, const struct pages *pages);

#endif
