/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_PAIR_INTERNAL_H
#define WEFT_SCREEN_VIEW_PAIR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/follow/pairs.h"
#include "lib/screen/view/search_internal.h"
#include "lib/screen/view/view.h"

struct context;
struct fail;

/*
 * The partner of an event: the exit of an entry and the entry of an exit, where a task that was woken got its CPU,
 * until when the task of a switch had it. What is a pair, lib/meaning/follow/pairs.h knows.
 */
struct pair {
	char what[PAIRS_NAME]; /* of the partner, in words: "sys_exit_openat of this task"; "": the event has none */
	char name[PAIRS_NAME]; /* of its type */
	bool forward;
	const struct context *context; /* of the event: the partner is on the same machine */
	struct pair_end end;           /* of the event */
	uint64_t values[PAIRS_KEYS_MAX];
	int32_t task; /* whose time lies between both; 0: of none */
	bool waking;  /* the partner is the waking of the task with this PID */
	int32_t pid;
};

/*
 * Describes the partner of this event. `waker`: instead who woke the task that a sched_switch gives the CPU to, or to
 * which the event belongs.
 */
void pair_of(const struct event *event, bool waker, struct pair *ret);

/* Finds the partner of the event at a place. `most`: events to read; 0: all. Returns as search_find(). */
int must_check pair_find(struct view *view, struct walk_place place, uint64_t most, struct pair *ret,
			 struct search_found *ret_found, struct fail *fail);
/*
 * Of a sched_switch: finds the waking of the task that gets the CPU, if it ends a wait that began with one. ret->pid
 * is this task. Returns as search_find().
 */
int must_check pair_wait(struct view *view, struct walk_place place, struct pair *ret, struct search_found *ret_waking,
			 struct fail *fail);
/*
 * The same for what pair_of() says of the waker. *ret_queued: when the task was on a queue, as *ret_waking if one event
 * tells both.
 */
int must_check pair_wakeup(struct view *view, struct walk_place place, const struct pair *waker, uint64_t most,
			   struct search_found *ret_waking, struct search_found *ret_queued, struct fail *fail);
int must_check pair_search(struct view *view, struct walk_place place, const struct pair *pair, uint64_t most,
			   struct search_found *ret, struct fail *fail);

#endif
