// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace.c: print_trace_line(), print_trace_fmt(), test_cpu_buff_start(). */
#include "formats/kernel/ftrace_sink_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/header_internal.h"
#include "formats/kernel/raw_internal.h"
#include "formats/kernel/renderers_internal.h"
#include "formats/sinks.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/names/symbols.h"

/* frame_note::delta of the first line. */
static const uint64_t NO_DIFFERENCE = INT64_MAX;

static const struct tracer *const tracers[] = {
	&graph_tracer, &blk_tracer, &branch_tracer, &mmiotrace_tracer, &osnoise_tracer, &timerlat_tracer,
};

static const struct tracer *tracer_find(const char *name)
{
	for (size_t i = 0; i < array_size(tracers); i++)
		if (!strcmp(tracers[i]->name, name))
			return tracers[i];
	return NULL;
}

/* The kernel announces CPUs when any of them has overwritten events: TRACE_FILE_ANNOTATE. */
static bool any_overrun(const struct context *context)
{
	for (size_t i = 0; i < context->nr_stats; i++)
		if (context->stats[i].overrun)
			return true;
	return false;
}

static void ftrace_free(struct sink *sink)
{
	struct ftrace *ftrace = (struct ftrace *)sink;

	graph_free(ftrace->graph);
	bind_release(ftrace);
	free(ftrace->started);
	free(ftrace->earlier);
	free(ftrace);
}

/*
 * The `trace` file of a max-latency tracer shows its longest section. Where the pages of this section could not be had
 * (lib/kernel/record/section_internal.h), the text was saved. The events of the main buffer are not in it.
 */
static bool shows_latency(const struct ftrace *ftrace)
{
	return ftrace->context->latency && !ftrace->context->section && !ftrace->fields && !ftrace->consuming;
}

static int ftrace_init(struct ftrace *ftrace, struct fail *fail)
{
	const struct context *context = ftrace->context;

	/*
	 * --raw prints the fields of every entry; the option `fields` does not change lines that a tracer prints
	 * itself.
	 */
	ftrace->tracer = ftrace->options.raw ? NULL : tracer_find(context->tracer);
	ftrace->started_words = (1u << 16) / 64;
	ftrace->started = calloc(ftrace->started_words, sizeof(*ftrace->started));
	if (!ftrace->started || bind_init(ftrace, renderer_of))
		return fail_memory(fail);
	columns_init(&ftrace->columns, context, ftrace->options.nanoseconds, ftrace->options.face);
	ftrace->columns.verbose = ftrace_option(ftrace, OPTION_VERBOSE);
	ftrace->annotate = !ftrace->consuming && context_option(context, OPTION_ANNOTATE) && !context->recorded &&
			   any_overrun(context);
	ftrace->message_only =
		context_option(context, OPTION_TRACE_PRINTK) && context_option(context, OPTION_PRINTK_MSG_ONLY);
	/* As comments of the graph, messages never show their caller. */
	ftrace->message_only |= ftrace->tracer == &graph_tracer;
	ftrace->latency = ftrace_option(ftrace, OPTION_LATENCY_FORMAT);
	if (ftrace->latency)
		latency_start(&ftrace->columns, ftrace->context);
	ftrace->fields = ftrace->options.raw || context_option(context, OPTION_FIELDS);
	ftrace->moved = symbols_moved(context->symbols);
	ftrace->layout = (uint8_t)(ftrace->options.raw ? LAYOUT_TEXT : layout_of(ftrace));
	ftrace->settles_plain = !shows_latency(ftrace) && !ftrace->latency && !ftrace->options.differences;
	ftrace->plain = !(ftrace->tracer && ftrace->tracer->line) && !ftrace->message_only && !ftrace->latency &&
			!ftrace->fields && !ftrace->options.raw_types && !ftrace->options.differences &&
			!ftrace->moved && !ftrace->layout && !context->plugins && !context->foreign &&
			!ftrace->options.one_line;
	return graph_new(ftrace, &ftrace->graph, fail);
}

int ftrace_new_reader(const struct sink_ops *ops, const struct context *context, const struct sink_options *options,
		      struct sink **ret, struct fail *fail)
{
	struct ftrace *ftrace = calloc(1, sizeof(*ftrace));
	int r;

	if (!ftrace)
		return fail_memory(fail);
	ftrace->sink = (struct sink){ .ops = ops, .context = context };
	ftrace->consuming = ops != &ftrace_sink;
	ftrace->context = context;
	ftrace->options = *options;
	ftrace->trace_flags = context->trace_flags & ~options->without;
	ftrace->goes_on = options->goes_on;
	r = ftrace_init(ftrace, fail);
	if (r < 0) {
		ftrace_free(&ftrace->sink);
		return r;
	}
	*ret = &ftrace->sink;
	return 0;
}

static int ftrace_new(const struct context *context, const struct sink_options *options, struct sink **ret,
		      struct fail *fail)
{
	return ftrace_new_reader(&ftrace_sink, context, options, ret, fail);
}

static void ftrace_begin(struct sink *sink, struct out *out)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	if (shows_latency(ftrace))
		out_str(out, ftrace->context->latency);
	else
		header_write(ftrace, out);
}

/* The kernel announces the first entry of each CPU if the buffer overran. */
static bool settle_gap(struct ftrace *ftrace, const struct event *event)
{
	const struct context *context = ftrace->context;

	if (!context->frozen && event->first && !context->recorded && !context->nr_stats &&
	    context_option(context, OPTION_ANNOTATE))
		ftrace->annotate = true;
	return context_is_loss(context, event->first);
}

static inline bool has_started(const struct ftrace *ftrace, const struct event *event)
{
	return ftrace->started[event->cpu_index / 64] >> event->cpu_index % 64 & 1;
}

/* test_cpu_buff_start(): iter->idx counts from 0, and is over 1 only from the third record on. */
static bool starts_cpu(struct ftrace *ftrace, const struct event *event)
{
	if (has_started(ftrace, event))
		return false;
	ftrace->started[event->cpu_index / 64] |= UINT64_C(1) << event->cpu_index % 64;
	return ftrace->settled > 2 && !(ftrace->guesses && ftrace_seam_started(ftrace, event->cpu_index));
}

static inline bool settle_record(struct ftrace *ftrace, const struct binding *binding, struct events *events,
				 struct event *event)
{
	return !binding->settle || binding->settle(ftrace, binding, events, event);
}

/* trace_find_next_entry(): what the renderer takes for itself was the next event before. */
static bool settle_latency(struct ftrace *ftrace, const struct binding *binding, struct events *events,
			   struct event *event)
{
	struct frame_note *note = frame_note(event);
	uint64_t next = UINT64_MAX, other;
	struct event following;
	bool keep;

	/* For trace_pipe the next entry is the one that is being printed. */
	if (!ftrace->consuming && events_peek(events, &following) > 0)
		next = following.ts;
	keep = settle_record(ftrace, binding, events, event);
	if (!ftrace->consuming && events_next_ts(events, &other) && other < next)
		next = other;
	/* An imported text may have events that go back in time. */
	note->delta = next == UINT64_MAX || next < event->ts ? 0 : next - event->ts;
	note->index = (uint32_t)(ftrace->settled - 1);
	return keep;
}

/* Subtracts the times as printed, so that a reader who subtracts the printed times gets the same result. */
static uint64_t since_last(struct ftrace *ftrace, uint64_t ts)
{
	struct sink_times *times = ftrace->options.times;
	bool whole = ftrace->options.nanoseconds || ftrace->columns.counts, started = times->started;
	uint64_t now = whole ? ts : (ts + 500) / 1000, last = times->last;

	times->started = true;
	times->last = now;
	return started ? now - last : NO_DIFFERENCE;
}

__attribute__((noinline)) static bool settle_otherwise(struct ftrace *ftrace, struct events *events,
						       struct event *event)
{
	const struct binding *binding;
	bool keep;

	if (shows_latency(ftrace))
		return false;
	if (event->kind == EVENT_LOST)
		return settle_gap(ftrace, event);
	binding = ftrace_bind(ftrace, event->type);
	ftrace->settled++;
	if (ftrace->latency)
		keep = settle_latency(ftrace, binding, events, event);
	else
		keep = settle_record(ftrace, binding, events, event);
	if (keep && ftrace->options.differences && !ftrace->latency)
		frame_note(event)->delta = since_last(ftrace, event->ts);
	frame_note(event)->started = ftrace->annotate && binding->usual && starts_cpu(ftrace, event);
	return keep;
}

static bool ftrace_settle(struct sink *sink, struct events *events, struct event *event)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	const struct binding *binding;

	/*
	 * The path of most records, all but the first of each type: it is short, because no other thread can do this
	 * work.
	 */
	if (__builtin_expect(!ftrace->settles_plain || event->kind != EVENT_RECORD, 0))
		return settle_otherwise(ftrace, events, event);
	binding = ftrace->bindings[event->type->index];
	if (__builtin_expect(!binding, 0))
		return settle_otherwise(ftrace, events, event);
	if (ftrace->annotate && binding->usual && __builtin_expect(!has_started(ftrace, event), 0))
		return settle_otherwise(ftrace, events, event);
	ftrace->settled++;
	frame_note(event)->started = false;
	return settle_record(ftrace, binding, events, event);
}

static void ftrace_pass_over(struct sink *sink, const struct event *event)
{
	struct ftrace *ftrace = (struct ftrace *)sink;

	if (ftrace->tracer && ftrace->tracer->pass_over)
		ftrace->tracer->pass_over(ftrace, ftrace_bind(ftrace, event->type), event);
}

static void format_gap(const struct event *event, struct out *out)
{
	if (event->lost > 0)
		out_f(out, "CPU:%u [LOST %lld EVENTS]\n", event->cpu, (long long)event->lost);
	else
		out_f(out, "CPU:%u [LOST EVENTS]\n", event->cpu);
}

static bool is_message(const struct binding *binding)
{
	return binding->renderer == &print_renderer || binding->renderer == &bputs_renderer ||
	       binding->renderer == &bprint_renderer;
}

/* Nearly every line takes this path. */
static inline void format_plain(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);

	if (__builtin_expect(frame_note_of(event)->started, 0))
		out_f(out, "##### CPU %u buffer started ####\n", event->cpu);
	columns_write(&ftrace->columns, event, out);
	if (binding->renderer) {
		binding->renderer->format(ftrace, binding, event, out);
	} else if (__builtin_expect(binding->program != NULL, 1)) {
		out_short(out, binding->name, binding->name_len);
		program_run(binding->program, &ftrace->context->env, event->data, event->len, out);
		out_char(out, '\n');
	} else {
		ftrace_body(ftrace, event, out);
	}
}

/* Prints "(+1043)", like trace-cmd. */
static void write_difference(uint64_t delta, struct out *out)
{
	char text[32] = "";

	if (delta != NO_DIFFERENCE)
		snprintf(text, sizeof(text), "(%+" PRId64 ")", (int64_t)delta);
	out_f(out, "%-8s ", text);
}

static void write_columns(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	size_t from;

	if (__builtin_expect(frame_note_of(event)->started, 0))
		out_f(out, "##### CPU %u buffer started ####\n", event->cpu);
	from = out_len(out);
	if (__builtin_expect(ftrace->latency, 0))
		latency_write(&ftrace->columns, event, frame_note_of(event), out);
	else
		columns_write(&ftrace->columns, event, out);
	if (ftrace->options.differences && !ftrace->latency)
		write_difference(frame_note_of(event)->delta, out);
	entry_seal(ftrace, from, out);
}

static void ftrace_format(const struct sink *sink, const struct event *event, struct out *out)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;
	size_t from = out_len(out);

	if (__builtin_expect(event->kind == EVENT_LOST, 0)) {
		format_gap(event, out);
		return;
	}
	if (__builtin_expect(ftrace->plain, 1)) {
		format_plain(ftrace, event, out);
		return;
	}
	if (ftrace->tracer && ftrace->tracer->line && !ftrace_binding(ftrace, event)->fields &&
	    ftrace->tracer->line(ftrace, event, out)) {
		/* A graph's lines may be several for one event. */
		if (ftrace->tracer != &graph_tracer)
			entry_seal(ftrace, from, out);
		return;
	}
	if (__builtin_expect(!ftrace->message_only || !is_message(ftrace_binding(ftrace, event)), 1)) {
		if (__builtin_expect(ftrace->layout, 0)) {
			layout_line((enum layout)ftrace->layout, ftrace, event, out);
			if (ftrace->layout == LAYOUT_RAW)
				entry_seal(ftrace, from, out);
			if (ftrace->layout == LAYOUT_RAW && ftrace_binding(ftrace, event)->decoder)
				entry_decode(ftrace_binding(ftrace, event)->decoder, event, out);
			return;
		}
		write_columns(ftrace, event, out);
	}
	ftrace_entry(ftrace, event, out);
}

const struct sink_ops ftrace_sink = {
	.name = "ftrace",
	.summary = "the kernel's own text, as in the trace file",
	.columns = true,
	.create = ftrace_new,
	.free = ftrace_free,
	.begin = ftrace_begin,
	.settle = ftrace_settle,
	.pass_over = ftrace_pass_over,
	.format = ftrace_format,
	.seam = &ftrace_seam,
};
