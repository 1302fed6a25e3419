// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/undo/journal.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct journal journal;
	struct process_id owner;
	char boot[BOOT_ID_SIZE];

	if (!journal_parse((const char *)data, len, &owner, boot, &journal, NULL))
		journal_release(&journal);
	return 0;
}
