/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_ANALYSIS_H
#define WEFT_ANSWERS_FRAME_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/analysis_list.h"
#include "lib/answers/frame/columns.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct event;
struct dispatch;
struct fail;
struct findings;
struct pass;
struct parallel_sum_ops;
struct table;

/*
 * An analysis answers a question about a file with tables. It sees the events of a pass (lib/answers/frame/pass.h) that
 * it needs, each after the state of the traced machine has seen it, and keeps what its tables need: memory grows with
 * keys such as tasks, not with events. An analysis never guesses: it counts and reports what the start of the trace,
 * its end and lost events hide (lib/answers/frame/findings.h).
 * A new analysis is a file in this directory with its ops, and its command in cmd/.
 */

/*
 * An event that an analysis needs, or several that give the same information. A table of wants ends with an event of
 * NULL. It decides what `weft record --for NAME` records, and which events the analysis reports as missing from a file.
 */
struct analysis_want {
	/* "system:event" as -e takes it, a system, or a list with commas; "ftrace:..." needs a tracer. */
	const char *event;
	const char *instead;  /* other events that serve as well, with globs; or NULL */
	const char *what_for; /* what stays unknown without the event: "who has a CPU" */
};

/*
 * What lib/meaning/state has to know for a table with rows of tasks: which task a PID is and how it is called; and for
 * one that tells waits for a CPU from sleeps. An analysis wants whatever changes a cell of its tables, also if that is
 * found out by lib/meaning/state (tests/unit/analysis_for.c).
 */
/* clang-format off */
#define ANALYSIS_WANTS_TASKS \
	{ "sched:sched_process_fork", "task:task_newtask", "which task a PID is" }, \
	{ "sched:sched_process_exec,task:task_rename", NULL, "how a task is called from its exec on" }
#define ANALYSIS_WANTS_WAKING \
	{ "sched:sched_waking", "sched:sched_wakeup", "when a sleep ends, and the wait for a CPU begins" }
/* clang-format on */

/*
 * The options of an analysis are a structure that begins with these, or these alone; all zero are the defaults, as is
 * NULL.
 */
struct row_options {
	unsigned by; /* the index of a name in `by` of the analysis */
	/* A table of so many of the longest cases that lasted longer than this. */
	size_t slowest;
	uint64_t longer; /* ns */
};

enum { SLOW_MARGIN_NS = 50000000 };

/*
 * A kind of the analysis's longest cases for which `weft flight` can wait: how the kernel's text names one, and what
 * `weft flight explain` says of it. A table of these ends with an `of` of NULL.
 */
struct analysis_slow {
	const char *of;    /* what the kernel's text has, with a blank before and '=' at its end */
	const char *what;  /* in words, before the task if it is told whose it is */
	const char *table; /* the name of the one with the cases; its first column says how long each took */
	const char *same;  /* NULL, or the key of a column whose number the text has, too: "pid", "cpu", "sector" */
	const char *kind;  /* NULL, or the text that the column `kind` has to have */
	enum { SLOW_OF_TASK, SLOW_OF_NAME, SLOW_OF_NOBODY } whose; /* SLOW_OF_NAME: the name follows `of` */
	uint64_t margin;     /* so much of the time before it is looked at, too, in ns */
	const char *missing; /* why it may not be there */
	bool (*tell)(const struct table *table, size_t row, struct buf *into);
};

struct analysis_ops {
	const char *name;    /* of the analysis and of its command */
	const char *summary; /* one line, lower case, no full stop */
	/* Of its first table, by which --sort orders it; but those are never offered that only data has. NULL: none. */
	const struct table_column *columns;
	/*
	 * The names of what a row can be, which end with NULL: --by. And in a comparison, which may be others; NULL:
	 * the rows that are compared cannot be chosen.
	 */
	const char *const *by, *const *compared_by;
	size_t options_size;              /* 0: that of struct row_options */
	const struct analysis_slow *slow; /* NULL: none */
	bool of_tasks; /* what happens in the tasks that do it: a recording of one command has all of it */
	const struct analysis_want *wants;
	/* What a user is told if finish() returns PASS_NOTHING, and the options that record it: "-e block". */
	const char *nothing, *recorded_by;
	/* What else a recording for the analysis needs; all may be zero. */
	size_t essential;                       /* the number of wants, from the first on, that are indispensable */
	const char *tracer;                     /* the tracer that has to run */
	const char *option;                     /* a trace option that adds to the events; set if the kernel has it */
	const char *stacks;                     /* events, as -e takes them, with which the kernel's stack is stored */
	const char *stacks_instead;             /* on a kernel that has none of these */
	const struct analysis_ops *const *like; /* its recording also has the events of these; ends with NULL */
	bool in_summary;                        /* weft summary has the tables with BRIEF columns */
	/* The options with which a summary has it of the recording of this pass; NULL: it has not. May be NULL. */
	const void *(*summary_of)(const struct pass *pass);
	/*
	 * It takes about as long as all others, beside which it may run in a thread of its own: pass_divide(). The
	 * first one of the list that may have events does.
	 */
	bool apart;
	/* Without options it does not ask who woke a task, or for whom. */
	bool no_causes;
	size_t rows_as_text; /* of each sorted table; 0: 25; SIZE_MAX: all */
	bool whole_lives;    /* the rows of tasks are about their whole lives, with all their names */
	/*
	 * For slices of time: makes the analysis, the first of a struct pass that is the argument, from parts of it.
	 * NULL: it is not made so (why, lib/answers/frame/pass.c says).
	 */
	const struct parallel_sum_ops *shares;
	/* Whether this pass, which has the analysis, can: asked before anything of the file is read for slices. */
	bool (*can_share)(const struct pass *pass);
	size_t size; /* of what it keeps: its functions get a struct NAME_analysis of this size */
	/*
	 * Prepares an analysis that is all zeros. `options` is the structure that the command fills from its options,
	 * or NULL for the defaults. Borrows the pass. False when there is no memory; release() is called even then.
	 */
	bool (*init)(void *analysis, struct pass *pass, const void *options);
	/*
	 * Called with the first event of each type in each buffer, before the state sees it: returns the role in which
	 * see() gets the events of this type, or ROLE_NONE (lib/meaning/follow/roles.h), and it gets none of them.
	 * NULL: see() gets all events, in role 1.
	 */
	uint8_t (*look)(void *analysis, const struct event *event);
	/*
	 * What it pairs may begin on one CPU and end on another: it is shown a gap before each event, once the data of
	 * a CPU has ended early (EVENT_LOST_REST). Without it, state::losses and state::step say enough.
	 */
	bool across;
	/* Every gap of lost events has the role ROLE_NONE. */
	void (*see)(void *analysis, const struct event *event, uint8_t role);
	/* The analyses whose tables it has: they get the events of their types, but no gaps. NULL: none. */
	const struct dispatch *(*parts)(const void *analysis);
	/*
	 * Of a pass of intervals (pass::divides), for what an interval's end may cut; NULL: nothing of it has a time.
	 * divide(), when the state is settled: adds the time so far of all that is under way to the sums, and holds its
	 * tasks (state_hold()). carry(), of the next interval: takes it from the analysis before, which is released
	 * then; tasks have new indices (state_moved()), and what they have spent counts from 0.
	 */
	void (*divide)(void *analysis);
	void (*carry)(void *analysis, void *before);
	/* Called once, after the last event. PASS_NOTHING: nothing of what it is about is among the events. */
	int (*finish)(void *analysis, struct findings *findings, struct fail *fail);
	void (*release)(void *analysis); /* what it holds */
};

/* Each is in the list of analysis_list.h; what its options are, the header of its name says. NULL: the defaults. */
#define ANALYSIS_EXTERN(name) extern const struct analysis_ops name##_analysis;
ANALYSES(ANALYSIS_EXTERN)
#undef ANALYSIS_EXTERN

/* Variants of these, with the same name. */
extern const struct analysis_ops syscalls_named_analysis; /* same tables; its recording has the arguments' names */
extern const struct analysis_ops stacks_on_cpu_analysis;  /* of what record --profile has sampled */
extern const struct analysis_ops
	graph_longer_analysis;                        /* the calls that lasted longer; options in graph.h, never NULL */
extern const struct analysis_ops graph_tree_analysis; /* the calls of one function; options in graph.h, never NULL */

/* Returns the defaults of its options, to be freed; NULL without memory. */
struct row_options *analysis_options(const struct analysis_ops *ops);
int must_check analysis_new(const struct analysis_ops *ops, struct pass *pass, const void *options, void **ret,
			    struct fail *fail);
void analysis_free(const struct analysis_ops *ops, void *analysis); /* NULL is a no-op */

/* The analyses, by index and by name; NULL: there is none. */
enum { ANALYSES_MAX = 32 };
const struct analysis_ops *analysis_at(size_t index);
const struct analysis_ops *analysis_named(const char *name);
/* Adds the columns that --sort offers, each as one word that it takes: a title, or what JSON calls it. */
bool must_check analysis_sorts(const struct analysis_ops *ops, const char *between, struct buf *into);
/* Adds their names as people list them: "a, b and c". */
bool must_check analysis_list_text(struct buf *into);

#endif
