/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_CLAIM_H
#define WEFT_UNDO_CLAIM_H

#include "lib/base/cleanup.h"
#include "lib/undo/journal.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct fail;

/*
 * Who traces in an instance. It has one buffer, one tracer and one of each list: a second one who sets it up destroys what the first
 * records. So there is one claim on it, and it is taken before anything is changed.
 * A process has it by the lock of a file in the directory of the journals ("top", or "in-NAME"), so that a kill ends it; what stands in that
 * file is only told. `weft start` ends, and goes on tracing: its claim on the top instance stands in the journal that it holds, until reset
 * takes that. One with a name is free again then: whoever records there saves what start has made the kernel trace.
 * Instances are claimed in the order of their names, and the top one last, so that two who wait do not wait for each other.
 * Not known: whoever traces there without weft. Names of which the first 200 letters are the same have one claim.
 */
struct claim {
	struct process_id owner;
	struct process_id
		session; /* only to be compared: its leader, or a login of the kernel's audit, whose `start` is no time */
	uint64_t boot_ns;  /* when it was taken, in ns since boot */
	bool held;         /* by a journal; its process has ended */
	char command[160]; /* "weft start -p function" */
};

/* What the file and the journal say, one line without its newline: of this process, and of whoever wrote it. */
bool claim_print(struct buf *buf);
bool claim_parse(const char *text, struct claim *ret);

/* Whoever has it: false when nobody has, or it is not for us to know. dir NULL: UNDO_DIR. `instance` is a name, "" for the top one. */
bool claim_find(const char *dir, const char *instance, struct claim *ret);

/* How it is taken. Zero: it fails at once when somebody has it. */
struct claim_manner {
	bool waits;       /* until it is free, ... */
	uint64_t wait_ns; /* ... but no longer than that; 0: without end */
	bool replaces; /* a held claim of the same login, or else session, is none: who has started that may start anew */
	/* Once, when it has to be waited for. May be NULL. */
	void (*waiting)(const char *text, void *data);
	void *data;
};

/*
 * Takes it for this process. *ret_fd has the lock, for claim_release(). -EBUSY: somebody has it; -ETIMEDOUT: still, after that time; -EINTR:
 * a signal that is blocked came meanwhile (SIGINT, SIGTERM, SIGHUP, SIGQUIT). A process must not take it twice.
 */
int must_check claim_take(const char *dir, const char *instance, const struct claim_manner *manner, int *ret_fd,
			  struct fail *fail);
void claim_release(const char *dir, const char *instance, int *fd);

#endif
