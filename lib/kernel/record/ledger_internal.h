/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_LEDGER_INTERNAL_H
#define WEFT_KERNEL_RECORD_LEDGER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct bytes;
struct fail;

/*
 * The ledger is the metadata of a recording: everything in a trace.dat except the pages. It is a file in the parts
 * directory that only grows. What is known at the start is in it before the first page; what is known later is
 * appended. Finished and recovered recordings are both written from it, so recovery needs nothing that was only in
 * memory.
 *
 * Invariants: after a kill at any byte, all items that were added before can be read, and a torn last item is dropped.
 * The last of several items with the same kind, buffer and key counts. No item decides which files outside of the parts
 * are touched. The file is in this machine's byte order: what comes from another machine is added item by item
 * (arrival.h). Its recorder holds a lock on it (flock). Not supported: ledger_load() while another process adds items.
 */
enum ledger_kind {
	LEDGER_FILE = 1, /* the properties of the file to make, as text: see parts.c */
	LEDGER_OUTPUT,   /* absolute path of the file to make; key: the machine that was recorded, "" for this one */
	LEDGER_HEADER_PAGE,
	LEDGER_HEADER_EVENT,
	LEDGER_FORMAT, /* key "SYSTEM/EVENT" */
	LEDGER_KALLSYMS,
	LEDGER_PRINTK,
	LEDGER_CMDLINES,
	LEDGER_UNAME,
	LEDGER_VERSION,
	LEDGER_CLOCK,   /* text of trace_clock */
	LEDGER_BUFFER,  /* key: the buffer's name; data: "SUB-BUFFER-SIZE CLOCK" (parts_buffer()) */
	LEDGER_STATS,   /* key: the number of the CPU */
	LEDGER_SETTING, /* key: the name of the setting */
	LEDGER_LATENCY,
	LEDGER_SECRET, /* random digits that the journal of the recording also has (undo_mark()) */
	/*
	 * key: the number of the CPU; data: "OFFSET SIZE CHUNKS NAME": the pages are in the unfinished file NAME of the
	 * parts
	 */
	LEDGER_MOVED,
	/* the name of the recording's own instance, or of one that it fills; key: /proc/sys/kernel/random/boot_id */
	LEDGER_INSTANCE,
	LEDGER_SPOOL,   /* key: the number of the CPU; from here on the parts have a spool of it (spool_name()) */
	LEDGER_SAMPLE,  /* some more lines of the setting "weft/clocks" of the buffer (lib/meaning/clock/wall.h) */
	LEDGER_DRAINED, /* every buffer has been read to its end; the kernel holds nothing that the parts lack */
	LEDGER_PING,    /* some more lines of the setting "weft/pings" (lib/meaning/clock/pings.h) */
	LEDGER_KIND_END,
};

/*
 * A bound on the number of buffers, far more than any recording has, so that damaged metadata cannot cause endless
 * work.
 */
enum { LEDGER_BUFFERS_MAX = 1 << 10 };

struct ledger_item {
	enum ledger_kind kind;
	uint32_t buffer;  /* 0 if the kind has no buffer */
	const char *key;  /* "" if the kind has no key */
	const char *data; /* followed by a NUL that `len` does not count */
	size_t len;
};

struct ledger;

/* Makes the file in directory `dir`. */
int must_check ledger_new(int dir, struct ledger **ret, struct fail *fail);

/* The same in memory, for uses that make no file. */
int must_check ledger_new_in_memory(struct ledger **ret, struct fail *fail);

/*
 * Opens the file of a recording that ended. -EBUSY: its recorder still runs. -EPERM: another user could have written
 * it.
 */
int must_check ledger_open(int dir, struct ledger **ret, struct fail *fail);
void ledger_free(struct ledger *ledger);

/* ledger_add() and ledger_add_text() may be called from any thread. */
int must_check ledger_add(struct ledger *ledger, const struct ledger_item *item, struct fail *fail);
int must_check ledger_add_text(struct ledger *ledger, enum ledger_kind kind, const char *text, struct fail *fail);

/* What was added is on the disk when this returns 0. */
int must_check ledger_sync(const struct ledger *ledger, struct fail *fail);

/* Reads all items. Items that were returned before become invalid. */
int must_check ledger_load(struct ledger *ledger, struct fail *fail);

/* The loaded items in the order in which they were added; NULL after the last. */
const struct ledger_item *ledger_at(const struct ledger *ledger, size_t index);

/* The last item of this kind, buffer and key; NULL: there is none. `key` NULL: any key. */
const struct ledger_item *ledger_find(const struct ledger *ledger, enum ledger_kind kind, uint32_t buffer,
				      const char *key);

/* The text of the item of that kind; NULL: there is none. */
const char *ledger_text(const struct ledger *ledger, enum ledger_kind kind);

/*
 * Takes an item of the file's bytes, from which *ret borrows, in their byte order. False: the rest is not a whole item;
 * ledger_may_take() says whether it is the beginning of one of at most `max` bytes.
 */
bool ledger_take(struct bytes *in, struct ledger_item *ret);
bool ledger_may_take(struct bytes in, size_t max);

/* The number of torn bytes at the end, which an interrupted write left. */
uint64_t ledger_torn(const struct ledger *ledger);

#endif
