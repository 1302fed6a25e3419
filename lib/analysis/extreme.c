// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/extreme_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"

#include <string.h>

void extreme_see(struct extreme *extreme, const struct extreme *seen)
{
	if (!extreme->to || seen->lasted > extreme->lasted)
		*extreme = *seen;
}

static const struct state_task *task_of(const struct pass *pass, const struct extreme *extreme)
{
	return extreme->task < pass->state.nr_tasks ? &pass->state.tasks[extreme->task] : NULL;
}

void extreme_cells(const struct pass *pass, struct table *table, const struct extreme *extreme)
{
	const struct state_task *task = task_of(pass, extreme);

	if (!extreme->to) {
		for (int i = 0; i < 3; i++)
			table_cell(table, "-");
		table_cell(table, "");
		return;
	}
	table_cell_decimal(table, (int64_t)extreme->to, 9);
	table_cell_u64(table, extreme->cpu);
	if (task)
		table_cell_s64(table, task->pid);
	else
		table_cell(table, "-");
	table_cell(table, task ? pass_comm(pass, task) : "");
}

void extreme_tell(const struct pass *pass, struct findings *findings, const char *what, const struct extreme *extreme)
{
	const struct state_task *task = task_of(pass, extreme);
	struct worst worst = { .what = what,
			       .lasted = extreme->lasted,
			       .from = extreme->from,
			       .to = extreme->to,
			       .cpu = extreme->cpu,
			       .pid = -1 };

	if (!extreme->to)
		return;
	if (task) {
		worst.pid = task->pid;
		strncpy(worst.comm, pass_comm(pass, task), sizeof(worst.comm) - 1);
	}
	findings_worst(findings, &worst);
}
