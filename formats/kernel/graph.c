// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: the legend of the columns, and the lines. */
#include "formats/kernel/graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/duration_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/kernel/function_internal.h"
#include "formats/kernel/header_internal.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/memo.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/buffers.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/imported.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/uapi/names.h"

/* The legend of the columns. */

struct legend {
	size_t option;  /* offset of a bool in struct graph */
	unsigned width; /* the width that print_lat_header() reserves for it */
	const char *first, *second;
};

static const struct legend legends[] = {
	{ offsetof(struct graph, abstime), 16, "     TIME       ", "      |         " },
	{ offsetof(struct graph, relative), 16, "   REL TIME     ", "      |         " },
	{ offsetof(struct graph, cpu), 4, " CPU", " |  " },
	{ offsetof(struct graph, proc), 17, "  TASK/PID       ", "   |    |        " },
	{ offsetof(struct graph, latency), 0, "||||   ", "||||   " },
	{ offsetof(struct graph, duration), 0, "  DURATION   ", "   |   |      " },
};

static bool shown(const struct graph *graph, const struct legend *legend)
{
	return *(const bool *)((const char *)graph + legend->option);
}

static void latency_flags(const struct graph *graph, struct out *out)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off        \n", " / _----=> need-resched    \n", "| / _---=> hardirq/softirq \n",
		"|| / _--=> preempt-depth   \n", "||| /                      \n",
	};
	unsigned width = 0;

	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			width += legends[i].width;
	}
	for (size_t i = 0; i < array_size(lines); i++) {
		out_char(out, '#');
		out_fill(out, ' ', width);
		out_str(out, lines[i]);
	}
}

static void graph_header(const struct ftrace *ftrace, struct out *out)
{
	const struct graph *graph = ftrace->graph;

	if (!graph->info || (graph->latency && !header_latency(ftrace, out)))
		return;
	if (graph->latency)
		latency_flags(graph, out);
	out_char(out, '#');
	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			out_str(out, legends[i].first);
	}
	out_str(out, "               FUNCTION CALLS\n#");
	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			out_str(out, legends[i].second);
	}
	out_str(out, "               |   |   |   |\n");
}

/* The options of the tracer, and init_graph_trace(). */

static uint8_t cpu_width(const struct context *context)
{
	uint32_t last = context->online_cpus ? context->online_cpus - 1 : 0;
	uint8_t width = 1;

	for (size_t i = 0; i < context->nr_stats; i++) {
		if (context->stats[i].cpu > last)
			last = context->stats[i].cpu;
	}
	for (; last >= 10; last /= 10)
		width++;
	return width;
}

int graph_new(const struct ftrace *ftrace, struct graph **ret, struct fail *fail)
{
	const struct context *context = ftrace->context;
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return fail_memory(fail);
	graph->info = ftrace_option(ftrace, OPTION_CONTEXT_INFO);
	graph->latency = ftrace_option(ftrace, OPTION_LATENCY_FORMAT);
	graph->cpu = ftrace_option(ftrace, OPTION_FGRAPH_CPU);
	graph->proc = ftrace_option(ftrace, OPTION_FGRAPH_PROC);
	graph->overhead = ftrace_option(ftrace, OPTION_FGRAPH_OVERHEAD);
	graph->old_marks = ftrace->columns.old_marks;
	graph->duration = ftrace_option(ftrace, OPTION_FGRAPH_DURATION);
	graph->abstime = ftrace_option(ftrace, OPTION_FGRAPH_ABSTIME) || ftrace->options.face;
	graph->relative = imported_graph_is_relative(context);
	graph->irqs = ftrace_option(ftrace, OPTION_FGRAPH_IRQS);
	graph->tail = ftrace_option(ftrace, OPTION_FGRAPH_TAIL);
	graph->overrun = ftrace_option(ftrace, OPTION_FGRAPH_OVERRUN);
	graph->retval = ftrace_option(ftrace, OPTION_FGRAPH_RETVAL);
	graph->retval_hex = ftrace_option(ftrace, OPTION_FGRAPH_RETVAL_HEX);
	graph->retaddr = ftrace_option(ftrace, OPTION_FGRAPH_RETADDR);
	graph->names_retval = context_knows(context, 6, 13);
	graph->nanoseconds = ftrace->options.nanoseconds;
	graph->cpu_width = cpu_width(context);
	graph->usual = graph->info && graph->cpu && graph->overhead && !graph->old_marks && graph->duration &&
		       !graph->proc && !graph->abstime && !graph->relative && !graph->latency && !graph->tail &&
		       !graph->overrun && !graph->retval && !graph->retaddr;
	graph->nr_seam = buffers_own_cpus(context);
	graph->names = memo_new();
	*ret = graph;
	return 0;
}

void graph_free(struct graph *graph)
{
	if (!graph)
		return;
	free(graph->cpus);
	free(graph->names);
	free(graph);
}

/* The lines that the default options print, which are nearly all. */

enum {
	BLANKS = 64,
	DEPTH_MAX = BLANKS / 2, /* deeper lines are printed by graph_line() */
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

/* %ps */
static void graph_print_name(const struct ftrace *ftrace, uint64_t func, struct out *out)
{
	struct memo *names = ftrace->graph->names;
	size_t start = out_len(out);

	if (memo_print(names, func, out))
		return;
	if (!symbols_print(ftrace->context->symbols, func, 's', out)) {
		out_mem(out, "0x", 2);
		out_hex(out, func);
	}
	if (!out->failed)
		memo_add(names, func, out->start + start, out_len(out) - start);
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

/*
 * Prints a whole line at once; false, and nothing printed, when the line is not one of the common ones.
 */
static bool graph_line_usual(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
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

enum {
	INDENT = 2,
	DEPTH_SHOWN = 2000, /* limit of the indentation; the kernel's buffer for a line has two pages */
	TASK_WIDTH = 14,    /* TRACE_GRAPH_PROCINFO_LENGTH */
	TASK_NAME = 7,
};

/* Prints ts without the digits that are not shown, truncated as in print_graph_abs_time(). */
static void print_time(const struct columns *columns, const struct graph *graph, uint64_t ts, struct out *out)
{
	if (columns->face) {
		columns_time(columns, ts, out);
		out_mem(out, " |  ", 4);
		return;
	}
	out_u64_pad(out, ts / NS_PER_S, 5, ' ');
	out_char(out, '.');
	if (graph->nanoseconds)
		out_u64_pad(out, ts % NS_PER_S, 9, '0');
	else
		out_u64_pad(out, ts % NS_PER_S / 1000, 6, '0');
	out_mem(out, " |  ", 4);
}

/* print_graph_rel_time() */
static void print_relative_time(uint64_t ts, struct out *out)
{
	out_u64_pad(out, ts / 1000, 9, ' ');
	out_mem(out, " us |  ", 7);
}

static void print_cpu(const struct graph *graph, unsigned cpu, struct out *out)
{
	out_char(out, ' ');
	if (cpu < 10 && graph->cpu_width == 1)
		out_char(out, (char)('0' + cpu));
	else
		out_u64_pad(out, cpu, graph->cpu_width, ' ');
	out_mem(out, ") ", 2);
}

static unsigned digits(int32_t value)
{
	uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
	unsigned count = value < 0 ? 2 : 1;

	for (; rest >= 10; rest /= 10)
		count++;
	return count;
}

/* print_graph_proc(): centred; the name is cut to seven characters. */
static void print_task(const struct ftrace *ftrace, int32_t pid, struct out *out)
{
	struct task_name name = task_name(ftrace->context->tasks, pid);
	unsigned name_len = name.len < TASK_NAME ? name.len : TASK_NAME;
	unsigned len = name_len + 1 + digits(pid);
	unsigned spaces = len < TASK_WIDTH ? TASK_WIDTH - len : 0;

	out_fill(out, ' ', spaces / 2);
	ftrace_name(ftrace, name.text, name_len, out);
	out_char(out, '-');
	out_s64(out, pid);
	out_fill(out, ' ', spaces - spaces / 2);
}

static void print_banner(const struct ftrace *ftrace, const struct event *event, int32_t before, struct out *out)
{
	static const char line[] = " ------------------------------------------\n";

	out_mem(out, line, sizeof(line) - 1);
	print_cpu(ftrace->graph, event->cpu, out);
	print_task(ftrace, before, out);
	out_mem(out, " => ", 4);
	print_task(ftrace, event->pid, out);
	out_char(out, '\n');
	out_mem(out, line, sizeof(line) - 1);
	out_char(out, '\n');
}

static void print_columns(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct graph *graph = ftrace->graph;

	if (!graph->info)
		return;
	if (graph->abstime)
		print_time(&ftrace->columns, graph, event->ts, out);
	if (graph->relative)
		print_relative_time(event->ts, out);
	if (graph->cpu)
		print_cpu(graph, event->cpu, out);
	if (graph->proc) {
		print_task(ftrace, event->pid, out);
		out_mem(out, " | ", 3);
	}
	if (graph->latency) {
		out_need(out, COLUMNS_FLAGS_MAX + 4);
		*out->at++ = ' ';
		out->at = columns_flags(&ftrace->columns, event, out->at);
		out_mem(out, " | ", 3);
	}
}

static void print_duration(const struct graph *graph, uint64_t ns, struct out *out)
{
	char *at;

	if (!graph->duration || !graph->info)
		return;
	out_need(out, DURATION_MAX + 5);
	at = out->at;
	*at++ = !graph->overhead ? ' ' : graph->old_marks ? duration_mark_old(ns) : duration_mark(ns);
	*at++ = ' ';
	at = duration_write(ns, at);
	memcpy(at, "|  ", 3);
	out->at = at + 3;
}

static void print_no_duration(const struct graph *graph, struct out *out)
{
	if (graph->duration && graph->info)
		out_mem(out, "              |  ", 17);
}

/* print_graph_irq(): a line of its own before and after the entry functions of interrupts. */
static void print_irq(const struct ftrace *ftrace, const struct event *event, uint64_t func, const char *arrow,
		      struct out *out)
{
	const struct graph *graph = ftrace->graph;

	if (!graph_is_irq(graph, func))
		return;
	print_columns(ftrace, event, out);
	if (graph->duration && graph->info)
		out_mem(out, "  ", 2);
	out_str(out, arrow);
	if (graph->duration && graph->info)
		out_mem(out, " |", 2);
	out_char(out, '\n');
}

static void print_indent(int64_t depth, struct out *out)
{
	static const char blanks[64 + 1] = "                                                                ";
	size_t width;

	if (depth <= 0)
		return;
	width = (size_t)(depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN) * INDENT;
	if (width >= sizeof(blanks)) {
		out_fill(out, ' ', width);
		return;
	}
	/* One copy of a constant size is cheaper than one of the right size. */
	out_need(out, sizeof(blanks) - 1);
	memcpy(out->at, blanks, sizeof(blanks) - 1);
	out->at += width;
}

/* The errno that a function returned as an int or as a long; 0 when it is no error. */
static int64_t error_of(const struct ftrace *ftrace, uint64_t retval)
{
	bool is_64 = ftrace->context->abi.long_size == 8;
	int64_t error = (int64_t)retval;

	if (!is_64 || (retval & (1u << 31) && retval >> 32 == 0))
		error = (int32_t)(uint32_t)retval;
	return returned_error(error) ? error : 0;
}

/* print_graph_retval(): the text after a name, " = -2" or " = 0x1f"; since 6.13 " ret=-2". */
static void print_retval(const struct ftrace *ftrace, uint64_t retval, struct out *out)
{
	int64_t error = ftrace->graph->retval_hex ? 0 : error_of(ftrace, retval);

	out_str(out, ftrace->graph->names_retval ? " ret=" : " = ");
	if (error) {
		out_s64(out, error);
	} else {
		out_mem(out, "0x", 2);
		out_hex(out, retval);
	}
}

/* print_graph_retaddr(): the caller, for an entry that has it. */
static void print_retaddr(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	uint64_t retaddr = place_u64(&binding->places[GRAPH_RETADDR], event);

	out_mem(out, " <-", 3);
	symbol_print(ftrace->context, retaddr, true, out);
	if (context_option(ftrace->context, OPTION_SYM_ADDR))
		symbol_print_address(ftrace->context, retaddr, out);
}

static bool has_retaddr(const struct ftrace *ftrace, const struct binding *binding)
{
	return ftrace->graph->retaddr && binding->places[GRAPH_RETADDR].size;
}

static void print_call(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       uint64_t func, struct out *out)
{
	graph_print_name(ftrace, func, out);
	if (!call_args_print(ftrace, &binding->places[GRAPH_ARGS], event, func, out))
		call_args_print_text(&binding->places[GRAPH_ARGS_TEXT], event, out);
}

/* Prints the comment that an imported text had; false, and nothing, where it had none. */
static bool print_note(const struct place *place, const struct event *event, struct out *out)
{
	const char *note;
	size_t len;

	if (!place->field || !place_string(place, event, &note, &len) || !len)
		return false;
	out_mem(out, " /* ", 4);
	out_mem(out, note, len);
	out_mem(out, " */", 3);
	return true;
}

/* An exit that was imported has a return value only if its line had one. */
static bool has_retval(const struct ftrace *ftrace, const struct binding *binding)
{
	return ftrace->graph->retval && binding->places[GRAPH_RETVAL].size;
}

static uint64_t duration_of(const struct binding *binding, const struct event *event)
{
	return place_u64(&binding->places[GRAPH_RETTIME], event) - place_u64(&binding->places[GRAPH_CALLTIME], event);
}

static void print_nested(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 uint64_t func, int32_t depth, struct out *out)
{
	print_no_duration(ftrace->graph, out);
	print_indent(depth, out);
	print_call(ftrace, binding, event, func, out);
	out_mem(out, " {", 2);
	if (has_retaddr(ftrace, binding)) {
		out_mem(out, " /*", 3);
		print_retaddr(ftrace, binding, event, out);
		out_mem(out, " */", 3);
	} else {
		(void)print_note(&binding->places[GRAPH_NOTE], event, out);
	}
	out_char(out, '\n');
}

/* What a leaf has behind its call: the caller, and the return value. */
static void print_behind(const struct ftrace *ftrace, const struct binding *entry, const struct binding *binding,
			 const struct event *event, const struct event *exit, struct out *out)
{
	bool retaddr = has_retaddr(ftrace, entry), retval = has_retval(ftrace, binding);

	if (print_note(&binding->places[GRAPH_EXIT_NOTE], exit, out) || (!retaddr && !retval))
		return;
	out_mem(out, " /*", 3);
	if (retaddr)
		print_retaddr(ftrace, entry, event, out);
	if (retval)
		print_retval(ftrace, place_u64(&binding->places[GRAPH_RETVAL], exit), out);
	out_mem(out, " */", 3);
}

static void print_leaf(const struct ftrace *ftrace, const struct binding *entry, const struct graph_note *note,
		       const struct event *event, uint64_t func, int32_t depth, struct out *out)
{
	const struct graph *graph = ftrace->graph;
	const struct binding *binding = ftrace->bindings[note->exit_binding];
	const struct event exit = { .data = note->exit, .len = note->exit_len };

	print_duration(graph, duration_of(binding, &exit), out);
	print_indent(depth, out);
	print_call(ftrace, entry, event, func, out);
	out_char(out, ';');
	print_behind(ftrace, entry, binding, event, &exit, out);
	out_char(out, '\n');
	print_irq(ftrace, event, func, "<==========", out);
}

static void print_entry(const struct ftrace *ftrace, const struct binding *binding, const struct graph_note *note,
			const struct event *event, struct out *out)
{
	uint64_t func = place_u64(&binding->places[GRAPH_FUNC], event);
	int32_t depth = (int32_t)place_u64(&binding->places[GRAPH_DEPTH_AT], event);

	print_irq(ftrace, event, func, "==========>", out);
	print_columns(ftrace, event, out);
	if (note->what == GRAPH_LEAF)
		print_leaf(ftrace, binding, note, event, func, depth, out);
	else
		print_nested(ftrace, binding, event, func, depth, out);
}

/* Notes the text that is missing at the end of the line if the entry was not seen; `named`: none is. */
static void add_patch(const struct ftrace *ftrace, uint64_t func, bool named, struct out *out)
{
	size_t from = out_len(out), len = 0;

	if (!named) {
		out_mem(out, " /* ", 4);
		graph_print_name(ftrace, func, out);
		out_mem(out, " */", 3);
		len = out_len(out) - from;
		out->at -= len;
	}
	sink_patch_add(ftrace->graph->patches, out, out->at, len);
}

static void print_exit(const struct ftrace *ftrace, const struct binding *binding, const struct graph_note *note,
		       const struct event *event, struct out *out)
{
	const struct graph *graph = ftrace->graph;
	uint64_t func = place_u64(&binding->places[GRAPH_FUNC], event);
	bool named;

	print_columns(ftrace, event, out);
	print_duration(graph, duration_of(binding, event), out);
	print_indent((int32_t)place_u64(&binding->places[GRAPH_DEPTH_AT], event), out);
	out_char(out, '}');
	named = print_note(&binding->places[GRAPH_EXIT_NOTE], event, out);
	if (named) {
		/* The note has it. */
	} else if (has_retval(ftrace, binding) || note->what == GRAPH_EXIT_LOST || graph->tail) {
		out_mem(out, " /* ", 4);
		graph_print_name(ftrace, func, out);
		if (has_retval(ftrace, binding))
			print_retval(ftrace, place_u64(&binding->places[GRAPH_RETVAL], event), out);
		out_mem(out, " */", 3);
		named = true;
	}
	if (__builtin_expect(note->what == GRAPH_EXIT_GUESSED, 0))
		add_patch(ftrace, func, named, out);
	out_char(out, '\n');
	if (graph->overrun) {
		out_str(out, " (Overruns: ");
		out_u64(out, (uint32_t)place_u64(&binding->places[GRAPH_OVERRUN], event));
		out_mem(out, ")\n", 2);
	}
	print_irq(ftrace, event, func, "<==========", out);
}

/* False for an unknown type: the kernel then stops in the middle of the line and continues with its usual line. */
static bool print_comment(const struct ftrace *ftrace, const struct binding *binding, const struct graph_note *note,
			  const struct event *event, struct out *out)
{
	print_columns(ftrace, event, out);
	print_no_duration(ftrace->graph, out);
	if (note->depth > 0)
		print_indent((int64_t)note->depth + 1, out);
	out_mem(out, "/* ", 3);
	if (!binding->format && !binding->renderer)
		return false;
	ftrace_body(ftrace, event, out);
	if (out->at > out->start && out->at[-1] == '\n')
		out->at--;
	out_mem(out, " */\n", 4);
	return true;
}

static bool graph_usual(const struct ftrace *ftrace, const struct binding *binding)
{
	(void)ftrace;
	return graph_leaves(binding);
}

static bool graph_line(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	struct graph_note note;

	if (__builtin_expect(ftrace->graph->usual, 1) && graph_line_usual(ftrace, binding, event, out))
		return true;
	memcpy(&note, sink_note_of(event), sizeof(note));
	if (note.switched)
		print_banner(ftrace, event, note.before, out);
	switch ((enum graph_what)note.what) {
	case GRAPH_USUAL:
		return false;
	case GRAPH_NESTED:
	case GRAPH_LEAF:
		print_entry(ftrace, binding, &note, event, out);
		return true;
	case GRAPH_EXIT:
	case GRAPH_EXIT_LOST:
	case GRAPH_EXIT_GUESSED:
		print_exit(ftrace, binding, &note, event, out);
		return true;
	case GRAPH_COMMENT:
		return print_comment(ftrace, binding, &note, event, out);
	}
	return false;
}

static void format_entry(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	struct graph_note note;

	memcpy(&note, sink_note_of(event), sizeof(note));
	print_entry(ftrace, binding, &note, event, out);
}

static void format_exit(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	struct graph_note note;

	memcpy(&note, sink_note_of(event), sizeof(note));
	print_exit(ftrace, binding, &note, event, out);
}

static const char *const entry_fields[] = { "func", "depth", "args", "retaddr", "args_text", "note", NULL };
static const char *const exit_fields[] = { "func", "depth", "overrun", "calltime", "rettime", "retval", "note", NULL };

/* Called here and not in graph_new(), because most files have no function graph, and kallsyms is large. */
static void find_irq_entries(struct graph *graph, const struct symbols *symbols)
{
	if (!symbols_address(symbols, "__irqentry_text_start", &graph->irq_start) ||
	    !symbols_address(symbols, "__irqentry_text_end", &graph->irq_end))
		graph->irq_start = graph->irq_end = 0;
}

/*
 * Whether the record is of a 64-bit kernel with this machine's byte order; an entry has no times. The first 4 bytes of
 * the depth are read: where it has 8, as on 7.x, they are its low half on a little-endian machine only.
 */
static bool has_known_places(const struct ftrace *ftrace, const struct binding *binding)
{
	const struct place *places = binding->places;
	bool exit = graph_event_of(binding->format) == GRAPH_EVENT_EXIT;
	uint8_t depth = places[GRAPH_DEPTH_AT].size;

	return !ftrace->context->abi.swap && places[GRAPH_FUNC].size == 8 &&
	       (depth == 4 || (depth == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) &&
	       (!exit || (places[GRAPH_CALLTIME].size == 8 && places[GRAPH_RETTIME].size == 8));
}

static bool bind_func(struct ftrace *ftrace, struct binding *binding)
{
	find_irq_entries(ftrace->graph, ftrace->context->symbols);
	if (has_known_places(ftrace, binding) && !format_field(binding->format, "note"))
		binding->words_size = binding->format->size;
	if (!binding->places[GRAPH_FUNC].size || !binding->places[GRAPH_DEPTH_AT].size)
		return false;
	binding->graph_event = (uint8_t)graph_event_of(binding->format);
	return true;
}

const struct renderer graph_entry_renderer = {
	.format_name = "funcgraph_entry",
	.lines = true,
	.fields = entry_fields,
	.bind = bind_func,
	.settle = graph_settle_alone,
	.format = format_entry,
};

/* An entry with the option funcgraph-retaddr: 6.13 and later. */
const struct renderer graph_retaddr_renderer = {
	.format_name = "fgraph_retaddr_entry",
	.lines = true,
	.fields = entry_fields,
	.bind = bind_func,
	.settle = graph_settle_alone,
	.format = format_entry,
};

const struct renderer graph_exit_renderer = {
	.format_name = "funcgraph_exit",
	.lines = true,
	.fields = exit_fields,
	.bind = bind_func,
	.settle = graph_settle_alone,
	.format = format_exit,
};

const struct tracer graph_tracer = {
	.name = "function_graph",
	.header = graph_header,
	.settle = graph_settle,
	.pass_over = graph_pass_over,
	.line = graph_line,
	.usual = graph_usual,
};
