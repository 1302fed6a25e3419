// SPDX-License-Identifier: GPL-2.0-only
#include "lib/import/import.h"

#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/import/graph.h"
#include "lib/import/head.h"
#include "lib/import/kinds.h"
#include "lib/import/names.h"
#include "lib/import/records.h"
#include "lib/import/syscall.h"
#include "lib/import/waiting.h"
#include "lib/ring/page.h"
#include "lib/trace/binder.h"
#include "lib/trace/carried.h"
#include "lib/trace/made_file.h"
#include "lib/trace/writer.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_SIZE_HERE = 4096, TIES_MAX = 400, MARK_MAX = 3000 };

/* What the next line may continue. */
enum open { OPEN_NOTHING, OPEN_MARK, OPEN_STACK, OPEN_USER_STACK, OPEN_EXIT };

struct import {
	struct recast_options form;
	struct import_kinds *kinds;
	struct import_names names;
	struct binder *binder;
	struct import_counts counts;
	struct trace *formats;
	bool has_header;       /* there was "# tracer:", so lines without a head continue the line before */
	bool has_graph_header; /* there was the legend of a function graph, so its lines may have no columns */
	bool has_tgid, has_flags, has_no_flags, has_unit;
	int64_t lost[HEAD_CPU_MAX];   /* number of events lost before the CPU's next event */
	uint64_t clock[HEAD_CPU_MAX]; /* time of the CPU's last record */
	bool waits[HEAD_CPU_MAX];     /* the CPU's task is not known yet */
	struct waiting waiting;
	struct import_graph graph;
	uint64_t last; /* last: the time of the line before; ties: how many lines before it had that time */
	unsigned ties;
	enum open is_open;
	struct head open; /* the head of the open record; `mark` has its text, or its addresses */
	struct buf mark, record;
};

int import_new(struct trace *formats, const struct recast_options *form, struct import **ret, struct fail *fail)
{
	const struct page_shape shape = { .size = PAGE_SIZE_HERE,
					  .long_size = 8,
					  .swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	struct import *import = calloc(1, sizeof(*import));
	int r;

	if (!import)
		return fail_memory(fail);
	import->form = *form;
	import->formats = formats;
	import_names_init(&import->names);
	import_graph_init(&import->graph);
	r = binder_new(&shape, form->temporaries, &import->binder, fail);
	if (r)
		import_free(import);
	else
		*ret = import;
	return r;
}

void import_free(struct import *import)
{
	if (!import)
		return;
	import_kinds_free(import->kinds);
	import_names_release(&import->names);
	import_graph_release(&import->graph);
	buf_release(&import->waiting.bytes);
	binder_free(import->binder);
	buf_release(&import->mark);
	buf_release(&import->record);
	free(import);
}

struct import_counts import_counts(const struct import *import)
{
	struct import_counts counts = import->counts;

	counts.guessed = import->graph.guessed;
	counts.events += import->is_open != OPEN_NOTHING;
	return counts;
}

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

/* From here on, tasks that no line has named yet stay unknown. */
static int give_up(struct import *import, struct fail *fail)
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
	import->clock[head->cpu] = record->ts > import->clock[head->cpu] ? record->ts : import->clock[head->cpu];
	if (!import->waits[head->cpu])
		return binder_add(import->binder, head->cpu, record, lost, fail);
	if (!waiting_add(&import->waiting, head->cpu, record, lost, head->is_guess))
		return fail_memory(fail);
	return import->waiting.bytes.len > WAITING_MAX ? give_up(import, fail) : 0;
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
	import->has_tgid |= head->has_tgid;
	if (!head->is_placed)
		*(head->has_flags ? &import->has_flags : &import->has_no_flags) = true;
	import->has_unit |= head->has_unit;
	r = bind(import, head, &record, fail);
	import->counts.events += !r;
	return r;
}

static struct records records_of(struct import *import)
{
	return (struct records){ .kinds = import->kinds, .names = &import->names, .record = &import->record };
}

/* The open record is complete: makes it. */
static bool end_open(struct import *import, enum open open)
{
	const struct records make = records_of(import);

	switch (open) {
	case OPEN_NOTHING:
	case OPEN_EXIT:
		return true;
	case OPEN_MARK:
		return records_mark(&make, &import->mark);
	case OPEN_STACK:
		return records_stack(&make, &import->mark);
	case OPEN_USER_STACK:
		return records_user_stack(&make, import->open.tgid, &import->mark);
	}
	return false;
}

static int close_open(struct import *import, struct fail *fail)
{
	enum open open = import->is_open;

	import->is_open = OPEN_NOTHING;
	if (open == OPEN_NOTHING)
		return 0;
	if (!end_open(import, open))
		return fail_memory(fail);
	return put(import, &import->open, fail);
}

static bool goes_on(struct import *import, const char *line, size_t len)
{
	const struct records make = records_of(import);

	if (import->mark.len + sizeof(uint64_t) > MARK_MAX)
		return false;
	if (import->is_open == OPEN_USER_STACK)
		return records_user_caller(line, len, &import->mark);
	return import->is_open == OPEN_STACK && records_caller(&make, line, len, &import->mark);
}

/* Opens a record that the next line may continue. The texts of its head are saved, because they belong to this line. */
static int open_event(struct import *import, enum open what, const struct head *head, const char *text, size_t len,
		      struct fail *fail)
{
	import->open = *head;
	import->open.comm = NULL;
	import->open.comm_len = 0;
	import->open.body = "";
	import->open.body_len = 0;
	import->is_open = what;
	buf_clear(&import->mark);
	if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid) ||
	    !buf_add(&import->mark, text, len > MARK_MAX ? MARK_MAX : len))
		return fail_memory(fail);
	return 0;
}

static int take_event(struct import *import, const struct head *head, struct fail *fail)
{
	static const char mark[] = "tracing_mark_write: ", stack[] = "<stack trace>",
			  user_stack[] = "<user stack trace>";
	const char *colon = memmem(head->body, head->body_len, ": ", 2);
	size_t name_len = colon ? (size_t)(colon - head->body) : 0;
	const struct records make = records_of(import);
	bool whole = false;
	int r;

	if (head->body_len >= strlen(mark) && !memcmp(head->body, mark, strlen(mark)))
		return open_event(import, OPEN_MARK, head, head->body + strlen(mark), head->body_len - strlen(mark),
				  fail);
	if (head->body_len == strlen(stack) && !memcmp(head->body, stack, strlen(stack)))
		return open_event(import, OPEN_STACK, head, "", 0, fail);
	if (head->body_len == strlen(user_stack) && !memcmp(head->body, user_stack, strlen(user_stack)))
		return open_event(import, OPEN_USER_STACK, head, "", 0, fail);
	if (import_syscall(import->kinds, head->body, head->body_len, &import->record) || records_function(&make, head))
		return put(import, head, fail);
	for (size_t i = 0; i < name_len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
			    head->body[i] ? head->body[i] : ' '))
			name_len = 0;
	if (name_len) {
		r = import_kinds_record(import->kinds, head->body, name_len, colon + 2, head->body_len - name_len - 2,
					&import->record, &whole);
		if (!r)
			import->counts.whole += whole;
		if (r != -E2BIG)
			return r ? fail_memory(fail) : put(import, head, fail);
	}
	/* In a function graph, a line that is no event has the text of a trace marker. */
	if (head->is_placed)
		return open_event(import, OPEN_MARK, head, head->body, head->body_len, fail);
	import->counts.passed++;
	return 0;
}

/* Reads "CPU:1 [LOST 230 EVENTS]", or "CPU:1 [LOST EVENTS]" if the kernel did not know the number. */
static bool take_lost(struct import *import, const char *line, size_t len)
{
	char text[64] = "";
	unsigned cpu, count = 0;
	int end = 0, unknown = 0;

	memcpy(text, line, len < sizeof(text) - 1 ? len : sizeof(text) - 1);
	if (sscanf(text, "CPU:%5u [LOST EVENTS]%n", &cpu, &unknown) != 1 || !unknown)
		if (sscanf(text, "CPU:%5u [LOST %9u EVENTS]%n", &cpu, &count, &end) != 2 || !end)
			return false;
	if (cpu >= HEAD_CPU_MAX)
		return false;
	import->lost[cpu] = unknown ? (int64_t)PAGE_LOST_UNKNOWN : (int64_t)count;
	return true;
}

/* Adds the records of a line of a graph. An exit stays open, because the next line may have its overruns. */
static int put_calls(struct import *import, const struct graph_text *text, struct fail *fail)
{
	struct graph_call calls[GRAPH_CALLS_MAX];
	size_t nr = import_graph_calls(&import->graph, text, &import->names, calls);
	const struct records make = records_of(import);
	struct head head = text->head;
	int r = 0;

	import->counts.passed += !nr;
	for (size_t i = 0; !r && i < nr; i++) {
		head.ts = calls[i].ts;
		if (!records_call(&make, &calls[i], import->graph.retval))
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

static int take_graph(struct import *import, struct graph_text *text, struct fail *fail)
{
	struct head *head = &text->head;
	int r = 0;

	if (text->what == GRAPH_TEXT_NOTHING)
		return 0;
	if (!import->kinds)
		r = import_kinds_new(import->formats, head->has_lazy, &import->kinds, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_OVERRUN) {
		const struct records make = records_of(import);

		import->graph.overrun = true;
		if (import->is_open == OPEN_EXIT)
			records_overrun(&make, text->overrun);
		return 0;
	}
	r = close_open(import, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_SWITCH)
		return take_switch(import, text, fail);
	if (text->has_task && !import_names_task_short(&import->names, head->pid, head->comm, head->comm_len))
		return fail_memory(fail);
	head->is_guess = !import_graph_place(&import->graph, text, import->clock, import->last + import->ties);
	import->waits[head->cpu] |= head->is_guess;
	head->is_placed = true;
	head->comm_len = 0;
	import->last = head->ts - head->ts % 1000;
	import->ties = (unsigned)(head->ts % 1000);
	head->body = text->name;
	head->body_len = text->name_len;
	if (text->what == GRAPH_TEXT_COMMENT)
		r = take_event(import, head, fail);
	else
		r = put_calls(import, text, fail);
	return !r && import->graph.starved ? fail_memory(fail) : r;
}

static void take_header(struct import *import, const char *line, size_t len)
{
	static const char header[] = "# tracer: ", graph[] = "# tracer: function_graph", legend[] = "FUNCTION CALLS";

	if (len >= strlen(header) && !memcmp(line, header, strlen(header)))
		import->has_header = true;
	if (len && *line == '#' &&
	    (memmem(line, len, legend, strlen(legend)) || (len == strlen(graph) && !memcmp(line, graph, len))))
		import->has_graph_header = true;
}

static int take_line(struct import *import, const char *line, size_t len, struct fail *fail)
{
	struct graph_text text;
	struct head head;
	int r;

	len -= len && line[len - 1] == '\r';
	if (graph_text_parse(line, len, import->has_graph_header, &text))
		return take_graph(import, &text, fail);
	if (head_parse(line, len, &head)) {
		r = import->kinds ? close_open(import, fail) :
				    import_kinds_new(import->formats, head.has_lazy, &import->kinds, fail);
		return r ? r : take_event(import, &head, fail);
	}
	take_header(import, line, len);
	if (take_lost(import, line, len) || (len && *line == '#') || (!len && !import->is_open))
		return 0;
	if (goes_on(import, line, len))
		return 0;
	if (import->is_open != OPEN_MARK || !import->has_header) {
		import->counts.passed += len > 0;
		return 0;
	}
	if (import->mark.len + len + 1 > MARK_MAX)
		return 0;
	if (import->open.is_placed && len >= 3 && !memcmp(line + len - 3, " */", 3))
		len -= 3;
	return buf_add(&import->mark, "\n", 1) && buf_add(&import->mark, line, len) ? 0 : fail_memory(fail);
}

int import_line(struct import *import, const char *line, size_t len, struct fail *fail)
{
	int r;

	/*
	 * The parsers return false both for a text that does not fit and when memory runs out. errno, which malloc()
	 * sets, tells which it was.
	 */
	errno = 0;
	r = take_line(import, line, len, fail);
	return !r && errno == ENOMEM ? fail_memory(fail) : r;
}

static const char *clock_of(const struct import *import)
{
	return import->has_unit || !import->counts.events ? "local" : "counter";
}

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct import *import = arg;
	int r = writer_buffer(writer, "", clock_of(import), PAGE_SIZE_HERE, fail);

	return r ? r : binder_write(import->binder, part, writer, fail);
}

int import_write(struct import *import, int fd, uint64_t *ret_size, struct fail *fail)
{
	static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
					  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	static const char tracer[] = "function_graph\n", mode[] = "import";
	cleanup_buf struct buf cmdlines = BUF_INIT, tgids = BUF_INIT, options = BUF_INIT;
	struct carried carried = { .trace = NULL };
	const struct writer_options form = {
		.version = import->form.version,
		.compress = import->form.compress,
		.level = import->form.level,
		.temporaries = import->form.temporaries,
		.long_size = 8,
		.page_size = PAGE_SIZE_HERE,
	};
	struct writer_setting settings[5];
	struct writer_metadata metadata = { .header_page = header_page,
					    .header_event = "",
					    .version = "weft",
					    .settings = settings,
					    .clock = import->has_unit || !import->counts.events ? "[local]" :
												  "[counter]",
					    .cpu_count = binder_cpus(import->binder) };
	int r = import->kinds ? close_open(import, fail) :
				import_kinds_new(import->formats, false, &import->kinds, fail);

	if (!r)
		r = give_up(import, fail);
	if (r)
		return r;
	if (import->formats) {
		r = carried_init(&carried, import->formats, fail);
		metadata.uname = carried.metadata.uname;
	}
	metadata.formats = (struct writer_format *)(uintptr_t)import_kinds_formats(import->kinds, &metadata.nr_formats);
	if (!import_names_texts(&import->names, &cmdlines, &tgids) ||
	    !buf_add_str(&options, import->has_tgid ? "record-tgid\n" : "norecord-tgid\n") ||
	    !buf_add_str(&options, import->has_no_flags && !import->has_flags ? "noirq-info\n" : "irq-info\n") ||
	    !import_graph_options(&import->graph, &options))
		r = fail_memory(fail);
	metadata.cmdlines = cmdlines.data;
	metadata.cmdlines_len = cmdlines.len;
	metadata.kallsyms = import->names.kallsyms.data;
	metadata.kallsyms_len = import->names.kallsyms.len;
	settings[metadata.nr_settings++] =
		(struct writer_setting){ .name = "trace_options", .text = options.data, .len = options.len };
	settings[metadata.nr_settings++] =
		(struct writer_setting){ .name = "weft/mode", .text = mode, .len = strlen(mode) };
	if (import->graph.seen)
		settings[metadata.nr_settings++] =
			(struct writer_setting){ .name = "current_tracer", .text = tracer, .len = strlen(tracer) };
	if (tgids.len)
		settings[metadata.nr_settings++] =
			(struct writer_setting){ .name = "saved_tgids", .text = tgids.data, .len = tgids.len };
	if (!r)
		r = made_file_write(fd, &form, &metadata, write_buffer, import, ret_size, fail);
	carried_release(&carried);
	return r;
}
