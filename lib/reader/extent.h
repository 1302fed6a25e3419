/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_READER_EXTENT_H
#define WEFT_READER_EXTENT_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct fail;

/* When the first and the last event of a file happened, of all buffers that have one clock. */
struct extent {
	bool known;           /* looked for already */
	bool found;           /* there is an event */
	uint64_t first, last; /* in units of event::ts */
};

/* Looks at the start and at the end of each CPU, once: of the file and the clock of this context. */
int must_check extent_find(const struct context *context, struct extent *extent, struct fail *fail);

#endif
