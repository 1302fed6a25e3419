// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool note_text(const char *note, const char *key, char *ret, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = note; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		size_t value;

		if (strncmp(line, key, len) != 0 || line[len] != '=')
			continue;
		value = strcspn(line + len + 1, "\n");
		if (value >= size)
			return false;
		memcpy(ret, line + len + 1, value);
		ret[value] = '\0';
		return true;
	}
	return false;
}

static bool number_of(const char *note, const char *kind, const char *name, int base, uint64_t *ret)
{
	char key[80], value[40], *end;
	uint64_t number;

	snprintf(key, sizeof(key), "%s(%s)", kind, name);
	if (!note_text(note, key, value, sizeof(value)))
		return false;
	number = *value == '-' ? (uint64_t)strtoll(value, &end, base) : strtoull(value, &end, base);
	if (end == value)
		return false;
	*ret = number;
	return true;
}

bool note_number(const char *note, const char *name, uint64_t *ret)
{
	return number_of(note, "NUMBER", name, 0, ret);
}

bool note_symbol(const char *note, const char *name, uint64_t *ret)
{
	return number_of(note, "SYMBOL", name, 16, ret);
}
