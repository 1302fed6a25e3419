// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/internal.h"

enum { CHUNK_HEAD_SIZE = 8 }; /* u32 compressed size, u32 size */

/* Whether opening found that this CPU's pages reach beyond the end of the file. */
static bool is_cut(const struct trace_pages *pages)
{
	for (size_t i = 0; i < pages->trace->nr_rings; i++) {
		const struct trace_ring *ring = &pages->trace->rings[i];

		if (&ring->pub == pages->buffer)
			return ring->cut[pages->cpu - ring->cpus];
	}
	return false;
}

bool trace_cpu_is_cut(const struct trace *trace, size_t buffer, size_t cpu_index)
{
	return buffer < trace->nr_rings && cpu_index < trace->rings[buffer].pub.nr_cpus &&
	       trace->rings[buffer].cut[cpu_index];
}

static int fail_pages(const struct trace_pages *pages, struct fail *fail, int err)
{
	return fail_in(fail, err, "the pages of CPU %" PRIu32, pages->cpu->cpu);
}

int trace_pages_init(struct trace_pages *pages, struct trace *trace, size_t buffer, size_t cpu_index, struct fail *fail)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	const struct trace_cpu *cpu;
	uint8_t count[4];
	int r;

	if (!of || cpu_index >= of->nr_cpus)
		return fail_set(fail, -EINVAL, "'%s' has no such buffer or CPU", trace->path);
	cpu = &of->cpus[cpu_index];
	*pages = (struct trace_pages){
		.trace = trace, .buffer = of, .cpu = cpu, .next = cpu->offset, .end = cpu->offset + cpu->size
	};
	if (!of->compressed)
		return 0;
	/* Some writers include the number of chunks in the size, some do not (trace-cmd 3.1.6). */
	if (trace->input.size - pages->end >= sizeof(count))
		pages->end += sizeof(count);
	if (cpu->size < sizeof(count)) {
		pages->next = pages->end;
		if (is_cut(pages))
			return 0;
		fail_set(fail, -EBADMSG, "are too short for the number of their chunks at offset %" PRIu64,
			 cpu->offset);
		return fail_pages(pages, fail, -EBADMSG);
	}
	r = input_read(&trace->input, cpu->offset, count, sizeof(count), fail);
	if (r)
		return fail_pages(pages, fail, r);
	pages->chunks_left = load_u32(count, trace->info.swap);
	pages->next += sizeof(count);
	return 0;
}

/* Pages may be nearly empty, and sub-buffers may be large: so the number of pages is also checked. */
static bool is_usual(const struct trace_pages *pages, uint32_t packed, uint32_t size)
{
	return pages->trace->trusted || size / TRACE_RATIO_MAX <= packed ||
	       size / pages->buffer->page_size <= packed / TRACE_PAGE_PACKED_MIN;
}

/* Reads the head of the chunk at `next`: 1, or 0 at the end of a cut file. */
static int chunk_head(struct trace_pages *pages, uint32_t *ret_packed, uint32_t *ret_size, struct fail *fail)
{
	uint64_t left = pages->end - pages->next;
	int r;

	if (!pages->chunks_left || (pages->jumped && left < CHUNK_HEAD_SIZE))
		return 0;
	if (left < CHUNK_HEAD_SIZE)
		goto out_of_bytes;
	if (pages->head_at != pages->next) {
		r = input_read(&pages->trace->input, pages->next, pages->head, CHUNK_HEAD_SIZE, fail);
		if (r)
			return fail_pages(pages, fail, r);
		pages->head_at = pages->next;
	}
	*ret_packed = load_u32(pages->head, pages->trace->info.swap);
	*ret_size = load_u32(pages->head + 4, pages->trace->info.swap);
	if (*ret_packed > left - CHUNK_HEAD_SIZE)
		goto out_of_bytes;
	if (*ret_size > TRACE_CHUNK_MAX || !*ret_size || !frame_size_plausible(*ret_packed, *ret_size)) {
		fail_set(fail, -EBADMSG, "the chunk at offset %" PRIu64 " claims %" PRIu32 " bytes in %" PRIu32,
			 pages->next, *ret_size, *ret_packed);
		return fail_pages(pages, fail, -EBADMSG);
	}
	if (!is_usual(pages, *ret_packed, *ret_size)) {
		fail_set(fail, -EBADMSG,
			 "the chunk at offset %" PRIu64 " claims %" PRIu32 " bytes in %" PRIu32
			 ", more than recordings have; --trust-size reads it",
			 pages->next, *ret_size, *ret_packed);
		return fail_pages(pages, fail, -EBADMSG);
	}
	return 1;
out_of_bytes:
	if (is_cut(pages))
		return 0;
	fail_set(fail, -EBADMSG,
		 "%" PRIu32 " chunks more should be at offset %" PRIu64 ", of which %" PRIu64 " bytes are there",
		 pages->chunks_left, pages->next, left);
	return fail_pages(pages, fail, -EBADMSG);
}

int trace_pages_size(struct trace_pages *pages, size_t max, size_t *ret_size, struct fail *fail)
{
	uint32_t page_size = pages->buffer->page_size, packed, size;
	uint64_t left = pages->end - pages->next;
	int r;

	if (pages->buffer->compressed) {
		r = chunk_head(pages, &packed, &size, fail);
		if (r > 0)
			*ret_size = size;
		return r;
	}
	if (!left)
		return 0;
	max = max < page_size ? page_size : max - max % page_size;
	*ret_size = left < max ? (size_t)left : max;
	return 1;
}

/*
 * Reads the compressed bytes of the chunk at `next` into `scratch`, and with the same read the head of the chunk after
 * it.
 */
static int load_chunk(struct trace_pages *pages, struct buf *scratch, uint32_t *ret_size, struct fail *fail)
{
	uint64_t behind;
	uint32_t packed;
	size_t more;
	int r = chunk_head(pages, &packed, ret_size, fail);

	if (r < 0)
		return r;
	if (!r)
		return fail_set(fail, -EINVAL, "there are no chunks left");
	buf_clear(scratch);
	if (!buf_reserve(scratch, packed + (size_t)CHUNK_HEAD_SIZE))
		return fail_memory(fail);
	behind = pages->end - pages->next - CHUNK_HEAD_SIZE - packed;
	more = behind >= CHUNK_HEAD_SIZE ? CHUNK_HEAD_SIZE : 0;
	r = input_read(&pages->trace->input, pages->next + CHUNK_HEAD_SIZE, scratch->data, packed + more, fail);
	if (r)
		return fail_pages(pages, fail, r);
	if (more) {
		memcpy(pages->head, scratch->data + packed, CHUNK_HEAD_SIZE);
		pages->head_at = pages->next + CHUNK_HEAD_SIZE + packed;
	}
	scratch->len = packed;
	return 0;
}

static void next_chunk(struct trace_pages *pages, size_t packed)
{
	pages->next += CHUNK_HEAD_SIZE + packed;
	if (!pages->jumped)
		pages->chunks_left--;
}

int trace_pages_read(struct trace_pages *pages, struct frame_reader *reader, struct buf *scratch, void *data,
		     size_t size, struct fail *fail)
{
	uint32_t chunk_size;
	int r;

	if (!pages->buffer->compressed) {
		if (size > pages->end - pages->next)
			return fail_set(fail, -EINVAL, "there are no %zu bytes of pages left", size);
		r = input_read(&pages->trace->input, pages->next, data, size, fail);
		if (r)
			return fail_pages(pages, fail, r);
		pages->next += size;
		return 0;
	}
	r = load_chunk(pages, scratch, &chunk_size, fail);
	if (r)
		return r;
	if (chunk_size > size)
		return fail_set(fail, -EINVAL, "a chunk of %" PRIu32 " bytes has no room in %zu", chunk_size, size);
	r = frame_read(reader, scratch->data, scratch->len, data, chunk_size, fail);
	if (r) {
		fail_in(fail, r, "the chunk at offset %" PRIu64, pages->next);
		return fail_pages(pages, fail, r);
	}
	next_chunk(pages, scratch->len);
	return 0;
}

int trace_pages_skip(struct trace_pages *pages, size_t size, struct fail *fail)
{
	uint32_t packed, chunk_size;
	int r;

	if (pages->buffer->compressed) {
		r = chunk_head(pages, &packed, &chunk_size, fail);
		if (r <= 0)
			return r;
		next_chunk(pages, packed);
		return 0;
	}
	if (size > pages->end - pages->next)
		return fail_set(fail, -EINVAL, "there are no %zu bytes of pages left", size);
	pages->next += size;
	return 0;
}

uint64_t trace_pages_packed(const struct trace_pages *pages, size_t max)
{
	struct trace_pages next = *pages;
	size_t size = 0;

	if (trace_pages_size(&next, max, &size, NULL) <= 0 || trace_pages_skip(&next, size, NULL) < 0)
		return 0;
	return next.next - pages->next;
}

int trace_pages_peek(struct trace_pages *pages, struct frame_reader *reader, struct buf *scratch, void *data,
		     size_t size, struct fail *fail)
{
	uint32_t chunk_size;
	int r;

	if (!pages->buffer->compressed) {
		if (size > pages->end - pages->next)
			return fail_set(fail, -EBADMSG, "there are no %zu bytes of pages left", size);
		r = input_read(&pages->trace->input, pages->next, data, size, fail);
		return r ? fail_pages(pages, fail, r) : 0;
	}
	r = load_chunk(pages, scratch, &chunk_size, fail);
	if (r)
		return r;
	if (size > chunk_size)
		return fail_set(fail, -EBADMSG, "a chunk has %" PRIu32 " bytes and not %zu", chunk_size, size);
	r = frame_read_start(reader, scratch->data, scratch->len, data, size, fail);
	if (r) {
		fail_in(fail, r, "the chunk at offset %" PRIu64, pages->next);
		return fail_pages(pages, fail, r);
	}
	return 0;
}

uint64_t trace_pages_total(struct trace *trace, size_t buffer, size_t cpu_index)
{
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	uint64_t total = 0;
	size_t size;

	if (trace_pages_init(&pages, trace, buffer, cpu_index, &fail))
		return 0;
	while (trace_pages_size(&pages, 1 << 30, &size, &fail) > 0 && !trace_pages_skip(&pages, size, &fail))
		total += size;
	return total;
}
