/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_FLOW_H
#define WEFT_FORMATS_FLOW_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct events;
struct fail;
struct out;
struct sink;

/*
 * Drives a stream that has no end yet through a sink, on the calling thread, as far as it is known. The bytes are those that
 * render.h gives for the same events.
 */
struct flow {
	struct events *events;
	struct sink *sink;
	struct out *out;
	uint64_t limit;                 /* events to print; UINT64_MAX for all */
	uint64_t printed;
	/* Sees each event before it is printed; may be NULL. */
	void (*before)(void *arg, const struct event *event);
	void *before_arg;
};

/* Until `size` bytes are in the out: 1, there may be more; 0: there is nothing more now, or the limit is reached; -errno. */
int must_check flow_run(struct flow *flow, size_t size, struct fail *fail);

/* A gap at the end of a CPU that no record follows. */
void flow_gap(struct flow *flow, uint16_t cpu, int64_t lost);

#endif
