// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/live/ear.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/record/side_tap.h"
#include "lib/stream/live_source.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

enum {
	QUEUES_MAX = 16 << 20, /* limit for the pages of all CPUs, in bytes */
	QUEUE_MAX = 1 << 20,
	TAKES_MAX = 16,   /* a flood of events must not keep the caller */
	NAMES_SHARE = 10, /* reading the names of tasks takes at most this part of the time */
};

struct ear {
	struct side_tap tap;
	struct reader reader;
	struct source *source; /* the reader owns it */
	bool named;            /* in this call of ear_listen() */
	uint64_t named_ns, names_cost_ns;
};

static int open_reader(struct ear *ear, struct fail *fail)
{
	struct tap_buffer *buffer = &ear->tap.buffer;
	size_t share = QUEUES_MAX / (buffer->nr_cpus + 1);
	const struct live_source_options live = {
		.feed = { .read = tap_buffer_read, .overrun = tap_buffer_overrun, .arg = buffer },
		.shape = tap_buffer_shape(buffer),
		.cpus = buffer->cpus,
		.nr_cpus = buffer->nr_cpus,
		.queue_max = share < QUEUE_MAX ? share : QUEUE_MAX,
	};
	int err = reader_add(&ear->reader, ear->tap.trace, 0, fail);

	if (!err)
		err = live_source_new(&live, &ear->source, fail);
	if (err)
		return err;
	ear->reader.buffers[0].window = (struct events_options){ .until = UINT64_MAX, .source = ear->source };
	return reader_start(&ear->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

int ear_new(const struct rig *rig, struct instance *instance, struct ear **ret, struct fail *fail)
{
	struct ear *ear = calloc(1, sizeof(*ear));
	int err;

	if (!ear)
		return fail_memory(fail);
	reader_init(&ear->reader);
	err = side_tap_open(rig, instance, &ear->tap, fail);
	if (!err)
		err = open_reader(ear, fail);
	if (err) {
		ear_free(ear);
		return err;
	}
	*ret = ear;
	return 0;
}

void ear_free(struct ear *ear)
{
	if (!ear)
		return;
	reader_release(&ear->reader);
	side_tap_close(&ear->tap);
	free(ear);
}

struct reader *ear_reader(struct ear *ear)
{
	return &ear->reader;
}

static int hear(struct ear *ear, const struct reader_consumer *consumer, uint64_t *lost, struct fail *fail)
{
	struct event event;
	int r;

	reader_resume(&ear->reader);
	while ((r = reader_step(&ear->reader, &event, fail)) > 0) {
		if (event.kind == EVENT_LOST)
			*lost += event.lost > 0 ? (uint64_t)event.lost : 1;
		consumer->see(consumer->arg, &event);
	}
	return r;
}

static int check_damage(const struct ear *ear, struct fail *fail)
{
	const char *damage = events_damage(ear->reader.buffers[0].events);

	if (trace_damage(ear->tap.trace))
		return fail_set(fail, -ENOMEM, "%s", trace_damage(ear->tap.trace));
	return damage ? fail_set(fail, -EBADMSG, "the kernel's pages are damaged: %s", damage) : 0;
}

int ear_listen(struct ear *ear, const struct reader_consumer *consumer, uint64_t *lost, struct fail *fail)
{
	bool full = true;
	int r = 0;

	ear->named = false;
	for (unsigned i = 0; r >= 0 && full && i < TAKES_MAX; i++) {
		r = live_source_take(ear->source, !i, &full, fail);
		if (r >= 0)
			r = hear(ear, consumer, lost, fail);
	}
	return r < 0 ? r : check_damage(ear, fail);
}

bool ear_learn_names(struct ear *ear)
{
	struct context *context = ear->reader.buffers[0].context;
	cleanup_buf struct buf names = BUF_INIT;
	uint64_t now = now_ns();

	if (ear->named || now - ear->named_ns < NAMES_SHARE * ear->names_cost_ns)
		return ear->named;
	ear->named = !side_tap_names(&ear->tap, &names, NULL) &&
		     !context_set_tasks(context, buf_str(&names), names.len, "", 0, NULL);
	ear->named_ns = now_ns();
	ear->names_cost_ns = ear->named_ns - now;
	return ear->named;
}
