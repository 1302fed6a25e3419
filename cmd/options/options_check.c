// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/options_check.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/options/elsewhere.h"
#include "cmd/options/help_options.h"
#include "cmd/options/option_order.h"
#include "cmd/streams.h"
#include "cmd/terminal/pager.h"
#include "lib/base/cleanup.h"
#include "lib/base/near.h"
#include "lib/base/vec.h"

enum {
	LETTERS = 128,
	KEY_HELP = 0x10000,
	KEY_ARGPS, /* for the other options that argp adds to every command */
};

/* The tables in the form that getopt_long() reads. */
struct tables {
	struct option *names;
	size_t nr;
	char letters[2 + 3 * LETTERS];
};

const struct argp_option *options_find(const struct argp *argp, const char *name, int key, struct near *near)
{
	const struct argp_option *option, *first = NULL;

	for (option = argp->options; option && !option_is_end(option); option++) {
		if (!(option->flags & OPTION_ALIAS))
			first = option;
		if (name && option->name && !strcmp(option->name, name))
			return first;
		if (key && option->key == key)
			return first;
		if (near && option->name)
			near_offer(near, option->name);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		if ((option = options_find(child->argp, name, key, near)))
			return option;
	return NULL;
}

static bool add_name(struct tables *tables, const char *name, int has_arg, int key)
{
	struct option *added = vec_push(tables->names, tables->nr);

	if (added)
		*added = (struct option){ .name = name, .has_arg = has_arg, .val = key };
	return added;
}

static bool add_letter(struct tables *tables, int key, int has_arg)
{
	size_t len = strlen(tables->letters);

	if (key <= ' ' || key >= LETTERS || strchr(tables->letters + 1, key))
		return true;
	snprintf(tables->letters + len, sizeof(tables->letters) - len, "%c%.*s", key, has_arg, "::");
	return true;
}

static bool add_tables(struct tables *tables, const struct argp *argp)
{
	const struct argp_option *option, *first = NULL;
	bool ok = true;

	for (option = argp->options; ok && option && !option_is_end(option); option++) {
		int has_arg;

		if (!(option->flags & OPTION_ALIAS))
			first = option;
		has_arg = !first->arg                        ? no_argument :
			  first->flags & OPTION_ARG_OPTIONAL ? optional_argument :
							       required_argument;
		ok = (!option->name || add_name(tables, option->name, has_arg, first->key)) &&
		     add_letter(tables, option->key, has_arg);
	}
	for (const struct argp_child *child = argp->children; ok && child && child->argp; child++)
		ok = add_tables(tables, child->argp);
	return ok;
}

static bool tables_make(struct tables *tables, const struct argp *argp, unsigned flags)
{
	*tables = (struct tables){ .letters = "" };
	/*
	 * '-' and '+' say how arguments between options are treated. The ':' after them keeps getopt_long() from
	 * printing errors.
	 */
	snprintf(tables->letters, sizeof(tables->letters), "%s:", flags & ARGP_IN_ORDER ? "+" : "");
	return add_tables(tables, argp) && add_letter(tables, 'V', no_argument) &&
	       add_name(tables, "help", no_argument, KEY_HELP) && add_name(tables, "usage", no_argument, KEY_ARGPS) &&
	       add_name(tables, "version", no_argument, KEY_ARGPS) && add_name(tables, NULL, 0, 0);
}

/*
 * argp breaks lines at column 79 unless it is told another width. A narrower terminal would break them a second time.
 */
static void fit_help(void)
{
	struct winsize size;
	char format[32];

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 50)
		return;
	snprintf(format, sizeof(format), "rmargin=%d", size.ws_col > 120 ? 119 : size.ws_col - 1);
	setenv("ARGP_HELP_FMT", format, 0);
}

__attribute__((noreturn)) static void print_help(const struct command *command, char *name)
{
	fit_help();
	pager_start();
	argp_help(command->argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC, name);
	if (command->examples)
		printf("\nExamples:\n%s\n", command->examples);
	argp_help(help_options(command->argp), stdout, ARGP_HELP_LONG | ARGP_HELP_POST_DOC, name);
	exit(EXIT_OK);
}

/* Returns whether several names begin with this one: argp then lists them. */
static bool is_ambiguous(const struct tables *tables, const char *name, size_t len)
{
	for (size_t i = 0; tables->names[i].name; i++)
		if (!strncmp(tables->names[i].name, name, len))
			return true;
	return false;
}

__attribute__((noreturn)) static void unknown(const struct command *command, const char *program, const char *name,
					      const struct near *near)
{
	const char *here = elsewhere_option(command->name, name);
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(near, hint, sizeof(hint));
	fprintf(stderr, "%s: no option '%s'", program, name);
	if (here)
		fprintf(stderr, " as trace-cmd has it; %s", here);
	else if (*hint)
		fprintf(stderr, "; %s", hint);
	fprintf(stderr, "\n'weft help %s' lists the options.\n", command->name);
	exit(EXIT_USAGE);
}

static void check_name(const struct command *command, const struct tables *tables, const char *program,
		       const char *word)
{
	cleanup_free char *name = strndup(word + 2, strcspn(word + 2, "="));
	struct near near;
	char *shown;

	if (!name || is_ambiguous(tables, name, strlen(name)))
		return;
	near = near_to(name);
	options_find(command->argp, name, 0, &near);
	/* Similar names are shown with their dashes, as a user types them. */
	for (unsigned i = 0; i < near.found; i++) {
		char *to = near.names[i].name;
		size_t len = strlen(to);

		if (len + 3 > sizeof(near.names[i].name))
			continue;
		memmove(to + 2, to, len + 1);
		memcpy(to, "--", 2);
	}
	if (asprintf(&shown, "--%s", name) < 0)
		return;
	unknown(command, program, shown, &near);
}

static void check_letter(const struct command *command, const char *program, int letter)
{
	const struct near none = near_to("");
	const char word[] = { '-', (char)letter, '\0' };

	if (options_find(command->argp, NULL, letter, NULL))
		return;
	unknown(command, program, word, &none);
}

void options_check(const struct command *command, int argc, char **argv, unsigned flags)
{
	struct tables tables = { .letters = "" };
	/* getopt_long() reorders the words, so it gets a copy. */
	cleanup_free char **words = calloc((size_t)argc + 1, sizeof(*words));
	int key;

	if (!words || !tables_make(&tables, command->argp, flags))
		goto out;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	optind = 0;
	opterr = 0;
	/* ':' is a missing value, which argp reports. */
	while ((key = getopt_long(argc, words, tables.letters, tables.names, NULL)) != -1 && key != ':') {
		if (key == KEY_HELP ||
		    (key == '?' && (optopt == '?' || (optopt == 'h' && !options_find(command->argp, NULL, 'h', NULL)))))
			print_help(command, argv[0]);
		if (key == '?' && !optopt)
			check_name(command, &tables, argv[0], words[optind - 1]);
		else if (key == '?')
			check_letter(command, argv[0], optopt);
	}
out:
	free(tables.names);
}
