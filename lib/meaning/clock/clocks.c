// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/clocks.h"

#include <string.h>

#include "lib/ground/base/cleanup.h"

/* clang-format off */
static const struct clock_kind kinds[] = {
	{ "local",    CLOCK_COUNTS_NS,      false, 0,                   false, false, 0 },
	{ "global",   CLOCK_COUNTS_NS,      false, 0,                   false, false, 0 },
	{ "counter",  CLOCK_COUNTS_EVENTS,  false, 0,                   false, false, 0 },
	{ "uptime",   CLOCK_COUNTS_JIFFIES, false, 0,                   false, false, 0 },
	{ "perf",     CLOCK_COUNTS_NS,      false, 0,                   false, false, 10 },
	{ "mono",     CLOCK_COUNTS_NS,      true,  CLOCK_MONOTONIC,     true,  false, 3 },
	{ "mono_raw", CLOCK_COUNTS_NS,      true,  CLOCK_MONOTONIC_RAW, false, false, 5 },
	{ "boot",     CLOCK_COUNTS_NS,      true,  CLOCK_BOOTTIME,      true,  true,  0 },
	{ "tai",      CLOCK_COUNTS_NS,      true,  CLOCK_TAI,           true,  true,  0 },
	/* that of a log that is imported; no trace clock of the kernel */
	{ "realtime", CLOCK_COUNTS_NS,      false, 0,                   true,  false, 0 },
	{ "x86-tsc",  CLOCK_COUNTS_CYCLES,  false, 0,                   false, false, 0 },
	{ "ppc-tb",   CLOCK_COUNTS_CYCLES,  false, 0,                   false, false, 0 },
	{ "s390-tod", CLOCK_COUNTS_CYCLES,  false, 0,                   false, false, 0 },
};
/* clang-format on */

const struct clock_kind *clock_kind(const char *name)
{
	static const struct clock_kind unknown = { .name = "", .counts = CLOCK_COUNTS_NS };

	for (size_t i = 0; name && i < array_size(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return &unknown;
}

const char *clock_read_as(clockid_t id)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (kinds[i].is_read && kinds[i].id == id)
			return kinds[i].name;
	return NULL;
}
