/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_FLOW_H
#define WEFT_FORMATS_FLOW_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct fail;
struct out;
struct reader;
struct sink;

/*
 * Passes the events of a live reader through sinks, on the calling thread, as far as their order is certain. The bytes
 * are those that render.h gives for the same events.
 * Several lanes, one for each buffer of the reader, become one text: events are ordered by (time, lane), and each line,
 * also those of begin() and end(), gets its lane's prefix. A lane's lines without their prefix are the text of that
 * buffer alone.
 */
struct flow_lane {
	struct sink *sink;
	const char *prefix; /* NULL: none */
};

struct flow {
	struct reader *reader;   /* started; borrowed */
	struct flow_lane *lanes; /* one for each buffer of the reader, in the same order */
	size_t nr_lanes;
	struct out *out;
	struct out *scratch; /* used for lanes with a prefix; NULL if there are none */
	uint64_t limit;      /* events to print; UINT64_MAX for all */
	uint64_t printed;
	/* Called with each event before it is printed; may be NULL. */
	void (*before)(void *arg, const struct event *event);
	void *before_arg;
};

/* Print the text of the sinks before the first event, and after the last one. */
void flow_begin(struct flow *flow);
void flow_end(struct flow *flow);

/*
 * Prints until `size` bytes are in the out: 1, there may be more; 0: there is nothing more now, or the limit is
 * reached; -errno.
 */
int must_check flow_run(struct flow *flow, size_t size, struct fail *fail);

/* Prints a gap at the end of a CPU's events. */
void flow_gap(struct flow *flow, uint16_t lane, uint16_t cpu, int64_t lost);

#endif
