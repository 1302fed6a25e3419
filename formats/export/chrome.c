// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's trace event JSON, one object per line, for many viewers. Process 0 has a row for each CPU with the tasks
 * that ran there, and one for its interrupts; tasks have their system calls and calls of the function graph; other
 * events are instants with their fields. Times are microseconds with three decimals. Integers beyond 2^53, which
 * JavaScript rounds, are strings. Where the clock is so late that a double of microseconds has no room for nanoseconds,
 * times count from the last whole day before the first event. Spans are those of lib/follow/spans.h: a loss of events
 * ends every span whose end may be lost.
 */
#include "formats/export/exports_internal.h"
#include "formats/export/kinds_internal.h"
#include "formats/value.h"
#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/base/u64_map.h"
#include "lib/event/context.h"
#include "lib/event/place.h"
#include "lib/event/tasks.h"
#include "lib/follow/spans.h"
#include "lib/names/symbols.h"
#include "lib/plugin/plugins.h"
#include "lib/reader/reader.h"
#include "lib/timeline/call_name.h"
#include "lib/timeline/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of process 0: CPUs, their interrupts, and the functions in those and in idle tasks. */
enum { INTERRUPTS = 100000, FUNCTIONS = 200000 };
enum { SIZE_OF_VIEWERS = 200 << 20 };

#define DAY (UINT64_C(86400) * 1000000000)
/* ns. From 2^43 us on the steps of a double are longer than 1 ns; the trace goes on for a while. */
#define LATE_TIME ((UINT64_C(1) << 42) * 1000)

struct kind {
	const struct format *format;   /* NULL: unknown */
	struct place call;             /* the number of a system call without a name */
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
	bool paired;                   /* shown as a span, not as an instant */
};

struct buffer {
	struct chrome *chrome;
	const struct context *context;
	struct frames *frames;
	struct spans *spans;
	struct u64_map pids; /* seen */
	struct u64_map cpus; /* seen */
};

struct chrome {
	struct export export; /* first */
	struct kinds kinds;
	struct buffer *buffers;
	size_t nr_buffers;
	bool some;       /* a line was written */
	uint64_t origin; /* ns: the time that is written as 0 */
	uint64_t bytes, last;
};

static int32_t process_of(const struct buffer *buffer, int32_t pid)
{
	int32_t tgid = task_tgid(buffer->context->tasks, pid);

	return tgid ? tgid : pid;
}

static void put_us(struct out *out, uint64_t ns)
{
	out_u64(out, ns / 1000);
	out_char(out, '.');
	out_u64_pad(out, ns % 1000, 3, '0');
}

static uint64_t from_origin(const struct chrome *chrome, uint64_t ts)
{
	return ts > chrome->origin ? ts - chrome->origin : 0;
}

/* Writes {"ph":"X","pid":1,"tid":2,"ts":3.000,"name": and the caller writes the rest. */
static struct out *begin_line(struct chrome *chrome, char phase, int64_t pid, int64_t tid, uint64_t ts)
{
	struct out *out = chrome->export.out;

	out_str(out, chrome->some ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	chrome->some = true;
	out_char(out, phase);
	out_str(out, "\",\"pid\":");
	out_s64(out, pid);
	out_str(out, ",\"tid\":");
	out_s64(out, tid);
	out_str(out, ",\"ts\":");
	put_us(out, from_origin(chrome, ts));
	out_str(out, ",\"name\":");
	return out;
}

static void put_span(struct chrome *chrome, int64_t pid, int64_t tid, const struct span *span, const char *name,
		     size_t len)
{
	struct out *out = begin_line(chrome, 'X', pid, tid, span->start);

	json_string(out, name, len);
	out_str(out, ",\"dur\":");
	put_us(out, span->lasted);
	out_char(out, '}');
}

/* The last call of the track, without the closing brace. */
static struct out *put_call(const struct buffer *buffer, char phase, const struct track *track, uint64_t ts)
{
	uint64_t func = track->frames[track->nr_frames - 1].func;
	bool apart = track->interrupt || !track->pid;
	struct symbol symbol;
	char text[32];
	struct out *out;

	if (!symbols_find(buffer->context->symbols, func, &symbol)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, func);
		symbol = (struct symbol){ .name = text, .name_len = (uint32_t)strlen(text) };
	}
	out = begin_line(buffer->chrome, phase, apart ? 0 : process_of(buffer, track->pid),
			 apart ? FUNCTIONS + 2 * track->cpu + track->interrupt : track->pid, ts);
	json_string(out, symbol.name, symbol.name_len);
	return out;
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	if (!track->frames[track->nr_frames - 1].late)
		out_char(put_call(arg, 'B', track, event->ts), '}');
}

/* A call without an entry is one line: it may begin before lines that are written. */
static void leave(void *arg, uint16_t index, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	const struct buffer *buffer = arg;
	struct out *out;

	(void)index;
	(void)lasted;
	(void)exited;
	if (frame->late && !frame->from)
		return;
	out = put_call(buffer, frame->late ? 'X' : 'E', track, frame->late ? frame->from : ts);
	if (frame->late) {
		out_str(out, ",\"dur\":");
		put_us(out, from_origin(buffer->chrome, ts) - from_origin(buffer->chrome, frame->from));
	}
	out_char(out, '}');
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len > tail && !strcmp(name + len - tail, end);
}

static const struct kind *kind_of(struct chrome *chrome, const struct buffer *buffer, const struct event *event)
{
	const struct format *format = event->type->format;
	struct kind *kind = kinds_find(&chrome->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind && format) {
		kind->format = format;
		if (buffer->context->plugins)
			kind->decoder = plugins_decoder(buffer->context->plugins, format);
		(void)place_bind(&kind->call, format, &buffer->context->abi, "id");
		kind->paired = !strcmp(format->system, "syscalls") || !strcmp(format->system, "raw_syscalls") ||
			       (!strcmp(format->system, "irq") &&
				(ends_with(format->name, "_entry") || ends_with(format->name, "_exit"))) ||
			       (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch"));
	}
	if (kind && kinds_set(&chrome->kinds, event, kind))
		return kind;
	export_no_memory(&chrome->export);
	return NULL;
}

static void put_value(const struct field *field, const struct schema_abi *abi, const struct event *event,
		      struct out *out)
{
	struct place place = place_of(field, abi);
	uint64_t value = place_u64(&place, event);
	bool large = place.is_signed ? (int64_t)value > INT64_C(1) << 53 || (int64_t)value < -(INT64_C(1) << 53) :
				       value > UINT64_C(1) << 53;

	if (place.size && large)
		out_char(out, '"');
	value_put(field, abi, event, value_is_text(field), out);
	if (place.size && large)
		out_char(out, '"');
}

static void put_instant(struct chrome *chrome, const struct buffer *buffer, const struct kind *kind,
			const struct event *event)
{
	const struct format *format = kind->format;
	struct out *out = begin_line(chrome, 'i', process_of(buffer, event->pid), event->pid, event->ts);

	json_text(out, format->name);
	out_str(out, ",\"cat\":");
	json_text(out, format->system);
	out_str(out, ",\"s\":\"t\",\"args\":{\"cpu\":");
	out_u64(out, event->cpu);
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		out_char(out, ',');
		/* A field of the record with this name gets another key. */
		json_text(out, strcmp(format->fields[i].name, "cpu") ? format->fields[i].name : "cpu_");
		out_char(out, ':');
		put_value(&format->fields[i], &buffer->context->abi, event, out);
	}
	if (kind->decoder)
		decoder_run_json(kind->decoder, event->data, event->len, out);
	out_str(out, "}}");
}

static void put_system_call(struct chrome *chrome, const struct buffer *buffer, const struct kind *kind,
			    const struct event *event, const struct span *span)
{
	char text[CALL_NAME];
	const char *name = call_name(buffer->context, &kind->call, event, text);

	put_span(chrome, process_of(buffer, event->pid), event->pid, span, name, strlen(name));
}

static void see_record(struct chrome *chrome, struct buffer *buffer, const struct event *event)
{
	const struct kind *kind;
	struct task_name name;
	struct span span;

	if (!u64_map_add(&buffer->pids, (uint32_t)event->pid) || !u64_map_add(&buffer->cpus, event->cpu))
		export_no_memory(&chrome->export);
	if (frames_see(buffer->frames, event))
		return;
	kind = kind_of(chrome, buffer, event);
	if (!kind || !kind->format)
		return;
	if (!kind->paired)
		put_instant(chrome, buffer, kind, event);
	if (!spans_see(buffer->spans, event, &span) || !kind->paired)
		return;
	if (span.kind == SPAN_CALL) {
		put_system_call(chrome, buffer, kind, event, &span);
	} else if (span.kind == SPAN_PAIR) {
		put_span(chrome, 0, INTERRUPTS + event->cpu, &span, span.name, span.name_len);
	} else {
		name = task_name(buffer->context->tasks, event->pid);
		put_span(chrome, 0, event->cpu, &span, name.text, name.len);
	}
}

static void see_lost(struct chrome *chrome, struct buffer *buffer, const struct event *event)
{
	struct span none;
	struct out *out;

	frames_see(buffer->frames, event);
	(void)spans_see(buffer->spans, event, &none);
	out = begin_line(chrome, 'i', 0, event->cpu, event->ts);
	out_str(out, "\"lost events\",\"s\":\"t\",\"args\":{\"count\":");
	if (event->lost > 0)
		out_s64(out, event->lost);
	else
		out_str(out, "null");
	out_str(out, "}}");
}

static void chrome_begin(struct export *export)
{
	out_str(export->out, "{\"traceEvents\":[\n");
}

static void chrome_event(struct export *export, const struct event *event)
{
	struct chrome *chrome = (struct chrome *)export;
	struct buffer *buffer = &chrome->buffers[event->buffer];
	size_t before = out_len(export->out);

	if (!chrome->some && event->ts > LATE_TIME)
		chrome->origin = event->ts - event->ts % DAY;
	chrome->last = event->ts;
	if (event->kind == EVENT_LOST)
		see_lost(chrome, buffer, event);
	else
		see_record(chrome, buffer, event);
	chrome->bytes += out_len(export->out) - before;
}

static void put_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name, size_t len)
{
	struct out *out = begin_line(chrome, 'M', pid, tid, 0);

	json_text(out, what);
	out_str(out, ",\"args\":{\"name\":");
	json_string(out, name, len);
	out_str(out, "}}");
}

static void name_rows(struct chrome *chrome, const struct buffer *buffer)
{
	static const struct {
		int first, step;
		const char *what;
	} rows[] = { { 0, 1, "" },
		     { INTERRUPTS, 1, " interrupts" },
		     { FUNCTIONS, 2, " functions, idle" },
		     { FUNCTIONS + 1, 2, " functions, interrupts" } };
	struct task_name name;
	uint64_t key;
	char text[64];

	for (size_t at = 0; u64_map_next(&buffer->cpus, &at, &key);)
		for (size_t i = 0; i < array_size(rows); i++) {
			snprintf(text, sizeof(text), "CPU %u%s", (unsigned)key, rows[i].what);
			put_name(chrome, "thread_name", 0, rows[i].first + rows[i].step * (int64_t)key, text,
				 strlen(text));
		}
	for (size_t at = 0; u64_map_next(&buffer->pids, &at, &key);) {
		if (!key)
			continue;
		name = task_name(buffer->context->tasks, (int32_t)key);
		put_name(chrome, "thread_name", process_of(buffer, (int32_t)key), (int32_t)key, name.text, name.len);
		if (process_of(buffer, (int32_t)key) == (int32_t)key)
			put_name(chrome, "process_name", (int32_t)key, (int32_t)key, name.text, name.len);
	}
}

static void chrome_end(struct export *export)
{
	struct chrome *chrome = (struct chrome *)export;

	for (size_t i = 0; i < chrome->nr_buffers; i++) {
		frames_end(chrome->buffers[i].frames, (uint16_t)i, chrome->last);
		if (frames_starved(chrome->buffers[i].frames) || spans_starved(chrome->buffers[i].spans))
			export_no_memory(export);
		name_rows(chrome, &chrome->buffers[i]);
	}
	put_name(chrome, "process_name", 0, 0, "CPUs", 4);
	out_str(export->out, "\n],");
	if (chrome->origin) {
		out_str(export->out, "\"otherData\":{\"time_origin_ns\":\"");
		out_u64(export->out, chrome->origin);
		out_str(export->out, "\"},");
		export_note(export,
			    "times count from %" PRIu64
			    " s of the recording's clock: the format's numbers have no room for its nanoseconds",
			    chrome->origin / 1000000000);
	}
	out_str(export->out, "\"displayTimeUnit\":\"ns\"}\n");
	if (chrome->bytes > SIZE_OF_VIEWERS)
		export_note(export,
			    "%" PRIu64
			    " MB of JSON: many viewers crash silently at 100 to 500 MB; export fewer events, "
			    "or use '--to perfetto'",
			    chrome->bytes >> 20);
}

static void chrome_free(struct export *export)
{
	struct chrome *chrome = (struct chrome *)export;

	for (size_t i = 0; chrome->buffers && i < chrome->nr_buffers; i++) {
		frames_free(chrome->buffers[i].frames);
		spans_free(chrome->buffers[i].spans);
		u64_map_release(&chrome->buffers[i].pids);
		u64_map_release(&chrome->buffers[i].cpus);
	}
	free(chrome->buffers);
	kinds_release(&chrome->kinds);
	free(chrome);
}

static int init(struct chrome *chrome, const struct export_input *input, struct fail *fail)
{
	size_t nr_buffers = input->reader->nr_buffers;

	chrome->buffers = calloc(nr_buffers + 1, sizeof(*chrome->buffers));
	if (!chrome->buffers || kinds_init(&chrome->kinds, nr_buffers, free))
		return fail_memory(fail);
	chrome->nr_buffers = nr_buffers;
	for (size_t i = 0; i < nr_buffers; i++) {
		struct buffer *buffer = &chrome->buffers[i];
		const struct context *context = input->reader->buffers[i].context;
		/* Times in records of calls are in ns. */
		const struct frames_calls calls = {
			.enter = enter, .leave = leave, .arg = buffer, .late = context->unit == CLOCK_UNIT_NS
		};

		buffer->chrome = chrome;
		buffer->context = context;
		u64_map_init(&buffer->pids, 1);
		u64_map_init(&buffer->cpus, 1);
		buffer->frames = frames_new(&calls);
		buffer->spans = spans_new(buffer->context);
		if (!buffer->frames || !buffer->spans)
			return fail_memory(fail);
	}
	return 0;
}

static int chrome_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));
	int r = chrome ? init(chrome, input, fail) : fail_memory(fail);

	if (r && chrome)
		chrome_free(&chrome->export);
	else if (!r)
		*ret = &chrome->export;
	return r;
}

const struct export_ops chrome_export = {
	.name = "chrome",
	.summary = "Chrome's trace event JSON, for viewers that take nothing else",
	.takes_decode = true,
	.create = chrome_new,
	.free = chrome_free,
	.begin = chrome_begin,
	.event = chrome_event,
	.end = chrome_end,
};
