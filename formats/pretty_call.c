// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/pretty_call_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/palette.h"
#include "lib/base/out.h"
#include "lib/event/call_text.h"
#include "lib/event/context.h"
#include "lib/event/events.h"

#include <stdlib.h>
#include <string.h>

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

struct pretty_calls *pretty_calls_new(const struct context *context)
{
	struct pretty_calls *calls = calloc(1, sizeof(*calls));

	if (calls)
		calls->context = context;
	return calls;
}

void pretty_calls_free(struct pretty_calls *calls)
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

bool pretty_calls_settle(struct pretty_calls *calls, struct events *events, struct event *event, struct event *ret_exit)
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

void pretty_calls_begin(struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *begin, bool color,
			struct event *exit)
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

bool pretty_calls_put(const struct pretty_calls *calls, const struct ftrace *ftrace, const struct event *event,
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
