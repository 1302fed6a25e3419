// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/refusals/precheck.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/refusals/error_log.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/refusals/probe.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/instance.h"

/* The text being checked, kept for the caret, and the event that has the fields. */
struct check {
	const struct instance *instance;
	const char *value;
	char system[EVENT_PART_SIZE], event[EVENT_PART_SIZE];
	struct event_fields fields;
	struct fail *fail;
};

static struct text_word name_at(const char *at)
{
	struct text_word name = { .at = at };

	while (text_is_name_char(at[name.len]))
		name.len++;
	return name;
}

static int refuse(const struct check *check, enum fitting fitting, struct text_word name, const char *what)
{
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	struct error_entry entry = {
		.command = { .at = check->value, .len = strlen(check->value) },
		.caret = (size_t)(name.at - check->value),
	};
	char word[EVENT_PART_SIZE];

	snprintf(word, sizeof(word), "%.*s", (int)name.len, name.at);
	if (!buf_addf(&text, "%s '%s'", what, word))
		return fail_memory(check->fail);
	entry.text = (struct text_word){ .at = text.data, .len = text.len };
	if (!error_entry_print(&entry, &words) ||
	    !fitting_print(fitting, check->instance, check->system, check->event, word, &words))
		return fail_memory(check->fail);
	return fail_set(check->fail, -ENOENT, "%s", buf_str(&words));
}

static int check_field(const struct check *check, struct text_word name)
{
	char word[EVENT_PART_SIZE], what[2 * EVENT_PART_SIZE + 32];

	if (!name.len || name.len >= sizeof(word) || isdigit((unsigned char)*name.at))
		return 0;
	memcpy(word, name.at, name.len);
	word[name.len] = '\0';
	if (event_field_is_generic(word) || event_fields_find(&check->fields, word))
		return 0;
	snprintf(what, sizeof(what), "'%s%s%s' has no field", check->system, *check->event ? ":" : "", check->event);
	return refuse(check, FITTING_FIELD, name, what);
}

/* Skips the value after an operator. Inside quotes, && and || belong to the value. */
static const char *next_operand(const char *at)
{
	for (char quote = 0; *at; at++) {
		if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (at[0] == at[1] && (*at == '&' || *at == '|'))
			return at + 2;
	}
	return at;
}

/* Checks FIELD OPERATOR VALUE, joined by && and ||, in parentheses, negated (kernel/trace/trace_events_filter.c). */
static int check_filter(const struct check *check, const char *filter)
{
	int err = 0;

	for (const char *at = filter; !err && *at; at = next_operand(at)) {
		struct text_word name;

		at += strspn(at, " \t\n(!");
		name = name_at(at);
		/* "0" removes a filter. For a bare name the kernel's own message is better. */
		if (name.len && !*(name.at + name.len + strspn(name.at + name.len, " \t\n")))
			return 0;
		err = check_field(check, name);
	}
	return err;
}

/* Checks the elements of keys= and vals=: "prev_pid", "call_site.sym", "common_pid.execname"; not "$var" or "a+b". */
static int check_elements(const struct check *check, const char *at, const char *end)
{
	int err = 0;

	while (!err && at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end, *rest;
		struct text_word name;

		while (at < stop && *at == ' ')
			at++;
		name = name_at(at);
		rest = name.at + name.len;
		if (rest == stop || *rest == '.')
			err = check_field(check, name);
		at = stop + 1;
	}
	return err;
}

static int check_hist(const struct check *check, const char *at, const char *end)
{
	static const char *const lists[] = { "key=", "keys=", "val=", "vals=", "values=" };
	int err = 0;

	while (!err && at < end) {
		const char *colon = memchr(at, ':', (size_t)(end - at)), *stop = colon ? colon : end;

		for (size_t i = 0; !err && i < array_size(lists); i++)
			if ((size_t)(stop - at) > strlen(lists[i]) && !memcmp(at, lists[i], strlen(lists[i])))
				err = check_elements(check, at + strlen(lists[i]), stop);
		at = stop + 1;
	}
	return err;
}

/* Checks "SYSTEM:EVENT..." of enable_event and similar triggers. */
static int check_switched(const struct check *check, const char *at)
{
	cleanup_free char *file = NULL;
	size_t system = strcspn(at, ": "), event;

	if (at[system] != ':')
		return 0;
	event = strcspn(at + system + 1, ": ");
	if (!system || !event)
		return 0;
	if (asprintf(&file, "events/%.*s/%.*s/enable", (int)system, at, (int)event, at + system + 1) < 0) {
		file = NULL;
		return 0;
	}
	if (instance_has(check->instance, file))
		return 0;
	return refuse(check, FITTING_EVENT, (struct text_word){ .at = at, .len = system + 1 + event },
		      "this kernel has no event");
}

static const char *find_if(const char *trigger)
{
	const char *at = strstr(trigger, " if ");

	return at ? at + strlen(" if ") : NULL;
}

static int check_trigger(const struct check *check)
{
	const char *value = check->value, *filter = find_if(value), *colon = strchr(value, ':');
	const char *end = filter ? filter - strlen(" if ") : value + strlen(value);
	int err = 0;

	if (*value == '!')
		return 0;
	if (colon && !strncmp(value, "hist:", 5))
		err = check_hist(check, colon + 1, end);
	else if (colon && (!strncmp(value, "enable_", 7) || !strncmp(value, "disable_", 8)))
		err = check_switched(check, colon + 1);
	return !err && filter ? check_filter(check, filter) : err;
}

/* Checks "e:GROUP/NAME SYSTEM.EVENT [NAME=]$FIELD[:TYPE]... [if FILTER]". */
static int check_event_probe(struct check *check)
{
	const char *at = check->value + strcspn(check->value, " "), *filter = find_if(at), *end;
	struct text_word place, word;
	const char *dot;
	int err = 0;

	if (!text_next_word(&at, " ", &place))
		return 0;
	dot = memchr(place.at, '.', place.len);
	if (!dot)
		dot = memchr(place.at, '/', place.len);
	if (!dot || dot == place.at || place.len >= EVENT_PART_SIZE)
		return 0;
	snprintf(check->system, sizeof(check->system), "%.*s", (int)(dot - place.at), place.at);
	snprintf(check->event, sizeof(check->event), "%.*s", (int)(place.at + place.len - dot - 1), dot + 1);
	err = event_fields_read(check->instance, check->system, check->event, &check->fields, NULL);
	if (err)
		return err == -ENOENT ? refuse(check, FITTING_EVENT, place, "this kernel has no event") : 0;
	end = filter ? filter - strlen(" if ") : check->value + strlen(check->value);
	while (!err && at < end && text_next_word(&at, " ", &word)) {
		const char *dollar = memchr(word.at, '$', word.len);

		/* Some $NAMEs belong to the kernel: $comm, $stack, $arg1... */
		if (dollar && word.at < end && strncmp(dollar, "$stack", 6) && strncmp(dollar, "$arg", 4) &&
		    strncmp(dollar, "$retval", 7))
			err = check_field(check, name_at(dollar + 1));
	}
	return !err && filter ? check_filter(check, filter) : err;
}

/* Checks "p:NAME [MODULE:]FUNCTION[+OFFSET][%return]", "r..." and "f...". */
static int check_function(const struct check *check)
{
	const char *at = check->value + strcspn(check->value, " "), *colon;
	struct text_word place;
	char name[EVENT_PART_SIZE];

	if (!text_next_word(&at, " ", &place) || memchr(place.at, '/', place.len) || isdigit((unsigned char)*place.at))
		return 0;
	for (size_t i = 0; i < place.len; i++)
		if (place.at[i] == '+' || place.at[i] == '%')
			place.len = i;
	if (!place.len || place.len >= sizeof(name))
		return 0;
	memcpy(name, place.at, place.len);
	name[place.len] = '\0';
	colon = strchr(name, ':');
	if (colon)
		name[colon - name] = '\0';
	if (function_exists(NULL, colon ? name : NULL, colon ? colon + 1 : name) != 0)
		return 0;
	if (colon) {
		place.at += colon + 1 - name;
		place.len -= (size_t)(colon + 1 - name);
	}
	return refuse(check, FITTING_FUNCTION, place, "this kernel has no function");
}

int precheck(const struct instance *instance, const char *file, const char *value, struct fail *fail)
{
	struct check check = { .instance = instance, .value = value, .fail = fail };
	enum control_kind kind = control_kind(file);
	int err = 0;

	if (!*value)
		return 0;
	if (kind != CONTROL_FILTER && kind != CONTROL_TRIGGER) {
		if (*value == 'e' && (value[1] == ':' || value[1] == ' '))
			err = check_event_probe(&check);
		else if (strchr("prf", *value) && probe_is_kernel_syntax(value))
			err = check_function(&check);
	} else if (event_of_file(file, check.system, check.event) &&
		   !event_fields_read(instance, check.system, *check.event ? check.event : NULL, &check.fields, NULL)) {
		err = kind == CONTROL_FILTER ? check_filter(&check, value) : check_trigger(&check);
	}
	event_fields_release(&check.fields);
	return err;
}
