// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/analyse_by.h"

#include "lib/analysis/block.h"
#include "lib/analysis/locks.h"
#include "lib/analysis/stacks.h"
#include "lib/analysis/syscalls.h"

#include <stdio.h>
#include <string.h>

static const char *const of_block[] = {
	[BLOCK_BY_DEVICE] = "device", [BLOCK_BY_OPERATION] = "operation", [BLOCK_BY_TASK] = "task"
};
static const char *const of_locks[] = {
	[LOCKS_BY_LOCK] = "lock", [LOCKS_BY_CALLER] = "caller", [LOCKS_BY_TASK] = "task"
};
static const char *const of_stacks[] = {
	[STACKS_BY_STACK] = "stack", [STACKS_BY_FUNCTION] = "function", [STACKS_BY_TASK] = "task"
};
static const char *const of_syscalls[] = {
	[SYSCALLS_BY_CALL] = "syscall", [SYSCALLS_BY_TASK] = "task", [SYSCALLS_BY_PROCESS] = "process",
	[SYSCALLS_BY_ERROR] = "errno",  [SYSCALLS_BY_CPU] = "cpu",
};

const struct row_choices rows_of_block = { of_block, array_size(of_block) };
const struct row_choices rows_of_locks = { of_locks, array_size(of_locks) };
const struct row_choices rows_of_stacks = { of_stacks, array_size(of_stacks) };
const struct row_choices rows_of_syscalls = { of_syscalls, array_size(of_syscalls) };

size_t analyse_by(const struct row_choices *rows, const char *name, struct argp_state *state)
{
	char all[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const char *between = !i ? "" : i + 1 == rows->nr ? " and " : ", ";

		if (!strcmp(rows->names[i], name))
			return i;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", between, rows->names[i]);
	}
	argp_error(state, "--by: unknown value '%s'; the values are %s", name, all);
	return 0;
}

struct arguments {
	struct analyse analyse;
	const struct row_choices *rows;
	struct row_options chosen;
};

error_t analyse_by_parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &arguments->analyse;
	else if (key == OPT_ANALYSE_BY)
		arguments->chosen.by = (unsigned)analyse_by(arguments->rows, arg, state);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

int analyse_by_run(const struct command *command, const struct analysis_ops *ops, const struct row_choices *rows,
		   int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT, .rows = rows };

	command_parse(command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, ops, &arguments.chosen);
}
