// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/stream/relay.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

TEST(relay_frame_is_its_head_and_its_bytes)
{
	const struct relay_head want = { RELAY_PAGE, 2, 3, 5 };
	struct relay_head got;
	struct out out;

	REQUIRE(out_init(&out, 64));
	relay_put(&out, RELAY_PAGE, 2, 3, "warp", 5);
	REQUIRE(out_len(&out) == sizeof(got) + 5);
	memcpy(&got, out.start, sizeof(got));
	CHECK(!memcmp(&got, &want, sizeof(got)) && !strcmp(out.start + sizeof(got), "warp"));
	relay_put(&out, RELAY_END, 0, 0, NULL, 0);
	CHECK(out_len(&out) == 2 * sizeof(got) + 5 && !out.failed);
	/* No reader takes a longer one. */
	relay_put(&out, RELAY_PAGE, 0, 0, "", (size_t)RELAY_FRAME_MAX + 1);
	CHECK(out.failed);
	out_release(&out);
}

TEST(relay_head_that_no_frame_has_is_refused)
{
	static const struct {
		struct relay_head head;
		bool first;
		const char *why; /* NULL: a frame can have it */
	} rows[] = {
		{ { RELAY_HELLO, 0, RELAY_VERSION, 0 }, true, NULL },
		{ { RELAY_HELLO, 0, RELAY_VERSION + 1, 0 },
		  true,
		  "weft stream --pages is of another version of weft: it must be the same" },
		{ { RELAY_FACTS, 0, RELAY_VERSION, 0 },
		  true,
		  "these are no pages of weft stream --pages of this byte order" },
		{ { 0x57454654, 0, RELAY_VERSION, 0 },
		  true,
		  "these are no pages of weft stream --pages of this byte order" },
		{ { RELAY_HELLO, 0, RELAY_VERSION, RELAY_FRAME_MAX + 1 },
		  true,
		  "what weft stream --pages writes is damaged" },
		{ { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX }, false, NULL },
		{ { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX + 1 }, false, "what weft stream --pages writes is damaged" },
		{ { RELAY_END, 0, 0, 0 }, false, NULL },
		{ { RELAY_END + 1, 0, 0, 0 }, false, "what weft stream --pages writes is damaged" },
		{ { RELAY_HELLO, 0, RELAY_VERSION, 0 }, false, "what weft stream --pages writes is damaged" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;

		CHECK(relay_check(&rows[i].head, rows[i].first, &fail) == (rows[i].why ? -EBADMSG : 0));
		CHECK_STR(fail.text, rows[i].why ? rows[i].why : "");
	}
}
