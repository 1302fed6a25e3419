// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any bytes as a program of which functions, and the rules of its stack, are read. Every line is a place, a size
 * and a name or rules, ascending.
 */
#include "lib/kernel/probe/elf_unwind.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_lines(struct buf *text)
{
	char *at, *end;
	unsigned long last = 0;

	for (at = (char *)(uintptr_t)buf_str(text); *at; at = end + 1) {
		unsigned long start = strtoul(at, &end, 16);

		end = strchr(at, '\n');
		if (!end || end - at < 5 || start < last)
			__builtin_trap();
		last = start;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct elf_image file = { data, len };
	struct buf text = BUF_INIT, rules = BUF_INIT;
	char id[BUILD_ID_TEXT];
	bool cut;

	elf_build_id(&file, id);
	if (strlen(id) % 2 || strspn(id, "0123456789abcdef") != strlen(id))
		__builtin_trap();
	if (elf_functions_put(&file, &file, 1 << 20, &text, &cut))
		check_lines(&text);
	if (elf_unwind_put(&file, 1 << 20, &rules))
		check_lines(&rules);
	buf_release(&text);
	buf_release(&rules);
	return 0;
}
