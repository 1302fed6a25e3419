/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_EXPLAIN_BRIEF_INTERNAL_H
#define WEFT_ANSWERS_EXPLAIN_BRIEF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/explain/brief.h"
#include "lib/ground/base/buf.h"
#include "lib/meaning/event/tasks.h"

struct analysis_run;
struct event;
struct event_type;
struct pass;
struct table;

/* Something that stands out, and how much: the largest weight comes first. */
enum { BRIEF_TEXT = 240 };
struct brief_case {
	enum brief_kind kind;
	double weight;
	uint64_t lasted, from, to; /* to 0: it is not one case */
	int32_t pid;               /* whose time it is, which why tells; 0: nobody's */
	char comm[TASK_COMM_LEN];
	char what[BRIEF_TEXT], why[BRIEF_TEXT], usual[BRIEF_TEXT / 2], command[BRIEF_TEXT / 2];
};

/* What only events tell, and no table. */
enum { BRIEF_RARE = 16 };
struct brief_watch {
	uint64_t events, lost;
	bool more_lost; /* there are gaps without a number */
	struct brief_rare {
		uint64_t count, first;
		uint32_t cpu;
		int32_t pid; /* of the first */
		char comm[TASK_COMM_LEN];
		int64_t signal;
		bool victim; /* the event is about that task */
	} rare[BRIEF_RARE];
	struct brief_type {
		const struct event_type *type;
		uint8_t index; /* in the list of rare events, + 1; 0: none */
	} * types;             /* by buffer and event_type::index, of the events up to now */
	size_t nr_types;
	const struct pass *pass;
	bool failed;
};

void brief_watch_see(void *arg, const struct event *event);
void brief_watch_release(struct brief_watch *watch);

enum { BRIEF_CASES = 64 };
struct brief_rules {
	const struct brief_options *options;
	const struct brief_watch *watch;
	const struct analysis_run *runs;
	size_t nr_runs;
	uint64_t span;
	uint64_t limit; /* the time that a case takes at least */
	uint64_t least; /* the least that this ever is */
	double share;   /* of the span, that all cases of a row take at least */
	bool full;      /* the CPUs were busy all the time, and that is a case itself */
	bool disk_busy;
	struct brief_case cases[BRIEF_CASES];
	size_t nr;
};

/* The table with this name that has this column; NULL: there is none. */
const struct table *brief_table(const struct brief_rules *rules, const char *name, const char *column);
/* A case to fill; NULL: its kind is not asked for, or there are too many. */
struct brief_case *brief_add(struct brief_rules *rules, enum brief_kind kind, double weight);
bool brief_is_long(const struct brief_rules *rules, uint64_t longest, uint64_t usual, uint64_t count);

/* brief_rules.c: adds all that stands out in the tables; brief_facts.c: and in the events. */
void brief_apply(struct brief_rules *rules);
void brief_apply_facts(struct brief_rules *rules);

#endif
