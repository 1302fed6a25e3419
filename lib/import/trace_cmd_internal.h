/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_TRACE_CMD_INTERNAL_H
#define WEFT_IMPORT_TRACE_CMD_INTERNAL_H

#include "lib/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct graph_text;
struct head;

/*
 * Reads the text of 'trace-cmd report'. The name of an event fills a column there, and libtraceevent's plugins print
 * some events in a form of their own. These become the text that the kernel prints of the same event. Nothing is added:
 * what the plugins leave out (the "+" of a preempted task) is missing. perf script prints the same texts.
 */
struct trace_cmd {
	bool is;         /* the text is one of trace-cmd */
	struct buf body; /* the kernel's text of the last event */
};

enum trace_cmd_what {
	TRACE_CMD_NOTHING, /* the line has the kernel's own form */
	TRACE_CMD_EVENT,   /* the body of the head is the kernel's text now */
	TRACE_CMD_GRAPH,   /* the line is one of the function graph, which is filled in */
	TRACE_CMD_STARVED, /* memory ran out */
};

/* Whether the line is "cpus=2", which begins such a text. */
bool trace_cmd_header(const char *line, size_t len);

/*
 * Reads the body of a line. `kernels`: the text has a header of the kernel, so that only a text which began as one of
 * trace-cmd is taken for it. The new body is borrowed from `reader`.
 */
enum trace_cmd_what trace_cmd_read(struct trace_cmd *reader, bool kernels, struct head *head, struct graph_text *graph);

/*
 * Makes the kernel's line of a line of a stack, "=> vfs_read (ffffffff81234567)" or "\t=> 0x473bf3"; reader->body has
 * it. Returns false if it is none, or when memory runs out.
 */
bool trace_cmd_caller(struct trace_cmd *reader, const char *line, size_t len);

#endif
