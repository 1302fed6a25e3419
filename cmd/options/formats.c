// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "formats/export/export.h"
#include "formats/kernel/prefix.h"
#include "formats/sink.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/reader/reader.h"

void format_print_schema(const char *schema)
{
	struct fail fail = FAIL_INIT;
	int r = command_write(schema, strlen(schema), &fail);

	exit(r ? command_failed(&fail) : EXIT_OK);
}

void format_take(const struct option_row *row, void *format, char *name, struct argp_state *state)
{
	const struct sink_ops *found = sink_find(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	(void)row;
	*(const struct sink_ops **)format = found;
	if (found)
		return;
	/* As --help does, it ends the program. */
	if (!strcmp(name, "schema"))
		format_print_schema(sink_find("json")->schema);
	for (size_t i = 0; sink_at(i); i++)
		near_offer(&near, sink_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "no format '%s'", name);
	if (export_find(name))
		argp_error(state, "%s: 'weft export --to %s' writes it", fail.text, name);
	argp_error(state, "%s; 'weft list formats' shows them all, and schema is what json looks like", fail.text);
}

bool format_is_escaped(const struct sink_ops *format, const struct sink_options *options)
{
	return terminal_escapes() && !((format->colors || format->columns) && options->color);
}

bool format_is_one_line(const struct sink_options *options)
{
	return terminal_escapes() || options->color;
}

/* The name as it stands in front of lines. If the lines have colours, nothing else escapes it. */
static char *instance_name(const char *name, const struct sink_options *options)
{
	struct escape escape = { .len = 0 };
	struct out out = { .start = NULL };
	char *text = NULL;

	if (!options->color)
		return terminal_line(name);
	if (out_init(&out, 0)) {
		escape_text(&escape, name, strlen(name), &out);
		escape_end(&escape, &out);
		/*
		 * escape_newlines() leaves a newline at the end as it is, so the text gets one more character for a
		 * moment.
		 */
		out_char(&out, '.');
		escape_newlines(&out, 0);
		text = out.failed ? NULL : strndup(out.start, out_len(&out) - 1);
	}
	out_release(&out);
	return text;
}

void format_prefixes_free(char **prefixes)
{
	for (size_t i = 0; prefixes && prefixes[i]; i++)
		free(prefixes[i]);
	free(prefixes);
}

char **format_prefixes(const struct reader *reader, const struct sink_options *options)
{
	char **prefixes = calloc(reader->nr_buffers + 1, sizeof(*prefixes));
	bool ok = prefixes != NULL;
	size_t width = 0;

	for (size_t i = 0; ok && i < reader->nr_buffers; i++) {
		size_t len;

		prefixes[i] = instance_name(reader->buffers[i].context->instance, options);
		len = prefixes[i] ? strlen(prefixes[i]) : 0;
		ok = prefixes[i] != NULL;
		width = len > width ? len : width;
	}
	for (size_t i = 0; ok && i < reader->nr_buffers; i++) {
		char *prefix = prefix_of(prefixes[i], (int)width);

		ok = prefix != NULL;
		if (ok) {
			free(prefixes[i]);
			prefixes[i] = prefix;
		}
	}
	if (ok)
		return prefixes;
	format_prefixes_free(prefixes);
	return NULL;
}

struct told_type {
	size_t buffer;
	uint64_t since; /* raw time of its first record */
	const struct format *format;
	const char *why;
};

static void note_type(struct fields_told *told, size_t buffer, const struct event_type *type)
{
	struct told_type *added;

	for (size_t i = 0; i < told->nr; i++) {
		if (told->types[i].format != type->format)
			continue;
		if (type->since < told->types[i].since)
			told->types[i].since = type->since;
		return;
	}
	added = vec_push(told->types, told->nr);
	if (added)
		*added = (struct told_type){ buffer, type->since, type->format, type->why_fields };
}

void format_note_fields(struct fields_told *told, size_t buffer, const struct events *events)
{
	const struct event_type *type;

	for (size_t i = 0; events_type_at(events, i, &type); i++)
		if (type->why_fields)
			note_type(told, buffer, type);
}

void format_tell_fields(const struct fields_told *told, size_t buffer)
{
	const struct told_type *first = NULL;
	char others[64] = "";
	size_t count = 0;

	for (size_t i = 0; i < told->nr; i++) {
		const struct told_type *type = &told->types[i];

		if (type->buffer != buffer)
			continue;
		count++;
		if (!first || type->since < first->since)
			first = type;
	}
	if (!first)
		return;
	if (count > 1)
		snprintf(others, sizeof(others), ", and so are those of %zu more", count - 1);
	command_warn("note: the fields of event '%s:%s' are printed as name=value%s: %s", first->format->system,
		     first->format->name, others, first->why);
}

void fields_told_release(struct fields_told *told)
{
	free(told->types);
	*told = (struct fields_told){ .types = NULL };
}
