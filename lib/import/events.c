// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/import/graph_internal.h"
#include "lib/import/import_internal.h"
#include "lib/import/kinds_internal.h"
#include "lib/import/perf_caller_internal.h"
#include "lib/import/syscall_internal.h"
#include "lib/import/told.h"
#include "lib/import/tracers_internal.h"
#include "lib/made/binder.h"
#include "lib/ring/page.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { TIES_MAX = 400 };

/*
 * The text has microseconds. Lines of the same microsecond get times a nanosecond apart, which round to the same text.
 */
static uint64_t time_of(struct import *import, const struct head *head)
{
	uint64_t ts, clock = import->clock[head->cpu];

	if (head->is_placed)
		return head->ts;
	if (!head->has_unit || head->ts != import->last || head->ts % 1000) {
		import->last = head->ts;
		import->ties = 0;
	} else if (import->ties < TIES_MAX) {
		import->ties++;
	}
	ts = head->ts + import->ties;
	/* A function of the graph may have ended in the same microsecond: then the time does not go back. */
	return head->has_unit && ts < clock && clock - head->ts < 1000 ? clock : ts;
}

int events_give_up(struct import *import, struct fail *fail)
{
	import->counts.unknown += import->waiting.guesses;
	import_graph_give_up(&import->graph);
	memset(import->waits, 0, sizeof(import->waits));
	return waiting_end(&import->waiting, WAITING_ALL, GRAPH_UNKNOWN_PID, import->binder, fail);
}

static int bind(struct import *import, const struct head *head, const struct record *record, struct fail *fail)
{
	int64_t lost = import->lost[head->cpu];

	import->lost[head->cpu] = 0;
	import->counts.backwards += head->has_unit && record->ts < import->clock[head->cpu];
	import->clock[head->cpu] = record->ts > import->clock[head->cpu] ? record->ts : import->clock[head->cpu];
	if (!import->waits[head->cpu])
		return binder_add(import->binder, head->cpu, record, lost, fail);
	if (!waiting_add(&import->waiting, head->cpu, record, lost, head->is_guess))
		return fail_memory(fail);
	return import->waiting.bytes.len > WAITING_MAX ? events_give_up(import, fail) : 0;
}

/* Adds a record that is complete except for what the line's head contains. */
static int put(struct import *import, const struct head *head, struct fail *fail)
{
	uint32_t pid = htole32((uint32_t)head->pid);
	struct record record = { .data = (const uint8_t *)import->record.data };
	int r;

	import->record.data[2] = (char)head->flags;
	import->record.data[3] = (char)head->preempt_count;
	if (head->has_lazy && import_kinds_common(import->kinds) > 8)
		import->record.data[8] = (char)head->lazy_count;
	memcpy(import->record.data + 4, &pid, sizeof(pid));
	while (import->record.len % 4)
		if (!buf_add(&import->record, "", 1))
			return fail_memory(fail);
	record.data = (const uint8_t *)import->record.data;
	record.len = (uint32_t)import->record.len;
	record.ts = time_of(import, head);
	if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid))
		return fail_memory(fail);
	shape_event(&import->shape, head);
	r = bind(import, head, &record, fail);
	import->counts.events += !r;
	return r;
}

/* Returns how long the name before ": " is; 0 if there is none. */
static size_t name_len(const char *text, size_t text_len)
{
	const char *colon = memchr(text, ':', text_len);
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (!len || text_len - len < 2 || colon[1] != ' ')
		return 0;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return 0;
	return len;
}

/* Makes the record of an event again with the lines that go on it. */
static bool end_event(struct import *import)
{
	struct buf *text = &import->mark;
	const struct records make = import_records(import);
	size_t len = name_len(text->data, text->len);
	bool whole, known;

	if (!import->more.len)
		return true;
	if (!buf_add(text, import->more.data, import->more.len))
		return false;
	buf_clear(&import->more);
	return (len && !import_kinds_record(import->kinds, text->data, len, text->data + len + 2, text->len - len - 2,
					    &import->record, &whole, &known)) ||
	       records_line(&make, text->data, text->len);
}

/* The open record is complete: makes it. */
static bool end_open(struct import *import, enum import_open open)
{
	const struct records make = import_records(import);

	switch (open) {
	case OPEN_NOTHING:
	case OPEN_EXIT:
		return true;
	case OPEN_EVENT:
		return end_event(import);
	case OPEN_MARK:
		return records_mark(&make, import->open_ip, &import->mark);
	case OPEN_STACK:
		return records_stack(&make, &import->mark);
	case OPEN_USER_STACK:
		return records_user_stack(&make, import->open.tgid, &import->mark);
	case OPEN_USER_LINES:
		return records_line(&make, import->mark.data, import->mark.len);
	}
	return false;
}

int events_close(struct import *import, struct fail *fail)
{
	enum import_open open = import->is_open;

	import->is_open = OPEN_NOTHING;
	if (open == OPEN_NOTHING)
		return 0;
	if (!end_open(import, open))
		return fail_memory(fail);
	return put(import, &import->open, fail);
}

/* Whether the line is one of a trace marker of several lines. */
static bool continues_mark(const struct import *import, const char *line, size_t len)
{
	return import->is_open == OPEN_MARK && import->shape.has_header && told_kind_of(line, len) != TOLD_EVENT;
}

/* "[...]", or a line of dashes, stands for what was left out. */
static bool has_words(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isalnum((unsigned char)line[i]))
			return true;
	return !len;
}

/* Whether the line may be one of an event of several lines. */
static bool continues_event(struct import *import, const char *line, size_t len)
{
	struct buf *more = &import->more;

	if (told_kind_of(line, len) != TOLD_OTHER || !has_words(line, len) ||
	    import->mark.len + more->len + len + 1 > IMPORT_MARK_MAX)
		return false;
	if (!more->len)
		import->more_line = import->counts.lines;
	return buf_add(more, "\n", 1) && buf_add(more, line, len);
}

void events_end(struct import *import)
{
	const char *at = import->more.data, *end = at ? at + import->more.len : NULL;

	for (uint64_t number = import->more_line; at < end; number++) {
		const char *line = at + 1;

		at = memchr(line, '\n', (size_t)(end - line)) ?: end;
		if (at > line)
			told_add(&import->counts.told, number, line, (size_t)(at - line));
	}
	buf_clear(&import->more);
}

/*
 * The stack of a program with the names of files (sym-userobj) is kept as its text: where the files were in memory is
 * not known.
 */
static bool go_on_lines(struct import *import, const char *line, size_t len)
{
	static const char title[] = "<user stack trace>";
	cleanup_buf struct buf text = BUF_INIT;

	if (import->is_open == OPEN_USER_STACK) {
		if (!buf_add_str(&text, title))
			return false;
		for (size_t i = 0; i < import->mark.len; i += sizeof(uint64_t)) {
			uint64_t address;

			memcpy(&address, import->mark.data + i, sizeof(address));
			if (!buf_addf(&text, "\n =>  <%016" PRIx64 ">", le64toh(address)))
				return false;
		}
		buf_clear(&import->mark);
		if (!buf_add(&import->mark, text.data, text.len))
			return false;
		import->is_open = OPEN_USER_LINES;
		import->counts.whole++;
	}
	return (records_is_object(line, len) || records_user_caller(line, len, &text)) &&
	       import->mark.len + len + 1 <= IMPORT_MARK_MAX && buf_add(&import->mark, "\n", 1) &&
	       buf_add(&import->mark, line, len);
}

bool events_go_on(struct import *import, const char *line, size_t len)
{
	const struct records make = import_records(import);
	size_t kept = import->mark.len;

	if (continues_mark(import, line, len)) {
		import->open_is_full |= kept + len + 1 > IMPORT_MARK_MAX;
		if (import->open_is_full) {
			told_add_as(&import->counts.told, TOLD_LONG, import->counts.lines, line, len);
			return true;
		}
		if (import->open.is_placed && len >= 3 && !memcmp(line + len - 3, " */", 3))
			len -= 3;
		return buf_add(&import->mark, "\n", 1) && buf_add(&import->mark, line, len);
	}
	if (import->is_open == OPEN_EVENT)
		return continues_event(import, line, len);
	if (import->is_open == OPEN_USER_LINES || (import->is_open == OPEN_USER_STACK && records_is_object(line, len)))
		return go_on_lines(import, line, len);
	if (kept + sizeof(uint64_t) > IMPORT_MARK_MAX)
		return false;
	if (import->is_open == OPEN_USER_STACK)
		return kept < RECORDS_USER_CALLERS * sizeof(uint64_t) && records_user_caller(line, len, &import->mark);
	return import->is_open == OPEN_STACK && records_caller(&make, line, len, &import->mark);
}

/*
 * Opens a record that the next line may continue. The texts of its head are saved, because they belong to this
 * line. Returns 1 if the text is too long.
 */
static int open_event(struct import *import, enum import_open what, const struct head *head, const char *text,
		      size_t len, struct fail *fail)
{
	if (len > IMPORT_MARK_MAX)
		return 1;
	import->open = *head;
	import->open_is_full = false;
	import->open.comm = NULL;
	import->open.comm_len = 0;
	import->open.body = "";
	import->open.body_len = 0;
	import->is_open = what;
	buf_clear(&import->mark);
	if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid) ||
	    !buf_add(&import->mark, text, len))
		return fail_memory(fail);
	return 0;
}

static bool is_text(const struct head *head, const char *text)
{
	return head->body_len == strlen(text) && !memcmp(head->body, text, head->body_len);
}

/* Adds the record of an event, or keeps it open: only an event whose form is not known may have more lines. */
static int put_event(struct import *import, const struct head *head, bool known, struct fail *fail)
{
	if (known || !import->shape.has_header || import->had_prefix || head->is_placed)
		return put(import, head, fail);
	return open_event(import, OPEN_EVENT, head, head->body, head->body_len, fail);
}

/* Makes the record of an event with a name. Returns -E2BIG if there is none, or too many types. */
static int take_named(struct import *import, const struct head *head, struct fail *fail)
{
	size_t len = name_len(head->body, head->body_len);
	bool whole = false, known;
	int r;

	if (!len)
		return -E2BIG;
	r = import_kinds_record(import->kinds, head->body, len, head->body + len + 2, head->body_len - len - 2,
				&import->record, &whole, &known);
	if (r)
		return r == -E2BIG ? r : fail_memory(fail);
	import->counts.whole += whole;
	return put_event(import, head, known, fail);
}

int events_take(struct import *import, const struct head *head, struct fail *fail)
{
	const struct records make = import_records(import);
	size_t mark = records_marker(&make, head->body, head->body_len, &import->open_ip);
	int r;

	if (mark)
		return open_event(import, OPEN_MARK, head, head->body + mark, head->body_len - mark, fail);
	if (is_text(head, "<stack trace>"))
		return open_event(import, OPEN_STACK, head, "", 0, fail);
	if (is_text(head, "<user stack trace>"))
		return open_event(import, OPEN_USER_STACK, head, "", 0, fail);
	if (import_syscall(import->kinds, head->body, head->body_len, &import->record) ||
	    records_function(&make, head) || tracers_take(&make, head) ||
	    (import->shape.is_old && tracers_take_old(&make, head)))
		return put(import, head, fail);
	r = take_named(import, head, fail);
	if (r != -E2BIG)
		return r;
	/* In a function graph, a line that is no event has the text of a trace marker. */
	if (head->is_placed) {
		import->open_ip = import_names_symbol(&import->names, "tracing_mark_write", 18);
		return import->open_ip ? open_event(import, OPEN_MARK, head, head->body, head->body_len, fail) :
					 fail_memory(fail);
	}
	if (!records_line(&make, head->body, head->body_len))
		return 1;
	import->counts.whole++;
	return put_event(import, head, false, fail);
}

/* " =>  <0000000000000000>": a zero in a record ends its stack. */
static bool is_zero(const struct buf *caller)
{
	static const char text[] = " =>  <0000000000000000>";

	return caller->len == strlen(text) && !memcmp(caller->data, text, caller->len);
}

int events_take_perf_caller(struct import *import, const char *line, size_t len, struct fail *fail)
{
	struct head *head = &import->perf;
	enum import_open open;
	bool user;
	int r;

	if (!head->is_perf || !perf_caller(line, len, &import->caller, &user))
		return 1;
	open = user ? OPEN_USER_STACK : OPEN_STACK;
	if (import->perf_open != open) {
		head->body = user ? "<user stack trace>" : "<stack trace>";
		head->body_len = strlen(head->body);
		r = events_close(import, fail);
		r = r ? r : events_take(import, head, fail);
		if (r)
			return r;
		import->perf_open = open;
	}
	if (is_zero(&import->caller) || !events_go_on(import, import->caller.data, import->caller.len))
		told_add_as(&import->counts.told, user ? TOLD_DEEP : TOLD_STACK, import->counts.lines, line, len);
	return 0;
}

/* Adds the records of a line of a graph. An exit stays open, because the next line may have its overruns. */
static int put_calls(struct import *import, const struct graph_text *text, struct fail *fail)
{
	struct graph_call calls[GRAPH_CALLS_MAX];
	size_t nr = import_graph_calls(&import->graph, text, &import->names, calls);
	const struct records make = import_records(import);
	struct head head = text->head;
	int r = 0;

	/* The name is none of a function, or too much is behind it. */
	if (!nr || text->args_len > RECORDS_TEXT_MAX || text->note_len > RECORDS_TEXT_MAX)
		return 1;
	for (size_t i = 0; !r && i < nr; i++) {
		head.ts = calls[i].ts;
		if (!records_call(&make, &calls[i]))
			return fail_memory(fail);
		if (text->what == GRAPH_TEXT_EXIT) {
			import->open = head;
			import->is_open = OPEN_EXIT;
		} else {
			r = put(import, &head, fail);
		}
	}
	return r;
}

static int take_switch(struct import *import, const struct graph_text *text, struct fail *fail)
{
	int r = 0;

	if (!import_names_task_short(&import->names, text->head.pid, text->head.comm, text->head.comm_len) ||
	    !import_names_task_short(&import->names, text->next.pid, text->next.comm, text->next.comm_len))
		return fail_memory(fail);
	if (import_graph_switch(&import->graph, text) && import->waits[text->head.cpu]) {
		import->waits[text->head.cpu] = false;
		r = waiting_end(&import->waiting, text->head.cpu, text->head.pid, import->binder, fail);
	}
	return r;
}

int events_take_graph(struct import *import, struct graph_text *text, struct fail *fail)
{
	struct head *head = &text->head;
	int r = 0;

	if (text->what == GRAPH_TEXT_NOTHING)
		return 0;
	import->shape.old_marks |= text->has_old_mark;
	import->shape.new_marks |= text->has_new_mark;
	if (!import->kinds)
		r = import_kinds_new(import->formats, head->has_lazy, &import->names, &import->kinds, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_OVERRUN) {
		const struct records make = import_records(import);

		import->graph.overrun = true;
		if (import->is_open == OPEN_EXIT)
			records_overrun(&make, text->overrun);
		return 0;
	}
	r = events_close(import, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_SWITCH)
		return take_switch(import, text, fail);
	if (text->has_task && !import_names_task_short(&import->names, head->pid, head->comm, head->comm_len))
		return fail_memory(fail);
	head->is_guess = !import_graph_place(&import->graph, text, import->clock, import->last + import->ties);
	import->waits[head->cpu] |= head->is_guess;
	head->is_placed = true;
	head->comm = NULL;
	head->comm_len = 0;
	import->last = head->ts - head->ts % 1000;
	import->ties = (unsigned)(head->ts % 1000);
	head->body = text->name;
	head->body_len = text->name_len;
	if (text->what == GRAPH_TEXT_COMMENT)
		r = events_take(import, head, fail);
	else
		r = put_calls(import, text, fail);
	return !r && import->graph.starved ? fail_memory(fail) : r;
}
