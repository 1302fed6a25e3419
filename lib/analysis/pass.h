/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_PASS_H
#define WEFT_ANALYSIS_PASS_H

#include "lib/analysis/analysis.h"
#include "lib/base/samples.h"
#include "lib/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpus;
struct findings;
struct out;
struct reader;
struct reader_consumer;
struct table;

/* Which rows a user wants: what happens is followed for all tasks and CPUs, whoever is asked about. All borrowed; zero is everybody. */
struct pass_filter {
	const int32_t *pids;
	size_t nr_pids;
	const char *const *comms; /* globs */
	size_t nr_comms;
	const struct cpus *cpus; /* NULL: all */
	bool self;               /* weft's own tasks, too */
};

/*
 * One pass over the events of a reader for any number of analyses, which share the state of the traced machine. The tasks of weft itself, by
 * the PIDs that the file names, take part in what happens and are left out of the tables.
 * Use: pass_init(); pass_add() each analysis; pass_run(); pass_finish().
 */
struct pass {
	struct reader *reader; /* borrowed; started */
	struct pass_filter filter;
	const char *machine; /* the traced one, as `uname -m` names it; "": unknown, names of system calls, too */
	struct state state;
	struct samples_budget budget; /* of all analyses */
	bool failed;                  /* an analysis had no memory */
	/* Where an analysis prints a line for each of something; its owner empties it after each event. NULL: nowhere. */
	struct out *lines;
	/* Its own: */
	struct pass_item {
		const struct analysis_ops *ops;
		struct analysis *analysis;
	} * items;
	size_t nr_items;
	int32_t *self;
	size_t nr_self;
};

/* Borrows the reader, which must have a buffer. -EINVAL where its clock does not count time. */
int must_check pass_init(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct fail *fail);
void pass_release(struct pass *pass);

int must_check pass_add(struct pass *pass, const struct analysis_ops *ops, const void *options, struct fail *fail);
/* `after`, which may be NULL, sees each event after the analyses have. */
int must_check pass_run(struct pass *pass, const struct reader_consumer *after, struct fail *fail);
/* Of analysis `index`. */
int must_check pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail);

/* Whether a row of this task is wanted; a task of weft itself is not. */
bool pass_wants(const struct pass *pass, const struct state_task *task);
bool pass_wants_cpu(const struct pass *pass, uint32_t cpu);
bool pass_is_self(const struct pass *pass, int32_t pid);

/* The task's name: the last that an event told, or the one that the file keeps. */
const char *pass_comm(const struct pass *pass, const struct state_task *task);

/* Cells with n, p50, p99 and the largest of samples; "-" for what so few cannot tell. */
void pass_cells(struct table *table, const struct samples *samples);

#endif
