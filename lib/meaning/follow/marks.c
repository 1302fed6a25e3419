// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/marks.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/event.h"

enum { LOSSES_MAX = 1 << 12, TEXT_MAX = 1 << 12, SCRATCH = 256 };

/* The memory of a span: the note, then its name and its track. */
struct marks_open {
	uint64_t start, losses;
	int64_t cookie;
	char *memory;
	uint32_t name_len, track_len, cpu;
	int32_t pid, tgid;
	bool has_track;
};

struct marks_thread {
	struct marks_open *open; /* the outermost first */
	size_t nr;
	uint64_t over; /* begins for which there was no room: so many ends are theirs */
	uint64_t losses, unknown;
};

static size_t note_size(const struct marks *marks)
{
	return (marks->calls.note + 15) & ~(size_t)15;
}

void marks_init(struct marks *marks, const struct marks_calls *calls)
{
	*marks = (struct marks){ .calls = *calls };
	u64_map_init(&marks->threads, sizeof(struct marks_thread));
	u64_map_init(&marks->asyncs, sizeof(struct marks_open));
	u64_map_init(&marks->sources, sizeof(struct mark_source));
}

void marks_release(struct marks *marks)
{
	struct marks_thread *thread;
	struct marks_open *open;
	uint64_t key;

	for (size_t at = 0; (thread = u64_map_next(&marks->threads, &at, &key));) {
		for (size_t i = 0; i < thread->nr; i++)
			free(thread->open[i].memory);
		free(thread->open);
	}
	for (size_t at = 0; (open = u64_map_next(&marks->asyncs, &at, &key));)
		free(open->memory);
	u64_map_release(&marks->threads);
	u64_map_release(&marks->asyncs);
	u64_map_release(&marks->sources);
	if (marks->scratch.start)
		out_release(&marks->scratch);
	free(marks->lost_from);
}

static struct marks_span span_of(const struct marks *marks, const struct marks_open *open, uint32_t depth, bool async)
{
	const char *texts = open->memory + note_size(marks);

	return (struct marks_span){ .async = async,
				    .pid = open->pid,
				    .tgid = open->tgid,
				    .cpu = open->cpu,
				    .start = open->start,
				    .depth = depth,
				    .name = texts,
				    .name_len = open->name_len,
				    .track = open->has_track ? texts + open->name_len : NULL,
				    .track_len = open->track_len,
				    .cookie = open->cookie,
				    .note = open->memory };
}

static void begin(struct marks *marks, const struct marks_open *open, uint32_t depth, bool async)
{
	const struct marks_span span = span_of(marks, open, depth, async);

	marks->nr_open++;
	if (marks->calls.begin)
		marks->calls.begin(marks->calls.arg, &span);
}

/* Gives a span that ends, and releases it. */
static void end(struct marks *marks, struct marks_open *open, uint32_t depth, bool async, uint64_t to,
		enum marks_end how)
{
	struct marks_span span = span_of(marks, open, depth, async);

	span.to = to > span.start ? to : span.start;
	span.end = how;
	if (marks->calls.end)
		marks->calls.end(marks->calls.arg, &span);
	free(open->memory);
	open->memory = NULL;
	marks->nr_open--;
}

/* False: there is no memory for it. */
static bool fill(struct marks *marks, struct marks_open *open, const struct mark *mark, const struct event *event)
{
	size_t name_len = mark->name_len < TEXT_MAX ? mark->name_len : TEXT_MAX;
	size_t track_len = mark->track_len < TEXT_MAX ? mark->track_len : TEXT_MAX;
	char *memory = calloc(1, note_size(marks) + name_len + track_len + 1);

	marks->starved |= !memory;
	if (!memory)
		return false;
	memcpy(memory + note_size(marks), mark->name, name_len);
	if (track_len)
		memcpy(memory + note_size(marks) + name_len, mark->track, track_len);
	*open = (struct marks_open){ .start = event->ts,
				     .losses = marks->losses,
				     .cookie = mark->number,
				     .memory = memory,
				     .name_len = (uint32_t)name_len,
				     .track_len = (uint32_t)track_len,
				     .cpu = event->cpu,
				     .pid = event->pid,
				     .tgid = mark->tgid,
				     .has_track = mark->track };
	return true;
}

/* When the first loss after so many began. */
static uint64_t loss_after(const struct marks *marks, uint64_t losses)
{
	return losses < marks->nr_lost_from ? marks->lost_from[losses] : marks->last_loss;
}

static void end_thread(struct marks *marks, struct marks_thread *thread, uint64_t to, enum marks_end how)
{
	while (thread->nr) {
		thread->nr--;
		end(marks, &thread->open[thread->nr], (uint32_t)thread->nr, false, to, how);
	}
	thread->over = 0;
}

/* The idle task of each CPU is another one. */
static uint64_t thread_key(int32_t pid, uint32_t cpu)
{
	return pid ? (uint32_t)pid : UINT64_C(1) << 32 | cpu;
}

static uint64_t unknown_of(const struct marks *marks, int32_t pid, const struct event *event)
{
	return marks->calls.unknown ? marks->calls.unknown(marks->calls.arg, pid, event) : marks->losses;
}

/* The thread of the event. What it had begun before a loss ends there, unless nothing of it can have been lost. */
static struct marks_thread *thread_of(struct marks *marks, const struct event *event)
{
	struct marks_thread *thread = u64_map_get(&marks->threads, thread_key(event->pid, event->cpu));
	uint64_t unknown;

	if (!thread)
		return NULL;
	unknown = unknown_of(marks, event->pid, event);
	if (thread->losses != marks->losses && unknown != thread->unknown)
		end_thread(marks, thread, loss_after(marks, thread->losses), MARKS_LOST);
	thread->losses = marks->losses;
	thread->unknown = unknown;
	return thread;
}

static void see_begin(struct marks *marks, const struct mark *mark, const struct event *event)
{
	struct marks_thread *thread = thread_of(marks, event);
	struct marks_open *open;

	if (!thread)
		return;
	if (thread->over || marks->nr_open >= MARKS_OPEN_MAX) {
		thread->over++;
		marks->dropped++;
		return;
	}
	open = vec_push(thread->open, thread->nr);
	marks->starved |= !open;
	if (!open)
		return;
	if (fill(marks, open, mark, event))
		begin(marks, open, (uint32_t)thread->nr - 1, false);
	else
		thread->nr--;
}

static void see_end(struct marks *marks, const struct event *event)
{
	struct marks_thread *thread = thread_of(marks, event);

	if (!thread)
		return;
	if (thread->over) {
		thread->over--;
	} else if (thread->nr) {
		thread->nr--;
		end(marks, &thread->open[thread->nr], (uint32_t)thread->nr, false, event->ts, MARKS_KNOWN);
	} else {
		marks->unbegun++;
	}
}

/* One with a track is found without its name, which its end need not have. */
static uint64_t async_key(const struct mark *mark)
{
	const char *text = mark->track ? mark->track : mark->name;
	uint64_t key = xxh64(text, mark->track ? mark->track_len : mark->name_len);

	key = (key ^ (uint64_t)mark->number) * UINT64_C(0x9e3779b97f4a7c15);
	return (key ^ key >> 29 ^ (uint32_t)mark->tgid ^ (uint64_t)!mark->track << 32) * UINT64_C(0xbf58476d1ce4e5b9);
}

static bool is_of_key(const struct marks *marks, const struct marks_open *open, const struct mark *mark)
{
	const struct marks_span span = span_of(marks, open, 0, true);
	const char *mine = span.track ? span.track : span.name, *text = mark->track ? mark->track : mark->name;
	size_t len = mark->track ? mark->track_len : mark->name_len;

	return !span.track == !mark->track && (span.track ? span.track_len : span.name_len) == len &&
	       !memcmp(mine, text, len) && open->cookie == mark->number && open->tgid == mark->tgid;
}

static void see_async_begin(struct marks *marks, const struct mark *mark, const struct event *event)
{
	uint64_t key = async_key(mark);
	struct marks_open *open = u64_map_find(&marks->asyncs, key);

	/* As other readers of atrace do: the first begin counts. After a loss its end may be missing. */
	if (open && open->losses == marks->losses) {
		marks->again++;
		return;
	}
	if (open)
		end(marks, open, 0, true, loss_after(marks, open->losses), MARKS_LOST);
	if (!open && marks->nr_open >= MARKS_OPEN_MAX) {
		marks->dropped++;
		return;
	}
	open = open ? open : u64_map_add(&marks->asyncs, key);
	if (!open)
		return;
	if (fill(marks, open, mark, event))
		begin(marks, open, 0, true);
	else
		u64_map_remove(&marks->asyncs, key);
}

static void see_async_end(struct marks *marks, const struct mark *mark, const struct event *event)
{
	uint64_t key = async_key(mark);
	struct marks_open *open = u64_map_find(&marks->asyncs, key);

	if (!open || !is_of_key(marks, open, mark)) {
		marks->unbegun++;
		return;
	}
	if (open->losses == marks->losses)
		end(marks, open, 0, true, event->ts, MARKS_KNOWN);
	else
		end(marks, open, 0, true, loss_after(marks, open->losses), MARKS_LOST);
	u64_map_remove(&marks->asyncs, key);
}

void marks_see(struct marks *marks, const struct mark *mark, const struct event *event)
{
	switch (mark->kind) {
	case MARK_BEGIN:
		see_begin(marks, mark, event);
		break;
	case MARK_END:
		see_end(marks, event);
		break;
	case MARK_ASYNC_BEGIN:
		see_async_begin(marks, mark, event);
		break;
	case MARK_ASYNC_END:
		see_async_end(marks, mark, event);
		break;
	case MARK_NONE:
	case MARK_COUNTER:
	case MARK_INSTANT:
		break;
	}
}

void marks_lose(struct marks *marks, uint64_t from)
{
	uint64_t *at = marks->nr_lost_from < LOSSES_MAX ? vec_push(marks->lost_from, marks->nr_lost_from) : NULL;

	if (at)
		*at = from;
	marks->last_loss = from;
	marks->losses++;
}

void marks_renew(struct marks *marks, int32_t pid, uint64_t ts)
{
	struct marks_thread *thread = pid ? u64_map_find(&marks->threads, thread_key(pid, 0)) : NULL;

	if (thread)
		end_thread(marks, thread, ts, MARKS_LOST);
}

void marks_end(struct marks *marks, uint64_t ts)
{
	struct marks_thread *thread;
	struct marks_open *open;
	uint64_t key;

	for (size_t at = 0; (thread = u64_map_next(&marks->threads, &at, &key));) {
		bool lost = thread->losses != marks->losses &&
			    (key >> 32 || unknown_of(marks, (int32_t)key, NULL) != thread->unknown);

		end_thread(marks, thread, lost ? loss_after(marks, thread->losses) : ts,
			   lost ? MARKS_LOST : MARKS_OPEN);
	}
	for (size_t at = 0; (open = u64_map_next(&marks->asyncs, &at, &key));) {
		bool lost = open->losses != marks->losses;

		end(marks, open, 0, true, lost ? loss_after(marks, open->losses) : ts, lost ? MARKS_LOST : MARKS_OPEN);
	}
	u64_map_clear(&marks->asyncs);
}

void marks_each(const struct marks *marks, void (*see)(void *arg, const struct marks_span *span), void *arg)
{
	const struct marks_thread *thread;
	const struct marks_open *open;
	struct marks_span span;
	uint64_t key;

	for (size_t at = 0; (thread = u64_map_next(&marks->threads, &at, &key));)
		for (size_t i = 0; i < thread->nr; i++) {
			span = span_of(marks, &thread->open[i], (uint32_t)i, false);
			see(arg, &span);
		}
	for (size_t at = 0; (open = u64_map_next(&marks->asyncs, &at, &key));) {
		span = span_of(marks, open, 0, true);
		see(arg, &span);
	}
}

void marks_take(struct marks *marks, const struct event *event)
{
	struct mark_source *source;
	struct mark mark;
	uint64_t key;

	if (event->kind != EVENT_RECORD) {
		marks_lose(marks, event->ts);
		return;
	}
	key = (uint64_t)event->buffer << 32 | event->type->index;
	source = u64_map_find(&marks->sources, key);
	if (!source) {
		source = u64_map_add(&marks->sources, key);
		if (source)
			(void)mark_source_find(source, event->type);
	}
	if (!source || source->of == MARK_SOURCE_NONE)
		return;
	if (!marks->scratch.start && !out_init(&marks->scratch, SCRATCH)) {
		marks->starved = true;
		return;
	}
	if (mark_source_read(source, event, &marks->scratch, &mark))
		marks_see(marks, &mark, event);
}
