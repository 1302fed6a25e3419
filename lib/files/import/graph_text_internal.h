/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_GRAPH_TEXT_INTERNAL_H
#define WEFT_FILES_IMPORT_GRAPH_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/head_internal.h"

/*
 * Parses a line of the function graph (kernel/trace/trace_functions_graph.c), with any of its columns. The bytes may
 * come from anywhere: nothing outside the line is read.
 */
enum graph_text_what {
	GRAPH_TEXT_ENTRY,   /* "foo() {" */
	GRAPH_TEXT_LEAF,    /* "foo();" */
	GRAPH_TEXT_EXIT,    /* a closing brace */
	GRAPH_TEXT_COMMENT, /* an event: its text is `name` */
	GRAPH_TEXT_SWITCH,  /* "0)     sh-256     =>   rcuc/0-19": from the task in `head` to the one in `next` */
	GRAPH_TEXT_OVERRUN, /* belongs to the exit in the line before */
	GRAPH_TEXT_NOTHING, /* the lines around a switch, and the arrows of interrupts */
};

enum { GRAPH_TEXT_DEPTH_MAX = 500 };

struct graph_text {
	enum graph_text_what what;
	struct head head; /* only what the columns below contain */
	struct head next;
	bool has_time, has_cpu, has_task, has_column; /* has_column: the line has the column of the duration */
	bool is_relative;                             /* the time counts from the begin of a latency */
	bool has_duration, has_mark, has_retval;
	bool has_old_mark, has_new_mark; /* a long duration has the mark that it had before 3.19, or has since */
	uint64_t duration, retval;       /* duration: in ns */
	uint32_t overrun;
	unsigned depth;
	const char *name; /* may be missing in an exit */
	size_t name_len;
	const char *args; /* what is between the parentheses of a call: funcgraph-args */
	size_t args_len;
	/*
	 * The comment behind a call or a brace, if it is more than the name and a return value as weft prints them: a
	 * return address (funcgraph-retaddr), "ret=", a value such as "true".
	 */
	const char *note;
	size_t note_len;
};

/*
 * Parses a line without its newline. `bare`: the line may have no columns at all. Returns false if it is no line of a
 * graph.
 */
bool graph_text_parse(const char *line, size_t len, bool bare, struct graph_text *ret);

/* Parses a line from the column of the duration on; the head, which has task, CPU and time, is known. */
bool graph_text_columns(const char *at, size_t len, const struct head *head, struct graph_text *ret);

#endif
