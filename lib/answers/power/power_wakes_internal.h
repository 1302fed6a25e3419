/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_POWER_POWER_WAKES_INTERNAL_H
#define WEFT_ANSWERS_POWER_POWER_WAKES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/state/state.h"

struct event;
struct findings;
struct pass;

/*
 * What woke CPUs from idle states: the first interrupt, and behind it the timer that expired and who set it, or who
 * sent the interrupt. A wakeup counts once the interrupt and its softirqs are over, because only then is it known which
 * timer it was.
 */
enum { WAKE_NAME = 48 };

struct wake {
	bool waking;            /* the CPU left an idle state; what woke it is not known yet */
	bool left;              /* it left one, from which `source` has woken it: this is not counted yet */
	bool open;              /* the interrupt, or a softirq behind it, is not over */
	bool timed;             /* it is a timer's interrupt */
	bool tick;              /* the timer is the tick, which runs the timers that count jiffies */
	char source[WAKE_NAME]; /* what first hit the CPU in its idle state; "": nothing did */
	char timer[WAKE_NAME], by[TASK_COMM_LEN]; /* the timer's function, and who set it or sent the interrupt; "" */
};

struct wakes {
	struct pass *pass;
	struct labels origins; /* "SOURCE\0TIMER\0BY" */
	struct u64_map rows;   /* by origin << 32 | CPU */
	uint64_t unknown;      /* wakeups whose cause no event names */
};

void wakes_init(struct wakes *wakes, struct pass *pass);
void wakes_release(struct wakes *wakes);

/*
 * What woke the CPU last is over: it enters an idle state, or no more is known of it. `lost`: its events were lost.
 */
void wakes_end(struct wakes *wakes, struct wake *wake, uint32_t cpu, bool lost);
/* It leaves an idle state. */
void wakes_leave(struct wake *wake);
/* The CPU is hit by an interrupt; `source` is how it is called. */
void wakes_interrupt(struct wakes *wakes, struct wake *wake, const struct event *event, bool idle, const char *source);
/* A timer expires. */
void wakes_expire(struct wakes *wakes, struct wake *wake, const struct event *event, bool hrtimer);
/* The task with this name gets the CPU. */
void wakes_switch(struct wakes *wakes, struct wake *wake, uint32_t cpu, const char *next);
/* `by_cpu`: a comparison has a row for each CPU. */
void wakes_put(const struct wakes *wakes, bool by_cpu, struct findings *findings);

#endif
