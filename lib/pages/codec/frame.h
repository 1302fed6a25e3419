/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_FRAME_H
#define WEFT_PAGES_CODEC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A frame is one zstd frame that holds one piece of a file (RFC 8878). Frames do not depend on each other, so each can
 * be read alone.
 * Not supported: dictionaries, frames with trailing bytes.
 */
enum { FRAME_LEVEL_DEFAULT = 1, FRAME_LEVEL_MAX = 19 };

struct frame_writer; /* a compression context; one per thread */

int must_check frame_writer_new(int level, struct frame_writer **ret, struct fail *fail);
void frame_writer_free(struct frame_writer *writer);

/*
 * From now on each frame has a checksum of its content, which frame_read() verifies. Used for metadata, which is read
 * once.
 */
void frame_writer_checksum(struct frame_writer *writer);

/*
 * From now on frames are of pages, up to FRAME_BLOCK_MAX bytes each: the default level then compresses them with tables
 * that leave half of a CPU's first cache to the pages and to the tasks that are traced.
 */
void frame_writer_pages(struct frame_writer *writer);

/* Enough room for a frame of `len` bytes. */
size_t frame_bound(size_t len);
int must_check frame_write(struct frame_writer *writer, const void *data, size_t len, void *ret, size_t size,
			   size_t *ret_len, struct fail *fail);

/*
 * Writes `len` bytes uncompressed, as a frame of stored blocks of at most FRAME_BLOCK_MAX bytes: the caller writes the
 * frame's head once and a block's head in front of each block.
 */
enum { FRAME_HEAD = 6, FRAME_BLOCK_HEAD = 3, FRAME_BLOCK_MAX = 128 << 10 };
size_t frame_stored_size(size_t len);
void frame_stored_head(void *into);
void frame_stored_block(size_t len, bool last, void *into);

struct frame_reader; /* a decompression context; one per thread */

int must_check frame_reader_new(struct frame_reader **ret, struct fail *fail);
void frame_reader_free(struct frame_reader *reader);

/*
 * Decompresses exactly `size` bytes; -EBADMSG when the frame holds more or fewer. Never writes more than `size` bytes.
 */
int must_check frame_read(struct frame_reader *reader, const void *data, size_t len, void *ret, size_t size,
			  struct fail *fail);

/* Decompresses the first `size` bytes; the frame may hold more. */
int must_check frame_read_start(struct frame_reader *reader, const void *data, size_t len, void *ret, size_t size,
				struct fail *fail);

/*
 * Decompresses zstd frames (RFC 8878) that come in pieces of any size. Memory is bounded by the window of a frame,
 * which may have 32 MiB; a frame that wants more is refused.
 */
struct frame_stream;

int must_check frame_stream_new(struct frame_stream **ret, struct fail *fail);
void frame_stream_free(struct frame_stream *stream);

/*
 * Takes bytes of *data, of which there are *len, and moves both behind them; writes at most `size` bytes to `to`, and
 * sets *ret_len. Call it until *len is 0 and fewer than `size` bytes were written. -EBADMSG: these are no such frames.
 */
int must_check frame_stream_read(struct frame_stream *stream, const uint8_t **data, size_t *len, void *to, size_t size,
				 size_t *ret_len, struct fail *fail);

#endif
