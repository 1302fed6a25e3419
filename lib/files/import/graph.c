// SPDX-License-Identifier: LGPL-2.1-or-later
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/graph_internal.h"
#include "lib/files/import/graph_text_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/now.h"
#include "lib/meaning/uapi/names.h"

enum { INDENT = 2, COMM_MAX = 16, DURATION_DIGITS = 15, TEXT_US = 1000, MARK_NEW = 1000000 };

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static size_t left(const struct rest *rest)
{
	return (size_t)(rest->end - rest->at);
}

static size_t blanks(struct rest *rest)
{
	const char *start = rest->at;

	while (rest->at < rest->end && *rest->at == ' ')
		rest->at++;
	return (size_t)(rest->at - start);
}

static bool accept(struct rest *rest, const char *text)
{
	size_t len = strlen(text);

	if (left(rest) < len || memcmp(rest->at, text, len))
		return false;
	rest->at += len;
	return true;
}

/* Reads a number of at most `digits` digits, so that it cannot overflow. Returns how many there were; 0: no number. */
static size_t number(struct rest *rest, size_t digits, uint64_t *ret)
{
	const char *start = rest->at;

	for (*ret = 0; rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; rest->at++) {
		if ((size_t)(rest->at - start) == digits)
			return 0;
		*ret = *ret * 10 + (uint64_t)(*rest->at - '0');
	}
	return (size_t)(rest->at - start);
}

/* Reads "   23.498724 |  ", or "    4311 us |  " from a tracer that keeps the longest latency. */
static bool take_time(struct rest *rest, struct graph_text *text)
{
	struct rest at = *rest;
	uint64_t whole, part = 0;
	size_t digits = 0;

	blanks(&at);
	if (!number(&at, 9, &whole))
		return false;
	if (accept(&at, " us")) {
		text->head.ts = whole * TEXT_US;
		text->is_relative = true;
	} else {
		if (!accept(&at, ".") || (digits = number(&at, 9, &part)) < 6)
			return false;
		for (; digits < 9; digits++)
			part *= 10;
		text->head.ts = whole * NS_PER_S + part;
	}
	if (!accept(&at, " |  "))
		return false;
	text->has_time = true;
	*rest = at;
	return true;
}

/* Reads " 0) "; mails drop the blank at the start of a line. */
static bool take_cpu(struct rest *rest, struct graph_text *text)
{
	struct rest at = *rest;
	uint64_t cpu;

	if ((!blanks(&at) && text->has_time) || !number(&at, 5, &cpu) || cpu >= HEAD_CPU_MAX || !accept(&at, ") "))
		return false;
	text->head.cpu = (uint32_t)cpu;
	text->has_cpu = true;
	*rest = at;
	return true;
}

/* Reads "  rcuc/0-19  " up to `end`. Only blanks may surround it. */
static bool task(const char *at, const char *end, struct head *head)
{
	struct rest digits;
	uint64_t pid;
	const char *dash;

	while (at < end && *at == ' ')
		at++;
	while (end > at && end[-1] == ' ')
		end--;
	dash = end > at ? memrchr(at, '-', (size_t)(end - at)) : NULL;
	if (!dash || dash - at > COMM_MAX || (dash - at >= 2 && !memcmp(at, "/*", 2)))
		return false;
	digits = (struct rest){ dash + 1, end };
	if (!number(&digits, 10, &pid) || digits.at != end || pid > INT_MAX)
		return false;
	head->comm = at;
	head->comm_len = (size_t)(dash - at);
	head->pid = (int32_t)pid;
	return true;
}

static void take_task(struct rest *rest, struct graph_text *text)
{
	const char *bar = memmem(rest->at, left(rest), " | ", 3);

	if (!bar || !task(rest->at, bar, &text->head))
		return;
	text->has_task = true;
	rest->at = bar + 3;
}

static void take_flags(struct rest *rest, struct graph_text *text)
{
	struct rest at = *rest;

	if (blanks(&at) && head_flags(&at.at, at.end, &text->head) && accept(&at, " | "))
		*rest = at;
	else
		text->head.has_flags = false;
}

/* Reads "! 118.936 us  |  ", or as many blanks. The kernel drops decimals of a long duration. */
static void take_duration(struct rest *rest, struct graph_text *text)
{
	static const char marks[] = "+!#*@$";
	uint64_t us, part = 0;
	struct rest at = *rest;
	size_t digits = 0;
	bool mark = at.at < at.end && *at.at && strchr(marks, *at.at);

	at.at += mark;
	blanks(&at);
	if (number(&at, DURATION_DIGITS, &us)) {
		if (accept(&at, "."))
			digits = number(&at, 3, &part);
		for (; digits < 3; digits++)
			part *= 10;
		if (!accept(&at, " us"))
			return;
		text->duration = us * TEXT_US + part;
		text->has_duration = true;
		text->has_mark = mark;
		text->has_old_mark = mark && *rest->at == '!' && text->duration > MARK_NEW;
		text->has_new_mark = mark && *rest->at != '!' && *rest->at != '+';
		blanks(&at);
	}
	if (!accept(&at, "|  ")) {
		text->has_duration = text->has_mark = false;
		return;
	}
	text->has_column = true;
	*rest = at;
}

static bool hex(struct rest *rest, uint64_t *ret)
{
	const char *start = rest->at;

	for (*ret = 0; rest->at < rest->end && rest->at - start < 16; rest->at++) {
		char c = *rest->at;

		if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
			break;
		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return rest->at > start;
}

static bool is_error(int64_t value)
{
	return returned_error(value);
}

/* Reads "0x1f", or the negative number of an error, up to the end. */
static bool take_retval(struct rest rest, struct graph_text *text)
{
	uint64_t value;

	if (accept(&rest, "0x")) {
		if (!hex(&rest, &value))
			return false;
	} else if (accept(&rest, "-") && number(&rest, 4, &value)) {
		value = 0 - value;
	} else {
		return false;
	}
	if (left(&rest))
		return false;
	text->has_retval = true;
	text->retval = value;
	return true;
}

/* Whether weft prints the value of the text again: errors as negative numbers, anything else as %lx. */
static bool is_usual_value(struct rest rest, uint64_t value)
{
	bool error = is_error((int64_t)value) || (value >> 32 == 0 && is_error((int32_t)(uint32_t)value));

	if (accept(&rest, "-"))
		return error && *rest.at != '0';
	return !error && (rest.at[2] != '0' || left(&rest) == 3);
}

/* Reads the name of a function, which its module may follow. */
static void take_name(struct rest *rest, struct graph_text *text)
{
	const char *blank = memchr(rest->at, ' ', left(rest)), *end;

	text->name = rest->at;
	if (blank && rest->end - blank > 2 && blank[1] == '[') {
		end = memchr(blank, ']', (size_t)(rest->end - blank));
		blank = end ? end + 1 : blank;
	}
	rest->at = blank ? blank : rest->end;
	text->name_len = (size_t)(rest->at - text->name);
}

/*
 * Reads the comment behind a call or a closing brace: "/" "* vfs_open = 0x0 *" "/", since 6.13 "ret=0x0" and the return
 * address, or nothing. What weft does not print from fields is a note.
 */
static bool take_behind(struct rest rest, struct graph_text *text)
{
	struct rest value;

	if (!left(&rest))
		return true;
	if (!accept(&rest, " /* ") || left(&rest) < 3 || memcmp(rest.end - 3, " */", 3))
		return false;
	rest.end -= 3;
	text->note = rest.at;
	text->note_len = left(&rest);
	if (text->what == GRAPH_TEXT_EXIT && *rest.at != '=' && *rest.at != '<' && *rest.at != ' ' &&
	    (left(&rest) < 4 || memcmp(rest.at, "ret=", 4)))
		take_name(&rest, text);
	else
		rest.at -= text->what == GRAPH_TEXT_LEAF;
	if (!left(&rest) && text->name_len && text->what == GRAPH_TEXT_EXIT)
		text->note_len = 0;
	value = rest;
	if (accept(&value, " = ")) {
		if (take_retval(value, text) && text->what != GRAPH_TEXT_ENTRY && text->name_len &&
		    is_usual_value(value, text->retval))
			text->note_len = 0;
		return true;
	}
	value.at = memmem(rest.at, left(&rest), "ret=", 4);
	if (value.at) {
		value.at += 4;
		(void)take_retval(value, text);
	}
	return true;
}

static bool is_name(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] <= ' ' || at[i] > '~' || strchr("(){};*", at[i]))
			return at[i] == ' ' && i && at[i + 1] == '[' && at[len - 1] == ']' &&
			       !memchr(at + i + 1, ' ', len - i - 1);
	return len > 0;
}

/* Reads "foo() {" or "foo();". The name may be followed by its module. */
static bool take_call(struct rest rest, struct graph_text *text)
{
	const char *open = memchr(rest.at, '(', left(&rest)), *close;

	if (!open || !is_name(rest.at, (size_t)(open - rest.at)))
		return false;
	text->name = rest.at;
	text->name_len = (size_t)(open - rest.at);
	close = memmem(open, (size_t)(rest.end - open), ");", 2);
	text->what = close ? GRAPH_TEXT_LEAF : GRAPH_TEXT_ENTRY;
	close = close ? close : memmem(open, (size_t)(rest.end - open), ") {", 3);
	if (!close)
		return false;
	text->args = open + 1;
	text->args_len = (size_t)(close - text->args);
	rest.at = close + (text->what == GRAPH_TEXT_LEAF ? 2 : 3);
	return take_behind(rest, text);
}

static bool take_body(struct rest rest, struct graph_text *text)
{
	size_t depth = blanks(&rest) / INDENT;

	text->depth = (unsigned)(depth < GRAPH_TEXT_DEPTH_MAX ? depth : GRAPH_TEXT_DEPTH_MAX);
	text->what = GRAPH_TEXT_NOTHING;
	if (text->has_cpu && (accept(&rest, "==========>") || accept(&rest, "<==========")))
		return !left(&rest) || accept(&rest, " |");
	if (accept(&rest, "/* ")) {
		const char *end = rest.at;

		if (left(&rest) >= 3 && !memcmp(rest.end - 3, " */", 3))
			end = rest.end - 3;
		else
			end = rest.end;
		text->what = GRAPH_TEXT_COMMENT;
		text->name = rest.at;
		text->name_len = (size_t)(end - rest.at);
		return true;
	}
	if (accept(&rest, "}")) {
		text->what = GRAPH_TEXT_EXIT;
		return take_behind(rest, text);
	}
	return take_call(rest, text);
}

/* Reads lines that are no calls: those around a switch of tasks, and overruns. */
static bool take_other(const char *line, size_t len, struct graph_text *text)
{
	static const char dashes[] = " ------------------------------------------";
	struct rest rest = { line, line + len };
	const char *arrow;
	uint64_t count;

	text->what = GRAPH_TEXT_NOTHING;
	if (len == strlen(dashes) && !memcmp(line, dashes, len))
		return true;
	if (accept(&rest, " (Overruns: ")) {
		text->what = GRAPH_TEXT_OVERRUN;
		return number(&rest, 10, &count) && (text->overrun = (uint32_t)count, accept(&rest, ")"));
	}
	if (!take_cpu(&rest, text))
		return false;
	arrow = memmem(rest.at, left(&rest), " => ", 4);
	text->what = GRAPH_TEXT_SWITCH;
	return arrow && task(rest.at, arrow, &text->head) && task(arrow + 4, rest.end, &text->next);
}

/*
 * Where there is the column of the duration, the kernel prints the duration of each function that ends. Without it the
 * report would have one that the text has not.
 */
static bool lacks_duration(const struct graph_text *text)
{
	return text->has_column && !text->has_duration &&
	       (text->what == GRAPH_TEXT_LEAF || text->what == GRAPH_TEXT_EXIT);
}

bool graph_text_columns(const char *at, size_t len, const struct head *head, struct graph_text *ret)
{
	struct graph_text text = { .head = *head, .has_time = true, .has_cpu = true, .has_task = true };
	struct rest rest = { at, at + len };

	take_duration(&rest, &text);
	if (!text.has_column || !take_body(rest, &text) || lacks_duration(&text))
		return false;
	*ret = text;
	return true;
}

bool graph_text_parse(const char *line, size_t len, bool bare, struct graph_text *ret)
{
	struct graph_text text = { .name = NULL };
	struct rest rest = { line, line + len };

	if (take_other(line, len, &text)) {
		*ret = text;
		return true;
	}
	text = (struct graph_text){ .name = NULL };
	take_time(&rest, &text);
	take_cpu(&rest, &text);
	if (!text.has_cpu && !bare)
		return false;
	take_task(&rest, &text);
	take_flags(&rest, &text);
	take_duration(&rest, &text);
	if (!take_body(rest, &text) || lacks_duration(&text))
		return false;
	*ret = text;
	return true;
}

/* A text may contain any duration, so the clock stops here before it overflows. */
static const uint64_t clock_max = UINT64_C(1) << 61;

enum { TIME_FIRST = 1000, US = 1000, MARK_ABOVE = 10000, SHOWN_DEPTH = 50 };
enum { IDLE_FIRST = 1u << 31 };

struct graph_cpu {
	int32_t pid;
	bool known;
	/* the open function at each depth, of whatever task, as the kernel keeps it for each CPU */
	uint64_t entered[GRAPH_TEXT_DEPTH_MAX + 1];
};

/* The open function of a task. */
struct opened {
	uint64_t start, func;
};

void import_graph_init(struct import_graph *graph)
{
	*graph = (struct import_graph){ .cpus = NULL };
	u64_map_init(&graph->opened, sizeof(struct opened));
}

void import_graph_release(struct import_graph *graph)
{
	for (size_t i = 0; graph->cpus && i < HEAD_CPU_MAX; i++)
		free(graph->cpus[i]);
	free(graph->cpus);
	u64_map_release(&graph->opened);
}

/* Returns NULL when memory runs out. */
static struct graph_cpu *cpu_of(struct import_graph *graph, uint32_t cpu)
{
	if (!graph->cpus)
		graph->cpus = calloc(HEAD_CPU_MAX, sizeof(*graph->cpus));
	if (graph->cpus && !graph->cpus[cpu]) {
		graph->cpus[cpu] = calloc(1, sizeof(**graph->cpus));
		if (graph->cpus[cpu])
			graph->cpus[cpu]->pid = GRAPH_UNKNOWN_PID + (int32_t)cpu;
	}
	graph->starved |= !graph->cpus || !graph->cpus[cpu];
	return graph->cpus ? graph->cpus[cpu] : NULL;
}

/* Each CPU has an idle task of its own. Returns NULL when memory runs out. */
static struct opened *opened_of(struct import_graph *graph, const struct graph_text *text)
{
	uint32_t task = text->head.pid ? (uint32_t)text->head.pid : IDLE_FIRST + text->head.cpu;
	struct opened *opened = u64_map_add(&graph->opened, (uint64_t)task << 32 | text->depth);

	graph->starved |= !opened;
	return opened;
}

/*
 * Returns the time of a line in ns. If the line has a time, that is it, with ns added to keep the order. If not, the
 * line follows the line before; an exit comes after its entry by its duration.
 */
static uint64_t time_of(struct import_graph *graph, const struct graph_text *text, uint64_t clock, uint64_t last)
{
	uint64_t ts = last + 1 > clock ? last + 1 : clock, start;
	const struct opened *opened;

	if (text->has_time)
		return ts > text->head.ts && ts - text->head.ts < US ? ts : text->head.ts;
	graph->guessed++;
	ts = ts > TIME_FIRST ? ts : TIME_FIRST;
	if (text->what == GRAPH_TEXT_EXIT && text->has_duration) {
		opened = opened_of(graph, text);
		start = opened ? opened->start : 0;
		if (text->duration < clock_max && ts < start + text->duration)
			ts = start + text->duration;
	}
	return ts < clock_max ? ts : clock_max;
}

static void see_columns(struct import_graph *graph, const struct graph_text *text)
{
	graph->seen = true;
	*(text->has_time && !text->is_relative ? &graph->some.abstime : &graph->lack.abstime) = true;
	*(text->is_relative ? &graph->some.relative : &graph->lack.relative) = true;
	*(text->head.has_flags ? &graph->some.flags : &graph->lack.flags) = true;
	*(text->has_cpu ? &graph->some.cpu : &graph->lack.cpu) = true;
	*(text->has_column ? &graph->some.duration : &graph->lack.duration) = true;
	graph->proc |= text->has_task;
	graph->bare |= !text->has_cpu && !text->has_column && !text->has_time && !text->has_task;
	graph->no_overhead |= text->has_duration && !text->has_mark && text->duration > MARK_ABOVE;
	graph->retval |= text->has_retval;
}

bool import_graph_place(struct import_graph *graph, struct graph_text *text, const uint64_t *clock, uint64_t last)
{
	struct graph_cpu *cpu;

	see_columns(graph, text);
	if (!text->has_cpu)
		text->head.cpu = graph->last_cpu;
	cpu = cpu_of(graph, text->head.cpu);
	if (!cpu)
		return true;
	if (text->has_task)
		cpu->pid = text->head.pid;
	cpu->known |= text->has_task;
	text->head.pid = cpu->pid;
	text->head.ts = time_of(graph, text, clock[text->head.cpu], last);
	text->head.has_unit = true;
	return cpu->known;
}

bool import_graph_switch(struct import_graph *graph, const struct graph_text *text)
{
	struct graph_cpu *cpu = cpu_of(graph, text->head.cpu);
	bool first = cpu && !cpu->known;

	graph->seen = true;
	graph->last_cpu = text->head.cpu;
	if (!cpu)
		return false;
	cpu->known = true;
	cpu->pid = text->next.pid;
	return first;
}

void import_graph_give_up(struct import_graph *graph)
{
	for (size_t i = 0; graph->cpus && i < HEAD_CPU_MAX; i++)
		if (graph->cpus[i])
			graph->cpus[i]->known = true;
}

static void enter(struct import_graph *graph, const struct graph_text *text, struct graph_cpu *cpu,
		  struct graph_call *call)
{
	struct opened *opened = opened_of(graph, text);

	cpu->entered[text->depth] = text->what == GRAPH_TEXT_LEAF ? 0 : call->func;
	if (opened)
		*opened = (struct opened){ text->head.ts, cpu->entered[text->depth] };
}

/*
 * A closing brace without a name belongs to the function that entered at this depth on this CPU. If no line has told
 * that function, its address is 0.
 */
static void leave(struct import_graph *graph, const struct graph_text *text, struct graph_cpu *cpu,
		  struct graph_call *call)
{
	struct opened *opened = opened_of(graph, text), was = opened ? *opened : (struct opened){ .start = 0 };
	uint64_t entered = graph->by_task ? was.func : cpu->entered[text->depth];
	bool same = text->name_len && call->func == entered;

	/* Without its CPU, a brace may have a name because another function was entered there. */
	if (same && !text->has_cpu && !text->has_retval && !text->note_len) {
		call->note = text->name;
		call->note_len = text->name_len;
	}
	graph->tail |= same && !text->has_retval && !text->note_len && text->depth < SHOWN_DEPTH;
	graph->no_tail |= !text->name_len;
	if (!text->name_len)
		call->func = entered;
	cpu->entered[text->depth] = 0;
	call->rettime = call->ts;
	if (!text->has_duration)
		call->calltime = was.start && was.start <= call->ts ? was.start : call->ts;
	else if (text->duration <= call->ts)
		call->calltime = call->ts - text->duration;
	else
		call->rettime = text->duration; /* of a call that began before the clock */
	if (opened)
		*opened = (struct opened){ .start = 0 };
}

size_t import_graph_calls(struct import_graph *graph, const struct graph_text *text, struct import_names *names,
			  struct graph_call calls[GRAPH_CALLS_MAX])
{
	struct graph_cpu *cpu = cpu_of(graph, text->head.cpu);
	struct graph_call call = { .ts = text->head.ts,
				   .depth = (int32_t)text->depth,
				   .has_retval = text->has_retval,
				   .retval = text->retval,
				   .note = text->note,
				   .note_len = text->note_len,
				   .exit = text->what == GRAPH_TEXT_EXIT };

	if (text->name_len)
		call.func = import_names_symbol(names, text->name, text->name_len);
	if (!cpu || (text->name_len && !call.func))
		return 0;
	if (text->what == GRAPH_TEXT_EXIT) {
		leave(graph, text, cpu, &call);
		calls[0] = call;
		return 1;
	}
	enter(graph, text, cpu, &call);
	calls[0] = call;
	calls[0].text = text->args;
	calls[0].text_len = text->args_len;
	if (text->what == GRAPH_TEXT_LEAF)
		calls[0].note_len = 0;
	if (text->what == GRAPH_TEXT_ENTRY)
		return 1;
	call.exit = true;
	call.calltime = call.ts;
	call.rettime = call.ts + text->duration;
	call.ts += text->duration < clock_max - call.ts ? text->duration : 0;
	calls[1] = call;
	return 2;
}

bool import_graph_is_relative(const struct import_graph *graph)
{
	return graph->some.relative && !graph->lack.relative;
}

void import_graph_partial(const struct import_graph *graph, bool plain, char *ret, size_t size)
{
	const struct graph_columns *some = &graph->some, *lack = &graph->lack;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ (some->abstime && lack->abstime) || (some->relative && lack->relative), "times" },
		{ some->cpu && lack->cpu, "CPUs" },
		{ graph->proc && graph->bare, "tasks" },
		{ some->flags && (lack->flags || plain), "flags" },
		{ some->duration && lack->duration, "durations" },
	};
	size_t len = 0;

	*ret = '\0';
	for (size_t i = 0; i < array_size(all); i++)
		if (all[i].is && len < size)
			len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? ", " : "", all[i].text);
}

bool import_graph_options(const struct import_graph *graph, bool plain, struct buf *options)
{
	const struct graph_columns *some = &graph->some, *lack = &graph->lack;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ some->abstime && !lack->abstime, "funcgraph-abstime\n" },
		{ graph->proc, "funcgraph-proc\n" },
		{ lack->cpu, "nofuncgraph-cpu\n" },
		{ lack->duration, "nofuncgraph-duration\n" },
		{ graph->no_overhead, "nofuncgraph-overhead\n" },
		{ graph->tail && !graph->no_tail, "funcgraph-tail\n" },
		{ graph->overrun, "funcgraph-overrun\n" },
		{ graph->retval, "funcgraph-retval\n" },
		{ graph->bare, "nocontext-info\n" },
		{ some->flags && !lack->flags && !plain, "latency-format\n" },
	};

	for (size_t i = 0; graph->seen && i < array_size(all); i++)
		if (all[i].is && !buf_add_str(options, all[i].text))
			return false;
	return true;
}
