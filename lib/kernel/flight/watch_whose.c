// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/event_text.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/message_internal.h"
#include "lib/kernel/flight/timer_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/live/side_reader.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/query/filter.h"
#include "lib/meaning/schema/format.h"

/*
 * An event of those who belong to a process, a service, a container: the kernel has no filter for that, so weft reads
 * each event that passes its filter, and asks at its time. An event is heard at most two rounds after it happened.
 */
enum { BUFFER_SIZE = 1 << 20, TEXT_FIRST = 256 }; /* of each CPU: for some rounds */

struct watch_whose {
	struct side_reader *side;
	struct event_text *text;
	struct filter *filter; /* NULL: the kernel has it, or there is none */
	struct watch_hit *hit; /* of the look that is going on */
	uint64_t lost, told_ns;
};

/* It may begin later. */
static void tell_nobody(const struct watch *watch)
{
	const struct who_want *of = &watch->condition->of;
	struct pid_list processes = { .nr = 0 };
	struct fail why = FAIL_INIT;
	int err = of->part == WHO_PROCESS ? processes_find(of->word, &processes, &why) :
					    groups_find(of->part, of->word, &why);

	pid_list_release(&processes);
	if (err)
		message_line(watch->tell, "--when %s: now %s", watch->condition->name, why.text);
}

/* All events that tell whom tasks belong to are needed, so the kernel cannot choose of them. */
static bool weft_filters(const struct watch *watch)
{
	struct setup none = { .nr_instances = 0 };
	struct setup_instance *wanted = watch->condition->filter ? setup_add_instance(&none, NULL) : NULL;
	bool found = false;

	if (wanted && setup_want_who(wanted))
		for (size_t i = 0; i < wanted->nr_events; i++)
			found |= !strcmp(wanted->events[i].pattern, watch->condition->event);
	setup_release(&none);
	return found;
}

int watch_whose_describe(struct watch *watch, struct fail *fail)
{
	if (!watch->condition->of.word)
		return 0;
	tell_nobody(watch);
	return setup_want_who(&watch->setup.instances[0]) ? 0 : fail_memory(fail);
}

/*
 * Compiles what the kernel has checked. The name of the task that runs is not known for sure; most of
 * these events have it, or that of the program, as a field.
 */
static int take_filter(struct watch *watch, const struct context *context, struct fail *fail)
{
	const struct condition *condition = watch->condition;
	const char *name = strchr(condition->event, ':');
	cleanup_free char *system = strndup(condition->event, (size_t)(name - condition->event));
	int32_t id = system ? schema_find(context->schema, system, name + 1) : -1;
	const struct format *format = id < 0 ? NULL : schema_format(context->schema, id, NULL);
	struct near near = near_to("");
	int err;

	if (!format)
		return system ? fail_set(fail, -ENOENT, "there is no event '%s'", condition->event) : fail_memory(fail);
	err = filter_new(condition->filter, format, context, &near, &watch->whose->filter, fail);
	if (!err && filter_needs_task(watch->whose->filter))
		err = fail_set(fail, -EOPNOTSUPP,
			       "weft reads each %s to know whom tasks belong to, and so compares with 'if' itself: "
			       "that event has no field 'comm', and 'if' can have only its fields",
			       condition->event);
	return err;
}

/* The kernel has checked the filter; now it is to let all events pass. */
static int let_filter_go(struct watch *watch, struct fail *fail)
{
	cleanup_free char *file = NULL;
	const char *event = watch->condition->event;
	int system = (int)strcspn(event, ":");

	if (asprintf(&file, "events/%.*s/%s/filter", system, event, event + system + 1) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	return instance_set(watch->instance, file, "0", fail);
}

int watch_whose_begin(struct watch *watch, struct fail *fail)
{
	return watch->condition->of.word ? instance_turn(watch->instance, true, fail) : 0;
}

void watch_whose_follow(const struct watch *watch, struct side_reader *side, const struct event *event)
{
	if (watch->condition->of.word)
		who_follow(reader_context(side_reader_reader(side), event), event);
}

bool watch_whose_meets(const struct watch *watch, const struct event *event)
{
	const struct condition *condition = watch->condition;
	int32_t pid = event->pid;
	struct place field;

	if (!condition->of.word)
		return true;
	if (event->ts < watch->since)
		return false;
	if (condition->of_field)
		pid = place_find(&field, event->type, condition->of_field) ? (int32_t)place_s64(&field, event) : 0;
	return who_wants(event->type->context, &condition->of, 1, pid, event->ts, NULL);
}

static bool is_called(const struct event *event, const char *name)
{
	const struct format *format = event->type ? event->type->format : NULL;
	size_t system = format ? strlen(format->system) : 0;

	return format && !strncmp(name, format->system, system) && name[system] == ':' &&
	       !strcmp(name + system + 1, format->name);
}

/* The line is that of trace_pipe, as far as it tells something. */
static void take_event(struct watch *watch, const struct event *event)
{
	struct watch_whose *whose = watch->whose;
	char line[WATCH_REASON + 64], stamp[TEXT_HUMAN];
	struct out body;
	const char *name;
	bool named;
	int len;

	if (whose->hit->time) {
		whose->hit->more++;
		return;
	}
	whose->hit->time = event->ts;
	if (!out_init(&body, TEXT_FIRST))
		return;
	event_text_put(whose->text, event, EVENT_TEXT_BODY, &body);
	named = side_reader_learn_names(whose->side);
	name = named || event->pid <= 0 ? task_name(event->type->context->tasks, event->pid).text : "<...>";
	len = snprintf(line, sizeof(line), "%s-%d [%03u] %s: %.*s", name, event->pid, event->cpu,
		       text_stamp(stamp, event->ts), (int)out_len(&body), body.start);
	watch_reason(whose->hit, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
	out_release(&body);
}

static void see(void *arg, const struct event *event)
{
	struct watch *watch = arg;

	watch_whose_follow(watch, watch->whose->side, event);
	if (event->kind != EVENT_LOST && is_called(event, watch->condition->event) &&
	    (!watch->whose->filter || filter_match(watch->whose->filter, event)) && watch_whose_meets(watch, event))
		take_event(watch, event);
}

static int open_whose(struct watch *watch, struct fail *fail)
{
	const struct rig *rig = flight_recording_rig(watch->recording);
	struct watch_whose *whose = calloc(1, sizeof(*whose));
	bool filters = weft_filters(watch);
	int err = watch_event_describe(watch, watch->condition->event, fail);

	watch->whose = whose;
	if (!err && !whose)
		err = fail_memory(fail);
	if (!err)
		err = watch_whose_describe(watch, fail);
	if (err)
		return err;
	watch->setup.instances[0].size = BUFFER_SIZE;
	err = watch_event_open(watch, fail);
	if (!err && filters)
		err = let_filter_go(watch, fail);
	if (!err)
		err = watch_whose_begin(watch, fail);
	if (!err)
		err = side_reader_new(rig, watch->instance, true, &whose->side, fail);
	if (!err)
		err = event_text_new(side_reader_reader(whose->side)->buffers[0].context, &whose->text, fail);
	if (!err && filters)
		err = take_filter(watch, side_reader_reader(whose->side)->buffers[0].context, fail);
	if (err)
		return err;
	watch_tell_late(watch, "the kernel does not know whom a task belongs to");
	return timer_new(&watch->fd, fail);
}

static int start_whose(struct watch *watch, struct fail *fail)
{
	int err = timer_start(watch->fd, WATCH_ROUND_NS, fail);

	return err ? err : watch_event_start(watch, fail);
}

static int look_whose(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	struct watch_whose *whose = watch->whose;
	const struct reader_consumer consumer = { see, watch };
	uint64_t times;
	int err;

	(void)!read(watch->fd, &times, sizeof(times));
	whose->hit = ret;
	err = side_reader_listen(whose->side, &consumer, &whose->lost, fail);
	if (err)
		return err;
	watch_tell_lost(watch, &whose->lost, &whose->told_ns);
	return ret->time != 0;
}

static int close_whose(struct watch *watch, struct fail *fail)
{
	struct watch_whose *whose = watch->whose;

	if (whose) {
		filter_free(whose->filter);
		event_text_free(whose->text);
		side_reader_free(whose->side);
		free(whose);
	}
	watch_event_close(watch);
	return instance_close(take(watch->instance), fail);
}

const struct watch_ops watch_whose_ops = {
	.open = open_whose,
	.start = start_whose,
	.look = look_whose,
	.close = close_whose,
};
