/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_INTERNAL_H
#define WEFT_ANSWERS_WHY_WHY_INTERNAL_H

#include "lib/answers/frame/pass.h"
#include "lib/answers/why/why.h"
#include "lib/answers/why/why_sums_internal.h"
#include "lib/answers/why/why_walk_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/marks.h"

/* The data of the analysis `why`, shared by why.c, which finds the intervals, and why_tables.c. */
enum { WHY_NAME = 48, WHY_TALKS = 512, WHY_TALK_KNOWN = 1, WHY_TALK_SENDS = 2, WHY_TALK_RECEIVES = 4 };

/* An interval that was explained. */
struct why_found {
	uint64_t from, to;
	int32_t pid;
	uint32_t cpu;
	uint32_t name; /* of the task at its end: why_log_text() */
	char what[WHY_NAME];
	struct why_path path;
};

/* Stacks as text, "a-7;b-8;ran", each with its time. */
enum { WHY_STACKS_MAX = 1 << 16 };

struct why_forms {
	struct labels stacks;
	uint64_t *ns; /* by the number of the stack */
	size_t nr;
	bool failed;
};

struct why_analysis {
	struct pass *pass;
	struct why_options options;
	struct why_log log;
	struct kinds types; /* struct why_type */
	struct why_open {
		uint64_t since; /* 0: it is in none */
		int64_t number;
		uint64_t gone; /* when it exited; 0: it did not */
	} * open;              /* by the task's index in the state: the call that it is in */
	size_t nr_open;
	uint8_t talks[WHY_TALKS]; /* by the number of a call: WHY_TALK_...; 0: not yet known */
	bool raw;                 /* raw_syscalls occurred, so syscalls:* are duplicates */
	/*
	 * Of raw_syscalls, entries and exits: where the number is, and the length of a record that has it as most
	 * machines do (place_whole_long()); UINT32_MAX: not all have it there.
	 */
	uint32_t raw_at[2], raw_whole[2];
	bool usual;                 /* only the longest calls are looked at: see_usual() */
	struct why_found *found[2]; /* the longest calls, lives or wakeups; and for WHY_LONGEST the longest wakeups */
	size_t nr[2];
	uint64_t least[2];    /* only what lasts longer is added to them: for most calls nothing else is looked at */
	struct why_many many; /* with options.all or options.slow: all of the first list */
	struct samples lasted;
	struct why_forms forms;     /* with options.form */
	struct marks marks;         /* with WHY_MARK */
	const struct event *marked; /* the event that ends a span; NULL: none does */
	struct out scratch;
	uint64_t waits, broken, wrong;
	/* For a comparison with other recordings: the parts of all calls, and of the longest life of a task. */
	bool compares;
	struct why_lengths lengths;
	struct why_life {
		uint64_t from, to; /* 0: there is none */
		int32_t pid;
	} life;
	bool brief; /* for a summary: two sentences, no tables */
	bool off;
	bool failed;
};

/* Of the first table. */
extern const struct table_column why_columns[];

/* Adds the parts of a path to why->lengths; `of`: "calls", "life". */
void why_lengths_add(struct why_analysis *why, const struct why_path *path, const char *of);
int must_check why_lengths_finish(struct why_analysis *why, struct findings *findings, struct fail *fail);

/* The paths as stacks for other programs: folded ones, added up, or those of speedscope in the order of time. */
void why_forms_release(struct why_forms *forms);
/* Adds the stacks of a path. */
void why_forms_add(struct why_analysis *why, const struct why_path *path);
/* Writes those that were added, or those of the intervals that were found, as lines of the pass. */
int must_check why_forms_write(struct why_analysis *why, size_t list, struct fail *fail);

int must_check why_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
