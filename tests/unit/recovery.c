// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/recovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"
#include "tests/unit/test.h"

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
	CHECK(!cpus_count(&recovery.lost));
	CHECK(!access(left.output, R_OK));
	CHECK(access(left.parts, F_OK));
	recovery_release(&recovery);
	left_release(&left);
}

TEST(recovery_counts_a_cpu_whose_spool_was_removed_and_none_that_never_had_one)
{
	const struct ledger_item spool = { .kind = LEDGER_SPOOL, .key = "1", .data = "" };
	struct recovery recovery = { .output = NULL };
	struct parts *parts = NULL;
	struct left left;

	REQUIRE(left_behind(&left, NULL));
	REQUIRE(!parts_open(left.parts, &parts, NULL));
	CHECK(!ledger_add(parts->ledger, &spool, NULL));
	parts_free(parts);
	CHECK(!recovery_run(left.parts, left.output, 0600, &recovery, NULL));
	CHECK(cpus_count(&recovery.lost) == 1 && cpus_has(&recovery.lost, 1));
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

/* Makes a file of a page, with or without samples of its clock, and reads it. *ret_end: where its settings begin. */
static bool file_with(const char *samples, char *into, size_t size, size_t *ret_len, size_t *ret_end)
{
	const struct ledger_item setting = { .kind = LEDGER_SETTING, .key = "tracing_on", .data = "1", .len = 1 };
	const struct ledger_item sample = { .kind = LEDGER_SAMPLE, .data = samples, .len = strlen(samples) };
	const struct spool_options options = { .shape = { .size = 4096, .long_size = sizeof(long) } };
	struct recovery recovery = { .output = NULL };
	static const char page[4096] = { 1 };
	struct parts *parts = NULL;
	struct spool spool;
	struct left left;
	uint64_t end = 0;
	FILE *file;
	bool ok;

	if (!left_behind(&left, NULL) || parts_open(left.parts, &parts, NULL) ||
	    spool_new(parts->dir, 0, 0, &options, &spool, NULL))
		return false;
	ok = write(spool.fd, page, sizeof(page)) == (ssize_t)sizeof(page) &&
	     !ledger_add(parts->ledger, &setting, NULL) && (!*samples || !ledger_add(parts->ledger, &sample, NULL));
	spool_release(&spool);
	parts_free(parts);
	ok = ok && !recovery_run(left.parts, left.output, 0600, &recovery, NULL);
	recovery_release(&recovery);
	file = ok ? fopen(left.output, "r") : NULL;
	*ret_len = file ? fread(into, 1, size, file) : 0;
	if (file)
		fclose(file);
	left_release(&left);
	/* The trailer: an offset, and a text. */
	if (*ret_len < 16 || *ret_len == size)
		return false;
	memcpy(&end, into + *ret_len - 16, sizeof(end));
	*ret_end = (size_t)end;
	return ok && end < *ret_len && !memcmp(into + *ret_len - 8, "weft-set", 8);
}

TEST(recording_with_samples_of_its_clock_is_the_same_but_for_its_settings)
{
	static const char samples[] = "local 5 6 7 8 9 10 0 0 -1 start\n";
	static char plain[1 << 16], dated[1 << 16];
	enum { PAGE_END = 3 * 4096 };
	size_t plain_len, dated_len, plain_end, dated_end, first = 0;

	REQUIRE(file_with("", plain, sizeof(plain), &plain_len, &plain_end));
	REQUIRE(file_with(samples, dated, sizeof(dated), &dated_len, &dated_end));
	/* Each file has an identity of its own: option 11, of 8 bytes. Behind the page there are sums of all bytes. */
	REQUIRE(plain_end == dated_end && plain_end > PAGE_END);
	while (first < PAGE_END && plain[first] == dated[first])
		first++;
	CHECK(first < PAGE_END / 2);
	CHECK(first + 8 < PAGE_END && !memcmp(plain + first + 8, dated + first + 8, PAGE_END - first - 8));
	CHECK(!memmem(plain, plain_len, "weft/clocks", 11) &&
	      memmem(dated + dated_end, dated_len - dated_end, samples, sizeof(samples) - 1));
	/* One more setting: its buffer, name and size, and its text. */
	CHECK(dated_len == plain_len + 4 + sizeof("weft/clocks") + 8 + sizeof(samples));
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
