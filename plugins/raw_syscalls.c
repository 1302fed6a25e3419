// SPDX-License-Identifier: GPL-2.0-only
/*
 * raw_syscalls:sys_enter and sys_exit tell a system call by its number, and its result as a number. This names both.
 * The event does not tell whether a task called by the 32-bit table of a 64-bit kernel (but on mips and for x32): its
 * calls get the 64-bit name.
 */
#include <string.h>

#include "include/weft/plugin.h"
#include "plugins/errors.h"

enum { ID, RET };

static const char *const enter_fields[] = { "id", NULL };
static const char *const exit_fields[] = { "id", "ret", NULL };
static const char *const enter_facts[] = { "syscall", NULL };
static const char *const exit_facts[] = { "syscall", "error", NULL };

static void put_syscall(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	const char *name = NULL;

	if (WEFT_HOST_HAS(host, system_call))
		name = host->system_call(record, (int64_t)host->integer(record, ID, 0));
	if (name)
		host->put_text(output, "syscall", name, strlen(name));
}

static void format_enter(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_syscall(host, record, output);
}

static void format_exit(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_syscall(host, record, output);
	put_error(host, record, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "sys_enter", enter_fields, format_enter, enter_facts },
	{ "sys_exit", exit_fields, format_exit, exit_facts },
};

WEFT_PLUGIN("raw_syscalls", handlers);
