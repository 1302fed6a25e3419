/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_PRETTY_CALL_INTERNAL_H
#define WEFT_FORMATS_PRETTY_CALL_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct events;
struct ftrace;
struct out;

/*
 * System calls in the format pretty, as strace writes them: one line if nothing of the CPU comes between entry and
 * exit, otherwise "openat(... <unfinished ...>" and "<... openat resumed>) = 3".
 * pretty_calls_settle() runs on one thread, pretty_calls_put() on any.
 */
struct pretty_calls;

/* NULL without memory. */
struct pretty_calls *pretty_calls_new(const struct context *context);
void pretty_calls_free(struct pretty_calls *calls);

/*
 * Writes the kind of the event into the renderer's part of its note. True when the exit followed and was removed from
 * the stream: *ret_exit, valid as long as the event.
 */
bool pretty_calls_settle(struct pretty_calls *calls, struct events *events, struct event *event,
			 struct event *ret_exit);

/* After pretty_calls_settle(), for the exit of a call whose entry is not among the events: it began with this event. */
void pretty_calls_begin(struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *begin, bool color,
			struct event *exit);

/* Writes nothing and returns false if the event is not a system call. The text has no newline. */
bool pretty_calls_put(const struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *event,
		      bool color, struct out *out);

#endif
