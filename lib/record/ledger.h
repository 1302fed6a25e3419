/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_LEDGER_H
#define WEFT_RECORD_LEDGER_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * What a trace.dat says besides pages, in a file of the recording's parts directory that only grows: what is known at
 * the start is there before the first page, what is known later is appended. A finished recording and a recovered one
 * are both written from it, so recovery needs nothing that memory held.
 * Invariant: after a kill at any byte everything that was added before can be read; a torn last item is dropped.
 * Of items with the same kind, buffer and key the last one counts.
 * What they say is what the recording saved; nothing in them decides which files outside of the parts are touched.
 * The file is in this machine's byte order: it never leaves the machine, and is locked (flock) while its recorder lives.
 * Not supported: reading it while another process adds to it.
 */
enum ledger_kind {
	LEDGER_FILE = 1, /* text: see parts.c */
	LEDGER_OUTPUT,   /* absolute path of the file to make */
	LEDGER_HEADER_PAGE,
	LEDGER_HEADER_EVENT,
	LEDGER_FORMAT, /* key "SYSTEM/EVENT" */
	LEDGER_KALLSYMS,
	LEDGER_PRINTK,
	LEDGER_CMDLINES,
	LEDGER_UNAME,
	LEDGER_VERSION,
	LEDGER_CLOCK,   /* text of trace_clock */
	LEDGER_BUFFER,  /* key: its name, data: its clock */
	LEDGER_STATS,   /* key: the cpu's number */
	LEDGER_SETTING, /* key: its name */
	LEDGER_LATENCY,
	LEDGER_SECRET, /* random digits: the journal of the recording has them, too (undo_mark) */
	LEDGER_MOVED, /* key: the cpu's number, data: "OFFSET SIZE CHUNKS NAME": in the unfinished file NAME of the parts */
	LEDGER_INSTANCE, /* name of the private instance that is recorded; key: /proc/sys/kernel/random/boot_id */
	LEDGER_KIND_END,
};

/* No recording has more buffers; keeps damaged metadata from making us look for ever. */
enum { LEDGER_BUFFERS_MAX = 1 << 10 };

struct ledger_item {
	enum ledger_kind kind;
	uint32_t buffer;  /* 0 where it means nothing */
	const char *key;  /* "" where it means nothing */
	const char *data; /* NUL-terminated behind len */
	size_t len;
};

struct ledger;

/* Makes the file in directory `dir`. */
int must_check ledger_new(int dir, struct ledger **ret, struct fail *fail);

/* The same in memory, for what no file is made of. */
int must_check ledger_new_in_memory(struct ledger **ret, struct fail *fail);

/* Opens the file of a recording that ended; -EBUSY while its recorder lives, -EPERM: others may have written it. */
int must_check ledger_open(int dir, struct ledger **ret, struct fail *fail);
void ledger_free(struct ledger *ledger);

/* From any thread. */
int must_check ledger_add(struct ledger *ledger, const struct ledger_item *item, struct fail *fail);
int must_check ledger_add_text(struct ledger *ledger, enum ledger_kind kind, const char *text, struct fail *fail);

/* Reads everything that was added; items that were handed out before are no longer valid. */
int must_check ledger_load(struct ledger *ledger, struct fail *fail);

/* The loaded items in the order in which they were added; NULL at the end. */
const struct ledger_item *ledger_at(const struct ledger *ledger, size_t index);

/* The one that counts; NULL when there is none. `key` may be NULL: any. */
const struct ledger_item *ledger_find(const struct ledger *ledger, enum ledger_kind kind, uint32_t buffer,
				      const char *key);

/* Text of the item of that kind, NULL when there is none. */
const char *ledger_text(const struct ledger *ledger, enum ledger_kind kind);

/* Bytes at the end that a torn write left. */
uint64_t ledger_torn(const struct ledger *ledger);

#endif
