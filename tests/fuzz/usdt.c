// SPDX-License-Identifier: GPL-2.0-only
/* Input: the bytes of a note of a USDT probe. Its texts lie in it; no argument is fetched that it does not have. */
#include "lib/kernel/probe/usdt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_S390 };
	struct usdt_note note;

	if (!len || !usdt_note(data + 1, len - 1, data[0] & 1, data[0] & 2, &note))
		return 0;
	if ((const uint8_t *)note.arguments + strlen(note.arguments) >= data + len ||
	    (const uint8_t *)note.provider < data)
		__builtin_trap();
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		cleanup_free char *arguments = strdup(note.arguments);
		struct usdt_place place = { .arguments = arguments };
		struct usdt usdt = { .places = &place, .nr_places = 1 };
		struct buf buf = BUF_INIT;
		struct usdt_types types;
		const char *text;
		size_t nr = usdt_argument(note.arguments, 0, &text);

		usdt_types(&usdt, machines[i], &types);
		for (size_t k = nr; k < USDT_ARGUMENTS_MAX; k++)
			if (types.size[k])
				__builtin_trap();
		(void)!usdt_fetch(note.arguments, machines[i], &types, &buf);
		buf_release(&buf);
	}
	return 0;
}
