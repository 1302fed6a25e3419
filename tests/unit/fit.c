// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/fit.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

enum { ROWS = 40, HEAD = 7 };

/* A head, rows of which each is longer than the one before, and a line about what is left out. */
static int write_rows(void *arg, uint64_t rows, struct out *out, struct fail *fail)
{
	unsigned *calls = arg;

	(void)fail;
	(*calls)++;
	out_fill(out, 'h', HEAD);
	for (uint64_t i = 0; i < rows; i++)
		out_fill(out, 'r', 1 + i % 5);
	if (rows < ROWS)
		out_fill(out, 'm', 3);
	return 0;
}

static size_t length(uint64_t rows)
{
	size_t len = HEAD + (rows < ROWS ? 3 : 0);

	for (uint64_t i = 0; i < rows; i++)
		len += 1 + i % 5;
	return len;
}

TEST(fit_leaves_out_the_fewest_rows)
{
	struct fail fail = FAIL_INIT;
	struct out out;

	CHECK(out_init(&out, 16));
	for (uint64_t max = 1; max < length(ROWS) + 5; max++) {
		unsigned calls = 0;
		const struct fit fit = { write_rows, &calls, ROWS, max };
		uint64_t left_out = 99, best = 0;
		int r = fit_write(&fit, &out, &left_out, &fail);

		if (max < length(0)) {
			CHECK(r == -EMSGSIZE);
			continue;
		}
		for (uint64_t rows = 0; rows <= ROWS; rows++)
			if (length(rows) <= max)
				best = rows;
		CHECK(!r && ROWS - left_out == best && out_len(&out) == length(best));
		CHECK(calls <= 10);
	}
	out_release(&out);
}

TEST(fit_without_a_limit_writes_all_at_once)
{
	struct fail fail = FAIL_INIT;
	unsigned calls = 0;
	const struct fit fit = { write_rows, &calls, ROWS, 0 };
	uint64_t left_out = 99;
	struct out out;

	CHECK(out_init(&out, 16) && !fit_write(&fit, &out, &left_out, &fail));
	CHECK(!left_out && calls == 1 && out_len(&out) == length(ROWS));
	out_release(&out);
}
