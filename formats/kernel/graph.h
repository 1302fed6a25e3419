/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_GRAPH_H
#define WEFT_FORMATS_KERNEL_GRAPH_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binding;
struct event;
struct events;
struct fail;
struct ftrace;
struct memo;
struct out;
struct renderer;
struct tracer;

/*
 * The function graph: kernel/trace/trace_functions_graph.c. graph_state.c walks the events in order and leaves in the note
 * what a line depends on besides its record; graph.c prints lines from that, on any thread, and graph_line.c those of the
 * default options, which are nearly all; graph_header.c is the legend.
 * Invariant: what lines are printed from does not change once the first event of the graph was settled.
 */
enum { GRAPH_DEPTH = 50 }; /* FTRACE_RETFUNC_DEPTH: deeper functions print no name for a lost entry */

/* What the printing of one CPU's functions depends on: struct fgraph_cpu_data. */
struct graph_cpu {
	int32_t last_pid;              /* -1 before the first line */
	int32_t depth;                 /* where comments stand */
	int32_t depth_irq;             /* of the interrupt being left out; -1 outside of one */
	uint64_t entered[GRAPH_DEPTH]; /* the function open at each depth; 0 for none */
};

struct graph {
	/* The funcgraph-* options, and those of the trace that matter here. */
	bool info, latency, cpu, proc, overhead, duration, abstime, irqs, tail, overrun, retval, retval_hex, retaddr;
	bool names_retval; /* "ret=" before a return value: 6.13 and later */
	bool usual;        /* those that say which columns there are have their defaults: graph_line_usual() */
	bool nanoseconds;  /* nine decimals where the kernel has six */
	uint8_t cpu_width; /* digits of the highest possible CPU's number */
	uint64_t irq_start, irq_end; /* the kernel's interrupt entries: both 0 when unknown */
	struct memo *names;          /* NULL without memory: then every name is looked up */
	struct graph_cpu *cpus;      /* by event::cpu_index */
	size_t nr_cpus;
};

enum graph_what {
	GRAPH_USUAL,  /* the graph does not print it: stacks, and single functions */
	GRAPH_NESTED, /* an entry, its exit comes later or never */
	GRAPH_LEAF,   /* an entry with its exit */
	GRAPH_EXIT,
	GRAPH_EXIT_LOST, /* an exit whose entry was not seen */
	GRAPH_COMMENT,   /* any other event */
};

/* In sink_event::note, for NOTE_RENDERER_SIZE bytes. */
struct graph_note {
	const uint8_t *exit; /* of a leaf: the record of its exit */
	uint32_t exit_len;
	int32_t before;        /* the task whose functions were printed last on this CPU */
	int32_t depth;         /* of a comment */
	uint16_t exit_binding; /* in ftrace->bindings */
	uint8_t what;          /* enum graph_what */
	bool switched;         /* the banner with `before` comes first */
};

/* The places of bindings: the first two are of both records, the next two of entries, and the others of exits. */
enum { GRAPH_FUNC, GRAPH_DEPTH_AT, GRAPH_ARGS, GRAPH_RETADDR };
enum { GRAPH_OVERRUN = GRAPH_ARGS, GRAPH_CALLTIME, GRAPH_RETTIME, GRAPH_RETVAL };

extern const struct tracer graph_tracer;
extern const struct renderer graph_entry_renderer;
extern const struct renderer graph_retaddr_renderer;
extern const struct renderer graph_exit_renderer;

/* Reads the options of ftrace->context, which is set by then. */
int must_check graph_new(const struct ftrace *ftrace, struct graph **ret, struct fail *fail);
void graph_free(struct graph *graph);

/* For a line that names its task by itself: without the banner. Of an event that this tracer settled. */
void graph_hide_switch(struct event *event);

/* Private to graph*.c and its tests. */
void graph_cpu_init(struct graph_cpu *cpu);

/* verif_pid(): true when the lines now change from *ret_before to another task. */
bool graph_cpu_switch(struct graph_cpu *cpu, int32_t pid, int32_t *ret_before);

/* check_irq_entry(), check_irq_return(): true when the line is part of an interrupt that is to be left out. */
bool graph_cpu_hides(struct graph_cpu *cpu, const struct graph *graph, uint64_t func, int32_t depth);
bool graph_cpu_leaves_irq(struct graph_cpu *cpu, const struct graph *graph, int32_t depth);

/* Comments stand one deeper than the function that is open, and a leaf is not open. */
void graph_cpu_enter(struct graph_cpu *cpu, uint64_t func, int32_t depth, bool leaf);

/* False when another function was entered at this depth, or none that is known. */
bool graph_cpu_leave(struct graph_cpu *cpu, uint64_t func, int32_t depth);

bool graph_settle(struct ftrace *ftrace, const struct binding *binding, struct events *events, struct event *event);
bool graph_settle_alone(struct ftrace *ftrace, const struct binding *binding, struct events *events,
			struct event *event);
bool graph_leaves(const struct binding *binding); /* types that are no comments */
/* graph_line.c: a whole line in one go; false, and nothing printed, when it is not one of the common ones. */
bool graph_line_usual(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		      struct out *out);
void graph_print_name(const struct ftrace *ftrace, uint64_t func, struct out *out);
void graph_header(const struct ftrace *ftrace, struct out *out);

static inline bool graph_is_irq(const struct graph *graph, uint64_t func)
{
	return func >= graph->irq_start && func < graph->irq_end;
}

#endif
