// SPDX-License-Identifier: GPL-2.0-only
/* How setting a lock of a file ended: the kernel prints its error as a number. */
#include "include/weft/plugin.h"
#include "plugins/errors.h"

enum { RET };

static const char *const fields[] = { "ret", NULL };
static const char *const facts[] = { "error", NULL };

static void format_lock(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_error(host, record, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "*", fields, format_lock, facts },
};

WEFT_PLUGIN("filelock", handlers);
