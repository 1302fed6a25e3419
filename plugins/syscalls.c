// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel prints arguments of system calls as hexadecimal numbers, and so the result; this names flags, operations
 * and errors.
 */
#include "include/weft/plugin.h"
#include "plugins/errors.h"

enum { RET };

static const char *const no_fields[] = { NULL };
static const char *const fields[] = { "ret", NULL };
static const char *const enter_facts[] = { "*", NULL };
static const char *const exit_facts[] = { "error", NULL };

static void format_enter(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	if (WEFT_HOST_HAS(host, put_arguments))
		host->put_arguments(record, output);
}

static void format_exit(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_error(host, record, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "sys_enter_*", no_fields, format_enter, enter_facts },
	{ "sys_exit_*", fields, format_exit, exit_facts },
};

WEFT_PLUGIN("syscalls", handlers);
