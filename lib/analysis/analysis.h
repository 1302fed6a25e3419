/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_ANALYSIS_H
#define WEFT_ANALYSIS_ANALYSIS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct fail;
struct findings;
struct pass;

/*
 * An analysis answers a question about a file with tables. It sees every event of a pass (lib/analysis/pass.h) after
 * the state of the traced machine knows it, and keeps what its tables need: memory grows with keys such as tasks, not
 * with events. What the start of the trace, its end and lost events hide it counts and tells (lib/analysis/findings.h);
 * it never guesses.
 * A new one is a file in this directory with its ops, and its command in cmd/.
 */
struct analysis;

/*
 * An event that an analysis lives on, or several that tell one thing. The table of them ends with an event of NULL. It
 * says what `weft record --for NAME` records and what a file lacks: both read it.
 */
struct analysis_want {
	const char *
		event; /* "system:event", as -e takes it: systems, too, and lists with commas; "ftrace:..." comes with a tracer */
	const char *instead;  /* others that will do, with globs; NULL */
	const char *what_for; /* what cannot be told without it: "who has a CPU" */
};

struct analysis_ops {
	const char *name;    /* of its command */
	const char *summary; /* one line, lower case, no full stop */
	const struct analysis_want *wants;
	/* What else a recording for it needs; all may be zero. */
	size_t essential;   /* the number of wants, from the first on, that it cannot do without */
	const char *tracer; /* that is to run */
	const char *option; /* a trace option that makes events tell more, set where the kernel has it */
	const char *stacks; /* events, as -e takes them, to store the kernel's stack with */
	const struct analysis_ops *const *like; /* a recording for these is one for it; ends with NULL */
	/* `options` is the structure that the command's options fill, or NULL for their defaults. Borrows the pass. */
	int (*create)(struct pass *pass, const void *options, struct analysis **ret, struct fail *fail);
	void (*see)(struct analysis *analysis, const struct event *event);
	/* Once, after the last event. */
	int (*finish)(struct analysis *analysis, struct findings *findings, struct fail *fail);
	void (*free)(struct analysis *analysis); /* NULL is a no-op */
};

/* One line for each here, and in the list of those that a summary asks (lib/analysis/summary.c). */
extern const struct analysis_ops sched_analysis;
extern const struct analysis_ops summary_analysis;
extern const struct analysis_ops latency_analysis;        /* options: lib/analysis/latency.h */
extern const struct analysis_ops syscalls_analysis;       /* options: lib/analysis/syscalls.h */
extern const struct analysis_ops syscalls_named_analysis; /* the same; a recording for it has the names of arguments */
extern const struct analysis_ops graph_analysis;          /* options: lib/analysis/graph.h */
extern const struct analysis_ops graph_tree_analysis; /* the calls of one function; options there, too, never NULL */
extern const struct analysis_ops irq_analysis;
extern const struct analysis_ops block_analysis;  /* options: lib/analysis/block.h */
extern const struct analysis_ops locks_analysis;  /* options: lib/analysis/locks.h */
extern const struct analysis_ops stacks_analysis; /* options: lib/analysis/stacks.h */
extern const struct analysis_ops memory_analysis;
extern const struct analysis_ops power_analysis;

/*
 * Those that a recording can be made for, by index and by name; NULL: there is none. A line of each is in analyses.c.
 */
const struct analysis_ops *analysis_at(size_t index);
const struct analysis_ops *analysis_named(const char *name);

#endif
