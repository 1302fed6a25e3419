// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/diff_by.h"

#include "cmd/options/analyse_by.h"

#include <string.h>

/* The values that only weft diff has. */
static const char *const of_latency[] = { "part", "task" };
static const char *const of_power[] = { "state", "cpu" };
static const struct row_choices rows_of_latency = { of_latency, array_size(of_latency) };
static const struct row_choices rows_of_power = { of_power, array_size(of_power) };

const void *diff_by(const char *of, const char *by, union diff_by_options *into, struct argp_state *state)
{
	if (!strcmp(of, "syscalls"))
		into->syscalls =
			(struct syscalls_options){ .by = (enum syscalls_by)analyse_by(&rows_of_syscalls, by, state) };
	else if (!strcmp(of, "block"))
		into->block = (struct block_options){ .by = (enum block_by)analyse_by(&rows_of_block, by, state) };
	else if (!strcmp(of, "locks"))
		into->rows.by = (unsigned)analyse_by(&rows_of_locks, by, state);
	else if (!strcmp(of, "stacks"))
		into->rows.by = (unsigned)analyse_by(&rows_of_stacks, by, state);
	else if (!strcmp(of, "latency"))
		into->latency = (struct latency_options){ .worst = LATENCY_WORST,
							  .by_task = analyse_by(&rows_of_latency, by, state) };
	else if (!strcmp(of, "power"))
		into->power = (struct power_options){ .by_cpu = analyse_by(&rows_of_power, by, state) };
	else
		argp_error(
			state,
			"--by chooses the rows of syscalls, block, locks, stacks, latency or power, not those of %s: "
			"weft diff syscalls --by task OLD NEW",
			of);
	return into;
}
