// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/json.h"

#include "lib/base/out.h"

#include <stdint.h>
#include <string.h>

/* How many bytes the UTF-8 character here has; 0 when there is none. */
static size_t utf8_len(const uint8_t *at, size_t left)
{
	/* The second byte's range keeps out overlong forms, surrogates, and what is beyond U+10FFFF. */
	uint8_t low = 0x80, high = 0xbf;
	size_t len;

	if (*at >= 0xc2 && *at <= 0xdf)
		len = 2;
	else if (*at >= 0xe0 && *at <= 0xef)
		len = 3;
	else if (*at >= 0xf0 && *at <= 0xf4)
		len = 4;
	else
		return 0;
	if (*at == 0xe0)
		low = 0xa0;
	else if (*at == 0xed)
		high = 0x9f;
	else if (*at == 0xf0)
		low = 0x90;
	else if (*at == 0xf4)
		high = 0x8f;
	if (len > left || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static void put_escape(struct out *out, uint8_t c)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (size_t i = 0; letters[i]; i += 2) {
		if ((uint8_t)letters[i] == c) {
			out_char(out, '\\');
			out_char(out, letters[i + 1]);
			return;
		}
	}
	out_mem(out, "\\u", 2);
	out_hex_pad(out, c, 4, '0');
}

void json_string(struct out *out, const void *bytes, size_t len)
{
	const uint8_t *at = bytes, *end = at + len, *plain = at;

	out_char(out, '"');
	while (at < end) {
		size_t size = 1;

		if (*at >= 0x80)
			size = utf8_len(at, (size_t)(end - at));
		if (size && *at >= ' ' && *at != '"' && *at != '\\') {
			at += size;
			continue;
		}
		out_mem(out, plain, (size_t)(at - plain));
		if (size)
			put_escape(out, *at);
		else
			out_mem(out, "\\ufffd", 6);
		plain = ++at;
	}
	out_mem(out, plain, (size_t)(at - plain));
	out_char(out, '"');
}

void json_text(struct out *out, const char *text)
{
	json_string(out, text, strlen(text));
}
