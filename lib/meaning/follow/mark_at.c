// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/mark_at.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/follow/marks.h"
#include "lib/pages/trace/trace.h"

/* The thread is in a span of this name from `ts` on. */
struct step {
	uint64_t ts;
	uint32_t name; /* the number of a label + 1; 0: in none */
};

struct span {
	uint64_t start, to;
	uint32_t name;
};

struct thread {
	struct span *spans; /* while they are read */
	struct step *steps; /* in order */
	size_t nr_spans, nr_steps;
};

struct marked {
	struct context_later later; /* first: the context frees it */
	const struct context *context;
	pthread_mutex_t lock;
	atomic_bool loaded;
	struct u64_map threads; /* by PID: struct thread */
	struct labels names;
	size_t nr;
	bool starved;
};

static void marked_free(struct context_later *made)
{
	struct marked *marked = (struct marked *)made;
	struct thread *thread;
	uint64_t key;

	for (size_t at = 0; (thread = u64_map_next(&marked->threads, &at, &key));) {
		free(thread->spans);
		free(thread->steps);
	}
	u64_map_release(&marked->threads);
	labels_release(&marked->names);
	pthread_mutex_destroy(&marked->lock);
	free(marked);
}

static void end_span(void *arg, const struct marks_span *span)
{
	struct marked *marked = arg;
	struct thread *thread;
	struct span *added;
	uint32_t label;
	bool is_new;

	if (span->async || !span->pid || marked->nr >= MARK_AT_MAX)
		return;
	label = labels_add(&marked->names, span->name, span->name_len, &is_new);
	thread = u64_map_get(&marked->threads, (uint32_t)span->pid);
	added = thread && label != LABEL_NONE ? vec_push(thread->spans, thread->nr_spans) : NULL;
	marked->starved |= !added;
	if (!added)
		return;
	*added = (struct span){ span->start, span->end == MARKS_OPEN ? UINT64_MAX : span->to, label + 1 };
	marked->nr++;
}

/* What cannot be read is missing, as it is in the text of the events, which says so. */
static void read_buffer(struct marked *marked, const struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event = { .ts = 0 };
	struct marks marks;

	marks_init(&marks, &(struct marks_calls){ .arg = marked, .end = end_span });
	if (!events_open(context, &options, &events, NULL))
		while (events_next(events, &event, NULL) > 0)
			marks_take(&marks, &event);
	events_free(events);
	marks_end(&marks, event.ts);
	marked->starved |= marks_starved(&marks);
	marks_release(&marks);
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->to > y->to ? -1 : x->to < y->to;
}

static bool step(struct thread *thread, uint64_t ts, uint32_t name)
{
	struct step *last = thread->nr_steps ? &thread->steps[thread->nr_steps - 1] : NULL;

	if (!last || last->ts != ts)
		last = vec_push(thread->steps, thread->nr_steps);
	if (last)
		*last = (struct step){ ts, name };
	return last;
}

/* Makes the steps of spans that lie in one another; one that ends behind the one around it ends with that. */
static bool order(struct thread *thread)
{
	struct span *open = NULL;
	size_t nr = 0;
	bool ok = true;

	qsort(thread->spans, thread->nr_spans, sizeof(*thread->spans), by_start);
	for (size_t i = 0; ok && i <= thread->nr_spans; i++) {
		uint64_t start = i < thread->nr_spans ? thread->spans[i].start : UINT64_MAX;
		struct span *pushed;

		while (ok && nr && open[nr - 1].to <= start && open[nr - 1].to != UINT64_MAX) {
			nr--;
			ok = step(thread, open[nr].to, nr ? open[nr - 1].name : 0);
		}
		if (!ok || i == thread->nr_spans)
			break;
		pushed = vec_push(open, nr);
		ok = pushed && step(thread, start, thread->spans[i].name);
		if (pushed)
			*pushed = thread->spans[i];
		if (pushed && nr > 1 && pushed->to > open[nr - 2].to)
			pushed->to = open[nr - 2].to;
	}
	free(open);
	free(thread->spans);
	thread->spans = NULL;
	return ok;
}

static void load(struct marked *marked)
{
	const struct context *of = marked->context;
	struct thread *thread;
	uint64_t key;

	for (size_t i = 0; i < trace_buffers(of->trace); i++) {
		struct context *context;
		int r = context_new(of->trace, i, &context, NULL);

		if (r)
			continue;
		if (context_shares_times(of, context))
			read_buffer(marked, context);
		context_free(context);
	}
	for (size_t at = 0; (thread = u64_map_next(&marked->threads, &at, &key));)
		marked->starved |= !order(thread);
}

/* That of the context, which keeps it. NULL without memory. */
static struct marked *marked_of(const struct context *context)
{
	struct context_later *made = atomic_load_explicit(&context->marked->made, memory_order_acquire);
	struct marked *marked = made ? (struct marked *)made : calloc(1, sizeof(*marked));

	if (!marked) {
		context_lacks_memory(context);
		return NULL;
	}
	if (!made) {
		marked->later.free = marked_free;
		marked->context = context;
		pthread_mutex_init(&marked->lock, NULL);
		labels_init(&marked->names);
		u64_map_init(&marked->threads, sizeof(struct thread));
		if (!atomic_compare_exchange_strong(&context->marked->made, &made, &marked->later)) {
			marked_free(&marked->later);
			marked = (struct marked *)made;
		}
	}
	if (atomic_load_explicit(&marked->loaded, memory_order_acquire))
		return marked;
	pthread_mutex_lock(&marked->lock);
	if (!atomic_load_explicit(&marked->loaded, memory_order_relaxed)) {
		load(marked);
		if (marked->starved)
			context_lacks_memory(context);
		atomic_store_explicit(&marked->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&marked->lock);
	return marked;
}

const char *mark_at(const struct context *context, int32_t pid, uint64_t ts)
{
	struct marked *marked = pid ? marked_of(context) : NULL;
	const struct thread *thread = marked ? u64_map_find(&marked->threads, (uint32_t)pid) : NULL;
	size_t low;
	uint32_t name;

	/* The number of steps up to `ts`. */
	low = vec_count(thread ? thread->nr_steps : 0, i, thread->steps[i].ts <= ts);
	name = low ? thread->steps[low - 1].name : 0;
	return name ? marked->names.at[name - 1].text : NULL;
}
