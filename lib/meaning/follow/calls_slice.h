/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_CALLS_SLICE_H
#define WEFT_MEANING_FOLLOW_CALLS_SLICE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/follow/calls.h"

/*
 * The calls of a slice of time (lib/meaning/reader/slices.h), without losses, which are joined with those of the slices
 * before. What an event of a task means depends on the functions that were open when the slice began, on interrupts
 * that hit them, and on calls of the same function. That is over when the task has returned from its outermost function
 * and then called and left another one: from there on the slice knows the same as one reader of all events. The events
 * of a task up to there are kept by the consumer, and seen again when the slices before are known. A task that never
 * returns from its outermost function has all its events kept.
 */
enum calls_step {
	CALLS_NONE,
	CALLS_ENDED, /* the event ended a call */
	CALLS_KEEP,  /* the consumer has to keep a copy of the event, and its type, for calls_slice_again() */
};

/* After calls_new(), for all slices but the first. */
void calls_slice_begin(struct calls *calls);

/* As calls_see() for an entry or an exit. */
enum calls_step calls_slice_see(struct calls *calls, const struct event *event, struct call *ret);

/* For each kept event, in their order: whether it ends a call, as calls_see(). `from`: the calls that said keep. */
bool calls_slice_again(struct calls *into, struct calls *from, const struct event *event, struct call *ret);

/*
 * After all kept events were seen again: moves the calls that are open at the end of the slice into those of all
 * slices before. False: a task's calls are not what the slice took them for, or memory ran out; then all events have
 * to be seen in order.
 */
bool must_check calls_slice_join(struct calls *into, struct calls *from);

#endif
