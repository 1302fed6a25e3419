// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/timer_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/live/side_reader.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/marks.h"

/*
 * A span that a program marks, and that lasts too long: it is told when it ends. The kernel copies what is written to
 * the top trace_marker to an instance of the condition's own, which weft reads as it does for a streamed latency.
 */
enum { BUFFER_SIZE = 1 << 20 }; /* of each CPU: for some rounds */

struct watch_mark {
	struct side_reader *side;
	struct marks marks;
	struct watch_hit *hit;     /* of the look that is going on */
	const struct event *event; /* that is seen */
	uint64_t lost, told_ns;
};

static void end_span(void *arg, const struct marks_span *span)
{
	struct watch *watch = arg;
	const struct condition *condition = watch->condition;
	struct watch_mark *mark = watch->mark;
	char name[256], line[WATCH_REASON + 64], stamp[TEXT_HUMAN], lasted[TEXT_HUMAN];
	const char *task;
	int len;

	snprintf(name, sizeof(name), "%.*s", span->name_len < sizeof(name) ? (int)span->name_len : 255, span->name);
	if (span->end != MARKS_KNOWN || span->to - span->start <= condition->longer_ns ||
	    !text_glob(condition->text, name) || !watch_whose_meets(watch, mark->event))
		return;
	if (mark->hit->time) {
		mark->hit->more++;
		return;
	}
	task = side_reader_learn_names(mark->side) ?
		       task_name(mark->event->type->context->tasks, mark->event->pid).text :
		       "<...>";
	mark->hit->time = span->to;
	len = snprintf(line, sizeof(line), "%s-%d [%03u] %s: mark '%s' lasted %s", task, mark->event->pid,
		       mark->event->cpu, text_stamp(stamp, span->to), name, text_time(lasted, span->to - span->start));
	watch_reason(mark->hit, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

static void see(void *arg, const struct event *event)
{
	struct watch *watch = arg;
	struct watch_mark *mark = watch->mark;

	mark->event = event;
	watch_whose_follow(watch, mark->side, event);
	marks_take(&mark->marks, event);
}

/* Without the kernel's copies the condition would never be met. */
static int check_copies(const struct watch *watch, struct fail *fail)
{
	if (option_get(watch->instance, "copy_trace_marker") > 0)
		return 0;
	return fail_set(fail, -EOPNOTSUPP,
			"this kernel does not copy what programs write to the top trace_marker to other instances "
			"(Linux 6.16 and later do), so 'mark:' cannot hear it");
}

static int open_mark(struct watch *watch, struct fail *fail)
{
	int err = watch_event_describe(watch, "ftrace:print", fail);
	struct watch_mark *mark = calloc(1, sizeof(*mark));

	watch->mark = mark;
	if (!err && !mark)
		err = fail_memory(fail);
	if (!err)
		err = watch_whose_describe(watch, fail);
	if (err)
		return err;
	marks_init(&mark->marks, &(struct marks_calls){ .arg = watch, .end = end_span });
	watch->setup.instances[0].size = BUFFER_SIZE;
	err = watch_event_open(watch, fail);
	if (!err)
		err = check_copies(watch, fail);
	if (!err)
		err = watch_whose_begin(watch, fail);
	if (!err)
		err = side_reader_new(flight_recording_rig(watch->recording), watch->instance,
				      watch->condition->of.word, &mark->side, fail);
	return err ? err : timer_new(&watch->fd, fail);
}

static int start_mark(struct watch *watch, struct fail *fail)
{
	int err = timer_start(watch->fd, WATCH_ROUND_NS, fail);

	return err ? err : watch_event_start(watch, fail);
}

static int look_mark(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	struct watch_mark *mark = watch->mark;
	const struct reader_consumer consumer = { see, watch };
	uint64_t times;
	int err;

	(void)!read(watch->fd, &times, sizeof(times));
	mark->hit = ret;
	err = side_reader_listen(mark->side, &consumer, &mark->lost, fail);
	if (!err && marks_starved(&mark->marks))
		err = fail_memory(fail);
	if (err)
		return err;
	watch_tell_lost(watch, &mark->lost, &mark->told_ns);
	return ret->time != 0;
}

static int close_mark(struct watch *watch, struct fail *fail)
{
	struct watch_mark *mark = watch->mark;

	if (mark) {
		marks_release(&mark->marks);
		side_reader_free(mark->side);
		free(mark);
	}
	watch_event_close(watch);
	return instance_close(take(watch->instance), fail);
}

const struct watch_ops watch_mark_ops = {
	.open = open_mark,
	.start = start_mark,
	.look = look_mark,
	.close = close_mark,
};
