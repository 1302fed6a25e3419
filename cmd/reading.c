// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading.h"

#include "cmd/command.h"
#include "cmd/paste.h"
#include "lib/record/parts.h"
#include "lib/trace/trace.h"

#include <string.h>

int reading_open(const char *input, bool sandbox, struct trace **ret, struct fail *fail)
{
	struct trace *trace;
	int r = trace_new(input, &trace, fail);

	return r ? r : reading_load(trace, sandbox, ret, fail);
}

int reading_load(struct trace *trace, bool sandbox, struct trace **ret, struct fail *fail)
{
	int r = 0;

	if (sandbox)
		r = trace_sandbox(trace, fail);
	if (!r)
		r = trace_load(trace, fail);
	if (r) {
		trace_free(trace);
		return r;
	}
	*ret = trace;
	return 0;
}

void reading_tell_left_behind(const char *input)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	cleanup_free char *path = NULL;

	if (strcmp(input, "-") && parts_left_behind(input, &path))
		command_warn("note: '%s' is left of a recording that was killed; 'weft recover %s' makes a file of it",
			     path, paste_file(&pasted, path));
}
