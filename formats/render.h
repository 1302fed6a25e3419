/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_RENDER_H
#define WEFT_FORMATS_RENDER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct pool;
struct reader;
struct sink;

/*
 * Drives the events of a reader through sinks, one for each of its buffers, to a file descriptor: decoding, merging and settling on the calling thread, formatting
 * in the pool and on the calling one when that is behind, output in order.
 * Of several buffers one text is made, with a prefix in front of each line that says whose it is. Without the lines of the others, and
 * without its prefix, a buffer's text is what it is alone.
 * Invariant: the bytes do not depend on the number of threads.
 */
struct render_options {
	struct pool *pool;     /* borrowed; NULL for none */
	uint64_t limit;        /* events to print; UINT64_MAX for all */
	char *const *prefixes; /* by event::buffer; NULL: none */
	bool escape;           /* the reader is a terminal: what it would obey is written as octal */
	uint64_t
		text_max; /* bytes of text that are believed; what is longer is cut behind a whole line, and a failure; 0: any number */
};

/* 0, or -errno: -EPIPE when nobody reads the output any more. The reader was started with keep_blocks. *ret_printed counts the events printed. */
int must_check render(struct reader *reader, struct sink *const *sinks, const struct render_options *options, int fd,
		      uint64_t *ret_printed, struct fail *fail);

#endif
