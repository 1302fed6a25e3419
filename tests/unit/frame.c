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
