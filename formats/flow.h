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
 * Drives a reader of streams that have no end yet through their sinks, on the calling thread, as far as they are known. The bytes are those
 * that render.h gives for the same events.
 * Several lanes, one for each buffer of the reader, become one text: their events by (time, lane), and in front of each line, those of
 * begin() and end() too, its lane's prefix. Without the lines of the others, and without its prefix, a lane's text is what it is alone.
 */
struct flow_lane {
	struct sink *sink;
	const char *prefix; /* NULL: none */
};

struct flow {
	struct reader *reader;   /* started; borrowed */
	struct flow_lane *lanes; /* of the reader's buffers, in their order */
	size_t nr_lanes;
	struct out *out;
	struct out *scratch; /* for lanes with a prefix; NULL where there are none */
	uint64_t limit;      /* events to print; UINT64_MAX for all */
	uint64_t printed;
	/* Sees each event before it is printed; may be NULL. */
	void (*before)(void *arg, const struct event *event);
	void *before_arg;
};

/* What the sinks print before the first event, and behind the last. */
void flow_begin(struct flow *flow);
void flow_end(struct flow *flow);

/* Until `size` bytes are in the out: 1, there may be more; 0: there is nothing more now, or the limit is reached; -errno. */
int must_check flow_run(struct flow *flow, size_t size, struct fail *fail);

/* A gap at the end of a CPU that no record follows. */
void flow_gap(struct flow *flow, uint16_t lane, uint16_t cpu, int64_t lost);

#endif
