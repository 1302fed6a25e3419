// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/codec/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

enum { LEN = 300000 };

/* Half of each byte is random: zlib can halve them, and what it makes does not fit in one part of its output. */
static char *make_bytes(void)
{
	char *bytes = malloc(LEN);

	for (uint32_t i = 0, x = 1; bytes && i < LEN; i++) {
		x = x * 1103515245 + 12345;
		bytes[i] = (char)(x >> 28);
	}
	return bytes;
}

/* zlib's own reader compares the check sum and the length at the end, too. */
static bool reads_back(const struct out *out, const char *bytes, size_t len)
{
	z_stream stream = { .next_in = (Bytef *)out->start, .avail_in = (unsigned)out_len(out) };
	char *got = malloc(len + 1);
	bool same;

	if (!got || inflateInit2(&stream, 15 + 16) != Z_OK) {
		free(got);
		return false;
	}
	stream.next_out = (Bytef *)got;
	stream.avail_out = (unsigned)len + 1;
	same = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == len && !stream.avail_in &&
	       !memcmp(got, bytes, len);
	inflateEnd(&stream);
	free(got);
	return same;
}

TEST(gzip_is_read_back_and_is_smaller)
{
	static const size_t lens[] = { 0, 1, LEN };
	struct fail fail = FAIL_INIT;
	char *bytes = make_bytes();

	REQUIRE(bytes);
	for (size_t i = 0; i < array_size(lens); i++) {
		struct out out;

		REQUIRE(out_init(&out, 64));
		CHECK(!gzip_put(&out, bytes, lens[i], &fail));
		/* RFC 1952: no name, no time, and 255 for a system that is not told. */
		CHECK(!memcmp(out.start, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
		CHECK(reads_back(&out, bytes, lens[i]));
		CHECK(lens[i] < LEN || out_len(&out) < LEN * 3 / 4);
		out_release(&out);
	}
	free(bytes);
}

TEST(gzip_without_memory_is_an_error_in_words)
{
	uint64_t all = UINT64_MAX;
	char *bytes = make_bytes();

	REQUIRE(bytes);
	for (uint64_t at = 1; at <= all; at++) {
		struct fail fail = FAIL_INIT;
		struct out out;
		uint64_t made;
		int r;

		REQUIRE(out_init(&out, LEN));
		starve_begin(at);
		r = gzip_put(&out, bytes, LEN, &fail);
		made = starve_end();
		if (!r) {
			CHECK(at > 3);
			CHECK(reads_back(&out, bytes, LEN));
			all = 0;
		} else {
			CHECK(r == -ENOMEM);
			CHECK(fail.text[0]);
			CHECK(made >= at);
		}
		out_release(&out);
	}
	free(bytes);
}
