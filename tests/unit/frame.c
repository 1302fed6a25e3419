// SPDX-License-Identifier: GPL-2.0-only
#include "lib/codec/frame.h"

#include "lib/base/fail.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

struct frame {
	char data[1024];
	size_t len;
};

static bool make_frame(const char *text, struct frame *ret)
{
	struct fail fail = FAIL_INIT;
	struct frame_writer *writer;
	int r = frame_writer_new(FRAME_LEVEL_DEFAULT, &writer, &fail);

	if (r)
		return false;
	r = frame_write(writer, text, strlen(text), ret->data, sizeof(ret->data), &ret->len, &fail);
	frame_writer_free(writer);
	return !r;
}

TEST(frame_holds_exactly_what_was_written)
{
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	struct frame frame;
	char got[16] = "";

	REQUIRE(make_frame("warp and weft", &frame));
	REQUIRE(!frame_reader_new(&reader, &fail));
	CHECK(!frame_read(reader, frame.data, frame.len, got, 13, &fail));
	CHECK_STR(got, "warp and weft");
	CHECK(frame_read(reader, frame.data, frame.len, got, 12, &fail) == -EBADMSG);
	CHECK(frame_read(reader, frame.data, frame.len, got, 14, &fail) == -EBADMSG);
	CHECK(frame_read(reader, frame.data, frame.len - 1, got, 13, &fail) == -EBADMSG);
	frame_reader_free(reader);
}

TEST(frame_start_is_read_alone)
{
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	struct frame frame;
	char got[16] = "";

	REQUIRE(make_frame("warp and weft", &frame));
	REQUIRE(!frame_reader_new(&reader, &fail));
	CHECK(!frame_read_start(reader, frame.data, frame.len, got, 4, &fail));
	CHECK_STR(got, "warp");
	CHECK(frame_read_start(reader, frame.data, frame.len, got, 14, &fail) == -EBADMSG);
	CHECK(!frame_read(reader, frame.data, frame.len, got, 13, &fail));
	frame_reader_free(reader);
}

/* Pieces as a recorder writes them: blocks of the largest size that RFC 8878 allows, and a smaller last block. */
TEST(frame_of_stored_blocks_is_read_by_zstd)
{
	enum { LEN = 2 * FRAME_BLOCK_MAX + 4096 };
	static char data[LEN], got[LEN], frame[LEN + 64];
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	size_t at = FRAME_HEAD;

	for (size_t i = 0; i < LEN; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	frame_stored_head(frame);
	for (size_t left = LEN, block; left; left -= block) {
		block = left < FRAME_BLOCK_MAX ? left : FRAME_BLOCK_MAX;
		frame_stored_block(block, block == left, frame + at);
		memcpy(frame + at + FRAME_BLOCK_HEAD, data + LEN - left, block);
		at += FRAME_BLOCK_HEAD + block;
	}
	CHECK(at == frame_stored_size(LEN));
	REQUIRE(!frame_reader_new(&reader, &fail));
	CHECK(!frame_read(reader, frame, at, got, LEN, &fail));
	CHECK(!memcmp(got, data, LEN));
	CHECK(!frame_read_start(reader, frame, at, got, 16, &fail));
	CHECK(frame_read(reader, frame, at - 1, got, LEN, &fail) == -EBADMSG);
	CHECK(frame_read(reader, frame, at, got, LEN - 1, &fail) == -EBADMSG);
	frame_reader_free(reader);
}

TEST(frame_of_pages_is_a_frame_like_any_other)
{
	static char pages[FRAME_BLOCK_MAX], packed[FRAME_BLOCK_MAX + 1024], got[FRAME_BLOCK_MAX];
	struct fail fail = FAIL_INIT;
	struct frame_writer *writer;
	struct frame_reader *reader;
	size_t len;

	for (size_t i = 0; i < sizeof(pages); i++)
		pages[i] = (char)(i % 97 * (i % 5));
	REQUIRE(frame_bound(sizeof(pages)) <= sizeof(packed));
	REQUIRE(!frame_writer_new(FRAME_LEVEL_DEFAULT, &writer, &fail));
	frame_writer_pages(writer);
	CHECK(!frame_write(writer, pages, sizeof(pages), packed, sizeof(packed), &len, &fail));
	CHECK(len < sizeof(pages) / 8);
	frame_writer_free(writer);
	REQUIRE(!frame_reader_new(&reader, &fail));
	CHECK(!frame_read(reader, packed, len, got, sizeof(got), &fail));
	CHECK(!memcmp(got, pages, sizeof(pages)));
	frame_reader_free(reader);
}
