// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/excerpt.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

/* The events of one CPU of one buffer, in all parts. */
struct lane {
	uint64_t ts;      /* of the last event */
	size_t last;      /* the part of the last event */
	uint64_t *hashes; /* of the events of that time in the parts before the last one */
	size_t nr_hashes;
	uint64_t *same; /* of those in the last part */
	size_t nr_same;
	int64_t lost; /* before the next event */
};

struct join {
	struct trace *const *traces;
	size_t nr;
	struct excerpt *excerpt;
	struct reader reader;
	size_t *part_of;      /* by buffer of the reader */
	struct u64_map lanes; /* by buffer of a part, and CPU: struct lane */
	uint64_t *numbers;    /* of the parts, in the order of time; 0: unknown */
};

static bool same_text(struct trace_text a, struct trace_text b)
{
	return a.len == b.len && (!a.len || !memcmp(a.text, b.text, a.len));
}

static bool same_formats(const struct trace *a, const struct trace *b)
{
	size_t nr, other;
	const struct trace_format *formats = trace_formats(a, &nr), *others = trace_formats(b, &other);

	if (nr != other)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!same_text(formats[i].system, others[i].system) || !same_text(formats[i].text, others[i].text))
			return false;
	return true;
}

static bool same_buffers(const struct trace *a, const struct trace *b)
{
	if (trace_buffers(a) != trace_buffers(b))
		return false;
	for (size_t i = 0; i < trace_buffers(a); i++) {
		const struct trace_buffer *buffer = trace_buffer(a, i), *other = trace_buffer(b, i);

		if (!same_text(buffer->name, other->name) || !same_text(buffer->clock, other->clock) ||
		    buffer->page_size != other->page_size)
			return false;
	}
	return true;
}

bool join_is_of_one(struct trace *const *traces, size_t nr)
{
	const struct trace_info *first = trace_info(traces[0]);

	for (size_t i = 1; i < nr; i++) {
		const struct trace_info *info = trace_info(traces[i]);

		if (!info->trace_id || info->trace_id != first->trace_id || info->big_endian != first->big_endian ||
		    info->long_size != first->long_size || trace_ts_offset(traces[i]) != trace_ts_offset(traces[0]) ||
		    info->has_date != first->has_date || !same_buffers(traces[0], traces[i]) ||
		    !same_formats(traces[0], traces[i]))
			return false;
	}
	return first->trace_id;
}

static bool has(const uint64_t *hashes, size_t nr, uint64_t hash)
{
	for (size_t i = 0; i < nr; i++)
		if (hashes[i] == hash)
			return true;
	return false;
}

static bool push(uint64_t **hashes, size_t *nr, uint64_t hash)
{
	uint64_t *added = vec_push(*hashes, *nr);

	if (added)
		*added = hash;
	return added;
}

/* -EEXIST: another part has the event, too. */
static int follow(struct lane *lane, size_t part, const struct event *event, struct fail *fail)
{
	uint64_t hash = xxh64(event->data, event->len);

	if (event->ts != lane->ts)
		lane->nr_hashes = lane->nr_same = 0;
	for (; part != lane->last && lane->nr_same; lane->nr_same--)
		if (!push(&lane->hashes, &lane->nr_hashes, lane->same[lane->nr_same - 1]))
			return fail_memory(fail);
	lane->ts = event->ts;
	lane->last = part;
	if (has(lane->hashes, lane->nr_hashes, hash))
		return -EEXIST;
	return push(&lane->same, &lane->nr_same, hash) ? 0 : fail_memory(fail);
}

static bool has_number(const struct join *join, uint64_t number)
{
	return has(join->numbers, join->nr, number);
}

/* Whether parts are missing between the two. */
static bool is_gap(const struct join *join, size_t from, size_t to)
{
	uint64_t at = join->numbers[from], end = join->numbers[to];

	if (!at || !end)
		return false;
	while (++at < end && has_number(join, at))
		;
	return at < end;
}

static int take_event(struct join *join, const struct event *event, struct fail *fail)
{
	size_t buffer = reader_context(&join->reader, event)->buffer;
	struct lane *lane = u64_map_get(&join->lanes, (uint64_t)buffer << 32 | event->cpu);
	int r;

	if (!lane)
		return fail_memory(fail);
	if (event->kind == EVENT_LOST) {
		lane->lost = lane->lost >= 0 && event->lost > 0 ? lane->lost + event->lost : event->lost;
		return 0;
	}
	if (lane->nr_same && is_gap(join, lane->last, join->part_of[event->buffer]))
		lane->lost = PAGE_LOST_UNKNOWN;
	r = follow(lane, join->part_of[event->buffer], event, fail);
	if (!r)
		r = excerpt_add(join->excerpt, buffer, event, lane->lost, fail);
	lane->lost = 0;
	return r;
}

/* "part N" of ordered parts, as cut() writes it; parts of parts have no such number. */
static uint64_t number_of(struct trace *trace)
{
	struct trace_text text = trace_setting(trace, 0, SETTING_DIVIDED);
	unsigned long long number;
	char more;

	return text.text && sscanf(text.text, "part %20llu%c", &number, &more) == 1 ? number : 0;
}

static int add_parts(struct join *join, struct fail *fail)
{
	int r = 0;

	join->numbers = calloc(join->nr, sizeof(*join->numbers));
	if (!join->numbers)
		return fail_memory(fail);
	for (size_t i = 0; i < join->nr; i++)
		join->numbers[i] = number_of(join->traces[i]);
	for (size_t i = 0; !r && i < join->nr; i++) {
		size_t before = join->reader.nr_buffers;

		r = reader_add_trace(&join->reader, join->traces[i], fail);
		for (size_t j = before; !r && j < join->reader.nr_buffers; j++) {
			size_t *part = vec_push(join->part_of, before);

			if (!part)
				return fail_memory(fail);
			*part = i;
		}
	}
	return r;
}

static int take_events(struct join *join, struct fail *fail)
{
	struct event event;
	int r = add_parts(join, fail);

	if (!r)
		r = reader_start(&join->reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r && !reader_is_merged(&join->reader))
		r = -EEXIST;
	while (!r && (r = reader_next(&join->reader, &event, fail)) > 0)
		r = take_event(join, &event, fail);
	for (size_t i = 0; !r && i < join->nr; i++)
		if (trace_starved(join->traces[i]))
			r = fail_memory(fail);
	return r;
}

/* Adds the lines of a text that were not added before. */
static int add_lines(struct u64_map *seen, struct trace_text text, struct buf *into, struct fail *fail)
{
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		uint64_t hash = xxh64(line.at, line.len);

		if (u64_map_find(seen, hash))
			continue;
		if (!u64_map_add(seen, hash) || !buf_add(into, line.at, line.len) || !buf_add(into, "\n", 1))
			return fail_memory(fail);
	}
	return 0;
}

/* A part may have only the symbols that its own events need. */
static int take_symbols(struct join *join, struct fail *fail)
{
	cleanup_buf struct buf all = BUF_INIT;
	struct u64_map seen;
	int r = 0;

	u64_map_init(&seen, 0);
	for (size_t i = 0; !r && i < join->nr; i++) {
		struct trace_text text;

		r = trace_meta(join->traces[i], TRACE_KALLSYMS, &text, fail);
		if (!r)
			r = add_lines(&seen, text, &all, fail);
	}
	u64_map_release(&seen);
	return r ? r : excerpt_symbols(join->excerpt, buf_str(&all), all.len, fail);
}

static struct trace_text selected_of(struct trace *trace)
{
	return trace_setting(trace, 0, SETTING_SELECTED);
}

static bool has_line(struct trace_text text, struct text_word wanted)
{
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line))
		if (line.len == wanted.len && !memcmp(line.at, wanted.at, line.len))
			return true;
	return false;
}

/* Whether the parts have all events that were divided among them. */
static bool is_whole(const struct join *join)
{
	uint64_t of = 0;

	for (size_t i = 0; i < join->nr; i++) {
		struct trace_text text = trace_setting(join->traces[i], 0, SETTING_DIVIDED);
		unsigned long long this = 0;

		if (!text.text || sscanf(text.text, "of %20llu events", &this) != 1 || !this || (of && this != of))
			return false;
		of = this;
	}
	return excerpt_count(join->excerpt) == of;
}

/* What chose the events of a part left none of those out. If all events are there, what divides the parts left none. */
static int take_selected(struct join *join, struct fail *fail)
{
	bool whole = is_whole(join);
	cleanup_buf struct buf all = BUF_INIT;
	struct u64_map seen;
	int r = 0;

	u64_map_init(&seen, 0);
	for (size_t i = 0; !r && i < join->nr; i++) {
		struct trace_text text = selected_of(join->traces[i]);
		struct text_word line;

		while (!r && text.text && text_next_line(&text.text, &text.len, &line)) {
			bool everywhere = true;

			for (size_t j = 0; whole && j < join->nr; j++)
				everywhere &= has_line(selected_of(join->traces[j]), line);
			if (everywhere)
				r = add_lines(&seen, (struct trace_text){ line.at, line.len }, &all, fail);
		}
	}
	u64_map_release(&seen);
	return r ? r : excerpt_selected_in_all(join->excerpt, buf_str(&all), fail);
}

static void release(struct join *join)
{
	struct lane *lane;
	uint64_t key;

	for (size_t at = 0; (lane = u64_map_next(&join->lanes, &at, &key));) {
		free(lane->hashes);
		free(lane->same);
	}
	u64_map_release(&join->lanes);
	free(join->part_of);
	free(join->numbers);
	reader_release(&join->reader);
}

int join_new(struct trace *const *traces, size_t nr, const struct recast_options *form, struct excerpt **ret,
	     bool *ret_damaged, struct fail *fail)
{
	struct join join = { .traces = traces, .nr = nr };
	int r = excerpt_new(traces[0], form, &join.excerpt, fail);

	reader_init(&join.reader);
	u64_map_init(&join.lanes, sizeof(struct lane));
	if (!r)
		r = take_events(&join, fail);
	if (!r)
		r = take_symbols(&join, fail);
	if (!r)
		r = take_selected(&join, fail);
	for (size_t i = 0; !r && i < nr; i++)
		ret_damaged[i] = trace_damage(traces[i]) != NULL;
	for (size_t i = 0; !r && i < join.reader.nr_buffers; i++)
		ret_damaged[join.part_of[i]] |= events_damage(join.reader.buffers[i].events) != NULL;
	release(&join);
	if (r)
		excerpt_free(join.excerpt);
	else
		*ret = join.excerpt;
	return r;
}
