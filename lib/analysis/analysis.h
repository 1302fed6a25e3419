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
 * An analysis answers a question about a file with tables. It sees every event of a pass (lib/analysis/pass.h) after the state of the traced
 * machine knows it, and keeps what its tables need: memory grows with keys such as tasks, not with events. What the start of the trace, its
 * end and lost events hide it counts and tells (lib/analysis/findings.h); it never guesses.
 * A new one is a file in this directory with its ops, and its command in cmd/.
 */
struct analysis;

/* An event that an analysis lives on. The table of them ends with an event of NULL. */
struct analysis_want {
	const char *event;    /* "system:event", as -e takes it */
	const char *instead;  /* another that will do, with globs; NULL */
	const char *what_for; /* "who has a CPU": what cannot be told without it */
};

struct analysis_ops {
	const char *name;    /* of its command */
	const char *summary; /* one line, lower case, no full stop */
	const struct analysis_want *wants;
	/* `options` is what the command's options filled, or NULL for their defaults. Borrows the pass. */
	int (*new)(struct pass *pass, const void *options, struct analysis **ret, struct fail *fail);
	void (*see)(struct analysis *analysis, const struct event *event);
	/* Once, behind the last event. */
	int (*finish)(struct analysis *analysis, struct findings *findings, struct fail *fail);
	void (*free)(struct analysis *analysis); /* NULL is a no-op */
};

/* One line for each here, and in the list of those that a summary asks (lib/analysis/summary.c). */
extern const struct analysis_ops sched_analysis;
extern const struct analysis_ops summary_analysis;
extern const struct analysis_ops latency_analysis;  /* options: lib/analysis/latency.h */
extern const struct analysis_ops syscalls_analysis; /* options: lib/analysis/syscalls.h */
extern const struct analysis_ops graph_analysis;
extern const struct analysis_ops irq_analysis;

#endif
