/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_SPANS_H
#define WEFT_MEANING_FOLLOW_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct event;

/*
 * Pairs of events that begin and end something: a system call of a task (sys_enter_* and sys_exit_*), what the table of
 * lib/meaning/follow/pairs.h has (interrupts, requests of disks, waits for locks), and a task's time on a CPU between
 * two sched_switch. The consumer passes every event in order. A gap ends the pairs that it may affect: the open pairs
 * of its CPU, and all that may end on another one, as system calls, whose tasks may have moved. A pair that began
 * before the first event is unknown, as is one for which memory ran out.
 * Pairs of the function graph are in lib/meaning/follow/calls.h.
 */
struct spans;

enum span_kind {
	SPAN_CALL,   /* a system call of the event's task */
	SPAN_PAIR,   /* one of the table of pairs */
	SPAN_ON_CPU, /* the event's task had the event's CPU */
};

struct span {
	enum span_kind kind;
	uint64_t start, lasted; /* in units of event::ts; the span ends at the event */
	const char *name;       /* for SPAN_PAIR: the event's name up to its last '_', without a NUL; else NULL */
	size_t name_len;
};

/*
 * NULL without memory. Borrows the context. If the buffer has a PID filter, only the tasks of the filter have times on
 * a CPU: switches between others are not recorded.
 */
struct spans *spans_new(const struct context *context);
void spans_free(struct spans *spans);

/* Returns true, and the span, when the event ends one. */
bool spans_see(struct spans *spans, const struct event *event, struct span *ret);

/* Whether memory ran out, so that a span is missing. */
bool spans_starved(const struct spans *spans);

#endif
