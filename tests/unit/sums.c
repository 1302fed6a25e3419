// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zstd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/xxh64.h"
#include "lib/pages/trace/check.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

/* Changes every bit of a small file: each change must be found. */
enum { PAGE = 128, FILE_MAX = 16384 };

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:112;\tsigned:1;\n";

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	uint8_t pages[3 * PAGE] = { 0 };
	int r = writer_buffer(writer, "", "local", PAGE, fail);

	(void)arg;
	for (size_t i = 0; i < sizeof(pages); i += PAGE)
		pages[i] = (uint8_t)(i + 1);
	r = r ? r : part_add(part, pages, sizeof(pages), PAGE, fail);
	return r ? r : part_write(part, writer, 1, fail);
}

static int write_file(int fd, const struct writer_options *options, struct fail *fail)
{
	struct writer_format formats[] = { { "sched", "name: a\n", 8 }, { "ftrace", "name: b\n", 8 } };
	struct writer_setting settings[] = { { 0, "trace_clock", "[local]\n", 8 } };
	const struct writer_metadata metadata = {
		.header_page = header_page,
		.header_event = "event",
		.formats = formats,
		.nr_formats = array_size(formats),
		.kallsyms = "1 T one\n",
		.kallsyms_len = 8,
		.cmdlines = "7 weaver\n",
		.cmdlines_len = 9,
		.version = "weft 1",
		.clock = "[local] global",
		.cpu_count = 2,
		.settings = settings,
		.nr_settings = 1,
	};
	uint64_t size;

	return made_file_write(fd, options, &metadata, write_buffer, NULL, &size, fail);
}

static void found(void *arg, uint64_t offset, const char *text)
{
	(void)offset;
	(void)text;
	++*(unsigned *)arg;
}

static bool is_whole(int fd)
{
	struct check_summary summary;
	struct trace *trace;
	struct fail fail;
	unsigned count = 0;
	bool whole;

	if (trace_open_fd(fd, "flipped", &trace, &fail))
		return false;
	whole = !trace_check(trace, found, &count, &summary, &fail) && !count && !trace_damage(trace);
	trace_free(trace);
	return whole;
}

/*
 * Returns the number of changes that are not found. All bits of a byte are changed, but only the first bit of a padding
 * byte, because there are many.
 */
static unsigned missed_bits(const struct writer_options *options, size_t *ret_bits)
{
	cleanup_fd int fd = memfd_create("sums", MFD_CLOEXEC);
	static uint8_t bytes[FILE_MAX];
	unsigned missed = 0;
	struct fail fail;
	ssize_t size;

	if (!CHECK(fd >= 0 && !write_file(fd, options, &fail))) {
		puts(fail.text);
		return 1;
	}
	size = pread(fd, bytes, sizeof(bytes), 0);
	if (!CHECK(size > 0 && size < FILE_MAX && is_whole(fd)))
		return 1;
	*ret_bits = (size_t)size * 8;
	for (size_t bit = 0; bit < *ret_bits; bit++) {
		size_t byte = bit / 8;
		uint8_t changed = bytes[byte] ^ (uint8_t)(1 << bit % 8);

		if (bit % 8 && byte && !bytes[byte] && !bytes[byte - 1])
			continue;
		if (pwrite(fd, &changed, 1, (off_t)byte) != 1 || is_whole(fd))
			missed++;
		if (pwrite(fd, &bytes[byte], 1, (off_t)byte) != 1)
			return missed + 1;
	}
	return missed;
}

TEST(check_notices_every_bit_that_changes_in_a_compressed_file)
{
	size_t bits = 0;

	CHECK(!missed_bits(
		&(struct writer_options){ .version = 7, .long_size = 8, .page_size = PAGE, .compress = true }, &bits));
	CHECK(bits > 8000);
}

TEST(check_notices_every_bit_that_changes_in_a_file_that_is_not_compressed)
{
	size_t bits = 0;

	CHECK(!missed_bits(&(struct writer_options){ .version = 7, .long_size = 8, .page_size = PAGE }, &bits));
	CHECK(bits > 8000);
}

TEST(check_notices_every_bit_that_changes_in_a_file_of_version_6)
{
	size_t bits = 0;

	CHECK(!missed_bits(&(struct writer_options){ .version = 6, .long_size = 8, .page_size = PAGE }, &bits));
	CHECK(bits > 8000);
}

/* zstd's own checksum of a frame is the lower half of the same sum. */
TEST(sums_are_those_of_zstd)
{
	char data[257], frame[512];
	ZSTD_CCtx *context = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * i);
	for (size_t len = 0; len <= sizeof(data); len++) {
		size_t size = ZSTD_compress2(context, frame, sizeof(frame), data, len);
		uint64_t sum = xxh64(data, len);
		uint8_t low[4] = { (uint8_t)sum, (uint8_t)(sum >> 8), (uint8_t)(sum >> 16), (uint8_t)(sum >> 24) };

		if (!CHECK(size > 4 && !memcmp(frame + size - 4, low, 4)))
			break;
	}
	ZSTD_freeCCtx(context);
	CHECK(xxh64("", 0) == 0xef46db3751d8e999 && xxh64("abc", 3) == 0x44bc2cf5ad770999);
}
