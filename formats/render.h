/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_RENDER_H
#define WEFT_FORMATS_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct apart;
struct fail;
struct pool;
struct reader;
struct sink;
struct text_end;

/*
 * Passes the events of a reader through sinks, one for each of its buffers, to the end of a text. The calling thread
 * decodes, merges and settles; the pool formats (the calling thread helps when the pool is behind); the output is put
 * in order again.
 * Several buffers become one text, with a prefix before each line that names the buffer. A buffer's lines without their
 * prefix are the text of that buffer alone.
 * Invariant: the bytes do not depend on the number of threads.
 */
struct render_options {
	struct pool *pool;     /* borrowed; NULL for none */
	uint64_t limit;        /* events to print; UINT64_MAX for all */
	char *const *prefixes; /* by event::buffer; NULL: none */
	/*
	 * Events of several machines: those that may have happened before the events of another one that stand above
	 * them have these prefixes. Their lines are made in order, not in slices of time. NULL: there are none
	 */
	struct apart *apart;
	char *const *close;
};

/*
 * 0, or -errno: -EPIPE when the reader of the output is gone. The reader must be started with keep_blocks.
 * *ret_printed: the number of events printed.
 */
int must_check render(struct reader *reader, struct sink *const *sinks, const struct render_options *options,
		      struct text_end *end, uint64_t *ret_printed, struct fail *fail);

#endif
