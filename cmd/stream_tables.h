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
 * Prints the tables of an analysis instead of a stream's lines: one set for each interval, and one for the whole stream
 * at the end. Intervals follow the times of the events: one ends when a later event comes. All lanes of the stream
 * share it.
 */
struct stream_tables {
	const struct analysis_ops *ops;
	uint64_t every_ns;
	struct findings_options print;
	bool redraws; /* on a terminal, each table replaces the one before */
	/* Private: */
	struct pass whole, part;
	struct out *out; /* owned by the stream */
	bool begun, ended;
	uint64_t first, from, events, all_events;
	struct fail *fail; /* set if `failed` */
	int failed;
};

/* Call it when the reader is started. Borrows the reader, `out` and `fail`. */
int must_check stream_tables_begin(struct stream_tables *tables, struct reader *reader, struct out *out,
				   struct fail *fail);
void stream_tables_release(struct stream_tables *tables);

/* Returns a sink for a lane; NULL when memory runs out. */
struct sink *stream_tables_sink(struct stream_tables *tables);

#endif
