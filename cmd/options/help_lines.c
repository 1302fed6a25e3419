// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/help_lines.h"

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"

/*
 * argp's own columns (argp-help.c: uparams): where the text of an option begins, and the further lines of a usage. With
 * less than TEXT_LEAST columns, the text of an option is in lines of its own.
 */
enum { TEXT_AT = 29, USAGE_AT = 12, TEXT_LEAST = 28, BELOW_AT = 10, WIDTH = 79, WIDTH_LEAST = 39, WIDTH_MOST = 119 };
#define UNBROKEN "rmargin=30000"

struct width {
	size_t line, text_at; /* bytes of a line; where the text of an option begins */
	bool below;           /* it begins in a line of its own */
};

static size_t parameter(const char *format, const char *name, size_t otherwise)
{
	const char *at = format;
	size_t value = otherwise;

	/* The last one counts. */
	while (at && (at = strstr(at, name))) {
		at += strlen(name);
		if (*at == '=')
			value = strtoul(at + 1, NULL, 10);
	}
	return value;
}

static struct width width_of(const char *format)
{
	struct winsize size;
	struct width ret = { .line = WIDTH, .text_at = parameter(format, "opt-doc-col", TEXT_AT) };

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		ret.line = size.ws_col > WIDTH_MOST ? WIDTH_MOST : size.ws_col - 1u;
	ret.line = parameter(format, "rmargin", ret.line);
	if (ret.line < WIDTH_LEAST)
		ret.line = WIDTH_LEAST;
	ret.below = ret.line < ret.text_at + TEXT_LEAST;
	return ret;
}

/* Prints words up to `end`, of which the first begins in column `column`; further lines begin in column `hang`. */
static void put_words(const char *at, const char *end, size_t column, size_t hang, size_t width, FILE *to)
{
	while (end > at && end[-1] == ' ')
		end--;
	while ((size_t)(end - at) + column > width) {
		size_t room = width > column ? width - column : 0;
		const char *cut = at + room;

		/* At the last blank that fits, or at the first one. */
		while (cut > at && *cut != ' ')
			cut--;
		if (cut == at)
			cut = memchr(at, ' ', (size_t)(end - at));
		if (!cut)
			break;
		fprintf(to, "%.*s\n%*s", (int)(cut - at), at, (int)hang, "");
		column = hang;
		for (at = cut; at < end && *at == ' ';)
			at++;
	}
	fprintf(to, "%.*s\n", (int)(end - at), at);
}

/* Where the text of an option begins in its line: behind the column, or behind the blanks after a longer name. */
static size_t text_of(const char *line, size_t len, size_t text_at)
{
	const char *gap;

	if (len > text_at && line[text_at - 1] == ' ')
		return text_at;
	gap = len > text_at ? memmem(line + text_at, len - text_at, "   ", 3) : NULL;
	return gap ? (size_t)(gap - line) + 3 : len;
}

static void put_line(const char *line, size_t len, const struct width *width, FILE *to)
{
	size_t blanks = strspn(line, " "), text = len;
	bool option = blanks && blanks < len && (line[blanks] == '-' || blanks == width->text_at);

	if (option)
		text = blanks == width->text_at ? blanks : text_of(line, len, width->text_at);
	if (len <= width->line && (!option || !width->below)) {
		fprintf(to, "%.*s\n", (int)len, line);
	} else if (!option) {
		size_t hang = !strncmp(line, "Usage:", 6) || !strncmp(line, "  or:", 5) ? USAGE_AT : blanks;

		put_words(line, line + len, 0, hang, width->line, to);
	} else if (!width->below) {
		fprintf(to, "%.*s", (int)text, line);
		put_words(line + text, line + len, text, width->text_at, width->line, to);
	} else {
		if (blanks != width->text_at)
			put_words(line, line + text, 0, blanks, text, to);
		if (text < len) {
			fprintf(to, "%*s", BELOW_AT, "");
			put_words(line + text, line + len, BELOW_AT, BELOW_AT, width->line, to);
		}
	}
}

/* Lets argp print each text as one line, whatever else the user has told it. */
static bool unbreak(const char *format)
{
	cleanup_free char *longer = NULL;

	if (!format || !*format)
		return !setenv("ARGP_HELP_FMT", UNBROKEN, 1);
	return asprintf(&longer, "%s," UNBROKEN, format) >= 0 && !setenv("ARGP_HELP_FMT", longer, 1);
}

void help_lines_put(const struct argp *argp, FILE *to, unsigned flags, char *name)
{
	const char *before = getenv("ARGP_HELP_FMT");
	cleanup_free char *format = before ? strdup(before) : NULL, *text = NULL;
	struct width width = width_of(format);
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream || (before && !format) || !unbreak(format)) {
		if (stream)
			fclose(stream);
		argp_help(argp, to, flags, name);
		return;
	}
	argp_help(argp, stream, flags, name);
	if (format)
		setenv("ARGP_HELP_FMT", format, 1);
	else
		unsetenv("ARGP_HELP_FMT");
	if (fclose(stream) || !text) {
		argp_help(argp, to, flags, name);
		return;
	}
	for (const char *line = text, *end; *line; line = end + (*end != '\0')) {
		end = strchrnul(line, '\n');
		put_line(line, (size_t)(end - line), &width, to);
	}
}
