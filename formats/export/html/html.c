// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A timeline as one HTML file without dependencies: the activity of each CPU and each task as bands of slices
 * (bands_internal.h), which a script in the file draws, and the tables of weft summary. The bands are folded until the
 * file has the requested size: short adjacent slices are then merged, and merged events have no text. So memory depends
 * on that size, not on the number of events. The slices are those of lib/meaning/timeline/timeline.h.
 */
#include "formats/export/html/html_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/stacks_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/meaning/timeline/path.h"
#include "lib/meaning/timeline/timeline.h"

enum { SIZE_DEFAULT = 20 << 20, SIZE_LEAST = 64 << 10, STACKS_MAX = 1 << 19 };

/* Rows of interrupts: an interrupt is drawn below the one that it interrupts. */
enum { ROW_SOFT, ROW_TASKLET, ROW_HARD };

struct html_kind {
	uint32_t name; /* label */
};

/* The names by which the script colours the modes; NULL: not shown. */
static const char *const mode_names[TASK_MODES] = {
	[TASK_NEW] = "new",         [TASK_RUNNING] = "running", [TASK_PREEMPTED] = "preempted",
	[TASK_WAKING] = "waking",   [TASK_QUEUED] = "runnable", [TASK_SLEEPING] = "sleeping",
	[TASK_BLOCKED] = "blocked", [TASK_STOPPED] = "stopped",
};

static uint64_t since_start(const struct html *html, uint64_t ts)
{
	return ts > html->start ? ts - html->start : 0;
}

static const struct html_kind *kind_of(const struct html_buffer *buffer, const struct event *event)
{
	struct html *html = buffer->html;
	const struct format *format = event->type->format;
	struct html_kind *kind = kinds_find(&html->kinds, event);
	char name[256];

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind) {
		if (format) {
			snprintf(name, sizeof(name), "%s:%s", format->system, format->name);
		} else {
			snprintf(name, sizeof(name), "event %" PRId32, event->type->id);
		}
		kind->name = html_label(html, name, strlen(name));
	}
	if (kind && kinds_set(&html->kinds, event, kind))
		return kind;
	export_no_memory(&html->export);
	return NULL;
}

static void add(struct html *html, const struct timeline_slice *from, enum band_kind kind, uint32_t id, unsigned row,
		uint32_t name)
{
	const struct slice slice = { .start = since_start(html, from->start),
				     .lasted = from->to > from->start ? from->to - from->start : 0,
				     .name = name };

	if (name != LABEL_NONE)
		bands_add(&html->bands, kind, from->buffer, id, row, &slice);
}

static uint32_t label_of(struct html *html, const struct timeline_slice *slice)
{
	char text[TIMELINE_NAME];
	size_t len;
	const char *name = timeline_name(html->timeline, slice, text, &len);

	return html_label(html, name, len);
}

static uint32_t label_of_function(struct html *html, const struct timeline_slice *slice)
{
	struct html_buffer *buffer = &html->buffers[slice->buffer];
	uint64_t address = slice->track->frames[slice->track->nr_frames - 1].func;
	struct html_function *function = &buffer->functions[address * 0x9e3779b97f4a7c15u >> (64 - HTML_FUNCTION_BITS)];
	uint32_t label;

	if (function->label && function->address == address)
		return function->label - 1;
	label = label_of(html, slice);
	if (label != LABEL_NONE)
		*function = (struct html_function){ address, label + 1 };
	return label;
}

/* Most calls have one of few numbers, which are those of one event. */
static uint32_t label_of_call(struct html *html, const struct timeline_slice *slice)
{
	struct html_call *call = &html->calls[((uint64_t)slice->number + slice->event->type->index) % HTML_CALLS];

	if (call->type != slice->event->type || call->number != slice->number)
		*call = (struct html_call){ slice->event->type, slice->number, label_of(html, slice) };
	return call->label;
}

static void add_function(struct html *html, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	int32_t depth = track->frames[track->nr_frames - 1].depth;
	enum band_kind kind = track->interrupt ? BAND_GRAPH_IRQ : track->pid ? BAND_GRAPH : BAND_GRAPH_IDLE;

	if (depth < 0 || depth >= BANDS_ROWS) {
		html->deep++;
		return;
	}
	add(html, slice, kind, kind == BAND_GRAPH ? (uint32_t)track->pid : track->cpu, (unsigned)depth,
	    label_of_function(html, slice));
}

static uint32_t name_run(void *arg, uint32_t id)
{
	struct html *html = arg;
	const struct state_task *task = &timeline_state(html->timeline)->tasks[id];
	const char *name =
		*task->comm ? task->comm : context_comm(html->buffers[0].context, task->pid, COMMS_LAST).text;

	return html_label(html, name, strnlen(name, HTML_NAME_MAX));
}

/* Which task had each CPU, without idle tasks. */
static void add_run(struct html *html, const struct timeline_slice *slice)
{
	if (!timeline_state(html->timeline)->tasks[slice->task].idle)
		add(html, slice, BAND_CPU, slice->cpu, 0,
		    slice->note == TIMELINE_NO_NOTE ? label_of(html, slice) : slice->note);
}

static void add_state(struct html *html, const struct timeline_slice *slice)
{
	const char *name = mode_names[slice->mode->mode];
	uint32_t *label = &html->modes[slice->mode->mode];

	if (!name || timeline_state(html->timeline)->tasks[slice->task].idle)
		return;
	if (!*label)
		*label = html_label(html, name, strlen(name)) + 1;
	add(html, slice, BAND_STATE, (uint32_t)slice->pid, 0, *label - 1);
}

static void see_event(void *arg, const struct event *event, enum timeline_part part)
{
	struct html *html = arg;
	struct html_buffer *buffer = &html->buffers[event->buffer];
	const struct html_kind *kind = kind_of(buffer, event);

	(void)part;
	if (kind && kind->name != LABEL_NONE)
		html_add_moment(buffer, event, since_start(html, event->ts), kind->name);
}

static void add_mark(struct html *html, const struct timeline_slice *slice)
{
	if (slice->depth < BANDS_ROWS)
		add(html, slice, BAND_MARK, (uint32_t)slice->pid, slice->depth, label_of(html, slice));
	else
		html->deep++;
}

/* Spans that may overlap: in the first row that has room. */
static void add_beside(struct html *html, const struct timeline_slice *slice, enum band_kind kind, uint32_t id)
{
	const struct bands_item *item = bands_item(&html->bands, kind, slice->buffer, id, 0);
	unsigned row = 0;

	while (item && row + 1 < BANDS_ROWS && item->band.added && item->band.end > since_start(html, slice->start))
		item = bands_item(&html->bands, kind, slice->buffer, id, ++row);
	add(html, slice, kind, id, row, label_of(html, slice));
}

/* The row of a counter among those of its process; false: it has none. */
static bool row_of_value(struct html *html, const struct timeline_slice *slice, unsigned *ret)
{
	uint32_t *row = u64_map_get(&html->values, slice->owner << 32 | slice->part), *nr;

	if (row && !*row) {
		nr = u64_map_get(&html->nr_values, slice->owner);
		if (!nr)
			row = NULL;
		else
			*row = ++*nr;
	}
	if (!row)
		export_no_memory(&html->export);
	if (!row || *row > BANDS_ROWS)
		return false;
	*ret = *row - 1;
	return true;
}

static void add_value(struct html *html, const struct timeline_slice *from)
{
	const struct slice slice = { .start = since_start(html, from->start),
				     .name = label_of(html, from),
				     .value = from->number > 0 ? (uint64_t)from->number : 0 };
	unsigned row;

	if (slice.name != LABEL_NONE && row_of_value(html, from, &row))
		bands_add(&html->bands, BAND_VALUE, from->buffer, (uint32_t)from->owner, row, &slice);
}

static void add_counter(struct html *html, const struct timeline_slice *from)
{
	const struct html_kind *kind = kind_of(&html->buffers[from->buffer], from->event);
	const struct slice slice = { .start = since_start(html, from->start),
				     .name = kind ? kind->name : LABEL_NONE,
				     .value = (uint64_t)from->number };

	if (slice.name != LABEL_NONE && from->counter != TIMELINE_MEMORY)
		bands_add(&html->bands, BAND_COUNTER, from->buffer, from->cpu, from->counter == TIMELINE_IDLE, &slice);
}

static void add_loss(struct html *html, const struct timeline_slice *from)
{
	struct slice slice = { .start = since_start(html, from->start), .name = label_of(html, from) };
	char text[64];

	html->lost++;
	if (from->event->lost > 0)
		snprintf(text, sizeof(text), "%" PRId64 " events were lost here", from->event->lost);
	else if (from->event->lost == EVENT_LOST_REST)
		snprintf(text, sizeof(text), "the file is damaged: it has no more events of this CPU");
	else
		snprintf(text, sizeof(text), "events were lost here; the kernel did not count them");
	html_pack_text(html, text, strlen(text), &html->text);
	slice.text = html->text.start;
	slice.text_len = out_len(&html->text);
	if (slice.name != LABEL_NONE)
		bands_add(&html->bands, BAND_LOST, from->buffer, from->cpu, 0, &slice);
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	const struct html *html = arg;

	if (html->shares)
		stacks_enter(html->stacks, event, track);
}

static void add_slice(void *arg, const struct timeline_slice *slice)
{
	struct html *html = arg;

	if (html->shares && (slice->kind == TIMELINE_STATE || slice->kind == TIMELINE_FUNCTION))
		stacks_slice(html->stacks, slice);
	switch (slice->kind) {
	case TIMELINE_RUN:
		add_run(html, slice);
		break;
	case TIMELINE_STATE:
		add_state(html, slice);
		break;
	case TIMELINE_CALL:
		add(html, slice, BAND_CALL, (uint32_t)slice->pid, 0, label_of_call(html, slice));
		break;
	case TIMELINE_IRQ:
	case TIMELINE_VECTOR:
		add(html, slice, BAND_IRQ, slice->cpu, ROW_HARD, label_of(html, slice));
		break;
	case TIMELINE_SOFTIRQ:
		add(html, slice, BAND_IRQ, slice->cpu, ROW_SOFT, label_of(html, slice));
		break;
	case TIMELINE_TASKLET:
		add(html, slice, BAND_IRQ, slice->cpu, ROW_TASKLET, label_of(html, slice));
		break;
	case TIMELINE_FUNCTION:
		add_function(html, slice);
		break;
	case TIMELINE_COUNTER:
		if (slice->counter == TIMELINE_MARKED)
			add_value(html, slice);
		else
			add_counter(html, slice);
		break;
	case TIMELINE_MARK:
		add_mark(html, slice);
		break;
	case TIMELINE_ASYNC:
		add_beside(html, slice, BAND_ASYNC, (uint32_t)slice->owner);
		break;
	case TIMELINE_PAIR:
		if (slice->of_task)
			add_beside(html, slice, BAND_PAIR, (uint32_t)slice->pid);
		else if (slice->on_cpu)
			add_beside(html, slice, BAND_PAIR_CPU, slice->cpu);
		break;
	case TIMELINE_INSTANT: /* it is among the events */
		break;
	case TIMELINE_LOSS:
		add_loss(html, slice);
		break;
	}
}

static void html_event(struct export *export, const struct event *event)
{
	struct html *html = (struct html *)export;
	enum timeline_part part;

	if (!html->started) {
		html->started = true;
		html->start = event->ts;
		if (export->state)
			timeline_follow(html->timeline, export->state);
	}
	if (event->ts > html->end)
		html->end = event->ts;
	part = export_see(export, html->timeline, event);
	if (html->shares)
		stacks_saw(html->stacks, export, event, part);
	else
		stacks_see(html->stacks, export, event);
	html->events += event->kind == EVENT_RECORD && export->shows;
	if (html->bands.failed)
		export_no_memory(export);
}

static void add_link(struct html *html, const struct path *path, const struct path_link *link)
{
	struct slice slice = { .start = since_start(html, link->from), .lasted = link->to - link->from };
	char text[HTML_NAME_MAX];

	snprintf(text, sizeof(text), "%.32s%s%s%s%.96s", link->task.comm, *link->task.comm ? " " : "", link->state,
		 *link->cause ? " " : "", link->cause);
	slice.name = html_label(html, text, strlen(text));
	if (slice.name != LABEL_NONE)
		bands_add(&html->bands, BAND_WHY, 0, (uint32_t)path->task.pid,
			  link->depth < BANDS_ROWS ? link->depth : BANDS_ROWS - 1, &slice);
}

/* Below the task, each link in the row of its depth. What lies in another path of the task is part of that. */
static void add_paths(struct html *html, const struct export *export)
{
	for (size_t i = 0; i < export->nr_paths; i++) {
		const struct path *path = &export->paths[i];
		bool inside = false;

		for (size_t k = 0; k < i; k++)
			inside |= export->paths[k].task.pid == path->task.pid && export->paths[k].to > path->from;
		for (size_t k = 0; !inside && k < path->nr_links; k++)
			add_link(html, path, &path->links[k]);
	}
}

/* What the thread did that is a CPU of the guest, in the time of the page. */
static void add_vcpu(struct html *html, uint32_t cpu)
{
	const struct vcpus *vcpus = html->guest->vcpus;
	char text[VCPU_SPAN_NAME];

	for (uint64_t from = html->start; from < html->end;) {
		struct vcpu_span span = vcpus_span(vcpus, cpu, from);
		uint64_t to = span.to < html->end ? span.to : html->end;
		const char *name = vcpu_span_name(vcpus, &span, text);
		const struct slice slice = { .start = since_start(html, from),
					     .lasted = to - from,
					     .name = html_label(html, name, strlen(name)) };

		if (slice.name != LABEL_NONE && span.mode != VCPU_UNKNOWN)
			bands_add(&html->bands, BAND_VCPU, 0, cpu, 0, &slice);
		from = to;
	}
}

static void html_end(struct export *export)
{
	struct html *html = (struct html *)export;

	timeline_end(html->timeline, html->end);
	for (uint32_t i = 0; html->guest && i < vcpus_count(html->guest->vcpus); i++)
		add_vcpu(html, i);
	add_paths(html, export);
	html_end_moments(html);
	if (html->bands.failed || timeline_starved(html->timeline))
		export_no_memory(export);
	if (html->deep)
		export_note(export, "%" PRIu64 " calls and spans nested in more than %d others are not shown",
			    html->deep, BANDS_ROWS);
	html_end_flame(html);
	html_write(html);
}

static void html_free(struct export *export)
{
	struct html *html = (struct html *)export;

	for (size_t i = 0; html->buffers && i < html->nr_buffers; i++) {
		if (html->buffers[i].sink)
			html->buffers[i].sink->ops->free(html->buffers[i].sink);
		html_free_moments(&html->buffers[i]);
	}
	free(html->buffers);
	stacks_free(html->stacks);
	kinds_release(&html->kinds);
	timeline_free(html->timeline);
	bands_release(&html->bands);
	u64_map_release(&html->values);
	u64_map_release(&html->nr_values);
	labels_release(&html->labels);
	if (html->text.start)
		out_release(&html->text);
	if (html->body.start)
		out_release(&html->body);
	free(html);
}

/* All buffers are of one machine, and have one timeline. */
static int init_timeline(struct html *html, const struct reader *reader, bool preempt_rt, struct fail *fail)
{
	const struct timeline_calls calls = {
		.arg = html, .wanted = ~0u, .slice = add_slice, .begin = name_run, .enter = enter, .event = see_event
	};

	html->timeline = timeline_new(&calls, preempt_rt);
	for (size_t i = 0; html->timeline && i < html->nr_buffers; i++) {
		if (!timeline_add(html->timeline, (uint16_t)i, html->buffers[i].context))
			return fail_memory(fail);
		export_choose(html->timeline, (uint16_t)i, reader);
	}
	return html->timeline ? 0 : fail_memory(fail);
}

static int init_buffer(struct html_buffer *buffer, struct fail *fail)
{
	return ftrace_new_reader(&ftrace_sink, buffer->context, &(struct sink_options){ .raw = false }, &buffer->sink,
				 fail);
}

static int init(struct html *html, const struct export_input *input, struct fail *fail)
{
	const struct context *first = input->reader->buffers[0].context;
	size_t nr_buffers = input->reader->nr_buffers;
	int r = 0;

	if (reader_is_of_one(input->reader, fail))
		return -EINVAL;
	html->limit = input->max_size ? input->max_size : SIZE_DEFAULT;
	if (html->limit < SIZE_LEAST)
		return fail_usage(fail, fail_set(fail, -EINVAL, "--max-size: a timeline needs at least %d KB",
						 SIZE_LEAST >> 10));
	/* Bands are written as base64; the rest of the size is for names and words. */
	bands_init(&html->bands, html->limit / 8 * 5);
	u64_map_init(&html->values, sizeof(uint32_t));
	u64_map_init(&html->nr_values, sizeof(uint32_t));
	labels_init(&html->labels);
	html->buffers = calloc(nr_buffers + 1, sizeof(*html->buffers));
	if (!html->buffers || !out_init(&html->text, 2 * HTML_TEXT_MAX) || !out_init(&html->body, HTML_TEXT_MAX) ||
	    kinds_init(&html->kinds, nr_buffers, free))
		return fail_memory(fail);
	html->nr_buffers = nr_buffers;
	html->guest = input->guest;
	for (size_t i = 0; !r && i < nr_buffers; i++) {
		html->buffers[i] = (struct html_buffer){ .html = html,
							 .context = input->reader->buffers[i].context,
							 .index = (uint16_t)i };
		r = init_buffer(&html->buffers[i], fail);
	}
	if (!r)
		r = init_timeline(html, input->reader, first->preempt_rt, fail);
	if (!r)
		timeline_count_fields(html->timeline, input->counters, input->nr_counters);
	if (!r)
		r = stacks_new(input, &html->stacks, fail);
	if (r)
		return r;
	stacks_limit(html->stacks, STACKS_MAX);
	html->shares = stacks_share(html->stacks, html->timeline);
	return 0;
}

static int html_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct html *html;
	int r;

	if (!input->reader->nr_buffers)
		return fail_set(fail, -ENODATA, "the file has no buffer from which a timeline can be made");
	html = calloc(1, sizeof(*html));
	r = html ? init(html, input, fail) : fail_memory(fail);
	if (r && html)
		html_free(&html->export);
	else if (!r)
		*ret = &html->export;
	return r;
}

const struct export_ops html_export = {
	.name = "html",
	.summary = "a timeline with the tables of weft summary and a flame graph: one file, for a browser",
	.takes_size = true,
	.host = EXPORT_GUEST_ALONE,
	.takes_tables = true,
	.takes_counters = true,
	.paths = 3,
	.of_tasks = true,
	.create = html_new,
	.free = html_free,
	.event = html_event,
	.end = html_end,
};
