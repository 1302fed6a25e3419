/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_READABLE_H
#define WEFT_FUZZ_READABLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* How many records an imported file has, for somebody who reads it. */
static inline uint64_t readable_count(int fd)
{
	struct reader reader;
	struct trace *trace = NULL;
	struct event event;
	uint64_t nr = 0;

	if (trace_open_fd(fd, "imported", &trace, NULL))
		return 0;
	reader_init(&reader);
	if (!reader_add_trace(&reader, trace, NULL) &&
	    !reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL))
		while (reader_next(&reader, &event, NULL) > 0)
			nr += event.kind == EVENT_RECORD;
	reader_release(&reader);
	trace_free(trace);
	return nr;
}

#endif
