/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_TABLES_H
#define WEFT_CMD_STREAM_TABLES_H

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/cleanup.h"
#include "lib/base/out.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis_ops;
struct fail;
struct reader;
struct sink;

/*
 * In the place of a stream's lines: the tables of an analysis, of one interval after the other, and in the end of all.
 * Intervals are those of the events' own times: one ends when an event comes that is later. All lanes of the stream
 * share it.
 */
struct stream_tables {
	const struct analysis_ops *ops;
	uint64_t every_ns;
	struct findings_options print;
	bool redraws; /* each table takes the place of the one before, on a terminal */
	/* Its own: */
	struct pass whole, part;
	struct out *out; /* the stream's */
	bool begun, ended;
	uint64_t first, from, events, all_events;
	struct fail *fail; /* what went wrong, with `failed` */
	int failed;
};

/* Once the reader is started. Borrows it, the out and `fail`. */
int must_check stream_tables_begin(struct stream_tables *tables, struct reader *reader, struct out *out,
				   struct fail *fail);
void stream_tables_release(struct stream_tables *tables);

/* The sink of a lane; NULL without memory. */
struct sink *stream_tables_sink(struct stream_tables *tables);

#endif
