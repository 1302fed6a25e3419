// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/side_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/record/side_tap.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/stream/live_source.h"
#include "lib/pages/trace/trace.h"

enum {
	QUEUES_MAX = 16 << 20, /* limit for the pages of all CPUs, in bytes */
	QUEUE_MAX = 1 << 20,
	TAKES_MAX = 16,   /* a flood of events must not keep the caller */
	NAMES_SHARE = 10, /* reading the names of tasks takes at most this part of the time */
};

struct side_reader {
	struct side_tap tap;
	struct reader reader;
	struct source *source; /* the reader owns it */
	bool named;            /* in this call of side_reader_listen() */
	uint64_t named_ns, names_cost_ns;
};

static int open_reader(struct side_reader *side, struct fail *fail)
{
	struct tap_buffer *buffer = &side->tap.buffer;
	size_t share = QUEUES_MAX / (buffer->nr_cpus + 1);
	const struct live_source_options live = {
		.feed = { .read = tap_buffer_read, .overrun = tap_buffer_overrun, .arg = buffer },
		.shape = tap_buffer_shape(buffer),
		.cpus = buffer->cpus,
		.nr_cpus = buffer->nr_cpus,
		.queue_max = share < QUEUE_MAX ? share : QUEUE_MAX,
	};
	int err = reader_add(&side->reader, side->tap.trace, 0, fail);

	if (!err)
		err = live_source_new(&live, &side->source, fail);
	if (err)
		return err;
	side->reader.buffers[0].window = (struct events_options){ .until = UINT64_MAX,
								  .source = side->source,
								  .see = comms_learn,
								  .see_arg = side->reader.buffers[0].context->comms };
	return reader_start(&side->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

int side_reader_new(const struct rig *rig, struct instance *instance, bool tasks, struct side_reader **ret,
		    struct fail *fail)
{
	struct side_reader *side = calloc(1, sizeof(*side));
	int err;

	if (!side)
		return fail_memory(fail);
	reader_init(&side->reader);
	err = side_tap_open(rig, instance, tasks, &side->tap, fail);
	if (!err)
		err = open_reader(side, fail);
	if (err) {
		side_reader_free(side);
		return err;
	}
	*ret = side;
	return 0;
}

void side_reader_free(struct side_reader *side)
{
	if (!side)
		return;
	reader_release(&side->reader);
	side_tap_close(&side->tap);
	free(side);
}

struct reader *side_reader_reader(struct side_reader *side)
{
	return &side->reader;
}

static int hear(struct side_reader *side, const struct reader_consumer *consumer, uint64_t *lost, struct fail *fail)
{
	struct event event;
	int r;

	reader_resume(&side->reader);
	while ((r = reader_step(&side->reader, &event, fail)) > 0) {
		if (event.kind == EVENT_LOST)
			*lost += event.lost > 0 ? (uint64_t)event.lost : 1;
		consumer->see(consumer->arg, &event);
	}
	return r;
}

static int check_damage(const struct side_reader *side, struct fail *fail)
{
	const char *damage = events_damage(side->reader.buffers[0].events);

	if (trace_damage(side->tap.trace))
		return fail_set(fail, -ENOMEM, "%s", trace_damage(side->tap.trace));
	return damage ? fail_set(fail, -EBADMSG, "the kernel's pages are damaged: %s", damage) : 0;
}

int side_reader_listen(struct side_reader *side, const struct reader_consumer *consumer, uint64_t *lost,
		       struct fail *fail)
{
	bool full = true;
	int r = 0;

	side->named = false;
	for (unsigned i = 0; r >= 0 && full && i < TAKES_MAX; i++) {
		r = live_source_take(side->source, !i, &full, fail);
		if (r >= 0)
			r = hear(side, consumer, lost, fail);
	}
	return r < 0 ? r : check_damage(side, fail);
}

bool side_reader_learn_names(struct side_reader *side)
{
	struct context *context = side->reader.buffers[0].context;
	cleanup_buf struct buf names = BUF_INIT;
	uint64_t now = now_ns();

	if (side->named || now - side->named_ns < NAMES_SHARE * side->names_cost_ns)
		return side->named;
	side->named = !side_tap_names(&side->tap, &names, NULL) &&
		      !context_set_tasks(context, buf_str(&names), names.len, "", 0, NULL);
	side->named_ns = now_ns();
	side->names_cost_ns = side->named_ns - now;
	return side->named;
}
