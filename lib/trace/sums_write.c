// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/base/xxh64.h"
#include "lib/trace/body_internal.h"
#include "lib/trace/internal.h"
#include "lib/trace/sums_internal.h"
#include "lib/trace/writer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int add_sums(int fd, uint64_t covered, struct buf *body, bool swap, struct fail *fail)
{
	cleanup_free char *block = malloc(SUMS_BLOCK);

	if (!block)
		return fail_memory(fail);
	for (uint64_t at = 0; at < covered; at += SUMS_BLOCK) {
		size_t size = covered - at < SUMS_BLOCK ? (size_t)(covered - at) : SUMS_BLOCK, have = 0;

		while (have < size) {
			ssize_t got = io_pread(fd, block + have, size - have, at + have);

			if (got <= 0)
				return fail_set(fail, got ? (int)got : -EIO,
						"cannot read back what was written at offset %" PRIu64 ": %s", at,
						got ? strerror((int)-got) : "it is gone");
			have += (size_t)got;
		}
		if (!put_u64(body, xxh64(block, size), swap))
			return fail_memory(fail);
	}
	return 0;
}

static uint64_t covered_of(const struct writer *writer)
{
	return writer->output.at < SUMS_COVERED_MAX ? writer->output.at : SUMS_COVERED_MAX;
}

uint64_t sums_size(const struct writer *writer)
{
	uint64_t blocks = (covered_of(writer) + SUMS_BLOCK - 1) / SUMS_BLOCK;

	return writer->has_sums ? SECTION_HEAD_SIZE + SUMS_HEAD + blocks * sizeof(uint64_t) + SUMS_TAIL : 0;
}

int sums_write(struct writer *writer, const struct buf *tail, struct fail *fail)
{
	uint64_t covered = covered_of(writer), size = sums_size(writer);
	cleanup_buf struct buf section = BUF_INIT;
	bool swap = writer->swap;
	int r;

	if (!writer->has_sums)
		return 0;
	if (!put_u16(&section, SECTION_SUMS, swap) || !put_u16(&section, 0, swap) ||
	    !put_u32(&section, SECTION_NO_NAME, swap) || !put_u64(&section, size - SECTION_HEAD_SIZE, swap) ||
	    !put_u32(&section, SUMS_VERSION, swap) || !put_u32(&section, SUMS_BLOCK, swap) ||
	    !put_u64(&section, covered, swap) || !put_u64(&section, tail ? tail->len : 0, swap) ||
	    !put_u64(&section, tail ? xxh64(tail->data, tail->len) : 0, swap))
		return fail_memory(fail);
	r = add_sums(writer->output.readable, covered, &section, swap, fail);
	if (r)
		return r;
	if (!put_u64(&section, size, swap) || !put_u64(&section, xxh64(section.data, section.len), swap))
		return fail_memory(fail);
	return output_add(&writer->output, section.data, section.len, fail);
}
