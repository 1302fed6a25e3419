/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_EXTENT_H
#define WEFT_MEANING_READER_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;

/* The times of the first and the last event of a file, over all buffers with the same clock. */
struct extent {
	bool known;           /* extent_find() has run */
	bool found;           /* the file has an event */
	uint64_t first, last; /* in units of event::ts */
	/*
	 * times of events that were looked for, by the text that asked (lib/meaning/reader/stamp.c); the texts are
	 * borrowed
	 */
	struct extent_moment {
		const char *text; /* NULL: none */
		uint64_t at, end; /* end: the last ns that it may have been */
	} moments[2];
};

/* Reads the start and the end of each CPU, once, for the file and the clock of this context. */
int must_check extent_find(const struct context *context, struct extent *extent, struct fail *fail);

#endif
