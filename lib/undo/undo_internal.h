/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_UNDO_INTERNAL_H
#define WEFT_UNDO_UNDO_INTERNAL_H

#include "lib/undo/journal.h"
#include "lib/undo/undo.h"

/* What undo.c, undo_probe.c and undo_reset.c share: journals as files, and putting one entry back. */

/* What a file of the directory is, by its name. A journal that undo_store() has not finished is none. */
#define UNDO_UNFINISHED ".new"
enum undo_file { UNDO_FILE_NONE, UNDO_FILE_OWN, UNDO_FILE_HELD };
enum undo_file undo_file_of(const char *name);

/* The locks of claims (claim.h) in that directory. */
#define CLAIM_TOP "top"
#define CLAIM_NAMED "in-"

/* Whether a journal is of this boot, as far as the kernel tells. */
bool undo_is_this_boot(const char *boot);

int must_check undo_write_synced(int fd, const struct buf *buf);

/* Reads a journal that can only be ours: it decides what root writes where. */
int must_check undo_read_journal(const char *path, int *ret_fd, struct process_id *ret_owner,
				 char ret_boot[BOOT_ID_SIZE], struct journal *ret, struct fail *fail);

/* Fills *ret and says true when the journal waits to be put back: held, or that of a dead process of this boot. */
bool undo_is_waiting(const char *path, bool held, struct undo_pending *ret);

int must_check undo_restore_entry(const struct tracing *tracing, const struct journal_entry *entry, struct fail *fail);

/* Of the owner's claim, or else of its process: when it began, in ns since boot. */
uint64_t undo_since_ns(struct process_id owner, const struct journal *journal);

/*
 * What held journals that are younger than `since_ns` have changed, too: they get the text of the entry, which is dropped, for the setting stays
 * as it is until they are put back.
 */
void undo_hand_down(const char *dir, uint64_t since_ns, struct journal *journal);

/* Replaces the file by a journal of these entries; nothing else of the owner's process has it open for writing. */
int must_check undo_store(const char *path, struct process_id owner, const char *boot, const struct journal *journal,
			  struct fail *fail);

/*
 * Drops what a held journal in the directory knows already, or that lies in an instance which a held journal will remove:
 * undo_reset() goes to the oldest value. True: something was dropped.
 */
bool undo_drop_known(const char *dir, struct journal *journal);

#endif
