// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/guides.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, LINE = 1024 };

extern const char man_weft_recipes_7[];

static const char mark[] = ".\\\" guide: ";

/* Copies a line, with roff's escapes of this page read, and ends it. Returns the next one. */
static const char *take_line(const char *at, char *into, size_t size)
{
	size_t len = 0;

	for (; *at && *at != '\n'; at++) {
		char c = *at;

		if (c == '\\' && !strncmp(at, "\\(aq", 4)) {
			c = '\'';
			at += 3;
		} else if (c == '\\' && at[1] && at[1] != '"') {
			c = *++at;
		}
		if (len + 1 < size)
			into[len++] = c;
	}
	into[len] = '\0';
	return *at ? at + 1 : at;
}

/* A guide is a section with a mark behind its title. */
bool guides_next(const char **at, struct guide *guide)
{
	const char *line = *at ? *at : man_weft_recipes_7;

	while (*line) {
		const char *title = line;
		char skipped[LINE];

		line = take_line(line, skipped, sizeof(skipped));
		if (strncmp(title, ".SS ", 4) != 0 || strncmp(line, mark, strlen(mark)) != 0)
			continue;
		(void)take_line(title + 4, guide->title, sizeof(guide->title));
		guide->text = take_line(line + strlen(mark), guide->name, sizeof(guide->name));
		*at = guide->text;
		return true;
	}
	return false;
}

void guides_list(void)
{
	struct guide guide;

	for (const char *at = NULL; guides_next(&at, &guide);)
		printf("  %-9s %s\n", guide.name, guide.title);
}

/* Prints the words of a line behind those before, at most WIDTH in a line. */
static void print_words(const char *text, size_t *column)
{
	while (*(text += strspn(text, " "))) {
		size_t len = strcspn(text, " ");

		if (*column && *column + 1 + len > WIDTH) {
			putchar('\n');
			*column = 0;
		}
		printf("%s%.*s", *column ? " " : "", (int)len, text);
		*column += len + (*column > 0);
		text += len;
	}
}

static void end_words(size_t *column)
{
	if (*column)
		putchar('\n');
	*column = 0;
}

/* ".BR ssh (1);" and ".B \"weft flight\"": alternate fonts join their words, one font keeps the blanks between them. */
static void print_font(char *words, bool joins, size_t *column)
{
	size_t len = 0;

	for (const char *at = words; *at; at++)
		if (*at != '"' && (*at != ' ' || !joins))
			words[len++] = *at;
	words[len] = '\0';
	print_words(words, column);
}

static bool is_font(const char *line)
{
	return !strncmp(line, ".B ", 3) || !strncmp(line, ".I ", 3) || !strncmp(line, ".BR ", 4);
}

void guide_print(const struct guide *guide)
{
	bool typed = false;
	char line[LINE];
	size_t column = 0;

	puts(guide->title);
	for (const char *at = guide->text; *at;) {
		at = take_line(at, line, sizeof(line));
		if (!strncmp(line, ".SS", 3) || !strncmp(line, ".SH", 3))
			break;
		if (*line != '.' && typed)
			printf("    %s\n", line);
		else if (*line != '.')
			print_words(line, &column);
		else if (is_font(line))
			print_font(strchr(line, ' ') + 1, line[2] == 'R', &column);
		else
			end_words(&column);
		typed = !strcmp(line, ".EX") || (typed && *line != '.');
	}
	end_words(&column);
}

bool guides_find(const char *name, struct guide *ret)
{
	for (const char *at = NULL; guides_next(&at, ret);)
		if (!strcmp(ret->name, name))
			return true;
	return false;
}
