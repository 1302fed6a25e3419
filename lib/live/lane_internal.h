/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_LIVE_LANE_INTERNAL_H
#define WEFT_LIVE_LANE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/stream/live_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct flow;
struct reader;
struct live_sum;
struct tap;

/*
 * One instance of a stream: its buffer, and everything between the buffer and its events. The tap and the reader are
 * borrowed and outlive it.
 */
struct live_lane {
	struct tap *tap;
	struct tap_buffer *buffer;
	struct reader *reader;
	uint16_t index;          /* of its buffer in the reader */
	struct context *context; /* owned by the reader */
	struct source *source;   /* owned by the reader */
	uint64_t *left_out;      /* number of weft's own events left out, owned by the selection; NULL: none are */
	uint64_t *dropped;       /* by CPU: losses that were reported already; NULL: pages report them */
	struct learnt *learnt;   /* formats of events created meanwhile */
};

/* What all lanes of a stream share. It outlives them. */
struct live_shared {
	struct live_times taken;
	size_t queue_max; /* bytes of pages that each CPU may have in its queue */
	size_t busy_cpus; /* number of online CPUs: these will use their queues */
};

/*
 * Adds the lane's buffer to the reader, which is started once all lanes are open. The lane must be closed even after a
 * failure.
 */
int must_check live_lane_open(struct live_lane *lane, struct tap *tap, struct reader *reader,
			      struct live_shared *shared, struct fail *fail);
void live_lane_close(struct live_lane *lane);

/* live_leave_out_self() of live.h. */
int must_check live_lane_leave_out_self(struct live_lane *lane, const uint64_t **ret, struct fail *fail);

/* Reads what the kernel has counted: tap_buffer_look() of lib/record/tap_buffer.h. */
void live_lane_look(struct live_lane *lane);
/* Returns whether that is needed in each round, because no page reports lost events. */
bool live_lane_looks_always(const struct live_lane *lane);

/* Reports losses that no page reports, as of the last look. */
void live_lane_dropped(struct live_lane *lane, struct flow *flow);

/*
 * Reports the remaining losses of a stopped tap that no page reports: those after the last event of a CPU, or where the
 * kernel keeps the oldest events.
 */
void live_lane_last_gaps(const struct live_lane *lane, struct flow *flow);

/* The tap must be stopped. */
void live_lane_sum(const struct live_lane *lane, struct live_sum *ret);

#endif
