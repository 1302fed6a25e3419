/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_COMMS_H
#define WEFT_MEANING_EVENT_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"

/*
 * What a task is called: as saved_cmdlines says (lib/meaning/event/tasks.h), else as the events of the recording say
 * that it was called at that time: the scheduler's, those of forks, execs, renames and signals. The kernel's text does
 * not use it: that has "<...>" for a task that saved_cmdlines lacks. Tasks of which the file tells several names
 * (weft/told_names) are called as it says for that time; saved_cmdlines has their last name.
 * The events are read once, when the first task without a name is asked for. Memory grows with the number of tasks and
 * of their names, not with the number of events. Any thread may ask.
 */
struct comms;

/* Borrows the context, of which it asks nothing before the first task. NULL without memory. */
struct comms *comms_new(const struct context *context);
void comms_free(struct comms *comms);

/* The PIDs of which the file tells several names; NULL: none. Lives as long as `comms`. */
const struct u64_map *comms_renamed(const struct comms *comms);

/*
 * For events of running buffers, which cannot be read again: takes the names that this one tells (events_options::see).
 * From the first call on comms_told() has the last names, whatever the time, and only one thread may ask.
 */
void comms_learn(void *comms, const struct event *event);

/* "<...>" if nothing names the task. COMMS_LAST: its last name. */
#define COMMS_LAST UINT64_MAX
struct task_name comms_told(struct comms *comms, int32_t pid, uint64_t ts);
/* The same, as lib/meaning/state learns it: events that it does not read tell nothing. */
struct task_name comms_then(struct comms *comms, int32_t pid, uint64_t ts);
/* Up to when, from `ts` on, both say the same. */
uint64_t comms_until(struct comms *comms, int32_t pid, uint64_t ts);

/* Whether the file tells several names of the task, of which saved_cmdlines has the last. */
static inline bool context_renames(const struct context *context, int32_t pid)
{
	return __builtin_expect(context->renamed != NULL, 0) && u64_map_find(context->renamed, (uint32_t)pid);
}

static inline struct task_name context_comm(const struct context *context, int32_t pid, uint64_t ts)
{
	struct task_name name = task_name(context->tasks, pid);

	if (__builtin_expect(name.text == task_no_name, 0) || context_renames(context, pid))
		return comms_told(context->comms, pid, ts);
	return name;
}

/*
 * The name under which lib/meaning/state counts what the task did then: saved_cmdlines, which has the last name, is
 * asked only where no event tells one.
 */
static inline struct task_name context_comm_then(const struct context *context, int32_t pid, uint64_t ts)
{
	struct task_name name = comms_then(context->comms, pid, ts);

	return name.text == task_no_name ? context_comm(context, pid, ts) : name;
}

/* Whether anything names the task, as of its last name. */
static inline bool context_names(const struct context *context, int32_t pid)
{
	return context_comm(context, pid, COMMS_LAST).text != task_no_name;
}

#endif
