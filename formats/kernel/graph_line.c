// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: the lines that its default options print, which are nearly all. */
#include "formats/kernel/graph.h"

#include "formats/kernel/call_args_internal.h"
#include "formats/kernel/duration_internal.h"
#include "formats/kernel/ftrace.h"
#include "lib/base/memo.h"
#include "lib/base/out.h"

#include <string.h>

enum {
	BLANKS = 64,
	DEPTH_MAX = BLANKS / 2, /* deeper lines are printed by graph.c */
	LINE_ROOM = 256,        /* of a line without the name */
};

/* Copies of a constant size compile to a few moves; the following text overwrites the extra bytes. */
static const char blanks[BLANKS + 1] = "                                                                ";
static const char no_duration[] = "              |                 ";
enum { NO_DURATION = 17, NO_DURATION_COPY = 24 };

static inline char *put_cpu(const struct graph *graph, unsigned cpu, char *at)
{
	*at++ = ' ';
	if (__builtin_expect(cpu < 10 && graph->cpu_width == 1, 1))
		*at++ = (char)('0' + cpu);
	else
		at = digits_put_right(at, cpu, graph->cpu_width);
	memcpy(at, ") ", 2);
	return at + 2;
}

static inline __attribute__((always_inline)) char *put_duration(const struct binding *binding, const uint8_t *exit,
								char *at)
{
	uint64_t ns = load_u64(exit + binding->places[GRAPH_RETTIME].offset, false) -
		      load_u64(exit + binding->places[GRAPH_CALLTIME].offset, false);

	*at++ = duration_mark(ns);
	*at++ = ' ';
	at = duration_write(ns, at);
	memcpy(at, "|  ", 3);
	return at + 3;
}

static inline char *put_indent(uint32_t depth, char *at)
{
	memcpy(at, blanks, BLANKS);
	return at + depth * 2;
}

static char *put_name(const struct ftrace *ftrace, uint64_t func, struct out *out, char *at)
{
	out->at = at;
	graph_print_name(ftrace, func, out);
	out_need(out, LINE_ROOM);
	return out->at;
}

/* The binding of a leaf's exit, if its places can also be read directly. */
static inline const struct binding *exit_of(const struct ftrace *ftrace, const struct graph_note *note)
{
	const struct binding *binding = ftrace->bindings[note->exit_binding];

	return __builtin_expect(note->exit_len >= binding->words_size, 1) ? binding : NULL;
}

bool graph_line_usual(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		      struct out *out)
{
	const struct graph_note *note = (const struct graph_note *)sink_note_of(event);
	const struct graph *graph = ftrace->graph;
	const struct binding *exit = binding;
	uint32_t depth;
	uint64_t func;
	char *at;

	if (note->what < GRAPH_NESTED || note->what > GRAPH_EXIT || note->switched || !has_words(binding, event))
		return false;
	if (__builtin_expect(note->what != GRAPH_EXIT && has_call_args(binding->places[GRAPH_ARGS].offset, event->len),
			     0))
		return false;
	func = load_u64(event->data + binding->places[GRAPH_FUNC].offset, false);
	depth = load_u32(event->data + binding->places[GRAPH_DEPTH_AT].offset, false);
	if (note->what != GRAPH_EXIT)
		memo_prefetch(graph->names, func);
	if (note->what == GRAPH_LEAF)
		exit = exit_of(ftrace, note);
	if (__builtin_expect(depth > DEPTH_MAX || graph_is_irq(graph, func) || !exit, 0))
		return false;
	out_need(out, LINE_ROOM);
	at = put_cpu(graph, event->cpu, out->at);
	if (note->what == GRAPH_LEAF) {
		at = put_indent(depth, put_duration(exit, note->exit, at));
		at = put_name(ftrace, func, out, at);
		memcpy(at, "();\n", 4);
		at += 4;
	} else if (note->what == GRAPH_NESTED) {
		memcpy(at, no_duration, NO_DURATION_COPY);
		at = put_name(ftrace, func, out, put_indent(depth, at + NO_DURATION));
		memcpy(at, "() {\n", 5);
		at += 5;
	} else {
		at = put_indent(depth, put_duration(binding, event->data, at));
		memcpy(at, "}\n", 2);
		at += 2;
	}
	out->at = at;
	return true;
}
