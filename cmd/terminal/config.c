// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/options_check.h"
#include "lib/base/buf.h"
#include "lib/base/near.h"
#include "lib/base/readable.h"
#include "lib/base/text.h"
#include "lib/tracefs/tracing.h"

enum { CONFIG_MAX = 1 << 20 };

/*
 * The words of the new command line, and for each word from a file its place there. Never freed, because argp points
 * into it.
 */
static struct words {
	char **words;
	char **places; /* NULL for words of the command line */
	int nr;
} made;

__attribute__((noreturn)) static void die(const char *command, const struct fail *fail)
{
	fprintf(stderr, "%s: %s\n", command, fail->text);
	exit(EXIT_USAGE);
}

static void add_word(const char *command, char *word, char *place)
{
	char **words = word ? reallocarray(made.words, (size_t)made.nr + 2, sizeof(*words)) : NULL;
	char **places = words ? reallocarray(made.places, (size_t)made.nr + 2, sizeof(*places)) : NULL;
	struct fail fail;

	if (words)
		made.words = words;
	if (!places) {
		fail_memory(&fail);
		die(command, &fail);
	}
	made.places = places;
	made.words[made.nr] = word;
	made.places[made.nr++] = place;
	made.words[made.nr] = NULL;
}

struct line {
	const struct argp *argp;
	const char *command, *file;
	unsigned number;
};

__attribute__((noreturn)) static void wrong(const struct line *line, struct fail *fail)
{
	fail_in(fail, -EINVAL, "%s:%u", line->file, line->number);
	die(line->command, fail);
}

static struct text_word trim(const char *at, size_t len)
{
	while (len && strchr(" \t\r", at[len - 1]))
		len--;
	for (; len && strchr(" \t", *at); len--)
		at++;
	return (struct text_word){ .at = at, .len = len };
}

/* Adds the option with its long name, also for letters and aliases: "--event=VALUE". */
static void add_option(const struct line *line, const char *name, struct text_word value, bool has_value)
{
	struct near near = near_to(name);
	const struct argp_option *option = options_find(line->argp, name[1] ? name : NULL, name[1] ? 0 : *name, &near);
	struct fail fail;
	char *word, *place;
	int len;

	if (!option) {
		near_fail(&near, &fail, -EINVAL, "no option '%s'", name);
		wrong(line, &fail);
	}
	if (!strcmp(option->name, "config")) {
		fail_set(&fail, -EINVAL, "a file of options cannot name another file of options");
		wrong(line, &fail);
	}
	if (option->arg && !has_value && !(option->flags & OPTION_ARG_OPTIONAL)) {
		fail_set(&fail, -EINVAL, "'%s' needs a value: %s = %s", name, name, option->arg);
		wrong(line, &fail);
	}
	if (!option->arg && has_value) {
		fail_set(&fail, -EINVAL, "'%s' takes no value", name);
		wrong(line, &fail);
	}
	len = has_value ? asprintf(&word, "--%s=%.*s", option->name, (int)value.len, value.at) :
			  asprintf(&word, "--%s", option->name);
	if (len < 0 || asprintf(&place, "%s:%u: ", line->file, line->number) < 0)
		word = place = NULL;
	add_word(line->command, word, place);
}

static void read_line(const struct line *line, struct text_word text)
{
	const char *equals = memchr(text.at, '=', text.len);
	struct text_word name = trim(text.at, equals ? (size_t)(equals - text.at) : text.len),
			 value = { .at = "", .len = 0 };
	struct fail fail;
	char word[64];

	if (!name.len && !equals)
		return;
	if (*text.at == '[' && text.at[text.len - 1] == ']') {
		add_option(line, "instance", trim(text.at + 1, text.len - 2), true);
		return;
	}
	if (name.len >= 2 && !memcmp(name.at, "--", 2))
		name = (struct text_word){ .at = name.at + 2, .len = name.len - 2 };
	if (!name.len || name.len >= sizeof(word) || memchr(name.at, ' ', name.len) || memchr(name.at, 0, text.len)) {
		fail_set(&fail, -EINVAL, "'%.*s' is not NAME or NAME = VALUE", (int)text.len, text.at);
		wrong(line, &fail);
	}
	memcpy(word, name.at, name.len);
	word[name.len] = '\0';
	if (equals)
		value = trim(equals + 1, (size_t)(text.at + text.len - equals - 1));
	add_option(line, word, value, equals);
}

static void read_file(const struct argp *argp, const char *command, const char *file)
{
	struct line line = { .argp = argp, .command = command, .file = file };
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word text;
	struct fail fail;
	const char *at;
	size_t left;
	int fd = -1;
	ssize_t got = 1;

	if (readable_open(file, &fd, &fail))
		die(command, &fail);
	for (; got > 0; buf.len += got > 0 ? (size_t)got : 0)
		got = buf.len <= CONFIG_MAX && buf_reserve(&buf, 4096) ?
			      read(fd, buf.data + buf.len, buf.size - buf.len) :
			      -1;
	if (got < 0) {
		fail_set(&fail, -EINVAL, "cannot read '%s': %s", file,
			 buf.len > CONFIG_MAX ? "it is larger than 1 MiB" : strerror(errno));
		die(command, &fail);
	}
	close(fd);
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &text)) {
		line.number++;
		text = trim(text.at, text.len);
		if (text.len && *text.at != '#' && *text.at != ';')
			read_line(&line, text);
	}
}

bool config_takes_next(const struct argp *argp, const char *word)
{
	const struct argp_option *option;

	if (word[1] == '-') {
		option = strchr(word, '=') ? NULL : options_find(argp, word + 2, 0, NULL);
		return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
	}
	for (word++; *word; word++) {
		option = options_find(argp, NULL, *word, NULL);
		if (option && option->arg)
			return !word[1] && !(option->flags & OPTION_ARG_OPTIONAL);
	}
	return false;
}

void config_expand(const struct argp *argp, int *argc, char ***argv)
{
	char **words = *argv;
	struct fail fail;
	int i = 1;

	if (!options_find(argp, "config", 0, NULL))
		return;
	add_word(words[0], words[0], NULL);
	for (; i < *argc && words[i][0] == '-' && words[i][1] && strcmp(words[i], "--") != 0; i++) {
		if (!strncmp(words[i], "--config=", 9)) {
			read_file(argp, words[0], words[i] + 9);
		} else if (!strcmp(words[i], "--config") && i + 1 == *argc) {
			fail_set(&fail, -EINVAL, "--config needs a FILE");
			die(words[0], &fail);
		} else if (!strcmp(words[i], "--config")) {
			read_file(argp, words[0], words[++i]);
		} else {
			bool two = config_takes_next(argp, words[i]) && i + 1 < *argc;

			add_word(words[0], words[i], NULL);
			if (two)
				add_word(words[0], words[++i], NULL);
		}
	}
	for (; i < *argc; i++)
		add_word(words[0], words[i], NULL);
	*argc = made.nr;
	*argv = made.words;
}

const char *config_place(const struct argp_state *state)
{
	int at = state->next - 1;

	if (state->argv != made.words || at < 0 || at >= made.nr || !made.places[at])
		return "";
	return made.places[at];
}
