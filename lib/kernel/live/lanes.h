/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_LANES_H
#define WEFT_KERNEL_LIVE_LANES_H

#include <stddef.h>

#include "formats/sink.h"
#include "lib/kernel/live/flow.h"

struct out;
struct reader;

/*
 * A consumer of a flow that prints its events with sinks. The bytes are those that render.h gives for the same events.
 * Several lanes, one for each buffer of the reader, become one text: events are ordered by (time, lane), and each line,
 * also those of begin() and end(), gets its lane's prefix. A lane's lines without their prefix are the text of that
 * buffer alone.
 */
struct lane {
	struct sink *sink;
	const char *prefix; /* NULL: none */
};

struct lanes {
	struct reader *reader; /* borrowed */
	struct lane *at;       /* one for each buffer of the reader, in the same order; borrowed */
	size_t nr;
	struct out *out;
	struct out *scratch; /* used for lanes with a prefix; NULL if there are none */
	struct sink_event event;
};

/* The lanes must not move any more. */
struct flow_consumer lanes_consumer(struct lanes *lanes);

#endif
