// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events that say by themselves that something is wrong, and how many were lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/explain/brief_internal.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/uapi/arguments.h"

struct brief_case *brief_add(struct brief_rules *rules, enum brief_kind kind, double weight)
{
	struct brief_case *added;

	if ((rules->options->ask != BRIEF_KINDS && rules->options->ask != kind) || rules->nr == BRIEF_CASES)
		return NULL;
	added = &rules->cases[rules->nr++];
	*added = (struct brief_case){ .kind = kind, .weight = weight };
	return added;
}

static const struct rare_event {
	const char *system, *name;
	enum brief_kind kind;
	const char *says;
} rare[] = {
	{ "oom", "mark_victim", BRIEF_MEMORY, "the kernel killed a task because memory had run out" },
	{ "signal", "signal_deliver", BRIEF_ERRORS, "a signal of a crash" },
	{ "mce", "mce_record", BRIEF_ERRORS, "the hardware reported an error" },
	{ "ras", "mc_event", BRIEF_ERRORS, "the hardware reported an error of memory" },
	{ "ras", "aer_event", BRIEF_ERRORS, "the hardware reported an error of PCI Express" },
	{ "ras", "memory_failure_event", BRIEF_ERRORS, "the hardware reported a page of memory as broken" },
	{ "sched", "sched_process_hang", BRIEF_ERRORS, "a task was blocked so long that the kernel reported it" },
	{ "rcu", "rcu_stall_warning", BRIEF_ERRORS, "a CPU or task held up RCU so long that the kernel reported it" },
	{ "error_report", "error_report_end", BRIEF_ERRORS, "the kernel reported an error of its own" },
	{ "block", "block_rq_error", BRIEF_ERRORS, "a request of a disk failed" },
	{ "filemap", "filemap_set_wb_err", BRIEF_ERRORS, "data of a file could not be written back" },
	{ "iommu", "io_page_fault", BRIEF_ERRORS, "a device asked for memory that it must not use" },
	{ "thermal", "thermal_zone_trip", BRIEF_CPU, "a part of the machine became too hot" },
	{ "thermal_pressure", "hw_pressure_update", BRIEF_CPU, "heat or power limited how fast a CPU may run" },
};
_Static_assert(sizeof(rare) / sizeof(*rare) <= BRIEF_RARE, "each has a place");

/* The kernel's numbers that all machines share: what a program gets for its own fault. */
static bool is_crash(int64_t number)
{
	return number == 4 || number == 6 || number == 8 || number == 11;
}

static uint8_t rare_of(const struct event *event)
{
	const struct format *format = event->type->format;

	for (size_t i = 0; format && i < array_size(rare); i++)
		if (!strcmp(format->name, rare[i].name) && !strcmp(format->system, rare[i].system))
			return (uint8_t)(i + 1);
	return 0;
}

static uint8_t index_of(struct brief_watch *watch, const struct event *event)
{
	size_t at = event->type->index;

	while (watch->nr_types <= at) {
		struct brief_type *added = vec_push(watch->types, watch->nr_types);

		if (!added) {
			watch->failed = true;
			return 0;
		}
		*added = (struct brief_type){ .type = NULL };
	}
	/* Buffers have indices of their own. */
	if (watch->types[at].type != event->type)
		watch->types[at] = (struct brief_type){ .type = event->type, .index = rare_of(event) };
	return watch->types[at].index;
}

/* A signal of the program's own fault that no handler takes: a runtime may live on those that one does. */
static bool is_fatal(const struct event *event, int64_t number)
{
	struct place place;

	return is_crash(number) && !(place_find(&place, event->type, "sa_handler") && place_u64(&place, event));
}

void brief_watch_see(void *arg, const struct event *event)
{
	struct brief_watch *watch = arg;
	struct brief_rare *seen;
	struct place place;
	const char *text;
	size_t len;
	int64_t number = 0;
	uint32_t task;
	uint8_t index;

	if (event->kind != EVENT_RECORD) {
		watch->more_lost |= event->lost < 0 && event->lost != EVENT_LOST_REST;
		watch->lost += event->lost < 0 ? 0 : (uint64_t)event->lost;
		return;
	}
	watch->events++;
	index = index_of(watch, event);
	if (__builtin_expect(!index, 1))
		return;
	if (rare[index - 1].kind == BRIEF_ERRORS && place_find(&place, event->type, "sig"))
		number = place_s64(&place, event);
	if (!strcmp(rare[index - 1].name, "signal_deliver") && !is_fatal(event, number))
		return;
	seen = &watch->rare[index - 1];
	if (seen->count++)
		return;
	task = state_task_once(&watch->pass->state, event->pid);
	seen->first = event->ts;
	seen->cpu = event->cpu;
	seen->pid = event->pid;
	seen->signal = number;
	/* Of a task that is a victim, and not the one that runs. */
	if (place_find(&place, event->type, "pid")) {
		seen->pid = (int32_t)place_s64(&place, event);
		task = state_task_once(&watch->pass->state, seen->pid);
	}
	snprintf(seen->comm, sizeof(seen->comm), "%.15s",
		 task == STATE_NO_TASK ? "" : pass_comm(watch->pass, &watch->pass->state.tasks[task]));
	if (place_find(&place, event->type, "comm") && place_string(&place, event, &text, &len))
		snprintf(seen->comm, sizeof(seen->comm), "%.*s", (int)(len < 15 ? len : 15), text);
	seen->victim = place_find(&place, event->type, "pid");
}

void brief_watch_release(struct brief_watch *watch)
{
	free(watch->types);
}

/* More than this part of all events. */
#define LOST_SHARE 100

static void apply_losses(struct brief_rules *rules)
{
	const struct brief_watch *watch = rules->watch;
	char lost[TEXT_HUMAN], all[TEXT_HUMAN];
	struct brief_case *found;

	if (!watch->more_lost && watch->lost * LOST_SHARE <= watch->events + watch->lost)
		return;
	found = brief_add(rules, BRIEF_ERRORS, 5);
	if (!found)
		return;
	if (watch->lost)
		snprintf(found->what, sizeof(found->what),
			 "%s%s of %s events were lost: what happened then is not in the file",
			 watch->more_lost ? "more than " : "", text_count(lost, watch->lost),
			 text_count(all, watch->lost + watch->events));
	else
		snprintf(found->what, sizeof(found->what),
			 "events were lost, nobody knows how many: what happened then is not in the file");
	snprintf(found->why, sizeof(found->why),
		 "the kernel wrote faster than the buffers were emptied: record fewer events, or with larger buffers "
		 "(weft record -b)");
	snprintf(found->command, sizeof(found->command), "weft info");
}

void brief_apply_facts(struct brief_rules *rules)
{
	struct brief_case *found;
	char count[TEXT_HUMAN];

	apply_losses(rules);
	for (size_t i = 0; i < array_size(rare); i++) {
		const struct brief_rare *seen = &rules->watch->rare[i];

		if (!seen->count)
			continue;
		found = brief_add(rules, rare[i].kind, 4);
		if (!found)
			continue;
		if (seen->signal)
			snprintf(found->what, sizeof(found->what), "%s-%" PRId32 " crashed: it got %s", seen->comm,
				 seen->pid, signal_name("", (uint64_t)seen->signal));
		else
			snprintf(found->what, sizeof(found->what), "%s (%s:%s%s%s)", rare[i].says, rare[i].system,
				 rare[i].name, seen->count > 1 ? ", times: " : "",
				 seen->count > 1 ? text_count(count, seen->count) : "");
		if (seen->victim)
			snprintf(found->what + strlen(found->what), sizeof(found->what) - strlen(found->what),
				 ": %s-%" PRId32, seen->comm, seen->pid);
		found->from = found->to = seen->first;
		snprintf(found->comm, sizeof(found->comm), "%s", seen->comm);
		snprintf(found->command, sizeof(found->command), "weft report -e %s:%s", rare[i].system, rare[i].name);
	}
}
