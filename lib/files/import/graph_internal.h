/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_GRAPH_INTERNAL_H
#define WEFT_FILES_IMPORT_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/graph_text_internal.h"
#include "lib/ground/base/u64_map.h"

struct buf;
struct import_names;

/*
 * Follows the lines of a function graph: which task runs on a CPU, which function a closing brace ends, and when. For
 * lines without times, the time of a CPU advances by the durations of its functions, and no line is earlier than the
 * line before it. So the order and the durations are those of the text, and the time between functions is missing.
 */
struct graph_cpu;

struct import_graph {
	struct graph_cpu **cpus; /* array of HEAD_CPU_MAX; NULL before the first line of a graph */
	struct u64_map opened;   /* by PID and depth: the open function */
	bool by_task;            /* a closing brace belongs to its task's function, not to that of its CPU */
	uint32_t last_cpu;       /* the CPU of lines without that column */
	uint64_t guessed;        /* number of lines without a time */
	bool seen, starved;
	/*
	 * Which columns the lines have, for the options of the file. The report has those that no line lacks: it would
	 * make up what the other lines have there.
	 */
	struct graph_columns {
		bool abstime, relative, flags, cpu, duration;
	} some, lack;
	bool proc, no_overhead, tail, overrun, retval, bare;
	bool no_tail; /* a closing brace has no name, so that names of others do not come from funcgraph-tail */
};

/* A record of funcgraph_entry, or of funcgraph_exit if `exit`. */
struct graph_call {
	bool exit;
	bool has_retval;
	/* The two times of an exit are as far apart as the text says, also where its clock does not allow that. */
	uint64_t ts, func, calltime, rettime, retval;
	int32_t depth;
	const char *text; /* of an entry: the arguments; borrowed from the line, as is the note */
	size_t text_len;
	const char *note;
	size_t note_len;
};

/*
 * The PID of a CPU's task that no line names is this number plus the CPU's number. It is above any PID of a kernel
 * (PID_MAX_LIMIT).
 */
enum { GRAPH_UNKNOWN_PID = 1 << 22, GRAPH_CALLS_MAX = 2 };

void import_graph_init(struct import_graph *graph);
void import_graph_release(struct import_graph *graph);

/*
 * Fills in the head of a line: CPU, task, time. `clock` is the time of the CPU's last record, `last` that of the last
 * line. Returns false if the task is not known yet; head.pid is then a stand-in.
 */
bool import_graph_place(struct import_graph *graph, struct graph_text *text, const uint64_t *clock, uint64_t last);

/* Another task runs on the CPU from now on. Returns true if this line is the first to name the task before it. */
bool import_graph_switch(struct import_graph *graph, const struct graph_text *text);

/* Declares all tasks that are not known yet unknown for good. */
void import_graph_give_up(struct import_graph *graph);

/* Makes the records of an entry, a leaf or an exit that was placed. Returns their number. */
size_t import_graph_calls(struct import_graph *graph, const struct graph_text *text, struct import_names *names,
			  struct graph_call calls[GRAPH_CALLS_MAX]);

/* Whether the file is to have this column, which no line lacks. */
bool import_graph_is_relative(const struct import_graph *graph);

/*
 * Writes which columns only some lines have, "times, flags"; an empty text if there is none. `plain`: the text also has
 * events in the usual form, with the clock's times, of which the option latency-format would print another number, so
 * the flags, which come with it, count as partial.
 */
void import_graph_partial(const struct import_graph *graph, bool plain, char *ret, size_t size);

/* Adds the options of the file, as lines like those of trace_options. */
bool import_graph_options(const struct import_graph *graph, bool plain, struct buf *options);

#endif
