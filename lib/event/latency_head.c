// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/latency_head.h"

#include <stdbool.h>
#include <string.h>

/* True where the line begins so; what follows, up to the mark where there is one, is copied if it fits. */
static bool take_after(const char *line, size_t len, const char *start, const char *mark, char *ret, size_t size)
{
	size_t skip = strlen(start);
	const char *end;

	if (len < skip || memcmp(line, start, skip))
		return false;
	line += skip;
	len -= skip;
	end = mark ? memmem(line, len, mark, strlen(mark)) : line + len;
	if (end && (size_t)(end - line) < size) {
		memcpy(ret, line, (size_t)(end - line));
		ret[end - line] = '\0';
	}
	return true;
}

void latency_head_take(struct latency_head *head, const char *line, size_t len)
{
	if (take_after(line, len, "# latency: ", " us, ", head->latency, sizeof(head->latency)) ||
	    take_after(line, len, "#    | task: ", NULL, head->task, sizeof(head->task)) ||
	    take_after(line, len, "#  => started at: ", NULL, head->started, sizeof(head->started)))
		return;
	(void)take_after(line, len, "#  => ended at:   ", NULL, head->ended, sizeof(head->ended));
}
