// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/listed.h"

#include <string.h>

#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"

enum role { SWITCH = 1, WAKING, WAKEUP, WAKEUP_NEW, FORK, NEWTASK };

static const struct role_name names[] = {
	{ "sched", "sched_switch", SWITCH },
	{ "sched", "sched_waking", WAKING },
	{ "sched", "sched_wakeup", WAKEUP },
	{ "sched", "sched_wakeup_new", WAKEUP_NEW },
	{ "sched", "sched_process_fork", FORK },
	{ "task", "task_newtask", NEWTASK },
	{ NULL, NULL, 0 },
};

void listed_init(struct listed *listed)
{
	*listed = (struct listed){ .unfiltered = false };
	u64_map_init(&listed->pids, 0);
	roles_init(&listed->roles, names);
}

void listed_release(struct listed *listed)
{
	u64_map_release(&listed->pids);
	roles_release(&listed->roles);
}

static void learn(struct listed *listed, int32_t pid)
{
	listed->failed |= !u64_map_add(&listed->pids, (uint32_t)pid);
}

static void add_list(struct listed *listed, const char *pids)
{
	struct text_word word;

	while (pids && text_next_word(&pids, " \n", &word)) {
		const char *at = word.at;
		int32_t pid;

		if (number_s32(&at, &pid))
			learn(listed, pid);
	}
}

static bool has_switches(const struct context *context)
{
	const char *on = context->switched_on;
	struct text_word word;

	while (on && text_next_word(&on, "\n", &word))
		if (text_word_is(word, "sched:sched_switch"))
			return true;
	return false;
}

void listed_add(struct listed *listed, const struct context *context)
{
	bool filtered = context_has_pids(context);

	listed->mixed |= !filtered;
	if (!has_switches(context))
		return;
	listed->unfiltered |= !filtered;
	listed->alone |= !context->event_fork;
	listed->filtered = !listed->unfiltered;
	add_list(listed, context->event_pids);
	add_list(listed, context->event_pids_left);
}

static void bind(struct listed *listed, const struct event *event, uint8_t role)
{
	struct listed_places *places = &listed->places[role];

	(void)place_find(&places->pid, event->type, role == SWITCH ? "next_pid" : role == FORK ? "child_pid" : "pid");
	(void)place_find(&places->other, event->type, "prev_pid");
}

static bool has(const struct listed *listed, int32_t pid)
{
	return u64_map_find(&listed->pids, (uint32_t)pid);
}

/* An idle task that is not on the list never will be. So of an idle task and another one, it is the other. */
static void learn_other(struct listed *listed, int32_t pid, int32_t other)
{
	if (!pid && !has(listed, 0))
		learn(listed, other);
}

static void see_fork(struct listed *listed, int32_t parent, int32_t child)
{
	/* With event-fork a task leaves the list when it ends: who has its PID afterwards is another one. */
	if (listed->alone)
		return;
	if (has(listed, parent))
		learn(listed, child);
	else
		u64_map_remove(&listed->pids, (uint32_t)child);
}

/*
 * The task on the CPU is listed if its event is recorded. This does not hold for the entries of tracers and markers,
 * which are no events, nor between a sched_switch and the change of `current`, when interrupts are off.
 */
static void see_other(struct listed *listed, const struct event *event)
{
	const struct format *format = event->type->format;

	if (!listed->mixed && format && strcmp(format->system, "ftrace") &&
	    (!(event->flags & EVENT_IRQS_OFF) || event->flags & (EVENT_HARDIRQ | EVENT_SOFTIRQ)) &&
	    !has(listed, event->pid))
		learn(listed, event->pid);
}

void listed_see(struct listed *listed, const struct event *event)
{
	bool fresh;
	uint8_t role = event->kind == EVENT_RECORD ? roles_of(&listed->roles, event, &fresh) : ROLE_NONE;
	const struct listed_places *places = &listed->places[role];
	int32_t pid, other;

	if (event->kind != EVENT_RECORD)
		return;
	if (role && fresh)
		bind(listed, event, role);
	pid = places->pid.field ? (int32_t)place_s64(&places->pid, event) : 0;
	other = places->other.field ? (int32_t)place_s64(&places->other, event) : 0;
	switch ((enum role)role) {
	case SWITCH:
		learn_other(listed, pid, other);
		learn_other(listed, other, pid);
		break;
	case WAKING:
	case WAKEUP:
	case WAKEUP_NEW:
		learn_other(listed, event->pid, pid);
		break;
	case FORK:
	case NEWTASK:
		see_fork(listed, event->pid, pid);
		break;
	default:
		see_other(listed, event);
	}
	listed->failed |= listed->roles.failed;
}
