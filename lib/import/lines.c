// SPDX-License-Identifier: LGPL-2.1-or-later
/* The way of a line from the document to an event: decoded, joined with the next one if a mail was wrapped, parsed. */
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/import/import_internal.h"
#include "lib/import/kinds_internal.h"
#include "lib/import/lost_internal.h"

#include <stdio.h>
#include <string.h>

/* Mails are wrapped at 72 to 80 columns: only lines of about that width may go on in the next one. */
enum { WRAP_MIN = 40, WRAP_AT = 62, WRAP_MAX = 100 };

/* The text of a line behind what was in front of it. */
struct text {
	const char *at;
	size_t len;
};

static void take_header(struct import *import, struct text text)
{
	static const char graph[] = "# tracer: function_graph", legend[] = "FUNCTION CALLS";

	if (memmem(text.at, text.len, legend, strlen(legend)) ||
	    (text.len >= strlen(graph) && !memcmp(text.at, graph, strlen(graph))))
		import->has_graph_header = true;
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
	int r = shape_old_header(&import->shape, text.at, text.len);

	if (r)
		return r < 0 ? fail_memory(fail) : 0;
	if (text.len && *text.at == '#') {
		events_end(import);
		take_header(import, text);
		return shape_header(&import->shape, text.at, text.len) ? 0 : fail_memory(fail);
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
		told_add(&import->counts.told, import->counts.lines, text.at, text.len);
	return 0;
}

static int begin_kinds(struct import *import, bool lazy, struct fail *fail)
{
	return import->kinds ? 0 : import_kinds_new(import->formats, lazy, &import->names, &import->kinds, fail);
}

static bool is_event(struct text text, bool bare)
{
	struct graph_text graph;
	struct head head;

	return graph_text_parse(text.at, text.len, bare, &graph) || head_parse(text.at, text.len, &head);
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

	if (!memchr(text->at, '\t', text->len) || is_event(*text, import->has_graph_header))
		return true;
	buf_clear(into);
	for (size_t i = 0; i < text->len; i++) {
		size_t blanks = text->at[i] == '\t' ? 8 - column % 8 : 0;

		if (blanks ? !buf_add(into, "        ", blanks) : !buf_add(into, text->at + i, 1))
			return false;
		column += blanks ? blanks : 1;
	}
	expanded = (struct text){ into->data, into->len };
	if (is_event(expanded, import->has_graph_header))
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

/* Gives an event the time that it left the waiting lines with. */
static void set_time(const struct import *import, struct head *head)
{
	if (!import->leaving->is_event)
		return;
	head->ts = import->leaving->ts;
	head->since = head->ts - (uint64_t)import->ahead.start;
}

static int wait_ahead(struct import *import, struct text text, struct text raw, bool is_log, const struct head *head,
		      struct fail *fail)
{
	if (head && shape_mark(&import->shape, head))
		ahead_has_old_marks(&import->ahead);
	const struct ahead_line line = {
		.len = raw.len, .start = (size_t)(text.at - raw.at), .number = import->counts.lines, .is_log = is_log
	};

	return ahead_add(&import->ahead, &line, raw.at, head, shape_has_old_marks(&import->shape)) ? 0 :
												     fail_memory(fail);
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
	if (graph_text_parse(trimmed.at, trimmed.len, import->has_graph_header, &graph)) {
		import->had_prefix = prefixed;
		r = begin_kinds(import, graph.head.has_lazy, fail);
		r = r ? r : events_take_graph(import, &graph, fail);
		if (r == 1)
			told_add(&import->counts.told, import->counts.lines, text.at, text.len);
		return r == 1 ? 0 : r;
	}
	if (!head_parse(text.at, text.len, &head))
		return take_other(import, text, raw, is_log, fail);
	if (!shape_fits(&import->shape, &head)) {
		told_add(&import->counts.told, import->counts.lines, text.at, text.len);
		return 0;
	}
	/* The times of a latency's graph count from its beginning, and those of a file have one origin. */
	if (head.is_verbose && import->graph.some.relative) {
		head.ts = head.since;
		head.is_verbose = false;
	} else if (ahead_wants(&head)) {
		if (!import->leaving)
			return wait_ahead(import, text, raw, is_log, &head, fail);
		set_time(import, &head);
	}
	import->had_prefix = prefixed;
	r = begin_kinds(import, head.has_lazy, fail);
	r = r ? r : take_event(import, &head, fail);
	if (r == 1)
		told_add(&import->counts.told, import->counts.lines, text.at, text.len);
	return r == 1 ? 0 : r;
}

/* Takes the first lines that wait, or all. */
static int take_waiting(struct import *import, bool all, struct fail *fail)
{
	struct ahead *ahead = &import->ahead;
	size_t nr = ahead->nr ? ahead_leave(ahead, all) : 0;
	uint64_t lines = import->counts.lines;
	int r = 0;

	if (!nr)
		return 0;

	for (size_t i = 0; !r && i < nr; i++) {
		const struct ahead_line *line = &ahead->lines[i];
		const struct text raw = { ahead->bytes.data + line->at, line->len },
				  text = { raw.at + line->start, raw.len - line->start };

		import->leaving = line;
		import->counts.lines = line->number;
		r = take_text(import, text, raw, line->is_log, fail);
	}
	import->leaving = NULL;
	import->counts.lines = lines;
	ahead_drop(ahead, nr);
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
	if (begins(text, "# ") || begins(text, "preemption latency trace ") || (is_event && !ahead_wants(&head))) {
		r = take_waiting(import, true, fail);
		ahead_part(&import->ahead);
		return r ? r : take_text(import, text, raw, is_log, fail);
	}
	if (is_event) {
		r = wait_ahead(import, text, raw, is_log, &head, fail);
	} else {
		if (graph_text_parse(trimmed.at, trimmed.len, import->has_graph_header, &graph))
			ahead_part(&import->ahead);
		r = wait_ahead(import, text, raw, is_log, NULL, fail);
	}
	return !r && ahead_is_full(&import->ahead) ? take_waiting(import, false, fail) : r;
}

static int take_next(struct import *import, struct text text, struct text raw, bool is_log, struct fail *fail)
{
	return (import->ahead.nr ? take_behind : take_text)(import, text, raw, is_log, fail);
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
	    line->quotes > held->quotes || is_event(text, import->has_graph_header))
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
	if (line.ends_soft || (line.width >= WRAP_MIN && line.width <= WRAP_MAX && !import->has_graph_header))
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
			told_add(&import->counts.told, import->lost_line[cpu], line, (size_t)len);
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
