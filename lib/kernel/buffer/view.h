/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_BUFFER_VIEW_H
#define WEFT_KERNEL_BUFFER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct buf;
struct fail;

/*
 * Reads a text file of an instance that is shown to a person.
 *
 * Invariant: reading ends even while tracing goes on. `trace` of a buffer that is being written has no end: if system
 * calls are traced, each read of it adds events (kernel/trace/trace.c: s_next()). So events after view_open() are left
 * out: the trace clock is read before the first byte (`now ts` of per_cpu/cpuN/stats) and compared with the time of
 * each line. Lines without a time (function graph, other clocks) are counted, up to the number of entries that the
 * buffer held.
 *
 * Refused are files that must not be opened only to look at them: write-only files (closing free_buffer empties the
 * buffer), raw pages, and files that block by design.
 */
struct view {
	int fd;
	bool follows; /* the text ends only when tracing ends */
	bool pipe;    /* a trace_pipe: reading removes the text from the buffer, so all of it is shown */
	bool bounded; /* tracing is on, so the text is cut at the time of view_open() */
	bool cut;     /* later text was left out */
	bool ended;
	bool timed;        /* until_us is valid */
	uint64_t until_us; /* the trace clock at view_open(), in us */
	uint64_t lines_left;
	size_t tail; /* bytes of an incomplete line at the end of the caller's buffer */
};
#define VIEW_INIT        \
	{                \
		.fd = -1 \
	}

/* Opens `file`, a name as in instance.h. -ENOENT with similar names. `follow`: wait for more text of trace_pipe. */
int must_check view_open(struct view *view, const struct instance *instance, const char *file, bool follow,
			 struct fail *fail);
void view_close(struct view *view);

/* Appends some text. 1; 0 at the end; -errno. */
int must_check view_read(struct view *view, struct buf *text, struct fail *fail);

/* For tests: the time in a line of `trace`, "... 1234.567890: ", in us. False: the line has none. */
bool view_line_time(const char *line, size_t len, uint64_t *ret_us);

#endif
