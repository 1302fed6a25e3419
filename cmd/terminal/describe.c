// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/options_check.h"
#include "cmd/terminal/guides.h"
#include "cmd/terminal/tracefs_page.h"
#include "formats/sink.h"
#include "lib/answers/frame/analysis.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/json_schema.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/columns/list.h"

/*
 * `weft __describe` prints the option tables as lines of fields separated by tabs; completions/generate and
 * man/generate read them:
 *	command NAME GROUP SUMMARY
 *	usage   NAME ARGUMENTS
 *	about   NAME TEXT                       what --help prints above the options
 *	note    NAME TEXT                       and below them
 *	columns NAME A|B|...                    the columns that its --sort takes
 *	column  NAME KEY TITLE                  each column of its main table: its name in JSON and CSV, and in text
 *	answer  NAME PATH TYPE TEXT             a member of its JSON object (lib/ground/base/json_schema.h)
 *	group   NAME TITLE                      of the options that follow
 *	option  NAME SHORT LONG METAVAR how TEXT
 *	alias   NAME SHORT LONG METAVAR how     another name of the option before
 *	value   METAVAR NAME TEXT               what an argument of this type may be, where weft itself knows
 * SHORT, LONG and METAVAR may be "-" for none; `how` is "required", "optional" or "none".
 */

static void print_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		putchar(text[i] == '\n' || text[i] == '\t' ? ' ' : text[i]);
	putchar('\n');
}

static void print_doc(const struct command *command, const char *doc)
{
	const char *below = strchr(doc, '\v');
	size_t above = below ? (size_t)(below - doc) : strlen(doc);

	if (above) {
		printf("about\t%s\t", command->name);
		print_text(doc, above);
	}
	if (below && below[1]) {
		printf("note\t%s\t", command->name);
		print_text(below + 1, strlen(below + 1));
	}
}

static void print_option(const struct command *command, const struct argp_option *option)
{
	char letter[2] = "-";
	const char *how = "none";

	if (option->key > ' ' && option->key < 127)
		letter[0] = (char)option->key;
	if (option->arg)
		how = option->flags & OPTION_ARG_OPTIONAL ? "optional" : "required";
	printf("%s\t%s\t%s\t%s\t%s\t%s", option->flags & OPTION_ALIAS ? "alias" : "option", command->name, letter,
	       option->name ? option->name : "-", option->arg ? option->arg : "-", how);
	if (option->flags & OPTION_ALIAS) {
		putchar('\n');
		return;
	}
	putchar('\t');
	print_text(option->doc ? option->doc : "", option->doc ? strlen(option->doc) : 0);
}

static void print_options(const struct command *command, const struct argp *argp)
{
	const struct argp_option *option;

	/* In the order of --help: children with groups of their own come before the options of the command itself. */
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		if (child->group)
			print_options(command, child->argp);
	for (option = argp->options; option && !option_is_end(option); option++) {
		if (option->flags & (OPTION_HIDDEN | OPTION_DOC))
			continue;
		if (option->name || option->key) {
			print_option(command, option);
		} else if (option->doc) {
			printf("group\t%s\t", command->name);
			print_text(option->doc, strcspn(option->doc, ":"));
		}
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		if (!child->group)
			print_options(command, child->argp);
}

static void print_columns(const struct command *command)
{
	const struct analysis_ops *ops = analysis_named(command->name);
	cleanup_buf struct buf columns = BUF_INIT;

	if (ops && ops->columns && analysis_sorts(ops, "|", &columns))
		printf("columns\t%s\t%s\n", command->name, buf_str(&columns));
	for (size_t i = 0; ops && ops->columns && ops->columns[i].title; i++) {
		const struct table_column *column = &ops->columns[i];
		char key[TABLE_KEY_SIZE];

		printf("column\t%s\t%s\t%s\n", command->name,
		       column->flags & TABLE_TEXT_ONLY ? "-" : table_key(column, i, key),
		       column->flags & TABLE_DATA_ONLY ? "-" : column->title);
	}
}

static void print_command(const struct command *command)
{
	const struct argp *argp = options_argp(command->options);

	printf("command\t%s\t%s\t%s\n", command->name, command->group, command->summary);
	printf("usage\t%s\t", command->name);
	for (const char *at = argp->args_doc; at && *at; at++)
		fputs(*at == '\n' ? " | " : (char[]){ *at, '\0' }, stdout);
	putchar('\n');
	if (argp->doc)
		print_doc(command, argp->doc);
	print_columns(command);
	for (const struct json_member *member = command->answer; member && member->path; member++)
		printf("answer\t%s\t%s\t%s\t%s\n", command->name, member->path, member->type, member->text);
	print_options(command, option_order(argp));
}

/* The files that `weft show` prints, and the triggers of events, as weft-tracefs(7) has them. */
static void print_words(void)
{
	struct tracefs_row row;

	for (const char *at = NULL; tracefs_page_next(&at, &row);) {
		bool is_trigger = !strcmp(row.section, "Triggers");
		const char *name_at = row.names;
		char name[64];

		if (row.of_words && !is_trigger)
			continue;
		while (!strchr(row.names, '*') && tracefs_row_name(&name_at, name))
			printf("value\t%s\t%s\t-\n", is_trigger ? "TRIGGER" : "NAME", name);
	}
}

static int describe_run(int argc, char **argv)
{
	const char *name, *about, *at = NULL;
	struct guide guide;

	(void)argc;
	(void)argv;
	for (size_t i = 0; command_at(i); i++)
		if (command_at(i)->group)
			print_command(command_at(i));
	print_words();
	for (size_t i = 0; column_list_name(i); i++)
		printf("value\tFIELDS\t%s\t-\n", column_list_name(i));
	for (size_t i = 0; help_topic(i, &name, &about); i++)
		printf("value\tTOPIC\t%s\t%s\n", name, about);
	puts("value\tGUIDE\tguides\tthe list of the guides");
	while (guides_next(&at, &guide))
		printf("value\tGUIDE\t%s\t%s\n", guide.name, guide.title);
	for (size_t i = 0; sink_at(i); i++)
		printf("value\tFORMAT\t%s\t%s\n", sink_at(i)->name, sink_at(i)->summary);
	return EXIT_OK;
}

/* The command has no group, so `weft help` does not show it. */
const struct command describe_command = {
	.name = "__describe",
	.run = describe_run,
};
