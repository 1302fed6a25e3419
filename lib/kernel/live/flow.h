/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_FLOW_H
#define WEFT_KERNEL_LIVE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct out;
struct reader;

/*
 * Passes the events of a live reader to a consumer, on the calling thread, as far as their order is certain. The
 * consumer turns them into text.
 */
struct flow_consumer {
	void *arg; /* of the functions */
	/* Where each event is put before settle(): the consumer's own, so it may have more behind it. */
	struct event *event;
	/* Before the first event, and after the last one; may be NULL. */
	void (*begin)(void *arg);
	void (*end)(void *arg);
	/* Each event in order. False: the event is left out. */
	bool (*settle)(void *arg, struct event *event);
	/* Each event that is not left out; may be NULL. */
	void (*print)(void *arg, const struct event *event);
	/* -errno after a failure, which the consumer has described; may be NULL. */
	int (*failed)(const void *arg);
};

struct flow {
	struct reader *reader; /* started; borrowed */
	struct flow_consumer consumer;
	struct out *out; /* that the consumer writes to */
	uint64_t limit;  /* events to print; UINT64_MAX for all */
	uint64_t printed;
	/* Called with each event before it is printed; may be NULL. */
	void (*before)(void *arg, const struct event *event);
	void *before_arg;
};

void flow_begin(struct flow *flow);
/* Returns 0, or -errno if the consumer has failed. */
int must_check flow_end(struct flow *flow);

/*
 * Prints until `size` bytes are in the out: 1, there may be more; 0: there is nothing more now, or the limit is
 * reached; -errno.
 */
int must_check flow_run(struct flow *flow, size_t size, struct fail *fail);

/* Prints a gap at the end of a CPU's events. */
void flow_gap(struct flow *flow, uint16_t buffer, uint16_t cpu, int64_t lost);

#endif
