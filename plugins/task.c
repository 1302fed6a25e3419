// SPDX-License-Identifier: GPL-2.0-only
/* The kernel prints the flags of clone(2) as a hexadecimal number. */
#include "include/weft/plugin.h"

enum { FLAGS };

static const char *const fields[] = { "clone_flags", NULL };
static const char *const facts[] = { "clone_flags", NULL };

static void format_newtask(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	char text[512];
	size_t len = 0;

	if (host->integer(record, FLAGS, 0) && WEFT_HOST_HAS(host, argument))
		len = host->argument(record, "clone", "clone_flags", host->integer(record, FLAGS, 0), text,
				     sizeof(text));
	if (len)
		host->put_text(output, "clone_flags", text, len);
}

static const struct weft_handler handlers[] = {
	{ "task_newtask", fields, format_newtask, facts },
};

WEFT_PLUGIN("task", handlers);
