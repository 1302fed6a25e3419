// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/slice_lines_internal.h"

#include "formats/renderer_internal.h"
#include "formats/slice_lines.h"
#include "lib/base/fail.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"

#include <stdlib.h>

/* Text is handed over in pieces of about this size; a line more fits into the memory of a piece. */
enum { TEXT_SIZE = 128 << 10, TEXT_FULL = TEXT_SIZE - (4 << 10) };

/* After so many events, selected or not, the blocks that no later event needs are given back if they are this large. */
enum { LOOK_EVERY = 256, HELD = 512 << 10 };

int slice_lines_init(struct slice_lines *lines, const struct sliced_lines *ops, void *arg, struct reader *reader,
		     struct fail *fail)
{
	lines->ops = ops;
	lines->reader = reader;
	lines->retired = calloc(reader->nr_buffers + 1, sizeof(struct block *));
	if (!lines->retired || !out_init(&lines->out, TEXT_SIZE))
		return fail_memory(fail);
	return ops->create(arg, reader, &lines->out, &lines->maker, fail);
}

void slice_lines_release(struct slice_lines *lines)
{
	if (lines->maker)
		lines->ops->free(lines->maker);
	if (lines->out.start)
		out_release(&lines->out);
	free(lines->retired);
	*lines = (struct slice_lines){ .maker = NULL };
}

static void relieve(struct slice_lines *lines)
{
	if (reader_held_merged(lines->reader) <= HELD)
		return;
	reader_retired(lines->reader, lines->retired);
	reader_give_back(lines->reader, lines->retired);
}

int slice_lines_pass(struct slice_lines *lines, struct fail *fail)
{
	struct event event;
	unsigned seen = 0;
	int r;

	while ((r = reader_step(lines->reader, &event, fail)) > 0) {
		/* Only to tell the selection of it. */
		(void)reader_keeps(lines->reader, &event);
		if (!(++seen % LOOK_EVERY))
			relieve(lines);
	}
	return r;
}

int slice_lines_run(struct slice_lines *lines, const struct render_port *port, uint64_t *ret_printed, struct fail *fail)
{
	const struct sliced_lines *ops = lines->ops;
	struct event event;
	unsigned seen = 0;
	int r;

	*ret_printed = 0;
	out_clear(&lines->out);
	while ((r = reader_step(lines->reader, &event, fail)) > 0) {
		if (reader_keeps(lines->reader, &event)) {
			ops->put(lines->maker, &event);
			*ret_printed += event.kind == EVENT_RECORD;
		}
		if (!(++seen % LOOK_EVERY))
			relieve(lines);
		r = out_len(&lines->out) < TEXT_FULL ? 0 : port->put(port->arg, &lines->out, fail);
		if (r < 0)
			return r;
	}
	if (!r)
		r = port->put(port->arg, &lines->out, fail);
	return r ? r : ops->check(lines->maker, fail);
}
