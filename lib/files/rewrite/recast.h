/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_RECAST_H
#define WEFT_FILES_REWRITE_RECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct temporaries;
struct trace;
struct writer_options;

/*
 * Writes a recording as a file of another version or compression, with every text, setting and page of the trace, in
 * the trace's byte order. Pages are copied as they are.
 * Not supported: chunks that the trace cannot decompress; version 6 for buffers with different page sizes.
 */
struct recast_options {
	unsigned version; /* 6 or 7 */
	bool compress;    /* v7 only */
	int level;
	const struct temporaries *temporaries; /* lib/pages/trace/input.h; may be NULL */
	bool passing;                          /* lib/pages/trace/writer.h */
};

/* The form of a file in the byte order of the trace, and with its sizes. */
struct writer_options recast_form(const struct recast_options *options, const struct trace *trace);

/*
 * *ret_size: bytes of the new file. Damaged data is left out, damaged records inside pages are copied; trace_damage()
 * says so.
 */
int must_check recast(struct trace *trace, const struct recast_options *options, int fd, uint64_t *ret_size,
		      struct fail *fail);

#endif
