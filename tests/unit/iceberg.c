// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/iceberg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

enum { FILES = 4 };

/* The files that were put, in their order. */
struct put {
	char names[FILES][32];
	struct buf bytes[FILES];
	size_t nr;
};

static int put(void *arg, const char *name, const void *bytes, size_t len, struct fail *fail)
{
	struct put *into = arg;

	(void)fail;
	if (!CHECK(into->nr < FILES))
		return -ENOSPC;
	snprintf(into->names[into->nr], sizeof(into->names[0]), "%s", name);
	CHECK(buf_add(&into->bytes[into->nr++], bytes, len));
	return 0;
}

static void release(struct put *put)
{
	for (size_t i = 0; i < put->nr; i++)
		buf_release(&put->bytes[i]);
}

/* Whether it is a file of Avro whose only block is these bytes: the number of records, their size, the records. */
static bool has_block(const struct buf *file, const char *block, size_t len)
{
	enum { SYNC = 16 };

	return file->len > 2 * SYNC + len + 4 && !memcmp(file->data, "Obj\1", 4) &&
	       !memcmp(file->data + file->len - SYNC - len, block, len) &&
	       !memcmp(file->data + file->len - SYNC, file->data + file->len - 2 * SYNC - len, SYNC);
}

/*
 * By hand, after the specification of Avro 1.11.1: a long is zigzag and seven bits a byte, so 1 is 02, 3 is 06, 300 is
 * 600 = d8 04 and 70 is 140 = 8c 01; a string is its length and its bytes; "null or long" is 02 before a long.
 */
TEST(iceberg_manifests_have_the_bytes_that_avro_asks_for)
{
	static const char location[] = "file:///l/3/run";
	static const char entry[] = "\x02\x5c"
				    "\x02\x02\x06\x02\x06\x02\x06\x00"
				    "\x32"
				    "file:///l/3/run/3.parquet"
				    "\x0e"
				    "PARQUET"
				    "\xd8\x04\x8c\x01";
	/* Between them is the length of the manifest. */
	static const char list[] = "\x50"
				   "file:///l/3/run/metadata/manifest-3.avro";
	static const char counts[] = "\x00\x00\x06\x06\x06\x02\x00\x00\xd8\x04\x00\x00";
	const struct iceberg_file file = { "3.parquet", 300, 70 };
	struct put files = { .nr = 0 };
	const struct iceberg iceberg = { "run", location, 3, 1764201600000, &file, 1, put, &files };
	struct fail fail = FAIL_INIT;
	char record[128];
	size_t len, zigzag;

	REQUIRE(!iceberg_describe(&iceberg, &fail) && files.nr == FILES);
	CHECK(!strcmp(files.names[0], "manifest-3.avro") && !strcmp(files.names[1], "snap-3.avro") &&
	      !strcmp(files.names[2], "v3.metadata.json") && !strcmp(files.names[3], "version-hint.text"));
	CHECK(has_block(&files.bytes[0], entry, sizeof(entry) - 1));
	zigzag = files.bytes[0].len << 1;
	REQUIRE(zigzag >= 1 << 7 && zigzag < 1 << 14);
	len = (size_t)snprintf(record, sizeof(record), "\x02\x7f%s%c%c", list, (int)((zigzag & 0x7f) | 0x80),
			       (int)(zigzag >> 7));
	memcpy(record + len, counts, sizeof(counts) - 1);
	len += sizeof(counts) - 1;
	record[1] = (char)((len - 2) << 1);
	CHECK(has_block(&files.bytes[1], record, len));
	CHECK(files.bytes[3].len == 1 && *files.bytes[3].data == '3');
	release(&files);
}

TEST(iceberg_metadata_names_the_columns_the_snapshot_and_its_manifests)
{
	static const char *const has[] = {
		"{\"format-version\":2,",
		"\"location\":\"file:///l/7/gap\"",
		"\"last-sequence-number\":7",
		"\"last-updated-ms\":1764201600000",
		/* Eleven that all tables have, and "lost". */
		"\"last-column-id\":12",
		"{\"id\":1,\"name\":\"host\",\"required\":true,\"type\":\"string\"}",
		"{\"id\":4,\"name\":\"ts\",\"required\":true,\"type\":\"long\"}",
		"{\"id\":8,\"name\":\"cpu\",\"required\":false,\"type\":\"int\"}",
		"{\"id\":12,\"name\":\"lost\",\"required\":false,\"type\":\"long\"}]}]",
		"\"current-snapshot-id\":7",
		"\"manifest-list\":\"file:///l/7/gap/metadata/snap-7.avro\"",
		"{\\\"field-id\\\":12,\\\"names\\\":[\\\"lost\\\"]}",
	};
	struct put files = { .nr = 0 };
	struct iceberg iceberg = { "gap", "file:///l/7/gap", 7, 1764201600000, NULL, 0, put, &files };
	struct fail fail = FAIL_INIT;

	REQUIRE(!iceberg_describe(&iceberg, &fail) && files.nr == FILES);
	for (size_t i = 0; i < array_size(has); i++)
		if (!CHECK(strstr(buf_str(&files.bytes[2]), has[i])))
			printf("%s\n", has[i]);
	/* No file: a block of no records. */
	CHECK(has_block(&files.bytes[0], "\0\0", 2));
	release(&files);
	iceberg.table = "runs";
	CHECK(iceberg_describe(&iceberg, &fail) == -ENOENT);
}
