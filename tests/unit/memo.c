// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/memo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test.h"

static bool printed(const struct memo *memo, uint64_t key, const char *want)
{
	struct out out;
	bool same;

	if (!out_init(&out, 256))
		return false;
	same = memo_print(memo, key, &out) && out_len(&out) == strlen(want) &&
	       memcmp(out.start, want, strlen(want)) == 0;
	out_release(&out);
	return same;
}

TEST(memo_gives_back_what_it_keeps)
{
	struct memo *memo = memo_new();

	REQUIRE(memo);
	memo_add(memo, 0x81000000, "vfs_open", 8);
	memo_add(memo, 0x81000040, "", 0);
	CHECK(printed(memo, 0x81000000, "vfs_open"));
	CHECK(printed(memo, 0x81000040, ""));
	CHECK(!printed(memo, 0x81000001, "vfs_open"));
	free(memo);
}

TEST(memo_never_takes_an_address_of_64_bits_for_one_with_the_same_lower_half)
{
	struct memo *memo = memo_new();

	REQUIRE(memo);
	memo_add(memo, 0xffffffff81000000, "vfs_open", 8);
	memo_add(memo, 0x81000040, "vfs_read", 8);
	CHECK(printed(memo, 0xffffffff81000000, "vfs_open") == (sizeof(memo_key) == 8));
	CHECK(!printed(memo, 0x81000000, "vfs_open"));
	CHECK(!printed(memo, 0xffffffff81000040, "vfs_read"));
	free(memo);
}

TEST(memo_keeps_no_text_that_is_too_long_and_none_for_its_own_marks)
{
	char text[MEMO_TEXT_MAX + 1];
	struct memo *memo = memo_new();

	REQUIRE(memo);
	memset(text, 'x', sizeof(text));
	memo_add(memo, 7, text, sizeof(text));
	memo_add(memo, 0, "zero", 4);
	memo_add(memo, MEMO_BUSY, "one", 3);
	CHECK(!printed(memo, 7, ""));
	CHECK(!printed(memo, 0, "zero"));
	CHECK(!printed(memo, MEMO_BUSY, "one"));
	memo_add(memo, 7, text, MEMO_TEXT_MAX);
	text[MEMO_TEXT_MAX] = 0;
	CHECK(printed(memo, 7, text));
	free(memo);
}

static void *fill(void *arg)
{
	struct memo *memo = arg;
	char text[32];

	for (uint64_t key = 2; key < 100000; key++) {
		int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)key * 3);

		memo_add(memo, key, text, (size_t)len);
	}
	return NULL;
}

TEST(memo_filled_beyond_its_size_by_two_threads_never_gives_a_wrong_text)
{
	struct memo *memo = memo_new();
	pthread_t thread;
	struct out out;
	char text[32];
	uint64_t kept = 0;

	REQUIRE(memo && out_init(&out, 256));
	REQUIRE(pthread_create(&thread, NULL, fill, memo) == 0);
	fill(memo);
	pthread_join(thread, NULL);
	for (uint64_t key = 2; key < 100000; key++) {
		int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)key * 3);

		out_clear(&out);
		if (!memo_print(memo, key, &out))
			continue;
		kept++;
		REQUIRE(out_len(&out) == (size_t)len && !memcmp(out.start, text, (size_t)len));
	}
	CHECK(kept > 20000);
	out_release(&out);
	free(memo);
}
