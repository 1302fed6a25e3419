/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SYMBOL_COPY_H
#define WEFT_RECORD_SYMBOL_COPY_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fail;
struct ledger;

/*
 * /proc/kallsyms, tens of MB of text on large kernels, read and compressed by a thread of its own while the recording
 * runs, so that neither its start nor its end waits; read again at the end only if modules came or went.
 */
struct symbol_copy;

/* done_fd: an eventfd that gets 1 when they are saved, or could not be; -1: none. */
int must_check symbol_copy_start(struct ledger *ledger, int done_fd, struct symbol_copy **ret, struct fail *fail);

/* The thread, to keep it out of what is recorded. */
pid_t symbol_copy_tid(const struct symbol_copy *symbols);

/*
 * Waits for the thread's end. True when no CPU has anything to do with it any more, so that no buffer's list of tasks to keep out
 * needs it; false when that cannot be told.
 */
bool symbol_copy_is_gone(struct symbol_copy *symbols);

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

int must_check symbol_copy_load(const struct ledger *ledger, bool compressed, struct symbol_body *ret, struct fail *fail);

#endif
