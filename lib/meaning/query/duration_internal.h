/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_DURATION_INTERNAL_H
#define WEFT_MEANING_QUERY_DURATION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct fail;

/*
 * Filters by duration: "duration > 1ms", with a unit (the kernel's filter language has no units), "EVENT: duration >
 * 1ms" and "duration > 1ms && FILTER". The event that ends the measured time meets the filter: the exit of a system
 * call, NAME_exit, the exit of a function, the sched_switch that ends a task's time on a CPU. If the start was before
 * the first event or a gap, the duration is unknown and no filter matches.
 * It must get every event and every gap in order. Borrows the context.
 */
struct durations;

/* Whether the text is such a filter. */
bool duration_asked(const char *text);

int must_check durations_new(const struct context *context, struct durations **ret, struct fail *fail);
void durations_free(struct durations *durations);
int must_check durations_add(struct durations *durations, const char *text, bool negated, struct fail *fail);

/* Whether the event meets a filter that is not negated; *ret_out: it meets a negated one. */
bool durations_keep(struct durations *durations, const struct event *event, bool *ret_out);

/* The same for an event that ends something of a known duration. It may be asked at any time, in any order. */
bool durations_met(struct durations *durations, const struct event *event, uint64_t lasted, bool *ret_out);

/*
 * For an event that durations_keep() has just let pass, or one of the few before it: gives the duration of what the
 * event ends. For a system call it also gives the event that began it, if it was seen; else begin->data is NULL. The
 * event is valid until then.
 */
bool durations_ended(const struct durations *durations, const struct event *event, uint64_t *ret_lasted,
		     struct event *ret_begin);

/* Whether there is a filter that is not negated. */
bool durations_some(const struct durations *durations);

#endif
