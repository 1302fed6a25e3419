// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/term/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The decoder takes every byte of any input, also when it comes in pieces of a size that the first byte chooses. */
static void decode(const uint8_t *data, size_t len)
{
	size_t piece = len ? data[0] % 16 + 1 : 1, have = 0, at = 0;
	struct key_state state = { .pasting = false };
	struct key key;

	while (at < len) {
		bool ended = have == len - at;
		size_t used = key_decode(&state, data + at, have, ended, &key);

		if (used > have || (!used && ended))
			abort();
		at += used;
		have -= used;
		if (!used)
			have = have + piece < len - at ? have + piece : len - at;
	}
}

/* Any text stays inside its frame, and what is drawn has no control character of the text. */
static void draw(const uint8_t *data, size_t len)
{
	struct frame frame, shown = { .cells = NULL };
	struct out out;

	if (len < 4 || !frame_init(&frame, data[0] % 64 + 1, data[1] % 8 + 1))
		return;
	frame_put_from(&frame, data[2] % 80, data[3] % 10, data[1], (struct pen){ .fg = data[2] }, data[3] % 5,
		       (const char *)data + 4, len - 4);
	if (out_init(&out, 256)) {
		frame_draw(&shown, &frame, data[0] % 4, false, &out);
		if (!out.failed && (memchr(out.start, 7, out_len(&out)) || memchr(out.start, '\r', out_len(&out))))
			abort();
		out_release(&out);
	}
	frame_release(&frame);
	frame_release(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	decode(data, len);
	draw(data, len);
	return 0;
}
