// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The analysis of the function graph in slices of time (lib/meaning/reader/parallel_sum.h). Only of files that have no
 * other events than functions, of one buffer, without losses: then the state of the machine tells nothing but which
 * task has a CPU, and each event tells that itself. The calls that are open where a slice begins are joined by
 * lib/meaning/follow/calls_slice; the sums by function are added up. Not in slices: names of tasks that the user chose,
 * which may change; comparisons, whose samples have marks; and more calls than samples are kept as they are, because it
 * then depends on the order of all calls which of them are rounded.
 */
#include "lib/answers/graph/graph_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/answers/frame/pass.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/calls_slice.h"
#include "lib/meaning/reader/parallel_sum.h"
#include "lib/meaning/reader/reader.h"

/* The part of a slice: a pass of its own, whose only analysis it is. */
struct part {
	struct pass pass;
	struct graph_slice slice;
	struct graph_analysis *graph; /* of the pass */
	uint64_t index, nr;
	uint64_t start; /* the time of its first event */
	bool began;     /* a function was seen */
};

static struct graph_analysis *graph_of(const struct pass *pass)
{
	return pass->items[0].analysis;
}

bool graph_can_share(const struct pass *pass)
{
	const struct row_options *options = pass->items[0].options;

	/* In a slice there is nothing that tells whom a task belongs to. */
	return (!options || options->by < GRAPH_BY_WHO) && pass->reader->nr_buffers == 1 && !pass_is_narrow(pass) &&
	       !pass_compares(pass) && !pass_filtered(pass);
}

static void release(void *arg)
{
	struct part *part = arg;

	pass_release(&part->pass);
	event_copies_release(&part->slice.kept);
	free(part);
}

static int create(void *arg, struct reader *reader, uint64_t index, uint64_t nr, void **ret)
{
	const struct pass *pass = arg;
	struct part *part = calloc(1, sizeof(*part));
	struct fail fail;
	int r;

	if (!part)
		return -EAGAIN;
	part->slice = (struct graph_slice){ .least = UINT64_MAX };
	part->index = index;
	part->nr = nr;
	r = pass_init(&part->pass, reader, &pass->filter, &fail);
	if (!r)
		r = pass_add(&part->pass, pass->items[0].ops, &graph_of(pass)->options, &fail);
	if (r) {
		release(part);
		return r;
	}
	part->graph = graph_of(&part->pass);
	part->graph->slice = &part->slice;
	*ret = part;
	return 0;
}

/*
 * Nearly every slice has the functions of the slice before, and as many calls of each. The sum has these functions, so
 * that it does not matter which of them comes first.
 */
static void inherit(void *arg, void *from)
{
	struct graph_analysis *graph = ((struct part *)arg)->graph, *joined = ((struct part *)from)->graph;
	struct u64_map ids = graph->ids, addresses = graph->addresses;

	for (size_t i = 0; i < joined->nr_functions; i++) {
		struct graph_function *function = &joined->functions[i];

		samples_clear(&function->lasted);
		*function = (struct graph_function){ .address = function->address, .lasted = function->lasted };
	}
	graph->functions = joined->functions;
	graph->nr_functions = joined->nr_functions;
	graph->ids = joined->ids;
	graph->addresses = joined->addresses;
	joined->functions = NULL;
	joined->nr_functions = 0;
	joined->ids = ids;
	joined->addresses = addresses;
}

static int see_function(struct part *part, const struct event *event, bool is_entry)
{
	struct graph_analysis *graph = part->graph;
	struct call call;

	/* They exist from the first function on. */
	if (__builtin_expect(!part->began, 0) && graph->stream.calls && part->index)
		calls_slice_begin(graph->stream.calls);
	part->began = graph->stream.calls;
	if (!part->began)
		return -ENOMEM;
	call.func = 0;
	switch (calls_slice_see(graph->stream.calls, event, &call)) {
	case CALLS_KEEP:
		return event_copies_add(&part->slice.kept, event, part->slice.number) ? 0 : -ENOMEM;
	case CALLS_ENDED:
		graph_see_call(graph, &call, event);
		return 0;
	case CALLS_NONE:
		if (is_entry)
			graph_expect(graph, call.func);
		return 0;
	}
	return 0;
}

static int see_event(struct part *part, const struct event *event)
{
	const struct dispatch_type *type;
	uint8_t role;

	if (event->kind != EVENT_RECORD)
		return -EAGAIN;
	type = dispatch_type(&part->pass.dispatch, event);
	if (!type || type->state_role)
		return -EAGAIN;
	role = type->nr ? type->to[0].role : ROLE_NONE;
	if (role == GRAPH_ROLE_ENTRY || role == GRAPH_ROLE_EXIT)
		return see_function(part, event, role == GRAPH_ROLE_ENTRY);
	if (role)
		graph_see_hit(part->graph, event, role);
	return 0;
}

static int see(void *arg, const struct event *events, size_t nr)
{
	struct part *part = arg;
	int r = 0;

	if (!part->slice.number)
		part->start = events->ts;
	/* A later slice does not know when the file begins. */
	if (!part->index)
		part->pass.state.start = part->start;
	for (size_t i = 0; !r && i < nr; i++) {
		r = see_event(part, &events[i]);
		part->slice.number++;
	}
	return r;
}

static int end(void *arg)
{
	const struct part *part = arg;

	return part->pass.failed || part->pass.dispatch.failed || part->pass.budget.failed ||
			       part->graph->roles.failed ?
		       -ENOMEM :
		       0;
}

/* The events that were kept, now that it is known what was before them. */
static void see_kept(struct part *part, struct calls *calls)
{
	struct graph_slice *slice = &part->slice;
	struct call call;

	for (size_t i = 0; i < slice->kept.nr; i++) {
		struct event event = event_copies_at(&slice->kept, i, &slice->number);

		if (calls_slice_again(calls, part->graph->stream.calls, &event, &call))
			graph_see_call(part->graph, &call, &event);
	}
}

static int by_first(const void *a, const void *b, void *arg)
{
	const struct graph_function *functions = arg;
	uint64_t left = functions[*(const size_t *)a].first, right = functions[*(const size_t *)b].first;

	return (left > right) - (left < right);
}

static bool add_function(struct graph_analysis *graph, const struct graph_function *function)
{
	struct graph_function *sum = graph_function_at(graph, function->address);

	if (!sum)
		return false;
	sum->total += function->total;
	sum->self += function->self;
	sum->entered += function->entered;
	sum->interrupted += function->interrupted;
	sum->off += function->off;
	sum->again += function->again;
	sum->errors += function->errors;
	if (!sum->longest_at || function->lasted.max > sum->lasted.max) {
		sum->longest_at = function->longest_at;
		sum->longest_cpu = function->longest_cpu;
		sum->longest_pid = function->longest_pid;
		memcpy(sum->longest_comm, function->longest_comm, sizeof(sum->longest_comm));
	}
	return samples_join(&sum->lasted, &graph->pass->budget, &function->lasted);
}

/* In the order in which their first calls ended, which is that of rows that sort the same. */
static bool add_functions(struct graph_analysis *graph, struct graph_analysis *from)
{
	size_t *order = calloc(from->nr_functions + 1, sizeof(*order));
	bool ok = order;

	for (size_t i = 0; ok && i < from->nr_functions; i++)
		order[i] = i;
	if (ok)
		qsort_r(order, from->nr_functions, sizeof(*order), by_first, from->functions);
	for (size_t i = 0; ok && i < from->nr_functions; i++)
		ok = add_function(graph, &from->functions[order[i]]);
	free(order);
	return ok;
}

static int by_first_error(const void *a, const void *b)
{
	const struct graph_error *const *left = a, *const *right = b;

	return ((*left)->first > (*right)->first) - ((*left)->first < (*right)->first);
}

static bool add_errors(struct graph_analysis *graph, const struct graph_analysis *from)
{
	struct graph_error **order = calloc(from->errors.map.len + 1, sizeof(struct graph_error *)), *error;
	size_t at = 0, nr = 0;
	bool ok = order;
	uint64_t key;

	while (ok && (error = u64_map_next(&from->errors.map, &at, &key)))
		order[nr++] = error;
	if (ok)
		qsort(order, nr, sizeof(struct graph_error *), by_first_error);
	for (size_t i = 0; ok && i < nr; i++) {
		const struct graph_function *function =
			graph_function_at(graph, from->functions[order[i]->function].address);

		ok = function && graph_errors_join(&graph->errors, (uint32_t)(function - graph->functions), order[i]);
	}
	free(order);
	return ok;
}

static bool add_hits(struct graph_analysis *graph, const struct graph_analysis *from)
{
	graph->hits_context = from->hits_context ? from->hits_context : graph->hits_context;
	for (size_t i = 0; i < from->nr_hits; i++) {
		struct graph_hits *hits = graph_hits_at(graph, from->hits[i].address);

		if (!hits)
			return false;
		hits->count += from->hits[i].count;
	}
	return true;
}

static bool add_stream(struct graph_stream *stream, const struct graph_stream *from)
{
	if (!from->calls)
		return true;
	if (!stream->calls)
		stream->calls = calls_new();
	stream->context = from->context;
	stream->nr_retvals = from->nr_retvals > stream->nr_retvals ? from->nr_retvals : stream->nr_retvals;
	return stream->calls;
}

/* Whether so many calls are to be expected that samples will be rounded. */
static bool is_too_much(const struct part *part)
{
	return !part->index && (SAMPLES_BUDGET - part->pass.budget.left) > SAMPLES_BUDGET / part->nr;
}

static int join(void *arg, void *from)
{
	struct pass *pass = arg;
	struct graph_analysis *graph = graph_of(pass);
	struct part *part = from;

	if (is_too_much(part) || !add_stream(&graph->stream, &part->graph->stream))
		return -EAGAIN;
	/* The first slices may be empty. */
	if (!pass->state.started && part->slice.number) {
		pass->state.started = true;
		pass->state.start = pass->state.now = part->start;
	}
	/* Whether such a call began before the file did decides as what it counts. */
	if (part->slice.least < pass->state.start && part->index)
		return -EAGAIN;
	part->pass.state.start = pass->state.start;
	see_kept(part, graph->stream.calls);
	if (part->graph->stream.calls && !calls_slice_join(graph->stream.calls, part->graph->stream.calls))
		return -EAGAIN;
	graph->cut += part->graph->cut;
	graph->unpaired += part->graph->unpaired;
	if (!add_functions(graph, part->graph) || !add_errors(graph, part->graph) || !add_hits(graph, part->graph))
		return -EAGAIN;
	return end(part);
}

static int done(void *arg, const struct reader *reader)
{
	struct pass *pass = arg;
	struct fail fail;

	return pass_note_types(pass, reader, &fail);
}

const struct parallel_sum_ops graph_shares = {
	.create = create, .see = see, .end = end, .join = join, .inherit = inherit, .free = release, .done = done
};
