// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tally/hist_bar_internal.h"

#include "lib/base/out.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"

#include <string.h>

/* U+2588 is a full column. Each of the seven characters after it is an eighth narrower. */
enum { EIGHTHS = 8, FULL_BLOCK = 0x88 };

static size_t put_block(char *at, size_t eighths)
{
	if (!eighths)
		return 0;
	memcpy(at, "\xe2\x96", 2);
	at[2] = (char)(FULL_BLOCK + EIGHTHS - eighths);
	return 3;
}

void hist_bar(const struct hist_bars *bars, uint64_t value, uint64_t max, char into[HIST_BAR_SIZE])
{
	size_t steps = bars->blocks ? EIGHTHS : 1, all = bars->width * steps,
	       len = max ? (size_t)((double)value / (double)max * (double)all + 0.5) : 0;
	size_t at = 0;

	if (len > all)
		len = all;
	/* A value above 0 has a visible bar. */
	if (!len && value)
		len = 1;
	if (!bars->blocks) {
		memset(into, '#', len);
		into[len] = '\0';
		return;
	}
	for (; len >= EIGHTHS; len -= EIGHTHS)
		at += put_block(into + at, EIGHTHS);
	at += put_block(into + at, len);
	into[at] = '\0';
}

bool hist_bars_shorten(struct hist_bars *bars, const struct out *text)
{
	size_t longest = 0, left = out_len(text), width;
	const char *at = text->start;
	struct text_word line;

	while (text_next_line(&at, &left, &line)) {
		size_t columns = utf8_columns(line.at, line.len);

		longest = columns > longest ? columns : longest;
	}
	if (!bars->room || longest <= bars->room || bars->width <= HIST_BAR_LEAST)
		return false;
	width = longest - bars->room < bars->width ? bars->width - (longest - bars->room) : 0;
	bars->width = width > HIST_BAR_LEAST ? width : HIST_BAR_LEAST;
	return true;
}
