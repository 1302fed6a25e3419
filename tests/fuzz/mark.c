// SPDX-License-Identifier: GPL-2.0-only
/* Input: a text that may be a mark. Its parts lie in the text, and what is written of it is the same mark. */
#include "lib/meaning/event/mark.h"

#include <string.h>

#include "lib/ground/base/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool lies_in(const char *part, size_t part_len, const char *text, size_t len)
{
	return !part || (part >= text && part <= text + len && part_len <= (size_t)(text + len - part));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct mark mark, again;
	struct out out;

	if (!mark_parse(&mark, text, len) || !out_init(&out, 64))
		return 0;
	if (!lies_in(mark.name, mark.name_len, text, len) || !lies_in(mark.track, mark.track_len, text, len))
		__builtin_trap();
	mark_put(&mark, &out);
	if (!mark_parse(&again, out.start, out_len(&out)) || again.kind != mark.kind || again.tgid != mark.tgid ||
	    again.number != mark.number || again.track_len != mark.track_len)
		__builtin_trap();
	out_release(&out);
	return 0;
}
