/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_JOURNAL_H
#define WEFT_KERNEL_UNDO_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * The format of a journal file (undo.h). A header line, "weft-undo 1 PID START BOOT", is followed by entries:
 *    KIND INSTANCE-LENGTH FILE-LENGTH TEXT-LENGTH\n instance \n file \n text \n
 * Lengths are decimal, in bytes. An entry that is cut short is ignored: the change that it announces was never made.
 */
enum journal_kind {
	JOURNAL_SETTING = 's',  /* `file` of `instance` had the value `text` */
	JOURNAL_INSTANCE = 'i', /* weft made `instance` */
	JOURNAL_PROBE = 'p',    /* weft made the event `file`, "GROUP/NAME", of dynamic_events */
	JOURNAL_CLAIM = 'c',    /* the owner traces in `instance`; `text` is the claim (claim.h) */
	JOURNAL_LENT = 'l',     /* the recording `text` (undo_mark()) fills `instance`, which weft did not make */
	JOURNAL_FORGET = 'f',   /* `instance`, or the probe `file`, no longer exists */
};

/* The identity of a process. A PID may be reused, but not together with the same start time. */
struct process_id {
	pid_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
};

struct journal_entry {
	enum journal_kind kind;
	char *instance, *file, *text;
};

/* Whether there is nothing to restore: the entry only says what an instance is used for. */
static inline bool journal_only_says(const struct journal_entry *entry)
{
	return entry->kind == JOURNAL_CLAIM || entry->kind == JOURNAL_LENT;
}

struct journal {
	struct journal_entry *entries;
	size_t nr;
};

void journal_release(struct journal *journal);

/* Adds an entry, which must not exist yet. Copies the arguments. */
int must_check journal_add(struct journal *journal, enum journal_kind kind, const char *instance, const char *file,
			   const char *text, struct fail *fail);
/* Adds copies of all entries to *ret, which the caller releases, also after an error. */
int must_check journal_copy(const struct journal *journal, struct journal *ret, struct fail *fail);
/* NULL: there is no such entry. */
struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind, const char *instance,
				   const char *file);
void journal_drop(struct journal *journal, struct journal_entry *entry);

/* Append the text of an entry, or the header line, to buf. */
bool journal_print(const struct journal_entry *entry, struct buf *buf);
bool journal_print_head(struct process_id owner, const char *boot, struct buf *buf);

/*
 * Parses a whole file. -EBADMSG: the file is not a journal of weft. Instances and probes that no longer exist are
 * dropped.
 */
enum { BOOT_ID_SIZE = 40 };
int must_check journal_parse(const char *text, size_t len, struct process_id *ret_owner, char ret_boot[BOOT_ID_SIZE],
			     struct journal *ret, struct fail *fail);

/*
 * process_find() returns the identity of a process, or false if there is none. A PID and a start time mean something
 * else in another PID or time namespace: so process_lives() is true only for processes that this one sees, and whoever
 * must know asks for a sign of life (lock_file.h) as well. boot_id() returns the identity of this boot, or "" if the
 * kernel does not say it.
 */
bool process_find(pid_t pid, struct process_id *ret);
bool process_lives(struct process_id id);
/* This process as /proc shows it. Without /proc it has the start time 0. */
struct process_id process_self(void);
void boot_id(char into[BOOT_ID_SIZE]);

#endif
