// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known about a call by its number: its name, also in the 32-bit table, and what it does. */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/meaning/uapi/descriptors.h"
#include "lib/meaning/uapi/names.h"

static const char *other_machine(const char *machine)
{
	/* ppc64le has no 32-bit table, and on mips the numbers themselves show the table. */
	static const struct {
		const char *wide, *narrow;
	} pairs[] = {
		{ "x86_64", "i686" },     { "aarch64", "armv7l" }, { "s390x", "s390" },      { "ppc64", "ppc" },
		{ "riscv64", "riscv32" }, { "sparc64", "sparc" },  { "parisc64", "parisc" },
	};

	for (size_t i = 0; i < array_size(pairs); i++)
		if (!strcmp(machine, pairs[i].wide))
			return pairs[i].narrow;
	return NULL;
}

const char *syscalls_table32_name(const struct syscalls_analysis *syscalls, int64_t number)
{
	const char *other = other_machine(syscalls->pass->machine);

	return other ? system_call_name(other, number & ~SYSCALLS_TABLE32) : NULL;
}

bool syscalls_is_exec(const char *name)
{
	return name && !strncmp(name, "execve", strlen("execve"));
}

const struct call_kind *syscalls_new_kind(struct syscalls_analysis *syscalls, int64_t number, const char *name)
{
	struct call_kind *kind = (uint64_t)number < SYSCALLS_NEAR ? &syscalls->near_kinds[number] :
								    u64_map_add(&syscalls->kinds, (uint64_t)number);

	if (!kind) {
		syscalls->pass->failed = true;
		return NULL;
	}
	if (!kind->looked_up || (name && !kind->name)) {
		kind->looked_up = true;
		kind->name = name ? name :
			     number & SYSCALLS_TABLE32 && number > 0 ?
				    syscalls_table32_name(syscalls, number) :
				    system_call_name(syscalls->pass->machine, number);
		kind->restores = kind->name && system_call_restores(kind->name);
		kind->is_exec = syscalls_is_exec(kind->name);
		kind->ends = kind->name && (!strcmp(kind->name, "exit") || !strcmp(kind->name, "exit_group"));
		kind->takes = kind->name && descriptor_is_first(kind->name);
		kind->returns = kind->name && descriptor_is_result(kind->name);
		syscalls->uring |= kind->name && !strcmp(kind->name, "io_uring_enter");
		kind->moves = kind->name && descriptor_moves_bytes(kind->name);
	}
	return kind;
}

const char *syscalls_name(struct syscalls_analysis *syscalls, int64_t number, char into[SYSCALLS_NAME])
{
	const struct call_kind *kind = syscalls_kind(syscalls, number, NULL);
	bool table32 = number > 0 && number & SYSCALLS_TABLE32;

	if (kind && kind->name && !table32)
		return kind->name;
	if (kind && kind->name)
		snprintf(into, SYSCALLS_NAME, "%.37s (32-bit)", kind->name);
	else
		snprintf(into, SYSCALLS_NAME, "syscall_%" PRId64 "%s", table32 ? number & ~SYSCALLS_TABLE32 : number,
			 table32 ? " (32-bit)" : "");
	return into;
}
