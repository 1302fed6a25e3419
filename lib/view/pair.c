// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/pair_internal.h"

#include "lib/base/fail.h"
#include "lib/event/place.h"
#include "lib/view/tape_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t field_of(const struct event *event, const char *name)
{
	struct place place;

	return place_find(&place, event->type, name) ? place_u64(&place, event) : 0;
}

static bool has_field(const struct event *event, const char *name)
{
	struct place place;

	return place_find(&place, event->type, name);
}

static void name_partner(struct pair *pair, const char *stem, size_t len, const char *end)
{
	snprintf(pair->name, sizeof(pair->name), "%.*s%s", (int)(len < 40 ? len : 40), stem, end);
}

/* NAME_entry and NAME_exit, and the like. */
static bool by_suffix(const struct event *event, const char *name, struct pair *pair)
{
	static const struct {
		const char *begin, *end;
		enum pair_common common;
	} suffixes[] = {
		{ "_entry", "_exit", PAIR_CPU },  { "_begin", "_end", PAIR_TASK },
		{ "_start", "_end", PAIR_TASK },  { "_issue", "_complete", PAIR_FIELD },
		{ "_start", "_done", PAIR_TASK },
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < array_size(suffixes); i++) {
		const char *ends[] = { suffixes[i].begin, suffixes[i].end };

		for (size_t k = 0; k < 2; k++) {
			size_t end = strlen(ends[k]);

			if (len <= end || strcmp(name + len - end, ends[k]))
				continue;
			name_partner(pair, name, len - end, ends[!k]);
			pair->forward = !k;
			pair->common = suffixes[i].common;
			if (pair->common == PAIR_FIELD) {
				pair->field = "sector";
				pair->value = field_of(event, "sector");
				if (!has_field(event, "sector"))
					pair->common = PAIR_TASK;
			}
			return true;
		}
	}
	return false;
}

static bool of_call(const char *name, struct pair *pair)
{
	/* sys_enter_openat, and sys_enter of raw_syscalls. */
	if (!strncmp(name, "sys_enter", 9)) {
		snprintf(pair->name, sizeof(pair->name), "sys_exit%.50s", name + 9);
		pair->forward = true;
	} else if (!strncmp(name, "sys_exit", 8)) {
		snprintf(pair->name, sizeof(pair->name), "sys_enter%.50s", name + 8);
		pair->forward = false;
	} else {
		return false;
	}
	pair->common = PAIR_TASK;
	return true;
}

static bool of_graph(const struct event *event, const char *name, struct pair *pair)
{
	bool entry = !strcmp(name, "funcgraph_entry") || !strcmp(name, "fgraph_retaddr_entry");

	if (!entry && strcmp(name, "funcgraph_exit"))
		return false;
	snprintf(pair->name, sizeof(pair->name), entry ? "funcgraph_exit" : "funcgraph_entry");
	pair->forward = entry;
	pair->common = PAIR_CALL;
	pair->value = field_of(event, "func");
	pair->second = field_of(event, "depth");
	return true;
}

static bool of_sched(const struct event *event, const char *name, struct pair *pair)
{
	if (!strncmp(name, "sched_wak", 9) && has_field(event, "pid")) {
		snprintf(pair->name, sizeof(pair->name), "sched_switch");
		pair->common = PAIR_FIELD;
		pair->field = "next_pid";
		pair->value = (uint32_t)field_of(event, "pid");
		pair->forward = true;
		return true;
	}
	if (strcmp(name, "sched_switch") || !has_field(event, "next_pid"))
		return false;
	/* The end of the run that begins here. */
	snprintf(pair->name, sizeof(pair->name), "sched_switch");
	pair->common = PAIR_FIELD;
	pair->field = "prev_pid";
	pair->value = (uint32_t)field_of(event, "next_pid");
	pair->forward = true;
	if (!pair->value)
		pair->common = PAIR_CPU;
	return true;
}

static void waker_of(const struct event *event, const char *name, struct pair *pair)
{
	int32_t pid = event->pid;

	if (!strcmp(name, "sched_switch"))
		pid = (int32_t)field_of(event, "next_pid");
	else if (!strncmp(name, "sched_wak", 9))
		pid = (int32_t)field_of(event, "pid");
	if (!pid)
		return;
	pair->waking = true;
	pair->common = PAIR_FIELD;
	pair->field = "pid";
	pair->value = (uint32_t)pid;
	pair->forward = false;
	snprintf(pair->name, sizeof(pair->name), "sched_wak");
	snprintf(pair->what, sizeof(pair->what), "waking of task %d", pid);
}

void pair_of(const struct event *event, bool waker, struct pair *ret)
{
	const char *name = event->kind == EVENT_RECORD && event->type->format ? event->type->format->name : "";

	*ret = (struct pair){ .pid = event->kind == EVENT_RECORD ? event->pid : 0, .cpu = event->cpu };
	if (!*name)
		return;
	if (waker)
		waker_of(event, name, ret);
	else if (of_call(name, ret) || of_graph(event, name, ret) || of_sched(event, name, ret) ||
		 by_suffix(event, name, ret))
		snprintf(ret->what, sizeof(ret->what), "%.60s %s", ret->name,
			 ret->common == PAIR_TASK ? "of this task" :
			 ret->common == PAIR_CPU  ? "on this CPU" :
			 ret->common == PAIR_CALL ? "of this call" :
						    "that fits");
}

static bool wants(void *arg, struct tape *tape, struct event *event)
{
	const struct pair *pair = arg;
	const char *name;

	(void)tape;
	if (event->kind != EVENT_RECORD || !event->type->format)
		return false;
	name = event->type->format->name;
	if (pair->waking ?
		    strcmp(name, "sched_waking") && strcmp(name, "sched_wakeup") && strcmp(name, "sched_wakeup_new") :
		    strcmp(name, pair->name))
		return false;
	switch (pair->common) {
	case PAIR_TASK:
		return event->pid == pair->pid;
	case PAIR_CPU:
		return event->cpu == pair->cpu;
	case PAIR_FIELD:
		return has_field(event, pair->field) &&
		       (pair->waking || !strncmp(pair->name, "sched", 5) ? (uint32_t)field_of(event, pair->field) :
									   field_of(event, pair->field)) == pair->value;
	case PAIR_CALL:
		return event->pid == pair->pid && field_of(event, "func") == pair->value &&
		       field_of(event, "depth") == pair->second;
	}
	return false;
}

int pair_search(struct view *view, struct walk_place place, const struct pair *pair, uint64_t most,
		struct search_found *ret, struct fail *fail)
{
	struct pair wanted = *pair;
	const struct search search = {
		.wants = wants, .arg = &wanted, .all = true, .most = most, .what = "looking for the partner"
	};

	return search_find(view, place, pair->forward, &search, ret, fail);
}

int pair_find(struct view *view, struct walk_place place, uint64_t most, struct pair *ret,
	      struct search_found *ret_found, struct fail *fail)
{
	struct tape *tape = NULL;
	struct walk_place at;
	struct event event;
	int r = tape_find(view, place, &tape, &event, &at, fail);

	*ret = (struct pair){ .what = "" };
	if (r <= 0)
		return r;
	pair_of(&event, false, ret);
	tape_free(tape);
	return *ret->what ? pair_search(view, at, ret, most, ret_found, fail) : 0;
}
