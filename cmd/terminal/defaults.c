// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/defaults.h"

#include "cmd/terminal/config.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/base/trust.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULTS_MAX = 64 << 10 };

static bool left_out;
static char **expanded; /* the new command line: argp keeps pointers to it as long as the program runs */

/* The place that is read, and the command. */
struct reading {
	const struct command *command;
	const char *source; /* for messages */
	unsigned line;
	size_t nr; /* words of `expanded` */
};

void defaults_leave_out(void)
{
	left_out = true;
}

__attribute__((noreturn)) static void no_memory(void)
{
	fputs("weft: out of memory\n", stderr);
	exit(EXIT_FAILED);
}

__attribute__((noreturn, format(printf, 2, 3))) static void wrong(const struct reading *reading, const char *format,
								  ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	command_warn("%s:%u: %s; 'weft --no-config %s' ignores your defaults", reading->source, reading->line, text,
		     reading->command->name);
	exit(EXIT_USAGE);
}

static void add_word(struct reading *reading, char *word)
{
	char **added = word ? vec_push(expanded, reading->nr) : NULL;

	if (!added)
		no_memory();
	*added = word;
}

/* Returns the next word. Words are separated by blanks; quotes go around a word with blanks. NULL at the end. */
static char *next_word(const struct reading *reading, const char **at, const char *end)
{
	char *word, *to, quote = '\0';

	while (*at < end && strchr(" \t\r", **at))
		(*at)++;
	if (*at == end)
		return NULL;
	word = to = malloc((size_t)(end - *at) + 1);
	if (!word)
		no_memory();
	for (; *at < end && (quote || !strchr(" \t\r", **at)); (*at)++) {
		if (quote ? **at == quote : **at == '\'' || **at == '"')
			quote = quote ? '\0' : **at;
		else
			*to++ = **at;
	}
	if (quote)
		wrong(reading, "a quote is not closed");
	*to = '\0';
	return word;
}

/*
 * Takes options and their values only: any other word would become an argument, such as the command that record runs.
 */
static void read_words(struct reading *reading, const char *at, const char *end)
{
	char *word;

	while ((word = next_word(reading, &at, end))) {
		if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
			wrong(reading, "'%s' is no option", word);
		add_word(reading, word);
		if (!config_takes_next(reading->command->argp, word))
			continue;
		word = next_word(reading, &at, end);
		if (!word)
			wrong(reading, "'%s' needs a value", expanded[reading->nr - 1]);
		add_word(reading, word);
	}
}

static void check_name(const struct reading *reading, const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	if (command_find(name))
		return;
	for (size_t i = 0; command_at(i); i++)
		if (command_at(i)->group)
			near_offer(&near, command_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "no command '%s'", name);
	wrong(reading, "%s", fail.text);
}

static void read_line(struct reading *reading, const char *at, size_t len)
{
	const char *equals = memchr(at, '=', len), *end = at + len;
	char name[64];
	size_t name_len;

	for (; at < end && strchr(" \t\r", *at); at++)
		continue;
	if (at == end || *at == '#')
		return;
	if (!equals)
		wrong(reading, "'%.*s' is not COMMAND = OPTION...", (int)(end - at), at);
	for (name_len = (size_t)(equals - at); name_len && strchr(" \t", at[name_len - 1]); name_len--)
		continue;
	snprintf(name, sizeof(name), "%.*s", (int)name_len, at);
	check_name(reading, name);
	if (!strcmp(name, reading->command->name))
		read_words(reading, equals + 1, end);
}

static void read_lines(struct reading *reading, const char *text, size_t len, const char *ends)
{
	const char *end = text + len;

	reading->line = 1;
	while (text < end) {
		const char *line_end = text;

		while (line_end < end && !strchr(ends, *line_end))
			line_end++;
		read_line(reading, text, (size_t)(line_end - text));
		reading->line++;
		text = line_end + 1;
	}
}

/* Returns NULL if there is none. */
static char *config_path(void)
{
	const char *named = getenv("WEFT_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int len;

	if (named)
		return *named ? strdup(named) : NULL;
	if (xdg && *xdg == '/')
		len = asprintf(&path, "%s/weft/config", xdg);
	else if (home && *home == '/')
		len = asprintf(&path, "%s/.config/weft/config", home);
	else
		return NULL;
	return len < 0 ? NULL : path;
}

static void read_file(struct reading *reading, char *path)
{
	cleanup_fd int fd = -1;
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	ssize_t got = 1;
	int r = trust_open(path, &fd, &fail);

	if (r) {
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			command_warn("note: the defaults are left out: %s", fail.text);
		return;
	}
	if (trust_check(fd, S_IFREG, path, &fail)) {
		command_warn("note: the defaults of %s are left out", fail.text);
		return;
	}
	while (got > 0 && text.len < DEFAULTS_MAX) {
		if (!buf_reserve(&text, 4096))
			no_memory();
		got = read(fd, text.data + text.len, text.size - text.len);
		text.len += got > 0 ? (size_t)got : 0;
	}
	reading->source = path;
	if (text.len && memchr(text.data, 0, text.len))
		wrong(reading, "it is no text");
	read_lines(reading, buf_str(&text), text.len, "\n");
}

void defaults_expand(const struct command *command, int *argc, char ***argv)
{
	struct reading reading = { .command = command };
	const char *options = getenv("WEFT_OPTIONS");
	bool says = *argc > 1 && !strcmp((*argv)[1], "--no-config");
	cleanup_free char *path = left_out || says ? NULL : config_path();
	int skip = says ? 2 : 1;

	if (!says && (left_out || (!path && !options)))
		return;
	add_word(&reading, (*argv)[0]);
	if (path)
		read_file(&reading, path);
	if (options && !left_out && !says) {
		reading.source = "WEFT_OPTIONS";
		read_lines(&reading, options, strlen(options), ";\n");
	}
	for (int i = skip; i < *argc; i++)
		add_word(&reading, (*argv)[i]);
	*argc = (int)reading.nr;
	/* argv ends with NULL. */
	if (!vec_push(expanded, reading.nr))
		no_memory();
	*argv = expanded;
}
