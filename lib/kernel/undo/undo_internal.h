/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_UNDO_INTERNAL_H
#define WEFT_KERNEL_UNDO_UNDO_INTERNAL_H

#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo.h"

/* journal_file.c: journals as files. */

/*
 * The kind of a file in the journals' directory, by its name. A file that undo_store() has not finished is no journal.
 */
#define UNDO_UNFINISHED ".new"
enum undo_file { UNDO_FILE_NONE, UNDO_FILE_OWN, UNDO_FILE_HELD };
enum undo_file undo_file_of(const char *name);

/* The names of the lock files of claims (claim.h) in that directory. */
#define CLAIM_TOP "top"
#define CLAIM_NAMED "in-"

/* Opens a file of the journals' directory for writing and gives it a sign of life (lock_file.h). -errno: it cannot. */
int must_check undo_new_file(const char *path, int flags);

int must_check undo_write_synced(int fd, const struct buf *buf);

/* Reads a journal after it has checked owner and mode, because a journal decides which files root writes. */
int must_check undo_read_journal(const char *path, int *ret_fd, struct process_id *ret_owner,
				 char ret_boot[BOOT_ID_SIZE], struct journal *ret, struct fail *fail);

/* Whether the process of an open journal lives, in whichever namespace; `owner` is what the journal says of it. */
bool undo_owner_lives(int fd, struct process_id owner);

/*
 * Replaces the file by a journal with these entries. No other code of the owner's process may have the file open for
 * writing.
 */
int must_check undo_store(const char *path, struct process_id owner, const char *boot, const struct journal *journal,
			  struct fail *fail);

/* Whether a journal is of this boot. True if the kernel has no identifier of the boot. */
bool undo_is_this_boot(const char *boot);

/*
 * undo_pending.c: the time in ns since boot when the owner took its last claim, or else when its process began.
 */
uint64_t undo_since_ns(struct process_id owner, const struct journal *journal);

/* undo_entry.c: the path of a file of an instance; -ENOMEM. */
int must_check undo_path_of(const struct tracing *tracing, const char *instance, const char *file, char **ret);
int must_check undo_restore_entry(const struct tracing *tracing, const struct journal_entry *entry, struct fail *fail);
/*
 * Whether an entry is restored after all others: tracing that was on. A trigger or function command that is still set
 * might turn it off again.
 */
bool undo_comes_last(const struct journal_entry *entry);

/* undo_held.c: gives the old value of the entry to the entry of the same setting in a younger journal. */
bool undo_hand_to(struct journal *younger, const struct journal_entry *entry);

/*
 * For a setting that a held journal younger than `since_ns` has also changed: gives the old value to that held journal
 * and drops the entry here, because the setting keeps its value until the held journal is restored.
 */
void undo_hand_down(const char *dir, uint64_t since_ns, struct journal *journal);

/*
 * Drops the entries that a held journal in the directory also has, and those of an instance that a held journal will
 * remove: undo_reset() restores the oldest value. Returns whether it dropped an entry.
 */
bool undo_drop_known(const char *dir, struct journal *journal);

bool undo_chosen_in(const char *dir, const char *instance, const char *file);

#endif
