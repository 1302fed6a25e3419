// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

enum verb { VERB_NONE, VERB_ADD, VERB_LIST, VERB_REMOVE };

struct arguments {
	struct kernel kernel; /* -B: the instance whose switches `list` shows */
	struct instance *top; /* the only instance that has probes */
	enum verb verb;
	bool synthetic, all, dry_run;
	char **words; /* the words after the verb: definitions or names */
	size_t nr;
};

static const struct option_row options[] = {
	{ "synthetic", 0, NULL, 0, "add: a synthetic event, as NAME TYPE FIELD; TYPE FIELD", 0,
	  OPTION_FLAG(struct arguments, synthetic) },
	{ "all", 'a', NULL, 0, "remove: all that weft made", 0, OPTION_FLAG(struct arguments, all) },
	{ "dry-run", 0, NULL, 0, "Only print what would be written, as shell", 0,
	  OPTION_FLAG(struct arguments, dry_run) },
	{ 0 },
};

static enum verb verb_of(const char *word, struct argp_state *state)
{
	static const char *const verbs[] = { [VERB_ADD] = "add", [VERB_LIST] = "list", [VERB_REMOVE] = "remove" };

	for (size_t i = VERB_ADD; i < array_size(verbs); i++)
		if (!strcmp(word, verbs[i]))
			return (enum verb)i;
	argp_error(state, "'%s' is not one of add, list and remove", word);
	return VERB_NONE;
}

static void check(const struct arguments *arguments, struct argp_state *state)
{
	switch (arguments->verb) {
	case VERB_NONE:
		argp_error(state, "no action given; use add, list or remove");
		break;
	case VERB_ADD:
		if (!arguments->nr)
			argp_error(state, "no probe given; an example: weft probe add 'vfs_read count'");
		if (arguments->all)
			argp_error(state, "--all is for remove");
		break;
	case VERB_LIST:
		if (arguments->all || arguments->dry_run)
			argp_error(state, "list takes names but no options");
		break;
	case VERB_REMOVE:
		if (!arguments->nr && !arguments->all)
			argp_error(state, "no probe given; --all removes those that weft made");
		if (arguments->nr && arguments->all)
			argp_error(state, "--all and names cannot be combined");
		break;
	}
	if (arguments->kernel.name && arguments->verb != VERB_LIST)
		argp_error(state, "a probe belongs to the whole kernel: only list takes -B");
	if (arguments->synthetic && arguments->verb != VERB_ADD)
		argp_error(state, "--synthetic is for add");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (arguments->verb == VERB_NONE)
			arguments->verb = verb_of(arg, state);
		else
			arguments->words[arguments->nr++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = OPTIONS_OF(kernel_options, struct arguments, kernel),
	.args_doc = "add|list|remove [DEFINITION|PROBE...]",
	.doc = "Makes events of functions, of programs and of other events; lists them; removes them. "
	       "DEFINITION is the kernel's own syntax or [NAME=]PLACE [ARGUMENT...], as in 'do_sys_openat2 "
	       "filename:ustring'.",
};

/* Prints a shell command that writes the text, in single quotes, to dynamic_events. */
static void print_shell(const struct kernel *kernel, const char *text)
{
	fputs("echo '", stdout);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	printf("' >> %s/dynamic_events\n", kernel->tracing.dir);
}

static int print_dry(const struct kernel *kernel, const struct probe *probe, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	if (!probe_print(probe, &text))
		return fail_memory(fail);
	print_shell(kernel, buf_str(&text));
	at = probe->also ? probe->also : "";
	left = strlen(at);
	while (text_next_line(&at, &left, &line)) {
		buf_clear(&text);
		if (!buf_addf(&text, "p:%s/%s %.*s", probe->group, probe->name, (int)line.len, line.at))
			return fail_memory(fail);
		print_shell(kernel, buf_str(&text));
	}
	return 0;
}

static int tell_added(const struct probe *probe, struct buf *told, struct fail *fail)
{
	return buf_addf(told, "%s:%s: %s%s%s%s%s\n", probe->group, probe->name, probe_kind_name(probe->kind),
			*probe->place ? " " : "", probe->place, *probe->arguments ? " " : "", probe->arguments) ?
		       0 :
		       fail_memory(fail);
}

static int add_one(const struct arguments *arguments, struct undo *undo, const char *text, struct buf *told,
		   struct fail *fail)
{
	struct probe probe;
	int err = probe_define(arguments->top, text, arguments->synthetic, &probe, fail);

	if (err)
		return err;
	if (arguments->dry_run)
		err = print_dry(&arguments->kernel, &probe, fail);
	else
		err = probe_add(arguments->top, undo, &probe, fail);
	if (!err && !arguments->dry_run)
		err = tell_added(&probe, told, fail);
	if (!err && probe.note)
		command_warn("note: %s:%s is without %s, which the kernel cannot fetch everywhere", probe.group,
			     probe.name, probe.note);
	probe_release(&probe);
	return err;
}

/* Adds all probes or none. They stay until they are removed, or until `weft reset` removes them. */
static int add(const struct arguments *arguments, struct fail *fail)
{
	cleanup_buf struct buf told = BUF_INIT;
	struct undo *undo = NULL;
	int err = undo_new(&arguments->kernel.tracing, NULL, &undo, fail);

	for (size_t i = 0; !err && i < arguments->nr; i++)
		err = add_one(arguments, undo, arguments->words[i], &told, fail);
	err = kernel_keep(undo, err, fail);
	undo_free(undo);
	/* Printed last, because after an error the new probes are removed again. */
	if (!err && told.len)
		err = command_write(told.data, told.len, fail);
	return err;
}

/* Sets wanted[i] for the probes that were named; without names, for all. */
static int find_wanted(const struct arguments *arguments, const struct probe_list *list, bool *wanted,
		       struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; i < list->nr; i++)
		wanted[i] = !arguments->nr && (!arguments->all || list->probes[i].ours);
	for (size_t i = 0; !err && i < arguments->nr; i++)
		err = probe_list_find(list, arguments->words[i], wanted, fail);
	return err;
}

/* Returns whether the probe is enabled in the instance: yes, no, or only armed for a trigger. */
static int read_switch(const struct instance *instance, const struct probe *probe, const char **ret, struct fail *fail)
{
	char file[2 * PROBE_NAME_SIZE + 32], word[8];
	int err;

	snprintf(file, sizeof(file), "events/%.63s/%.63s/enable", probe->group, probe->name);
	err = instance_read_word(instance, file, word, sizeof(word), fail);
	if (err && err != -ENOENT)
		return err;
	*ret = err ? "-" : *word == '1' ? "yes" : strchr(word, '*') ? "armed" : "no";
	return 0;
}

static int print_row(struct table *table, const struct probe_state *state, const struct instance *instance,
		     struct fail *fail)
{
	const struct probe *probe = &state->probe;
	const char *on;
	int err = read_switch(instance, probe, &on, fail);

	if (err)
		return err;

	table_cellf(table, "%s:%s", probe->group, probe->name);
	table_cell(table, probe_kind_name(probe->kind));
	table_cell(table, state->ours ? "weft" : "others");
	table_cell(table, on);
	if (state->counted)
		table_cell_u64(table, state->hits);
	else
		table_cell(table, "-");
	if (state->counted)
		table_cell_u64(table, state->missed);
	else
		table_cell(table, "-");
	table_cell(table, *probe->place ? probe->place : "-");
	table_cell(table, probe->arguments);
	return 0;
}

static int list_them(const struct arguments *arguments, const struct probe_list *list, const bool *wanted,
		     struct fail *fail)
{
	static const struct table_column columns[] = {
		{ "EVENT", TABLE_TEXT, NULL, 0 }, { "KIND", TABLE_TEXT, NULL, 0 },
		{ "BY", TABLE_TEXT, NULL, 0 },    { "ON", TABLE_TEXT, NULL, 0 },
		{ "HITS", TABLE_COUNT, NULL, 0 }, { "MISSED", TABLE_COUNT, NULL, 0 },
		{ "PLACE", TABLE_TEXT, NULL, 0 }, { "ARGUMENTS", TABLE_TEXT, NULL, 0 },
	};
	struct table table;
	struct out out;
	bool any = false;
	int err = 0;

	if (!out_init(&out, 4096))
		return fail_memory(fail);
	table_init(&table, columns, array_size(columns));
	for (size_t i = 0; !err && i < list->nr; i++) {
		if (wanted[i])
			err = print_row(&table, &list->probes[i], arguments->kernel.instance, fail);
		any |= wanted[i];
	}
	if (!err && any)
		err = table_print(&table, &out) ? command_write(out.start, out_len(&out), fail) : fail_memory(fail);
	table_release(&table);
	out_release(&out);
	return err;
}

/* Whether a wanted line behind this one is of the same event. */
static bool is_later(const struct probe_list *list, const bool *wanted, size_t index)
{
	const struct probe *probe = &list->probes[index].probe;

	for (size_t i = index + 1; i < list->nr; i++)
		if (wanted[i] && !strcmp(list->probes[i].probe.name, probe->name) &&
		    !strcmp(list->probes[i].probe.group, probe->group))
			return true;
	return false;
}

static int remove_them(const struct arguments *arguments, const struct probe_list *list, const bool *wanted,
		       struct fail *fail)
{
	char full[2 * PROBE_NAME_SIZE + 8];
	int first = 0;

	/* A probe may be attached to another probe's event, so the newest is removed first. */
	for (size_t i = list->nr; i-- > 0;) {
		const struct probe *probe = &list->probes[i].probe;
		int err;

		/* An event of several places has as many lines, and is removed with the first. */
		if (!wanted[i] || is_later(list, wanted, i))
			continue;
		snprintf(full, sizeof(full), "-:%s/%s", probe->group, probe->name);
		if (arguments->dry_run) {
			print_shell(&arguments->kernel, full);
			continue;
		}
		err = probe_remove(arguments->top, probe->group, probe->name, first ? NULL : fail);
		if (!err)
			undo_drop_probe(NULL, full + 2);
		else if (!first)
			first = err;
	}
	return first;
}

static int on_list(const struct arguments *arguments, struct fail *fail)
{
	cleanup_free bool *wanted = NULL;
	struct probe_list list;
	int err = probe_list_read(arguments->top, &list, fail);

	if (err)
		return err;
	wanted = calloc(list.nr + 1, sizeof(*wanted));
	err = wanted ? find_wanted(arguments, &list, wanted, fail) : fail_memory(fail);
	if (!err && arguments->verb == VERB_LIST)
		err = list_them(arguments, &list, wanted, fail);
	else if (!err)
		err = remove_them(arguments, &list, wanted, fail);
	probe_list_release(&list);
	return err;
}

static int probe_run(int argc, char **argv)
{
	struct arguments arguments = { .words = calloc((size_t)argc + 1, sizeof(char *)) };
	struct fail fail = FAIL_INIT;
	int err, status;

	if (!arguments.words) {
		fail_memory(&fail);
		return command_failed(&fail);
	}
	command_parse(&probe_command, argc, argv, 0, &arguments);
	err = kernel_open(&arguments.kernel, NULL, &fail);
	if (!err)
		err = instance_open_top(&arguments.kernel.tracing, NULL, &arguments.top, &fail);
	if (!err)
		err = arguments.verb == VERB_ADD ? add(&arguments, &fail) : on_list(&arguments, &fail);
	instance_close(arguments.top, NULL);
	status = kernel_finish(&arguments.kernel, err, &fail);
	free(arguments.words);
	return status;
}

const struct command probe_command = {
	.name = "probe",
	.summary = "make events of functions and programs",
	.brief = "own events",
	.examples = "  weft probe add 'do_sys_openat2 filename:ustring'\n"
		    "  weft probe add 'vfs_read%return ret'",
	.group = "kernel",
	.options = &command_options,
	.run = probe_run,
};
