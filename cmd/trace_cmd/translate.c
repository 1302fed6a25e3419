// SPDX-License-Identifier: GPL-2.0-only
/* A command line of trace-cmd becomes one of weft, by the tables of verbs.c. */
#include "cmd/command.h"
#include "cmd/trace_cmd/filter.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "cmd/trace_cmd/verbs.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MAX = 4096, /* of the command line that is made */
	LONGS_MAX = 64,
	LETTERS_MAX = 160,
	LONG_KEY = 256, /* the key of the first long option */
};

/* The command line of weft that is being made. */
struct line {
	char *words[WORDS_MAX + 1];
	size_t nr;
	char *owned[WORDS_MAX];
	size_t nr_owned;
	size_t filter; /* the word of -f for the last -e; 0: none */
	bool full;
};

static void put(struct line *line, char *word)
{
	line->full |= !word || line->nr == WORDS_MAX;
	if (!line->full)
		line->words[line->nr++] = word;
}

/* Takes a text of its own. */
static void put_owned(struct line *line, char *word)
{
	if (word && line->nr_owned < WORDS_MAX)
		line->owned[line->nr_owned++] = word;
	put(line, word);
}

static void put_joined(struct line *line, const char *option, const char *between, const char *value, const char *unit)
{
	char *word;

	put_owned(line, asprintf(&word, "%s%s%s%s", option, between, value, unit) < 0 ? NULL : word);
}

/* weft takes one filter for each -e. */
static void put_filter(struct line *line, const char *filter)
{
	const char *before = line->filter ? line->words[line->filter] : "-f", *between = line->filter ? "&&(" : "(";
	char *word;

	if (asprintf(&word, "%s%s%s)", before, between, filter) < 0)
		word = NULL;
	if (!line->filter) {
		put_owned(line, word);
		line->filter = line->nr - 1;
	} else if (word && line->nr_owned < WORDS_MAX) {
		line->owned[line->nr_owned++] = word;
		line->words[line->filter] = word;
	} else {
		free(word);
		line->full = true;
	}
}

static void line_release(struct line *line)
{
	for (size_t i = 0; i < line->nr_owned; i++)
		free(line->owned[i]);
}

/* What getopt_long() needs, from the rows. */
struct grammar {
	char letters[LETTERS_MAX];
	struct option longs[LONGS_MAX + 1];
};

static void grammar_of(const struct trace_cmd_verb *verb, struct grammar *ret)
{
	size_t len = 0, nr = 0;

	*ret = (struct grammar){ .letters = "" };
	/* The first word that is no option ends them: a command may follow. */
	ret->letters[len++] = '+';
	ret->letters[len++] = 'h';
	for (const struct trace_cmd_row *row = verb->rows; row->name; row++) {
		if (row->name[1]) {
			ret->longs[nr] = (struct option){ row->name, row->has_value ? required_argument : no_argument,
							  NULL, LONG_KEY + (int)(row - verb->rows) };
			nr++;
			continue;
		}
		ret->letters[len++] = row->name[0];
		if (row->has_value)
			ret->letters[len++] = ':';
	}
	ret->longs[nr] = (struct option){ "help", no_argument, NULL, 'h' };
	ret->letters[len] = '\0';
}

static const struct trace_cmd_row *row_of(const struct trace_cmd_verb *verb, int key)
{
	if (key >= LONG_KEY)
		return &verb->rows[key - LONG_KEY];
	for (const struct trace_cmd_row *row = verb->rows; row->name; row++)
		if (!row->name[1] && row->name[0] == key)
			return row;
	return NULL;
}

/* False, and a message, if the option is refused. */
static bool put_option(const struct trace_cmd_verb *verb, const struct trace_cmd_row *row, const char *value,
		       struct line *line)
{
	static const char *const units[] = { [AS_KB] = "K", [AS_S] = "s", [AS_MS] = "ms", [AS_US] = "us" };
	const char *dashes = row->name[1] ? "--" : "-", *between;
	char option[64];

	if (!strcmp(row->name, "e"))
		line->filter = 0;
	switch (row->how) {
	case KEEP:
		snprintf(option, sizeof(option), "%s%s", dashes, row->name);
		/* "any" of trace-cmd is what weft does without the option. */
		if (!strcmp(row->name, "compression") && value && !strcmp(value, "any"))
			return true;
		between = row->name[1] && value ? "=" : "";
		put_joined(line, option, between, value ? value : "", "");
		return true;
	case AS:
		put_joined(line, row->to, value ? "=" : "", value ? value : "", "");
		return true;
	case AS_KB:
	case AS_S:
	case AS_MS:
	case AS_US:
		put_joined(line, row->to, row->to[1] == '-' ? "=" : "", value, units[row->how]);
		return true;
	case AS_MASK:
		if (strcmp(value, "-1") != 0)
			put_joined(line, "-M", strncmp(value, "0x", 2) ? "0x" : "", value, "");
		return true;
	case AS_FILTER:
		put_filter(line, value);
		return true;
	case DROP:
		return true;
	case REFUSE:
		command_warn("trace-cmd %s %s%s cannot be had: %s", verb->name, dashes, row->name, row->to);
		return false;
	}
	return false;
}

static bool put_options(const struct trace_cmd_verb *verb, int argc, char **argv, struct line *line)
{
	bool has_buffer = false;
	struct grammar grammar;
	int key;

	grammar_of(verb, &grammar);
	optind = 1;
	while ((key = getopt_long(argc, argv, grammar.letters, grammar.longs, NULL)) != -1) {
		const struct trace_cmd_row *row = row_of(verb, key);

		if (!row || !put_option(verb, row, optarg, line))
			return false;
		has_buffer |= key == 'B';
	}
	if (verb->without_buffer && !has_buffer)
		put_joined(line, verb->without_buffer, "", "", "");
	return true;
}

static void put_words(const struct trace_cmd_verb *verb, int argc, char **argv, struct line *line)
{
	/* The times of split, and the output of convert, which may stand last. */
	static const char *const split_words[] = { "--since", "--until" };

	if (verb->runs_command && optind < argc)
		put_joined(line, "--", "", "", "");
	for (int i = optind; i < argc; i++) {
		if (!strcmp(verb->name, "split") && i - optind < 2)
			put_joined(line, split_words[i - optind], "=", argv[i], "");
		else if (!strcmp(verb->name, "convert"))
			put_joined(line, "-o", "", argv[i], "");
		else
			put(line, argv[i]);
	}
}

/* trace-cmd does not tell how the command ended that it recorded. */
static int status_of(const struct trace_cmd_verb *verb, int status)
{
	if (strcmp(verb->name, "record") && strcmp(verb->name, "stream"))
		return status == EXIT_USAGE ? TRACE_CMD_USAGE : status;
	return status == EXIT_RECORD_FAILED ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct trace_cmd_verb *verb, int argc, char **argv)
{
	const struct command *command = command_find(verb->weft);
	struct line line = { .nr = 0 };
	int status = TRACE_CMD_USAGE;
	char title[64];

	snprintf(title, sizeof(title), "weft %s", verb->weft);
	put(&line, title);
	for (size_t i = 0; i < array_size(verb->always) && verb->always[i]; i++)
		put_joined(&line, verb->always[i], "", "", "");
	if (put_options(verb, argc, argv, &line)) {
		put_words(verb, argc, argv, &line);
		if (line.full)
			command_warn("the command line is too long");
		else
			status = status_of(verb, command->run((int)line.nr, line.words));
	}
	line_release(&line);
	return status;
}

int trace_cmd_translate(const char *name, int argc, char **argv)
{
	for (const struct trace_cmd_verb *verb = trace_cmd_verbs; verb->name; verb++) {
		char title[64];

		if (strcmp(verb->name, name))
			continue;
		if (verb->refused) {
			command_warn("trace-cmd %s cannot be had: %s", name, verb->refused);
			return TRACE_CMD_USAGE;
		}
		/* The name in the messages of getopt_long(). */
		snprintf(title, sizeof(title), "trace-cmd %s", name);
		argv[0] = title;
		return run(verb, argc, argv);
	}
	command_warn("trace-cmd has no command '%s'", name);
	return TRACE_CMD_USAGE;
}
