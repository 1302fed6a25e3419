/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TIMELINE_OPEN_CALLS_INTERNAL_H
#define WEFT_TIMELINE_OPEN_CALLS_INTERNAL_H

#include "lib/base/u64_map.h"
#include "lib/event/place.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct state;

/*
 * The system calls of tasks, from the events of raw_syscalls or syscalls: when a call returns, when it began. Where
 * both systems were recorded each call is found once. After lost events a call that was open is known only if
 * lib/state knows what its task did since then; so the calls are those of weft syscalls.
 */
struct open_calls {
	const struct context *context;
	const struct state *state; /* has seen the event; borrowed */
	struct u64_map calls;      /* by PID */
	bool raw;                  /* raw_syscalls has been seen */
};

/* What open_calls needs of a type of event. */
struct open_calls_type {
	struct place number; /* of the call: the first field after the common ones, whatever its name */
	bool raw;
};

void open_calls_init(struct open_calls *calls, const struct context *context, const struct state *state);
void open_calls_release(struct open_calls *calls);

void open_calls_bind(const struct open_calls *calls, const struct format *format, struct open_calls_type *ret);

void open_calls_enter(struct open_calls *calls, const struct open_calls_type *type, const struct event *event);
/* Returns whether the beginning of the call that returns is known. */
bool open_calls_exit(struct open_calls *calls, const struct open_calls_type *type, const struct event *event,
		     uint64_t *ret_start);

/* After the last event: whether the task is still in the call that it began last. */
bool open_calls_lasts(const struct open_calls *calls, int32_t pid);

#endif
