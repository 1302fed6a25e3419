// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/codec/frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/ground/base/fail.h"

/* 16 KB. zstd's own choice for so many bytes is twice as large. */
enum { PAGES_HASH_LOG = 12 };

struct frame_writer {
	ZSTD_CCtx *context;
	int level;
};

struct frame_reader {
	ZSTD_DCtx *context;
};

int frame_writer_new(int level, struct frame_writer **ret, struct fail *fail)
{
	cleanup_free struct frame_writer *writer = NULL;

	if (level < 1 || level > FRAME_LEVEL_MAX)
		return fail_set(fail, -EINVAL, "invalid compression level %d; use 1 to %d", level, FRAME_LEVEL_MAX);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return fail_memory(fail);
	writer->level = level;
	writer->context = ZSTD_createCCtx();
	if (!writer->context)
		return fail_memory(fail);
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, level);
	/*
	 * Records consist of words of 4 and 8 bytes. A match of fewer than seven bytes saves almost nothing and costs
	 * decompression as much as a long one. Higher levels search for longer matches by themselves.
	 */
	if (level == FRAME_LEVEL_DEFAULT)
		ZSTD_CCtx_setParameter(writer->context, ZSTD_c_minMatch, 7);
	/* trace-cmd does the same: both sizes are stored in front of each frame. */
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_contentSizeFlag, 0);
	*ret = take(writer);
	return 0;
}

void frame_writer_free(struct frame_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->context);
	free(writer);
}

void frame_writer_checksum(struct frame_writer *writer)
{
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
}

void frame_writer_pages(struct frame_writer *writer)
{
	if (writer->level == FRAME_LEVEL_DEFAULT)
		ZSTD_CCtx_setParameter(writer->context, ZSTD_c_hashLog, PAGES_HASH_LOG);
}

size_t frame_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

int frame_write(struct frame_writer *writer, const void *data, size_t len, void *ret, size_t size, size_t *ret_len,
		struct fail *fail)
{
	size_t written = ZSTD_compress2(writer->context, ret, size, data, len);

	if (ZSTD_isError(written))
		return fail_set(fail, -EIO, "cannot compress %zu bytes: %s", len, ZSTD_getErrorName(written));
	*ret_len = written;
	return 0;
}

size_t frame_stored_size(size_t len)
{
	size_t blocks = (len + FRAME_BLOCK_MAX - 1) / FRAME_BLOCK_MAX;

	return FRAME_HEAD + (blocks ? blocks : 1) * FRAME_BLOCK_HEAD + len;
}

/* RFC 8878, 3.1.1: no content size, no checksum, no dictionary; the window is as large as the largest block. */
void frame_stored_head(void *into)
{
	static const uint8_t head[FRAME_HEAD] = { 0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3 };

	memcpy(into, head, sizeof(head));
}

/* RFC 8878, 3.1.1.2: one bit marks the last block, two bits hold the type (0), the rest is the size, little-endian. */
void frame_stored_block(size_t len, bool last, void *into)
{
	uint32_t value = (uint32_t)len << 3 | last;
	uint8_t head[FRAME_BLOCK_HEAD] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16) };

	memcpy(into, head, sizeof(head));
}

int frame_reader_new(struct frame_reader **ret, struct fail *fail)
{
	cleanup_free struct frame_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return fail_memory(fail);
	reader->context = ZSTD_createDCtx();
	if (!reader->context)
		return fail_memory(fail);
	/*
	 * A frame is decompressed in one call, so no window buffer is needed beyond the output; only frame_read_start()
	 * needs one. RFC 8878, 3.1.1.1.2, asks readers to support windows of 8 MB; larger ones only occur in hostile
	 * files.
	 */
	ZSTD_DCtx_setParameter(reader->context, ZSTD_d_windowLogMax, 23);
	*ret = take(reader);
	return 0;
}

void frame_reader_free(struct frame_reader *reader)
{
	if (!reader)
		return;
	ZSTD_freeDCtx(reader->context);
	free(reader);
}

int frame_read(struct frame_reader *reader, const void *data, size_t len, void *ret, size_t size, struct fail *fail)
{
	size_t got = ZSTD_decompressDCtx(reader->context, ret, size, data, len);

	if (ZSTD_isError(got))
		return fail_set(fail, -EBADMSG, "the zstd frame is broken: %s", ZSTD_getErrorName(got));
	if (got != size)
		return fail_set(fail, -EBADMSG, "the zstd frame holds %zu bytes instead of %zu", got, size);
	return 0;
}

int frame_read_start(struct frame_reader *reader, const void *data, size_t len, void *ret, size_t size,
		     struct fail *fail)
{
	ZSTD_outBuffer out = { .dst = ret, .size = size };
	ZSTD_inBuffer in = { .src = data, .size = len };
	size_t got;

	ZSTD_DCtx_reset(reader->context, ZSTD_reset_session_only);
	while (out.pos < out.size) {
		size_t before = in.pos + out.pos;

		got = ZSTD_decompressStream(reader->context, &out, &in);
		if (ZSTD_isError(got))
			return fail_set(fail, -EBADMSG, "the zstd frame is broken: %s", ZSTD_getErrorName(got));
		if (!got || in.pos + out.pos == before)
			break;
	}
	if (out.pos < out.size)
		return fail_set(fail, -EBADMSG, "the zstd frame holds %zu bytes instead of %zu", out.pos, size);
	return 0;
}

enum { WINDOW_LOG_MAX = 25 };

struct frame_stream {
	ZSTD_DStream *context;
};

int frame_stream_new(struct frame_stream **ret, struct fail *fail)
{
	cleanup_free struct frame_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return fail_memory(fail);
	stream->context = ZSTD_createDStream();
	if (!stream->context)
		return fail_memory(fail);
	ZSTD_DCtx_setParameter(stream->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	*ret = take(stream);
	return 0;
}

void frame_stream_free(struct frame_stream *stream)
{
	if (!stream)
		return;
	ZSTD_freeDStream(stream->context);
	free(stream);
}

int frame_stream_read(struct frame_stream *stream, const uint8_t **data, size_t *len, void *to, size_t size,
		      size_t *ret_len, struct fail *fail)
{
	ZSTD_inBuffer in = { .src = *data, .size = *len };
	ZSTD_outBuffer out = { .dst = to, .size = size };
	size_t r = ZSTD_decompressStream(stream->context, &out, &in);

	if (ZSTD_isError(r))
		return fail_set(fail, -EBADMSG, "damaged compressed data: %s", ZSTD_getErrorName(r));
	*data += in.pos;
	*len -= in.pos;
	*ret_len = out.pos;
	return 0;
}
