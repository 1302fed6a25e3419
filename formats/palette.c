// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/palette.h"

#include "lib/ground/base/escape.h"
#include "lib/ground/base/out.h"

enum { SLOW_NS = 1000000, VERY_SLOW_NS = 10 * SLOW_NS };

const char *palette_task(int32_t pid)
{
	static const char *const colors[] = { COLOR_GREEN, COLOR_CYAN, COLOR_YELLOW, COLOR_BLUE, COLOR_MAGENTA };

	return pid ? colors[(uint32_t)pid % (sizeof(colors) / sizeof(colors[0]))] : COLOR_DIM;
}

const char *palette_duration(uint64_t ns)
{
	if (ns < SLOW_NS)
		return COLOR_DIM;
	return ns < VERY_SLOW_NS ? COLOR_YELLOW : COLOR_RED;
}

void palette_put(const char *color, const char *text, size_t len, struct out *out)
{
	struct escape escape = { .len = 0 };

	out_str(out, color);
	escape_text(&escape, text, len, out);
	escape_end(&escape, out);
	if (*color)
		out_str(out, COLOR_NONE);
}
