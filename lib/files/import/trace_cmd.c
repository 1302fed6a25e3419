// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/import_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/graph_text_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/ground/base/cleanup.h"

/* The text of an event begins in this column. */
enum { COLUMN = 22, DIGITS_MAX = 10, HEX_MAX = 16 };

/* A part of a line. */
struct part {
	const char *at;
	size_t len;
};

static struct part until(const char *at, const char *end)
{
	return (struct part){ at, (size_t)(end - at) };
}

static bool is(struct part part, const char *text)
{
	return part.len == strlen(text) && !memcmp(part.at, text, part.len);
}

static bool begins(struct part part, const char *text)
{
	return part.len >= strlen(text) && !memcmp(part.at, text, strlen(text));
}

static struct part behind(struct part part, size_t len)
{
	return (struct part){ part.at + len, part.len - len };
}

static bool add(struct buf *to, const char *before, struct part part)
{
	return buf_add_str(to, before) && buf_add(to, part.at, part.len);
}

/* Takes a decimal number, with its sign, off the end of the part. */
static bool cut_number(struct part *part, struct part *ret)
{
	size_t len = part->len;

	while (len && isdigit((unsigned char)part->at[len - 1]))
		len--;
	if (part->len - len < 1 || part->len - len > DIGITS_MAX)
		return false;
	len -= len && part->at[len - 1] == '-';
	*ret = until(part->at + len, part->at + part->len);
	part->len = len;
	return true;
}

static bool cut(struct part *part, const char *end)
{
	size_t len = strlen(end);

	if (part->len < len || memcmp(part->at + part->len - len, end, len))
		return false;
	part->len -= len;
	return true;
}

struct task {
	struct part comm, pid, prio;
};

/* Reads "kworker/0:1:126 [120]". */
static bool take_task(struct part part, struct task *task)
{
	if (!cut(&part, "]") || !cut_number(&part, &task->prio) || !cut(&part, " [") ||
	    !cut_number(&part, &task->pid) || !cut(&part, ":"))
		return false;
	task->comm = part;
	return true;
}

static bool add_task(struct buf *to, const char *before, const char *pid, const char *prio, const struct task *task)
{
	return add(to, before, task->comm) && add(to, pid, task->pid) && add(to, prio, task->prio);
}

/*
 * The plugin calls the bits of a state "SDTtZXxW", as kernels before 4.14 did. Since then, the bit of W is that of an
 * idle kernel thread, I; before, it was that of K, which was never alone. What Z, X and x stand for depends on the
 * kernel, but each is a task that has ended.
 */
static bool add_state(struct buf *to, struct part state)
{
	if (is(state, "W"))
		return buf_add_str(to, "I");
	for (size_t i = 0; i < state.len; i++)
		if (!buf_add(to, state.at[i] == 'W' ? "K" : &state.at[i], 1))
			return false;
	return true;
}

/* Reads "sh:62 [120] S ==> cat:70 [120]". A task's name may have any of these characters. */
static bool take_switch(struct part text, struct buf *to)
{
	static const char arrow[] = " ==> ";
	const char *end = text.at + text.len, *at = text.at;

	while ((at = memmem(at, (size_t)(end - at), arrow, strlen(arrow)))) {
		struct task prev, next;
		struct part left = until(text.at, at), right = until(at + strlen(arrow), end), state;
		const char *blank = memrchr(left.at, ' ', left.len);

		at++;
		if (!blank)
			continue;
		state = until(blank + 1, left.at + left.len);
		left.len = (size_t)(blank - left.at);
		if (!state.len || !take_task(left, &prev) || !take_task(right, &next))
			continue;
		return add_task(to, "sched_switch: prev_comm=", " prev_pid=", " prev_prio=", &prev) &&
		       buf_add_str(to, " prev_state=") && add_state(to, state) &&
		       add_task(to, " ==> next_comm=", " next_pid=", " next_prio=", &next);
	}
	return false;
}

/* Reads "cat:70 [120] success=1 CPU:001"; newer kernels have no success. */
static bool take_wakeup(struct part name, struct part text, struct buf *to)
{
	struct part cpu, success = { NULL, 0 };
	struct task task;

	if (!cut_number(&text, &cpu) || !cut(&text, " CPU:"))
		return false;
	if (!take_task(text, &task) && (!cut_number(&text, &success) || !cut(&text, " success=")))
		return false;
	return take_task(text, &task) && buf_add(to, name.at, name.len) &&
	       add_task(to, ": comm=", " pid=", " prio=", &task) && (!success.len || add(to, " success=", success)) &&
	       add(to, " target_cpu=", cpu);
}

/* Takes "0x0000001f" off the beginning of the part, without the zeros. */
static bool take_hex(struct part *part, struct part *ret)
{
	size_t len = 2, zeros = 2;

	if (!begins(*part, "0x"))
		return false;
	while (len < part->len && isxdigit((unsigned char)part->at[len]))
		len++;
	if (len == 2 || len > 2 + HEX_MAX)
		return false;
	while (zeros + 1 < len && part->at[zeros] == '0')
		zeros++;
	*ret = until(part->at + zeros, part->at + len);
	*part = behind(*part, len);
	return true;
}

/* Reads "fd: 0x00000003, buf: 0x7ffdf610b380", which the kernel prints as "sys_read(fd: 3, buf: 7ffdf610b380)". */
static bool take_enter(struct part name, struct part text, struct buf *to)
{
	bool first = true;

	while (text.len && text.at[text.len - 1] == ' ')
		text.len--;
	if (!add(to, "sys_", name) || !buf_add_str(to, "("))
		return false;
	for (; text.len; first = false) {
		struct part argument, value;
		const char *colon;

		if (!first && !begins(text, ", "))
			return false;
		text = behind(text, first ? 0 : 2);
		colon = memmem(text.at, text.len, ": ", 2);
		if (!colon)
			return false;
		argument = until(text.at, colon + 2);
		text = behind(text, argument.len);
		if (!take_hex(&text, &value) || !add(to, first ? "" : ", ", argument) || !add(to, "", value))
			return false;
	}
	return buf_add_str(to, ")");
}

static bool take_exit(struct part name, struct part text, struct buf *to)
{
	struct part value;

	return take_hex(&text, &value) && !text.len && add(to, "sys_", name) && add(to, " -> 0x", value);
}

/* Reads "   vfs_statx", whose blanks show its depth, also with "<-- vfs_fstatat". */
static bool take_function(struct part text, struct buf *to)
{
	static const char arrow[] = " <-- ";
	const char *at;

	while (text.len && *text.at == ' ')
		text = behind(text, 1);
	at = memmem(text.at, text.len, arrow, strlen(arrow));
	if (!at)
		return text.len && !memchr(text.at, ' ', text.len) && add(to, "", text);
	return add(to, "", until(text.at, at)) && add(to, " <-", until(at + strlen(arrow), text.at + text.len));
}

static bool take_form(struct part name, struct part text, struct buf *to)
{
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_";

	if (is(name, "sched_switch"))
		return take_switch(text, to);
	if (is(name, "sched_wakeup") || is(name, "sched_wakeup_new"))
		return take_wakeup(name, text, to);
	if (is(name, "function"))
		return take_function(text, to);
	if (is(name, "kernel_stack"))
		return begins(text, "<stack trace") && buf_add_str(to, "<stack trace>");
	if (is(name, "user_stack"))
		return begins(text, "\t=> ") && buf_add_str(to, "<user stack trace>");
	if (is(name, "print"))
		return begins(text, "tracing_mark_write: ") && add(to, "", text);
	if (begins(name, enter) && name.len > strlen(enter))
		return take_enter(behind(name, strlen(enter)), text, to);
	if (begins(name, leave) && name.len > strlen(leave))
		return take_exit(behind(name, strlen(leave)), text, to);
	return false;
}

/* Splits "sched_switch:         sh:62 ..." at its column. *ret_padded: blanks fill the column. */
static bool split(const struct head *head, struct part *name, struct part *text, bool *ret_padded)
{
	const char *colon = memchr(head->body, ':', head->body_len);
	struct part body = { head->body, head->body_len };
	size_t start;

	if (!colon || colon == head->body)
		return false;
	*name = until(head->body, colon);
	for (size_t i = 0; i < name->len; i++)
		if (!isalnum((unsigned char)name->at[i]) && name->at[i] != '_')
			return false;
	start = name->len + 2 > COLUMN ? name->len + 2 : COLUMN;
	*ret_padded = start > name->len + 2;
	/* A mail may have cut blanks off the end of the line. */
	start = start < body.len ? start : body.len;
	for (size_t i = name->len + 1; i < start; i++)
		if (body.at[i] != ' ')
			return false;
	*text = behind(body, start);
	return true;
}

bool trace_cmd_header(const char *line, size_t len)
{
	struct part part = { line, len };

	if (!begins(part, "cpus=") || len == 5 || len > 10)
		return false;
	for (size_t i = 5; i < len; i++)
		if (!isdigit((unsigned char)line[i]))
			return false;
	return true;
}

enum trace_cmd_what trace_cmd_read(struct trace_cmd *reader, bool kernels, struct head *head, struct graph_text *graph)
{
	struct part name, text;
	bool padded;

	if (head->is_perf) {
		name = until(head->body, memchr(head->body, ':', head->body_len));
		text = behind((struct part){ head->body, head->body_len }, name.len + 1);
		text = behind(text, text.len > 0);
	} else {
		if ((kernels && !reader->is) || !split(head, &name, &text, &padded) || (!padded && !reader->is) ||
		    is(name, "tracing_mark_write"))
			return TRACE_CMD_NOTHING;
		reader->is |= text.len > 0;
	}
	if ((is(name, "funcgraph_entry") || is(name, "funcgraph_exit")) &&
	    graph_text_columns(text.at, text.len, head, graph))
		return TRACE_CMD_GRAPH;
	buf_clear(&reader->body);
	if (!take_form(name, text, &reader->body)) {
		buf_clear(&reader->body);
		if (!add(&reader->body, "", name) || !add(&reader->body, ": ", text))
			return TRACE_CMD_STARVED;
	}
	head->body = buf_str(&reader->body);
	head->body_len = reader->body.len;
	return TRACE_CMD_EVENT;
}

bool trace_cmd_caller(struct trace_cmd *reader, const char *line, size_t len)
{
	static const char zeros[] = "0000000000000000";
	struct part text = { line, len }, value;
	const char *open = memmem(line, len, " (", 2);

	buf_clear(&reader->body);
	if (begins(text, "\t=> ")) {
		text = behind(text, 4);
		return take_hex(&text, &value) && buf_add_str(&reader->body, " =>  <") &&
		       buf_add(&reader->body, zeros, HEX_MAX - value.len) && add(&reader->body, "", value) &&
		       buf_add_str(&reader->body, ">");
	}
	while (begins(text, " "))
		text = behind(text, 1);
	if (!begins(text, "=> "))
		return false;
	text = behind(text, 3);
	/* A trampoline of ftrace is this number in the record (FTRACE_TRAMPOLINE_MARKER). */
	if (is(text, "7fffffff"))
		return buf_add_str(&reader->body, " => [FTRACE TRAMPOLINE]");
	return add(&reader->body, " => ", open ? until(text.at, open) : text);
}
