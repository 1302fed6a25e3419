// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/slices.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/stream/cursor.h"
#include "lib/pages/stream/merge.h"
#include "lib/pages/trace/trace.h"

/*
 * Bytes of pages in a slice, of all CPUs together. Less would cost too much for finding the places of all CPUs, for
 * which chunks are decompressed. More would leave threads without work at the end; and the text that waits, twice as
 * many bytes as the pages, would leave the cache of its core before it is written. A CPU with few bytes in a slice is
 * looked for as long as one with many.
 */
enum { SLICE_RAW = 1 << 19, SLICE_PACKED = 1 << 21, SLICE_OF_CPU_RAW = 64 << 10, SLICE_OF_CPU_PACKED = 512 << 10 };

/* The number of chunks from which the size of all is estimated. */
enum { SAMPLE = 8 };

/*
 * With fewer slices for each thread, some would wait for the last one. And each thread takes memory, so it has at least
 * so many bytes of pages to read.
 */
enum { SLICES_OF_THREAD = 4, BYTES_OF_THREAD = 8 << 20 };

/* At least so many united slices has each thread, and each is of at most so many. */
enum { UNITED_OF_THREAD = 6, UNITED_MOST = 16 };

static bool can_slice(const struct reader_buffer *buffer)
{
	const struct events_options *window = &buffer->window;

	return (!buffer->selection || selection_can_enter(buffer->selection)) && !buffer->shown && !buffer->skip &&
	       !window->source && !buffer->context->section_since && !buffer->context->latency;
}

/* The bytes of pages of a CPU, from the heads of its first chunks. */
static uint64_t pages_size(const struct context *context, size_t cpu_index)
{
	const struct trace_buffer *buffer = trace_buffer(context->trace, context->buffer);
	uint64_t all = buffer->cpus[cpu_index].size, packed = 0, size = 0;
	struct trace_pages pages;
	size_t next = 0;

	if (!buffer->compressed)
		return all;
	if (trace_pages_init(&pages, context->trace, context->buffer, cpu_index, NULL) < 0)
		return 0;
	for (unsigned i = 0; i < SAMPLE && trace_pages_size(&pages, buffer->page_size, &next, NULL) > 0; i++) {
		packed += trace_pages_packed(&pages, buffer->page_size);
		size += next;
		if (trace_pages_skip(&pages, next, NULL) < 0)
			break;
	}
	return packed ? all / packed * size : 0;
}

/* The last part of the file that begins at or before a time. */
static uint64_t part_of(const struct slices *slices, const struct reader *reader, uint64_t ts)
{
	struct events *events = reader->buffers[slices->buffer].events;
	uint64_t low = 0, high = slices->parts, time;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (events_time_at(events, slices->cpu_index, middle, slices->parts, &time, NULL) > 0 && time <= ts)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Takes only the slices of the window. False: they cannot be found. */
static bool find_window(struct slices *slices)
{
	const struct events_options *window = &slices->reader->buffers[0].window;
	struct reader reader;
	uint64_t last = 0;
	bool found;

	reader_init(&reader);
	found = !reader_share(&reader, slices->reader, 0, UINT64_MAX, NULL) &&
		!reader_start(&reader, &(struct reader_options){ .entered = true }, NULL) && reader_can_enter(&reader);
	if (found) {
		slices->since = window->since;
		slices->first = part_of(slices, &reader, window->since);
		last = part_of(slices, &reader, window->until);
	}
	slices->nr = last < slices->first ? 0 : last - slices->first + 1;
	reader_release(&reader);
	return found;
}

bool slices_plan(const struct reader *reader, unsigned threads, struct slices *ret)
{
	uint64_t most = 0, size = 0, least = 0;
	bool packed = false, windowed = false;
	uint64_t of_thread;

	if (threads < 2 || reader->skip || reader->limited)
		return false;
	*ret = (struct slices){ .reader = reader };
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct reader_buffer *buffer = &reader->buffers[i];
		const struct trace_buffer *of = trace_buffer(buffer->context->trace, buffer->context->buffer);

		if (!can_slice(buffer) || buffer->window.since != reader->buffers[0].window.since ||
		    buffer->window.until != reader->buffers[0].window.until)
			return false;
		windowed |= buffer->window.since || buffer->window.until != UINT64_MAX;
		packed |= of->compressed;
		least += of->nr_cpus * (uint64_t)(of->compressed ? SLICE_OF_CPU_PACKED : SLICE_OF_CPU_RAW);
		for (size_t cpu = 0; cpu < of->nr_cpus; cpu++) {
			if (merge_masked(buffer->window.cpu_mask, buffer->window.cpu_mask_words, of->cpus[cpu].cpu))
				continue;
			size += pages_size(buffer->context, cpu);
			if (of->cpus[cpu].size <= most)
				continue;
			most = of->cpus[cpu].size;
			ret->buffer = i;
			ret->cpu_index = cpu;
		}
	}
	if (least < (packed ? SLICE_PACKED : SLICE_RAW))
		least = packed ? SLICE_PACKED : SLICE_RAW;
	ret->nr = ret->parts = size / least;
	of_thread = BYTES_OF_THREAD / least < SLICES_OF_THREAD ? SLICES_OF_THREAD : BYTES_OF_THREAD / least;
	if (windowed && ret->nr >= 2 * of_thread && !find_window(ret))
		return false;
	ret->threads = ret->nr / of_thread < threads ? (unsigned)(ret->nr / of_thread) : threads;
	if (ret->threads < 2)
		return false;
	ret->times = calloc((size_t)ret->nr, sizeof(*ret->times));
	return ret->times;
}

void slices_unite(struct slices *slices)
{
	uint64_t several = slices->nr / (slices->threads * (uint64_t)UNITED_OF_THREAD);

	if (several > UNITED_MOST)
		several = UNITED_MOST;
	/* Those of a window are a part of the file's. */
	if (several > 1 && slices->nr == slices->parts)
		slices->nr = slices->parts = slices->nr / several;
}

void slices_release(struct slices *slices)
{
	free(slices->times);
	slices->times = NULL;
}

void slice_ends_release(struct slice_ends *ends)
{
	free(ends->start);
	free(ends->end);
	*ends = (struct slice_ends){ .start = NULL };
}

bool slices_meet(const struct slice_ends *before, const struct slice_ends *after)
{
	for (size_t i = 0; i < before->nr; i++) {
		const struct cursor_place *a = &before->end[i], *b = &after->start[i];

		if (a->piece != b->piece || a->page != b->page || a->record != b->record || a->lost != b->lost)
			return false;
	}
	return before->nr == after->nr;
}

int slice_reader_new(const struct slices *slices, struct slice_reader *ret, struct fail *fail)
{
	struct slice_reader made = { .slices = slices };
	int r;

	made.reader = calloc(1, sizeof(*made.reader));
	if (!made.reader)
		return fail_memory(fail);
	reader_init(made.reader);
	r = reader_share(made.reader, slices->reader, 0, UINT64_MAX, fail);
	for (size_t i = 0; !r && i < slices->reader->nr_buffers; i++)
		if (slices->reader->buffers[i].selection)
			r = slices->select(slices->arg, i, &made.reader->buffers[i].selection, fail);
	if (!r)
		r = reader_start(made.reader, &(struct reader_options){ .keep_blocks = true, .entered = true }, fail);
	if (!r && !reader_can_enter(made.reader))
		r = -EAGAIN;
	if (r)
		slice_reader_release(&made);
	else
		*ret = made;
	return r;
}

void slice_reader_release(struct slice_reader *reader)
{
	if (reader->reader)
		reader_release(reader->reader);
	free(reader->reader);
	reader->reader = NULL;
}

/* The time at which a slice begins; *ret is 0 for the first one, and behind the last one. */
static int begin_of(struct slice_reader *reader, uint64_t index, uint64_t *ret, struct fail *fail)
{
	const struct slices *slices = reader->slices;
	struct events *events = reader->reader->buffers[slices->buffer].events;
	uint64_t ts = 0;
	int r = 1;

	if (index && index < slices->nr) {
		/* Two threads may look for the same time: then both find the same. */
		ts = __atomic_load_n(&slices->times[index - 1], __ATOMIC_RELAXED);
		if (!ts)
			r = events_time_at(events, slices->cpu_index, slices->first + index, slices->parts, &ts, fail);
		__atomic_store_n(&slices->times[index - 1], ts, __ATOMIC_RELAXED);
	}
	*ret = ts;
	/* There is no slice of that number because the file is shorter than it claims: reading in order tells that. */
	return r < 0 ? r : r ? 0 : -EAGAIN;
}

int slice_enter(struct slice_reader *reader, uint64_t index, struct fail *fail)
{
	uint64_t since;
	int r = begin_of(reader, index, &since, fail);

	if (!r)
		r = begin_of(reader, index + 1, &reader->until, fail);
	if (r)
		return r;
	reader->is_first = !index;
	if ((index && !since) || (index + 1 < reader->slices->nr && !reader->until))
		return -EAGAIN;
	r = reader_enter(reader->reader, index ? since : reader->slices->since, fail);
	if (!r && index)
		reader_pause(reader->reader, since - 1);
	return r;
}

static int note_places(const struct slice_reader *reader, struct cursor_place **ret, size_t *ret_nr, struct fail *fail)
{
	const struct reader *of = reader->reader;
	size_t nr = 0;

	for (size_t i = 0; i < of->nr_buffers; i++)
		nr += events_nr_places(of->buffers[i].events);
	free(*ret);
	*ret = calloc(nr + 1, sizeof(**ret));
	if (!*ret)
		return fail_memory(fail);
	*ret_nr = nr;
	nr = 0;
	for (size_t i = 0; i < of->nr_buffers; i++) {
		events_places(of->buffers[i].events, *ret + nr);
		nr += events_nr_places(of->buffers[i].events);
	}
	return 0;
}

int slice_begin(struct slice_reader *reader, struct slice_ends *ret, struct fail *fail)
{
	int r = reader->is_first ? 0 : note_places(reader, &ret->start, &ret->nr, fail);

	reader_pause(reader->reader, reader->until ? reader->until - 1 : UINT64_MAX);
	return r;
}

bool slice_needs_all(const struct slice_reader *reader)
{
	const struct reader *of = reader->reader;

	for (size_t i = 0; i < of->nr_buffers; i++)
		if (events_need_all(of->buffers[i].events, reader->slices->parts) ||
		    (of->buffers[i].selection && selection_is_lost(of->buffers[i].selection)))
			return true;
	return false;
}

int slice_end(struct slice_reader *reader, struct slice_ends *ret, struct fail *fail)
{
	return slice_needs_all(reader) ? -EAGAIN : note_places(reader, &ret->end, &ret->nr, fail);
}
