// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/internal.h"

/* Jumps into the middle of a CPU's pages. */
enum { CHUNK_HEAD_SIZE = 8, WINDOW = 16 << 10 };

/* The first bytes of every zstd frame: RFC 8878, 3.1.1. */
static const uint8_t frame_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* Whether a chunk may begin at `at`: its head is plausible, and a frame follows. *ret_end is the offset after it. */
static bool is_chunk(const struct trace_pages *pages, uint64_t at, uint64_t *ret_end)
{
	uint8_t head[CHUNK_HEAD_SIZE + sizeof(frame_magic)];
	uint64_t left = pages->end - at;
	uint32_t packed, size;

	if (left < sizeof(head) || input_read(&pages->trace->input, at, head, sizeof(head), NULL) < 0)
		return false;
	packed = load_u32(head, pages->trace->info.swap);
	size = load_u32(head + 4, pages->trace->info.swap);
	if (memcmp(head + CHUNK_HEAD_SIZE, frame_magic, sizeof(frame_magic)) || packed > left - CHUNK_HEAD_SIZE ||
	    !size || size > TRACE_CHUNK_MAX || size % pages->buffer->page_size || !frame_size_plausible(packed, size))
		return false;
	*ret_end = at + CHUNK_HEAD_SIZE + packed;
	return true;
}

static bool is_believed(const struct trace_pages *pages, uint64_t at)
{
	uint64_t end, next;

	/* Up to four bytes may follow the last chunk: see trace_pages_init(). */
	return is_chunk(pages, at, &end) && (pages->end - end <= sizeof(uint32_t) || is_chunk(pages, end, &next));
}

static int jump_pages(struct trace_pages *pages, uint64_t offset, uint64_t limit)
{
	uint64_t start = pages->cpu->offset, page = pages->buffer->page_size;
	uint64_t next = start + (offset - start + page - 1) / page * page;

	if (next >= limit || next >= pages->end)
		return 0;
	pages->next = next;
	return 1;
}

int trace_pages_jump(struct trace_pages *pages, uint64_t offset, uint64_t limit, struct buf *scratch, struct fail *fail)
{
	if (offset < pages->cpu->offset)
		offset = pages->cpu->offset;
	if (limit > pages->end)
		limit = pages->end;
	if (!pages->buffer->compressed)
		return jump_pages(pages, offset, limit);
	buf_clear(scratch);
	if (!buf_reserve(scratch, WINDOW))
		return fail_memory(fail);
	while (offset < limit && pages->end - offset > CHUNK_HEAD_SIZE + sizeof(frame_magic)) {
		uint64_t left = pages->end - offset;
		size_t len = left < WINDOW ? (size_t)left : WINDOW;
		const char *at;
		int r = input_read(&pages->trace->input, offset, scratch->data, len, fail);

		if (r < 0)
			return r;
		at = scratch->data + CHUNK_HEAD_SIZE;
		while ((at = memmem(at, (size_t)(scratch->data + len - at), frame_magic, sizeof(frame_magic)))) {
			uint64_t chunk = offset + (uint64_t)(at - scratch->data) - CHUNK_HEAD_SIZE;

			if (chunk >= limit)
				return 0;
			if (is_believed(pages, chunk)) {
				pages->next = chunk;
				pages->jumped = true;
				pages->chunks_left = 1;
				return 1;
			}
			at++;
		}
		if (len < WINDOW)
			break;
		offset += len - CHUNK_HEAD_SIZE - sizeof(frame_magic);
	}
	return 0;
}
