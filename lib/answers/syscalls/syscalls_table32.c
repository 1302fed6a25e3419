// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_internal.h"

#include <string.h>

#include "lib/meaning/event/event.h"
#include "lib/meaning/uapi/names.h"

/*
 * 32-bit tasks of a 64-bit kernel have their own numbers for system calls, and no event says which table a task uses.
 * But some numbers exist in one table only, and the C library uses one of them when it starts (rseq, getrandom,
 * arch_prctl). A task that makes such a call, and does not get the error that there is no such call, is a 32-bit task.
 * Until then its calls have the names of the kernel's own table. A task leaves the 32-bit table when it executes a
 * program, or when it passes a value that does not fit into 32 bits. A new task uses the table of its parent. On
 * x86_64, an execve returns with its number in the table of the new program (set_personality_ia32() and _64bit() of
 * arch/x86/kernel/process_64.c), which shows the table from the first call on.
 */

static bool is_no_call(const struct syscalls_analysis *syscalls, int64_t returned)
{
	const char *error = returned < 0 ? error_name(syscalls->pass->machine, -returned) : NULL;

	return error && !strcmp(error, "ENOSYS");
}

static bool is_wide(const struct syscalls_analysis *syscalls, const struct event *event)
{
	uint64_t value;

	for (size_t i = 0; place_element(&syscalls->raw_args, event, i, &value); i++)
		if (value > UINT32_MAX)
			return true;
	return false;
}

int64_t syscalls_table32_learn_enter(struct syscalls_analysis *syscalls, const struct event *event,
				     struct open_call *call, int64_t number)
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

/* Learns the task's table from an exec that returns. Returns true if it returned with its number in the other table. */
static bool see_exec(struct syscalls_analysis *syscalls, struct open_call *call, int64_t number)
{
	const char *machine = syscalls->pass->machine;
	bool same = (call->number & ~SYSCALLS_TABLE32) == number;

	if (strcmp(machine, "x86_64")) {
		call->table32 = call->table32 && !same;
		return false;
	}
	if (same)
		return false;
	if (syscalls_is_exec(syscalls_table32_name(syscalls, number)))
		call->table32 = true;
	else if (syscalls_is_exec(system_call_name(machine, number)))
		call->table32 = false;
	else
		return false;
	return true;
}

int64_t syscalls_table32_learn_exit(struct syscalls_analysis *syscalls, struct open_call *call, int64_t number,
				    int64_t returned)
{
	bool open = call->open && call->number >= 0, proved = call->proves;
	const struct call_kind *kind = open && !returned ? syscalls_kind(syscalls, call->number, NULL) : NULL;

	call->proves = false;
	if (kind && kind->is_exec && see_exec(syscalls, call, number))
		return call->number;
	if (open && proved && is_no_call(syscalls, returned)) {
		call->table32 = false;
		call->number &= ~SYSCALLS_TABLE32;
	}
	if (open && (call->number & ~SYSCALLS_TABLE32) == number)
		return call->number;
	return call->table32 && number >= 0 && number < SYSCALLS_TABLE32 ? number | SYSCALLS_TABLE32 : number;
}

void syscalls_table32_fork(struct syscalls_analysis *syscalls)
{
	const struct state_step *step = &syscalls->pass->state.step;
	struct open_call *call;

	if (step->other >= syscalls->nr_calls || !syscalls->calls[step->other].table32)
		return;
	call = syscalls_call(syscalls, step->task);
	if (call)
		call->table32 = true;
}
