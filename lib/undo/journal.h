/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_JOURNAL_H
#define WEFT_UNDO_JOURNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct fail;

/*
 * The file behind undo.h. A header line, "weft-undo 1 PID START BOOT", then entries:
 *	KIND INSTANCE-LENGTH FILE-LENGTH TEXT-LENGTH\n instance \n file \n text \n
 * Lengths are decimal. An entry that is cut short was never followed by its change and is ignored.
 */
enum journal_kind {
	JOURNAL_SETTING = 's',  /* file of instance held text */
	JOURNAL_INSTANCE = 'i', /* instance is ours */
	JOURNAL_PROBE = 'p',    /* file, "GROUP/NAME", is an event of ours in dynamic_events */
	JOURNAL_CLAIM = 'c',    /* its owner traces in instance; text says who that is (claim.h) */
	JOURNAL_FORGET = 'f',   /* instance is gone, or the probe that file names */
};

/* Who a process is: a pid is used again, the pair with its start time is not. */
struct process_id {
	pid_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
};

struct journal_entry {
	enum journal_kind kind;
	char *instance, *file, *text;
};

struct journal {
	struct journal_entry *entries;
	size_t nr, size;
};

void journal_release(struct journal *journal);

/* Takes over nothing: copies. The entry must not be there already. */
int must_check journal_add(struct journal *journal, enum journal_kind kind, const char *instance, const char *file,
			   const char *text, struct fail *fail);
/* NULL when it isn't there. */
struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind, const char *instance,
				   const char *file);
void journal_drop(struct journal *journal, struct journal_entry *entry);

/* Appends what the file has for an entry, and for the head. */
bool journal_print(const struct journal_entry *entry, struct buf *buf);
bool journal_print_head(struct process_id owner, const char *boot, struct buf *buf);

/* What a whole file says. -EBADMSG: no journal of ours. Forgotten instances are dropped. */
enum { BOOT_ID_SIZE = 40 };
int must_check journal_parse(const char *text, size_t len, struct process_id *ret_owner, char ret_boot[BOOT_ID_SIZE],
			     struct journal *ret, struct fail *fail);

/* Identity of a process; false when there is none. And of this boot: "" when the kernel does not tell. */
bool process_find(pid_t pid, struct process_id *ret);
bool process_lives(struct process_id id);
void boot_id(char into[BOOT_ID_SIZE]);

#endif
