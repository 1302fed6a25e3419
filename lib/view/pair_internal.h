/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_PAIR_INTERNAL_H
#define WEFT_VIEW_PAIR_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/view/search_internal.h"
#include "lib/view/view.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;

/*
 * The partner of an event: the exit of an entry and the entry of an exit, where a task that was woken got its CPU,
 * until when the task of a switch had it. Found by names and by what both have in common.
 */
struct pair {
	char what[80]; /* of the partner, in words: "sys_exit_openat of this task"; "": the event has none */
	char name[64]; /* of its type; with `many` its begin */
	bool many, forward, waking;
	enum pair_common { PAIR_TASK, PAIR_CPU, PAIR_FIELD, PAIR_CALL } common;
	const char *field;      /* of the partner, for PAIR_FIELD */
	uint64_t value, second; /* PAIR_CALL: function and depth */
	int32_t pid;
	uint16_t cpu;
};

/*
 * Describes the partner of this event. `waker`: instead who woke the task that a sched_switch gives the CPU to, or to
 * which the event belongs.
 */
void pair_of(const struct event *event, bool waker, struct pair *ret);

/* Finds the partner of the event at a place. `most`: events to read; 0: all. Returns as search_find(). */
int must_check pair_find(struct view *view, struct walk_place place, uint64_t most, struct pair *ret,
			 struct search_found *ret_found, struct fail *fail);
int must_check pair_search(struct view *view, struct walk_place place, const struct pair *pair, uint64_t most,
			   struct search_found *ret, struct fail *fail);

#endif
