// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/codec/gzip.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

#define ZLIB_CONST
#include <zlib.h>

enum {
	WINDOW_BITS = 15,
	GZIP = 16, /* added to the window's bits: a gzip file, not a zlib stream */
	MEMORY_LEVEL = 8,
	UNKNOWN_SYSTEM = 255
};

/* As zlib's own allocator, but tests can make it fail. */
static void *allocate(void *arg, unsigned nr, unsigned size)
{
	(void)arg;
	return calloc(nr, size);
}

static void release(void *arg, void *memory)
{
	(void)arg;
	free(memory);
}

int gzip_put(struct out *out, const void *bytes, size_t len, struct fail *fail)
{
	gz_header head = { .os = UNKNOWN_SYSTEM };
	z_stream stream = { .zalloc = allocate, .zfree = release, .next_in = bytes };
	uint8_t part[1 << 14];
	size_t left = len;
	int r = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS + GZIP, MEMORY_LEVEL,
			     Z_DEFAULT_STRATEGY);

	if (r != Z_OK)
		return r == Z_MEM_ERROR ? fail_memory(fail) :
					  fail_set(fail, -ENOTSUP, "zlib cannot compress: %s", zError(r));
	deflateSetHeader(&stream, &head);
	do {
		/* zlib counts in 32 bits. */
		if (!stream.avail_in) {
			stream.avail_in = left < UINT_MAX ? (unsigned)left : UINT_MAX;
			left -= stream.avail_in;
		}
		stream.next_out = part;
		stream.avail_out = sizeof(part);
		r = deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH);
		assert(r == Z_OK || r == Z_STREAM_END);
		out_mem(out, part, sizeof(part) - stream.avail_out);
	} while (r != Z_STREAM_END);
	deflateEnd(&stream);
	return 0;
}
