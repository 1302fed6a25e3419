// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/extreme.h"

#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/table.h"

void extreme_see(struct extreme *extreme, const struct extreme *seen)
{
	if (!extreme->to || seen->lasted > extreme->lasted)
		*extreme = *seen;
}

void extreme_put_comm(struct table *table, const struct pass *pass, const struct extreme *extreme)
{
	pass_put_comm_then(table, pass, extreme->to ? extreme->comm : "", extreme->to ? extreme->task : STATE_NO_TASK);
}

void extreme_put_pid(struct table *table, const struct pass *pass, const struct extreme *extreme)
{
	pass_put_pid(table, pass, extreme->to ? extreme->task : STATE_NO_TASK);
}

void extreme_tell(const struct pass *pass, struct findings *findings, const char *what, const struct extreme *extreme)
{
	const struct state_task *task = extreme->task < pass->state.nr_tasks ? &pass->state.tasks[extreme->task] : NULL;
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
		snprintf(worst.comm, sizeof(worst.comm), "%s", pass_comm_then(pass, extreme->comm, task));
	}
	findings_worst(findings, &worst);
}
