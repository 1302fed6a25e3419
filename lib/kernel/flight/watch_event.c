// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/message_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"

enum {
	BUFFER_SIZE = 64 << 10, /* of each CPU */
	READ_SIZE = 4096,
	READS_MAX = 64,       /* a flood of events must not keep the caller */
	LINE_MAX_SIZE = 8192, /* a longer line is cut */
	LATE_MS = 100,        /* two rounds, and what else weft does */
};

/* A time that is further from now is none of this event: its text has been taken for one. */
#define STRANGE_NS UINT64_C(60000000000)

/* Between two messages about lost events. */
#define WARN_NS UINT64_C(60000000000)

int watch_event_describe(struct watch *watch, const char *name, struct fail *fail)
{
	struct setup_instance *wanted = setup_add_instance(&watch->setup, NULL);
	struct setup_event *event = NULL;

	if (wanted && name)
		event = setup_add_event(wanted, name);
	if (!wanted || (name && !event))
		return fail_memory(fail);
	if (event)
		event->filter = watch->condition->filter;
	wanted->size = BUFFER_SIZE;
	wanted->clock = flight_recording_clock(watch->recording);
	return 0;
}

int watch_event_open(struct watch *watch, struct fail *fail)
{
	const struct rig *rig = flight_recording_rig(watch->recording);
	const struct setup_context context = {
		.tracing = &rig->tracing,
		.undo = rig->undo,
		.catalog = rig->catalog,
		.setup = &watch->setup,
		.manner = SETUP_PRIVATE,
		.probes = &rig->probes,
	};
	int err = setup_open(&context, &watch->setup.instances[0], &watch->instance, fail);
	if (!err)
		err = setup_apply(&context, &watch->setup.instances[0], watch->instance, &watch->enabled, fail);
	return err;
}

int watch_event_read(struct watch *watch, struct fail *fail)
{
	return instance_open_file(watch->instance, "trace_pipe", O_RDONLY | O_NONBLOCK, &watch->fd, fail);
}

static int open_event(struct watch *watch, struct fail *fail)
{
	int err = watch_event_describe(watch, watch->condition->event, fail);

	if (!err)
		err = watch_event_open(watch, fail);
	return err ? err : watch_event_read(watch, fail);
}

int watch_event_start(struct watch *watch, struct fail *fail)
{
	return instance_turn(watch->instance, true, fail);
}

static void hit_of_line(const struct watch *watch, const char *line, size_t len, struct watch_hit *ret)
{
	uint64_t now = flight_recording_now(watch->recording), time;

	if (!ret->time) {
		ret->time = now;
		if (watch_line_time(line, len, &time) && time <= now && now - time < STRANGE_NS)
			ret->time = time;
		watch_reason(ret, line, len);
		return;
	}
	ret->more++;
}

/* Takes the complete lines out of the text. */
static int take_lines(struct watch *watch, struct watch_hit *ret)
{
	struct buf *text = &watch->text;
	char *newline;
	int hits = 0;

	while (text->len && (newline = memchr(text->data, '\n', text->len))) {
		size_t len = (size_t)(newline - text->data);
		/* "CPU:1 [LOST 12 EVENTS]" also means that there were events. */
		bool counts = len && (!watch->ops->counts || watch->ops->counts(watch, text->data, len));

		if (counts)
			hit_of_line(watch, text->data, len, ret);
		hits |= counts;
		text->len -= len + 1;
		memmove(text->data, newline + 1, text->len);
	}
	if (text->len > LINE_MAX_SIZE)
		text->len = 0;
	return hits;
}

int watch_event_take(struct watch *watch, unsigned reads, struct watch_hit *ret, struct fail *fail)
{
	int fd = watch->pipe_fd >= 0 ? watch->pipe_fd : watch->fd, hits = 0;

	for (unsigned i = 0; i < reads; i++) {
		ssize_t got;

		if (!buf_reserve(&watch->text, READ_SIZE))
			return fail_memory(fail);
		got = io_again(read(fd, watch->text.data + watch->text.len, READ_SIZE));
		if (got < 0 && errno != EAGAIN)
			return fail_set(fail, -errno, "cannot read the events of '%s': %s", watch->condition->name,
					strerror(errno));
		if (got <= 0)
			break;
		watch->text.len += (size_t)got;
		hits |= take_lines(watch, ret);
	}
	return hits;
}

int watch_event_look(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	return watch_event_take(watch, READS_MAX, ret, fail);
}

void watch_event_close(struct watch *watch)
{
	cleanup_fd_close(&watch->pipe_fd);
	cleanup_fd_close(&watch->fd);
	watch->fd = -1;
	event_set_release(&watch->enabled);
	setup_release(&watch->setup);
	buf_release(&watch->text);
}

void watch_tell_lost(const struct watch *watch, uint64_t *lost, uint64_t *told_ns)
{
	uint64_t now = now_ns();
	char text[TEXT_HUMAN];

	if (!*lost || (*told_ns && now - *told_ns < WARN_NS))
		return;
	message_line(watch->tell,
		     "--when %s: the kernel lost %s events that were not read in time: what was going on then was not "
		     "measured",
		     watch->condition->name, text_count(text, *lost));
	*lost = 0;
	*told_ns = now;
}

void watch_tell_late(const struct watch *watch, const char *why)
{
	message_line(watch->tell,
		     "--when %s: %s; weft reads these events itself, %d times a second, so a trigger may be %d ms late",
		     watch->condition->name, why, (int)(NS_PER_S / WATCH_ROUND_NS), LATE_MS);
}

static int close_event(struct watch *watch, struct fail *fail)
{
	watch_event_close(watch);
	return instance_close(take(watch->instance), fail);
}

const struct watch_ops watch_event_ops = {
	.open = open_event,
	.start = watch_event_start,
	.look = watch_event_look,
	.close = close_event,
};
