// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/measure/hist.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/undo/change.h"
#include "lib/meaning/follow/pairs.h"

/*
 * The kernel measures the time between two events, makes a synthetic event of it, and filters that by the time. So
 * nothing wakes up as long as no time is too long. The journal of the recording has the triggers and the synthetic
 * event; they are removed with the rest, and then the instance.
 */
static int set_pair(struct watch *watch, struct hist *hist, struct fail *fail)
{
	const struct pair_kind *pair = watch->condition->pair;
	const struct rig *rig = flight_recording_rig(watch->recording);
	struct instance top = instance_top(&rig->tracing);
	const struct hist_wanted wanted = {
		.event = pair->begin,
		.second = pair->end,
		.match = pair->match,
		.keys = watch->condition->keys,
		.ns = true,
		.number = watch->number,
		/* What began before the clock was changed would have a wrong length: event_hist_trigger_parse(). */
		.clock = flight_recording_clock(watch->recording),
	};

	top.undo = rig->undo;
	return hist_set(watch->instance, &top, rig->undo, &wanted, hist, fail);
}

static int set_file(struct watch *watch, const char *name, const char *value, struct fail *fail)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "%s/%s", watch->event_dir, name) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	return instance_set(watch->instance, file, value, fail);
}

/*
 * The field `lat` is unsigned. Where the clock of the second event's CPU is behind that of the first, the time is
 * below zero, and wraps to a number of which the highest bit is set. Such a time is not long.
 */
char *watch_latency_filter(const struct condition *condition)
{
	const bool has_filter = condition->filter;
	char *text;

	if (asprintf(&text, "lat > %" PRIu64 " && lat < %" PRIu64 "%s%s%s", condition->longer_ns, UINT64_C(1) << 63,
		     has_filter ? " && (" : "", has_filter ? condition->filter : "", has_filter ? ")" : "") < 0)
		return NULL;
	return text;
}

static int filter(struct watch *watch, const struct hist *hist, struct fail *fail)
{
	cleanup_free char *text = watch_latency_filter(watch->condition);

	if (!text)
		return fail_memory(fail);
	if (asprintf(&watch->event_dir, "events/%s/%s", hist->system, hist->event) < 0) {
		watch->event_dir = NULL;
		return fail_memory(fail);
	}
	return set_file(watch, "filter", text, fail);
}

/* 1: weft has to measure by itself, which is told. */
static int choose_stream(struct watch *watch, struct fail *fail)
{
	const struct instance top = instance_top(&flight_recording_rig(watch->recording)->tracing);
	struct fail why = FAIL_INIT;
	bool streamed = watch->condition->streamed || watch->condition->of.word;
	int err = hist_can_measure(&top, watch->condition->pair->begin, &why);

	if (err && err != -EOPNOTSUPP)
		return fail_set(fail, err, "%s", why.text);
	if (!err && !streamed)
		return 0;
	watch_tell_late(watch, watch->condition->streamed ? "streamed" :
			       streamed                   ? "the kernel does not know whom a task belongs to" :
							    why.text);
	watch->ops = &watch_stream_ops;
	return 1;
}

static int open_latency(struct watch *watch, struct fail *fail)
{
	struct hist hist;
	int err = choose_stream(watch, fail);

	if (err)
		return err < 0 ? err : watch->ops->open(watch, fail);
	err = watch_event_describe(watch, NULL, fail);
	if (!err)
		err = watch_event_open(watch, fail);
	/* While tracing is off, the kernel would store times that mean nothing: ring_buffer_event_time_stamp(). */
	if (!err)
		err = instance_turn(watch->instance, true, fail);
	if (!err)
		err = set_pair(watch, &hist, fail);
	if (!err)
		err = filter(watch, &hist, fail);
	return err ? err : watch_event_read(watch, fail);
}

static int start_latency(struct watch *watch, struct fail *fail)
{
	return set_file(watch, "enable", "1", fail);
}

static int close_latency(struct watch *watch, struct fail *fail)
{
	int err = 0;

	watch_event_close(watch);
	/* The kernel does not remove a synthetic event that is enabled. */
	if (watch->event_dir)
		err = set_file(watch, "enable", "0", fail);
	free(watch->event_dir);
	if (watch->instance && flight_recording_adopt(watch->recording, watch->instance, err ? NULL : fail))
		return -ENOMEM;
	return err;
}

const struct watch_ops watch_latency_ops = {
	.open = open_latency,
	.start = start_latency,
	.look = watch_event_look,
	.close = close_latency,
};
