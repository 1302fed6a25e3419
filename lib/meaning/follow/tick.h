/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_TICK_H
#define WEFT_MEANING_FOLLOW_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"

/*
 * The ticks of CPUs, HZ times a second, in the buffer weft/profile (own_formats.h): events of the timer's interrupt,
 * each with the stacks of what it has interrupted, of the kernel and of the program. So one tick stands for 1/HZ s. An
 * idle CPU has few of them, a CPU of nohz_full none.
 */
#define TICK_HZ_USUAL 250 /* where the file does not tell */

static inline bool tick_buffer(const struct context *context)
{
	return own_buffer_is(context->instance, OWN_BUFFER_PROFILE);
}

static inline uint64_t tick_hz(const struct context *context)
{
	return context->hz ? context->hz : TICK_HZ_USUAL;
}

static inline uint64_t tick_ns(const struct context *context)
{
	return UINT64_C(1000000000) / tick_hz(context);
}

/* Whether the CPU had nothing to do: the idle task, and no softirq that it was in. */
static inline bool tick_is_idle(const struct event *event)
{
	return !event->pid && !(event->flags & EVENT_SOFTIRQ);
}

#endif
