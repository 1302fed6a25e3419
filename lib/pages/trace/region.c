// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/populate.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/internal.h"

enum {
	BLOCK_HEAD_SIZE = 8, /* u32 compressed size, u32 size */
	ZSTD_BLOCK_MAX = 128 << 10,
	ZSTD_BLOCK_MIN = 4,
};

bool frame_size_plausible(uint64_t packed, uint64_t size)
{
	return size / ZSTD_BLOCK_MAX <= packed / ZSTD_BLOCK_MIN;
}

int trace_count_text(struct trace *trace, size_t len, struct fail *fail)
{
	if (len > TEXTS_MAX - trace->texts)
		return fail_set(fail, -EBADMSG, "is larger than the limit of %d bytes for all such texts", TEXTS_MAX);
	trace->texts += len;
	return 0;
}

int trace_frame_reader(struct trace *trace, struct frame_reader **ret, struct fail *fail)
{
	int r = trace->reader ? 0 : frame_reader_new(&trace->reader, fail);

	if (!r)
		*ret = trace->reader;
	return r;
}

static int load_plain(struct trace *trace, const struct region *region, size_t cap, char **ret, size_t *ret_len,
		      struct fail *fail)
{
	cleanup_free char *data = NULL;
	size_t size = (size_t)region->size;
	int r;

	if (region->size > cap)
		return fail_set(fail, -EBADMSG, "claims %" PRIu64 " bytes, more than the %zu that weft reads",
				region->size, cap);
	data = malloc(size + 1);
	if (!data)
		return fail_memory(fail);
	populate(data, size);
	r = input_read(&trace->input, region->offset, data, size, fail);
	if (r)
		return r;
	data[size] = 0;
	*ret = take(data);
	*ret_len = size;
	return 0;
}

/* Appends the content of the block at `at`, of which `left` bytes exist; *ret_used is its length in the file. */
static int add_block(struct trace *trace, uint64_t at, uint64_t left, size_t cap, struct buf *text, uint64_t *ret_used,
		     struct fail *fail)
{
	cleanup_free char *packed = NULL;
	struct frame_reader *reader;
	uint8_t head[BLOCK_HEAD_SIZE];
	uint32_t packed_size, size;
	int r;

	if (left < sizeof(head))
		return fail_set(fail, -EBADMSG, "ends inside the head of a compressed block at %" PRIu64, at);
	r = input_read(&trace->input, at, head, sizeof(head), fail);
	if (r)
		return r;
	packed_size = load_u32(head, trace->info.swap);
	size = load_u32(head + 4, trace->info.swap);
	left -= sizeof(head);
	if (packed_size > left)
		return fail_set(fail, -EBADMSG, "the block at %" PRIu64 " claims %" PRIu32 " bytes, %" PRIu64 " remain",
				at, packed_size, left);
	if (size > cap - text->len || (size > TEXT_SMALL && size / TEXT_RATIO_MAX > packed_size) ||
	    !frame_size_plausible(packed_size, size))
		return fail_set(fail, -EBADMSG, "the block at %" PRIu64 " claims %" PRIu32 " bytes in %" PRIu32, at,
				size, packed_size);
	packed = malloc(packed_size + (size_t)1);
	if (!packed || !buf_reserve(text, (size_t)size + 1))
		return fail_memory(fail);
	r = input_read(&trace->input, at + sizeof(head), packed, packed_size, fail);
	if (!r)
		r = trace_frame_reader(trace, &reader, fail);
	if (!r)
		r = frame_read(reader, packed, packed_size, text->data + text->len, size, fail);
	if (r)
		return r;
	text->len += size;
	*ret_used = sizeof(head) + packed_size;
	return 0;
}

static int load_chunks(struct trace *trace, const struct region *region, size_t cap, struct buf *text,
		       struct fail *fail)
{
	uint64_t at = region->offset, left = region->size, used;
	uint8_t head[4];
	uint32_t chunks;
	int r;

	if (left < sizeof(head))
		return fail_set(fail, -EBADMSG, "is too short for the number of its chunks");
	r = input_read(&trace->input, at, head, sizeof(head), fail);
	if (r)
		return r;
	at += sizeof(head);
	left -= sizeof(head);
	/* Each chunk takes some bytes, so a false count ends with the region. */
	for (chunks = load_u32(head, trace->info.swap); chunks; chunks--) {
		r = add_block(trace, at, left, cap, text, &used, fail);
		if (r)
			return r;
		at += used;
		left -= used;
	}
	return 0;
}

int region_load(struct trace *trace, const struct region *region, size_t cap, char **ret, size_t *ret_len,
		struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t used;
	int r;

	if (!region->packed)
		return load_plain(trace, region, cap, ret, ret_len, fail);
	if (region->chunked)
		r = load_chunks(trace, region, cap, &text, fail);
	else
		r = add_block(trace, region->offset, region->size, cap, &text, &used, fail);
	if (r)
		return r;
	*ret = buf_take(&text, ret_len);
	return *ret ? 0 : fail_memory(fail);
}
