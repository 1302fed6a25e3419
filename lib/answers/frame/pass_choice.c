// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/pass.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/listed.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/query/file_calls.h"
#include "lib/meaning/query/mark_spans.h"
#include "lib/meaning/reader/reader.h"

/*
 * Which tasks the user chose by PID or by name, and what counts of a task that was renamed
 * (lib/meaning/state/naming.h).
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
	return *task->comm ? task->comm : context_comm(pass->reader->buffers[0].context, task->pid, COMMS_LAST).text;
}

static bool wants_name(const void *arg, const struct state_task *task)
{
	const struct pass *pass = arg;
	/* Without a name it may be asked what the task was called before the event that names it now. */
	const char *name = *task->comm ? task->comm :
					 context_comm(pass->reader->buffers[0].context, task->pid,
						      pass->state.now ? pass->state.now - 1 : 0)
						 .text;

	for (size_t i = 0; i < pass->filter.nr_comms; i++)
		if (text_glob(pass->filter.comms[i], name))
			return true;
	return false;
}

/* Whether it belongs now to whom the user asks for. */
static bool wants_now(const void *arg, const struct state_task *task)
{
	const struct pass *pass = arg;

	return who_wants(pass->reader->buffers[0].context, pass->filter.who, pass->filter.nr_who, task->pid,
			 pass->state.now, NULL);
}

static uint64_t belongs_elsewhere(const void *arg, const struct state_task *task, uint64_t from, uint64_t to)
{
	const struct pass *pass = arg;
	uint64_t away = 0, until;

	for (uint64_t at = from; at < to; at = until) {
		bool wanted = who_wants(pass->reader->buffers[0].context, pass->filter.who, pass->filter.nr_who,
					task->pid, at, &until);

		until = until < to ? until : to;
		away += wanted ? 0 : until - at;
	}
	return away;
}

void pass_names_begin(struct pass *pass)
{
	if (pass->filter.nr_who)
		state_follow_wanted(&pass->state, wants_now, belongs_elsewhere, pass);
	else if (pass->filter.nr_comms)
		state_follow_names(&pass->state, wants_name, pass);
}

/* What began before a span, or before a call on a file, and goes on in it is inside, too. */
static bool is_inside(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	uint64_t now = pass->ended ? UINT64_MAX : pass->state.now;

	return mark_spans_cover(pass->spans, task->pid, task_tgid(pass->reader->buffers[0].context->tasks, task->pid),
				since == UINT64_MAX ? now : since, now);
}

static bool is_of_file(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	uint64_t now = pass->ended ? UINT64_MAX : pass->state.now;

	return file_calls_cover(pass->files, task->pid, since == UINT64_MAX ? now : since, now);
}

bool pass_is_self(const struct pass *pass, int32_t pid)
{
	for (size_t i = 0; i < pass->nr_self; i++)
		if (pass->self[i] == pid)
			return true;
	return false;
}

bool pass_chooses(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	return (!pass->files || is_of_file(pass, task, since)) && pass_chooses_of_file(pass, task, since);
}

bool pass_chooses_of_file(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	const struct pass_filter *filter = &pass->filter;

	if (!filter->self && pass_is_self(pass, task->pid))
		return false;
	if (pass->spans && !is_inside(pass, task, since))
		return false;
	if (filter->nr_who)
		return (!filter->nr_pids || has_pid(pass, task->pid)) && state_had_name(&pass->state, task, since);
	return (!filter->nr_pids && !filter->nr_comms) || has_pid(pass, task->pid) ||
	       state_had_name(&pass->state, task, since);
}

uint64_t pass_elsewhere(const struct pass *pass, const struct state_task *task, enum task_mode mode)
{
	return !pass->filter.nr_who && has_pid(pass, task->pid) ? 0 : state_elsewhere(&pass->state, task, mode);
}

const char *pass_group_text(const struct pass *pass, enum who_part part, uint32_t who)
{
	const char *text = who_text(pass->reader->buffers[0].context, part, who);

	return *text ? text : "(none)";
}

uint32_t pass_group(const struct pass *pass, enum who_part part, uint32_t task)
{
	const struct state *state = &pass->state;

	return task < state->nr_tasks ?
		       who_is(pass->reader->buffers[0].context, part, state->tasks[task].pid, state->now, NULL) :
		       (uint32_t)WHO_NOBODY;
}

/* The part of this time in which the task was one that the user wants. */
static uint64_t wanted_of(const struct pass *pass, const struct state_task *task, uint64_t from, uint64_t to)
{
	const struct naming *naming = &pass->state.naming;

	return to - from - (naming->away ? naming->away(naming->arg, task, from, to) : 0);
}

/* Whether the user wants what the task does, if it belongs to whom they ask for. */
static bool may_count(const struct pass *pass, const struct state_task *task)
{
	return (pass->state.naming.away || pass_wants(pass, task)) &&
	       (pass->filter.self || !pass_is_self(pass, task->pid)) && listed_has(&pass->state.listed, task->pid);
}

static void divide_spent(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to)
{
	struct pass *pass = arg;
	const struct pass_groups *groups = &pass->groups;
	const struct context *context = pass->reader->buffers[0].context;
	uint64_t until;

	if (task->idle || !may_count(pass, task))
		return;
	for (uint64_t at = from; at < to; at = until) {
		until = who_until(context, task->pid, at);
		until = until < to ? until : to;
		groups->spent(groups->arg, who_is(context, groups->part, task->pid, at, NULL), (enum task_mode)mode,
			      wanted_of(pass, task, at, until));
	}
}

void pass_follow_groups(struct pass *pass, enum who_part part, pass_group_spent *spent, void *arg)
{
	pass->groups = (struct pass_groups){ .part = part, .spent = spent, .arg = arg };
	state_follow_spent(&pass->state, divide_spent, pass);
}

void pass_group_head(struct findings *findings, enum who_part part, size_t column)
{
	static const struct table_column heads[WHO_PARTS] = {
		[WHO_PROCESS] = { "PROCESS", TABLE_TEXT, "process", 0 },
		[WHO_PROGRAM] = { "PROGRAM", TABLE_TEXT, "program", 0 },
		[WHO_UNIT] = { "UNIT", TABLE_TEXT, "unit", 0 },
		[WHO_CONTAINER] = { "CONTAINER", TABLE_TEXT, "container", 0 },
		[WHO_POD] = { "POD", TABLE_TEXT, "pod", 0 },
		[WHO_CGROUP] = { "CGROUP", TABLE_TEXT, "cgroup", 0 },
		[WHO_USER] = { "USER", TABLE_TEXT, "user", 0 },
	};

	findings_head_at(findings, column, &heads[part]);
}

uint64_t pass_spent(const struct pass *pass, const struct state_task *task, enum task_mode mode)
{
	return task->spent[mode] - pass_elsewhere(pass, task, mode);
}

struct pass_away pass_away(const struct pass *pass, const struct state_task *task)
{
	static const enum task_mode blocked[] = { TASK_SLEEPING, TASK_BLOCKED, TASK_STOPPED },
				    waiting[] = { TASK_PREEMPTED, TASK_WAKING, TASK_QUEUED };
	struct pass_away away = { .running = pass_elsewhere(pass, task, TASK_RUNNING) };

	for (size_t i = 0; i < array_size(blocked); i++)
		away.blocked += pass_elsewhere(pass, task, blocked[i]);
	for (size_t i = 0; i < array_size(waiting); i++)
		away.waiting += pass_elsewhere(pass, task, waiting[i]);
	away.all = away.running + away.blocked + away.waiting + pass_elsewhere(pass, task, TASK_UNKNOWN);
	return away;
}

const char *pass_moment(const struct pass *pass, uint64_t ns, char into[PASS_MOMENT])
{
	const struct face *face = pass->filter.face;

	_Static_assert((int)PASS_MOMENT >= (int)FACE_TEXT && (int)PASS_MOMENT >= (int)TEXT_HUMAN, "both fit");
	if (!face || face->kind == FACE_TRACE)
		return text_seconds(into, ns);
	(void)face_text(into, face, pass->filter.wall, ns, 9);
	return into;
}

void pass_put_unknown(const struct pass *pass, struct findings *findings)
{
	const struct context *context = pass->reader->buffers[0].context;
	char count[TEXT_HUMAN], what[160];
	unsigned told = 0;

	for (size_t i = 0; i < pass->filter.nr_who; i++) {
		enum who_part part = pass->filter.who[i].part;
		const char *event, *word = who_part_word(part);
		uint64_t tasks;

		if (told & 1u << part || !who_leaves_out(context, part, &tasks, &event))
			continue;
		told |= 1u << part;
		text_count(count, tasks);
		if (event && tasks)
			snprintf(what, sizeof(what), "the %s of %s new task%s, left out by --%s", word, count,
				 text_plural(tasks), word);
		else
			snprintf(what, sizeof(what), "the %s of new tasks, left out by --%s", word, word);
		if (event)
			findings_missing(findings, "-e", event, what);
		else
			findings_note(findings,
				      "the %s of %s new task%s is not known, for events are lost or do not tell it: "
				      "--%s leaves them out",
				      word, count, text_plural(tasks), word);
	}
}

enum { NAMES_SHOWN = 4, PIDS_SHOWN = 16 };

static void put_names_of(const struct pass *pass, const struct state_task *task, const struct naming_task *named,
			 bool whole, struct findings *findings)
{
	char moment[PASS_MOMENT];
	const char *at = pass_moment(pass, named->changed, moment);

	if (*named->other)
		findings_note(findings, "%s-%" PRId32 " was called '%s' %s %s%s%s%s", named->wanted, task->pid,
			      named->other, named->now ? "until" : "from", at,
			      whole ? "" : ": this counts what it did as '", whole ? "" : named->wanted,
			      whole ? "" : "'");
	else
		findings_note(findings, "%s-%" PRId32 " had another name until %s%s%s%s", named->wanted, task->pid, at,
			      whole ? "" : ": this counts what it did as '", whole ? "" : named->wanted,
			      whole ? "" : "'");
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

	for (size_t i = 0; i < pass->state.naming.nr && !pass->filter.nr_who; i++) {
		const struct naming_task *named = &pass->state.naming.tasks[i];
		const struct state_task *task = &pass->state.tasks[i];

		if (!named->ever || !named->others || !*named->wanted || !pass_wants(pass, task) ||
		    has_pid(pass, task->pid))
			continue;
		if (nr++ < NAMES_SHOWN)
			put_names_of(pass, task, named, ops->whole_lives, findings);
		if (nr <= PIDS_SHOWN)
			len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%" PRId32, len ? "," : "",
						task->pid);
	}
	put_pids(pids, nr, ops->whole_lives, findings);
}
