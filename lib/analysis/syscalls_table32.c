// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/syscalls_internal.h"

#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/uapi/names.h"

#include <string.h>

/*
 * 32-bit tasks of a 64-bit kernel have numbers of their own for system calls, and nothing in an event says so. But some
 * numbers are calls only there, and the C library makes one or the other when it starts (rseq, getrandom, arch_prctl):
 * a task that calls one, and is not told that there is no such call, is a 32-bit task; calls until then keep the names
 * of the kernel's own table. A task is none any more when it executes a program, or passes what does not fit into 32
 * bits; a new task is what its parent is. On x86_64 an execve returns by the number of the table of the new program
 * (set_personality_ia32() and _64bit() of arch/x86/kernel/process_64.c), which tells it from the first call on.
 */
static const char *other_machine(const char *machine)
{
	/* ppc64le has none, and numbers of mips tell by themselves. */
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

const char *syscalls_table32_name(const struct analysis *syscalls, int64_t number)
{
	const char *other = other_machine(syscalls->pass->machine);

	return other ? system_call_name(other, number & ~SYSCALLS_TABLE32) : NULL;
}

static bool is_no_call(const struct analysis *syscalls, int64_t returned)
{
	const char *error = returned < 0 ? error_name(syscalls->pass->machine, -returned) : NULL;

	return error && !strcmp(error, "ENOSYS");
}

static bool is_wide(const struct analysis *syscalls, const struct event *event)
{
	uint64_t value;

	for (size_t i = 0; place_element(&syscalls->raw_args, event, i, &value); i++)
		if (value > UINT32_MAX)
			return true;
	return false;
}

int64_t syscalls_table32_enter(struct analysis *syscalls, const struct event *event, struct open_call *call,
			       int64_t number)
{
	const struct call_kind *kind;

	call->proves = false;
	if (number < 0 || number >= SYSCALLS_TABLE32)
		return number;
	kind = syscalls_kind(syscalls, number, NULL);
	if (!call->table32 && kind && !kind->name)
		call->table32 = call->proves = syscalls_table32_name(syscalls, number);
	if (call->table32 && is_wide(syscalls, event))
		call->table32 = call->proves = false;
	return call->table32 ? number | SYSCALLS_TABLE32 : number;
}

static bool is_exec(const char *name)
{
	return name && !strncmp(name, "execve", strlen("execve"));
}

/* What a call that has executed a program tells of it; true where it returned by the number of the other table. */
static bool see_exec(struct analysis *syscalls, struct open_call *call, int64_t number)
{
	const char *machine = syscalls->pass->machine;
	bool same = (call->number & ~SYSCALLS_TABLE32) == number;

	if (strcmp(machine, "x86_64")) {
		call->table32 = call->table32 && !same;
		return false;
	}
	if (same)
		return false;
	if (is_exec(syscalls_table32_name(syscalls, number)))
		call->table32 = true;
	else if (is_exec(system_call_name(machine, number)))
		call->table32 = false;
	else
		return false;
	return true;
}

int64_t syscalls_table32_exit(struct analysis *syscalls, struct open_call *call, int64_t number, int64_t returned)
{
	bool open = call->open && call->number >= 0, proved = call->proves;
	const struct call_kind *kind = open && !returned ? syscalls_kind(syscalls, call->number, NULL) : NULL;

	call->proves = false;
	if (kind && is_exec(kind->name) && see_exec(syscalls, call, number))
		return call->number;
	if (open && proved && is_no_call(syscalls, returned)) {
		call->table32 = false;
		call->number &= ~SYSCALLS_TABLE32;
	}
	if (open && (call->number & ~SYSCALLS_TABLE32) == number)
		return call->number;
	return call->table32 && number >= 0 && number < SYSCALLS_TABLE32 ? number | SYSCALLS_TABLE32 : number;
}

void syscalls_table32_fork(struct analysis *syscalls)
{
	const struct state_step *step = &syscalls->pass->state.step;

	if (step->other >= syscalls->nr_calls || !syscalls->calls[step->other].table32)
		return;
	while (syscalls->nr_calls <= step->task) {
		if (!vec_push(syscalls->calls, syscalls->nr_calls)) {
			syscalls->pass->failed = true;
			return;
		}
	}
	syscalls->calls[step->task].table32 = true;
}
