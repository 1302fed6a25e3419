/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TRACE_CMD_FILTER_H
#define WEFT_CMD_TRACE_CMD_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/options/option_value.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct query;
struct trace;

/* The filters of trace-cmd report -F, "EVENT[,EVENT]:EXPRESSION", in the words of lib/meaning/query. */
struct trace_cmd_filters {
	struct trace_cmd_filter {
		char *text; /* "EVENT: FILTER"; owned */
		bool negated;
	} * at;
	size_t nr;
};

/* Adds one -F. Prints what is wrong; the result is then the negative exit status. */
int must_check trace_cmd_filter_add(struct trace_cmd_filters *filters, const char *text, bool negated);

/* Adds those of --pid and --comm, and hands all to the query. */
int must_check trace_cmd_filters_apply(struct trace_cmd_filters *filters, const struct option_words *pids,
				       const struct option_words *comms, struct trace *trace, struct query *query,
				       struct fail *fail);
/* Prints them: report -T. */
int trace_cmd_filters_print(const struct trace_cmd_filters *filters);
void trace_cmd_filters_release(struct trace_cmd_filters *filters);

/*
 * Adds a regular expression as a glob, for what both can say: the ends, ".", ".*". It is found anywhere in the text
 * unless it is tied to an end. False without memory.
 */
bool trace_cmd_put_glob(struct buf *buf, const char *at, const char *end);

#endif
