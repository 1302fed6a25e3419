// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chrome's trace event JSON, one object per line, for many viewers. Process 0 has a row for each CPU with the tasks
 * that ran there, and one for its interrupts; tasks have their system calls, calls of the function graph and spans of
 * marks; what begins and ends with two other events is a span of its own; other events are instants with their
 * fields. Times are microseconds with three decimals. Integers beyond 2^53, which JavaScript rounds, are strings.
 * Where the clock is so late that a double of microseconds has no room for nanoseconds, times count from the last
 * whole day before the first event. Machines of a merged file have processes and rows of their own. The slices are
 * those of lib/meaning/timeline/timeline.h; one of which the end is not known says so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/last_tasks_internal.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/timeline.h"

/*
 * Rows of process 0: CPUs, their interrupts, and the functions in those and in idle tasks. MARKS, more than any PID:
 * the row of a task's spans, which its system calls cross, because a mark is written by one.
 */
enum { INTERRUPTS = 100000, FUNCTIONS = 200000, MARKS = 1 << 23 };
enum { SIZE_OF_VIEWERS = 200 << 20 };
/* The numbers of the processes and rows of another machine begin so much later: no row has a larger one. */
enum { MACHINE = 1 << 24 };

#define DAY (UINT64_C(86400) * NS_PER_S)
/* ns. From 2^43 us on the steps of a double are longer than 1 ns; the trace goes on for a while. */
#define LATE_TIME ((UINT64_C(1) << 42) * 1000)

struct kind {
	const struct format *format;   /* NULL: unknown */
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
};

struct buffer {
	struct chrome *chrome;
	const struct context *context;
	/* Of the recording: the first one of its buffers owns it. */
	struct timeline *timeline;
	bool is_first;
	int64_t base;           /* of the numbers of its machine */
	struct u64_map pids;    /* seen */
	struct u64_map marked;  /* those that have spans */
	struct u64_map cpus;    /* seen */
	struct last_tasks seen; /* in the maps */
};

struct chrome {
	struct export export; /* first */
	struct kinds kinds;
	struct buffer *buffers;
	size_t nr_buffers;
	int64_t machines;
	bool some;       /* a line was written */
	uint64_t origin; /* ns: the time that is written as 0 */
	uint64_t bytes, first, last;
	bool begun;
	uint64_t asyncs; /* spans that have two lines */
};

static int32_t process_of(const struct buffer *buffer, int32_t pid)
{
	int32_t tgid = who_process(buffer->context, pid, UINT64_MAX, NULL);

	return tgid ? tgid : pid;
}

static void put_us(struct out *out, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000);
	const char digits[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

	out_u64(out, ns / 1000);
	out_mem(out, digits, sizeof(digits));
}

static uint64_t from_origin(const struct chrome *chrome, uint64_t ts)
{
	return ts > chrome->origin ? ts - chrome->origin : 0;
}

/* Writes {"ph":"X","pid":1,"tid":2,"ts":3.000,"name": and the caller writes the rest. */
static struct out *begin_line(const struct buffer *buffer, char phase, int64_t pid, int64_t tid, uint64_t ts)
{
	struct chrome *chrome = buffer->chrome;
	struct out *out = chrome->export.out;

	out_str(out, chrome->some ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	chrome->some = true;
	out_char(out, phase);
	out_str(out, "\",\"pid\":");
	out_s64(out, buffer->base + pid);
	out_str(out, ",\"tid\":");
	out_s64(out, buffer->base + tid);
	out_str(out, ",\"ts\":");
	put_us(out, from_origin(chrome, ts));
	out_str(out, ",\"name\":");
	return out;
}

static void put_lasted(struct chrome *chrome, const struct timeline_slice *slice, int64_t pid, int64_t tid)
{
	const struct buffer *buffer = &chrome->buffers[slice->buffer];
	struct out *out = begin_line(buffer, 'X', pid, tid, slice->start);
	char text[TIMELINE_NAME];
	size_t len;
	const char *name = timeline_name(buffer->timeline, slice, text, &len);

	json_string(out, name, len);
	out_str(out, ",\"dur\":");
	put_us(out, slice->to - slice->start);
	if (slice->end != RUNS_KNOWN)
		out_f(out, ",\"args\":{\"end\":\"%s\"}", runs_end_name(slice->end));
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
	out = begin_line(buffer, phase, apart ? 0 : process_of(buffer, track->pid),
			 apart ? FUNCTIONS + 2 * track->cpu + track->interrupt : track->pid, ts);
	json_string(out, symbol.name, symbol.name_len);
	return out;
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	const struct chrome *chrome = arg;

	if (!track->frames[track->nr_frames - 1].late)
		out_char(put_call(&chrome->buffers[event->buffer], 'B', track, event->ts), '}');
}

/* A call without an entry is one line: it may begin before lines that are written. */
static void leave(const struct chrome *chrome, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct out *out;

	if (frame->late && !frame->from)
		return;
	out = put_call(&chrome->buffers[slice->buffer], frame->late ? 'X' : 'E', track,
		       frame->late ? frame->from : slice->to);
	if (frame->late) {
		out_str(out, ",\"dur\":");
		put_us(out, from_origin(chrome, slice->to) - from_origin(chrome, frame->from));
	}
	out_char(out, '}');
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
	}
	if (kind && kinds_set(&chrome->kinds, event, kind))
		return kind;
	export_no_memory(&chrome->export);
	return NULL;
}

static bool is_large(const struct field *field, const struct schema_abi *abi, const struct event *event)
{
	const struct place place = place_of(field, abi);
	const uint64_t value = place_u64(&place, event), most = UINT64_C(1) << 53;

	if (place.is_signed)
		return place.size && ((int64_t)value > (int64_t)most || (int64_t)value < -(int64_t)most);
	return place.size && value > most;
}

static void put_value(const struct field *field, const struct schema_abi *abi, const struct event *event,
		      struct out *out)
{
	bool quoted = field->size == sizeof(uint64_t) && is_large(field, abi, event);

	if (quoted)
		out_char(out, '"');
	value_put(field, abi, event, value_is_text(field), out);
	if (quoted)
		out_char(out, '"');
}

static void put_instant(const struct buffer *buffer, const struct kind *kind, const struct event *event)
{
	const struct format *format = kind->format;
	struct out *out = begin_line(buffer, 'i', process_of(buffer, event->pid), event->pid, event->ts);

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

static void put_loss(struct chrome *chrome, const struct timeline_slice *slice)
{
	struct out *out = begin_line(&chrome->buffers[slice->buffer], 'i', 0, slice->cpu, slice->start);

	out_str(out, "\"lost events\",\"s\":\"t\",\"args\":{\"count\":");
	if (slice->event->lost > 0)
		out_s64(out, slice->event->lost);
	else
		out_str(out, "null");
	out_str(out, "}}");
}

/* Spans that need not be inside one another: two lines, which their category and number make one. */
static void put_async(struct chrome *chrome, const struct timeline_slice *slice, int64_t pid, const char *category)
{
	const struct buffer *buffer = &chrome->buffers[slice->buffer];
	char text[TIMELINE_NAME];
	size_t len;
	const char *name = timeline_name(buffer->timeline, slice, text, &len);

	chrome->asyncs++;
	for (unsigned ends = 0; ends < 2; ends++) {
		struct out *out =
			begin_line(buffer, ends ? 'e' : 'b', pid, slice->pid, ends ? slice->to : slice->start);

		json_string(out, name, len);
		out_str(out, ",\"cat\":");
		json_text(out, category);
		out_f(out, ",\"id\":%" PRIu64, chrome->asyncs);
		if (!ends && slice->kind == TIMELINE_ASYNC)
			out_f(out, ",\"args\":{\"cookie\":\"%" PRId64 "\"}", slice->number);
		if (ends && slice->end != RUNS_KNOWN)
			out_f(out, ",\"args\":{\"end\":\"%s\"}", runs_end_name(slice->end));
		out_char(out, '}');
	}
}

static void put_mark(struct chrome *chrome, const struct timeline_slice *slice)
{
	struct buffer *buffer = &chrome->buffers[slice->buffer];

	if (!u64_map_add(&buffer->marked, (uint32_t)slice->pid))
		export_no_memory(&chrome->export);
	put_lasted(chrome, slice, process_of(buffer, slice->pid), MARKS + (int64_t)slice->pid);
}

/* A moment that a program marked, or a value of its counter. */
static void put_moment(struct chrome *chrome, const struct timeline_slice *slice)
{
	bool counts = slice->kind == TIMELINE_COUNTER;
	struct out *out = begin_line(&chrome->buffers[slice->buffer], counts ? 'C' : 'i', (int64_t)slice->owner,
				     slice->pid, slice->start);

	json_string(out, slice->stem, slice->stem_len);
	out_str(out, ",\"cat\":\"mark\"");
	if (counts)
		out_f(out, ",\"args\":{\"value\":%" PRId64 "}}", slice->number);
	else
		out_str(out, ",\"s\":\"t\"}");
}

static void put_slice(void *arg, const struct timeline_slice *slice)
{
	struct chrome *chrome = arg;

	switch (slice->kind) {
	case TIMELINE_RUN:
		/* A task that is chosen may have no event of its own there. */
		if (!u64_map_add(&chrome->buffers[slice->buffer].cpus, slice->cpu))
			export_no_memory(&chrome->export);
		put_lasted(chrome, slice, 0, slice->cpu);
		break;
	case TIMELINE_ASYNC:
		put_async(chrome, slice, (int64_t)slice->owner, "mark");
		break;
	case TIMELINE_PAIR:
		put_async(chrome, slice, slice->of_task ? process_of(&chrome->buffers[slice->buffer], slice->pid) : 0,
			  slice->system);
		break;
	case TIMELINE_INSTANT:
		put_moment(chrome, slice);
		break;
	case TIMELINE_MARK:
		put_mark(chrome, slice);
		break;
	case TIMELINE_CALL:
		put_lasted(chrome, slice, process_of(&chrome->buffers[slice->buffer], slice->pid), slice->pid);
		break;
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
		put_lasted(chrome, slice, 0, INTERRUPTS + (int64_t)slice->cpu);
		break;
	case TIMELINE_FUNCTION:
		leave(chrome, slice);
		break;
	case TIMELINE_LOSS:
		put_loss(chrome, slice);
		break;
	case TIMELINE_COUNTER:
		if (slice->counter == TIMELINE_MARKED)
			put_moment(chrome, slice);
		break;
	case TIMELINE_STATE:
		break;
	}
}

static void see_event(void *arg, const struct event *event, enum timeline_part part)
{
	struct chrome *chrome = arg;
	const struct buffer *buffer = &chrome->buffers[event->buffer];
	const struct kind *kind = part == TIMELINE_NO_PART ? kind_of(chrome, buffer, event) : NULL;

	if (kind && kind->format)
		put_instant(buffer, kind, event);
}

/* Notes which tasks and CPUs the rows are of. */
static void note_seen(struct buffer *buffer, const struct event *event)
{
	if (last_tasks_same(&buffer->seen, event))
		return;
	if (!u64_map_add(&buffer->pids, (uint32_t)event->pid) || !u64_map_add(&buffer->cpus, event->cpu))
		export_no_memory(&buffer->chrome->export);
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
	if (!chrome->begun)
		chrome->first = event->ts;
	chrome->begun = true;
	chrome->last = event->ts;
	if (event->kind == EVENT_RECORD && export->shows)
		note_seen(buffer, event);
	(void)export_see(export, buffer->timeline, event);
	chrome->bytes += out_len(export->out) - before;
}

/* Of several machines a process has the name of its own, too. */
static void put_name(const struct buffer *buffer, const char *what, int64_t pid, int64_t tid, const char *name,
		     size_t len)
{
	const char *recording = buffer->chrome->machines > 1 ? buffer->context->recording : NULL;
	struct out *out = begin_line(buffer, 'M', pid, tid, 0);
	char text[256];

	if (recording && !strcmp(what, "process_name")) {
		snprintf(text, sizeof(text), "%.*s (%.180s)", (int)(len < 64 ? len : 64), name, recording);
		name = text;
		len = strlen(text);
	}
	json_text(out, what);
	out_str(out, ",\"args\":{\"name\":");
	json_string(out, name, len);
	out_str(out, "}}");
}

static void name_rows(const struct buffer *buffer)
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
			put_name(buffer, "thread_name", 0, rows[i].first + rows[i].step * (int64_t)key, text,
				 strlen(text));
		}
	for (size_t at = 0; u64_map_next(&buffer->marked, &at, &key);) {
		name = context_comm(buffer->context, (int32_t)key, COMMS_LAST);
		snprintf(text, sizeof(text), "%.*s marks", (int)(name.len < 40 ? name.len : 40), name.text);
		put_name(buffer, "thread_name", process_of(buffer, (int32_t)key), MARKS + (int64_t)key, text,
			 strlen(text));
	}
	for (size_t at = 0; u64_map_next(&buffer->pids, &at, &key);) {
		if (!key)
			continue;
		name = context_comm(buffer->context, (int32_t)key, COMMS_LAST);
		put_name(buffer, "thread_name", process_of(buffer, (int32_t)key), (int32_t)key, name.text, name.len);
		if (process_of(buffer, (int32_t)key) == (int32_t)key)
			put_name(buffer, "process_name", (int32_t)key, (int32_t)key, name.text, name.len);
	}
	if (buffer->is_first)
		put_name(buffer, "process_name", 0, 0, "CPUs", 4);
}

/* The next member of otherData. */
static void put_key(struct out *out, bool *some, const char *key)
{
	out_str(out, *some ? "," : "\"otherData\":{");
	*some = true;
	json_text(out, key);
	out_char(out, ':');
}

/* Of machines whose clocks were compared: so many ns the times of each may be off beside those of another one. */
static void put_clock_errors(const struct chrome *chrome, struct out *out, bool *some)
{
	bool any = false;

	for (size_t i = 0; i < chrome->nr_buffers; i++) {
		const struct buffer *buffer = &chrome->buffers[i];

		if (!buffer->context->compared || !buffer->is_first)
			continue;
		if (any)
			out_char(out, ',');
		else
			put_key(out, some, "clock_error_ns");
		if (!any)
			out_char(out, '{');
		any = true;
		json_text(out, buffer->context->recording ? buffer->context->recording : buffer->context->instance);
		out_f(out, ":\"%" PRIu64 "\"", buffer->context->clock_error_ns);
	}
	if (any)
		out_char(out, '}');
}

/* From where the times count, what the time of day was at the first event, and how exact several clocks are. */
static void put_other(const struct chrome *chrome, struct out *out)
{
	char text[DAY_TEXT];
	struct zone *utc = NULL;
	bool some = false;
	int64_t ns;

	if (chrome->origin) {
		put_key(out, &some, "time_origin_ns");
		out_f(out, "\"%" PRIu64 "\"", chrome->origin);
	}
	if (wall_of(export_wall(chrome->export.reader), chrome->first, &ns, NULL) && !zone_new_fixed(0, &utc, NULL)) {
		day_text(text, utc, ns, DAY_ALWAYS, 9);
		put_key(out, &some, "first_event_utc");
		json_text(out, text);
		zone_free(utc);
	}
	put_clock_errors(chrome, out, &some);
	if (some)
		out_str(out, "},");
}

static void chrome_end(struct export *export)
{
	struct chrome *chrome = (struct chrome *)export;

	for (size_t i = 0; i < chrome->nr_buffers; i++) {
		const struct buffer *buffer = &chrome->buffers[i];

		if (buffer->is_first)
			timeline_end(buffer->timeline, chrome->last);
		if (timeline_starved(buffer->timeline))
			export_no_memory(export);
		name_rows(buffer);
	}
	out_str(export->out, "\n],");
	put_other(chrome, export->out);
	if (chrome->origin) {
		export_note(export,
			    "times count from %" PRIu64
			    " s of the recording's clock: the format's numbers have no room for its nanoseconds",
			    chrome->origin / NS_PER_S);
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
		if (chrome->buffers[i].is_first)
			timeline_free(chrome->buffers[i].timeline);
		u64_map_release(&chrome->buffers[i].pids);
		u64_map_release(&chrome->buffers[i].marked);
		u64_map_release(&chrome->buffers[i].cpus);
	}
	free(chrome->buffers);
	kinds_release(&chrome->kinds);
	free(chrome);
}

/* The buffers of one recording have one timeline. */
static struct timeline *timeline_of(struct chrome *chrome, size_t index, const struct context *context)
{
	const struct timeline_calls calls = {
		.arg = chrome,
		.wanted = ~(1u << TIMELINE_STATE),
		.slice = put_slice,
		.enter = enter,
		.event = see_event,
		.only_with_entry = context->unit != CLOCK_UNIT_NS, /* times in records of calls are in ns */
	};

	for (size_t i = 0; i < index; i++)
		if (context_is_beside(chrome->buffers[i].context, context)) {
			chrome->buffers[index].base = chrome->buffers[i].base;
			return chrome->buffers[i].timeline;
		}
	chrome->buffers[index].is_first = true;
	chrome->buffers[index].base = MACHINE * chrome->machines++;
	return timeline_new(&calls, context->preempt_rt);
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

		buffer->chrome = chrome;
		buffer->context = input->reader->buffers[i].context;
		u64_map_init(&buffer->pids, 1);
		u64_map_init(&buffer->marked, 1);
		u64_map_init(&buffer->cpus, 1);
		buffer->timeline = timeline_of(chrome, i, buffer->context);
		if (!buffer->timeline || !timeline_add(buffer->timeline, (uint16_t)i, buffer->context))
			return fail_memory(fail);
		export_choose(buffer->timeline, (uint16_t)i, input->reader);
		timeline_count_fields(buffer->timeline, input->counters, input->nr_counters);
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
	.takes_counters = true,
	.of_tasks = true,
	.create = chrome_new,
	.free = chrome_free,
	.begin = chrome_begin,
	.event = chrome_event,
	.end = chrome_end,
};
