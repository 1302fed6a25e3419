/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SYMBOL_COPY_INTERNAL_H
#define WEFT_KERNEL_RECORD_SYMBOL_COPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct ledger;

/*
 * Copies /proc/kallsyms, tens of MB of text on large kernels. A thread reads and compresses it while the kernel is set
 * up, so that this work is not part of the recording. It is read again after tracing was turned off if modules were
 * loaded or removed.
 */
struct symbol_copy;

int must_check symbol_copy_start(struct ledger *ledger, struct symbol_copy **ret, struct fail *fail);

/* Waits until the symbols are saved. Call it before tracing is turned on. */
int must_check symbol_copy_wait(struct symbol_copy *symbols, struct fail *fail);

/*
 * Waits for the thread, checks the modules, and frees `symbols`, which may be NULL. *ret_hidden: the kernel hides
 * addresses from this user.
 */
int must_check symbol_copy_finish(struct symbol_copy *symbols, bool *ret_hidden, struct fail *fail);

/*
 * Makes of the text of symbols the item of the metadata. The text begins behind SYMBOL_COPY_HEAD bytes, which are
 * overwritten; `swap`: the file and this machine differ in their byte order. The caller frees `frame`.
 */
enum { SYMBOL_COPY_HEAD = 4 };
struct symbol_copy_item {
	char key[24], *frame;
	size_t len;
};
int must_check symbol_copy_compress(struct buf *body, bool swap, struct symbol_copy_item *ret, struct fail *fail);

/*
 * The symbols in the metadata. For a compressed file: the frame of the body of the kallsyms section, as writer_metadata
 * needs it, borrowed from the ledger. Otherwise: the text. All zero: there are none.
 */
struct symbol_body {
	const char *frame;
	size_t frame_len, size;
	struct buf text;
};

int must_check symbol_copy_load(const struct ledger *ledger, bool compressed, struct symbol_body *ret,
				struct fail *fail);

#endif
