// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/tracefs_page.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern const char man_weft_tracefs_7[];

/* Copies a line without roff's "\-", and ends it. */
static void copy_line(const char *line, char *into, size_t size)
{
	size_t len = 0;

	for (; *line && *line != '\n' && len + 1 < size; line++)
		if (*line != '\\')
			into[len++] = *line;
	into[len] = '\0';
}

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : at + strlen(at);
}

bool tracefs_page_next(const char **at, struct tracefs_row *row)
{
	const char *line = *at;

	if (!line) {
		line = man_weft_tracefs_7;
		*row = (struct tracefs_row){ .of_words = false };
	}
	for (; *line; line = next_line(line)) {
		const char *name = next_line(line), *text = next_line(name);

		if (!strncmp(line, ".SH WORDS", 9))
			row->of_words = true;
		if (!strncmp(line, ".SS ", 4))
			copy_line(line + 4, row->section, sizeof(row->section));
		if (strncmp(line, ".TP\n", 4) != 0 || strncmp(name, ".I ", 3) != 0)
			continue;
		copy_line(name + 3, row->names, sizeof(row->names));
		copy_line(text, row->text, sizeof(row->text));
		*at = next_line(text);
		return true;
	}
	return false;
}

bool tracefs_row_name(const char **at, char into[64])
{
	size_t len = strcspn(*at, ",");

	if (!len)
		return false;
	snprintf(into, 64, "%.*s", (int)len, *at);
	*at += len + strspn(*at + len, ", ");
	return true;
}
