// SPDX-License-Identifier: GPL-2.0-only
/*
 * raw_syscalls:sys_enter and sys_exit tell a system call by its number, and its result as a number. This names both.
 * Not known to the event: whether a task called by the 32-bit table of a 64-bit kernel; its calls get the 64-bit name.
 */
#include "lib/plugin/plugin.h"
#include "plugins/errors.h"
#include "plugins/syscall_names.h"

#include <string.h>

enum { ID, RET };

static const char *const enter_fields[] = { "id", NULL };
static const char *const exit_fields[] = { "id", "ret", NULL };

static const struct {
	const char *machine;
	const char *const *names;
	size_t count;
} machines[] = {
	{ "x86_64", x86_64_names, sizeof(x86_64_names) / sizeof(x86_64_names[0]) },
	{ "aarch64", generic_names, sizeof(generic_names) / sizeof(generic_names[0]) },
	{ "riscv64", generic_names, sizeof(generic_names) / sizeof(generic_names[0]) },
	{ "loongarch64", generic_names, sizeof(generic_names) / sizeof(generic_names[0]) },
};

static void put_syscall(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	const char *machine = host->machine(record);
	uint64_t id = host->integer(record, ID, 0);

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machine, machines[i].machine))
			continue;
		if (id < machines[i].count && machines[i].names[id])
			host->put_text(output, "syscall", machines[i].names[id], strlen(machines[i].names[id]));
	}
}

static void format_enter(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_syscall(host, record, output);
}

static void format_exit(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_syscall(host, record, output);
	put_error(host, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "sys_enter", enter_fields, format_enter },
	{ "sys_exit", exit_fields, format_exit },
};

WEFT_PLUGIN("raw_syscalls", handlers);
