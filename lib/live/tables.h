/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_LIVE_TABLES_H
#define WEFT_LIVE_TABLES_H

#include "lib/analysis/findings.h"
#include "lib/analysis/intervals.h"
#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/event/event.h"
#include "lib/live/flow.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis_ops;
struct fail;
struct reader;

/*
 * A consumer of a flow that prints the tables of an analysis instead of lines: one set for each interval, and one for
 * the whole stream at the end.
 */
struct live_tables {
	const struct analysis_ops *ops;
	uint64_t every_ns;
	struct findings_options print;
	bool redraws; /* on a terminal, each table replaces the one before */
	/*
	 * Takes the findings of each interval, instead of printing; what it leaves is released. NULL: they are
	 * printed.
	 */
	int (*taken)(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail);
	void *taken_arg;
	/* Private: */
	struct intervals intervals;
	struct event event;
	struct out *out;
};

/* The tables must not move any more. */
struct flow_consumer live_tables_consumer(struct live_tables *tables);

/* Call it when the reader is started. Borrows the reader, `out` and `fail`. */
int must_check live_tables_begin(struct live_tables *tables, struct reader *reader, struct out *out, struct fail *fail);
void live_tables_release(struct live_tables *tables);

#endif
