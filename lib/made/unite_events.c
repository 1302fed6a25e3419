// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/made/unite_events.h"

#include "lib/base/fail.h"
#include "lib/made/unite.h"
#include "lib/query/selection.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

int unite_first(struct trace *trace, const char *event, uint64_t *ret, struct fail *fail)
{
	struct reader reader;
	struct event first = { .kind = EVENT_LOST };
	int r;

	reader_init(&reader);
	r = reader_add_trace(&reader, trace, fail);
	for (size_t i = 0; !r && i < reader.nr_buffers; i++) {
		r = selection_new(reader.buffers[i].context, &reader.buffers[i].selection, fail);
		if (!r)
			r = selection_add_events(reader.buffers[i].selection, event, fail);
	}
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && first.kind == EVENT_LOST) {
		r = reader_next(&reader, &first, fail);
		r = r > 0 ? 0 : r < 0 ? r : fail_set(fail, -ENOENT, "it has no event '%s'", event);
	}
	*ret = first.ts;
	reader_release(&reader);
	return r;
}

static int take_buffer(struct unite *unite, size_t which, struct trace *trace, size_t buffer, uint64_t *events,
		       bool *ret_damaged, struct fail *fail)
{
	struct event event;
	struct reader reader;
	int64_t *lost = calloc(trace_buffer(trace, buffer)->nr_cpus + 1, sizeof(*lost));
	int r;

	reader_init(&reader);
	r = lost ? reader_add(&reader, trace, buffer, fail) : fail_memory(fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && (r = reader_next(&reader, &event, fail)) > 0) {
		if (event.kind == EVENT_LOST) {
			lost[event.cpu_index] = event.lost;
			r = 0;
			continue;
		}
		r = unite_event(unite, which, buffer, &event, lost[event.cpu_index], fail);
		lost[event.cpu_index] = 0;
		*events += !r;
	}
	*ret_damaged |= !r && reader_damage(&reader, &(const char *){ NULL });
	reader_release(&reader);
	free(lost);
	return r;
}

int unite_events(struct unite *unite, size_t which, struct trace *trace, uint64_t *events, bool *ret_damaged,
		 struct fail *fail)
{
	int r = 0;

	*ret_damaged = false;
	for (size_t buffer = 0; !r && buffer < trace_buffers(trace); buffer++)
		r = take_buffer(unite, which, trace, buffer, events, ret_damaged, fail);
	/* What was not read for lack of memory is not damaged. */
	if (!r && trace_starved(trace))
		r = fail_memory(fail);
	*ret_damaged |= trace_damage(trace) != NULL;
	return r;
}
