// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/formats.h"

#include "formats/sink.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/event/context.h"
#include "lib/plugin/plugins.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct sink_ops *format_named(const char *name, struct argp_state *state)
{
	const struct sink_ops *format = sink_find(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	if (format)
		return format;
	for (size_t i = 0; sink_at(i); i++)
		near_offer(&near, sink_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "no format '%s'", name);
	argp_error(state, "%s; 'weft list formats' shows them all", fail.text);
	return NULL;
}

/* The machine of `uname -a`: the word before the last, which is the operating system. */
static void machine_of(struct trace *trace, char *ret, size_t size)
{
	struct trace_text uname = { 0 };
	size_t end, start;

	*ret = 0;
	if (trace_meta(trace, TRACE_UNAME, &uname, NULL) < 0 || !uname.text)
		return;
	for (end = uname.len; end && strchr("\n ", uname.text[end - 1]); end--)
		;
	for (start = end; start && uname.text[start - 1] != ' '; start--)
		;
	if (end - start == strlen("GNU/Linux") && !memcmp(uname.text + start, "GNU/Linux", end - start)) {
		end = start ? start - 1 : 0;
		for (start = end; start && uname.text[start - 1] != ' '; start--)
			;
	}
	snprintf(ret, size, "%.*s", (int)(end - start), uname.text + start);
}

int format_plugins(struct context *context, const char *dir, struct plugins **ret, struct fail *fail)
{
	char machine[64];

	machine_of(context->trace, machine, sizeof(machine));
	return plugins_new(dir ? dir : WEFT_LIBDIR "/plugins", machine, &context->abi, ret, fail);
}
