// SPDX-License-Identifier: GPL-2.0-only
/* The kernel prints the result of a system call as a hexadecimal number; this names the error that it may be. */
#include "lib/plugin/plugin.h"
#include "plugins/errors.h"

enum { RET };

static const char *const fields[] = { "ret", NULL };

static void format_exit(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_error(host, record, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "sys_exit_*", fields, format_exit },
};

WEFT_PLUGIN("syscalls", handlers);
