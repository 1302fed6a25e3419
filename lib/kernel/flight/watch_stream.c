// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/answers/tally/tally.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
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
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/pairs.h"

/*
 * A latency that the kernel cannot measure: both events are in an instance of the condition's own, weft reads them
 * again and again, and measures as the kernel would. An event is heard at most two rounds after it happened.
 */
enum {
	BUFFER_SIZE = 1 << 20, /* of each CPU: for some rounds */
};

struct watch_stream {
	struct side_reader *side;
	struct tally *tally;
	struct tally_alarm alarm;
	struct watch_hit *hit; /* of the look that is going on */
	uint64_t lost, told_ns;
};

/* The line is that of trace_pipe for the kernel's synthetic event, as far as it tells something. */
static void take_latency(void *arg, const struct event *event, uint64_t lat, const char *fields)
{
	struct watch *watch = arg;
	struct watch_hit *hit = watch->stream->hit;
	const char *name;
	char line[WATCH_REASON + 64], stamp[TEXT_HUMAN];
	bool named;
	int len;

	if (!watch_whose_meets(watch, event))
		return;
	if (hit->time) {
		hit->more++;
		return;
	}
	named = side_reader_learn_names(watch->stream->side);
	name = named || event->pid <= 0 ? task_name(event->type->context->tasks, event->pid).text : "<...>";
	hit->time = event->ts;
	len = snprintf(line, sizeof(line), "%s-%d [%03u] %s: weft_latency_%d_%u: lat=%" PRIu64 "%s", name, event->pid,
		       event->cpu, text_stamp(stamp, event->ts), (int)getpid(), watch->number, lat, fields);
	watch_reason(hit, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

/*
 * In a pair of events of one task the name of the task is what the filter is about, and only the kernel knows it for
 * sure. There a first event comes before each second one, so that nothing is paired wrongly if second ones are missing.
 */
static bool kernel_filters(const struct condition *condition)
{
	return !strncmp(condition->pair->match, "common_pid", strlen("common_pid"));
}

static int describe(struct watch *watch, struct fail *fail)
{
	const struct pair_kind *pair = watch->condition->pair;
	struct setup_instance *wanted;
	struct setup_event *first, *second;
	int err = watch_event_describe(watch, NULL, fail);

	if (err)
		return err;
	wanted = &watch->setup.instances[0];
	wanted->size = BUFFER_SIZE;
	first = setup_add_event(wanted, pair->begin);
	second = first ? setup_add_event(wanted, pair->end) : NULL;
	if (!second)
		return fail_memory(fail);
	if (kernel_filters(watch->condition))
		second->filter = watch->condition->filter;
	return watch_whose_describe(watch, fail);
}

static int check_filter(const struct watch *watch, struct fail *fail)
{
	const struct condition *condition = watch->condition;

	if (!tally_needs_task(watch->stream->tally))
		return 0;
	return fail_set(fail, -EOPNOTSUPP,
			"weft does not know for sure which task ran when it ended: 'comm' is for syscall and lock "
			"here%s",
			strcmp(condition->pair->name, "wakeup") ? "" : ", and the task that was woken is 'next_comm'");
}

static int measure(struct watch *watch, struct fail *fail)
{
	const struct condition *condition = watch->condition;
	struct watch_stream *stream = watch->stream;
	const struct tally_wanted wanted = {
		.event = condition->pair->begin,
		.second = condition->pair->end,
		.match = condition->pair->match,
		.keys = condition->keys,
		.filter = kernel_filters(condition) ? NULL : condition->filter,
		.ns = true,
		.alarm = &stream->alarm,
	};

	stream->alarm = (struct tally_alarm){ .longer = condition->longer_ns, .told = take_latency, .arg = watch };
	return tally_new(side_reader_reader(stream->side), &wanted, &stream->tally, fail);
}

static int open_stream(struct watch *watch, struct fail *fail)
{
	int err = describe(watch, fail);

	watch->stream = calloc(1, sizeof(*watch->stream));
	if (!err && !watch->stream)
		err = fail_memory(fail);
	if (!err)
		err = watch_event_open(watch, fail);
	if (!err)
		err = watch_whose_begin(watch, fail);
	if (!err)
		err = side_reader_new(flight_recording_rig(watch->recording), watch->instance,
				      watch->condition->of.word, &watch->stream->side, fail);
	if (!err)
		err = measure(watch, fail);
	if (!err)
		err = check_filter(watch, fail);
	if (err)
		return err;
	return timer_new(&watch->fd, fail);
}

static int start_stream(struct watch *watch, struct fail *fail)
{
	int err = timer_start(watch->fd, WATCH_ROUND_NS, fail);

	return err ? err : watch_event_start(watch, fail);
}

static void see(void *arg, const struct event *event)
{
	struct watch *watch = arg;

	watch_whose_follow(watch, watch->stream->side, event);
	tally_see(watch->stream->tally, event);
}

static int look_stream(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	struct watch_stream *stream = watch->stream;
	const struct reader_consumer consumer = { see, watch };
	uint64_t times;
	int err;

	(void)!read(watch->fd, &times, sizeof(times));
	stream->hit = ret;
	err = side_reader_listen(stream->side, &consumer, &stream->lost, fail);
	if (err)
		return err;
	watch_tell_lost(watch, &stream->lost, &stream->told_ns);
	return ret->time != 0;
}

static int close_stream(struct watch *watch, struct fail *fail)
{
	if (watch->stream) {
		tally_free(watch->stream->tally);
		side_reader_free(watch->stream->side);
		free(watch->stream);
	}
	watch_event_close(watch);
	return instance_close(take(watch->instance), fail);
}

const struct watch_ops watch_stream_ops = {
	.open = open_stream,
	.start = start_stream,
	.look = look_stream,
	.close = close_stream,
};
