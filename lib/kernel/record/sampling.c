// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/sampling.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/xxh64.h"
#include "lib/kernel/tracefs/tracing.h"

enum { HOUR_S = 3600 };

bool sampling_takes(const char *host, int64_t unix_s, uint32_t of)
{
	char text[128];
	/* Rounded down also before 1970. */
	int64_t hour = unix_s / HOUR_S - (unix_s % HOUR_S < 0);
	int len = snprintf(text, sizeof(text), "%.64s %" PRId64, host, hour);

	return xxh64(text, (size_t)len) % of == 0;
}

int sampling_pressure_of(const char *text)
{
	unsigned percent;

	return sscanf(text, "some avg10=%3u", &percent) == 1 && percent <= 100 ? (int)percent : -1;
}

bool sampling_pressure(const char **ret_resource, int *ret_percent)
{
	static const char *const resources[] = { "cpu", "memory", "io" };
	bool known = false;

	for (size_t i = 0; i < array_size(resources); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		char path[32];
		int percent;

		snprintf(path, sizeof(path), "/proc/pressure/%s", resources[i]);
		percent = tracing_read_path(path, &text, NULL) ? -1 : sampling_pressure_of(buf_str(&text));
		if (percent < 0 || (known && percent <= *ret_percent))
			continue;
		known = true;
		*ret_resource = resources[i];
		*ret_percent = percent;
	}
	return known;
}
