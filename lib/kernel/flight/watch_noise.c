// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/timer_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"

/*
 * The tracer is in an instance of its own, which alone it stops: the flight goes on without a gap. The kernel wakes
 * nobody up when it stops, so a timer looks. The instance holds little, because all of it is read then.
 */
enum { LOOK_NS = 50000000, SMALL = 8 << 10 /* of each CPU */, READS = 1 << 14 };

static int check_thresh(const struct condition *condition, const struct instance *top, struct fail *fail)
{
	uint64_t us;
	char text[32];

	if (!condition->noise->event || instance_read_word(top, "tracing_thresh", text, sizeof(text), NULL))
		return 0;
	us = number_of(text, 0);
	if (us * 1000 <= condition->longer_ns)
		return 0;
	return fail_set(fail, -EINVAL,
			"tracing_thresh is %" PRIu64 ": the kernel does not look at noise below %" PRIu64 " us", us,
			us);
}

/* The files are those of the top instance: the journal has what they held. */
static int describe(struct watch *watch, char bound[24], struct fail *fail)
{
	const struct condition_noise *noise = watch->condition->noise;
	struct setup_instance *wanted;
	int err = watch_event_describe(watch, noise->event, fail);

	if (err)
		return err;
	snprintf(bound, 24, "%" PRIu64, watch->condition->longer_ns / 1000);
	wanted = &watch->setup.instances[0];
	wanted->size = SMALL;
	wanted->tracer = noise->tracer;
	if (!setup_add_file(wanted, &(struct setup_file){ .file = noise->bound, .value = bound }) ||
	    !setup_add_file(wanted, &(struct setup_file){ .file = noise->other_bound, .value = "0" }))
		return fail_memory(fail);
	return 0;
}

static int open_noise(struct watch *watch, struct fail *fail)
{
	const struct condition *condition = watch->condition;
	struct instance top = instance_top(&flight_recording_rig(watch->recording)->tracing);
	char bound[24];
	int err = tracer_check(&top, condition->noise->tracer, fail);

	if (!err)
		err = check_thresh(condition, &top, fail);
	if (!err)
		err = tracer_check_alone(top.tracing, NULL, condition->noise->tracer, fail);
	if (!err)
		err = describe(watch, bound, fail);
	if (!err)
		err = watch_event_open(watch, fail);
	if (!err)
		err = watch_event_read(watch, fail);
	if (err)
		return err;
	watch->pipe_fd = fd_take(&watch->fd);
	err = timer_new(&watch->fd, fail);
	return err ? err : instance_open_file(watch->instance, "tracing_on", O_RDONLY, &watch->on_fd, fail);
}

static int start_noise(struct watch *watch, struct fail *fail)
{
	int err = timer_start(watch->fd, LOOK_NS, fail);

	return err ? err : watch_event_start(watch, fail);
}

/* The kernel compares whole microseconds in timerlat, and ns in osnoise: time_to_us() in trace_osnoise.c. */
bool watch_noise_counts(const struct watch *watch, const char *line, size_t len)
{
	const struct condition_noise *noise = watch->condition->noise;
	const char *of = memmem(line, len, noise->of, strlen(noise->of));
	char rest[128];
	uint64_t ns;

	if (!of)
		return false;
	snprintf(rest, sizeof(rest), "%.*s", (int)(line + len - of), of);
	return number_after(rest, noise->measured, &ns) && ns >= watch->condition->longer_ns;
}

/* After a stop, what the tracer has measured is read, and it goes on. */
static int look_noise(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	const struct condition_noise *noise = watch->condition->noise;
	char on[4] = "", reason[WATCH_REASON];
	uint64_t times;
	int r;

	(void)!read(watch->fd, &times, sizeof(times));
	if (io_pread(watch->on_fd, on, sizeof(on), 0) < 1)
		return fail_set(fail, -EIO, "cannot read 'tracing_on' of the instance with %s", noise->tracer);
	if (*on != '0')
		return 0;
	r = watch_event_take(watch, READS, ret, fail);
	if (!r) {
		snprintf(reason, sizeof(reason), "%s stopped above %" PRIu64 " us", noise->tracer,
			 watch->condition->longer_ns / 1000);
		watch_reason(ret, reason, strlen(reason));
	}
	/* An instance that got the tracer since was stopped, too. Only its owner knows whether it should go on. */
	if (r >= 0 && tracer_check_alone(watch->instance->tracing, watch->instance->name, noise->tracer, fail))
		return -EBUSY;
	if (r >= 0)
		r = instance_turn(watch->instance, true, fail);
	return r < 0 ? r : 1;
}

static int close_noise(struct watch *watch, struct fail *fail)
{
	cleanup_fd_close(&watch->on_fd);
	watch_event_close(watch);
	return instance_close(take(watch->instance), fail);
}

const struct watch_ops watch_noise_ops = {
	.open = open_noise,
	.start = start_noise,
	.look = look_noise,
	.close = close_noise,
	.counts = watch_noise_counts,
};
