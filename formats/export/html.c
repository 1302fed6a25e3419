// SPDX-License-Identifier: GPL-2.0-only
/*
 * A timeline as one HTML file without dependencies: the activity of each CPU and each task as bands of slices (band.h),
 * which a script in the file draws, and the tables of weft summary. The bands are folded until the file has the
 * requested size: short adjacent slices are then merged, and merged events have no text. So memory depends on that
 * size, not on the number of events. Runs and states come from lib/state, system calls and interrupts from
 * lib/follow/spans.h, calls from frames.h.
 */
#include "formats/export/html_internal.h"

#include "formats/export/exports_internal.h"
#include "formats/export/stacks_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/event/context.h"
#include "lib/event/place.h"
#include "lib/event/softirqs.h"
#include "lib/event/tasks.h"
#include "lib/follow/spans.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"
#include "lib/timeline/call_name.h"
#include "lib/timeline/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, SIZE_DEFAULT = 20 << 20, SIZE_LEAST = 64 << 10, STACKS_MAX = 1 << 19 };

/* Rows of interrupts: an interrupt is drawn below the one that it interrupts. */
enum { ROW_SOFT, ROW_TASKLET, ROW_HARD };

enum html_role { HTML_NONE, HTML_CALL, HTML_SOFT, HTML_TASKLET, HTML_IRQ, HTML_VECTOR, HTML_COUNTER };

struct html_kind {
	uint32_t name;       /* label */
	uint8_t role;        /* enum html_role */
	struct place number; /* number of the system call, the softirq, the interrupt; a counter's CPU */
	struct place value;  /* value of a counter; the name of an interrupt's handler */
};

uint32_t html_label(struct html *html, const char *text, size_t len)
{
	bool is_new;
	uint32_t label = labels_add(&html->labels, text, len < HTML_NAME_MAX ? len : HTML_NAME_MAX, &is_new);

	if (label == LABEL_NONE)
		export_no_memory(&html->export);
	else if (is_new)
		html->label_bytes += html->labels.at[label].len + 3;
	return label;
}

static uint64_t since_start(const struct html *html, uint64_t ts)
{
	return ts > html->start ? ts - html->start : 0;
}

static bool is_named(const struct format *format, const char *system, const char *name)
{
	return !strcmp(format->system, system) && !strcmp(format->name, name);
}

static const struct {
	const char *system, *name, *number, *value;
	enum html_role role;
} roles[] = {
	{ "irq", "softirq_entry", "vec", "vec", HTML_SOFT },
	{ "irq", "softirq_exit", "vec", "vec", HTML_SOFT },
	{ "irq", "tasklet_exit", "func", "func", HTML_TASKLET },
	{ "irq", "irq_handler_entry", "irq", "name", HTML_IRQ },
	{ "irq", "irq_handler_exit", "irq", "irq", HTML_IRQ },
	{ "power", "cpu_frequency", "cpu_id", "state", HTML_COUNTER },
	{ "power", "cpu_idle", "cpu_id", "state", HTML_COUNTER },
};

static void bind(const struct html_buffer *buffer, const struct format *format, struct html_kind *kind)
{
	const struct schema_abi *abi = &buffer->context->abi;

	if (!strcmp(format->system, "irq_vectors"))
		kind->role = HTML_VECTOR;
	if (!strcmp(format->system, "syscalls") || !strcmp(format->system, "raw_syscalls")) {
		(void)place_bind(&kind->number, format, abi, "id");
		kind->role = HTML_CALL;
	}
	for (size_t i = 0; i < array_size(roles); i++)
		if (is_named(format, roles[i].system, roles[i].name)) {
			bool ok = place_bind(&kind->number, format, abi, roles[i].number);

			if (place_bind(&kind->value, format, abi, roles[i].value) && ok)
				kind->role = (uint8_t)roles[i].role;
		}
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
			bind(buffer, format, kind);
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

static void add(const struct html_buffer *buffer, enum band_kind kind, uint32_t id, unsigned row,
		const struct span *span, uint32_t name)
{
	const struct slice slice = { .start = since_start(buffer->html, span->start),
				     .lasted = span->lasted,
				     .name = name };

	if (name != LABEL_NONE)
		bands_add(&buffer->html->bands, kind, buffer->index, id, row, &slice);
}

static uint32_t label_of_function(struct html_buffer *buffer, uint64_t address)
{
	struct html_function *function = &buffer->functions[address * 0x9e3779b97f4a7c15u >> (64 - HTML_FUNCTION_BITS)];
	struct symbol symbol;
	char text[32];
	uint32_t label;

	if (function->label && function->address == address)
		return function->label - 1;
	if (!symbols_find(buffer->context->symbols, address, &symbol)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
		symbol = (struct symbol){ .name = text, .name_len = (uint32_t)strlen(text) };
	}
	label = html_label(buffer->html, symbol.name, symbol.name_len);
	if (label != LABEL_NONE)
		*function = (struct html_function){ address, label + 1 };
	return label;
}

static void leave(void *arg, uint16_t index, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	struct html_buffer *buffer = arg;
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	enum band_kind kind = track->interrupt ? BAND_GRAPH_IRQ : track->pid ? BAND_GRAPH : BAND_GRAPH_IDLE;
	const struct span span = { .start = frame->start, .lasted = ts > frame->start ? ts - frame->start : 0 };

	(void)index;
	(void)lasted;
	(void)exited;
	if (frame->depth < 0 || frame->depth >= BANDS_ROWS) {
		buffer->html->deep++;
		return;
	}
	add(buffer, kind, kind == BAND_GRAPH ? (uint32_t)track->pid : track->cpu, (unsigned)frame->depth, &span,
	    label_of_function(buffer, frame->func));
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	(void)arg;
	(void)event;
	(void)track;
}

static uint32_t label_of_call(const struct html_buffer *buffer, const struct html_kind *kind, const struct event *event)
{
	char text[CALL_NAME];
	const char *name = call_name(buffer->context, &kind->number, event, text);

	return html_label(buffer->html, name, strlen(name));
}

static uint32_t label_of_irq(struct html_buffer *buffer, const struct html_kind *kind, const struct event *event)
{
	uint64_t number = place_u64(&kind->number, event);
	const uint32_t *handler = u64_map_find(&buffer->irqs, number);
	char text[32];

	if (handler)
		return *handler - 1;
	snprintf(text, sizeof(text), "irq %" PRIu64, number);
	return html_label(buffer->html, text, strlen(text));
}

static uint32_t label_of_softirq(const struct html_buffer *buffer, const struct html_kind *kind,
				 const struct event *event)
{
	uint64_t vec = place_u64(&kind->number, event);
	const char *name = softirq_name(vec);
	char text[32];

	if (name)
		snprintf(text, sizeof(text), "softirq %s", name);
	else
		snprintf(text, sizeof(text), "softirq %" PRIu64, vec);
	return html_label(buffer->html, text, strlen(text));
}

static void see_interrupt(struct html_buffer *buffer, const struct html_kind *kind, const struct event *event,
			  const struct span *span)
{
	if (kind->role == HTML_SOFT)
		add(buffer, BAND_IRQ, event->cpu, ROW_SOFT, span, label_of_softirq(buffer, kind, event));
	else if (kind->role == HTML_IRQ)
		add(buffer, BAND_IRQ, event->cpu, ROW_HARD, span, label_of_irq(buffer, kind, event));
	else if (kind->role == HTML_TASKLET || kind->role == HTML_VECTOR)
		add(buffer, BAND_IRQ, event->cpu, kind->role == HTML_TASKLET ? ROW_TASKLET : ROW_HARD, span,
		    html_label(buffer->html, span->name, span->name_len));
}

/* Only the event that begins an interrupt has its name; both events have its number. */
static void learn_irq(struct html_buffer *buffer, const struct html_kind *kind, const struct event *event)
{
	uint64_t number = place_u64(&kind->number, event);
	uint32_t *handler;
	const char *name;
	char text[64];
	size_t len;

	if (!strcmp(event->type->format->name, "irq_handler_exit") || u64_map_find(&buffer->irqs, number) ||
	    !place_string(&kind->value, event, &name, &len))
		return;
	snprintf(text, sizeof(text), "irq %" PRIu64 " %.*s", number, (int)(len < 40 ? len : 40), name);
	handler = u64_map_add(&buffer->irqs, number);
	if (handler)
		*handler = html_label(buffer->html, text, strlen(text)) + 1;
	else
		export_no_memory(&buffer->html->export);
}

static void see_counter(const struct html_buffer *buffer, const struct html_kind *kind, const struct event *event)
{
	const struct slice slice = { .start = since_start(buffer->html, event->ts),
				     .name = kind->name,
				     .value = place_u64(&kind->value, event) };
	bool idle = !strcmp(event->type->format->name, "cpu_idle");

	bands_add(&buffer->html->bands, BAND_COUNTER, buffer->index, (uint32_t)place_u64(&kind->number, event), idle,
		  &slice);
}

/* Adds "COMM-PID TEXT"; the slice has the rest of the kernel's line in other places. */
static void add_text(const struct html_buffer *buffer, const struct html_kind *kind, const struct event *event)
{
	struct html *html = buffer->html;
	struct ftrace *ftrace = (struct ftrace *)buffer->sink;
	struct sink_event copy = { .event = *event };
	const struct binding *binding = ftrace_bind(ftrace, event->type);
	struct task_name name = task_name(buffer->context->tasks, event->pid);
	struct slice slice = { .start = since_start(html, event->ts), .name = kind->name };
	char text[TEXT_MAX];
	size_t len;

	out_clear(&html->text);
	out_mem(&html->text, name.text, name.len < HTML_NAME_MAX ? name.len : HTML_NAME_MAX);
	out_char(&html->text, '-');
	out_s64(&html->text, event->pid);
	out_char(&html->text, ' ');
	if (!binding->renderer || !binding->renderer->settle)
		ftrace_body(ftrace, &copy.event, &html->text);
	if (out_len(&html->text) && html->text.at[-1] == '\n')
		html->text.at--;
	len = out_len(&html->text) < sizeof(text) ? out_len(&html->text) : sizeof(text);
	memcpy(text, html->text.start, len);
	html_pack_text(html, text, len, &html->text);
	slice.text = html->text.start;
	slice.text_len = out_len(&html->text);
	if (html->text.failed)
		export_no_memory(&html->export);
	else if (kind->name != LABEL_NONE)
		bands_add(&html->bands, BAND_EVENTS, buffer->index, event->cpu, 0, &slice);
}

static void see_record(struct html_buffer *buffer, const struct event *event)
{
	struct html *html = buffer->html;
	const struct html_kind *kind;
	struct span span;

	html->events++;
	if (frames_see(buffer->frames, event))
		return;
	kind = kind_of(buffer, event);
	if (!kind)
		return;
	add_text(buffer, kind, event);
	if (kind->role == HTML_IRQ)
		learn_irq(buffer, kind, event);
	if (kind->role == HTML_COUNTER)
		see_counter(buffer, kind, event);
	if (!spans_see(buffer->spans, event, &span))
		return;
	if (span.kind == SPAN_CALL && kind->role == HTML_CALL)
		add(buffer, BAND_CALL, (uint32_t)event->pid, 0, &span, label_of_call(buffer, kind, event));
	else if (span.kind == SPAN_PAIR)
		see_interrupt(buffer, kind, event, &span);
}

static void see_lost(struct html_buffer *buffer, const struct event *event)
{
	struct html *html = buffer->html;
	struct slice slice = { .start = since_start(html, event->ts), .name = html_label(html, "lost events", 11) };
	char text[64];
	struct span none;

	html->lost++;
	frames_see(buffer->frames, event);
	(void)spans_see(buffer->spans, event, &none);
	if (event->lost > 0)
		snprintf(text, sizeof(text), "%" PRId64 " events were lost here", event->lost);
	else
		snprintf(text, sizeof(text), "events were lost here; the kernel did not count them");
	html_pack_text(html, text, strlen(text), &html->text);
	slice.text = html->text.start;
	slice.text_len = out_len(&html->text);
	if (slice.name != LABEL_NONE)
		bands_add(&html->bands, BAND_LOST, buffer->index, event->cpu, 0, &slice);
}

static void html_event(struct export *export, const struct event *event)
{
	struct html *html = (struct html *)export;
	struct html_buffer *buffer = &html->buffers[event->buffer];

	if (!html->started) {
		html->started = true;
		html->start = event->ts;
		html->states.start = event->ts;
	}
	if (event->ts > html->end)
		html->end = event->ts;
	stacks_see(html->stacks, export, event);
	state_see(&html->state, event);
	turns_see(&html->states.turns, event);
	if (event->kind == EVENT_LOST)
		see_lost(buffer, event);
	else
		see_record(buffer, event);
	if (html->bands.failed || html->states.failed || html->states.turns.failed || html->state.failed)
		export_no_memory(export);
}

static void html_end(struct export *export)
{
	struct html *html = (struct html *)export;

	turns_end(&html->states.turns);
	for (size_t i = 0; i < html->nr_buffers; i++) {
		frames_end(html->buffers[i].frames, (uint16_t)i, html->end);
		if (frames_starved(html->buffers[i].frames) || spans_starved(html->buffers[i].spans))
			export_no_memory(export);
	}
	if (html->bands.failed || html->states.failed)
		export_no_memory(export);
	if (html->deep)
		export_note(export, "%" PRIu64 " calls nested in more than %d others are not shown", html->deep,
			    BANDS_ROWS);
	html_end_flame(html);
	html_write(html);
}

static void html_free(struct export *export)
{
	struct html *html = (struct html *)export;

	for (size_t i = 0; html->buffers && i < html->nr_buffers; i++) {
		frames_free(html->buffers[i].frames);
		spans_free(html->buffers[i].spans);
		u64_map_release(&html->buffers[i].irqs);
		if (html->buffers[i].sink)
			html->buffers[i].sink->ops->free(html->buffers[i].sink);
	}
	free(html->buffers);
	stacks_free(html->stacks);
	kinds_release(&html->kinds);
	turns_release(&html->states.turns);
	state_release(&html->state);
	bands_release(&html->bands);
	labels_release(&html->labels);
	if (html->text.start)
		out_release(&html->text);
	free(html);
}

static int init_buffer(struct html_buffer *buffer, struct fail *fail)
{
	const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = buffer, .late = true };

	u64_map_init(&buffer->irqs, sizeof(uint32_t));
	buffer->frames = frames_new(&calls);
	buffer->spans = spans_new(buffer->context);
	if (!buffer->frames || !buffer->spans)
		return fail_memory(fail);
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
	html->has_date = input->has_date;
	html->date_offset = input->date_offset_ns;
	html->limit = input->max_size ? input->max_size : SIZE_DEFAULT;
	if (html->limit < SIZE_LEAST)
		return fail_usage(fail, fail_set(fail, -EINVAL, "--max-size: a timeline needs at least %d KB",
						 SIZE_LEAST >> 10));
	/* Bands are written as base64; the rest of the size is for names and words. */
	bands_init(&html->bands, html->limit / 8 * 5);
	labels_init(&html->labels);
	state_init(&html->state, first->preempt_rt);
	html->states = (struct html_states){ .bands = &html->bands, .labels = &html->labels, .names = first->tasks };
	html_states_init(&html->states, &html->state);
	html->buffers = calloc(nr_buffers + 1, sizeof(*html->buffers));
	if (!html->buffers || !out_init(&html->text, 2 * TEXT_MAX) || kinds_init(&html->kinds, nr_buffers, free))
		return fail_memory(fail);
	html->nr_buffers = nr_buffers;
	for (size_t i = 0; !r && i < nr_buffers; i++) {
		html->buffers[i] = (struct html_buffer){ .html = html,
							 .context = input->reader->buffers[i].context,
							 .index = (uint16_t)i };
		state_restrict(&html->state, html->buffers[i].context);
		r = init_buffer(&html->buffers[i], fail);
	}
	if (!r)
		r = stacks_new(input, &html->stacks, fail);
	if (!r)
		stacks_limit(html->stacks, STACKS_MAX);
	return r;
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
	.takes_tables = true,
	.create = html_new,
	.free = html_free,
	.event = html_event,
	.end = html_end,
};
