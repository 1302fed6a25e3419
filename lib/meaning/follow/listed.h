/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_LISTED_H
#define WEFT_MEANING_FOLLOW_LISTED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

struct context;
struct event;

/*
 * The tasks of a PID filter (set_event_pid). The kernel applies it like this (kernel/trace/trace_events.c,
 * event_filter_pid_sched_switch_probe_pre() and its neighbours): an event is recorded if the task on the CPU is listed;
 * a sched_switch also if the task that gets the CPU is, a wakeup also if the woken task is. So everything about a
 * listed task is recorded, and nothing about two other tasks that follow each other on a CPU. The consumer calls
 * listed_add() for each buffer, then passes every event in order. If a buffer with sched_switch has no filter, all
 * tasks count as listed.
 */
struct listed {
	bool filtered; /* there is a filter, and the switches between other tasks are not recorded */
	bool failed;   /* memory ran out */
	/* Private: */
	bool unfiltered; /* a buffer with sched_switch has no filter */
	bool mixed;      /* a buffer has no filter: events of any task are recorded there */
	bool alone;      /* a buffer without event-fork; otherwise the children of a listed task are also listed */
	struct u64_map pids;
	struct roles roles;
	struct listed_places {
		struct place pid, other; /* other: the task that a sched_switch takes the CPU from */
	} places[7];                     /* by role */
};

void listed_init(struct listed *listed);
void listed_release(struct listed *listed);

/* Takes note of the filter of a buffer whose events are to come. */
void listed_add(struct listed *listed, const struct context *context);

/* Learns from an event which tasks are listed. To be called only if there is a filter. */
void listed_see(struct listed *listed, const struct event *event);

static inline bool listed_has(const struct listed *listed, int32_t pid)
{
	return !listed->filtered || u64_map_find(&listed->pids, (uint32_t)pid);
}

#endif
