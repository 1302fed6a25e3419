/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_CLAIM_H
#define WEFT_KERNEL_UNDO_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/undo/journal.h"

struct buf;
struct fail;

/*
 * A claim shows which process traces in an instance. An instance has one buffer, one tracer and one list of each kind,
 * so a second process that set it up would destroy the recording of the first. So an instance has one claim, and a
 * process takes the claim before it changes anything.
 *
 * A process holds a claim by a lock on a file in the directory of the journals ("top", or "in-NAME"). A killed process
 * loses the lock; the content of the file is only information. `weft start` ends and leaves tracing on, so its claim on
 * the top instance stays in the held journal until `weft reset` removes that journal: a held claim. Its claim on a
 * named instance becomes free, so that another weft can record there what start has set up.
 *
 * A process claims instances in the order of their names and the top instance last, so that two waiting processes
 * cannot deadlock. Not supported: processes that trace without weft are not noticed. Names with the same first 200
 * bytes share a claim.
 */
struct claim {
	struct process_id owner;
	/*
	 * the login that the kernel's audit knows, for which `start` is not a time, or else the leader of the session;
	 * only for comparison
	 */
	struct process_id session;
	uint64_t boot_ns;  /* when the claim was taken, in ns since boot */
	bool held;         /* a journal holds the claim; the process has ended */
	char command[160]; /* "weft start -p function" */
};

/*
 * claim_print() appends the claim of this process as one line without a newline, the text of the claim file and of the
 * journal entry. claim_parse() parses such a line.
 */
bool claim_print(struct buf *buf);
bool claim_parse(const char *text, struct claim *ret);
/* Whether a claim is of this process's login or session. */
bool claim_is_ours(const struct claim *claim);
/* The time of struct claim::boot_ns. */
uint64_t claim_now_ns(void);

/*
 * Finds the holder of the claim. False: there is none, or this user may not know. dir NULL: UNDO_DIR. `instance` is a
 * name, or "" for the top instance.
 */
bool claim_find(const char *dir, const char *instance, struct claim *ret);

/* How a claim is taken. Zero: claim_take() fails at once if another process holds the claim. */
struct claim_manner {
	bool waits;       /* wait until the claim is free */
	uint64_t wait_ns; /* but no longer than this, in ns; 0: no limit */
	/* ignore a held claim of the same login or session: the user who started tracing may start it again */
	bool replaces;
	/* Called once if the claim is not free and will be waited for. May be NULL. */
	void (*waiting)(const char *text, void *data);
	void *data;
};

/*
 * Takes the claim for this process. *ret_fd holds the lock; the caller releases it with claim_release(). -EBUSY:
 * another process holds the claim. -ETIMEDOUT: it still does after wait_ns. -EINTR: a blocked signal (SIGINT, SIGTERM,
 * SIGHUP, SIGQUIT) arrived while waiting. A process must not take a claim twice.
 */
int must_check claim_take(const char *dir, const char *instance, const struct claim_manner *manner, int *ret_fd,
			  struct fail *fail);
void claim_release(const char *dir, const char *instance, int *fd);

#endif
