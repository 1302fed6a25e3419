/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_UNDO_H
#define WEFT_UNDO_UNDO_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct claim_manner;
struct fail;

/*
 * A journal of how tracefs was before we changed it.
 * Invariant: when a change reaches the kernel, the journal on disk knows what was there before (written and synced first).
 * So a kill at any moment leaves at most one entry too many, and putting back a value that is there already is no change.
 * A journal is a file "undo-PID-START" in `dir`; it belongs to the process with that pid and start time, and is pending when
 * that process is gone. It is only valid for the boot that it names: tracefs does not outlive a boot.
 * Thread-compatible: one thread at a time. undo_restore() must be called from normal context (not from a signal handler).
 *
 * Put back are: plain values; lists (written anew, line by line); events (the difference to the old set_event, so that
 * events that were on never blink); filters; triggers (the difference); the current tracer; the clock; per-CPU buffer
 * sizes. A buffer that was never expanded ("7 (expanded: 1408)") gets the size that it would have expanded to: the kernel
 * has no way back. What the top buffer held is not put back.
 */
struct undo;

#define UNDO_DIR "/run/weft"

/* dir NULL: UNDO_DIR, made if needed. The journal file appears with the first entry. */
int must_check undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail);
/* Frees it; does not restore: an unrestored journal stays on disk and is pending once the process is gone. */
void undo_free(struct undo *undo);

/*
 * Takes the claim on an instance, "" for the top one (claim.h), before anything is changed there; once more is no change. It ends with
 * undo_restore(), or with the process; undo_hold() leaves that on the top one in the held journal.
 */
int must_check undo_claim(struct undo *undo, const char *instance, const struct claim_manner *manner,
			  struct fail *fail);

/* `instance` is a name, "" for the top one. Only the first call for a file counts. */
int must_check undo_remember(struct undo *undo, const char *instance, const char *file, struct fail *fail);
/* Whose instances those are that are made from now on: of a recording whose parts are in this directory and have this secret. */
int must_check undo_mark(struct undo *undo, const char *secret, const char *parts, struct fail *fail);
/* An instance that we are about to make; restoring removes it. */
int must_check undo_remember_instance(struct undo *undo, const char *instance, struct fail *fail);
void undo_forget_instance(struct undo *undo, const char *instance);
/* An event of dynamic_events, "GROUP/NAME", that we are about to make; restoring removes it. */
int must_check undo_remember_probe(struct undo *undo, const char *probe, struct fail *fail);
void undo_forget_probe(struct undo *undo, const char *probe);

/*
 * Puts everything back, the last change first, goes on after failures and returns the first of them. The journal is
 * removed when all was put back. A file or instance that no longer exists needs no putting back. May be called again.
 * What a younger held journal has changed since (weft set) stays as it is; that journal gets the older value, for reset.
 */
int undo_restore(struct undo *undo, struct fail *fail);

/* Whether a held journal in its directory has the file: then it is as weft has set it, and reset knows how it was. */
bool undo_holds(const struct undo *undo, const char *instance, const char *file);

/*
 * Leaves the changes in place on purpose: the journal becomes "held-PID-START-NUMBER", which is never pending, and
 * waits for undo_reset(). The undo is then as new.
 */
int must_check undo_hold(struct undo *undo, struct fail *fail);

/* Journals that dead processes left behind in dir (NULL: UNDO_DIR), the newest first. 1/0/-errno; start with *at = 0. */
struct undo_pending {
	char path[256];
	pid_t pid;
	uint64_t
		since_ns; /* after boot, when its last claim was taken, or else its process began: orders the journals of a boot */
	bool held;
	unsigned entries;   /* settings to put back */
	unsigned instances; /* private instances to remove */
	unsigned probes;    /* events of ours to remove */
};
int must_check undo_next_pending(const char *dir, unsigned *at, struct undo_pending *ret, struct fail *fail);
/* The directory with the parts of the recording whose journal it is, as undo_mark() was told; NULL: none. To be freed. */
char *undo_parts(const char *path);
/* Whether a dead recording, marked with this secret, has made this instance, as its journal in `dir` says. */
bool undo_knows_instance(const char *dir, const char *instance, const char *secret);

/* All journals that undo_reset() would replay, held and pending, the newest first. The caller frees *ret. */
int must_check undo_list(const char *dir, struct undo_pending **ret, size_t *ret_nr, struct fail *fail);

/*
 * Puts back what the held and the pending journals know, as one: each setting goes straight to its oldest value. With
 * `instance` ("" is the top one) only what is of that, and the journals keep the rest. Goes on after failures; the first of
 * them is returned, and what was not put back stays in the journals. -EBUSY, and nothing is done: a weft that still runs has
 * changed one of these settings, and would put back later what it has found.
 * Only files that root or this user owns and nobody else can write are believed.
 */
struct undo_sum {
	unsigned entries, instances, probes, journals;
};
int must_check undo_reset(const struct tracing *tracing, const char *dir, const char *instance, struct undo_sum *ret,
			  struct fail *fail);

/* The same, only with the journals of killed processes, but for those that wait for something else: what was asked for stays. */
int must_check undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
			    void *data, struct undo_sum *ret, struct fail *fail);

/*
 * Removes what no journal can be made of: files that a kill left empty, or cut, before the first entry was in them. Returns how many.
 */
unsigned undo_sweep(const char *dir);

/* Throws away all that undo_reset() would replay: tracefs is put in order by other means. */
int must_check undo_discard(const char *dir, struct fail *fail);

/*
 * Each probe that a journal knows, of dead and of living processes, held or not. Journals that others own, that are damaged or gone know none;
 * what may be a lack of memory or of files, or a failing disk, is an error.
 */
int must_check undo_each_probe(const char *dir, void (*each)(const char *probe, void *data), void *data,
			       struct fail *fail);
/* Somebody removed a probe on purpose: held journals know it no more. */
void undo_drop_probe(const char *dir, const char *probe);

#endif
