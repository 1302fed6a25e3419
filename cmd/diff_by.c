// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/diff_by.h"

#include "cmd/analyse.h"

#include <string.h>

/* The values of --by in the commands of these names. */
static const char *const of_syscalls[] = {
	[SYSCALLS_BY_CALL] = "syscall", [SYSCALLS_BY_TASK] = "task", [SYSCALLS_BY_PROCESS] = "process",
	[SYSCALLS_BY_ERROR] = "errno",  [SYSCALLS_BY_CPU] = "cpu",
};
static const char *const of_block[] = {
	[BLOCK_BY_DEVICE] = "device", [BLOCK_BY_OPERATION] = "operation", [BLOCK_BY_TASK] = "task"
};
static const char *const of_locks[] = {
	[LOCKS_BY_LOCK] = "lock", [LOCKS_BY_CALLER] = "caller", [LOCKS_BY_TASK] = "task"
};

static const char *const of_stacks[] = {
	[STACKS_BY_STACK] = "stack", [STACKS_BY_FUNCTION] = "function", [STACKS_BY_TASK] = "task"
};
static const char *const of_latency[] = { "part", "task" };
static const char *const of_power[] = { "state", "cpu" };

const void *diff_by(const char *of, const char *by, union diff_by_options *into, struct argp_state *state)
{
	if (!strcmp(of, "syscalls"))
		into->syscalls = (struct syscalls_options){
			.by = (enum syscalls_by)analyse_by(of_syscalls, array_size(of_syscalls), by, state)
		};
	else if (!strcmp(of, "block"))
		into->block = (struct block_options){ .by = (enum block_by)analyse_by(of_block, array_size(of_block),
										      by, state) };
	else if (!strcmp(of, "locks"))
		into->locks = (struct locks_options){ .by = (enum locks_by)analyse_by(of_locks, array_size(of_locks),
										      by, state) };
	else if (!strcmp(of, "stacks"))
		into->stacks =
			(struct stacks_options){ .by = (enum stacks_by)analyse_by(of_stacks, array_size(of_stacks), by,
										  state) };
	else if (!strcmp(of, "latency"))
		into->latency = (struct latency_options){
			.worst = LATENCY_WORST, .by_task = analyse_by(of_latency, array_size(of_latency), by, state)
		};
	else if (!strcmp(of, "power"))
		into->power = (struct power_options){ .by_cpu = analyse_by(of_power, array_size(of_power), by, state) };
	else
		argp_error(
			state,
			"--by chooses the rows of syscalls, block, locks, stacks, latency or power, not those of %s: weft diff syscalls --by task OLD NEW",
			of);
	return into;
}
