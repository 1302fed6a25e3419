// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/pass.h"

#include "lib/analysis/findings.h"
#include "lib/base/buf.h"
#include "lib/base/cpus.h"
#include "lib/base/fail.h"
#include "lib/base/number.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/imported.h"
#include "lib/event/tasks.h"
#include "lib/reader/batches.h"
#include "lib/reader/reader.h"
#include "lib/reader/relay.h"

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
	if (added) {
		*added = pid;
		pass->self_bits |= pass_self_bit(pid);
	}
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
		.reader = reader, .filter = *filter, .machine = first->machine, .samples = SAMPLES_BUDGET
	};
	state_init(&pass->state, first->preempt_rt);
	pass->dispatch.state = &pass->state;
	pass_names_begin(pass);
	if (reader_is_of_one(reader, fail))
		return -EINVAL;
	if (!reader_is_merged(reader))
		return fail_set(fail, -EINVAL,
				"the clocks of the instances differ, so that their events have no common order; "
				"choose one with -B");
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct context *context = reader->buffers[i].context;

		if (context->unit != CLOCK_UNIT_NS)
			return fail_set(fail, -EINVAL,
					"the clock '%s' of the recording does not count time, so durations are unknown",
					context->clock);
		if (!read_self(pass, context->self))
			return fail_memory(fail);
		state_restrict(&pass->state, context);
	}
	return 0;
}

void pass_release(struct pass *pass)
{
	for (size_t i = 0; i < pass->nr_items; i++)
		analysis_free(pass->items[i].ops, pass->items[i].analysis);
	free(pass->items);
	if (pass->apart)
		pass_release(pass->apart);
	free(pass->apart);
	dispatch_release(&pass->dispatch);
	free(pass->self);
	buf_release(&pass->types);
	state_release(&pass->state);
	*pass = (struct pass){ .reader = NULL };
}

/* Whether the pass can have analyses of both kinds, that is, several. */
static bool has_several(const struct pass *pass)
{
	return pass->nr_items > 1 || (pass->nr_items && pass->items[0].ops->parts);
}

/* An analysis that is alone may keep all samples. */
static void share_budget(struct pass *pass)
{
	pass->budget.left = has_several(pass) ? pass->samples / 2 : pass->samples;
	pass->budget_apart.left = pass->budget.left;
	if (pass->apart)
		pass->apart->budget_apart.left = pass->budget.left;
}

static int create(struct pass *pass, struct pass_item *item, struct fail *fail)
{
	int r = analysis_new(item->ops, pass, item->options, &item->analysis, fail);

	if (r || dispatch_add(&pass->dispatch, item->ops, item->analysis))
		return r;
	analysis_free(item->ops, item->analysis);
	item->analysis = NULL;
	return fail_memory(fail);
}

int pass_add(struct pass *pass, const struct analysis_ops *ops, const void *options, struct fail *fail)
{
	struct pass_item *item = vec_push(pass->items, pass->nr_items);
	int r;

	if (!item)
		return fail_memory(fail);
	item->ops = ops;
	item->options = options;
	r = create(pass, item, fail);
	if (r)
		pass->nr_items--;
	share_budget(pass);
	return r;
}

void pass_divide(struct pass *pass)
{
	pass->may_divide = pass->reader->ahead > 1;
}

/* Whether the files may have what an analysis needs at least: those of other programs do not tell. */
static bool may_occur(const struct pass *pass, const struct analysis_ops *ops)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (!pass->reader->buffers[i].context->switched_on)
			return true;
	for (size_t i = 0; i < ops->essential; i++)
		if (pass_recorded(pass, &ops->wants[i]))
			return true;
	return false;
}

struct pass *pass_of(struct pass *pass, const struct analysis_ops *part)
{
	if (!part->apart || !pass->may_divide || !may_occur(pass, part))
		return pass;
	if (!pass->apart)
		pass->apart = calloc(1, sizeof(*pass->apart));
	if (pass->apart && !pass->apart->reader && pass_init(pass->apart, pass->reader, &pass->filter, NULL)) {
		pass_release(pass->apart);
		free(pass->apart);
		pass->apart = NULL;
	}
	return pass->apart;
}

void pass_cut(struct pass *pass, uint64_t first, uint64_t last)
{
	pass->budget.marks = pass->budget_apart.marks = true;
	pass->block_from = first;
	pass->block_ns = last > first ? (last - first) / PASS_BLOCKS + 1 : 1;
}

static uint8_t block_of(const struct pass *pass, uint64_t ts)
{
	uint64_t block = ts > pass->block_from ? (ts - pass->block_from) / pass->block_ns : 0;

	return (uint8_t)(block < PASS_BLOCKS ? block : PASS_BLOCKS - 1);
}

__attribute__((always_inline)) static inline void show(struct pass *pass, const struct event *event, bool cuts)
{
	const struct dispatch_type *type;

	if (cuts && pass->block_ns)
		pass->budget.mark = pass->budget_apart.mark = block_of(pass, event->ts);
	if (__builtin_expect(event->kind != EVENT_RECORD, 0)) {
		state_see(&pass->state, event);
		dispatch_gap(&pass->dispatch, event);
		return;
	}
	type = dispatch_type(&pass->dispatch, event);
	state_see_as(&pass->state, event, type ? type->state_role : ROLE_NONE);
	if (type)
		dispatch_to(type, event);
}

void pass_see(struct pass *pass, const struct event *event)
{
	show(pass, event, true);
}

static void see(void *arg, const struct event *event)
{
	show(arg, event, true);
}

/*
 * Another thread has written the records, so that each is a miss of this core's cache: it is asked for some events
 * before it is read. The fields that analyses read lie behind the common fields. A gap has no record, so the address is
 * a number.
 */
enum { EVENTS_AHEAD = 8, FIELDS_AT = 32 };

__attribute__((always_inline)) static inline void show_batch(struct pass *pass, const struct event *events, size_t nr,
							     bool cuts, const struct reader_consumer *after)
{
	const struct event *end = events + nr;

	for (const struct event *event = events; event < end; event++) {
		if (event + EVENTS_AHEAD < end)
			__builtin_prefetch((const void *)((uintptr_t)event[EVENTS_AHEAD].data + FIELDS_AT));
		show(pass, event, cuts);
		if (after)
			after->see(after->arg, event);
	}
}

static void see_batch(void *arg, const struct event *events, size_t nr)
{
	if (((struct pass *)arg)->block_ns)
		show_batch(arg, events, nr, true, NULL);
	else
		show_batch(arg, events, nr, false, NULL);
}

/*
 * An analysis neither stops the reader nor looks ahead. Unless it has analysis_ops::shares, it is not made in slices of
 * time, as texts are: what it adds up at an event depends on the state, which is on when each task began to run, wait
 * or sleep, however long ago. A slice would have to guess that of each task that sleeps when it begins, and a wrong
 * guess is in sums, samples and longest waits, from which it cannot be taken back. What can be divided is the analyses:
 * some see the same events in another thread, with a state of their own, which is the same after each event.
 */
static int run_divided(struct pass *pass, struct fail *fail)
{
	const struct relay_consumer consumers[] = { { see_batch, pass }, { see_batch, pass->apart } };

	return relay_run(pass->reader, consumers, array_size(consumers), fail);
}

static int run_batches(struct pass *pass, const struct reader_consumer *after, struct fail *fail)
{
	struct batches *batches = NULL;
	const struct event *events = NULL;
	int r = batches_new(pass->reader, &batches, fail);

	while (!r && (r = batches_next(batches, &events, fail)) > 0) {
		if (after)
			show_batch(pass, events, (size_t)r, true, after);
		else
			see_batch(pass, events, (size_t)r);
		r = 0;
	}
	batches_free(batches);
	return r;
}

int pass_end(struct pass *pass, struct fail *fail)
{
	int r = pass->apart ? pass_end(pass->apart, fail) : 0;

	state_settle(&pass->state);
	pass->ended = true;
	if (pass->failed || pass->dispatch.failed || pass->state.failed || pass->budget.failed ||
	    pass->budget_apart.failed)
		return fail_memory(fail);
	return state_adds_up(&pass->state, fail) ? r : -EPROTO;
}

bool pass_is_full(const struct pass *pass)
{
	return pass->state.nr_tasks >= PASS_TASKS_MAX && pass->state.nr_tasks / 2 >= pass->kept;
}

int pass_restart(struct pass *pass, struct fail *fail)
{
	int r = state_restart(&pass->state) ? 0 : fail_memory(fail);

	pass->ended = false;
	pass->kept = pass->state.nr_tasks;
	share_budget(pass);
	dispatch_clear(&pass->dispatch);
	for (size_t i = 0; !r && i < pass->nr_items; i++) {
		struct pass_item *item = &pass->items[i];

		analysis_free(item->ops, item->analysis);
		item->analysis = NULL;
		r = create(pass, item, fail);
	}
	return r;
}

int pass_run(struct pass *pass, const struct reader_consumer *after, struct fail *fail)
{
	struct reader_consumer consumers[2] = { { see, pass } };
	int r;

	if (after)
		consumers[1] = *after;
	/* A consumer that is not ours may stop the reader. */
	if (after && !pass->reader->ahead)
		r = reader_run(pass->reader, consumers, array_size(consumers), fail);
	else
		r = pass->apart ? run_divided(pass, fail) : run_batches(pass, after, fail);
	return r ? r : pass_end(pass, fail);
}

static bool has_tracer(const struct pass *pass, const char *tracer)
{
	for (size_t i = 0; tracer && i < pass->reader->nr_buffers; i++)
		if (pass->reader->buffers[i].context->tracer_known &&
		    !strcmp(pass->reader->buffers[i].context->tracer, tracer))
			return true;
	return false;
}

bool pass_is_part(const struct pass *pass)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (pass->reader->buffers[i].window.since || pass->reader->buffers[i].window.until != UINT64_MAX)
			return true;
	return pass->reader->limited;
}

int pass_nothing(const struct pass *pass, const struct analysis_ops *ops, const char *what, const char *with,
		 struct fail *fail)
{
	size_t least = ops->essential ? ops->essential : 1, recorded = 0;

	if (pass_is_part(pass))
		return fail_set(fail, -ENODATA, "%s: only a part of the file was looked at", what);
	if (has_tracer(pass, ops->tracer))
		return fail_set(fail, -ENODATA, "%s, although the tracer %s recorded: none occurred", what,
				ops->tracer);
	for (size_t i = 0; i < least && ops->wants[i].event; i++)
		recorded += pass_recorded(pass, &ops->wants[i]);
	if (recorded < least)
		return fail_set(fail, -ENODATA, "%s; record with %s", what, with);
	return fail_set(fail, -ENODATA, "%s, although %s%s%s%s recorded: none occurred", what, ops->wants[0].event,
			least > 1 ? "," : "", least > 1 ? ops->wants[1].event : "",
			strchr(ops->wants[0].event, ',') || least > 1 ? " were" : " was");
}

/* An imported text may lack times. */
static void put_no_times(const struct pass *pass, struct findings *findings)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		lines += imported_without_time(pass->reader->buffers[i].context);
	if (lines)
		findings_note(findings,
			      "%" PRIu64
			      " line%s of the function graph had no time in the imported text: times between "
			      "functions, and between them and other events, are not those of the kernel",
			      lines, text_plural(lines));
}

int pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail)
{
	const struct pass_item *item = &pass->items[index];
	int r = item->ops->finish(item->analysis, findings, fail);

	if (!r)
		pass_missing(pass, item->ops, SIZE_MAX, findings);
	if (!r && analysis_named(item->ops->name))
		findings_missing_end(findings, item->ops->name);
	if (!r)
		pass_put_filters(pass, item->ops, findings);
	if (!r)
		pass_put_names(pass, item->ops, findings);
	if (!r)
		put_no_times(pass, findings);
	if (!r && pass->state.losses)
		findings_broken(findings, pass->state.losses, "gaps");
	if (!r && pass->state.breaks && pass->state.events[STATE_SWITCH])
		findings_note(
			findings,
			"%" PRIu64
			" time%s a task was not on the CPU where the last sched_switch had left it: some sched_switch "
			"events were not recorded",
			pass->state.breaks, text_plural(pass->state.breaks));
	return r || !findings->failed ? r : fail_memory(fail);
}

bool pass_is_self(const struct pass *pass, int32_t pid)
{
	for (size_t i = 0; i < pass->nr_self; i++)
		if (pass->self[i] == pid)
			return true;
	return false;
}

void pass_put_task(const struct pass *pass, uint32_t id, struct table *table)
{
	const struct state_task *task = id < pass->state.nr_tasks ? &pass->state.tasks[id] : NULL;

	table_cell(table, task ? pass_comm(pass, task) : "");
	if (task)
		table_cell_s64(table, task->pid);
	else
		table_cell(table, "-");
}

void pass_put_waker(const struct pass *pass, int32_t waker, struct table *table)
{
	uint32_t task = waker > 0 ? state_task_once(&pass->state, waker) : STATE_NO_TASK;

	if (task != STATE_NO_TASK && *pass_comm(pass, &pass->state.tasks[task]))
		table_cell(table, pass_comm(pass, &pass->state.tasks[task]));
	else if (waker > 0)
		table_cellf(table, "%" PRId32, waker);
	else
		table_cell(table, waker ? "" : "an interrupt");
}

void pass_spread(struct table *table, const struct samples *samples)
{
	uint64_t quantiles[2];

	if (!samples->count) {
		for (int i = 0; i < 3; i++)
			table_cell(table, "-");
		return;
	}
	samples_quantiles(samples, (const unsigned[]){ 500, 990 }, array_size(quantiles), quantiles);
	table_cell_u64(table, quantiles[0]);
	if (samples->count < SAMPLES_P99_MIN)
		table_cell(table, "-");
	else
		table_cell_u64(table, quantiles[1]);
	table_cell_u64(table, samples->max);
}

void pass_cells(struct table *table, const struct samples *samples)
{
	table_cell_u64(table, samples->count);
	pass_spread(table, samples);
}
