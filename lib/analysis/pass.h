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
struct event;
struct findings;
struct out;
struct reader;
struct reader_consumer;
struct table;

/*
 * Which rows a user wants: what happens is followed for all tasks and CPUs, whoever is asked about. All borrowed; zero
 * is everybody.
 */
struct pass_filter {
	const int32_t *pids;
	size_t nr_pids;
	const char *const *comms; /* globs */
	size_t nr_comms;
	const struct cpus *cpus; /* NULL: all */
	bool self;               /* weft's own tasks, too */
};

/*
 * One pass over the events of a reader for any number of analyses, which share the state of the traced machine. The
 * tasks of weft itself, by the PIDs that the file names, take part in what happens and are left out of the tables.
 * Use: pass_init(); pass_add() each analysis; pass_run(); pass_finish().
 */
struct pass {
	struct reader *reader; /* borrowed; started */
	struct pass_filter filter;
	const char *machine; /* the traced one, as `uname -m` names it; "": unknown, names of system calls, too */
	struct state state;
	struct samples_budget budget;  /* of all analyses */
	bool failed;                   /* an analysis had no memory */
	uint64_t block_from, block_ns; /* pass_cut() */
	/*
	 * For an analysis that prints lines while it reads; its owner empties it after each event. NULL: no lines are
	 * wanted.
	 */
	struct out *lines;
	/* Its own: */
	struct pass_item {
		const struct analysis_ops *ops;
		const void *options;
		struct analysis *analysis;
	} * items;
	size_t nr_items;
	int32_t *self;
	size_t nr_self;
	uint64_t self_bits; /* pass_self_bit() of each */
};

/* Borrows the reader, which must have a buffer. -EINVAL where its clock does not count time. */
int must_check pass_init(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct fail *fail);
void pass_release(struct pass *pass);

/* Samples get a mark: which of as many blocks of time, from `first` to `last`, each was taken in. Before pass_run(). */
enum { PASS_BLOCKS = 40 };
void pass_cut(struct pass *pass, uint64_t first, uint64_t last);
/* Whether it is so, because the tables are to be compared with those of other files. */
static inline bool pass_compares(const struct pass *pass)
{
	return pass->budget.marks;
}

int must_check pass_add(struct pass *pass, const struct analysis_ops *ops, const void *options, struct fail *fail);
/* `after`, which may be NULL, sees each event after the analyses have. */
int must_check pass_run(struct pass *pass, const struct reader_consumer *after, struct fail *fail);
/*
 * For whoever shows it events himself, without pass_run(): each event; then, at the end, that there are no more. Then
 * pass_finish(). After that pass_restart() begins anew at that time, with new analyses of the same kinds: memory is
 * that of what happens from then on.
 */
void pass_see(struct pass *pass, const struct event *event);
int must_check pass_end(struct pass *pass, struct fail *fail);
int must_check pass_restart(struct pass *pass, struct fail *fail);

/* Tells which of the first `nr` events that an analysis wants were not recorded. */
void pass_missing(const struct pass *pass, const struct analysis_ops *ops, size_t nr, struct findings *findings);

/*
 * -ENODATA, and in words that `what` ("there are no waits for locks") is so: although the analysis' events were
 * recorded, or else `with` which options they would have been.
 */
int pass_nothing(const struct pass *pass, const struct analysis_ops *ops, const char *what, const char *with,
		 struct fail *fail);

/* Of analysis `index`. */
int must_check pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail);

static inline uint64_t pass_self_bit(int32_t pid)
{
	return UINT64_C(1) << (pid & 63);
}

/*
 * Whether a row of this task is wanted; a task of weft itself is not. pass_chooses() finds out what a look at the PID
 * does not tell.
 */
bool pass_chooses(const struct pass *pass, const struct state_task *task);

static inline bool pass_wants(const struct pass *pass, const struct state_task *task)
{
	if (!pass->filter.nr_pids && !pass->filter.nr_comms && !(pass->self_bits & pass_self_bit(task->pid)))
		return true;
	return pass_chooses(pass, task);
}

bool pass_wants_cpu(const struct pass *pass, uint32_t cpu);
bool pass_is_self(const struct pass *pass, int32_t pid);

/* The task's name: the last that an event told, or the one that the file keeps. */
const char *pass_comm(const struct pass *pass, const struct state_task *task);

/*
 * Cells with p50, p99 and the largest of samples; "-" where there are too few samples. pass_cells(): before them the
 * number of samples.
 */
void pass_spread(struct table *table, const struct samples *samples);
void pass_cells(struct table *table, const struct samples *samples);

#endif
