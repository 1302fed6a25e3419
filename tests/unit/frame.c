// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/codec/frame.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

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

TEST(frame_of_stored_blocks_has_a_block_for_each_128_kib_begun)
{
	static const struct {
		size_t len, blocks;
	} cases[] = {
		{ 0, 1 }, { 1, 1 }, { FRAME_BLOCK_MAX, 1 }, { FRAME_BLOCK_MAX + 1, 2 }, { 3 * FRAME_BLOCK_MAX, 3 }
	};

	for (size_t i = 0; i < array_size(cases); i++)
		CHECK(frame_stored_size(cases[i].len) ==
		      FRAME_HEAD + cases[i].blocks * FRAME_BLOCK_HEAD + cases[i].len);
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

TEST(frame_that_has_no_room_is_an_error_and_a_check_sum_notices_one_bit)
{
	struct fail fail = FAIL_INIT;
	struct frame_writer *writer;
	struct frame_reader *reader;
	char frame[64], got[16];
	size_t len = 0, plain;

	CHECK(frame_writer_new(0, &writer, &fail) == -EINVAL && strstr(fail.text, "use 1 to 19"));
	CHECK(frame_writer_new(FRAME_LEVEL_MAX + 1, &writer, &fail) == -EINVAL);
	REQUIRE(!frame_writer_new(FRAME_LEVEL_MAX, &writer, &fail));
	REQUIRE(!frame_reader_new(&reader, &fail));
	CHECK(frame_write(writer, "warp and weft", 13, frame, 8, &len, &fail) == -EIO && !len);
	CHECK(strstr(fail.text, "cannot compress 13 bytes"));
	REQUIRE(!frame_write(writer, "warp and weft", 13, frame, sizeof(frame), &plain, &fail));
	/* RFC 8878, 3.1.1.1.1: neither the size of the content nor a check sum. */
	CHECK(!(frame[4] & 0xe4));
	frame_writer_checksum(writer);
	REQUIRE(!frame_write(writer, "warp and weft", 13, frame, sizeof(frame), &len, &fail));
	CHECK(len == plain + 4);
	CHECK(!frame_read(reader, frame, len, got, 13, &fail));
	frame[len - 6] ^= 1;
	CHECK(frame_read(reader, frame, len, got, 13, &fail) == -EBADMSG);
	frame_writer_free(writer);
	frame_reader_free(reader);
	frame_writer_free(NULL);
	frame_reader_free(NULL);
}

/* RFC 8878, 3.1.1.1.2: the window is 2^(10 + the upper five bits of its byte). A block of 4 stored bytes follows. */
static size_t make_window(unsigned log, char frame[16])
{
	const char head[] = { 0x28, (char)0xb5, 0x2f, (char)0xfd, 0, (char)((log - 10) << 3) };

	memcpy(frame, head, sizeof(head));
	frame_stored_block(4, true, frame + sizeof(head));
	memcpy(frame + sizeof(head) + FRAME_BLOCK_HEAD, "weft", 4);
	return sizeof(head) + FRAME_BLOCK_HEAD + 4;
}

TEST(frame_with_a_window_that_only_hostile_files_have_is_refused)
{
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	struct frame_stream *stream;
	char frame[16], got[4];
	size_t len, made;

	REQUIRE(!frame_reader_new(&reader, &fail));
	REQUIRE(!frame_stream_new(&stream, &fail));
	for (unsigned log = 20; log < 28; log++) {
		const uint8_t *at = (const uint8_t *)frame;

		len = make_window(log, frame);
		CHECK(frame_read_start(reader, frame, len, got, 4, &fail) == (log > 23 ? -EBADMSG : 0));
		CHECK(frame_stream_read(stream, &at, &len, got, 4, &made, &fail) == (log > 25 ? -EBADMSG : 0));
		CHECK(log > 25 || (made == 4 && !len && at == (uint8_t *)frame + 13));
		if (log > 25)
			break;
	}
	frame_reader_free(reader);
	frame_stream_free(stream);
	frame_stream_free(NULL);
}

TEST(frame_stream_takes_frames_in_pieces_of_any_size)
{
	struct fail fail = FAIL_INIT;
	struct frame frame;
	char got[32];

	REQUIRE(make_frame("warp and weft", &frame));
	/* Frames may follow one another. */
	memcpy(frame.data + frame.len, frame.data, frame.len);
	for (size_t piece = 1; piece <= 2 * frame.len; piece++) {
		struct frame_stream *stream;
		size_t has = 0, made;

		REQUIRE(!frame_stream_new(&stream, &fail));
		for (size_t at = 0; at < 2 * frame.len; at += piece) {
			const uint8_t *bytes = (const uint8_t *)frame.data + at;
			size_t len = at + piece < 2 * frame.len ? piece : 2 * frame.len - at;

			do {
				CHECK(!frame_stream_read(stream, &bytes, &len, got + has, sizeof(got) - has, &made,
							 &fail));
				has += made;
			} while (len);
		}
		CHECK_MEM(got, has, "warp and weftwarp and weft", 26);
		frame_stream_free(stream);
	}
}

TEST(frame_without_memory_is_an_error_in_words)
{
	struct frame_writer *writer;
	struct frame_reader *reader;
	struct frame_stream *stream;
	struct fail fail = FAIL_INIT;

	starve_begin(1);
	CHECK(frame_writer_new(1, &writer, &fail) == -ENOMEM);
	CHECK(starve_end() == 1);
	starve_begin(1);
	CHECK(frame_reader_new(&reader, &fail) == -ENOMEM);
	CHECK(starve_end() == 1);
	starve_begin(1);
	CHECK(frame_stream_new(&stream, &fail) == -ENOMEM);
	CHECK(starve_end() == 1);
}
