// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/trigger_hit_internal.h"

#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"

void watch_reason(struct watch_hit *hit, const char *text, size_t len)
{
	size_t nr = 0;

	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	for (; nr < len && nr < sizeof(hit->reason) - 1 && text[nr] != '\n'; nr++)
		hit->reason[nr] = (unsigned char)text[nr] < ' ' ? ' ' : text[nr];
	hit->reason[nr] = '\0';
}

bool watch_line_time(const char *line, size_t len, uint64_t *ret)
{
	for (size_t i = 0; i + 2 < len; i++) {
		uint64_t s = 0, us = 0;
		size_t at = i + 2, digits = 0;

		if (line[i] != ']' || line[i + 1] != ' ')
			continue;
		while (at < len && !text_is_blank(line[at]))
			at++;
		while (at < len && text_is_blank(line[at]))
			at++;
		for (; at < len && line[at] >= '0' && line[at] <= '9' && s < UINT32_MAX; at++, digits++)
			s = s * 10 + (uint64_t)(line[at] - '0');
		if (!digits || at + 7 >= len || line[at] != '.' || line[at + 7] != ':')
			continue;
		for (digits = 1; digits <= 6 && line[at + digits] >= '0' && line[at + digits] <= '9'; digits++)
			us = us * 10 + (uint64_t)(line[at + digits] - '0');
		if (digits <= 6)
			continue;
		*ret = s * NS_PER_S + us * 1000;
		return true;
	}
	return false;
}
