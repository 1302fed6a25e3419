// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OTLP/JSON, as the file exporter of OpenTelemetry's collector writes it, a request on each line: the spans that
 * programs marked. A span of a thread is in the trace of the outermost one around it. One of a process whose track is
 * the id of a trace, as weft import --otlp makes them, gets its ids back. Other ids are made of what tells a span
 * apart, so the same file gives the same ids.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/follow/marks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"

enum { TRACE_DIGITS = 32, INTERNAL = 1 };

/* What an open span knows; `outer` is the one around it. */
struct note {
	struct note *outer;
	uint64_t id, trace[2];
};

struct otlp {
	struct export export;
	struct marks marks;
	struct state state;
	struct u64_map tops;           /* of a thread by PID: struct note *, the innermost open span */
	const struct context *context; /* the first buffer's */
	uint64_t last, spans, undated;
};

static uint64_t hash(uint64_t of, int64_t with)
{
	const uint64_t both[] = { of, (uint64_t)with };
	uint64_t made = xxh64(both, sizeof(both));

	return made ? made : 1;
}

/* The id of a trace, 32 hexadecimal digits, as a track. */
static bool trace_of_track(const struct marks_span *span, uint64_t trace[2])
{
	char half[TRACE_DIGITS / 2 + 1];

	if (!span->track || span->track_len != TRACE_DIGITS)
		return false;
	for (size_t i = 0; i < TRACE_DIGITS; i++)
		if (!isxdigit((unsigned char)span->track[i]))
			return false;
	for (size_t i = 0; i < 2; i++) {
		snprintf(half, sizeof(half), "%.*s", TRACE_DIGITS / 2, span->track + i * TRACE_DIGITS / 2);
		trace[i] = strtoull(half, NULL, 16);
	}
	return trace[0] || trace[1];
}

static void begin(void *arg, const struct marks_span *span)
{
	struct otlp *otlp = arg;
	struct note *note = span->note, **top = NULL;

	note->id = hash(hash(span->start, span->pid), (int64_t)span->depth << 32 | span->cpu);
	if (span->async) {
		if (trace_of_track(span, note->trace))
			note->id = span->cookie > 0 ? (uint64_t)span->cookie << 5 : note->id;
		else
			note->id = hash(note->id, span->cookie);
	} else {
		top = span->pid ? u64_map_get(&otlp->tops, (uint32_t)span->pid) : NULL;
		note->outer = top ? *top : NULL;
	}
	if (top)
		*top = note;
	if (note->outer)
		memcpy(note->trace, note->outer->trace, sizeof(note->trace));
	else if (!note->trace[0] && !note->trace[1])
		note->trace[0] = hash(note->id, 1), note->trace[1] = hash(note->id, 2);
}

static void put_attribute(struct json *json, const char *key, const char *text, int64_t number)
{
	char digits[32];

	json_object(json);
	json_key(json, "key");
	json_put_text(json, key);
	json_key(json, "value");
	json_object(json);
	snprintf(digits, sizeof(digits), "%" PRId64, number);
	json_key(json, text ? "stringValue" : "intValue");
	json_put_text(json, text ? text : digits);
	json_end(json);
	json_end(json);
}

/* Numbers of 64 bits are strings in the JSON of protobuf. */
static void put_time(struct json *json, const char *key, int64_t ns)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, ns);
	json_key(json, key);
	json_put_text(json, digits);
}

static void put_id(struct json *json, const char *key, const uint64_t *id, size_t nr)
{
	char digits[TRACE_DIGITS + 1] = "";

	for (size_t i = 0; i < nr; i++)
		snprintf(digits + 16 * i, sizeof(digits) - 16 * i, "%016" PRIx64, id[i]);
	json_key(json, key);
	json_put_text(json, digits);
}

static const char *name_of(const struct otlp *otlp, int32_t pid, uint64_t ts)
{
	struct task_name name = context_comm(otlp->context, pid, ts);

	return name.text == task_no_name ? NULL : name.text;
}

static void put_resource(struct json *json, const struct otlp *otlp, const struct marks_span *span, int32_t process)
{
	const char *name = process ? name_of(otlp, process, span->start) : NULL;

	json_key(json, "resource");
	json_object(json);
	json_key(json, "attributes");
	json_array(json);
	if (name)
		put_attribute(json, "service.name", name, 0);
	if (process)
		put_attribute(json, "process.pid", NULL, process);
	json_end(json);
	json_end(json);
}

static void put_span(struct json *json, const struct otlp *otlp, const struct marks_span *span, const int64_t times[2])
{
	const struct note *note = span->note;
	const char *thread = span->async ? NULL : name_of(otlp, span->pid, span->start);

	json_object(json);
	put_id(json, "traceId", note->trace, 2);
	put_id(json, "spanId", &note->id, 1);
	if (note->outer)
		put_id(json, "parentSpanId", &note->outer->id, 1);
	json_key(json, "name");
	json_put_bytes(json, span->name, span->name_len);
	json_key(json, "kind");
	json_put_u64(json, INTERNAL);
	put_time(json, "startTimeUnixNano", times[0]);
	put_time(json, "endTimeUnixNano", times[1]);
	json_key(json, "attributes");
	json_array(json);
	if (!span->async)
		put_attribute(json, "thread.native_id", NULL, span->pid);
	if (thread)
		put_attribute(json, "thread.name", thread, 0);
	if (span->end != MARKS_KNOWN)
		put_attribute(json, "weft.end", span->end == MARKS_LOST ? "lost" : "open", 0);
	json_end(json);
	json_key(json, "status");
	json_object(json);
	json_end(json);
	json_end(json);
}

static void put_request(struct otlp *otlp, const struct marks_span *span, const int64_t times[2])
{
	int32_t process = span->pid ? who_process(otlp->context, span->pid, span->start, NULL) : 0;
	struct json json;

	if (!process)
		process = span->tgid;
	json_init(&json, otlp->export.out);
	json_object(&json);
	json_key(&json, "resourceSpans");
	json_array(&json);
	json_object(&json);
	put_resource(&json, otlp, span, process);
	json_key(&json, "scopeSpans");
	json_array(&json);
	json_object(&json);
	json_key(&json, "scope");
	json_object(&json);
	json_key(&json, "name");
	json_put_text(&json, "weft");
	json_end(&json);
	json_key(&json, "spans");
	json_array(&json);
	put_span(&json, otlp, span, times);
	while (json.depth)
		json_end(&json);
	json_line(&json);
}

static void end(void *arg, const struct marks_span *span)
{
	struct otlp *otlp = arg;
	const struct note *note = span->note;
	struct note **top = span->async ? NULL : u64_map_find(&otlp->tops, (uint32_t)span->pid);
	int64_t times[2];

	if (top && *top == note)
		*top = note->outer;
	if (!wall_of(otlp->context->wall, span->start, &times[0], NULL) ||
	    !wall_of(otlp->context->wall, span->to, &times[1], NULL)) {
		otlp->undated++;
		return;
	}
	otlp->spans++;
	put_request(otlp, span, times);
}

static uint64_t unknown(const void *arg, int32_t pid, const struct event *event)
{
	return state_unknown(&((const struct otlp *)arg)->state, pid, event);
}

static void lose(struct otlp *otlp, const struct event *gap)
{
	const struct gaps *gaps = &otlp->state.gaps;

	state_see(&otlp->state, gap);
	marks_lose(&otlp->marks, gaps->nr ? gaps->items[gaps->nr - 1].from : gap->ts);
}

static void otlp_event(struct export *export, const struct event *event)
{
	struct otlp *otlp = (struct otlp *)export;
	struct event gap;

	otlp->last = event->ts;
	if (state_rest(&otlp->state, event, &gap))
		lose(otlp, &gap);
	if (event->kind != EVENT_RECORD) {
		lose(otlp, event);
		return;
	}
	state_see(&otlp->state, event);
	if (otlp->state.step.kind == STEP_FORK)
		marks_renew(&otlp->marks, otlp->state.tasks[otlp->state.step.task].pid, event->ts);
	if (export->shows)
		marks_take(&otlp->marks, event);
}

/* A request of nothing: an empty file is no JSON. */
static void put_nothing(struct otlp *otlp)
{
	struct json json;

	json_init(&json, otlp->export.out);
	json_object(&json);
	json_key(&json, "resourceSpans");
	json_array(&json);
	while (json.depth)
		json_end(&json);
	json_line(&json);
}

static void otlp_end(struct export *export)
{
	struct otlp *otlp = (struct otlp *)export;

	marks_end(&otlp->marks, otlp->last);
	if (!otlp->spans)
		put_nothing(otlp);
	if (marks_starved(&otlp->marks) || otlp->tops.starved)
		export_no_memory(export);
	if (otlp->undated)
		export_note(export,
			    "the recording does not tell the time of day, which spans of OpenTelemetry have: %" PRIu64
			    " spans are left out",
			    otlp->undated);
	else if (!otlp->spans)
		export_note(export, "there are no spans of programs among the events; 'weft help mark' tells how to "
				    "write them");
	if (otlp->marks.unbegun)
		export_note(export, "%" PRIu64 " marks end what none began: left out", otlp->marks.unbegun);
}

static void otlp_free(struct export *export)
{
	struct otlp *otlp = (struct otlp *)export;

	marks_release(&otlp->marks);
	state_release(&otlp->state);
	u64_map_release(&otlp->tops);
	free(otlp);
}

static int otlp_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct otlp *otlp;
	int r;

	if (!input->reader->nr_buffers)
		return fail_set(fail, -ENODATA, "the file has no buffer whose marks could be spans");
	otlp = calloc(1, sizeof(*otlp));
	if (!otlp)
		return fail_memory(fail);
	otlp->context = input->reader->buffers[0].context;
	marks_init(&otlp->marks,
		   &(struct marks_calls){
			   .arg = otlp, .note = sizeof(struct note), .begin = begin, .end = end, .unknown = unknown });
	state_init(&otlp->state, otlp->context->preempt_rt);
	u64_map_init(&otlp->tops, sizeof(struct note *));
	r = reader_is_of_one(input->reader, fail);
	if (r)
		otlp_free(&otlp->export);
	else
		*ret = &otlp->export;
	return r;
}

const struct export_ops otlp_export = {
	.name = "otlp",
	.summary = "spans of marks as OTLP/JSON, for OpenTelemetry's collector and what stands behind it",
	.of_tasks = true,
	.create = otlp_new,
	.free = otlp_free,
	.event = otlp_event,
	.end = otlp_end,
};
