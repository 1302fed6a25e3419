/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_ANALYSIS_H
#define WEFT_ANALYSIS_ANALYSIS_H

#include "lib/analysis/analysis_list.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct event;
struct analysis_sorts;
struct dispatch;
struct fail;
struct findings;
struct pass;
struct shares_ops;

/*
 * An analysis answers a question about a file with tables. It sees the events of a pass (lib/analysis/pass.h) that it
 * needs, each after the state of the traced machine has seen it, and keeps what its tables need: memory grows with keys
 * such as tasks, not with events. An analysis never guesses: it counts and reports what the start of the trace, its end
 * and lost events hide (lib/analysis/findings.h).
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

struct analysis_ops {
	const char *name;                   /* of the analysis and of its command */
	const char *summary;                /* one line, lower case, no full stop */
	const struct analysis_sorts *sorts; /* the columns that --sort offers; NULL: none */
	const struct analysis_want *wants;
	/* What else a recording for the analysis needs; all may be zero. */
	size_t essential;                       /* the number of wants, from the first on, that are indispensable */
	const char *tracer;                     /* the tracer that has to run */
	const char *option;                     /* a trace option that adds to the events; set if the kernel has it */
	const char *stacks;                     /* events, as -e takes them, with which the kernel's stack is stored */
	const char *stacks_instead;             /* on a kernel that has none of these */
	const struct analysis_ops *const *like; /* its recording also has the events of these; ends with NULL */
	bool in_summary;                        /* weft summary has the tables that findings_brief() marks */
	/* it takes about as long as all others, beside which it may run in a thread of its own: pass_divide() */
	bool apart;
	size_t rows_as_text; /* of each sorted table; 0: 25; SIZE_MAX: all */
	bool whole_lives;    /* the rows of tasks are about their whole lives, with all their names */
	/*
	 * For slices of time: makes the analysis, the first of a struct pass that is the argument, from parts of it.
	 * NULL: it is not made so (why, lib/analysis/pass.c says).
	 */
	const struct shares_ops *shares;
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
	 * see() gets the events of this type, or ROLE_NONE (lib/follow/roles.h), and it gets none of them. NULL: see()
	 * gets all events, in role 1.
	 */
	uint8_t (*look)(void *analysis, const struct event *event);
	/* Every gap of lost events has the role ROLE_NONE. */
	void (*see)(void *analysis, const struct event *event, uint8_t role);
	/* The analyses whose tables it has: they get the events of their types, but no gaps. NULL: none. */
	const struct dispatch *(*parts)(const void *analysis);
	/* Called once, after the last event. */
	int (*finish)(void *analysis, struct findings *findings, struct fail *fail);
	void (*release)(void *analysis); /* what it holds */
};

/* The options of an analysis that lets the user choose its rows and nothing else. */
struct row_options {
	unsigned by; /* a value of the analysis's enum, such as enum block_by */
	/* Of locks and irq: a table of so many of the longest cases that lasted longer than this. */
	size_t slowest;
	uint64_t longer; /* ns */
};

/* Each is in the list of analysis_list.h; what its options are, the header of its name says. NULL: the defaults. */
#define ANALYSIS_EXTERN(name) extern const struct analysis_ops name##_analysis;
ANALYSES(ANALYSIS_EXTERN)
#undef ANALYSIS_EXTERN

/* Variants of these, with the same name. */
extern const struct analysis_ops syscalls_named_analysis; /* same tables; its recording has the arguments' names */
extern const struct analysis_ops
	graph_longer_analysis;                        /* the calls that lasted longer; options in graph.h, never NULL */
extern const struct analysis_ops graph_tree_analysis; /* the calls of one function; options in graph.h, never NULL */

int must_check analysis_new(const struct analysis_ops *ops, struct pass *pass, const void *options, void **ret,
			    struct fail *fail);
void analysis_free(const struct analysis_ops *ops, void *analysis); /* NULL is a no-op */

/* The analyses, by index and by name; NULL: there is none. */
enum { ANALYSES_MAX = 32 };
const struct analysis_ops *analysis_at(size_t index);
const struct analysis_ops *analysis_named(const char *name);
/* Adds their names as people list them: "a, b and c". */
bool must_check analysis_list_text(struct buf *into);

#endif
