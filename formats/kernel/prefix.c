// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/kernel/prefix.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"

void prefix_put(const char *prefix, struct out *text, struct out *out)
{
	const char *at = text->start, *end = text->at;
	size_t prefix_len = strlen(prefix);

	out->failed |= text->failed;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;

		out_mem(out, prefix, prefix_len);
		out_mem(out, at, (size_t)(next - at));
		at = next;
	}
	out_clear(text);
}

char *prefix_of(const char *instance, int width)
{
	char *prefix = NULL;

	return asprintf(&prefix, "%*s%c ", width, instance, *instance ? ':' : ' ') < 0 ? NULL : prefix;
}
