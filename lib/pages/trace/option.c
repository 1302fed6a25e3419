// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/trace/internal.h"

/* Copies a string option, with or without its NUL. The last one of its kind counts. */
static int set_text(char **at, struct bytes data, struct fail *fail)
{
	char *text = strndup((const char *)data.at, data.left);

	if (!text)
		return fail_memory(fail);
	free(*at);
	*at = text;
	return 0;
}

/* A number in text: "0x..." or decimal. */
static int64_t text_number(struct bytes data)
{
	char text[32] = "";

	memcpy(text, data.at, data.left < sizeof(text) - 1 ? data.left : sizeof(text) - 1);
	return strtoll(text, NULL, 0);
}

static int add_cpustat(struct trace *trace, struct bytes data, struct fail *fail)
{
	size_t len = strnlen((const char *)data.at, data.left);

	if (trace->cpustat.len > TRACE_TEXT_MAX / 4)
		return 0;
	return buf_add(&trace->cpustat, data.at, len) ? 0 : fail_memory(fail);
}

/* Payloads that are too short are ignored, as other readers do. */
int option_apply(struct trace *trace, unsigned id, struct bytes data, struct fail *fail)
{
	struct trace_info *info = &trace->info;
	uint64_t number;
	uint32_t count;
	int64_t date;

	switch (id) {
	case OPTION_DATE:
		if (!data.left || __builtin_mul_overflow(text_number(data), (int64_t)1000, &date))
			return 0;
		info->has_date = true;
		info->date_offset_ns = date;
		return 0;
	case OPTION_CPUSTAT:
		return add_cpustat(trace, data, fail);
	case OPTION_TRACECLOCK:
		return data.left ? set_text(&trace->clock, data, fail) : 0;
	case OPTION_UNAME:
		return set_text(&trace->uname, data, fail);
	case OPTION_OFFSET:
		info->ts_offset = text_number(data);
		return 0;
	case OPTION_CPUCOUNT:
		if (bytes_u32(&data, &count) && count <= TRACE_CPUS_MAX)
			info->cpu_count = count;
		return 0;
	case OPTION_VERSION:
		return set_text(&trace->version, data, fail);
	case OPTION_TRACEID:
		if (bytes_u64(&data, &number))
			info->trace_id = number;
		return 0;
	case OPTION_TSC2NSEC:
		info->has_tsc2nsec = bytes_u32(&data, &info->tsc_mult) && bytes_u32(&data, &info->tsc_shift) &&
				     bytes_u64(&data, &info->tsc_offset) && info->tsc_shift < 64;
		return 0;
	default:
		return 0;
	}
}
