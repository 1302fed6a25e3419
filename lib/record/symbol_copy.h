/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SYMBOL_COPY_H
#define WEFT_RECORD_SYMBOL_COPY_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct ledger;

/*
 * /proc/kallsyms, tens of MB of text on large kernels, read and compressed by a thread of its own while the kernel is set up, so
 * that nothing of it is in what is recorded; read again once tracing is off, only if modules came or went.
 */
struct symbol_copy;

int must_check symbol_copy_start(struct ledger *ledger, struct symbol_copy **ret, struct fail *fail);

/* Waits until they are saved: before tracing is turned on. */
int must_check symbol_copy_wait(struct symbol_copy *symbols, struct fail *fail);

/* Waits, looks at the modules, frees. *ret_hidden: the kernel hides addresses from us. NULL is a no-op. */
int must_check symbol_copy_finish(struct symbol_copy *symbols, bool *ret_hidden, struct fail *fail);

/*
 * What the metadata holds: for a compressed file the frame of the kallsyms section's body, as writer_metadata wants it,
 * borrowed from the ledger; otherwise the text. All zero when there is none.
 */
struct symbol_body {
	const char *frame;
	size_t frame_len, size;
	struct buf text;
};

int must_check symbol_copy_load(const struct ledger *ledger, bool compressed, struct symbol_body *ret,
				struct fail *fail);

#endif
