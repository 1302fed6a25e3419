// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/pass.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass_lines_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/imported.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/query/file_calls.h"
#include "lib/meaning/query/mark_spans.h"
#include "lib/meaning/reader/batches.h"
#include "lib/meaning/reader/fanout.h"
#include "lib/meaning/reader/reader.h"

struct flushing {
	struct out *lines;
	int (*flush)(struct out *lines, struct fail *fail);
	int failed;
	struct fail *fail;
};

static void flush_some(void *arg, const struct event *event)
{
	struct flushing *flushing = arg;

	(void)event;
	if (out_len(flushing->lines) >= PASS_LINES_SIZE && !flushing->failed)
		flushing->failed = flushing->flush(flushing->lines, flushing->fail);
}

int pass_run_lines(struct pass *pass, int (*flush)(struct out *lines, struct fail *fail), struct fail *fail)
{
	struct flushing flushing = { .lines = pass->lines, .flush = flush, .fail = fail };
	int r = pass_run(pass, &(struct reader_consumer){ flush_some, &flushing }, fail);

	return r ? r : flushing.failed;
}

/* Which types of events occur, were recorded, or are missing. */

bool pass_is_named(const char *patterns, const char *name)
{
	struct text_word word;
	char pattern[256];

	while (patterns && text_next_word(&patterns, ",", &word)) {
		snprintf(pattern, sizeof(pattern), "%.*s%s", (int)word.len, word.at,
			 memchr(word.at, ':', word.len) ? "" : ":*");
		if (text_glob(pattern, name))
			return true;
	}
	return false;
}

/* Whether a word of -e stands for "system:event": it, "system/event", the system or the event alone, with globs. */
static bool is_asked(struct text_word word, const char *name)
{
	char pattern[256], *slash;
	bool ok;

	snprintf(pattern, sizeof(pattern), "%.*s", (int)word.len, word.at);
	slash = strchr(pattern, '/');
	if (slash)
		*slash = ':';
	if (strchr(pattern, ':'))
		return text_glob(pattern, name);
	ok = text_glob(pattern, strchr(name, ':') ? strchr(name, ':') + 1 : name);
	snprintf(pattern, sizeof(pattern), "%.*s:*", (int)word.len, word.at);
	return ok || text_glob(pattern, name);
}

/* Whether a file that was made with these criteria (context::selected) has the event: each line of -e has to. */
static bool is_selected(const char *selected, const char *name)
{
	struct text_word line, word;

	while (selected && text_next_word(&selected, "\n", &line)) {
		cleanup_free char *list =
			line.len > 3 && !memcmp(line.at, "-e ", 3) ? strndup(line.at + 3, line.len - 3) : NULL;
		const char *at = list;
		bool any = !list;

		while (at && text_next_word(&at, ",", &word))
			any = any || is_asked(word, name);
		if (!any)
			return false;
	}
	return true;
}

static bool has_line(const char *names, const char *patterns, const char *selected)
{
	struct text_word word;
	char name[256];

	while (text_next_word(&names, "\n", &word)) {
		snprintf(name, sizeof(name), "%.*s", (int)word.len, word.at);
		if (pass_is_named(patterns, name) && is_selected(selected, name))
			return true;
	}
	return false;
}

/* Returns whether such an event occurs, or was enabled and did not happen. */
static bool has_event(const struct reader_buffer *buffer, const char *patterns)
{
	const char *on = buffer->context->switched_on;
	const struct event_type *type;
	char name[256];

	for (size_t at = 0; buffer->events && events_type_at(buffer->events, at, &type); at++) {
		if (!type->format)
			continue;
		snprintf(name, sizeof(name), "%s:%s", type->format->system, type->format->name);
		if (pass_is_named(patterns, name))
			return true;
	}
	return on && has_line(on, patterns, buffer->context->selected);
}

int pass_note_types(struct pass *pass, const struct reader *reader, struct fail *fail)
{
	const struct event_type *type;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++)
			if (type->format &&
			    !buf_addf(&pass->types, "%s:%s\n", type->format->system, type->format->name))
				return fail_memory(fail);
	/* As a string. */
	(void)buf_str(&pass->types);
	return 0;
}

bool pass_has(const struct pass *pass, const char *patterns)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (has_event(&pass->reader->buffers[i], patterns))
			return true;
	return pass->types.len && has_line(pass->types.data, patterns, NULL);
}

void pass_forget_unseen(const struct pass *pass, struct findings *findings, const struct pass_unseen *unseen, size_t nr)
{
	for (size_t i = 0; findings->nr && i < nr; i++)
		if (!pass_has(pass, unseen[i].events))
			table_forget(&findings->items[findings->nr - 1].table, unseen[i].key);
}

bool pass_switches(const struct pass *pass)
{
	return pass->state.events[STATE_SWITCH] || (pass->divides && pass_has(pass, "sched:sched_switch"));
}

bool pass_recorded(const struct pass *pass, const struct analysis_want *want)
{
	return pass_has(pass, want->event) || pass_has(pass, want->instead);
}

static bool is_x86(const char *machine)
{
	return !strncmp(machine, "x86", strlen("x86")) ||
	       (strlen(machine) == 4 && machine[0] == 'i' && !strcmp(machine + 2, "86"));
}

/*
 * Adds the words of a list of events that the traced machine has: exceptions are of x86 only, and so are irq_vectors,
 * beside which other machines have their interrupts in the rest of the list.
 */
static bool list_there(const struct pass *pass, const char *list, struct buf *into)
{
	bool all = !*pass->machine || is_x86(pass->machine) || !strcmp(list, "irq_vectors"), ok = true;
	struct text_word word;

	while (ok && text_next_word(&list, ",", &word)) {
		if (!all &&
		    (text_word_is(word, "irq_vectors") ||
		     (word.len > strlen("exceptions:") && !memcmp(word.at, "exceptions:", strlen("exceptions:")))))
			continue;
		ok = buf_addf(into, "%s%.*s", into->len ? "," : "", (int)word.len, word.at);
	}
	return ok;
}

/* -e cannot record the events that a tracer writes. */
static void put_missing(const struct pass *pass, struct findings *findings, const struct analysis_ops *ops,
			const struct analysis_want *want)
{
	bool traced = ops->tracer && !strncmp(want->event, "ftrace:", strlen("ftrace:"));
	cleanup_buf struct buf list = BUF_INIT;

	if (!list_there(pass, want->event, &list))
		findings->failed = true;
	else if (list.len)
		findings_missing(findings, traced ? "-p" : "-e", traced ? ops->tracer : buf_str(&list), want->what_for);
}

void pass_missing(const struct pass *pass, const struct analysis_ops *ops, size_t nr, struct findings *findings)
{
	for (size_t i = 0; i < nr && ops->wants[i].event; i++)
		if (!pass_recorded(pass, &ops->wants[i]))
			put_missing(pass, findings, ops, &ops->wants[i]);
}

enum { FILTER_SHOWN = 4, EVENTS_SHOWN = 2, FILTER_TEXT = 60 };

/* What the user had the kernel leave out, which is therefore in no figure of a table. */

const struct context *pass_filtered(const struct pass *pass)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (context_has_pids(pass->reader->buffers[i].context))
			return pass->reader->buffers[i].context;
	return NULL;
}

/* The list may be long: its first PIDs stand for it. */
static void filters_put_pids(const struct pass *pass, struct findings *findings)
{
	const struct context *context = pass_filtered(pass);
	const char *list = context->event_pids ? context->event_pids : context->event_pids_left;
	size_t len = 0, nr = 0;
	struct text_word word;
	char pids[64] = "";

	while (list && text_next_word(&list, " \n", &word))
		if (nr++ < FILTER_SHOWN && len + word.len + 2 < sizeof(pids))
			len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%.*s", len ? " " : "", (int)word.len,
						word.at);
	findings_note(findings,
		      "only the tasks of a PID filter were recorded (set_event_pid %s%s%s): what other tasks did, and "
		      "when CPUs were idle, is unknown",
		      pids, nr > FILTER_SHOWN ? " ..." : "",
		      context->event_fork ? ", and what they forked" : "; record with -c to have their children, too");
}

/* A mask of all possible CPUs has at least as many bits as there are CPUs online. */
static void put_cpumask(const struct context *context, struct findings *findings)
{
	const char *list = context->cpumask;
	struct text_word word;
	uint32_t bits = 0;

	while (list && text_next_word(&list, ",\n", &word)) {
		const char *at = word.at;
		uint64_t mask;

		bits += number_hex(&at, &mask) ? (uint32_t)__builtin_popcountll(mask) : 0;
	}
	if (bits && bits < context->online_cpus)
		findings_note(
			findings,
			"%" PRIu32 " of %" PRIu32
			" CPUs were recorded (tracing_cpumask %.*s): what tasks did on the others is unknown, and "
			"counts as sleeping or waiting",
			bits, context->online_cpus, (int)strcspn(context->cpumask, "\n"), context->cpumask);
}

/* Whether an analysis or the state, which all tables of tasks and CPUs depend on, needs the event. */
static bool needs(const struct pass *pass, const struct analysis_ops *ops, const char *name)
{
	for (size_t i = 0; ops->wants[i].event; i++)
		if (pass_is_named(ops->wants[i].event, name) || pass_is_named(ops->wants[i].instead, name))
			return true;
	return pass->state.events[STATE_SWITCH] && !strcmp(name, "sched:sched_switch");
}

/* Names the first events whose filter hides something from the analysis. */
static void put_events(const struct pass *pass, const struct analysis_ops *ops, const struct context *context,
		       struct findings *findings)
{
	const char *at = context->filters;
	char names[400] = "", name[128];
	struct text_word line;
	size_t len = 0, nr = 0;
	bool times = false;

	while (at && text_next_word(&at, "\n", &line)) {
		const char *blank = memchr(line.at, ' ', line.len);
		size_t filter = blank ? line.len - (size_t)(blank + 1 - line.at) : 0;

		snprintf(name, sizeof(name), "%.*s", blank ? (int)(blank - line.at) : 0, line.at);
		if (!needs(pass, ops, name))
			continue;
		times = times || !strncmp(name, "sched:", 6) || !strncmp(name, "irq:", 4);
		if (nr++ >= EVENTS_SHOWN)
			continue;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s (%.*s%s)", len ? ", " : "", name,
					(int)(filter < FILTER_TEXT ? filter : FILTER_TEXT), blank + 1,
					filter > FILTER_TEXT ? "..." : "");
	}
	if (nr)
		findings_note(findings, "recorded with a filter: %s%s: what it left out is in no figure%s", names,
			      nr > EVENTS_SHOWN ? ", ..." : "",
			      times ? ", and its time counts for what came before" : "");
}

/* What was left out when the file was made of another one. */
static void put_selected(const struct context *context, struct findings *findings)
{
	const char *at = context->selected;
	char text[200] = "";
	struct text_word line;
	size_t len = 0;

	while (at && text_next_word(&at, "\n", &line) && len + 1 < sizeof(text))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", len ? " " : "", (int)line.len,
					line.at);
	if (*text)
		findings_note(
			findings,
			"the file was made with %s%s: what that left out is in no figure, and its time counts for "
			"what came before",
			text, len + 1 >= sizeof(text) ? "..." : "");
}

void pass_put_filters(const struct pass *pass, const struct analysis_ops *ops, struct findings *findings)
{
	if (pass->state.events[STATE_SWITCH])
		put_cpumask(pass->reader->buffers[0].context, findings);
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		put_events(pass, ops, pass->reader->buffers[i].context, findings);
	if (pass->state.listed.filtered)
		filters_put_pids(pass, findings);
	put_selected(pass->reader->buffers[0].context, findings);
}

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
	int32_t pid;

	while (pass->nr_self < SELF_MAX && context_next_self(&list, &pid))
		if (!add_self(pass, pid))
			return false;
	return true;
}

static int find_spans(struct pass *pass, struct fail *fail)
{
	int r = 0;

	if (!pass->filter.nr_marks)
		return 0;
	pass->spans = mark_spans_new(pass->filter.marks, pass->filter.nr_marks);
	if (!pass->spans)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < pass->reader->nr_buffers; i++)
		r = mark_spans_add(pass->spans, pass->reader->buffers[i].context, fail);
	mark_spans_end(pass->spans);
	if (!r && !pass->filter.shape && !mark_spans_count(pass->spans))
		return fail_set(fail, -ENODATA, "no span has the name '%s'%s; 'weft marks' shows their names",
				pass->filter.marks[0], pass->filter.nr_marks > 1 ? " or another of --mark" : "");
	return r;
}

static int find_files(struct pass *pass, struct fail *fail)
{
	int r = 0;

	if (!pass->filter.nr_files)
		return 0;
	pass->files = file_calls_new(pass->filter.files, pass->filter.nr_files);
	if (!pass->files)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < pass->reader->nr_buffers; i++)
		r = file_calls_add(pass->files, pass->reader->buffers[i].context, fail);
	if (!r)
		file_calls_end(pass->files);
	return r;
}

int pass_init(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct fail *fail)
{
	const struct context *first = reader->buffers[0].context;
	int r;

	*pass = (struct pass){
		.reader = reader, .filter = *filter, .machine = first->machine, .samples = SAMPLES_BUDGET
	};
	state_init(&pass->state, first->preempt_rt);
	pass->dispatch.state = &pass->state;
	pass_names_begin(pass);
	if (filter->nr_who && filter->nr_comms) {
		(void)fail_set(fail, -EINVAL, "--comm and --%s cannot be combined here: leave one of them out",
			       who_part_word(filter->who[0].part));
		return fail_usage(fail, -EINVAL);
	}
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
	r = find_spans(pass, fail);
	return r ? r : find_files(pass, fail);
}

void pass_release(struct pass *pass)
{
	for (size_t i = 0; i < pass->nr_items; i++)
		analysis_free(pass->items[i].ops, pass->items[i].analysis);
	free(pass->items);
	if (pass->apart)
		pass_release(pass->apart);
	free(pass->apart);
	mark_spans_free(pass->spans);
	file_calls_free(pass->files);
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
	pass->may_divide = pass->reader->ahead > 0;
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

/* The one of the analyses of which only one runs beside the others; NULL: the files have no events of any. */
static const struct analysis_ops *find_apart(const struct pass *pass)
{
	const struct analysis_ops *ops;

	for (size_t i = 0; (ops = analysis_at(i)); i++)
		if (ops->apart && may_occur(pass, ops))
			return ops;
	return NULL;
}

struct pass *pass_of(struct pass *pass, const struct analysis_ops *part)
{
	if (!pass->may_divide || !part->apart || part != find_apart(pass))
		return pass;
	if (!pass->apart)
		pass->apart = calloc(1, sizeof(*pass->apart));
	if (pass->apart && !pass->apart->reader && pass_init(pass->apart, pass->reader, &pass->filter, NULL)) {
		pass_release(pass->apart);
		free(pass->apart);
		pass->apart = NULL;
	}
	if (pass->apart)
		pass->apart->state.no_causes = part->no_causes;
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
	struct event gap;

	if (cuts && pass->block_ns)
		pass->budget.mark = pass->budget_apart.mark = block_of(pass, event->ts);
	if (__builtin_expect(event->kind != EVENT_RECORD, 0)) {
		state_see(&pass->state, event);
		dispatch_gap(&pass->dispatch, event);
		return;
	}
	if (state_rest(&pass->state, event, &gap)) {
		state_see(&pass->state, &gap);
		dispatch_rest(&pass->dispatch, &gap);
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

__attribute__((always_inline)) static inline void show_batch(struct pass *pass, const struct event *events, size_t nr,
							     bool cuts, const struct reader_consumer *after)
{
	const struct event *end = events + nr;

	for (const struct event *event = events; event < end; event++) {
		batches_ask_ahead(event, end);
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
	const struct fanout_consumer consumers[] = { { see_batch, pass }, { see_batch, pass->apart } };

	return fanout_run(pass->reader, consumers, array_size(consumers), fail);
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

	if (pass->divides)
		state_divide(&pass->state);
	state_settle(&pass->state);
	for (size_t i = 0; pass->divides && i < pass->nr_items; i++)
		if (pass->items[i].ops->divide)
			pass->items[i].ops->divide(pass->items[i].analysis);
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
		void *before = item->analysis;

		item->analysis = NULL;
		r = create(pass, item, fail);
		if (!r && pass->divides && item->ops->carry)
			item->ops->carry(item->analysis, before);
		analysis_free(item->ops, before);
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

/* Whether the imported text has lines of a wanted event that are not its fields; writes which. */
static bool lacks_fields(const struct pass *pass, const char *wanted, char *ret, size_t size)
{
	struct text_word word;

	while (text_next_word(&wanted, ",", &word)) {
		const char *colon = memchr(word.at, ':', word.len);

		/* The events of `block` are called block_rq_issue and so on. */
		if (colon)
			snprintf(ret, size, "%.*s", (int)(word.len - (size_t)(colon + 1 - word.at)), colon + 1);
		else
			snprintf(ret, size, "%.*s_*", (int)word.len, word.at);
		for (size_t i = 0; i < pass->reader->nr_buffers; i++)
			if (imported_lacks_fields(pass->reader->buffers[i].context, ret))
				return true;
	}
	return false;
}

int pass_nothing(const struct pass *pass, const struct analysis_ops *ops, struct fail *fail)
{
	size_t least = ops->essential ? ops->essential : 1, recorded = 0;
	char name[64];

	if (pass_is_part(pass))
		return fail_set(fail, -ENODATA, "%s: only a part of the file was looked at", ops->nothing);
	if (pass->reader->buffers[0].context->selected)
		return fail_set(fail, -ENODATA,
				"%s: the file was made of some of the events of another one ('weft info' says which)",
				ops->nothing);
	if (reader_is_damaged(pass->reader))
		return fail_set(fail, -ENODATA, "%s in what can be read of the file, which is damaged", ops->nothing);
	if (has_tracer(pass, ops->tracer))
		return fail_set(fail, -ENODATA, "%s, although the tracer %s recorded: none occurred", ops->nothing,
				ops->tracer);
	for (size_t i = 0; i < least && ops->wants[i].event; i++)
		if (lacks_fields(pass, ops->wants[i].event, name, sizeof(name)))
			return fail_set(
				fail, -ENODATA,
				"no line of %s in the imported text has its fields: these lines are cut, or of a "
				"form that weft does not know; 'weft import --formats-from FILE', of the same "
				"kernel, may know it",
				name);
	for (size_t i = 0; i < least && ops->wants[i].event; i++)
		recorded += pass_recorded(pass, &ops->wants[i]);
	if (recorded < least)
		return fail_set(fail, -ENODATA, "%s; record with %s", ops->nothing, ops->recorded_by);
	if (pass_is_narrow(pass))
		return fail_set(fail, -ENODATA, "%s, where only some tasks are chosen, as by --comm or --pid",
				ops->nothing);
	return fail_set(fail, -ENODATA, "%s, although %s%s%s%s recorded: none occurred", ops->nothing,
			ops->wants[0].event, least > 1 ? "," : "", least > 1 ? ops->wants[1].event : "",
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
			      "%s line%s of the function graph had no time in the imported text: times between "
			      "functions, and between them and other events, are not those of the kernel",
			      text_count((char[TEXT_HUMAN]){ 0 }, lines), text_plural(lines));
}

int pass_finish_part(const struct pass *pass, const struct analysis_ops *ops, void *analysis, struct findings *findings,
		     struct fail *fail)
{
	int r = ops->finish(analysis, findings, fail);

	return r == PASS_NOTHING ? pass_nothing(pass, ops, fail) : r;
}

int pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail)
{
	const struct pass_item *item = &pass->items[index];
	int r = pass_finish_part(pass, item->ops, item->analysis, findings, fail);

	if (!r)
		pass_missing(pass, item->ops, SIZE_MAX, findings);
	if (!r)
		pass_put_unknown(pass, findings);
	if (!r && analysis_named(item->ops->name))
		findings_missing_end(findings, item->ops->name);
	if (!r)
		pass_put_filters(pass, item->ops, findings);
	if (!r)
		pass_put_names(pass, item->ops, findings);
	if (!r)
		put_no_times(pass, findings);
	if (!r && pass->state.losses > pass->state.ends)
		findings_broken(findings, pass->state.losses - pass->state.ends, "gaps");
	if (!r && reader_is_damaged(pass->reader))
		findings_note(findings,
			      "the file is damaged: events that cannot be read are not counted, and what went on "
			      "while they are missing is broken by lost events");
	if (!r && pass->state.breaks && pass->state.events[STATE_SWITCH])
		findings_note(
			findings,
			"%s time%s a task was not on the CPU where the last sched_switch had left it: %s; what it and "
			"that CPU did from then on is counted as unknown, and the other figures are too small by that",
			text_count((char[TEXT_HUMAN]){ 0 }, pass->state.breaks), text_plural(pass->state.breaks),
			pass->state.losses || reader_is_damaged(pass->reader) ?
				"the event of the switch is lost, or the kernel did not write it" :
				"the file lacks the event of the switch, though none is lost: the kernel "
				"did not write it");
	return r || !findings->failed ? r : fail_memory(fail);
}

static const struct state_task *task_of(const struct pass *pass, uint32_t id)
{
	return id < pass->state.nr_tasks ? &pass->state.tasks[id] : NULL;
}

void pass_put_comm(struct table *table, const struct pass *pass, uint32_t id)
{
	const struct state_task *task = task_of(pass, id);

	table_cell(table, task ? pass_comm(pass, task) : "");
}

void pass_note_comm(const struct pass *pass, uint32_t id, char into[TASK_COMM_LEN])
{
	const struct state_task *task = task_of(pass, id);

	memcpy(into, task ? task->comm : (char[TASK_COMM_LEN]){ "" }, TASK_COMM_LEN);
}

void pass_put_comm_then(struct table *table, const struct pass *pass, const char *then, uint32_t id)
{
	if (pass_shows_comm(pass, then))
		table_cell(table, then);
	else
		pass_put_comm(table, pass, id);
}

void pass_put_pid(struct table *table, const struct pass *pass, uint32_t id)
{
	const struct state_task *task = task_of(pass, id);

	table_cell_known_s64(table, task, task ? task->pid : 0);
}

const char *pass_waker(const struct pass *pass, struct waker waker, char text[PASS_WAKER])
{
	uint32_t task = waker.pid > 0 ? state_task_once(&pass->state, waker.pid) : STATE_NO_TASK;
	const char *name = causes_name(&pass->state.causes, waker.name);

	if (task != STATE_NO_TASK && *pass_comm(pass, &pass->state.tasks[task]))
		return pass_comm(pass, &pass->state.tasks[task]);
	snprintf(text, PASS_WAKER, "%" PRId32, waker.pid);
	return waker.pid > 0 ? text : waker.pid < 0 ? "" : *name ? name : "an interrupt";
}

void pass_put_waker(struct table *table, const struct pass *pass, struct waker waker)
{
	char text[PASS_WAKER];

	table_cell(table, pass_waker(pass, waker, text));
}

void pass_put_ended_by(struct table *table, const struct pass *pass, const char *before, struct waker waker)
{
	char text[PASS_WAKER];
	const char *name = pass_waker(pass, waker, text);

	/* Interrupts and timers have no PID. */
	if (waker.pid > 0)
		table_cellf(table, "%s%s-%" PRId32, before, name, waker.pid);
	else
		table_cellf(table, "%s%s", before, name);
}

struct percentiles percentiles_of(const struct samples *samples)
{
	struct percentiles ret = { .count = samples->count, .max = samples->max };
	uint64_t quantiles[2];

	samples_quantiles(samples, (const unsigned[]){ 500, 990 }, 2, quantiles);
	ret.p50 = quantiles[0];
	ret.p99 = quantiles[1];
	return ret;
}
