// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/unmet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/query/selection.h"
#include "lib/reader/extent.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

enum {
	EVENTS_MAX = 4 * 1000 * 1000, /* what can be read in about a second */
	PIDS = 4 << 20,               /* PID_MAX_LIMIT of a 64-bit kernel, include/linux/threads.h */
};

/* One buffer. */
struct part {
	const struct context *context;
	struct selection *selections[UNMET_PID + 1];
	uint64_t since, until;
};

struct counting {
	const struct query *query;
	struct unmet *unmet;
	struct extent extent;
	uint8_t *pids; /* a bit for each PID whose name was offered */
	struct reader reader;
	struct part *parts; /* one for each of the reader's buffers */
};

static void offer_name(struct counting *counting, const struct context *context, int32_t pid)
{
	struct task_name name;

	if (!counting->pids || pid < 0 || pid >= PIDS || (counting->pids[pid / 8] & 1 << pid % 8))
		return;
	counting->pids[pid / 8] |= (uint8_t)(1 << pid % 8);
	name = task_name(context->tasks, pid);
	near_offer(&counting->unmet->near, name.text);
}

static void count(struct counting *counting, struct part *part, const struct event *event)
{
	bool meets[UNMET_NR] = { false };

	for (size_t i = 0; i < array_size(part->selections); i++)
		meets[i] = part->selections[i] && selection_keep(part->selections[i], event);
	meets[UNMET_CPU] = counting->query->some_cpus && cpus_has(&counting->query->cpus, event->cpu);
	meets[UNMET_SINCE] = event->ts >= part->since;
	meets[UNMET_UNTIL] = event->ts <= part->until;
	for (size_t i = 0; i < UNMET_NR; i++)
		counting->unmet->matches[i] += meets[i];
	counting->unmet->first = event->ts < counting->unmet->first ? event->ts : counting->unmet->first;
	counting->unmet->last = event->ts > counting->unmet->last ? event->ts : counting->unmet->last;
	counting->unmet->events++;
	(void)!cpus_add(&counting->unmet->cpus, event->cpu);
	if (counting->query->comms.nr)
		offer_name(counting, part->context, event->pid);
}

static void see(void *arg, const struct event *event)
{
	struct counting *counting = arg;

	if (event->kind == EVENT_LOST)
		return;
	counting->unmet->more = counting->unmet->events == EVENTS_MAX;
	if (counting->unmet->more)
		reader_stop(&counting->reader);
	else
		count(counting, &counting->parts[event->buffer], event);
}

static int select_alone(struct part *part, struct counting *counting, struct fail *fail)
{
	const struct query *query = counting->query;
	int r = 0;

	for (size_t i = 0; !r && i < array_size(part->selections); i++)
		r = selection_new(part->context, &part->selections[i], fail);
	for (size_t i = 0; !r && i < query->events.nr; i++)
		r = selection_add_events(part->selections[UNMET_EVENT], query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(part->selections[UNMET_COMM], query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		r = selection_add_filter(part->selections[UNMET_FILTER], query->filters.at[i], query->negated[i], fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(part->selections[UNMET_PID], query->pids[i], fail);
	return r ? r : query_times(query, part->context, &counting->extent, &part->since, &part->until, fail);
}

static int add_buffers(struct counting *counting, struct trace *trace, struct fail *fail)
{
	const struct query *query = counting->query;
	struct reader *reader = &counting->reader;
	int r = 0;

	counting->parts = calloc(trace_buffers(trace) + 1, sizeof(*counting->parts));
	if (!counting->parts)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		struct part *part = &counting->parts[reader->nr_buffers];

		if (query->instance && strcmp(query->instance, trace_buffer(trace, i)->name.text))
			continue;
		r = reader_add(reader, trace, i, fail);
		if (r)
			break;
		*part = (struct part){ .context = reader->buffers[reader->nr_buffers - 1].context,
				       .until = UINT64_MAX };
		counting->unmet->timed = part->context->unit == CLOCK_UNIT_NS;
		r = select_alone(part, counting, fail);
	}
	return r;
}

static int count_all(struct counting *counting, struct trace *trace, struct fail *fail)
{
	struct reader *reader = &counting->reader;
	int r;

	reader_init(reader);
	r = add_buffers(counting, trace, fail);
	if (!r)
		r = reader_start(reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = reader_run(reader, &(struct reader_consumer){ .see = see, .arg = counting }, 1, fail);
	for (size_t i = 0; counting->parts && i < reader->nr_buffers; i++)
		for (size_t j = 0; j < array_size(counting->parts[i].selections); j++)
			selection_free(counting->parts[i].selections[j]);
	free(counting->parts);
	reader_release(reader);
	return r;
}

int unmet_count(struct trace *trace, const struct query *query, struct unmet *ret, struct fail *fail)
{
	struct counting counting = { .query = query, .unmet = ret };
	int r;

	*ret = (struct unmet){ .first = UINT64_MAX, .near = near_to(query->comms.nr ? query->comms.at[0] : "") };
	counting.pids = query->comms.nr ? calloc(PIDS / 8, 1) : NULL;
	r = count_all(&counting, trace, fail);
	free(counting.pids);
	return r;
}
