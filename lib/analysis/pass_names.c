// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/pass.h"

#include "lib/analysis/findings.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Which tasks the user chose by PID or by name, and what counts of a task that was renamed
 * (lib/state/naming.h).
 */

/* Whether a filter by PID chooses the task, whatever its name. */
static bool has_pid(const struct pass *pass, int32_t pid)
{
	for (size_t i = 0; i < pass->filter.nr_pids; i++)
		if (pass->filter.pids[i] == pid)
			return true;
	return false;
}

const char *pass_comm(const struct pass *pass, const struct state_task *task)
{
	const struct naming_task *named = pass->ended && pass->state.naming.nr && !has_pid(pass, task->pid) ?
						  state_names_of(&pass->state, task) :
						  NULL;

	if (named && !named->now && *named->wanted)
		return named->wanted;
	return *task->comm ? task->comm : task_name(pass->reader->buffers[0].context->tasks, task->pid).text;
}

static bool wants_name(const void *arg, const struct state_task *task)
{
	const struct pass *pass = arg;
	const char *name =
		*task->comm ? task->comm : task_name(pass->reader->buffers[0].context->tasks, task->pid).text;

	for (size_t i = 0; i < pass->filter.nr_comms; i++)
		if (text_glob(pass->filter.comms[i], name))
			return true;
	return false;
}

void pass_names_begin(struct pass *pass)
{
	if (pass->filter.nr_comms)
		state_follow_names(&pass->state, wants_name, pass);
}

bool pass_chooses(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	const struct pass_filter *filter = &pass->filter;

	if (!filter->self && pass_is_self(pass, task->pid))
		return false;
	return (!filter->nr_pids && !filter->nr_comms) || has_pid(pass, task->pid) ||
	       state_had_name(&pass->state, task, since);
}

uint64_t pass_elsewhere(const struct pass *pass, const struct state_task *task, enum task_mode mode)
{
	const struct naming_task *named = has_pid(pass, task->pid) ? NULL : state_names_of(&pass->state, task);

	return named ? named->elsewhere[mode] : 0;
}

uint64_t pass_spent(const struct pass *pass, const struct state_task *task, enum task_mode mode)
{
	return task->spent[mode] - pass_elsewhere(pass, task, mode);
}

enum { NAMES_SHOWN = 4, PIDS_SHOWN = 16 };

static void put_names_of(const struct state_task *task, const struct naming_task *named, bool whole,
			 struct findings *findings)
{
	uint64_t s = named->changed / 1000000000, ns = named->changed % 1000000000;

	if (*named->other)
		findings_note(findings, "%s-%" PRId32 " was called '%s' %s %" PRIu64 ".%09" PRIu64 "%s%s%s",
			      named->wanted, task->pid, named->other, named->now ? "until" : "from", s, ns,
			      whole ? "" : ": this counts what it did as '", whole ? "" : named->wanted,
			      whole ? "" : "'");
	else
		findings_note(findings, "%s-%" PRId32 " had another name until %" PRIu64 ".%09" PRIu64 "%s%s%s",
			      named->wanted, task->pid, s, ns, whole ? "" : ": this counts what it did as '",
			      whole ? "" : named->wanted, whole ? "" : "'");
}

/* The line to paste: the PIDs of all of them, or of the first ones. */
static void put_pids(const char *pids, size_t nr, bool whole, struct findings *findings)
{
	if (nr > NAMES_SHOWN)
		findings_note(findings, "%zu more task%s had other names for a part of the time", nr - NAMES_SHOWN,
			      text_plural(nr - NAMES_SHOWN));
	if (nr && !whole)
		findings_note(findings, "under all names: --pid %s%s", pids,
			      nr > PIDS_SHOWN ? " (the first of them)" : "");
}

void pass_put_names(const struct pass *pass, const struct analysis_ops *ops, struct findings *findings)
{
	char pids[16 * PIDS_SHOWN] = "";
	size_t nr = 0, len = 0;

	for (size_t i = 0; i < pass->state.naming.nr; i++) {
		const struct naming_task *named = &pass->state.naming.tasks[i];
		const struct state_task *task = &pass->state.tasks[i];

		if (!named->ever || !named->others || !*named->wanted || !pass_wants(pass, task) ||
		    has_pid(pass, task->pid))
			continue;
		if (nr++ < NAMES_SHOWN)
			put_names_of(task, named, ops->whole_lives, findings);
		if (nr <= PIDS_SHOWN)
			len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%" PRId32, len ? "," : "",
						task->pid);
	}
	put_pids(pids, nr, ops->whole_lives, findings);
}
