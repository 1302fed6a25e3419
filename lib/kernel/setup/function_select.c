// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

/*
 * With this many names or more, it is faster to read the kernel's list once and to write indexes: for each name the
 * kernel would compare its whole list.
 */
enum { NAMES_BY_PLACE = 8 };

static const char *list_file(enum function_list list)
{
	switch (list) {
	case FUNCTIONS_TRACE:
		return "set_ftrace_filter";
	case FUNCTIONS_NOTRACE:
		return "set_ftrace_notrace";
	case FUNCTIONS_GRAPH:
		return "set_graph_function";
	case FUNCTIONS_GRAPH_NOTRACE:
		return "set_graph_notrace";
	}
	return NULL;
}

static int no_function(const struct instance *instance, const char *function, struct fail *fail)
{
	static const char names[] = "'weft list functions' has the names";
	struct near near = near_to(function);

	if (text_is_glob(function) || strchr(function, ':'))
		return fail_set(fail, -ENOENT, "no function that can be traced matches '%s'; %s", function, names);
	functions_offer(instance->tracing, &near);
	if (!near.found)
		return fail_set(fail, -ENOENT, "no function '%s' that can be traced; %s", function, names);
	return near_fail(&near, fail, -ENOENT, "no function '%s' that can be traced", function);
}

/*
 * Whether all names are plain: without a module, a command, '!' or a leading digit. Only these can be looked up in the
 * kernel's list.
 */
static bool are_plain(const char *const *functions, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!*functions[i] || strpbrk(functions[i], ":! \t") || (*functions[i] >= '0' && *functions[i] <= '9'))
			return false;
	return true;
}

/* The length of the name in "name", "name [module]" or "name:command". */
static size_t name_len(struct text_word line)
{
	size_t len = 0;

	while (len < line.len && line.at[len] != ' ' && line.at[len] != ':')
		len++;
	return len;
}

/* Adds the indexes (from 1) of the lines that match a pattern, and marks in `found` the patterns that have matched. */
static bool add_places(struct buf *places, const char *known, size_t left, const char *const *functions, size_t nr,
		       bool *found)
{
	struct text_word line;

	for (unsigned place = 1; text_next_line(&known, &left, &line); place++) {
		char name[512];
		size_t len = name_len(line);
		bool chosen = false;

		if (len >= sizeof(name))
			continue;
		memcpy(name, line.at, len);
		name[len] = '\0';
		for (size_t i = 0; i < nr; i++) {
			if (!text_glob(functions[i], name))
				continue;
			found[i] = chosen = true;
		}
		if (chosen && !buf_addf(places, "%s%u", places->len ? "\n" : "", place))
			return false;
	}
	return true;
}

/*
 * Whether the functions that are set now all match the patterns. They do not if a module was loaded or removed after
 * the list was read, because that changes the indexes.
 */
static bool are_set(const struct instance *instance, const char *file, const char *const *functions, size_t nr)
{
	cleanup_buf struct buf now = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	if (instance_read(instance, file, &now, NULL))
		return false;
	at = buf_str(&now);
	left = now.len;
	while (text_next_line(&at, &left, &line)) {
		char name[512];
		size_t len = name_len(line), i = 0;

		if (!line.len || *line.at == '#' || memchr(line.at, ':', line.len) || len >= sizeof(name))
			continue;
		memcpy(name, line.at, len);
		name[len] = '\0';
		while (i < nr && !text_glob(functions[i], name))
			i++;
		if (i == nr)
			return false;
	}
	return true;
}

/* Returns 1 if the list is set, 0 if it has to be set by name. */
static int set_by_place(struct instance *instance, const char *file, const char *const *functions, size_t nr,
			struct fail *fail)
{
	struct instance top = instance_top(instance->tracing);
	cleanup_buf struct buf known = BUF_INIT, places = BUF_INIT;
	cleanup_free bool *found = calloc(nr, sizeof(*found));
	int err;

	if (!found)
		return fail_memory(fail);
	if (instance_read(&top, "available_filter_functions", &known, NULL))
		return 0;
	if (!add_places(&places, buf_str(&known), known.len, functions, nr, found))
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		if (!found[i])
			return no_function(instance, functions[i], fail);
	err = instance_set(instance, file, buf_str(&places), NULL);
	return err == -ENOMEM ? fail_memory(fail) : !err && are_set(instance, file, functions, nr);
}

/*
 * Writes all names through one open file, so that the kernel builds its hash only once. After -EINVAL each name is
 * written alone to find the wrong one.
 */
static int set_by_name(struct instance *instance, const char *file, const char *const *functions, size_t nr, bool keeps,
		       struct fail *fail)
{
	cleanup_buf struct buf names = BUF_INIT;
	bool removes = nr > 0;
	int err;

	for (size_t i = 0; i < nr; i++) {
		if (!buf_addf(&names, "%s%s", i ? "\n" : "", functions[i]))
			return fail_memory(fail);
		removes &= *functions[i] == '!';
	}
	/* "!name" removes the name from the present list. */
	err = removes || keeps ? instance_add(instance, file, buf_str(&names), fail) :
				 instance_set(instance, file, buf_str(&names), fail);
	if (err != -EINVAL)
		return err;
	for (size_t i = 0; i < nr; i++)
		if (instance_add(instance, file, functions[i], NULL) == -EINVAL)
			return no_function(instance, functions[i], fail);
	return err;
}

int tracer_functions(struct instance *instance, enum function_list list, const char *const *functions, size_t nr,
		     bool keeps, struct fail *fail)
{
	const char *file = list_file(list);
	int r = 0;

	if (!instance_has(instance, file))
		return tracer_no_file(instance, file, fail);
	/* The lists of function_graph accept only names. A plan is read by people, so it shows names. */
	if (nr >= NAMES_BY_PLACE && !keeps && !instance->tracing->plan &&
	    (list == FUNCTIONS_TRACE || list == FUNCTIONS_NOTRACE) && are_plain(functions, nr))
		r = set_by_place(instance, file, functions, nr, fail);
	if (r)
		return r < 0 ? r : 0;
	return set_by_name(instance, file, functions, nr, keeps, fail);
}

int tracer_functions_remove(struct instance *instance, enum function_list list, const char *const *functions, size_t nr,
			    struct fail *fail)
{
	const char *file = list_file(list);
	int err = 0;

	if (!instance_has(instance, file))
		return tracer_no_file(instance, file, fail);
	for (size_t i = 0; !err && i < nr; i++) {
		cleanup_free char *text = NULL;

		if (asprintf(&text, "%s%s", *functions[i] == '!' ? "" : "!", functions[i]) < 0) {
			text = NULL;
			return fail_memory(fail);
		}
		err = instance_add(instance, file, text, fail);
		if (err == -EINVAL)
			err = no_function(instance, text + 1, fail);
	}
	return err;
}

bool tracer_functions_empty(const struct instance *instance, enum function_list list)
{
	cleanup_buf struct buf now = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	if (instance->tracing->plan || instance_read(instance, list_file(list), &now, NULL))
		return false;
	at = buf_str(&now);
	left = now.len;
	while (text_next_line(&at, &left, &line))
		if (control_is_name(line) && !memchr(line.at, ':', line.len))
			return false;
	return true;
}

/* --- commands --- */

/* The commands of register_ftrace_command() in kernel/trace. The kernel has no file that lists them. */
static const struct {
	const char *name;
	bool event; /* SYSTEM:EVENT must follow the command */
} commands[] = {
	{ "traceon", false }, { "traceoff", false }, { "stacktrace", false },  { "dump", false },
	{ "cpudump", false }, { "snapshot", false }, { "enable_event", true }, { "disable_event", true },
};

/* The command of "FUNCTION:COMMAND...": the word after the first colon. */
static struct text_word command_name(const char *text)
{
	const char *colon = strchr(text, ':');

	return (struct text_word){ .at = colon + 1, .len = strcspn(colon + 1, ":") };
}

bool tracer_is_function_command(const char *text)
{
	return strchr(text, ':') && !text_word_is(command_name(text), "mod");
}

static bool is_dump(const char *text)
{
	return text_word_is(command_name(text), "dump") || text_word_is(command_name(text), "cpudump");
}

static int check_command(const char *text, struct fail *fail)
{
	struct text_word name = command_name(text);
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)name.len, name.at);
	for (size_t i = 0; i < array_size(commands); i++) {
		if (strcmp(commands[i].name, word))
			continue;
		if (commands[i].event && (name.at[name.len] != ':' || !strchr(name.at + name.len + 1, ':')))
			return fail_set(fail, -EINVAL, "'%s': %s takes an event, FUNCTION:%s:SYSTEM:EVENT[:COUNT]",
					text, word, word);
		return 0;
	}
	struct near near = near_to(word);

	for (size_t i = 0; i < array_size(commands); i++)
		near_offer(&near, commands[i].name);
	return near_fail(&near, fail, -EINVAL, "'%s': there is no function command '%s'", text, word);
}

/*
 * Whether the list already has this command for this function ("vfs_read:traceoff:..."). The kernel allows one of each
 * kind.
 */
static bool has_command(const struct instance *instance, const char *function, struct text_word command)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	if (instance_read(instance, "set_ftrace_filter", &buf, NULL))
		return false;
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &line)) {
		const char *colon = memchr(line.at, ':', line.len);

		if (colon && name_len(line) == strlen(function) && !memcmp(line.at, function, strlen(function)) &&
		    (size_t)(line.at + line.len - colon) > command.len && !memcmp(colon + 1, command.at, command.len))
			return true;
	}
	return false;
}

static bool is_known(const struct instance *instance, const char *function)
{
	struct near near = near_to(function);

	functions_offer(instance->tracing, &near);
	return !near.found || !near.names[0].distance;
}

static int refused(const struct instance *instance, const char *text, int err, struct fail *fail)
{
	struct text_word name = command_name(text);
	size_t len = strcspn(text, ":");
	char function[256], hint[KCONFIG_HINT_SIZE];

	snprintf(function, sizeof(function), "%.*s", (int)len, text);
	if (err == -ENOENT)
		return no_function(instance, function, fail);
	if (err == -ENODEV && *text == '!')
		return fail_set(fail, err, "no function has the command '%.*s'", (int)name.len, name.at);
	if (err == -EINVAL && has_command(instance, function, name))
		return fail_set(fail, err, "'%s' has the command %.*s already", function, (int)name.len, name.at);
	if (err == -EINVAL && *text != '!' && !text_is_glob(function) && !is_known(instance, function))
		return no_function(instance, function, fail);
	if (err == -EINVAL && text_word_is(name, "snapshot"))
		return fail_set(fail, err, "'%s' was refused%s", text, kconfig_hint(KCONFIG_TRIGGER, "snapshot", hint));
	if (err == -EINVAL)
		return fail_set(fail, err,
				"'%s' was refused: no such function or event, or no number where a count is expected",
				text);
	return err;
}

int tracer_function_command(struct instance *instance, const char *command, struct late *late, struct fail *fail)
{
	char function[256];
	int err;

	if (!instance_has(instance, "set_ftrace_filter"))
		return tracer_no_file(instance, "set_ftrace_filter", fail);
	err = check_command(command, fail);
	if (err)
		return err;
	snprintf(function, sizeof(function), "%.*s", (int)strcspn(command, ":"), command);
	/* The kernel cannot be asked about this one (late_form()). */
	if (late && is_dump(command) && !text_is_glob(function) && !is_known(instance, function))
		return no_function(instance, function, fail);
	if (late && *command != '!')
		err = late_try(late, instance, "set_ftrace_filter", command, fail);
	else
		err = instance_add(instance, "set_ftrace_filter", command, fail);
	return err ? refused(instance, command, err, fail) : 0;
}
