// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/files/import/import_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/pages/ring/page.h"

/*
 * Reads a line that tells of lost events: "CPU:1 [LOST 230 EVENTS]" of trace_pipe and of ftrace_dump_on_oops, "CPU:1
 * [230 EVENTS DROPPED]" of trace-cmd. Without a number it is PAGE_LOST_UNKNOWN. Returns false for any other line.
 */
static bool lost_parse(const char *line, size_t len, uint32_t *ret_cpu, int64_t *ret_count)
{
	char text[64] = "";
	unsigned cpu;
	unsigned long long count = 0;
	int lost = 0, dropped = 0, unknown = 0, unknown_dropped = 0;

	while (len && *line == ' ') {
		line++;
		len--;
	}
	if (len < 4 || memcmp(line, "CPU:", 4))
		return false;
	memcpy(text, line, len < sizeof(text) - 1 ? len : sizeof(text) - 1);
	if ((sscanf(text, "CPU:%5u [LOST %18llu EVENTS]%n", &cpu, &count, &lost) != 2 || !lost) &&
	    (sscanf(text, "CPU:%5u [%18llu EVENTS DROPPED]%n", &cpu, &count, &dropped) != 2 || !dropped) &&
	    (sscanf(text, "CPU:%5u [LOST EVENTS]%n", &cpu, &unknown) != 1 || !unknown) &&
	    (sscanf(text, "CPU:%5u [EVENTS DROPPED]%n", &cpu, &unknown_dropped) != 1 || !unknown_dropped))
		return false;
	if (cpu >= HEAD_CPU_MAX)
		return false;
	*ret_cpu = cpu;
	*ret_count = lost || dropped ? (int64_t)count : (int64_t)PAGE_LOST_UNKNOWN;
	return true;
}

/* The way of a line from the document to an event: decoded, joined with the next one if a mail was wrapped, parsed. */

/* Mails are wrapped at 72 to 80 columns: only lines of about that width may go on in the next one. */
enum { WRAP_MIN = 40, WRAP_AT = 62, WRAP_MAX = 100 };

/* The text of a line behind what was in front of it. */
struct text {
	const char *at;
	size_t len;
};

static void take_header(struct import *import, struct text text)
{
	static const char tracer[] = "# tracer: ", graph[] = "# tracer: function_graph", legend[] = "FUNCTION CALLS",
			  cpu[] = "# CPU", duration[] = "DURATION";

	if (text.len >= strlen(tracer) && !memcmp(text.at, tracer, strlen(tracer))) {
		import->legend.is = text.len >= strlen(graph) && !memcmp(text.at, graph, strlen(graph));
		import->legend.cpu = import->legend.duration = false;
	}
	if (!memmem(text.at, text.len, legend, strlen(legend)))
		return;
	import->legend.is = true;
	import->legend.cpu = memmem(text.at, text.len, cpu + 2, strlen(cpu + 2));
	import->legend.duration = memmem(text.at, text.len, duration, strlen(duration));
}

/* Whether the line is one of a function graph, with the columns that the other lines of this graph have. */
static bool is_graph(const struct import *import, struct text text, struct graph_text *ret)
{
	if (!graph_text_parse(text.at, text.len, import->legend.is, ret))
		return false;
	if (ret->has_cpu || !import->legend.is || ret->what == GRAPH_TEXT_NOTHING || ret->what == GRAPH_TEXT_OVERRUN)
		return true;
	return !import->legend.cpu && (ret->has_column || !import->legend.duration);
}

static bool begins(struct text text, const char *with)
{
	return text.len >= strlen(with) && !memcmp(text.at, with, strlen(with));
}

static bool is_blank(struct text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.at[i] != ' ' && text.at[i] != '\t')
			return false;
	return true;
}

static struct text without_end_blanks(struct text text)
{
	while (text.len && text_is_blank(text.at[text.len - 1]))
		text.len--;
	return text;
}

/* Handles a line that begins no event. `raw` has what was in front of it, too. */
static int take_other(struct import *import, struct text text, struct text raw, bool is_log, struct fail *fail)
{
	uint32_t cpu;
	int64_t count;
	int r = column_layout_old_header(&import->shape, text.at, text.len);

	if (r)
		return r < 0 ? fail_memory(fail) : 0;
	if (text.len && *text.at == '#') {
		events_end(import);
		take_header(import, text);
		return column_layout_header(&import->shape, text.at, text.len) ? 0 : fail_memory(fail);
	}
	if (trace_cmd_header(text.at, text.len)) {
		import->trace_cmd.is = true;
		return 0;
	}
	if (import->trace_cmd.is && (import->is_open == OPEN_STACK || import->is_open == OPEN_USER_STACK) &&
	    trace_cmd_caller(&import->trace_cmd, text.at, text.len) &&
	    events_go_on(import, import->trace_cmd.body.data, import->trace_cmd.body.len))
		return 0;
	if (lost_parse(text.at, text.len, &cpu, &count)) {
		/* Without an event between them, both losses are before the next one. */
		import->lost[cpu] = count > 0 && import->lost[cpu] > 0 ? import->lost[cpu] + count : count;
		import->lost_line[cpu] = import->counts.lines;
		return 0;
	}
	if (import->perf.is_perf) {
		r = events_take_perf_caller(import, text.at, text.len, fail);
		if (r != 1)
			return r;
	}
	/* What a log wrote between two events is no part of a marker. */
	if (import->is_open && !(is_log && import->is_open == OPEN_MARK && !import->had_prefix) &&
	    events_go_on(import, import->had_prefix ? text.at : raw.at, import->had_prefix ? text.len : raw.len))
		return 0;
	if (!is_blank(text))
		unknown_lines_add(&import->counts.told, import->counts.lines, text.at, text.len);
	return 0;
}

static int begin_kinds(struct import *import, bool lazy, struct fail *fail)
{
	return import->kinds ? 0 : import_kinds_new(import->formats, lazy, &import->names, &import->kinds, fail);
}

static bool is_event(const struct import *import, struct text text)
{
	struct graph_text graph;
	struct head head;

	return is_graph(import, text, &graph) || head_parse(text.at, text.len, &head);
}

/*
 * A tab moves to the next column of eight, as a program made it of blanks: only the columns of an event may have one.
 * Returns false when memory runs out.
 */
static bool expand_tabs(struct import *import, struct text *text)
{
	struct buf *into = &import->tabs;
	struct text expanded;
	size_t column = 0;

	if (!memchr(text->at, '\t', text->len) || is_event(import, *text))
		return true;
	buf_clear(into);
	for (size_t i = 0; i < text->len; i++) {
		size_t blanks = text->at[i] == '\t' ? 8 - column % 8 : 0;

		if (blanks ? !buf_add(into, "        ", blanks) : !buf_add(into, text->at + i, 1))
			return false;
		column += blanks ? blanks : 1;
	}
	expanded = (struct text){ into->data, into->len };
	if (is_event(import, expanded))
		*text = expanded;
	return true;
}

/* Takes a line that begins as an event does, in the form of the kernel or of trace-cmd. */
static int take_event(struct import *import, struct head *head, struct fail *fail)
{
	struct text body = { head->body, head->body_len };
	struct graph_text graph;
	enum trace_cmd_what what = trace_cmd_read(&import->trace_cmd, import->shape.has_header, head, &graph);
	int r;

	if (what == TRACE_CMD_STARVED)
		return fail_memory(fail);
	if (what == TRACE_CMD_GRAPH) {
		import->graph.by_task = true;
		if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid))
			return fail_memory(fail);
		return events_take_graph(import, &graph, fail);
	}
	r = events_close(import, fail);
	r = r ? r : events_take(import, head, fail);
	import->perf = (struct head){ .pid = head->pid,
				      .tgid = head->tgid,
				      .cpu = head->cpu,
				      .ts = head->ts,
				      .has_tgid = head->has_tgid,
				      .has_unit = true,
				      .is_perf = head->is_perf };
	import->perf_open = OPEN_NOTHING;
	/* The first line of a program's stack is on that of the event. */
	if (!r && import->is_open == OPEN_USER_STACK && what == TRACE_CMD_EVENT) {
		const char *tab = memchr(body.at, '\t', body.len);

		if (tab && trace_cmd_caller(&import->trace_cmd, tab, (size_t)(body.at + body.len - tab)))
			(void)events_go_on(import, import->trace_cmd.body.data, import->trace_cmd.body.len);
	}
	return r;
}

/* A terminal, an editor or a mail cuts all lines that are too long for it at the same length. */
static void see_length(struct import *import, size_t len)
{
	if (len < import->longest.len)
		return;
	if (len > import->longest.len) {
		memset(&import->longest, 0, sizeof(import->longest));
		import->longest.len = len;
	}
	import->longest.nr++;
	import->longest.whole |= import->is_whole;
	if (!import->longest.broken)
		import->longest.broken = import->broken;
	import->longest.others |= import->broken && import->broken != import->longest.broken;
}

/* Gives an event the time that it left the waiting lines with. */
static void set_time(const struct import *import, struct head *head)
{
	if (!import->leaving->is_event)
		return;
	head->ts = import->leaving->ts;
	head->since = head->ts - (uint64_t)import->lookahead.start;
}

static int wait_ahead(struct import *import, struct text text, struct text raw, bool is_log, const struct head *head,
		      struct fail *fail)
{
	if (head && column_layout_mark(&import->shape, head))
		latency_lookahead_has_old_marks(&import->lookahead);
	const struct latency_lookahead_line line = {
		.len = raw.len, .start = (size_t)(text.at - raw.at), .number = import->counts.lines, .is_log = is_log
	};

	return latency_lookahead_add(&import->lookahead, &line, raw.at, head,
				     column_layout_has_old_marks(&import->shape)) ?
		       0 :
		       fail_memory(fail);
}

/*
 * Takes the events that end without a newline in front of the last one of the line, and moves the text and the head to
 * that one.
 */
static int take_unended(struct import *import, struct text *text, struct head *head, struct fail *fail)
{
	const char *end = text->at + text->len, *next;
	int r = 0;

	while (import->shape.has_header && (next = head_next(head))) {
		struct head first = *head;

		first.body_len = (size_t)(next - first.body);
		if (!events_take_unended(import, &first, &r, fail))
			break;
		*text = (struct text){ next, (size_t)(end - next) };
		if (!head_parse(text->at, text->len, head))
			break;
	}
	return r;
}

/* Takes a line now, or makes it wait. */
static int take_text(struct import *import, struct text text, struct text raw, bool is_log, struct fail *fail)
{
	struct text trimmed;
	struct graph_text graph;
	struct head head;
	bool prefixed = text.at != raw.at;
	int r;

	if (!expand_tabs(import, &text))
		return fail_memory(fail);
	trimmed = without_end_blanks(text);
	if (is_graph(import, trimmed, &graph)) {
		import->had_prefix = prefixed;
		/* A switch names its CPU in a text without that column, too. */
		if (import->legend.is && graph.what != GRAPH_TEXT_SWITCH) {
			import->legend.cpu |= graph.has_cpu;
			import->legend.duration |= graph.has_column;
		}
		r = begin_kinds(import, graph.head.has_lazy, fail);
		r = r ? r : events_take_graph(import, &graph, fail);
		if (r == 1)
			unknown_lines_add(&import->counts.told, import->counts.lines, text.at, text.len);
		return r == 1 ? 0 : r;
	}
	if (!head_parse(text.at, text.len, &head))
		return take_other(import, text, raw, is_log, fail);
	if (!column_layout_fits(&import->shape, &head)) {
		unknown_lines_add(&import->counts.told, import->counts.lines, text.at, text.len);
		return 0;
	}
	/* The times of a latency's graph count from its beginning, and those of a file have one origin. */
	if (head.is_verbose && import->graph.some.relative) {
		head.ts = head.since;
		head.is_verbose = false;
	} else if (latency_lookahead_wants(&head)) {
		if (!import->leaving)
			return wait_ahead(import, text, raw, is_log, &head, fail);
		set_time(import, &head);
	}
	import->had_prefix = prefixed;
	r = begin_kinds(import, head.has_lazy, fail);
	r = r ? r : take_unended(import, &text, &head, fail);
	r = r ? r : take_event(import, &head, fail);
	if (!r)
		see_length(import, trimmed.len);
	if (r == 1)
		unknown_lines_add(&import->counts.told, import->counts.lines, text.at, text.len);
	return r == 1 ? 0 : r;
}

/* Takes the first lines that wait, or all. */
static int take_waiting(struct import *import, bool all, struct fail *fail)
{
	struct latency_lookahead *lookahead = &import->lookahead;
	size_t nr = lookahead->nr ? latency_lookahead_leave(lookahead, all) : 0;
	uint64_t lines = import->counts.lines;
	int r = 0;

	if (!nr)
		return 0;

	for (size_t i = 0; !r && i < nr; i++) {
		const struct latency_lookahead_line *line = &lookahead->lines[i];
		const struct text raw = { lookahead->bytes.data + line->at, line->len },
				  text = { raw.at + line->start, raw.len - line->start };

		import->leaving = line;
		import->counts.lines = line->number;
		r = take_text(import, text, raw, line->is_log, fail);
	}
	import->leaving = NULL;
	import->counts.lines = lines;
	latency_lookahead_drop(lookahead, nr);
	return r;
}

/* Takes a line that follows lines that wait. */
static int take_behind(struct import *import, struct text text, struct text raw, bool is_log, struct fail *fail)
{
	struct text trimmed = without_end_blanks(text);
	struct graph_text graph;
	struct head head;
	bool is_event;
	int r;

	is_event = head_parse(text.at, text.len, &head);
	if (begins(text, "# ") || begins(text, "preemption latency trace ") ||
	    (is_event && !latency_lookahead_wants(&head))) {
		r = take_waiting(import, true, fail);
		latency_lookahead_part(&import->lookahead);
		return r ? r : take_text(import, text, raw, is_log, fail);
	}
	if (is_event) {
		r = wait_ahead(import, text, raw, is_log, &head, fail);
	} else {
		if (is_graph(import, trimmed, &graph))
			latency_lookahead_part(&import->lookahead);
		r = wait_ahead(import, text, raw, is_log, NULL, fail);
	}
	return !r && latency_lookahead_is_full(&import->lookahead) ? take_waiting(import, false, fail) : r;
}

static int take_next(struct import *import, struct text text, struct text raw, bool is_log, struct fail *fail)
{
	return (import->lookahead.nr ? take_behind : take_text)(import, text, raw, is_log, fail);
}

static int flush(struct import *import, struct fail *fail)
{
	struct import_held *held = &import->held;
	struct text text, raw;

	if (!held->is)
		return 0;
	held->is = false;
	raw = (struct text){ held->raw.data, held->raw.len };
	text = (struct text){ raw.at + held->start, raw.len - held->start };
	return take_next(import, text, raw, held->is_log, fail);
}

/* Whether a line of trace-cmd's graph is cut in front of its duration, its function, or its brace. */
static bool goes_on_graph(struct text body, struct text text)
{
	const char *bar = memrchr(body.at, '|', body.len);
	struct text behind;

	if (!bar)
		return memchr(text.at, '|', text.len);
	behind = without_end_blanks((struct text){ bar + 1, (size_t)(body.at + body.len - bar - 1) });
	if (!behind.len)
		return memchr(text.at, '(', text.len) || *text.at == '}';
	return behind.at[behind.len - 1] == ')' && text.len == 1 && *text.at == '{';
}

/* Whether the words look like the rest of an event, and not like a sentence below it. */
static bool are_of_event(struct text text, const struct head *head)
{
	/* "[...]" stands for lines that were left out; trace-cmd prints callers so. */
	if (begins(text, "[..") || begins(text, "[snip") || begins(text, "=> ") || begins(text, "\t=> "))
		return false;
	/* An argument that the end of the line cut, and the duration of a graph of trace-cmd. */
	if (head->body_len && memrchr(head->body, '(', head->body_len) && !memchr(head->body, ')', head->body_len) &&
	    memchr(text.at, ')', text.len))
		return true;
	if (head->body_len > 10 && !memcmp(head->body, "funcgraph_", 10))
		return goes_on_graph((struct text){ head->body, head->body_len }, text);
	return memchr(text.at, '=', text.len) || begins(text, "<-") || begins(text, "[") || begins(text, "(");
}

/* Whether the line goes on what is held. */
static bool joins(const struct import *import, const struct line *line)
{
	const struct import_held *held = &import->held;
	const struct text text = { line->text, line->len },
			  before = { held->raw.data + held->start, held->raw.len - held->start };
	const char *blank = memchr(text.at, ' ', text.len);
	struct head head;
	bool has_head;

	if (is_blank(text) || (*text.at == ' ' && !held->soft) || *text.at == '#' || line->is_log ||
	    line->quotes > held->quotes || is_event(import, text))
		return false;
	if (held->soft)
		return import->reader.quoted_printable;
	if (held->width + 1 + (size_t)(blank ? blank - text.at : (ptrdiff_t)text.len) < WRAP_AT)
		return false;
	has_head = head_parse(before.at, before.len, &head);
	if (has_head && head.body_len && (*head.body == '<' || !are_of_event(text, &head)))
		return false;
	if (has_head && !held->quotes && head.body_len > 18 && !memcmp(head.body, "tracing_mark_write", 18))
		return false;
	return has_head || held->quotes;
}

static int join(struct import *import, const struct line *line, struct fail *fail)
{
	struct import_held *held = &import->held;
	bool soft = held->soft;

	/* The text was found to be quoted-printable only now. */
	if (soft && !held->decoded)
		held->raw.len = held->start + line_unquote(held->raw.data + held->start, held->raw.len - held->start);
	while (!soft && held->raw.len > held->start && held->raw.data[held->raw.len - 1] == ' ')
		held->raw.len--;
	held->width = line->width;
	held->soft = line->ends_soft;
	held->decoded = import->reader.quoted_printable;
	return (soft || buf_add(&held->raw, " ", 1)) && buf_add(&held->raw, line->text, line->len) ? 0 :
												     fail_memory(fail);
}

static int hold(struct import *import, const struct line *line, struct text raw, struct fail *fail)
{
	struct import_held *held = &import->held;

	buf_clear(&held->raw);
	held->start = (size_t)(line->text - raw.at);
	held->decoded = import->reader.quoted_printable;
	held->is = true;
	held->width = line->width;
	held->quotes = line->quotes;
	held->soft = line->ends_soft;
	held->is_log = line->is_log;
	return buf_add(&held->raw, raw.at, raw.len) ? 0 : fail_memory(fail);
}

int import_take_line(struct import *import, char *at, size_t len, struct fail *fail)
{
	struct line line;
	struct text raw;
	int r;

	line_decode(&import->reader, at, len, &line);
	if (import->held.is && joins(import, &line)) {
		import->counts.lines++;
		return join(import, &line, fail);
	}
	r = flush(import, fail);
	import->counts.lines++;
	if (r)
		return r;
	raw = (struct text){ at, line.len + (size_t)(line.text - at) };
	if (line.ends_soft || (line.width >= WRAP_MIN && line.width <= WRAP_MAX && !import->legend.is))
		return hold(import, &line, raw, fail);
	return take_next(import, (struct text){ line.text, line.len }, raw, line.is_log, fail);
}

/* A loss is kept at the next event of its CPU: without one it is told. */
static void tell_lost(struct import *import)
{
	char line[64];

	for (uint32_t cpu = 0; cpu < HEAD_CPU_MAX; cpu++) {
		int len = import->lost[cpu] <= 0 ? snprintf(line, sizeof(line), "CPU:%u [LOST EVENTS]", cpu) :
						   snprintf(line, sizeof(line), "CPU:%u [LOST %lld EVENTS]", cpu,
							    (long long)import->lost[cpu]);

		if (import->lost[cpu])
			unknown_lines_add(&import->counts.told, import->lost_line[cpu], line, (size_t)len);
	}
}

int import_take_rest(struct import *import, struct fail *fail)
{
	int r = flush(import, fail);

	r = r ? r : take_waiting(import, true, fail);
	events_end(import);
	tell_lost(import);
	return r;
}
