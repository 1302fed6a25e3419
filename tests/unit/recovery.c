// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/recovery.h"

#include "lib/base/fail.h"
#include "lib/record/ledger_internal.h"
#include "lib/record/parts.h"
#include "lib/record/spool.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS = 2 };

struct left {
	char dir[32];
	char output[48];
	char *parts;
};

/*
 * The parts of a recorder that was killed before the first page came. `moved`: the directory of CPU 1's data; NULL: it
 * was not moved.
 */
static bool left_behind(struct left *left, const char *moved)
{
	const struct ledger_item items[] = {
		{ .kind = LEDGER_HEADER_PAGE, .data = "header", .len = 6 },
		{ .kind = LEDGER_HEADER_EVENT, .data = "header", .len = 6 },
		{ .kind = LEDGER_BUFFER, .data = "4096 local", .len = 10 },
		{ .kind = LEDGER_MOVED, .key = "1", .data = moved, .len = moved ? strlen(moved) : 0 },
	};
	struct parts_file file =
		parts_file_here(6, false, 0, &(struct page_shape){ .size = 4096, .long_size = sizeof(long) }, CPUS);
	struct parts *parts;
	bool ok;

	*left = (struct left){ .dir = "/tmp/weft-unit-XXXXXX" };
	if (!mkdtemp(left->dir))
		return false;
	snprintf(left->output, sizeof(left->output), "%s/k.dat", left->dir);
	if (parts_new(left->output, NULL, &parts, NULL))
		return false;
	ok = !parts_describe(parts, &file, NULL);
	for (size_t i = 0; i < array_size(items) - !moved; i++)
		ok &= !ledger_add(parts->ledger, &items[i], NULL);
	left->parts = strdup(parts->path);
	parts_free(parts);
	return ok && left->parts;
}

static void left_release(struct left *left)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", left->dir);
	CHECK(!system(command));
	free(left->parts);
}

TEST(recovery_makes_a_file_of_parts_without_pages)
{
	struct recovery recovery = { .output = NULL };
	struct left left;

	REQUIRE(left_behind(&left, NULL));
	CHECK(!recovery_run(left.parts, left.output, 0600, &recovery, NULL));
	CHECK(!access(left.output, R_OK));
	CHECK(access(left.parts, F_OK));
	recovery_release(&recovery);
	left_release(&left);
}

TEST(recovery_tells_of_a_cpu_whose_data_is_gone_and_keeps_the_parts)
{
	struct recovery recovery = { .output = NULL };
	struct fail fail = FAIL_INIT;
	struct left left;

	REQUIRE(left_behind(&left, "4096 8192 0 unfinished.7"));
	CHECK(recovery_run(left.parts, left.output, 0600, &recovery, &fail) < 0);
	CHECK(strstr(fail.text, "unfinished.7") && strstr(fail.text, "CPU 1"));
	CHECK(access(left.output, F_OK));
	CHECK(!access(left.parts, F_OK));
	left_release(&left);
}

TEST(recovery_leaves_out_no_pages_of_a_buffer_that_comes_behind_a_gap)
{
	const struct ledger_item buffer = {
		.kind = LEDGER_BUFFER, .buffer = 2, .key = "late", .data = "4096 local", .len = 10
	};
	const struct spool_options options = { .shape = { .size = 4096, .long_size = sizeof(long) } };
	struct recovery recovery = { .output = NULL };
	static const char page[4096];
	struct fail fail = FAIL_INIT;
	struct parts *parts = NULL;
	struct spool spool;
	struct left left;

	REQUIRE(left_behind(&left, NULL));
	REQUIRE(!parts_open(left.parts, &parts, NULL));
	CHECK(!ledger_add(parts->ledger, &buffer, NULL));
	if (CHECK(!spool_new(parts->dir, 2, 0, &options, &spool, NULL))) {
		CHECK(write(spool.fd, page, sizeof(page)) == (ssize_t)sizeof(page));
		spool_release(&spool);
	}
	parts_free(parts);
	CHECK(recovery_run(left.parts, left.output, 0600, &recovery, &fail) < 0);
	CHECK(strstr(fail.text, "buffer 2"));
	CHECK(!access(left.parts, F_OK));
	left_release(&left);
}

TEST(recovery_refuses_a_buffer_with_sub_buffers_of_no_size)
{
	const struct ledger_item buffer = { .kind = LEDGER_BUFFER, .data = "0 local", .len = 7 };
	const struct spool_options options = { .shape = { .size = 4096, .long_size = sizeof(long) } };
	struct recovery recovery = { .output = NULL };
	static const char page[4096];
	struct fail fail = FAIL_INIT;
	struct parts *parts = NULL;
	struct spool spool;
	struct left left;

	REQUIRE(left_behind(&left, NULL));
	REQUIRE(!parts_open(left.parts, &parts, NULL));
	CHECK(!ledger_add(parts->ledger, &buffer, NULL));
	if (CHECK(!spool_new(parts->dir, 0, 0, &options, &spool, NULL))) {
		CHECK(write(spool.fd, page, sizeof(page)) == (ssize_t)sizeof(page));
		spool_release(&spool);
	}
	parts_free(parts);
	CHECK(recovery_run(left.parts, left.output, 0600, &recovery, &fail) == -EBADMSG);
	CHECK(strstr(fail.text, "sub-buffers of 0 bytes"));
	CHECK(!access(left.parts, F_OK));
	left_release(&left);
}
