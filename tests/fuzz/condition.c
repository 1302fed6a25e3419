// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a text of --when, a NUL, then a line of trace_pipe. What is accepted has a name that can be a part of a file's
 * name; what is refused has a message.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/trigger_hit_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look_at_line(const char *line, size_t len)
{
	struct watch_hit hit = { .time = 0 };
	uint64_t time;

	(void)!watch_line_time(line, len, &time);
	watch_reason(&hit, line, len);
	if (strchr(hit.reason, '\n') || strlen(hit.reason) >= sizeof(hit.reason))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t text_len = strnlen((const char *)data, len);
	char *text = strndup((const char *)data, text_len);
	struct condition condition;
	struct fail fail = FAIL_INIT;

	if (!text)
		return 0;
	if (condition_parse(text, &condition, &fail)) {
		if (!*fail.text)
			__builtin_trap();
	} else {
		if (!*condition.name || strpbrk(condition.name, "/. \n") || strlen(condition.name) >= CONDITION_NAME)
			__builtin_trap();
		condition_release(&condition);
	}
	if (text_len < len)
		look_at_line((const char *)data + text_len + 1, len - text_len - 1);
	free(text);
	return 0;
}
