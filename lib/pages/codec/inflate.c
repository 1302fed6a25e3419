// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/codec/inflate.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"

#define ZLIB_CONST
#include <zlib.h>

enum { PART = 1 << 14 };

struct inflating {
	z_stream stream;
	uint8_t input[PART], output[PART];
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

static int damaged(const struct inflating *in, int r, struct fail *fail)
{
	if (r == Z_MEM_ERROR)
		return fail_memory(fail);
	return fail_set(fail, -EBADMSG, "the compressed text is damaged: %s",
			in->stream.msg   ? in->stream.msg :
			r == Z_NEED_DICT ? "it needs a dictionary" :
					   "it is cut off");
}

/* Returns 1 at the stream's end. */
static int step(struct inflating *in, const struct inflate_ends *ends, struct fail *fail)
{
	int nr = in->stream.avail_in ? 0 : ends->read(ends->arg, in->input, sizeof(in->input), fail), r, written;
	size_t len;

	if (nr < 0)
		return nr;
	if (nr) {
		in->stream.next_in = in->input;
		in->stream.avail_in = (unsigned)nr;
	}
	in->stream.next_out = in->output;
	in->stream.avail_out = sizeof(in->output);
	r = inflate(&in->stream, Z_NO_FLUSH);
	len = sizeof(in->output) - in->stream.avail_out;
	written = len ? ends->write(ends->arg, in->output, len, fail) : 0;
	if (written)
		return written;
	if (r == Z_STREAM_END)
		return 1;
	/* Without input and without output nothing goes on (Z_BUF_ERROR). */
	return r == Z_OK || (r == Z_BUF_ERROR && len) ? 0 : damaged(in, r, fail);
}

int inflate_run(const struct inflate_ends *ends, struct fail *fail)
{
	struct inflating *in = calloc(1, sizeof(*in));
	int r;

	if (!in)
		return fail_memory(fail);
	in->stream.zalloc = allocate;
	in->stream.zfree = release;
	r = inflateInit(&in->stream);
	if (r != Z_OK) {
		r = damaged(in, r, fail);
		free(in);
		return r;
	}
	do
		r = step(in, ends, fail);
	while (!r);
	inflateEnd(&in->stream);
	free(in);
	return r < 0 ? r : 0;
}

bool inflate_exactly(const void *data, size_t len, void *ret, size_t size)
{
	uLongf made = size;

	return uncompress(ret, &made, data, len) == Z_OK && made == size;
}
