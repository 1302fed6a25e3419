// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/query.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/query/selection.h"
#include "lib/reader/extent.h"
#include "lib/reader/mark_internal.h"
#include "lib/reader/reader.h"
#include "lib/reader/stamp_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is shown before a mark if no time is given. */
#define BEFORE_NS UINT64_C(5000000000)

void query_release(struct query *query)
{
	free(query->events.at);
	free(query->comms.at);
	free(query->filters.at);
	free(query->negated);
	free(query->longer);
	free(query->pids);
	*query = (struct query)QUERY_INIT;
}

int query_add_word(struct query_words *words, const char *word, struct fail *fail)
{
	const char **added = vec_push(words->at, words->nr);

	if (!added)
		return fail_memory(fail);
	*added = word;
	return 0;
}

int query_add_filter(struct query *query, const char *filter, struct fail *fail)
{
	size_t nr = query->filters.nr;
	bool *added = vec_push(query->negated, nr);

	if (!added)
		return fail_memory(fail);
	*added = query->invert;
	return query_add_word(&query->filters, filter, fail);
}

int query_add_longer(struct query *query, uint64_t ns, struct fail *fail)
{
	bool invert = query->invert;
	char *filter;
	int r;

	if (query->longer)
		return fail_set(fail, -EINVAL, "only one time is allowed");
	if (asprintf(&filter, "duration > %" PRIu64 "ns", ns) < 0)
		return fail_memory(fail);
	query->longer = filter;
	query->invert = false;
	r = query_add_filter(query, filter, fail);
	query->invert = invert;
	return r;
}

int query_add_pids(struct query *query, const char *list, struct fail *fail)
{
	struct text_word word;
	char text[32];

	while (text_next_word(&list, ",", &word)) {
		uint64_t pid;
		int32_t *added;
		int r;

		snprintf(text, sizeof(text), "%.*s", (int)word.len, word.at);
		r = text_parse_range(text, 0, INT32_MAX, &pid, fail);
		if (r)
			return r;
		added = vec_push(query->pids, query->nr_pids);
		if (!added)
			return fail_memory(fail);
		*added = (int32_t)pid;
	}
	return 0;
}

/* Those of the words that look at one event alone. */
static int select_shown(const struct query *query, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < query->events.nr; i++)
		r = selection_add_events(selection, query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		if ((r = selection_add_filter(selection, query->filters.at[i], query->negated[i], fail)))
			fail_in(fail, r, query->filters.at[i] == query->longer ? "--longer" : "--filter");
	if (!r && selection_asks_duration(selection) && query->tail != UINT64_MAX)
		r = fail_set(fail, -EINVAL,
			     "--tail reads only the last events, so a duration that began before them is unknown: "
			     "leave out --tail");
	return r;
}

int query_select(const struct query *query, const struct context *context, struct selection **ret, struct fail *fail)
{
	struct selection *selection = NULL;
	int r = selection_new(context, &selection, fail);

	*ret = selection;
	if (!r)
		r = select_shown(query, selection, fail);
	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(selection, query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(selection, query->pids[i], fail);
	if (!r)
		selection_leave_out_flags(selection, query->flags_out);
	return r;
}

int query_select_again(void *arg, size_t buffer, struct selection **ret, struct fail *fail)
{
	const struct query_again *again = arg;

	return query_select(again->query, again->reader->buffers[buffer].context, ret, fail);
}

/* A mark whose text looks like a time is asked for as @mark:TEXT. */
static bool is_time(const char *text)
{
	return *text == '@' || (text[strspn(text, "0123456789.,:")] == '\0' && strpbrk(text, ".:"));
}

static int find_around(const struct query *query, const struct context *context, struct extent *extent,
		       uint64_t *ret_from, uint64_t *ret_to, struct fail *fail)
{
	struct extent_moment *known = &extent->moments[0];
	int r;

	if (is_time(query->around)) {
		r = stamp_at(context, "around", query->around, extent, ret_from, fail);
		*ret_to = *ret_from;
		return r;
	}
	if (known->text != query->around) {
		r = mark_find(context, query->around, &known->at, &known->end, fail);
		if (r)
			return fail_in(fail, r, "--around: '%s'", query->around);
		known->text = query->around;
	}
	*ret_from = known->at;
	*ret_to = known->end;
	return 0;
}

int query_around(const struct query *query, const struct context *context, struct extent *extent, uint64_t *ret,
		 struct fail *fail)
{
	uint64_t from = 0, to = 0;
	int r = find_around(query, context, extent, &from, &to, fail);

	if (!r)
		*ret = from;
	return r;
}

int query_times(const struct query *query, const struct context *context, struct extent *extent, uint64_t *ret_since,
		uint64_t *ret_until, struct fail *fail)
{
	uint64_t from = 0, to = 0, before = query->before_ns == QUERY_UNSAID ? BEFORE_NS : query->before_ns,
		 after = query->after_ns == QUERY_UNSAID ? 0 : query->after_ns;
	int r;

	if (!query->around)
		return stamp_range(context, query->since, query->until, extent, ret_since, ret_until, fail);
	if (context->unit == CLOCK_UNIT_COUNT)
		return fail_set(fail, -EINVAL,
				"--around: the clock '%s' counts no time: use --since and --until @mark:TEXT",
				context->clock);
	r = find_around(query, context, extent, &from, &to, fail);
	if (r)
		return r;
	*ret_since = from > before ? from - before : 0;
	if (__builtin_add_overflow(to, after, ret_until))
		*ret_until = UINT64_MAX;
	return 0;
}

static int narrow_time(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
		       struct fail *fail)
{
	return query_times(query, buffer->context, extent, &buffer->window.since, &buffer->window.until, fail);
}

/* The reader gets all events; reader_shows() those that the words choose. */
static int narrow_shown(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
			struct fail *fail)
{
	int r = 0;

	if (query->events.nr || query->filters.nr) {
		r = selection_new(buffer->context, &buffer->shown, fail);
		if (!r)
			r = select_shown(query, buffer->shown, fail);
	}
	return r ? r : narrow_time(query, buffer, extent, fail);
}

int query_narrow(const struct query *query, struct reader_buffer *buffer, bool leaves_out_self, struct extent *extent,
		 uint64_t **ret_left_out, struct fail *fail)
{
	bool out = query->self == QUERY_SELF_UNSAID ? leaves_out_self : query->self == QUERY_SELF_OUT;
	uint64_t *left_out = NULL;
	int r = query_select(query, buffer->context, &buffer->selection, fail);

	if (!r && out)
		r = selection_leave_out_self(buffer->selection, &left_out, fail);
	if (r)
		return r;
	if (selection_empty(buffer->selection)) {
		selection_free(buffer->selection);
		buffer->selection = NULL;
		left_out = NULL;
	}
	if (ret_left_out)
		*ret_left_out = left_out;
	if (query->some_cpus) {
		buffer->window.cpu_mask = query->cpus.bits;
		buffer->window.cpu_mask_words = array_size(query->cpus.bits);
	}
	r = narrow_time(query, buffer, extent, fail);
	/* Where the last events begin is found by reading parts, and a source of pages is read only once. */
	if (!r && buffer->selection && query->tail == UINT64_MAX && !buffer->window.source)
		r = selection_read_first(buffer->selection, &buffer->window, fail);
	return r;
}

int query_check_durations(const struct reader *reader, struct fail *fail)
{
	bool lacks = false;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct selection *selection = reader->buffers[i].selection;

		if (!selection || !selection_lacks_durations(selection))
			return 0;
		lacks = true;
	}
	return lacks ? fail_set(fail, -ENOENT,
				"nothing among the events has a duration: there is no function graph, no system call, "
				"no interrupt and no task that ran; record with -p function_graph, -e syscalls, -e irq "
				"or -e sched_switch") :
		       0;
}

bool query_wants(const struct query *query, struct trace *trace, size_t buffer, bool texts)
{
	const struct trace_buffer *info = trace_buffer(trace, buffer);

	if (query->instance)
		return !strcmp(query->instance, info->name.text);
	return trace_buffers(trace) == 1 || info->nr_cpus || (texts && context_latency(trace, buffer));
}

int query_no_instance(const struct query *query, struct trace *trace, struct fail *fail)
{
	return fail_set(fail, -ENOENT, "'%s' has no buffer of an instance '%s'", trace_path(trace), query->instance);
}

static int add(const struct query *query, const struct query_manner *manner, struct trace *trace, size_t index,
	       struct reader *reader, struct extent *extent, struct fail *fail)
{
	struct reader_buffer *buffer;
	int r = reader_add(reader, trace, index, fail);

	if (r)
		return r;
	buffer = &reader->buffers[reader->nr_buffers - 1];
	if (manner->prepare)
		r = manner->prepare(manner->arg, buffer->context, fail);
	if (r)
		return r;
	return manner->times_only ? narrow_shown(query, buffer, extent, fail) :
				    query_narrow(query, buffer, false, extent, NULL, fail);
}

int query_add(const struct query *query, const struct query_manner *manner, struct trace *trace, struct reader *reader,
	      struct fail *fail)
{
	struct extent extent = { .known = false };
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		if (!query_wants(query, trace, i, manner->texts))
			continue;
		wanted = true;
		r = add(query, manner, trace, i, reader, &extent, fail);
	}
	if (!r && query->instance && !wanted)
		return query_no_instance(query, trace, fail);
	return r ? r : query_check_durations(reader, fail);
}

int query_tail(const struct query *query, struct reader *reader, struct fail *fail)
{
	return query->tail == UINT64_MAX ? 0 : reader_tail(reader, query->tail, fail);
}
