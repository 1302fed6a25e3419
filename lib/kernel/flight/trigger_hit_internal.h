/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_TRIGGER_HIT_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_TRIGGER_HIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCH_REASON = 256 };

/* A condition that was met. */
struct watch_hit {
	uint64_t time;             /* of the trace clock: the event's own, or now */
	char reason[WATCH_REASON]; /* one line */
	unsigned more;             /* how often it was met besides, at the same look */
};

/* Copies text as a reason: one line, cut where it does not fit. */
void watch_reason(struct watch_hit *hit, const char *text, size_t len);

/* Finds the time stamp in a line of trace_pipe, in ns: the text "] d..2. 12.345678: ". False: there is none. */
bool watch_line_time(const char *line, size_t len, uint64_t *ret);

#endif
