// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/own_formats.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/meaning/event/event.h"
#include "lib/pages/trace/trace.h"

int own_formats_init(struct own_formats *own, const char *text, struct fail *fail)
{
	uint32_t id;

	own->bits = NULL;
	if (!text)
		return 0;
	own->bits = calloc(EVENT_TYPES_MAX / 64, sizeof(*own->bits));
	if (!own->bits)
		return fail_memory(fail);
	while (*text)
		if (!number_u32(&text, &id))
			text++;
		else if (id < EVENT_TYPES_MAX)
			own->bits[id / 64] |= 1ull << id % 64;
	return 0;
}

void own_formats_release(struct own_formats *own)
{
	free(own->bits);
	own->bits = NULL;
}

bool own_formats_have(const struct own_formats *own, const char *text)
{
	const char *at, *end;
	uint32_t id;

	return !own->bits || (own_formats_id(text, &at, &end, &id) && own->bits[id / 64] >> id % 64 & 1);
}

bool own_formats_id(const char *text, const char **ret_at, const char **ret_end, uint32_t *ret)
{
	const char *at = strstr(text, "\nID: ");

	if (!at)
		return false;
	at += 5;
	*ret_at = *ret_end = at;
	return number_u32(ret_end, ret) && *ret < EVENT_TYPES_MAX;
}

struct trace_text own_kernel(const struct trace *trace, size_t buffer, struct trace_text uname)
{
	struct trace_text own = trace_setting(trace, buffer, "weft/kernel");

	return own.text ? own : uname;
}

static bool is_same(const struct trace *trace, size_t one, size_t other, const char *name)
{
	struct trace_text text = trace_setting(trace, one, name), of_other = trace_setting(trace, other, name);

	return text.text && of_other.text && text.len == of_other.len && !memcmp(text.text, of_other.text, text.len);
}

size_t own_first(const struct trace *trace, size_t buffer)
{
	if (!trace_setting(trace, buffer, "weft/kernel").text)
		return 0;
	/* A log that stands in the recording has its name, and formats of its own. */
	for (size_t i = 0; i < buffer; i++)
		if (is_same(trace, i, buffer, "weft/recording") && is_same(trace, i, buffer, "weft/formats"))
			return i;
	return buffer;
}

struct trace_text own_setting(const struct trace *trace, size_t buffer, const char *name)
{
	struct trace_text own = trace_setting(trace, buffer, "weft/kernel").text ? trace_setting(trace, buffer, name) :
										   (struct trace_text){ .text = NULL };

	return own.text ? own : trace_setting(trace, own_first(trace, buffer), name);
}
