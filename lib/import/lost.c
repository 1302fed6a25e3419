// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/lost_internal.h"

#include "lib/import/head_internal.h"
#include "lib/ring/page.h"

#include <stdio.h>
#include <string.h>

bool lost_parse(const char *line, size_t len, uint32_t *ret_cpu, int64_t *ret_count)
{
	char text[64] = "";
	unsigned cpu;
	unsigned long long count = 0;
	int lost = 0, dropped = 0, unknown = 0, unknown_dropped = 0;

	while (len && *line == ' ') {
		line++;
		len--;
	}
	if (len < 4 || memcmp(line, "CPU:", 4))
		return false;
	memcpy(text, line, len < sizeof(text) - 1 ? len : sizeof(text) - 1);
	if ((sscanf(text, "CPU:%5u [LOST %18llu EVENTS]%n", &cpu, &count, &lost) != 2 || !lost) &&
	    (sscanf(text, "CPU:%5u [%18llu EVENTS DROPPED]%n", &cpu, &count, &dropped) != 2 || !dropped) &&
	    (sscanf(text, "CPU:%5u [LOST EVENTS]%n", &cpu, &unknown) != 1 || !unknown) &&
	    (sscanf(text, "CPU:%5u [EVENTS DROPPED]%n", &cpu, &unknown_dropped) != 1 || !unknown_dropped))
		return false;
	if (cpu >= HEAD_CPU_MAX)
		return false;
	*ret_cpu = cpu;
	*ret_count = lost || dropped ? (int64_t)count : (int64_t)PAGE_LOST_UNKNOWN;
	return true;
}
