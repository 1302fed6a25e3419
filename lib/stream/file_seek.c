// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds the pages of a time in a file. */
#include "lib/stream/file_source_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

/* So many chunks are passed one by one, where a place is looked for that is not far. */
enum { ONWARD_FEW = 3 };

/* How often the rate at which bytes came may lead to a wrong place before the place is looked for without it. */
enum { RATE_TRIES = 4 };

/* The time stamp of the page that would be read next. */
static int first_time(struct file_source *file, struct trace_pages *pages, uint64_t *ret, struct fail *fail)
{
	struct decoder *decoder = file_source_decoder_take(file);
	uint32_t commit;
	uint8_t head[16];
	int r = trace_pages_peek(pages, decoder->reader, &decoder->scratch, head, page_head_size(&file->source.shape),
				 fail);

	file_source_decoder_put(file, decoder);
	if (r < 0)
		return r;
	return page_head(&file->source.shape, head, page_head_size(&file->source.shape), ret, &commit, fail);
}

/* Moves to the first piece between two offsets: 1, or 0 when there is none. */
static int jump(struct file_source *file, struct trace_pages *pages, uint64_t offset, uint64_t limit, struct fail *fail)
{
	struct decoder *decoder = file_source_decoder_take(file);
	int r = trace_pages_jump(pages, offset, limit, &decoder->scratch, fail);

	file_source_decoder_put(file, decoder);
	return r;
}

/* The same, and returns its time. */
static int jump_time(struct file_source *file, struct trace_pages *pages, uint64_t offset, uint64_t limit,
		     uint64_t *ret, struct fail *fail)
{
	int r = jump(file, pages, offset, limit, fail);

	if (r <= 0)
		return r;
	return first_time(file, pages, ret, fail) < 0 ? -EBADMSG : 1;
}

/*
 * The place is behind the last one, and probably as far as that was behind the one before. Takes longer and longer
 * steps from there until one leads behind it, to *high.
 */
static int seek_onward(struct file_source *file, struct trace_pages *pages, uint64_t ts, uint64_t few, uint64_t *high,
		       struct fail *fail)
{
	uint64_t stride = file->ahead[pages - file->pages].stride, step = stride / 16 > few ? stride / 16 : few;
	uint64_t by = stride > step ? stride - step / 2 : step;

	while (by < *high - pages->next) {
		struct trace_pages onward = *pages;
		uint64_t offset = pages->next + by, time = 0;
		int r = jump_time(file, &onward, offset, *high, &time, fail);

		if (r < 0)
			return r;
		if (!r || time > ts) {
			*high = offset;
			return 0;
		}
		*pages = onward;
		by = step;
		step *= 2;
	}
	return 0;
}

/*
 * Jumps near the position where reading can begin, without an index of the pieces: halves the range until few pieces
 * are left. Raw pages have known offsets, so only one piece is left there.
 */
static int seek_near(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	uint64_t high = pages->end, page = file->source.shape.size, few = page;
	int r;

	/* To look for a chunk costs as much as to pass a few. */
	if (pages->buffer->compressed && file->sought)
		few = 1 + ONWARD_FEW * trace_pages_packed(pages, file->source.shape.size);
	else if (pages->buffer->compressed)
		few = 4 * (uint64_t)file_source_run_size(file);
	r = file->sought ? seek_onward(file, pages, ts, few, &high, fail) : 0;

	if (r < 0)
		return r;
	while (high - pages->next > few) {
		struct trace_pages middle = *pages;
		uint64_t half = pages->next + (high - pages->next + 1) / 2, time = 0;

		r = jump_time(file, &middle, half, high, &time, fail);
		if (r < 0)
			return r;
		if (r && time <= ts)
			*pages = middle;
		else
			high = half;
	}
	return 0;
}

/* Walks to the last piece that begins at or before ts. */
static int seek_exactly(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	uint32_t page = file->source.shape.size;
	struct trace_pages before = *pages;
	/* Where a seek goes on from the place of another one, the first piece is known to be early enough. */
	bool early = file->sought;
	size_t size = 0;
	int r;

	while ((r = trace_pages_size(pages, page, &size, fail)) > 0) {
		uint64_t time = 0;

		r = early ? 0 : first_time(file, pages, &time, fail);
		if (r < 0)
			return r;
		if (!early && time > ts)
			break;
		early = false;
		before = *pages;
		r = trace_pages_skip(pages, size, fail);
		if (r < 0)
			return r;
	}
	*pages = before;
	return r < 0 ? r : 0;
}

/* How many bytes of a CPU are probably as long as this, in ns; as many as may be. */
static uint64_t bytes_for(const struct ahead *ahead, uint64_t ns)
{
	double bytes = (double)ahead->stride * (double)ns / (double)ahead->lasted;

	return bytes < (double)(UINT64_MAX / 4) ? (uint64_t)bytes : UINT64_MAX / 4;
}

/* The bytes and the time of all pieces of a CPU but the last ones, as a first rate. */
static bool rate_of_all(struct file_source *file, struct ahead *ahead, uint64_t chunk)
{
	struct trace_pages first = *ahead->pages, last = first;
	uint64_t begin, end, from = first.next;

	if (first.end - from < 8 * chunk || first_time(file, &first, &begin, NULL) < 0 ||
	    jump_time(file, &last, last.end - 4 * chunk, last.end, &end, NULL) <= 0 || end <= begin)
		return false;
	ahead->time = begin;
	ahead->stride = last.next - from;
	ahead->lasted = end - begin;
	return true;
}

/* Where a time is by the rate, seen from a place of another time; not before `low`, nor behind `high`. */
static uint64_t place_by_rate(const struct ahead *ahead, uint64_t at, uint64_t time, uint64_t ts, uint64_t low,
			      uint64_t high)
{
	uint64_t by = bytes_for(ahead, ts > time ? ts - time : time - ts);

	if (ts > time)
		return by < high - at ? at + by : high;
	return by < at - low ? at - by : low;
}

/* The block that was loaded is where reading begins. */
static void found_by_rate(struct file_source *file, size_t cpu_index, const struct trace_pages *place, uint64_t time)
{
	struct ahead *ahead = &file->ahead[cpu_index];
	struct trace_pages *found = &file->found[cpu_index];

	if (time > ahead->time && place->next > found->next) {
		ahead->stride = place->next - found->next;
		ahead->lasted = time - ahead->time;
	}
	ahead->time = time;
	ahead->packed = ahead->pages->next - place->next;
	*found = *place;
}

/*
 * Finds the block where reading can begin by the rate at which bytes came so far, and loads it: so what is looked at to
 * find the place is not decompressed twice. It may be a block early. False: it is not found so; nothing has changed.
 */
static bool seek_by_rate(struct file_source *file, size_t cpu_index, uint64_t ts)
{
	struct ahead *ahead = &file->ahead[cpu_index];
	struct trace_pages *pages = ahead->pages, start = *pages, place = start;
	uint64_t chunk = trace_pages_packed(pages, file->source.shape.size), low = start.next, high = start.end;
	uint64_t time;

	/* The chunk where the last seek led may be a small one. */
	if (chunk < ahead->packed)
		chunk = ahead->packed;
	if (!chunk || (!ahead->lasted && !rate_of_all(file, ahead, chunk)))
		return false;
	time = ahead->time;
	for (unsigned i = 0; i < RATE_TRIES && low < high; i++) {
		uint64_t offset = place_by_rate(ahead, place.next, time, ts, low, high);

		/* A chunk earlier, and a little more: the place is in a chunk or where one begins. */
		offset = offset - low > chunk + chunk / 4 ? offset - chunk - chunk / 4 : low;
		place = start;
		if (offset > low && jump(file, &place, offset, high, NULL) <= 0)
			break;
		*pages = place;
		if (!file_source_load(file, cpu_index, &time))
			break;
		if (time <= ts ? bytes_for(ahead, ts - time) <= 3 * chunk : place.next == start.next) {
			found_by_rate(file, cpu_index, &place, time);
			return true;
		}
		file_source_unload(file, cpu_index);
		if (time <= ts)
			low = place.next;
		else
			high = offset;
	}
	*pages = start;
	return false;
}

int file_source_seek(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages *pages = &file->pages[cpu_index], start = *pages;
	int r;

	/* Records of time ts may also end the page before the first one that begins at ts. */
	ts -= ts > 0;
	if (pages->buffer->compressed && file->sought && !file->pool && seek_by_rate(file, cpu_index, ts))
		return 0;
	r = seek_near(file, pages, ts, fail);
	if (!r)
		r = seek_exactly(file, pages, ts, fail);
	/* The page that cannot be read is reported in its turn, after the pages that can be read. */
	if (r == -EBADMSG) {
		*pages = start;
		return 0;
	}
	if (!r && file->found) {
		file->ahead[cpu_index].stride = pages->next - file->found[cpu_index].next;
		file->ahead[cpu_index].lasted = 0;
		file->found[cpu_index] = *pages;
	}
	return r;
}

int file_source_restart(struct source *source, uint64_t ts, struct fail *fail)
{
	struct file_source *file = file_source(source);
	bool onward = file->sought && ts >= file->sought;

	if (file->pool)
		return fail_set(fail, -EINVAL, "what is read ahead cannot be read again");
	if (!file->found)
		file->found = calloc(source->nr_cpus + 1, sizeof(*file->found));
	if (!file->found)
		return fail_memory(fail);
	for (size_t i = 0; i < source->nr_cpus; i++) {
		struct ahead *ahead = &file->ahead[i];
		struct trace_pages *pages = &file->pages[i];

		file_source_unload(file, i);
		ahead->events = ahead->chunk = ahead->done = 0;
		if (onward) {
			*pages = file->found[i];
		} else {
			ahead->lasted = 0;
			int r = trace_pages_init(pages, pages->trace, file->index, i, fail);

			if (r < 0)
				return r;
		}
		file->found[i] = *pages;
	}
	file->sought = ts;
	return 0;
}

int file_source_time_at(struct source *source, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
			struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages pages;
	uint64_t size;
	int r = trace_pages_init(&pages, file->pages[cpu_index].trace, file->index, cpu_index, fail);

	if (r < 0)
		return r;
	size = pages.end - pages.next;
	return jump_time(file, &pages, pages.next + size / parts * part + size % parts * part / parts, pages.end, ret,
			 fail);
}
