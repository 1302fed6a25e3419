// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cut_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/kernel/graph.h"
#include "formats/palette.h"
#include "formats/sinks.h"
#include "lib/ground/base/digits.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/scale.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/call_text.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/follow/spans.h"

/*
 * System calls in the format pretty, as strace writes them: one line if nothing of the CPU comes between entry and
 * exit, otherwise "openat(... <unfinished ...>" and "<... openat resumed>) = 3".
 * pretty_calls_settle() runs on one thread, pretty_calls_put() on any.
 */
struct type {
	struct call_text call;
	bool kernel_names; /* its print fmt names flags */
};

struct pretty_calls {
	const struct context *context;
	struct type *types[EVENT_TYPES_MAX]; /* by event_type::index; NULL: not yet seen */
};

enum part { PART_NONE, PART_WHOLE, PART_START, PART_END };

/* Uses the renderer's part of the note, because system calls are printed without a renderer. */
struct call_note {
	int64_t result;
	bool failed;
	uint8_t part; /* enum part */
	char *begun;  /* the text up to the arguments' end, from pretty_calls_begin(); pretty_calls_put() frees it */
};
_Static_assert(sizeof(struct call_note) <= NOTE_RENDERER_SIZE, "the note has room for it");

/* NULL without memory. */
static struct pretty_calls *pretty_calls_new(const struct context *context)
{
	struct pretty_calls *calls = calloc(1, sizeof(*calls));

	if (calls)
		calls->context = context;
	return calls;
}

static void pretty_calls_free(struct pretty_calls *calls)
{
	for (size_t i = 0; calls && i < array_size(calls->types); i++)
		free(calls->types[i]);
	free(calls);
}

/* NULL without memory. */
static const struct type *type_of(struct pretty_calls *calls, const struct event *event)
{
	struct type **type = &calls->types[event->type->index];
	const struct format *format = event->type->format;

	if (*type)
		return *type;
	*type = calloc(1, sizeof(**type));
	if (!*type) {
		context_lacks_memory(calls->context);
		return NULL;
	}
	call_text_bind(&(*type)->call, format, &calls->context->abi, calls->context->machine);
	(*type)->kernel_names = format && strstr(format->print_fmt, "__print_flags");
	return *type;
}

/* Whether an exit ends the call that `event` begins: a task is in one call at a time. */
static bool is_its_exit(const struct type *enter, const struct event *event, const struct type *exit,
			const struct event *next)
{
	if (!exit || exit->call.side != CALL_EXIT || next->pid != event->pid || !enter->call.name != !exit->call.name)
		return false;
	if (enter->call.name)
		return !strcmp(enter->call.name, exit->call.name);
	return place_s64(&enter->call.number, event) == place_s64(&exit->call.number, next);
}

static bool join(struct pretty_calls *calls, struct events *events, const struct type *type, struct event *event,
		 struct event *ret_exit)
{
	struct event next;

	if (events_peek(events, &next) <= 0 || next.kind != EVENT_RECORD ||
	    !is_its_exit(type, event, type_of(calls, &next), &next))
		return false;
	*ret_exit = next;
	events_skip(events);
	return true;
}

/*
 * Writes the kind of the event into the renderer's part of its note. True when the exit followed and was removed from
 * the stream: *ret_exit, valid as long as the event.
 */
static bool pretty_calls_settle(struct pretty_calls *calls, struct events *events, struct event *event,
				struct event *ret_exit)
{
	const struct type *type = type_of(calls, event);
	struct call_note note = { .part = PART_NONE };
	bool joined = false;

	if (!type || type->call.side == CALL_NEITHER)
		return false;
	if (type->call.side == CALL_EXIT) {
		note.part = PART_END;
		note.failed = call_text_result(&type->call, event, &note.result);
	} else {
		joined = join(calls, events, type, event, ret_exit);
		note.part = joined ? PART_WHOLE : PART_START;
		if (joined)
			note.failed = call_text_result(&type_of(calls, ret_exit)->call, ret_exit, &note.result);
	}
	memcpy(sink_note(event), &note, sizeof(note));
	return joined;
}

/* Moves the content of `text` to the out, in colour. */
static void put(bool color, const char *sequence, struct out *text, struct out *out)
{
	if (color)
		palette_put(sequence, text->start, out_len(text), out);
	else
		out_mem(out, text->start, out_len(text));
	out_clear(text);
}

static void put_own(bool color, const char *sequence, const char *text, struct out *out)
{
	if (color)
		palette_put(sequence, text, strlen(text), out);
	else
		out_str(out, text);
}

static void put_enter(const struct type *type, const struct ftrace *ftrace, const struct event *event, bool color,
		      struct out *text, struct out *out)
{
	struct out kernel = { .start = NULL };
	bool names = type->kernel_names && out_init(&kernel, 0);

	call_text_name(&type->call, event, text);
	put(color, COLOR_BOLD, text, out);
	out_char(out, '(');
	out->failed |= type->kernel_names && !names;
	if (names)
		ftrace_entry(ftrace, event, &kernel);
	out->failed |= kernel.failed;
	call_text_arguments(&type->call, event, names ? kernel.start : NULL, names ? out_len(&kernel) : 0, text);
	put(color, "", text, out);
	out_release(&kernel);
}

static void put_result(const struct type *type, const struct call_note *note, bool color, struct out *text,
		       struct out *out)
{
	out_str(out, ") = ");
	call_text_put_result(&type->call, note->result, text);
	put(color, note->failed ? COLOR_RED : "", text, out);
}

/* After pretty_calls_settle(), for the exit of a call whose entry is not among the events: it began with this event. */
static void pretty_calls_begin(struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *begin,
			       bool color, struct event *exit)
{
	const struct type *type = type_of(calls, begin), *of_exit = type_of(calls, exit);
	struct out text = { .start = NULL }, out = { .start = NULL };
	struct call_note note;

	memcpy(&note, sink_note(exit), sizeof(note));
	if (!type || !of_exit || type->call.side != CALL_ENTER || note.part != PART_END)
		return;
	note.begun = NULL;
	if (out_init(&text, 0) && out_init(&out, 0)) {
		put_enter(type, ftrace, begin, color, &text, &out);
		note.begun = out.failed || text.failed ? NULL : strndup(out.start, out_len(&out));
	}
	if (!note.begun)
		context_lacks_memory(calls->context);
	memcpy(sink_note(exit), &note, sizeof(note));
	out_release(&out);
	out_release(&text);
}

/* Writes nothing and returns false if the event is not a system call. The text has no newline. */
static bool pretty_calls_put(const struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *event,
			     bool color, struct out *out)
{
	const struct type *type = calls->types[event->type->index];
	struct call_note note;
	struct out text;

	if (!type || type->call.side == CALL_NEITHER)
		return false;
	if (!out_init(&text, 0)) {
		out->failed = true;
		return true;
	}
	memcpy(&note, sink_note_of(event), sizeof(note));
	if (note.part == PART_END && note.begun) {
		out_str(out, note.begun);
		free(note.begun);
	} else if (note.part == PART_END) {
		put_own(color, COLOR_DIM, "<... ", out);
		call_text_name(&type->call, event, &text);
		put(color, COLOR_BOLD, &text, out);
		put_own(color, COLOR_DIM, " resumed>", out);
	} else {
		put_enter(type, ftrace, event, color, &text, out);
	}
	if (note.part == PART_START)
		put_own(color, COLOR_DIM, " <unfinished ...>", out);
	else
		put_result(type, &note, color, &text, out);
	out->failed |= text.failed;
	out_release(&text);
	return true;
}

/*
 * weft's own text for people: times since the first event and since the previous one, names in columns, durations,
 * thousands separators, colour. The text of an event is the kernel's, unchanged; only system calls are written like
 * strace does.
 */

enum {
	TIME_WIDTH = 14,
	DELTA_WIDTH = 9,
	LASTED_WIDTH = 8,
	NAME_WIDTH = 20,
	COMM_MAX = 16,
	TASK_WIDTH = 24,
	BODY_COLUMN = TIME_WIDTH + 1 + DELTA_WIDTH + 1 + LASTED_WIDTH + 1 + 3 + 2 + TASK_WIDTH + 1,
};

struct pretty {
	struct sink sink; /* first */
	bool (*ended)(void *arg, const struct event *event, uint64_t *ret_lasted,
		      struct event *ret_begin); /* or NULL */
	void *ended_arg;
	struct ftrace *ftrace; /* prints the text of events */
	struct spans *spans;
	struct pretty_calls *calls; /* NULL: system calls are printed as the kernel does */
	unsigned width;             /* of the terminal; 0: lines are not cut */
	bool color, counts, nanoseconds;
	struct sink_times own, *times;
	const uint64_t *left_out;
};

/* Replaces struct frame_note in the note: only the kernel's columns need that one. */
struct pretty_note {
	uint64_t since;  /* time since the previous event */
	uint64_t lasted; /* duration of the span that the event ends; 0 for none */
};
_Static_assert(sizeof(struct pretty_note) <= SINK_NOTE_SIZE - NOTE_RENDERER_SIZE, "the note has room for it");

static void put_color(const struct pretty *pretty, const char *color, struct out *out)
{
	if (pretty->color)
		out_str(out, color);
}

/* With colours this sink escapes control characters itself; without colours the writer of the text does. */
static void put_foreign(const struct pretty *pretty, const char *text, size_t len, struct out *out)
{
	struct escape escape = { .len = 0 };

	if (!pretty->color) {
		out_mem(out, text, len);
		return;
	}
	escape_text(&escape, text, len, out);
	escape_end(&escape, out);
}

/* Writes "1,234,567" to the end of `text` and returns its begin. */
static const char *thousands(uint64_t value, char text[32])
{
	char *at = text + 31;
	unsigned digits = 0;

	*at = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + value % 10);
		digits++;
	} while (value /= 10);
	return at;
}

static void put_right(const char *text, size_t width, struct out *out)
{
	size_t len = strlen(text);

	if (len < width)
		out_fill(out, ' ', width - len);
	out_mem(out, text, len);
}

/* Three or four digits and a unit: "850ns", "12.3us", "4.56ms", "1.23s"; a count without a unit. */
static const char *span_text(const struct pretty *pretty, uint64_t span, char text[32])
{
	static const struct {
		uint64_t unit;
		const char name[3];
	} units[] = { { NS_PER_US, "us" }, { NS_PER_MS, "ms" }, { NS_PER_S, "s" } };

	if (pretty->counts)
		return thousands(span, text);
	if (span < NS_PER_US) {
		memcpy(digits_put_u64(text, span), "ns", 3);
		return text;
	}
	for (size_t i = 0;; i++) {
		uint64_t unit = units[i].unit, hundredths = scale_round(span, unit / 100),
			 tenths = scale_round(span, unit / 10), whole = scale_round(span, unit);
		char grouped[32], *at;

		/* What rounds to 1000 of a unit is 1.00 of the next one. */
		if (whole >= 1000 && i + 1 < array_size(units))
			continue;
		if (tenths >= 1000) {
			snprintf(text, 32, "%s%s", thousands(whole, grouped), units[i].name);
			return text;
		}
		at = digits_put_u64(text, hundredths < 1000 ? hundredths / 100 : tenths / 10);
		*at++ = '.';
		at = hundredths < 1000 ? digits_put_2(at, (uint32_t)(hundredths % 100)) :
					 digits_put_u64(at, tenths % 10);
		memcpy(at, units[i].name, 3);
		return text;
	}
}

static void put_time(const struct pretty *pretty, uint64_t since, struct out *out)
{
	unsigned fraction = (unsigned)(since % NS_PER_S);
	char grouped[32];

	if (pretty->counts) {
		put_right(thousands(since, grouped), TIME_WIDTH, out);
		return;
	}
	put_right(thousands(since / NS_PER_S, grouped), TIME_WIDTH - 7, out);
	out_char(out, '.');
	out_need(out, 9);
	/* A time for --since: it is not rounded up, so that the event is not before it. */
	out->at = pretty->nanoseconds ? digits_put_9(out->at, fraction) : digits_put_6(out->at, fraction / NS_PER_US);
}

static void put_wall(const struct pretty *pretty, uint64_t ts, struct out *out)
{
	const struct columns *columns = &pretty->ftrace->columns;
	char text[FACE_TEXT];

	face_text(text, columns->face, columns->context->wall, ts, pretty->nanoseconds ? 9 : 6);
	put_right(text, TIME_WIDTH, out);
}

static const char *span_color(const struct pretty *pretty, uint64_t span)
{
	return pretty->counts ? COLOR_DIM : palette_duration(span);
}

static void put_delta(const struct pretty *pretty, const struct pretty_note *note, struct out *out)
{
	char buffer[32];
	const char *text = span_text(pretty, note->since, buffer);
	size_t len = strlen(text) + 1;

	put_color(pretty, span_color(pretty, note->since), out);
	out_fill(out, ' ', len < DELTA_WIDTH ? DELTA_WIDTH - len : 0);
	out_char(out, '+');
	out_mem(out, text, len - 1);
	put_color(pretty, COLOR_NONE, out);
}

/* A task's name may have any bytes: control characters are shown as '?'. */
static void put_task(const struct pretty *pretty, int32_t pid, uint64_t ts, struct out *out)
{
	struct task_name name = context_comm(pretty->sink.context, pid, ts);
	unsigned len = name.len < COMM_MAX ? name.len : COMM_MAX;
	char text[COMM_MAX + DIGITS_MAX + 1], *at = text;
	size_t width;

	for (unsigned i = 0; i < len; i++)
		*at++ = (unsigned char)name.text[i] < ' ' || name.text[i] == 127 ? '?' : name.text[i];
	*at++ = '-';
	at = digits_put_s64(at, pid);
	width = (size_t)(at - text);
	put_color(pretty, palette_task(pid), out);
	put_foreign(pretty, text, width, out);
	put_color(pretty, COLOR_NONE, out);
	if (width < TASK_WIDTH)
		out_fill(out, ' ', TASK_WIDTH - width);
}

/* The length of "NAME" in a text that begins with "NAME: "; 0 when it does not. */
static size_t name_len(const char *text, const char *end)
{
	const char *at = text;

	while (at < end &&
	       (*at == '_' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
		at++;
	return end - at > 1 && at > text && !memcmp(at, ": ", 2) ? (size_t)(at - text) : 0;
}

/* Lines after the first, such as stacks, are indented below the event. */
static void put_lines(const struct pretty *pretty, const char *text, const char *end, unsigned column, struct out *out)
{
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *next = newline ? newline + 1 : end;

		put_foreign(pretty, text, (size_t)(next - text), out);
		if (next < end)
			out_fill(out, ' ', column);
		text = next;
	}
}

static void put_text(const struct pretty *pretty, const char *text, const char *end, struct out *out)
{
	unsigned column = BODY_COLUMN + (pretty->nanoseconds && !pretty->counts ? 3 : 0);
	size_t len = name_len(text, end);

	if (len) {
		put_color(pretty, COLOR_BOLD, out);
		out_mem(out, text, len);
		put_color(pretty, COLOR_NONE, out);
		out_fill(out, ' ', len < NAME_WIDTH ? NAME_WIDTH - len + 1 : 1);
		text += len + 2;
	}
	put_lines(pretty, text, end, column, out);
}

static void put_lasted(const struct pretty *pretty, uint64_t lasted, struct out *out)
{
	char text[32];

	if (!lasted) {
		out_fill(out, ' ', LASTED_WIDTH);
		return;
	}
	put_color(pretty, lasted >= NS_PER_MS ? span_color(pretty, lasted) : COLOR_CYAN, out);
	put_right(span_text(pretty, lasted, text), LASTED_WIDTH, out);
	put_color(pretty, COLOR_NONE, out);
}

static void put_body(const struct pretty *pretty, const struct event *event, struct out *out)
{
	const struct ftrace *ftrace = pretty->ftrace;
	struct out body;
	const char *end;

	if (pretty->calls && pretty_calls_put(pretty->calls, ftrace, event, pretty->color, out)) {
		out_char(out, '\n');
		return;
	}
	if (!out_init(&body, 0)) {
		out->failed = true;
		return;
	}
	if (!ftrace->tracer || !ftrace->tracer->line || !ftrace->tracer->line(ftrace, event, &body))
		ftrace_entry(ftrace, event, &body);
	end = body.at;
	while (end > body.start && end[-1] == '\n')
		end--;
	put_text(pretty, body.start, end, out);
	out_char(out, '\n');
	out->failed |= body.failed;
	out_release(&body);
}

static void put_gap(const struct pretty *pretty, const struct event *event, struct out *out)
{
	char text[32];

	put_color(pretty, COLOR_REVERSE, out);
	if (event->lost > 0)
		out_f(out, "--- CPU %u lost %s event%s here ---", event->cpu, thousands((uint64_t)event->lost, text),
		      event->lost == 1 ? "" : "s");
	else
		out_f(out, "--- CPU %u lost events here ---", event->cpu);
	put_color(pretty, COLOR_NONE, out);
	out_char(out, '\n');
}

static void pretty_free(struct sink *sink)
{
	struct pretty *pretty = (struct pretty *)sink;

	if (pretty->ftrace)
		ftrace_sink.free(&pretty->ftrace->sink);
	spans_free(pretty->spans);
	pretty_calls_free(pretty->calls);
	free(pretty);
}

/* The options for the kernel's columns and layouts, which this format ignores. */
static uint64_t column_options(void)
{
	static const enum trace_option left[] = {
		OPTION_LATENCY_FORMAT, OPTION_VERBOSE,     OPTION_RAW,           OPTION_HEX, OPTION_BIN,
		OPTION_FGRAPH_CPU,     OPTION_FGRAPH_PROC, OPTION_FGRAPH_ABSTIME
	};
	uint64_t options = 0;

	for (size_t i = 0; i < array_size(left); i++)
		options |= UINT64_C(1) << left[i];
	return options;
}

static int pretty_new(const struct context *context, const struct sink_options *options, struct sink **ret,
		      struct fail *fail)
{
	struct pretty *pretty = calloc(1, sizeof(*pretty));
	struct sink_options lines = *options;
	struct sink *inner;
	bool joins;
	int r;

	if (!pretty)
		return fail_memory(fail);
	pretty->sink = (struct sink){ .ops = &pretty_sink, .context = context };
	pretty->times = options->times ? options->times : &pretty->own;
	pretty->left_out = options->left_out;
	pretty->color = options->color;
	pretty->nanoseconds = options->nanoseconds;
	pretty->width = options->width;
	pretty->ended = options->ended;
	pretty->ended_arg = options->ended_arg;
	pretty->counts = context->unit == CLOCK_UNIT_COUNT;
	lines.without |= column_options();
	pretty->spans = spans_new(context);
	r = ftrace_new_reader(&pretty_sink, context, &lines, &inner, fail);
	joins = !options->raw && !(context->trace_flags >> OPTION_FIELDS & 1);
	if (joins)
		pretty->calls = pretty_calls_new(context);
	if (!r && (!pretty->spans || (joins && !pretty->calls))) {
		ftrace_sink.free(inner);
		r = fail_memory(fail);
	}
	if (r < 0) {
		pretty_free(&pretty->sink);
		return r;
	}
	pretty->ftrace = (struct ftrace *)inner;
	*ret = &pretty->sink;
	return 0;
}

static void put_word(const struct pretty *pretty, const char *text, struct out *out)
{
	put_foreign(pretty, text, strlen(text), out);
}

static void pretty_begin(struct sink *sink, struct out *out)
{
	const struct pretty *pretty = (const struct pretty *)sink;
	const struct columns *columns = &pretty->ftrace->columns;
	const struct context *context = sink->context;
	char text[32], face[2 * FACE_TEXT];

	put_color(pretty, COLOR_DIM, out);
	out_str(out, "# ");
	put_word(pretty, context->tracer, out);
	out_str(out, *context->release ? " on " : "");
	put_word(pretty, context->release, out);
	out_str(out, ", clock ");
	put_word(pretty, context->clock, out);
	if (columns->face && face_is_of_day(columns->face) && face_head(face, columns->face, context->wall))
		out_f(out, ", times of %s", face);
	if (context->nr_stats) {
		out_f(out, ", %s events", thousands(context->entries, text));
		out_f(out, ", %s overwritten", thousands(context->written - context->entries, text));
	}
	out_f(out, "\n#%*s %*s %*s CPU  %-*s EVENT\n",
	      TIME_WIDTH - 1 + (pretty->nanoseconds && !pretty->counts ? 3 : 0), "TIME", DELTA_WIDTH, "SINCE",
	      LASTED_WIDTH, "LASTED", TASK_WIDTH, "TASK");
	put_color(pretty, COLOR_NONE, out);
}

/* `exit` is the end of the same call, so both become one line; NULL: the event gets a line of its own. */
static void take_note(struct pretty *pretty, struct event *event, const struct event *exit, uint64_t lasted)
{
	struct sink_times *times = pretty->times;
	struct pretty_note note = { .lasted = lasted };
	struct span span;

	if (spans_see(pretty->spans, event, &span) || (exit && spans_see(pretty->spans, exit, &span)))
		note.lasted = span.lasted;
	else if (spans_starved(pretty->spans))
		context_lacks_memory(pretty->ftrace->context);
	if (!times->started && !times->has_origin)
		times->first = event->ts;
	if (!times->started)
		times->last = event->ts;
	times->started = true;
	note.since = event->ts - times->last;
	times->last = event->ts;
	memcpy(sink_note(event) + NOTE_RENDERER_SIZE, &note, sizeof(note));
}

static void settle_line(struct pretty *pretty, struct events *events, struct event *event)
{
	struct event exit;
	bool joined = pretty->calls && pretty_calls_settle(pretty->calls, events, event, &exit);
	struct event begin;
	uint64_t lasted = 0;
	bool ended = pretty->ended && pretty->ended(pretty->ended_arg, event, &lasted, &begin);

	if (ended && begin.data && pretty->calls && !joined)
		pretty_calls_begin(pretty->calls, pretty->ftrace, &begin, pretty->color, event);
	take_note(pretty, event, joined ? &exit : NULL, lasted);
}

static bool pretty_settle(struct sink *sink, struct events *events, struct event *event)
{
	struct pretty *pretty = (struct pretty *)sink;
	bool keep;

	if (event->kind == EVENT_LOST) {
		struct span none;

		(void)spans_see(pretty->spans, event, &none);
		return event->lost != EVENT_LOST_REST;
	}
	keep = ftrace_sink.settle(&pretty->ftrace->sink, events, event);
	if (keep && pretty->ftrace->tracer == &graph_tracer)
		graph_hide_switch(event);
	if (keep)
		settle_line(pretty, events, event);
	return keep;
}

static void put_line(const struct pretty *pretty, const struct event *event, struct out *out)
{
	struct pretty_note note;

	if (event->kind == EVENT_LOST) {
		put_gap(pretty, event, out);
		return;
	}
	memcpy(&note, sink_note_of(event) + NOTE_RENDERER_SIZE, sizeof(note));
	if (pretty->ftrace->columns.face && face_is_of_day(pretty->ftrace->columns.face))
		put_wall(pretty, event->ts, out);
	else
		put_time(pretty, event->ts - pretty->times->first, out);
	out_char(out, ' ');
	put_delta(pretty, &note, out);
	out_char(out, ' ');
	put_lasted(pretty, note.lasted, out);
	out_char(out, ' ');
	out_u64_pad(out, event->cpu, 3, ' ');
	out_mem(out, "  ", 2);
	put_task(pretty, event->pid, event->ts, out);
	out_char(out, ' ');
	put_body(pretty, event, out);
}

static void pretty_format(const struct sink *sink, const struct event *event, struct out *out)
{
	const struct pretty *pretty = (const struct pretty *)sink;
	struct out line;

	if (!pretty->width) {
		put_line(pretty, event, out);
		return;
	}
	if (!out_init(&line, 0)) {
		out->failed = true;
		return;
	}
	put_line(pretty, event, &line);
	cut_lines(&line, pretty->width, out);
	out_release(&line);
}

static void pretty_end(struct sink *sink, struct out *out)
{
	const struct pretty *pretty = (const struct pretty *)sink;
	char text[32];
	bool one;

	if (!pretty->left_out || !*pretty->left_out)
		return;
	one = *pretty->left_out == 1;
	put_color(pretty, COLOR_DIM, out);
	out_f(out, "# %s event%s of weft itself %s left out; --self prints %s\n", thousands(*pretty->left_out, text),
	      one ? "" : "s", one ? "is" : "are", one ? "it" : "them");
	put_color(pretty, COLOR_NONE, out);
}

const struct sink_ops pretty_sink = {
	.name = "pretty",
	.leaves_out_self = true,
	.summary = "for people: relative times, durations, aligned names, colour",
	.colors = true,
	.durations = true,
	.relative = true,
	.create = pretty_new,
	.free = pretty_free,
	.begin = pretty_begin,
	.settle = pretty_settle,
	.format = pretty_format,
	.end = pretty_end,
};
