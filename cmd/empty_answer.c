// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/empty_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "lib/base/buf.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/query/selection.h"
#include "lib/reader/extent.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"
#include "lib/reader/stamp.h"
#include "lib/trace/trace.h"

enum {
	EVENTS_MAX = 4 * 1000 * 1000, /* what can be read in about a second */
	PIDS = 4 << 20,               /* PID_MAX_LIMIT of a 64-bit kernel, include/linux/threads.h */
};

/* The options that select events. Each is examined alone. */
enum choice { CHOICE_EVENT, CHOICE_COMM, CHOICE_FILTER, CHOICE_PID, CHOICE_CPU, CHOICE_SINCE, CHOICE_UNTIL, CHOICES };

/* One buffer. */
struct part {
	const struct context *context;
	struct selection *selections[CHOICE_PID + 1];
	uint64_t since, until;
};

struct answer {
	const struct query *query;
	bool rows;
	uint64_t events, matches[CHOICES], first, last;
	struct cpus cpus;
	struct extent extent;
	bool more, timed; /* more: there are more events than were read; timed: times are in ns */
	uint8_t *pids;    /* a bit for each PID whose name was offered */
	struct near near; /* names similar to the first --comm */
	struct reader reader;
	struct part *parts; /* one for each of the reader's buffers */
};

static void offer_name(struct answer *answer, const struct context *context, int32_t pid)
{
	struct task_name name;

	if (!answer->pids || pid < 0 || pid >= PIDS || (answer->pids[pid / 8] & 1 << pid % 8))
		return;
	answer->pids[pid / 8] |= (uint8_t)(1 << pid % 8);
	name = task_name(context->tasks, pid);
	near_offer(&answer->near, name.text);
}

static void count(struct answer *answer, struct part *part, const struct event *event)
{
	bool meets[CHOICES] = { false };

	for (size_t i = 0; i < array_size(part->selections); i++)
		meets[i] = part->selections[i] && selection_keep(part->selections[i], event);
	meets[CHOICE_CPU] = answer->query->some_cpus && cpus_has(&answer->query->cpus, event->cpu);
	meets[CHOICE_SINCE] = event->ts >= part->since;
	meets[CHOICE_UNTIL] = event->ts <= part->until;
	for (size_t i = 0; i < CHOICES; i++)
		answer->matches[i] += meets[i];
	answer->first = event->ts < answer->first ? event->ts : answer->first;
	answer->last = event->ts > answer->last ? event->ts : answer->last;
	answer->events++;
	(void)!cpus_add(&answer->cpus, event->cpu);
	if (answer->query->comms.nr)
		offer_name(answer, part->context, event->pid);
}

static void see(void *arg, const struct event *event)
{
	struct answer *answer = arg;

	if (event->kind == EVENT_LOST)
		return;
	answer->more = answer->events == EVENTS_MAX;
	if (answer->more)
		reader_stop(&answer->reader);
	else
		count(answer, &answer->parts[event->buffer], event);
}

static int select_alone(struct part *part, struct answer *answer, struct fail *fail)
{
	const struct query *query = answer->query;
	int r = 0;

	for (size_t i = 0; !r && i < array_size(part->selections); i++)
		r = selection_new(part->context, &part->selections[i], fail);
	for (size_t i = 0; !r && i < query->events.nr; i++)
		r = selection_add_events(part->selections[CHOICE_EVENT], query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(part->selections[CHOICE_COMM], query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		r = selection_add_filter(part->selections[CHOICE_FILTER], query->filters.at[i], query->negated[i],
					 fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(part->selections[CHOICE_PID], query->pids[i], fail);
	return r ? r :
		   stamp_range(part->context, query->since, query->until, &answer->extent, &part->since, &part->until,
			       fail);
}

static int add_buffers(struct answer *answer, struct trace *trace, struct fail *fail)
{
	const struct query *query = answer->query;
	struct reader *reader = &answer->reader;
	int r = 0;

	answer->parts = calloc(trace_buffers(trace) + 1, sizeof(*answer->parts));
	if (!answer->parts)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		struct part *part = &answer->parts[reader->nr_buffers];

		if (query->instance && strcmp(query->instance, trace_buffer(trace, i)->name.text))
			continue;
		r = reader_add(reader, trace, i, fail);
		if (r)
			break;
		*part = (struct part){ .context = reader->buffers[reader->nr_buffers - 1].context,
				       .until = UINT64_MAX };
		answer->timed = part->context->unit == CLOCK_UNIT_NS;
		r = select_alone(part, answer, fail);
	}
	return r;
}

static int read_all(struct answer *answer, struct trace *trace, struct fail *fail)
{
	struct reader *reader = &answer->reader;
	int r;

	reader_init(reader);
	r = add_buffers(answer, trace, fail);
	if (!r)
		r = reader_start(reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = reader_run(reader, &(struct reader_consumer){ .see = see, .arg = answer }, 1, fail);
	for (size_t i = 0; answer->parts && i < reader->nr_buffers; i++)
		for (size_t j = 0; j < array_size(answer->parts[i].selections); j++)
			selection_free(answer->parts[i].selections[j]);
	free(answer->parts);
	reader_release(reader);
	return r;
}

static const char *time_text(const struct answer *answer, uint64_t ts, char into[TEXT_HUMAN])
{
	if (answer->timed)
		return text_stamp(into, ts);
	snprintf(into, TEXT_HUMAN, "%" PRIu64, ts);
	return into;
}

static void tell_choice(const struct answer *answer, enum choice choice)
{
	const struct query *query = answer->query;
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(&answer->near, hint, sizeof(hint));
	switch (choice) {
	case CHOICE_EVENT:
		command_warn("none is a %s%s", query->events.at[0], query->events.nr > 1 ? " or of another -e" : "");
		break;
	case CHOICE_COMM:
		command_warn("none is of a task called '%s'%s%s%s", query->comms.at[0],
			     query->comms.nr > 1 ? " or as another --comm" : "", *hint ? "; " : "", hint);
		break;
	case CHOICE_FILTER:
		command_warn("none meets the filter '%s'%s", query->filters.at[0],
			     query->filters.nr > 1 ? " or another -f" : "");
		break;
	case CHOICE_PID:
		command_warn("none is of the task %" PRId32 "%s", query->pids[0],
			     query->nr_pids > 1 ? " or of another --pid" : "");
		break;
	case CHOICE_CPU:
		command_warn("none is of these CPUs");
		break;
	case CHOICE_SINCE:
		command_warn("all are before --since %s", query->since);
		break;
	case CHOICE_UNTIL:
		command_warn("all are after --until %s", query->until);
		break;
	case CHOICES:
		break;
	}
}

static bool is_any_unmet(const struct answer *answer, const bool asked[CHOICES])
{
	for (enum choice i = 0; i < CHOICES; i++)
		if (asked[i] && !answer->matches[i])
			return true;
	return false;
}

static void tell_choices(const struct answer *answer, const bool asked[CHOICES])
{
	bool none = false;

	for (enum choice i = 0; i < CHOICES; i++) {
		if (!asked[i] || answer->matches[i])
			continue;
		none = true;
		tell_choice(answer, i);
	}
	if (!none)
		command_warn("each criterion has matching events, but no event meets all of them");
}

void empty_answer_tell(struct trace *trace, const struct query *query, bool rows)
{
	const bool asked[CHOICES] = { query->events.nr, query->comms.nr, query->filters.nr, query->nr_pids,
				      query->some_cpus, query->since,    query->until };
	struct answer answer = { .query = query,
				 .rows = rows,
				 .first = UINT64_MAX,
				 .near = near_to(query->comms.nr ? query->comms.at[0] : "") };
	char count[TEXT_HUMAN], first[TEXT_HUMAN], last[TEXT_HUMAN];
	cleanup_buf struct buf cpus = { 0 };
	struct fail fail = FAIL_INIT;
	int r;

	if (!memchr(asked, true, sizeof(asked)))
		return;
	answer.pids = query->comms.nr ? calloc(PIDS / 8, 1) : NULL;
	r = read_all(&answer, trace, &fail);
	free(answer.pids);
	if (r)
		return;
	if (!answer.events) {
		command_warn("nothing is selected: there are no events");
		return;
	}
	if (!cpus_list(&answer.cpus, &cpus) || (rows && (answer.more || !is_any_unmet(&answer, asked))))
		return;
	command_warn("0 of %s%s event%s are selected; they span %s to %s, CPUs %s", answer.more ? "more than " : "",
		     text_count(count, answer.events), text_plural(answer.events),
		     time_text(&answer, answer.first, first), time_text(&answer, answer.last, last), buf_str(&cpus));
	if (!answer.more)
		tell_choices(&answer, asked);
}
