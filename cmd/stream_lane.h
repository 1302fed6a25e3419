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
 * One instance of a stream: its buffer, and all that is between that and its lines (formats/flow.h: struct flow_lane).
 * The tap and the reader are borrowed and outlive it.
 */
struct stream_lane {
	struct tap *tap;
	struct tap_buffer *buffer;
	struct reader *reader;
	uint16_t index;          /* of its buffer in the reader, and of the lane in the flow */
	struct context *context; /* the reader's */
	struct plugins *plugins;
	struct source *source; /* the reader's */
	struct sink *sink;
	uint64_t *left_out;    /* how many events of weft itself were; the selection's. NULL: none is */
	char *prefix;          /* in front of its lines; NULL: nothing */
	uint64_t *dropped;     /* by CPU: told already; NULL where pages tell */
	struct learnt *learnt; /* texts of formats that came meanwhile */
};

/* What the lanes of a stream have in common; outlives them. */
struct stream_shared {
	struct live_times taken;
	struct sink_times printed;
	size_t queue_max; /* bytes of pages that each CPU may queue */
	size_t busy_cpus; /* that are online: they will */
};

/*
 * Adds the lane's buffer to the reader, which is started once all lanes are open. On failure, too, the lane is to be
 * closed.
 */
int must_check stream_lane_open(struct stream_lane *lane, struct tap *tap, struct reader *reader,
				const struct stream_options *options, struct stream_shared *shared, struct fail *fail);
void stream_lane_close(struct stream_lane *lane);

/* Looks at what the kernel has counted: lib/record/tap_buffer.h, tap_buffer_look(). */
void stream_lane_look(struct stream_lane *lane);
/* Whether it has to be done in each round: no page tells of what is dropped. */
bool stream_lane_looks_always(const struct stream_lane *lane);

/* What no page tells, as the last look has it, is told where it was noticed. */
void stream_lane_dropped(struct stream_lane *lane, struct flow *flow);

/*
 * Of a stopped tap: what was lost without a page to tell it, after the last event of a CPU or where the kernel keeps
 * the oldest.
 */
void stream_lane_last_gaps(const struct stream_lane *lane, struct flow *flow);

/* Of a stopped tap. */
void stream_lane_sum(const struct stream_lane *lane, struct stream_sum *ret);

#endif
