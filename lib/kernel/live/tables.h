/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_TABLES_H
#define WEFT_KERNEL_LIVE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/intervals.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/kernel/live/flow.h"
#include "lib/meaning/event/event.h"

struct analysis_ops;
struct fail;
struct reader;

/*
 * A consumer of a flow that prints the tables of an analysis instead of lines: one set for each interval, and one for
 * the whole stream at the end.
 */
struct live_tables {
	const struct analysis_ops *ops;
	const void *options; /* of the analysis; borrowed; or NULL */
	bool follows;        /* rows are those whom tasks belong to (who_follow() of lib/meaning/follow/who.h) */
	uint64_t every_ns;
	struct findings_options print;
	bool redraws; /* on a terminal, each table replaces the one before */
	/*
	 * Takes the findings of each interval, instead of printing; what it leaves is released. NULL: they are
	 * printed.
	 */
	int (*taken)(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail);
	void *taken_arg;
	/* Sees each event behind the analysis; NULL: nobody does. */
	void (*seen)(void *arg, const struct event *event);
	void *seen_arg;
	/* Private: */
	struct intervals intervals;
	struct event event;
	struct out *out;
	const struct reader *reader;
};

/* The tables must not move any more. */
struct flow_consumer live_tables_consumer(struct live_tables *tables);

/* Call it when the reader is started. Borrows the reader, `out` and `fail`. */
int must_check live_tables_begin(struct live_tables *tables, struct reader *reader, struct out *out, struct fail *fail);
void live_tables_release(struct live_tables *tables);

#endif
