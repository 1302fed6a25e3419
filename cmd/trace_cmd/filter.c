// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/trace_cmd/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"

/* Any event meets it: for -F EVENT without an expression. */
static const char always[] = "common_type >= 0";

void trace_cmd_filters_release(struct trace_cmd_filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++)
		free(filters->at[i].text);
	free(filters->at);
}

/* Takes the text. */
static int add(struct trace_cmd_filters *filters, char *text, bool negated)
{
	struct trace_cmd_filter *added = text ? vec_push(filters->at, filters->nr) : NULL;

	if (!added) {
		free(text);
		command_warn("out of memory");
		return -TRACE_CMD_USAGE;
	}
	*added = (struct trace_cmd_filter){ .text = text, .negated = negated };
	return 0;
}

/* One star stands for several. */
static bool put_star(struct buf *buf, size_t start)
{
	return (buf->len > start && buf->data[buf->len - 1] == '*') || buf_add(buf, "*", 1);
}

bool trace_cmd_put_glob(struct buf *buf, const char *at, const char *end)
{
	size_t start = buf->len;
	bool tied = at < end && *at == '^', ok = tied || buf_add(buf, "*", 1);

	for (at += tied; ok && at < end; at++) {
		if (*at == '$' && at + 1 == end)
			return true;
		if (*at == '.' && at + 1 < end && at[1] == '*') {
			ok = put_star(buf, start);
			at++;
		} else if (*at == '*') {
			ok = put_star(buf, start);
		} else if (*at == '\\' && at + 1 < end) {
			ok = buf_add(buf, ++at, 1);
		} else {
			ok = buf_add(buf, *at == '.' ? "?" : at, 1);
		}
	}
	return ok && put_star(buf, start);
}

/* The same expression in the kernel's language: its globs stand for =~ and !~. */
static bool put_expression(struct buf *buf, const char *at)
{
	bool ok = true, is_regex = false;

	while (ok && *at) {
		if (*at == '"' || *at == '\'') {
			const char *end = strchr(at + 1, *at);

			if (!end)
				end = at + strlen(at);
			ok = buf_add(buf, "\"", 1) &&
			     (is_regex ? trace_cmd_put_glob(buf, at + 1, end) :
					 buf_add(buf, at + 1, (size_t)(end - at - 1))) &&
			     buf_add(buf, "\"", 1);
			at = *end ? end + 1 : end;
			is_regex = false;
		} else if ((*at == '=' || *at == '!') && at[1] == '~') {
			ok = buf_add(buf, *at == '!' ? "!~" : "~", *at == '!' ? 2 : 1);
			at += 2;
			is_regex = true;
		} else {
			ok = buf_add(buf, at++, 1);
		}
	}
	return ok;
}

/* A name of an event: a regular expression that fits the whole name. */
static bool put_event(struct buf *buf, const char *at, size_t len)
{
	bool ok = true;

	for (; len && isspace((unsigned char)*at); at++)
		len--;
	for (size_t i = 0; ok && i < len; i++) {
		if (isspace((unsigned char)at[i]))
			continue;
		if (at[i] == '.' && i + 1 < len && at[i + 1] == '*') {
			ok = buf_add(buf, "*", 1);
			i++;
		} else {
			ok = buf_add(buf, at[i] == '.' ? "?" : at + i, 1);
		}
	}
	return ok;
}

static char *filter_of(const char *event, size_t len, const char *expression)
{
	struct buf buf = { 0 };
	bool ok = put_event(&buf, event, len) && buf_add(&buf, ": ", 2) &&
		  (*expression ? put_expression(&buf, expression) : buf_add(&buf, always, strlen(always))) &&
		  buf_add(&buf, "", 1);
	char *text = ok ? strdup((const char *)buf.data) : NULL;

	buf_release(&buf);
	return text;
}

int trace_cmd_filter_add(struct trace_cmd_filters *filters, const char *text, bool negated)
{
	const char *colon = strchr(text, ':');
	size_t names = colon ? (size_t)(colon - text) : strlen(text);
	const char *expression = colon ? colon + 1 + strspn(colon + 1, " \t") : "";
	int r = 0;

	for (size_t at = 0; !r && at < names;) {
		size_t len = strcspn(text + at, ",:");

		r = add(filters, filter_of(text + at, len, expression), negated);
		at += len + 1;
	}
	return r;
}

static bool any_event_has(struct trace *trace, const char *field)
{
	const struct trace_format *formats;
	char text[64];
	size_t nr;

	snprintf(text, sizeof(text), " %s;", field);
	formats = trace_formats(trace, &nr);
	for (size_t i = 0; i < nr; i++)
		if (formats[i].text.text && strstr(formats[i].text.text, text))
			return true;
	return false;
}

/* One filter has as many tasks as the language allows for, because each event meets each filter. */
enum { TASKS_IN_FILTER = 200 };

struct task_list {
	char **at; /* PIDs, owned */
	size_t nr;
};

static int add_task(struct task_list *tasks, const char *pid, size_t len)
{
	char *text = strndup(pid, len), **added = text ? vec_push(tasks->at, tasks->nr) : NULL;

	if (!added) {
		free(text);
		command_warn("out of memory");
		return -TRACE_CMD_USAGE;
	}
	*added = text;
	return 0;
}

/* "FIELD == PID || FIELD == PID": NULL without memory. */
static char *tasks_filter(const char *field, const struct task_list *tasks, size_t from)
{
	cleanup_buf struct buf buf = BUF_INIT;
	bool ok = true;

	for (size_t i = from; ok && i < tasks->nr && i - from < TASKS_IN_FILTER; i++)
		ok = buf_addf(&buf, "%s%s == %s", i == from ? "" : " || ", field, tasks->at[i]);
	return ok ? strdup(buf_str(&buf)) : NULL;
}

/* The events of tasks, and those that tell of one. */
static int add_tasks(struct trace_cmd_filters *filters, const struct task_list *tasks, struct trace *trace)
{
	static const char *const fields[] = { "common_pid", "pid", "next_pid" };
	int r = 0;

	for (size_t i = 0; !r && i < array_size(fields); i++) {
		size_t nr = any_event_has(trace, fields[i]) ? tasks->nr : 0;

		for (size_t from = 0; !r && from < nr; from += TASKS_IN_FILTER)
			r = add(filters, tasks_filter(fields[i], tasks, from), false);
	}
	return r;
}

/* The tasks of a name, as the file's list of tasks has them. */
static int add_comm(struct task_list *tasks, const char *comm, struct trace *trace, struct fail *fail)
{
	struct trace_text names;
	int r = trace_meta(trace, TRACE_CMDLINES, &names, fail);
	size_t before = tasks->nr;

	for (const char *line = names.text, *end; !r && line && *line; line = *end ? end + 1 : end) {
		size_t digits = strspn(line, "0123456789");

		end = line + strcspn(line, "\n");
		if (digits && digits < 16 && line[digits] == ' ' && (size_t)(end - line) == digits + 1 + strlen(comm) &&
		    !memcmp(line + digits + 1, comm, strlen(comm)))
			r = add_task(tasks, line, digits);
	}
	if (!r && tasks->nr == before)
		command_warn("no task of the file is called '%s'", comm);
	return r;
}

int trace_cmd_filters_apply(struct trace_cmd_filters *filters, const struct option_words *pids,
			    const struct option_words *comms, struct trace *trace, struct query *query,
			    struct fail *fail)
{
	struct task_list tasks = { .nr = 0 };
	int r = 0;

	for (size_t i = 0; !r && i < pids->len; i++)
		r = add_task(&tasks, pids->at[i], strlen(pids->at[i]));
	for (size_t i = 0; !r && i < comms->len; i++)
		r = add_comm(&tasks, comms->at[i], trace, fail);
	if (!r)
		r = add_tasks(filters, &tasks, trace);
	for (size_t i = 0; i < tasks.nr; i++)
		free(tasks.at[i]);
	free(tasks.at);
	for (size_t i = 0; !r && i < filters->nr; i++) {
		query->invert = filters->at[i].negated;
		r = query_add_filter(query, filters->at[i].text, fail);
	}
	return r;
}

int trace_cmd_filters_print(const struct trace_cmd_filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++)
		printf("'%s'%s\n", filters->at[i].text, filters->at[i].negated ? " (not)" : "");
	return 0;
}
