// SPDX-License-Identifier: GPL-2.0-only
#include "lib/tally/tally_calls.h"

#include "lib/base/cleanup.h"
#include "lib/event/context.h"
#include "lib/uapi/names.h"

#include <stdio.h>
#include <string.h>

/* Calls in fs/ and kernel/ whose SYSCALL_DEFINE has a name other than the one in unistd.h. */
static const char *defined_as(const char *name)
{
	static const char *const names[][2] = {
		{ "stat", "newstat" },        { "lstat", "newlstat" }, { "fstat", "newfstat" },
		{ "fstatat", "newfstatat" },  { "uname", "newuname" }, { "umount2", "umount" },
		{ "sendfile", "sendfile64" },
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return name;
}

const char *tally_call_name(const struct context *context, uint64_t number, char into[TALLY_CALL_SIZE])
{
	/* The kernel's function takes an int. */
	const char *name = system_call_name(context->machine, (int32_t)number);

	if (!name)
		return "unknown_syscall";
	snprintf(into, TALLY_CALL_SIZE, "sys_%s", defined_as(name));
	return into;
}
