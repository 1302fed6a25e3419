// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which types of events occur, were recorded, or are missing. */
#include "lib/analysis/pass.h"

#include "lib/analysis/findings.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/reader/reader.h"

#include <stdio.h>
#include <string.h>

bool pass_is_named(const char *patterns, const char *name)
{
	struct text_word word;
	char pattern[256];

	while (patterns && text_next_word(&patterns, ",", &word)) {
		snprintf(pattern, sizeof(pattern), "%.*s%s", (int)word.len, word.at,
			 memchr(word.at, ':', word.len) ? "" : ":*");
		if (text_glob(pattern, name))
			return true;
	}
	return false;
}

static bool has_line(const char *names, const char *patterns)
{
	struct text_word word;
	char name[256];

	while (text_next_word(&names, "\n", &word)) {
		snprintf(name, sizeof(name), "%.*s", (int)word.len, word.at);
		if (pass_is_named(patterns, name))
			return true;
	}
	return false;
}

/* Returns whether such an event occurs, or was enabled and did not happen. */
static bool has_event(const struct reader_buffer *buffer, const char *patterns)
{
	const char *on = buffer->context->switched_on;
	const struct event_type *type;
	char name[256];

	for (size_t at = 0; buffer->events && events_type_at(buffer->events, at, &type); at++) {
		if (!type->format)
			continue;
		snprintf(name, sizeof(name), "%s:%s", type->format->system, type->format->name);
		if (pass_is_named(patterns, name))
			return true;
	}
	return on && has_line(on, patterns);
}

int pass_note_types(struct pass *pass, const struct reader *reader, struct fail *fail)
{
	const struct event_type *type;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++)
			if (type->format &&
			    !buf_addf(&pass->types, "%s:%s\n", type->format->system, type->format->name))
				return fail_memory(fail);
	/* As a string. */
	(void)buf_str(&pass->types);
	return 0;
}

bool pass_has(const struct pass *pass, const char *patterns)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (has_event(&pass->reader->buffers[i], patterns))
			return true;
	return pass->types.len && has_line(pass->types.data, patterns);
}

bool pass_recorded(const struct pass *pass, const struct analysis_want *want)
{
	return pass_has(pass, want->event) || pass_has(pass, want->instead);
}

static bool is_x86(const char *machine)
{
	return !strncmp(machine, "x86", strlen("x86")) ||
	       (strlen(machine) == 4 && machine[0] == 'i' && !strcmp(machine + 2, "86"));
}

/*
 * Adds the words of a list of events that the traced machine has: exceptions are of x86 only, and so are irq_vectors,
 * beside which other machines have their interrupts in the rest of the list.
 */
static bool list_there(const struct pass *pass, const char *list, struct buf *into)
{
	bool all = !*pass->machine || is_x86(pass->machine) || !strcmp(list, "irq_vectors"), ok = true;
	struct text_word word;

	while (ok && text_next_word(&list, ",", &word)) {
		if (!all &&
		    (text_word_is(word, "irq_vectors") ||
		     (word.len > strlen("exceptions:") && !memcmp(word.at, "exceptions:", strlen("exceptions:")))))
			continue;
		ok = buf_addf(into, "%s%.*s", into->len ? "," : "", (int)word.len, word.at);
	}
	return ok;
}

/* -e cannot record the events that a tracer writes. */
static void put_missing(const struct pass *pass, struct findings *findings, const struct analysis_ops *ops,
			const struct analysis_want *want)
{
	bool traced = ops->tracer && !strncmp(want->event, "ftrace:", strlen("ftrace:"));
	cleanup_buf struct buf list = BUF_INIT;

	if (!list_there(pass, want->event, &list))
		findings->failed = true;
	else if (list.len)
		findings_missing(findings, traced ? "-p" : "-e", traced ? ops->tracer : buf_str(&list), want->what_for);
}

void pass_missing(const struct pass *pass, const struct analysis_ops *ops, size_t nr, struct findings *findings)
{
	for (size_t i = 0; i < nr && ops->wants[i].event; i++)
		if (!pass_recorded(pass, &ops->wants[i]))
			put_missing(pass, findings, ops, &ops->wants[i]);
}
