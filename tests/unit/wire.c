// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/remote/wire_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/outcome.h"
#include "tests/unit/test.h"

TEST(wire_gives_a_frame_when_its_last_byte_is_there)
{
	cleanup_buf struct buf sent = BUF_INIT;
	struct wire_frame frame;

	CHECK(wire_add(&sent, WIRE_PAGES, 0x1234, "pages", 5) && wire_add(&sent, WIRE_END, 0, "", 1));
	CHECK(sent.len == 2 * WIRE_HEAD + 6 && !memcmp(sent.data, "\x12\0\x34\x12\5\0\0\0pages", WIRE_HEAD + 5));
	for (size_t len = 0; len < sent.len; len++) {
		struct bytes in = wire_bytes(sent.data, len);
		int nr = 0;

		while (wire_take(&in, &frame, NULL) > 0)
			nr++;
		CHECK(nr == (len >= WIRE_HEAD + 5) && in.left == len - (size_t)nr * (WIRE_HEAD + 5));
		CHECK(!nr || (frame.type == WIRE_PAGES && frame.stream == 0x1234 && frame.body.left == 5));
	}
}

TEST(wire_refuses_a_length_before_its_bytes_come)
{
	struct bytes in = wire_bytes("\x10\0\0\0\1\0\x10\0", WIRE_HEAD);
	struct fail fail = FAIL_INIT;
	struct wire_frame frame;

	CHECK(wire_take(&in, &frame, &fail) == -EBADMSG && strstr(fail.text, "1048577 bytes"));
}

TEST(wire_greets_with_version_and_byte_order)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct wire_greeting greeting;
	struct fail fail = FAIL_INIT;
	struct bytes in;

	CHECK(wire_greet(&line) && buf_add_str(&line, "rest"));
	for (size_t len = 0; len < line.len - 4; len++) {
		in = wire_bytes(line.data, len);
		CHECK(!wire_take_greeting(&in, &greeting, &fail));
	}
	in = wire_bytes(line.data, line.len);
	CHECK(wire_take_greeting(&in, &greeting, &fail) == 1 && in.left == 4 && greeting.version == WIRE_VERSION);
	CHECK(greeting.big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	in = wire_bytes("weft-serve 9 x86_64 little 4096 6.1\n", 36);
	CHECK(wire_take_greeting(&in, &greeting, &fail) == -EPROTONOSUPPORT);
	in = wire_bytes("bash: weft\33\n", 12);
	CHECK(wire_take_greeting(&in, &greeting, &fail) == -EBADMSG && strstr(fail.text, "'bash: weft.."));
}

TEST(wire_splits_words_and_refuses_an_unfinished_one)
{
	struct wire_frame setup = { .type = WIRE_SETUP, .body = wire_bytes("weft record\0-e\0\0", 16) };
	char **words;
	int nr;

	CHECK(!wire_words(&setup, &words, &nr, NULL) && nr == 3 && !words[3]);
	CHECK(!strcmp(words[0], "weft record") && !strcmp(words[1], "-e") && !*words[2]);
	free(words);
	setup.body = wire_bytes("weft record\0-e", 14);
	CHECK(wire_words(&setup, &words, &nr, NULL) == -EBADMSG);
	setup.body = wire_bytes("", 0);
	CHECK(wire_words(&setup, &words, &nr, NULL) == -EBADMSG);
}

TEST(outcome_brings_what_the_far_kernel_counted)
{
	struct record_cpu cpus[] = { { .buffer = 1, .cpu = 2, .events = 3, .lost = 4, .cleared = 5 },
				     { .cpu = 7, .dropped_bytes = UINT64_MAX, .dropped_events = 8 } };
	char missed[] = "p:probe 2\n";
	struct record_result sent = { .ran = true,
				      .has_status = true,
				      .status = 3,
				      .events = 10,
				      .lost = 11,
				      .raw = 12,
				      .packed = 13,
				      .missed = 14,
				      .time_ns = 15,
				      .cleared = 5,
				      .user_data = 63,
				      .marks_elsewhere = 16,
				      .spent = RECORD_SPENT_CPU,
				      .skipped = RECORD_SKIP_PRESSURE,
				      .cpus = cpus,
				      .nr_cpus = 2,
				      .missed_probes = missed };
	struct record_result got = { .has_status = false };
	cleanup_buf struct buf body = BUF_INIT;

	CHECK(outcome_add(&body, &sent) && !outcome_take(wire_bytes(body.data, body.len), &got, NULL));
	CHECK(got.ran && got.has_status && got.status == 3 && got.events == 10 && got.lost == 11 && got.raw == 12);
	CHECK(got.packed == 13 && got.missed == 14 && got.time_ns == 15 && got.cleared == 5 && got.user_data == 63);
	CHECK(got.spent == RECORD_SPENT_CPU && got.skipped == RECORD_SKIP_PRESSURE);
	CHECK(got.marks_elsewhere == 16 && got.nr_cpus == 2 && !strcmp(got.missed_probes, missed));
	CHECK(got.cpus[0].buffer == 1 && got.cpus[0].lost == 4 && got.cpus[1].dropped_bytes == UINT64_MAX);
	record_result_release(&got);
	for (size_t len = 0; len < body.len; len++) {
		CHECK(outcome_take(wire_bytes(body.data, len), &got, NULL) == -EBADMSG);
		record_result_release(&got);
	}
}
