// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "formats/export/intervals_internal.h"
#include "tests/unit/test.h"

static bool is_within(uint64_t ns)
{
	uint64_t middle = interval_bucket_middle(interval_bucket(ns));
	uint64_t off = middle > ns ? middle - ns : ns - middle;

	/* At most 1/32 of it, without overflow. */
	return off <= ns / 32;
}

TEST(interval_buckets_have_their_middle_within_one_32nd_of_all_that_they_count)
{
	for (uint64_t ns = 0; ns < 1 << 16; ns++) {
		CHECK(is_within(ns));
		CHECK(interval_bucket(ns + 1) - interval_bucket(ns) <= 1);
	}
	for (unsigned bit = 4; bit < 64; bit++) {
		uint64_t power = UINT64_C(1) << bit;

		CHECK(is_within(power));
		CHECK(is_within(power - 1));
		CHECK(is_within(power + (power >> 1) + (power >> 5)));
		CHECK(interval_bucket(power) == interval_bucket(power - 1) + 1);
	}
	CHECK(is_within(UINT64_MAX));
	CHECK(interval_bucket(UINT64_MAX) < 1024);
}

static char details[64];

static void keep_detail(void *arg, enum interval_table table, const struct column_value *values)
{
	const struct column_value *detail = &values[INTERVAL_COMMON + 2];

	(void)arg;
	CHECK(table == INTERVAL_ROLLUP);
	snprintf(details + strlen(details), sizeof(details) - strlen(details), "%s ",
		 detail->kind == VALUE_IS_TEXT ? detail->text : "-");
}

/* As weft syscalls counts them: what restarts a call reaches no program, and a sigreturn restores a register. */
TEST(interval_rollups_count_a_call_as_failed_where_syscalls_does)
{
	static const struct {
		const char *name, *detail;
		int64_t returned;
	} calls[] = {
		{ "read", "11 ", -11 },   { "read", "- ", 7 },     { "read", "- ", -512 },       { "read", "- ", -516 },
		{ "read", "517 ", -517 }, { "read", "- ", -4096 }, { "rt_sigreturn", "- ", -4 },
	};
	struct column_value whole[INTERVAL_COMMON] = { { .kind = VALUE_IS_NULL } };
	const struct interval_sink sink = { .row = keep_detail };

	for (size_t i = 0; i < array_size(calls); i++) {
		struct interval_rollup *rollup = interval_rollup_new();
		struct column_value values[INTERVAL_COLUMNS_MAX] = { { .kind = VALUE_IS_NULL } };

		REQUIRE(rollup);
		for (size_t column = 0; column < array_size(values); column++)
			values[column].kind = VALUE_IS_NULL;
		values[INTERVAL_DUR] = (struct column_value){ .kind = VALUE_IS_INTEGER, .number = 5 };
		values[INTERVAL_COMMON + 1] =
			(struct column_value){ .kind = VALUE_IS_TEXT, .len = strlen(calls[i].name) };
		values[INTERVAL_COMMON + 1].text = calls[i].name;
		values[INTERVAL_COMMON + 2] =
			(struct column_value){ .kind = VALUE_IS_INTEGER, .number = (uint64_t)calls[i].returned };
		interval_rollup_see(rollup, INTERVAL_SYSCALL, values);
		*details = '\0';
		interval_rollup_end(rollup, whole, &sink);
		CHECK_STR(details, calls[i].detail);
		interval_rollup_free(rollup);
	}
}
