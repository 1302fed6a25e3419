/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SYMBOLS_H
#define WEFT_RECORD_SYMBOLS_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;
struct ledger;

/*
 * /proc/kallsyms, tens of MB of text on large kernels, read and compressed by a thread of its own while the recording
 * runs, so that neither its start nor its end waits; read again at the end only if modules came or went.
 */
struct symbols;

int must_check symbols_start(struct ledger *ledger, struct symbols **ret, struct fail *fail);

/* The thread, to keep it out of what is recorded. */
pid_t symbols_tid(const struct symbols *symbols);

/* Waits, looks at the modules, frees. *ret_hidden: the kernel hides addresses from us. NULL is a no-op. */
int must_check symbols_finish(struct symbols *symbols, bool *ret_hidden, struct fail *fail);

/* The text back out of the metadata; nothing is appended when there is none. */
int must_check symbols_load(const struct ledger *ledger, struct buf *buf, struct fail *fail);

#endif
