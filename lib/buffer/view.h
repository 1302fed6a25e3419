/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BUFFER_VIEW_H
#define WEFT_BUFFER_VIEW_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;

/*
 * A text file of an instance, to be shown to a person.
 * Invariant: reading ends, also where tracing goes on. `trace` of a buffer that is written to has no end of its own: with system
 * calls traced, reading it is what makes it grow (kernel/trace/trace.c: s_next()). So what happened after the call is left out: the trace clock
 * is read before the first byte (`now ts` of per_cpu/cpuN/stats), and lines are looked at for their time; where they have none
 * (function graph, other clocks), they are counted against the entries that the buffer had.
 * Files that must not be opened for looking at them are refused: those that are only written (closing free_buffer empties the
 * buffer), raw pages, and what blocks by design.
 */
struct view {
	int fd;
	bool follows; /* has no end but that of tracing */
	bool pipe;    /* what is read is gone from the buffer: it is shown whole */
	bool bounded; /* tracing is on */
	bool cut;     /* something later was left out */
	bool ended;
	bool timed;        /* until_us counts */
	uint64_t until_us; /* the trace clock when it was opened */
	uint64_t lines_left;
	size_t tail; /* bytes of a line that is not yet complete, at the end of the buffer of the caller */
};
#define VIEW_INIT        \
	{                \
		.fd = -1 \
	}

/* `file` as in instance.h; unknown ones come with near names. `follow`: of trace_pipe, wait for more. */
int must_check view_open(struct view *view, const struct instance *instance, const char *file, bool follow,
			 struct fail *fail);
void view_close(struct view *view);

/* Appends some text: 1, 0 at the end, -errno. */
int must_check view_read(struct view *view, struct buf *text, struct fail *fail);

/* The time in a line of `trace`, "... 1234.567890: ", in us: for tests. */
bool view_line_time(const char *line, size_t len, uint64_t *ret_us);

#endif
