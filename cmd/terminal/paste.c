// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/paste.h"

#include "lib/kernel/tracefs/plan.h"

static bool add_file(struct buf *into, const char *path)
{
	return (*path != '-' || buf_add_str(into, "./")) && plan_quote(into, path);
}

const char *paste_file(struct buf *into, const char *path)
{
	return add_file(into, path) ? buf_str(into) : path;
}

const char *paste_recording(struct buf *into, const char *instance, const char *path)
{
	if (instance && (!buf_add_str(into, "-B ") || !plan_quote(into, instance) || !buf_add_str(into, " ")))
		return NULL;
	return add_file(into, path) ? buf_str(into) : NULL;
}
