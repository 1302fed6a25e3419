/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_GRAPH_H
#define WEFT_IMPORT_GRAPH_H

#include "lib/base/u64_map.h"
#include "lib/import/graph_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct import_names;

/*
 * The lines of a function graph one after the other: which task runs on a CPU, which function a closing brace ends, and
 * when. Where lines have no time, a CPU's goes on by its functions' durations, and no line is before the one in front
 * of it; so the order and the durations are those of the text, and what passed between functions is not there.
 */
struct graph_cpu;

struct import_graph {
	struct graph_cpu **cpus; /* HEAD_CPU_MAX, NULL before the first graph line */
	struct u64_map starts;   /* by PID and depth: when the function that is open there began */
	uint32_t last_cpu;       /* of lines without that column */
	uint64_t guessed;        /* lines without a time */
	bool seen, starved;
	/* What the columns are, for the options of the file. */
	bool abstime, proc, no_cpu, no_duration, no_overhead, tail, overrun, retval, retval_hex, no_errors, bare,
		latency;
};

/* A record of funcgraph_entry or, with `exit`, of funcgraph_exit. */
struct graph_call {
	bool exit;
	uint64_t ts, func, calltime, retval;
	int32_t depth;
};

/*
 * Beyond any PID of a kernel (PID_MAX_LIMIT): that of a CPU's task that no line names is this one and the CPU's number.
 */
enum { GRAPH_UNKNOWN_PID = 1 << 22, GRAPH_CALLS_MAX = 2 };

void import_graph_init(struct import_graph *graph);
void import_graph_release(struct import_graph *graph);

/*
 * Fills in the head of a line: CPU, task, time. `clock` is the time of the CPU's last record, `last` that of the last
 * line. False: the task is not known yet, and head.pid is its stand-in.
 */
bool import_graph_place(struct import_graph *graph, struct graph_text *text, const uint64_t *clock, uint64_t last);

/* Another task runs on the CPU; true: the first one on it is known only now. */
bool import_graph_switch(struct import_graph *graph, const struct graph_text *text);

/* All that are not known stay so. */
void import_graph_give_up(struct import_graph *graph);

/* The records of an entry, a leaf or an exit that was placed: how many. */
size_t import_graph_calls(struct import_graph *graph, const struct graph_text *text, struct import_names *names,
			  struct graph_call calls[GRAPH_CALLS_MAX]);

/* The file's options, lines as in trace_options. */
bool import_graph_options(const struct import_graph *graph, struct buf *options);

#endif
