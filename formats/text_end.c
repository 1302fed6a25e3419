// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text_end.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

static int flush_escaped(struct text_end *end, struct out *out)
{
	struct out text;
	int r;

	if (out->failed || !out_init(&text, 2 * out_len(out)))
		return -ENOMEM;
	escape_text(&end->escape, out->start, out_len(out), &text);
	out_clear(out);
	r = out_flush(&text, end->fd);
	out_release(&text);
	return r;
}

/* Cuts at the end of a line, so that the bytes do not depend on the ends of batches. */
static void cut_text(struct text_end *end, struct out *out)
{
	uint64_t left = end->max - end->len;
	const char *newline;

	if (!end->max)
		return;
	end->cut = end->cut || out_len(out) > left;
	if (!end->cut) {
		end->len += out_len(out);
		return;
	}
	newline = memrchr(out->start, '\n', left < out_len(out) ? (size_t)left : out_len(out));
	out->at = newline ? out->start + (newline + 1 - out->start) : out->start;
	end->len = end->max;
}

static void skip_text(struct text_end *end, struct out *out)
{
	size_t len = out_len(out), skip = end->skip < len ? (size_t)end->skip : len;

	if (!skip || out->failed)
		return;
	memmove(out->start, out->start + skip, len - skip);
	out->at -= skip;
	end->skip -= skip;
}

int text_end_put(struct text_end *end, struct out *out, struct fail *fail)
{
	int r;

	cut_text(end, out);
	skip_text(end, out);
	end->written += out_len(out);
	r = end->escaped ? flush_escaped(end, out) : out_flush(out, end->fd);
	if (r < 0)
		return fail_set(fail, r, FAIL_WRITE_OUT "%s", strerror(-r));
	if (end->cut)
		return fail_set(fail, -EFBIG,
				"the text is longer than %" PRIu64
				" MB, more than any real recording of this size gives; --trust-size prints all of it",
				end->max >> 20);
	return 0;
}
