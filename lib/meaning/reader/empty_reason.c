// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/empty_reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

enum {
	EVENTS_MAX = 4 * 1000 * 1000, /* what can be read in about a second */
	PIDS = 4 << 20,               /* PID_MAX_LIMIT of a 64-bit kernel, include/linux/threads.h */
};

/* One buffer. */
struct part {
	const struct context *context;
	struct selection *selections[EMPTY_REASON_WHO + 1];
	struct selection *threads; /* the word of the first --process as a --comm; NULL: another choice is first */
	uint64_t since, until;
};

struct counting {
	const struct query *query;
	struct empty_reason *reason;
	struct extent extent;
	uint8_t *pids; /* a bit for each PID whose saved name was offered */
	struct reader reader;
	struct part *parts; /* one for each of the reader's buffers */
};

static void offer_name(struct counting *counting, const struct context *context, const struct event *event)
{
	int32_t pid = event->pid;
	bool saved = task_known(context->tasks, pid);

	if (!counting->pids || pid < 0 || pid >= PIDS || (saved && counting->pids[pid / 8] & 1 << pid % 8))
		return;
	counting->pids[pid / 8] |= (uint8_t)(1 << pid % 8);
	near_offer(&counting->reason->near, context_comm(context, pid, event->ts).text);
}

static void count(struct counting *counting, struct part *part, const struct event *event)
{
	bool meets[EMPTY_REASON_NR] = { false };

	for (size_t i = 0; i < array_size(part->selections); i++)
		meets[i] = part->selections[i] && selection_keep(part->selections[i], event);
	counting->reason->thread |= part->threads && selection_keep(part->threads, event);
	meets[EMPTY_REASON_CPU] = counting->query->some_cpus && cpus_has(&counting->query->cpus, event->cpu);
	meets[EMPTY_REASON_SINCE] = event->ts >= part->since;
	meets[EMPTY_REASON_UNTIL] = event->ts <= part->until;
	for (size_t i = 0; i < EMPTY_REASON_NR; i++)
		counting->reason->matches[i] += meets[i];
	counting->reason->first = event->ts < counting->reason->first ? event->ts : counting->reason->first;
	counting->reason->last = event->ts > counting->reason->last ? event->ts : counting->reason->last;
	counting->reason->events++;
	(void)!cpus_add(&counting->reason->cpus, event->cpu);
	if (counting->query->comms.nr)
		offer_name(counting, part->context, event);
}

static void see(void *arg, const struct event *event)
{
	struct counting *counting = arg;

	if (event->kind == EVENT_LOST)
		return;
	counting->reason->more = counting->reason->events == EVENTS_MAX;
	if (counting->reason->more)
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
		r = selection_add_events(part->selections[EMPTY_REASON_EVENT], query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(part->selections[EMPTY_REASON_COMM], query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		r = selection_add_filter(part->selections[EMPTY_REASON_FILTER], query->filters.at[i], query->negated[i],
					 fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(part->selections[EMPTY_REASON_PID], query->pids[i], fail);
	for (size_t i = 0; !r && i < query->nr_who; i++)
		r = selection_add_who(part->selections[EMPTY_REASON_WHO], &query->who[i], fail);
	if (!r && query->nr_who && query->who[0].part == WHO_PROCESS)
		r = selection_new(part->context, &part->threads, fail);
	if (!r && part->threads)
		r = selection_add_comm(part->threads, query->who[0].word, fail);
	return r ? r : query_times(query, part->context, &counting->extent, &part->since, &part->until, fail);
}

static void offer_text(const char *text, void *arg)
{
	near_offer(arg, text);
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
		if (query->nr_who && !query->comms.nr)
			who_each(part->context, query->who[0].part, offer_text, &counting->reason->near);
		counting->reason->timed = part->context->unit == CLOCK_UNIT_NS;
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
	for (size_t i = 0; counting->parts && i < reader->nr_buffers; i++) {
		selection_free(counting->parts[i].threads);
		for (size_t j = 0; j < array_size(counting->parts[i].selections); j++)
			selection_free(counting->parts[i].selections[j]);
	}
	free(counting->parts);
	reader_release(reader);
	return r;
}

int empty_reason_count(struct trace *trace, const struct query *query, struct empty_reason *ret, struct fail *fail)
{
	struct counting counting = { .query = query, .reason = ret };
	const char *word = query->comms.nr ? query->comms.at[0] : query->nr_who ? query->who[0].word : "";
	int r;

	*ret = (struct empty_reason){ .first = UINT64_MAX, .near = near_to(word) };
	counting.pids = query->comms.nr ? calloc(PIDS / 8, 1) : NULL;
	r = count_all(&counting, trace, fail);
	free(counting.pids);
	return r;
}
