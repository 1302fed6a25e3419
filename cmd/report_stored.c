// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/report_stored.h"

#include "cmd/command.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t len = strlen(name), tail = strlen(with);

	return len >= tail && !strcmp(name + len - tail, with);
}

/* Returns whether `name` is the setting that the user means by `asked`. */
static bool is_meant(const char *asked, const char *name)
{
	if (!strcmp(asked, "hist"))
		return begins(name, "events/") && ends(name, "/hist");
	if (!strcmp(asked, "stack"))
		return !strcmp(name, "stack_trace");
	if (!strcmp(asked, "stat"))
		return begins(name, "trace_stat/");
	return !strcmp(asked, name);
}

static int nothing(struct trace *trace, const char *asked, struct fail *fail)
{
	struct near near = near_to(asked);
	struct trace_text text;
	const char *name;
	size_t buffer;

	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++)
		near_offer(&near, name);
	return near_fail(&near, fail, -ENOENT,
			 "'%s' contains no saved text '%s'; 'weft info --settings' lists those it contains",
			 trace_path(trace), asked);
}

int report_stored(struct trace *trace, const char *instance, const char *asked, struct fail *fail)
{
	struct trace_text text;
	bool found = false;
	const char *name;
	size_t buffer;
	int err = 0;

	for (size_t i = 0; !err && trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		if (!is_meant(asked, name))
			continue;
		if (instance &&
		    (buffer >= trace_buffers(trace) || strcmp(trace_buffer(trace, buffer)->name.text, instance)))
			continue;
		found = true;
		err = command_write(text.text, text.len, fail);
	}
	if (!found)
		return nothing(trace, asked, fail);
	return err ? err : command_flush(fail);
}
