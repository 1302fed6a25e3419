// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a file of options. An option has a name without blanks, a value without blanks around it, and the number of a
 * line that exists; what is refused has a message.
 */
#include <stdint.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/option_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct option_lines lines = { .at = (const char *)data, .left = len };
	struct option_line line;
	struct fail fail = FAIL_INIT;
	unsigned newlines = 1;
	int r;

	for (size_t i = 0; i < len; i++)
		newlines += data[i] == '\n';
	while ((r = option_lines_next(&lines, &line, &fail)) > 0) {
		struct text_word value = line.value;

		if (!*line.name || strlen(line.name) >= sizeof(line.name) || strpbrk(line.name, " \t\n") ||
		    lines.number > newlines)
			__builtin_trap();
		if (value.len && (value.at < (const char *)data || value.at + value.len > (const char *)data + len ||
				  memchr(value.at, '\n', value.len) || memchr(value.at, 0, value.len) ||
				  text_is_blank(*value.at) || text_is_blank(value.at[value.len - 1])))
			__builtin_trap();
	}
	if (r < 0 && !*fail.text)
		__builtin_trap();
	return 0;
}
