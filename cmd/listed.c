// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/command.h"
#include "cmd/options/decode.h"
#include "cmd/options/kernel.h"
#include "cmd/options/reading.h"
#include "lib/answers/tally/call_list.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/trace/trace.h"

struct listed_text {
	struct text_word system, name;
	struct trace_text text;
};

bool list_wanted(struct list *list, const char *name)
{
	bool any = !list->nr_globs;

	for (size_t i = 0; i < list->nr_globs; i++) {
		if (!text_glob(list->globs[i], name))
			continue;
		list->matched[i] = true;
		any = true;
	}
	return any;
}

struct json *list_row(struct list *list)
{
	json_init(&list->row, &list->rows);
	json_object(&list->row);
	return &list->row;
}

void list_row_end(struct list *list)
{
	size_t *end = vec_push(list->ends, list->nr_rows);

	if (list->answer.is_json)
		json_end(&list->row);
	if (end)
		*end = out_len(&list->rows);
	list->rows.failed |= !end;
}

void listed_close(struct listed *listed)
{
	if (listed->context)
		decode_close(listed->context);
	catalog_free(listed->catalog);
	free(listed->texts);
	if (listed->own_context) {
		schema_free(listed->context->schema);
		free(listed->context);
	} else {
		context_free(listed->context);
	}
	for (size_t i = 0; i < listed->nr_kept; i++)
		free(listed->kept[i]);
	free(listed->kept);
	trace_free(listed->trace);
}

int listed_read(const struct listed *listed, const char *file, struct buf *buf, struct fail *fail)
{
	struct trace_text text;

	if (!listed->trace)
		return instance_read(listed->kernel->instance, file, buf, fail);
	text = trace_setting(listed->trace, listed->buffer, file);
	if (!text.text)
		return fail_set(fail, -ENOENT, "'%s' does not contain '%s' of the traced kernel",
				trace_path(listed->trace), file);
	return buf_add(buf, text.text, text.len) ? 0 : fail_memory(fail);
}

/* The name in the first line of a format, "name: sched_switch". False: there is none that can be told from a system. */
static bool read_name(const struct trace_format *format, struct listed_text *ret)
{
	static const char begin[] = "name: ";
	size_t len = strlen(begin), end;

	if (format->text.len <= len || memcmp(format->text.text, begin, len) || !format->system.len)
		return false;
	end = strcspn(format->text.text + len, "\n:");
	if (!end || format->text.text[len + end] != '\n' || strcspn(format->system.text, "\n:") != format->system.len)
		return false;
	*ret = (struct listed_text){
		.system = { .at = format->system.text, .len = format->system.len },
		.name = { .at = format->text.text + len, .len = end },
		.text = format->text,
	};
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct listed_text *one = a, *other = b;
	int order = text_word_compare(one->system, other->system);

	return order ? order : text_word_compare(one->name, other->name);
}

/* The events of a file in the form of available_events, sorted. */
static int events_of_file(struct listed *listed, struct fail *fail)
{
	const struct trace_format *formats;
	cleanup_buf struct buf names = BUF_INIT;
	size_t count, nr = 0;

	formats = trace_formats(listed->trace, &count);
	listed->texts = calloc(count + 1, sizeof(*listed->texts));
	if (!listed->texts)
		return fail_memory(fail);
	for (size_t i = 0; i < count; i++)
		if (listed->ftrace || strcmp(formats[i].system.text, "ftrace"))
			nr += read_name(&formats[i], &listed->texts[nr]);
	qsort(listed->texts, nr, sizeof(*listed->texts), by_name);
	for (size_t i = 0; i < nr; i++)
		if (!buf_addf(&names, "%.*s:%.*s\n", (int)listed->texts[i].system.len, listed->texts[i].system.at,
			      (int)listed->texts[i].name.len, listed->texts[i].name.at))
			return fail_memory(fail);
	return catalog_of(buf_str(&names), &listed->catalog, fail);
}

static int add_ftrace(const char *name, void *names)
{
	return buf_addf(names, "ftrace:%s\n", name) ? 0 : -ENOMEM;
}

/* All events that have a format. The order of a folder is none. */
static int events_and_ftrace(struct listed *listed, struct fail *fail)
{
	struct instance top = instance_top(&listed->kernel->tracing);
	cleanup_buf struct buf names = BUF_INIT;
	int err = instance_read(&top, "available_events", &names, fail);

	if (!err)
		err = event_each_ftrace(&top, add_ftrace, &names, fail);
	if (err == -ENOMEM)
		return fail_memory(fail);
	return err ? err : catalog_of(buf_str(&names), &listed->catalog, fail);
}

int listed_events(struct listed *listed, struct fail *fail)
{
	if (listed->catalog)
		return 0;
	if (listed->trace)
		return events_of_file(listed, fail);
	return listed->ftrace ? events_and_ftrace(listed, fail) :
				catalog_new(&listed->kernel->tracing, &listed->catalog, fail);
}

/* Appends the text of `format` of an event of the catalog. */
static int listed_format(struct listed *listed, size_t event, struct buf *buf, struct fail *fail)
{
	const struct catalog_event *at = &listed->catalog->events[event];

	if (!listed->trace)
		return event_format(listed->kernel->instance, at->system, at->name, buf, fail);
	return buf_add(buf, listed->texts[event].text.text, listed->texts[event].text.len) ? 0 : fail_memory(fail);
}

static int add_format(struct listed *listed, size_t event, struct fail *fail)
{
	const struct catalog_event *at = &listed->catalog->events[event];
	cleanup_buf struct buf text = BUF_INIT;
	int err = listed_format(listed, event, &text, fail);
	size_t len = text.len;
	char **kept;

	/* An event may have gone meanwhile. */
	if (err)
		return err == -ENOENT ? 0 : err;
	kept = vec_push(listed->kept, listed->nr_kept);
	if (kept)
		*kept = buf_take(&text, NULL);
	if (!kept || !*kept)
		return fail_memory(fail);
	err = schema_add(listed->context->schema, at->system, strlen(at->system), *kept, len, fail);
	return err == -EBADMSG ? 0 : err;
}

static int schema_of_kernel(struct listed *listed, const char *system, struct fail *fail)
{
	struct utsname name;
	int err = listed_events(listed, fail);

	if (err)
		return err;
	listed->context = calloc(1, sizeof(*listed->context));
	if (!listed->context)
		return fail_memory(fail);
	listed->own_context = true;
	listed->context->abi.long_size = sizeof(long);
	if (!uname(&name))
		snprintf(listed->context->machine, sizeof(listed->context->machine), "%.*s",
			 (int)sizeof(listed->context->machine) - 1, name.machine);
	err = schema_new(&listed->context->abi, &listed->context->schema, fail);
	for (size_t i = 0; !err && i < listed->catalog->nr; i++)
		if (!system || !strcmp(listed->catalog->events[i].system, system))
			err = add_format(listed, i, fail);
	return err;
}

/* Makes `context` with the formats of the events of a system; NULL: of all of them. A second call does nothing. */
static int listed_schema(struct listed *listed, const char *system, struct fail *fail)
{
	if (listed->context)
		return 0;
	return listed->trace ? context_new(listed->trace, listed->buffer, &listed->context, fail) :
			       schema_of_kernel(listed, system, fail);
}

static int find_buffer(struct listed *listed, struct fail *fail)
{
	const char *name = listed->kernel->name;

	if (!name || trace_find_buffer(listed->trace, name, &listed->buffer))
		return 0;
	return fail_set(fail, -ENOENT, "'%s' has no instance '%s'", trace_path(listed->trace), name);
}

static int open_file(struct listed *listed, const char *input, bool plugins, struct fail *fail)
{
	int err = reading_open(input, &(struct reading){ .opens_more = plugins }, &listed->trace, fail);

	if (!err)
		err = find_buffer(listed, fail);
	if (!err && plugins)
		err = listed_schema(listed, NULL, fail);
	if (!err && plugins)
		err = decode_open(&(struct decode){ .wanted = true }, listed->context, fail);
	return err || !plugins ? err : trace_sandbox(listed->trace, fail);
}

int listed_open(struct listed *listed, const char *input, bool plugins, struct fail *fail)
{
	int err;

	if (input)
		return open_file(listed, input, plugins, fail);
	err = kernel_open(listed->kernel, NULL, fail);
	if (!err && plugins)
		err = listed_schema(listed, NULL, fail);
	return err || !plugins ? err : decode_open(&(struct decode){ .wanted = true }, listed->context, fail);
}

/* The same as the kernel's text. */
static int put_event(struct list *list, size_t event, struct fail *fail)
{
	const struct catalog_event *of = &list->listed.catalog->events[event];
	cleanup_buf struct buf buf = BUF_INIT;
	int err = list->full ? listed_format(&list->listed, event, &buf, fail) : 0;
	struct json *json = list_row(list);

	answer_text(json, "system", of->system);
	answer_text(json, "name", of->name);
	if (list->full)
		answer_text(json, "format", buf_str(&buf));
	list_row_end(list);
	return err;
}

/* Prints an event's ID, fields and print fmt, as the kernel describes them. */
static int print_format(struct list *list, size_t event, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = listed_format(&list->listed, event, &buf, fail);

	if (err)
		return err;
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &line)) {
		if (line.len > 7 && !memcmp(line.at, "\tfield:", 7))
			out_f(&list->rows, "    %.*s\n", (int)line.len - 7, line.at + 7);
		else if ((line.len > 4 && !memcmp(line.at, "ID: ", 4)) ||
			 (line.len > 10 && !memcmp(line.at, "print fmt:", 10)))
			out_f(&list->rows, "    %.*s\n", (int)line.len, line.at);
	}
	return 0;
}

static bool names_ftrace(const char *glob)
{
	static const char system[] = "ftrace";

	return !strncmp(glob, system, strlen(system)) && strchr(":/", glob[strlen(system)]);
}

/* Chooses the events of the globs; of all without one. */
static int choose_events(struct list *list, struct event_set *set, struct fail *fail)
{
	int err;

	for (size_t i = 0; i < list->nr_globs; i++)
		list->listed.ftrace |= names_ftrace(list->globs[i]);
	err = listed_events(&list->listed, fail);
	set->catalog = list->listed.catalog;
	if (!err && !list->nr_globs && set->catalog->nr)
		err = event_set_add(set, set->catalog, "all", fail);
	for (size_t i = 0; !err && i < list->nr_globs; i++)
		err = event_set_add(set, set->catalog, list->globs[i], fail);
	memset(list->matched, true, sizeof(list->matched));
	return err;
}

int list_events(struct list *list, struct fail *fail)
{
	struct event_set set = { 0 };
	int err = choose_events(list, &set, fail);

	for (size_t i = 0; !err && i < set.catalog->nr; i++) {
		const struct catalog_event *event = &set.catalog->events[i];

		if (!event_set_has(&set, i))
			continue;
		if (list->answer.is_json) {
			err = put_event(list, i, fail);
			continue;
		}
		out_f(&list->rows, "%s:%s\n", event->system, event->name);
		if (list->full)
			err = print_format(list, i, fail);
		list_row_end(list);
	}
	event_set_release(&set);
	return err;
}

/* Whether a system call was asked for, by its name or its number. */
static bool call_wanted(struct list *list, const struct call_row *row)
{
	bool any = list_wanted(list, row->name);
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, row->number);
	for (size_t i = 0; i < list->nr_globs && row->number >= 0; i++)
		if (!strcmp(list->globs[i], number))
			list->matched[i] = any = true;
	return any;
}

static void put_call(const struct call_row *row, struct json *json)
{
	json_key(json, "number");
	if (row->number < 0)
		json_put_null(json);
	else
		json_put_s64(json, row->number);
	answer_text(json, "name", row->name);
	answer_text(json, "arguments", row->arguments);
}

static int print_call(const struct call_row *row, void *data)
{
	struct list *list = data;

	if (!call_wanted(list, row))
		return 0;
	if (list->answer.is_json) {
		put_call(row, list_row(list));
		list_row_end(list);
		return 0;
	}
	if (row->number < 0)
		out_f(&list->rows, "-\t%s", row->name);
	else
		out_f(&list->rows, "%" PRId64 "\t%s", row->number, row->name);
	if (row->arguments)
		out_f(&list->rows, "\t%s", *row->arguments ? row->arguments : "void");
	out_char(&list->rows, '\n');
	list_row_end(list);
	return 0;
}

int list_calls(struct list *list, struct fail *fail)
{
	int err = listed_schema(&list->listed, "syscalls", fail);

	if (!err && !*list->listed.context->machine)
		command_warn("note: '%s' does not say on which machine it was recorded, so the calls have no numbers",
			     list->input);
	return err ? err : call_list_each(list->listed.context, print_call, list, fail);
}

/* Prints the events to which a plugin adds facts (weft report --decode). */
int list_plugins(struct list *list, struct fail *fail)
{
	const char *system, *name;
	int32_t id;

	(void)fail;
	for (size_t i = 0; schema_at(list->listed.context->schema, i, &id, &system, &name); i++) {
		const struct format *format = schema_format(list->listed.context->schema, id, NULL);

		if (!format || !plugins_decoder(list->listed.context->plugins, format) || !list_wanted(list, system))
			continue;
		if (list->answer.is_json) {
			struct json *json = list_row(list);

			answer_text(json, "system", system);
			answer_text(json, "name", name);
		} else {
			out_f(&list->rows, "%s:%s\n", system, name);
		}
		list_row_end(list);
	}
	return 0;
}
