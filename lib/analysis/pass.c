// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/pass.h"

#include "lib/analysis/findings.h"
#include "lib/base/cpus.h"
#include "lib/base/fail.h"
#include "lib/base/number.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SELF_MAX = 1 << 16 };

static bool add_self(struct pass *pass, int32_t pid)
{
	int32_t *added;

	if (pass_is_self(pass, pid))
		return true;
	added = vec_push(pass->self, pass->nr_self);
	if (added)
		*added = pid;
	return added;
}

static bool read_self(struct pass *pass, const char *list)
{
	struct text_word word;

	while (list && pass->nr_self < SELF_MAX && text_next_word(&list, " \n", &word)) {
		const char *at = word.at;
		int32_t pid;

		if (number_s32(&at, &pid) && !add_self(pass, pid))
			return false;
	}
	return true;
}

int pass_init(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct fail *fail)
{
	const struct context *first = reader->buffers[0].context;

	*pass = (struct pass){
		.reader = reader, .filter = *filter, .machine = first->machine, .budget = { .left = SAMPLES_BUDGET }
	};
	state_init(&pass->state, &first->abi, first->preempt_rt);
	if (!reader_is_merged(reader))
		return fail_set(fail, -EINVAL,
				"the clocks of the instances differ, so that their events have no common order; "
				"choose one with -B");
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct context *context = reader->buffers[i].context;

		if (context->unit != CLOCK_UNIT_NS)
			return fail_set(fail, -EINVAL,
					"the clock '%s' of the recording does not count time, so that nothing can be "
					"told of how long something took",
					context->clock);
		if (!read_self(pass, context->self))
			return fail_memory(fail);
	}
	return 0;
}

void pass_release(struct pass *pass)
{
	for (size_t i = 0; i < pass->nr_items; i++)
		pass->items[i].ops->free(pass->items[i].analysis);
	free(pass->items);
	free(pass->self);
	state_release(&pass->state);
	*pass = (struct pass){ .reader = NULL };
}

int pass_add(struct pass *pass, const struct analysis_ops *ops, const void *options, struct fail *fail)
{
	struct pass_item *item = vec_push(pass->items, pass->nr_items);
	int r;

	if (!item)
		return fail_memory(fail);
	item->ops = ops;
	r = ops->new (pass, options, &item->analysis, fail);
	if (r)
		pass->nr_items--;
	return r;
}

static void see(void *arg, const struct event *event)
{
	struct pass *pass = arg;

	state_see(&pass->state, event);
	for (size_t i = 0; i < pass->nr_items; i++)
		pass->items[i].ops->see(pass->items[i].analysis, event);
}

int pass_run(struct pass *pass, const struct reader_consumer *after, struct fail *fail)
{
	struct reader_consumer consumers[2] = { { see, pass } };
	int r;

	if (after)
		consumers[1] = *after;
	r = reader_run(pass->reader, consumers, after ? 2 : 1, fail);

	if (r)
		return r;
	state_settle(&pass->state);
	if (pass->failed || pass->state.failed || pass->state.roles.failed || pass->budget.failed)
		return fail_memory(fail);
	return state_adds_up(&pass->state, fail) ? 0 : -EPROTO;
}

static bool is_named(const char *pattern, const struct format *format)
{
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", format->system, format->name);
	return text_glob(pattern, name);
}

static bool was_recorded(const struct pass *pass, const struct analysis_want *want)
{
	const struct event_type *type;

	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(pass->reader->buffers[i].events, at, &type); at++)
			if (type->format && (is_named(want->event, type->format) ||
					     (want->instead && is_named(want->instead, type->format))))
				return true;
	return false;
}

int pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail)
{
	const struct pass_item *item = &pass->items[index];
	int r = item->ops->finish(item->analysis, findings, fail);

	for (const struct analysis_want *want = item->ops->wants; !r && want->event; want++)
		if (!was_recorded(pass, want))
			findings_missing(findings, want->event, want->what_for);
	if (!r && pass->state.losses)
		findings_broken(findings, pass->state.losses, "gaps");
	if (!r && pass->state.breaks && pass->state.events[STATE_SWITCH])
		findings_note(findings,
			      "%" PRIu64
			      " times a task was not where the last sched_switch had left it: not all were recorded",
			      pass->state.breaks);
	return r || !findings->failed ? r : fail_memory(fail);
}

bool pass_is_self(const struct pass *pass, int32_t pid)
{
	for (size_t i = 0; i < pass->nr_self; i++)
		if (pass->self[i] == pid)
			return true;
	return false;
}

const char *pass_comm(const struct pass *pass, const struct state_task *task)
{
	return *task->comm ? task->comm : task_name(pass->reader->buffers[0].context->tasks, task->pid).text;
}

bool pass_wants(const struct pass *pass, const struct state_task *task)
{
	const struct pass_filter *filter = &pass->filter;
	bool wanted = !filter->nr_pids && !filter->nr_comms;

	if (!filter->self && pass_is_self(pass, task->pid))
		return false;
	for (size_t i = 0; i < filter->nr_pids && !wanted; i++)
		wanted = filter->pids[i] == task->pid;
	for (size_t i = 0; i < filter->nr_comms && !wanted; i++)
		wanted = text_glob(filter->comms[i], pass_comm(pass, task));
	return wanted;
}

bool pass_wants_cpu(const struct pass *pass, uint32_t cpu)
{
	return !pass->filter.cpus || cpus_has(pass->filter.cpus, cpu);
}

void pass_cells(struct table *table, const struct samples *samples)
{
	table_cell_u64(table, samples->count);
	if (!samples->count) {
		for (int i = 0; i < 3; i++)
			table_cell(table, "-");
		return;
	}
	table_cell_u64(table, samples_quantile(samples, 500));
	if (samples->count < SAMPLES_P99_MIN)
		table_cell(table, "-");
	else
		table_cell_u64(table, samples_quantile(samples, 990));
	table_cell_u64(table, samples->max);
}
