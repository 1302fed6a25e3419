/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_SPANS_H
#define WEFT_EVENT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct format;
struct schema_abi;

/*
 * Pairs of events that begin and end something: a system call of a task (sys_enter_* and sys_exit_*), what runs on a CPU between
 * NAME_entry and NAME_exit, and a task's time on a CPU between two sched_switch. A consumer shows it every event in order.
 * A gap ends what it may have hidden: the open pairs of its CPU, and all system calls, whose tasks may have moved. What began before
 * the first event is unknown, and so is what there was no memory for.
 * Not here: pairs of the function graph (lib/event/calls.h).
 */
struct spans;

enum span_kind {
	SPAN_CALL,   /* a system call of the event's task */
	SPAN_PAIR,   /* from NAME_entry to NAME_exit on the event's CPU */
	SPAN_ON_CPU, /* the event's task had the event's CPU */
};

struct span {
	enum span_kind kind;
	uint64_t start, lasted; /* in units of event::ts; it ended with the event */
	const char *name;       /* what stands before _exit, of a SPAN_PAIR; not terminated; else NULL */
	size_t name_len;
};

/* NULL without memory. */
struct spans *spans_new(const struct schema_abi *abi);
void spans_free(struct spans *spans);

/* True and the span that the event ends. */
bool spans_see(struct spans *spans, const struct event *event, struct span *ret);

#endif
