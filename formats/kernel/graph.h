/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_GRAPH_H
#define WEFT_FORMATS_KERNEL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct binding;
struct event;
struct events;
struct fail;
struct ftrace;
struct memo;
struct out;
struct renderer;
struct sink_patches;
struct tracer;

/*
 * The function graph: kernel/trace/trace_functions_graph.c. graph_state.c walks the events in order and writes into the
 * note everything besides the record on which a line depends. graph.c prints lines from these notes, on any thread.
 * Invariant: data from which lines are printed does not change after the first event of the graph was settled.
 */
enum { GRAPH_DEPTH = 50 }; /* FTRACE_RETFUNC_DEPTH: deeper functions print no name for a lost entry */

/* The state for printing the functions of one CPU: struct fgraph_cpu_data. */
struct graph_cpu {
	int32_t last_pid;              /* -1 before the first line */
	int32_t depth;                 /* the depth of comments */
	int32_t depth_irq;             /* depth of the interrupt that is left out; -1: none */
	uint64_t entered[GRAPH_DEPTH]; /* the function open at each depth; 0 for none */
	/* Of a slice whose lines before are unknown: lib/meaning/reader/slices.h. */
	bool guesses; /* last_pid, depth and entered may be GRAPH_UNKNOWN_* */
	bool wrong;   /* the records have one of these numbers themselves, so nothing can be guessed */
	bool guessed_pid, guessed_depth;
	int32_t pid;                 /* the last_pid that was guessed; 0 is guessed for depth */
	uint64_t guessed;            /* a bit for each depth whose function was guessed */
	uint64_t funcs[GRAPH_DEPTH]; /* these functions */
	/* their numbers in sink_patches */
	uint32_t numbers[GRAPH_DEPTH];
};

#define GRAPH_UNKNOWN_PID INT32_MIN
#define GRAPH_UNKNOWN_DEPTH INT32_MIN
#define GRAPH_UNKNOWN_FUNC UINT64_C(0x6e6f7420736565ff)

struct graph {
	/* The funcgraph-* options, and the trace options that the graph uses. */
	bool info, latency, cpu, proc, overhead, duration, old_marks, abstime, irqs, tail, overrun, retval, retval_hex,
		retaddr;
	bool relative;     /* times since a latency began, as irqsoff and wakeup print them: only of imported texts */
	bool names_retval; /* "ret=" before a return value: 6.13 and later */
	/* the options that choose the columns have their defaults: graph_line_usual() */
	bool usual;
	bool nanoseconds;            /* nine decimals where the kernel has six */
	uint8_t cpu_width;           /* digits of the highest possible CPU's number */
	uint64_t irq_start, irq_end; /* the kernel's interrupt entries: both 0 when unknown */
	struct memo *names;          /* NULL without memory: then every name is looked up */
	struct graph_cpu *cpus;      /* by event::cpu_index */
	size_t nr_cpus;
	size_t nr_seam;               /* the CPUs of the buffer: those in a seam */
	struct sink_patches *patches; /* of a slice; borrowed; NULL: nothing is guessed, or no line depends on it */
};

enum graph_what {
	GRAPH_USUAL,  /* not printed by the graph: stacks, and single functions */
	GRAPH_NESTED, /* an entry whose exit comes later or never */
	GRAPH_LEAF,   /* an entry with its exit */
	GRAPH_EXIT,
	GRAPH_EXIT_LOST,    /* an exit whose entry was not seen */
	GRAPH_EXIT_GUESSED, /* an exit whose entry may have been seen, before the slice */
	GRAPH_COMMENT,      /* any other event */
};

/* In sink_event::note, for NOTE_RENDERER_SIZE bytes. */
struct graph_note {
	const uint8_t *exit; /* for a leaf: the record of its exit */
	uint32_t exit_len;
	int32_t before;        /* the task whose functions were printed last on this CPU */
	int32_t depth;         /* for a comment: its depth */
	uint16_t exit_binding; /* in ftrace->bindings */
	uint8_t what;          /* enum graph_what */
	bool switched;         /* the banner with `before` comes first */
};

/*
 * The places of bindings: both records have the first two, entries the next four, and exits the others. The texts of
 * the arguments and of the comment behind a call are in imported files only (lib/files/import).
 */
enum { GRAPH_FUNC, GRAPH_DEPTH_AT, GRAPH_ARGS, GRAPH_RETADDR, GRAPH_ARGS_TEXT, GRAPH_NOTE };
enum { GRAPH_OVERRUN = GRAPH_ARGS, GRAPH_CALLTIME, GRAPH_RETTIME, GRAPH_RETVAL, GRAPH_EXIT_NOTE };

extern const struct tracer graph_tracer;
extern const struct renderer graph_entry_renderer;
extern const struct renderer graph_retaddr_renderer;
extern const struct renderer graph_exit_renderer;

/* Reads the options of ftrace->context, which must be set. */
int must_check graph_new(const struct ftrace *ftrace, struct graph **ret, struct fail *fail);
void graph_free(struct graph *graph);

/*
 * Suppresses the task-switch banner, for a line that names its task itself. The event must have been settled by this
 * tracer.
 */
void graph_hide_switch(struct event *event);

/* The seam of the sink: struct sink_seam_ops. It has the state of each CPU. */
size_t graph_seam_size(const struct graph *graph);
bool graph_seam_forget(struct graph *graph);
void graph_seam_begin(struct graph *graph, struct sink_patches *patches);
void graph_seam_save(const struct graph *graph, void *seam);
void graph_seam_load(struct graph *graph, const void *seam);
bool graph_seam_join(const void *before, void *seam, size_t size, struct sink_patches *patches);

/* Private to graph*.c and its tests. */
void graph_cpu_init(struct graph_cpu *cpu);

/* verif_pid(): true when the lines change from another task, *ret_before. */
void graph_cpu_forget(struct graph_cpu *cpu);
bool graph_cpu_join(const struct graph_cpu *before, struct graph_cpu *cpu, struct sink_patches *patches);
bool graph_cpu_switch(struct graph_cpu *cpu, int32_t pid, int32_t *ret_before);

/* check_irq_entry(), check_irq_return(): true when the line belongs to an interrupt that is left out. */
bool graph_cpu_hides(struct graph_cpu *cpu, const struct graph *graph, uint64_t func, int32_t depth);
bool graph_cpu_leaves_irq(struct graph_cpu *cpu, const struct graph *graph, int32_t depth);

/* Enters a function. Comments are printed one level deeper than the open function; a leaf is never open. */
void graph_cpu_enter(struct graph_cpu *cpu, uint64_t func, int32_t depth, bool leaf);

/*
 * Leaves a function: GRAPH_EXIT, or GRAPH_EXIT_LOST when another function was entered at this depth, or none is known.
 */
enum graph_what graph_cpu_leave(struct graph_cpu *cpu, uint64_t func, int32_t depth, struct sink_patches *patches);

bool graph_settle(struct ftrace *ftrace, const struct binding *binding, struct events *events, struct event *event);
void graph_pass_over(struct ftrace *ftrace, const struct binding *binding, const struct event *event);
bool graph_settle_alone(struct ftrace *ftrace, const struct binding *binding, struct events *events,
			struct event *event);
bool graph_leaves(const struct binding *binding); /* types that are not printed as comments */

static inline bool graph_is_irq(const struct graph *graph, uint64_t func)
{
	return func >= graph->irq_start && func < graph->irq_end;
}

#endif
