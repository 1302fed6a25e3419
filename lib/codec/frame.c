// SPDX-License-Identifier: GPL-2.0-only
#include "lib/codec/frame.h"

#include "lib/base/fail.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct frame_writer {
	ZSTD_CCtx *context;
};

struct frame_reader {
	ZSTD_DCtx *context;
};

int frame_writer_new(int level, struct frame_writer **ret, struct fail *fail)
{
	cleanup_free struct frame_writer *writer = NULL;

	if (level < 1 || level > FRAME_LEVEL_MAX)
		return fail_set(fail, -EINVAL, "no compression level %d; there are 1 to %d", level, FRAME_LEVEL_MAX);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return fail_memory(fail);
	writer->context = ZSTD_createCCtx();
	if (!writer->context)
		return fail_memory(fail);
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, level);
	/*
	 * Records are words of 4 and 8 bytes. Matches of less than seven are hardly shorter than what they stand for, and each takes
	 * a reader as long as a long one. Levels above search for longer ones anyhow.
	 */
	if (level == FRAME_LEVEL_DEFAULT)
		ZSTD_CCtx_setParameter(writer->context, ZSTD_c_minMatch, 7);
	/* As the other programs that write trace.dat: both sizes stand in front of each frame anyhow. */
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

/* RFC 8878, 3.1.1: neither content size nor checksum nor dictionary, and a window as large as the largest block. */
void frame_stored_head(void *into)
{
	static const uint8_t head[FRAME_HEAD] = { 0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3 };

	memcpy(into, head, sizeof(head));
}

/* RFC 8878, 3.1.1.2: the last one's bit, two for the type, which is 0, and the size, in little endian. */
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
	 * Frames are decompressed in one go: no window of its own is ever needed beyond what a start of one takes. 8 MB is what every
	 * reader should offer (RFC 8878, 3.1.1.1.2); the rest is for files that mean harm.
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
		return fail_set(fail, -EBADMSG, "the zstd frame holds %zu bytes and not %zu", got, size);
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
		return fail_set(fail, -EBADMSG, "the zstd frame holds %zu bytes and not %zu", out.pos, size);
	return 0;
}
