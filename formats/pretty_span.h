/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_PRETTY_SPAN_H
#define WEFT_FORMATS_PRETTY_SPAN_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct event;

/*
 * How long what an event ends has lasted: a system call of a task, what has an _entry and an _exit on one CPU (irq_handler, softirq,
 * hrtimer_expire), and at sched_switch the time that the task before had the CPU. It sees all events in order, on one thread.
 * A span that was not seen from its start, or in which events were lost, has no length; none is ever made up.
 */
struct spans;

/* `swap` when the file's byte order is not ours. NULL without memory: then nothing has a length. */
struct spans *spans_new(bool swap);
void spans_free(struct spans *spans);

/* In units of event::ts; 0 where the event ends nothing that is known. `spans` may be NULL. */
uint64_t spans_see(struct spans *spans, const struct event *event);

#endif
