// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/guides.h"
#include "cmd/terminal/tracefs_page.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"

/* The first page: the commands of a day, in its order. */
static const struct {
	const char *name;
	const char *does; /* a sentence of at most 66 letters */
} first_page[] = {
	{ "record", "writes what the kernel does, while a program runs, into a file" },
	{ "summary", "shows on one page what the file holds, and what stands out" },
	{ "latency", "explains the wakeups that came late, and whom each waited for" },
	{ "sched", "shows who had the CPUs, who waited for them, and who was asleep" },
	{ "syscalls", "shows which system calls took long, and which failed" },
	{ "irq", "shows interrupts and softirqs: how long they took, whom they hit" },
	{ "block", "shows requests of disks: how long each waited and took" },
	{ "locks", "shows who waited for a lock, and who held it" },
	{ "tasks", "shows which programs a command started, and how each ended" },
	{ "graph", "shows which functions a call of the kernel made, and their times" },
	{ "why", "shows where the time of one call, command or task went" },
	{ "view", "looks around in a file on the whole terminal, with a time line" },
	{ "top", "shows such tables of what happens now, without a file" },
	{ "flight", "holds the last seconds, and saves them when something happens" },
	{ "bench", "tells whether one command is slower than another, and why" },
	{ "report", "prints all events as the kernel prints them, or some of them" },
	{ "export", "writes a file for Perfetto, SQLite, Firefox, flame graphs, CSV" },
};

/* `weft help --all`: all others. The groups are those of struct command. */
static const struct {
	const char *group;
	const char *title;
} groups[] = {
	{ "read", "Files" },
	{ "trace", "The kernel's own buffers" },
	{ "kernel", "This kernel" },
};

/* Each line of --all has up to three commands, with their brief words. */
enum { COLUMNS = 3, COLUMN = 26, NAME = 9 };

/* Prints a command and its brief words, filled up to the width of a column if another one follows on the line. */
static void print_brief(const struct command *command, bool last)
{
	int name = (int)strlen(command->name) < NAME ? NAME : (int)strlen(command->name) + 1;

	printf("  %-*s%-*s", name, command->name, last ? 0 : COLUMN - name - 2, command->brief);
}

static bool is_on_first_page(const struct command *command)
{
	for (size_t i = 0; i < array_size(first_page); i++)
		if (!strcmp(first_page[i].name, command->name))
			return true;
	return false;
}

/* "record" is no group of its own: what is not on the first page works on files. */
static bool is_of(const struct command *command, const char *group)
{
	return command->group && !is_on_first_page(command) &&
	       (!strcmp(command->group, group) || (!strcmp(group, "read") && !strcmp(command->group, "record")));
}

static const struct command *next_of(const char *group, size_t *at)
{
	const struct command *command;

	while ((command = command_at((*at)++)))
		if (is_of(command, group))
			return command;
	return NULL;
}

static void print_group(const char *group)
{
	size_t at = 0;
	const struct command *next = next_of(group, &at);

	for (unsigned nr = 1; next; nr++) {
		const struct command *command = next;
		bool last;

		next = next_of(group, &at);
		last = !next || !(nr % COLUMNS);
		print_brief(command, last);
		if (last)
			putchar('\n');
	}
}

static void print_first_page(void)
{
	puts("Usage: weft COMMAND [OPTION...] [ARGUMENT...]");
	for (size_t i = 0; i < array_size(first_page); i++)
		printf("  %-*s %s\n", NAME, first_page[i].name, first_page[i].does);
}

static void print_overview(void)
{
	print_first_page();
	puts("Examples:\n"
	     "  weft record -- make          # as root: what summary and the tables need\n"
	     "  weft summary                 # each of its tables names the command with more\n"
	     "'weft help COMMAND' explains one, 'weft help --all' lists the others and topics.\n"
	     "'weft help tutorial' begins with questions, 'weft help guides' with complaints.\n"
	     "'weft doctor' says what works here.");
}

static void print_guides(void)
{
	puts("Guides, each from a complaint to its cause: weft help GUIDE");
	guides_list();
}

static void print_all(void)
{
	const char *name, *about;

	print_first_page();
	for (size_t g = 0; g < array_size(groups); g++) {
		puts(groups[g].title);
		print_group(groups[g].group);
	}
	print_guides();
	puts("Topics, each a manual page: weft help TOPIC");
	for (size_t i = 0; help_topic(i, &name, &about); i++)
		printf("  %-*s %s\n", NAME, name, about);
}

/* Opens a manual page. Returns if that is not possible. */
static int open_topic(const char *name)
{
	char page[32], man[] = "man", section[] = "7";

	snprintf(page, sizeof(page), "weft-%s", name);
	fflush(stdout);
	execvp(man, (char *[]){ man, section, page, NULL });
	command_warn("cannot run man: %s; the page is %s(7)", strerror(errno), page);
	return EXIT_FAILED;
}

/* How well a row of weft-tracefs(7) fits a word, the best first. */
enum fit { FIT_NAME, FIT_LAST, FIT_TEXT, NR_FITS };

/* Whether the whole word is there, in any case of letters. */
static bool has_word(const char *text, const char *word)
{
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t len = strlen(word);

	for (const char *at = strcasestr(text, word); at; at = strcasestr(at + 1, word))
		if ((at == text || !strchr(more, at[-1])) && (!at[len] || !strchr(more, at[len])))
			return true;
	return false;
}

static bool name_fits(const char *name, const char *word, bool last)
{
	const char *slash = strrchr(name, '/');

	if (last)
		return slash && !strcmp(slash + 1, word);
	/* The file, one that its pattern stands for, or its directory. */
	return !strcmp(name, word) || (slash && !fnmatch(name, word, FNM_PATHNAME)) ||
	       (slash && !strncmp(name, word, strlen(word)) && name[strlen(word)] == '/');
}

static bool row_fits(const struct tracefs_row *row, const char *word, enum fit fit)
{
	const char *at = row->names;
	char name[64];

	if (fit == FIT_TEXT)
		return has_word(row->names, word) || has_word(row->text, word) || has_word(row->section, word);
	while (tracefs_row_name(&at, name))
		if (name_fits(name, word, fit == FIT_LAST))
			return true;
	return false;
}

/* Prints the rows of weft-tracefs(7) that fit the word best. Returns how many. */
static unsigned print_rows(const char *word)
{
	static const char *const roots[] = { "/sys/kernel/tracing/", "/sys/kernel/debug/tracing/" };
	unsigned nr = 0;

	for (size_t i = 0; i < array_size(roots); i++)
		if (!strncmp(word, roots[i], strlen(roots[i])))
			word += strlen(roots[i]);
	for (enum fit fit = FIT_NAME; *word && !nr && fit < NR_FITS; fit++) {
		struct tracefs_row row;

		for (const char *at = NULL; tracefs_page_next(&at, &row); nr += row_fits(&row, word, fit))
			if (row_fits(&row, word, fit))
				printf("%s: %s\n", row.of_words && fit < FIT_TEXT ? word : row.names, row.text);
	}
	return nr;
}

struct arguments {
	const char *name;
	bool all;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	option_once("command", &arguments->name, arg, state);
	return 0;
}

static const struct option_row rows[] = {
	{ "all", 0, NULL, 0, "List all commands, guides and topics", 0, OPTION_FLAG(struct arguments, all) },
	{ 0 },
};

static const struct options command_options = {
	.rows = rows,
	.parser = parse_option,
	.args_doc = "[COMMAND|TOPIC|GUIDE|FILE|WORD]",
	.doc = "Lists the commands of a day's work, or explains one. Of a TOPIC, opens its manual page; of a GUIDE, "
	       "which 'weft help guides' lists, prints how to get from a complaint to its cause. Of a FILE of tracefs, "
	       "or another WORD of the kernel's documents, prints which command of weft is for it.",
};

/* What is only begun is offered, too. */
static void offer(struct near *near, const char *name)
{
	near_offer_as(near, strncmp(name, near->word, strlen(near->word)) ? name : near->word, name);
}

/* Returns the exit status. Where no guide and no topic is meant, it is as for a command. */
static int unknown(const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;
	const char *topic, *about;
	struct guide guide;

	for (size_t i = 0; help_topic(i, &topic, &about); i++)
		offer(&near, topic);
	for (const char *at = NULL; guides_next(&at, &guide);)
		offer(&near, guide.name);
	offer(&near, "guides");
	if (!*name || !near.found)
		return command_unknown(name);
	for (size_t i = 0; command_at(i); i++)
		if (command_at(i)->group)
			near_offer(&near, command_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "no command, topic or guide '%s'", name);
	command_warn("%s", fail.text);
	return EXIT_USAGE;
}

static int explain(const char *name)
{
	char title[64], help[] = "--help";
	char *arguments[] = { title, help, NULL };
	const struct command *command;

	/* The user may give the name of the manual page. */
	if (!strncmp(name, "weft-", 5))
		name += 5;
	command = command_find(name);
	if (!command && topic_knows(name))
		return open_topic(name);
	if ((!command || !command->group) && print_rows(name))
		return EXIT_OK;
	if (!command || !command->group)
		return unknown(name);
	snprintf(title, sizeof(title), "weft %s", command->name);
	return command->run(2, arguments);
}

static int help_run(int argc, char **argv)
{
	struct arguments given = { .name = NULL };
	struct guide guide;
	const char *name;

	command_parse(&help_command, argc, argv, 0, &given);
	name = given.name;
	if (given.all)
		print_all();
	else if (!name)
		print_overview();
	else if (!strcmp(name, "guides"))
		print_guides();
	else if (guides_find(name, &guide))
		guide_print(&guide);
	else
		return explain(name);
	return EXIT_OK;
}

const struct command help_command = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.brief = "explain one",
	.examples = "  weft help record\n"
		    "  weft help tutorial\n"
		    "  weft help set_ftrace_filter",
	.group = "kernel",
	.options = &command_options,
	.run = help_run,
};
