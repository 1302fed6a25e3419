/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_TABLES_H
#define WEFT_CMD_STREAM_TABLES_H

#include "lib/analysis/findings.h"
#include "lib/analysis/intervals.h"
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
 * at the end. All lanes of the stream share it.
 */
struct stream_tables {
	const struct analysis_ops *ops;
	uint64_t every_ns;
	struct findings_options print;
	bool redraws; /* on a terminal, each table replaces the one before */
	/* Private: */
	struct intervals intervals;
	struct out *out; /* owned by the stream */
};

/* Call it when the reader is started. Borrows the reader, `out` and `fail`. */
int must_check stream_tables_begin(struct stream_tables *tables, struct reader *reader, struct out *out,
				   struct fail *fail);
void stream_tables_release(struct stream_tables *tables);
/* -errno after a failure; then `fail` is set. */
static inline int stream_tables_failed(const struct stream_tables *tables)
{
	return tables->intervals.failed;
}

/* Returns a sink for a lane; NULL when memory runs out. */
struct sink *stream_tables_sink(struct stream_tables *tables);

#endif
