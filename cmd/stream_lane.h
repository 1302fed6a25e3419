/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_LANE_H
#define WEFT_CMD_STREAM_LANE_H

#include "formats/sink.h"
#include "lib/base/cleanup.h"
#include "lib/stream/live_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct flow;
struct reader;
struct stream_options;
struct stream_sum;
struct tap;

/*
 * One instance of a stream: its buffer, and everything between the buffer and its lines (formats/flow.h: struct
 * flow_lane). The tap and the reader are borrowed and outlive it.
 */
struct stream_lane {
	struct tap *tap;
	struct tap_buffer *buffer;
	struct reader *reader;
	uint16_t index;          /* of its buffer in the reader, and of the lane in the flow */
	struct context *context; /* owned by the reader */
	struct source *source;   /* owned by the reader */
	struct sink *sink;
	uint64_t *left_out;    /* number of weft's own events left out, owned by the selection; NULL: none are */
	char *prefix;          /* text in front of its lines; NULL: none */
	uint64_t *dropped;     /* by CPU: losses that were reported already; NULL: pages report them */
	struct learnt *learnt; /* formats of events created meanwhile */
};

/* What all lanes of a stream share. It outlives them. */
struct stream_shared {
	struct live_times taken;
	struct sink_times printed;
	size_t queue_max; /* bytes of pages that each CPU may have in its queue */
	size_t busy_cpus; /* number of online CPUs: these will use their queues */
};

/*
 * Adds the lane's buffer to the reader, which is started once all lanes are open. The lane must be closed even after a
 * failure.
 */
int must_check stream_lane_open(struct stream_lane *lane, struct tap *tap, struct reader *reader,
				const struct stream_options *options, struct stream_shared *shared, struct fail *fail);
void stream_lane_close(struct stream_lane *lane);

/* Reads what the kernel has counted: tap_buffer_look() of lib/record/tap_buffer.h. */
void stream_lane_look(struct stream_lane *lane);
/* Returns whether that is needed in each round, because no page reports lost events. */
bool stream_lane_looks_always(const struct stream_lane *lane);

/* Reports losses that no page reports, as of the last look. */
void stream_lane_dropped(struct stream_lane *lane, struct flow *flow);

/*
 * Reports the remaining losses of a stopped tap that no page reports: those after the last event of a CPU, or where the
 * kernel keeps the oldest events.
 */
void stream_lane_last_gaps(const struct stream_lane *lane, struct flow *flow);

/* The tap must be stopped. */
void stream_lane_sum(const struct stream_lane *lane, struct stream_sum *ret);

#endif
