/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_UNDO_H
#define WEFT_KERNEL_UNDO_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/tracing.h"

struct claim_manner;
struct fail;

/*
 * A journal has the state of tracefs before weft changed it. Invariant: before a change reaches the kernel, the old
 * value is in the journal on disk (written and synced). So a kill at any moment leaves at most one entry too many, and
 * restoring a value that is still there changes nothing. A journal is a file "undo-PID-START" in `dir`. It belongs to
 * the process with that PID and start time. It is pending if that process has ended, and held if its changes are meant
 * to stay (undo_hold()). It is valid only for the boot that it names, because tracefs does not outlive a boot. Not
 * thread-safe. Call undo_restore() from normal context, not from a signal handler.
 *
 * Restored are: plain values; lists (rewritten line by line); events (only the difference to the old set_event, so that
 * events that were enabled stay enabled without a gap); filters; triggers (the difference); the current tracer; the
 * clock; buffer sizes per CPU. A buffer that was never expanded ("7 (expanded: 1408)") gets the size to which it would
 * have expanded, because the kernel offers no way back. The content of the top buffer is not restored.
 */
struct undo;

#define UNDO_DIR "/run/weft"

/* dir NULL: UNDO_DIR. The directory is made if needed. The journal file appears with the first entry. */
int must_check undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail);
/* Frees the undo without restoring. The journal stays on disk and is pending after the process has ended. */
void undo_free(struct undo *undo);

/*
 * Takes the claim on an instance ("" is the top instance; claim.h), before anything is changed there. A second call for
 * the same instance does nothing. undo_restore() or the end of the process ends the claim; undo_hold() keeps the claim
 * on the top instance in the held journal.
 */
int must_check undo_claim(struct undo *undo, const char *instance, const struct claim_manner *manner,
			  struct fail *fail);

/* Journals a file of an instance ("" is the top instance). Only the first call for a file has an effect. */
int must_check undo_remember(struct undo *undo, const char *instance, const char *file, struct fail *fail);
/*
 * Marks the instances that are made from now on as those of one recording: `secret` identifies it, `parts` is the
 * directory with its parts.
 */
int must_check undo_mark(struct undo *undo, const char *secret, const char *parts, struct fail *fail);
/* Journals an instance that is about to be made. undo_restore() will remove it. */
int must_check undo_remember_instance(struct undo *undo, const char *instance, struct fail *fail);
/* The same for an instance whose events belong to no recording, so recover need not read it. */
int must_check undo_remember_helper(struct undo *undo, const char *instance, struct fail *fail);
void undo_forget_instance(struct undo *undo, const char *instance);
/* Journals that the marked recording fills an instance that is not weft's, so that it is read after a kill. */
int must_check undo_remember_lent(struct undo *undo, const char *instance, struct fail *fail);
/* Journals an event of dynamic_events, "GROUP/NAME", that is about to be made. undo_restore() will remove it. */
int must_check undo_remember_probe(struct undo *undo, const char *probe, struct fail *fail);
void undo_forget_probe(struct undo *undo, const char *probe);

/*
 * Restores everything, the last change first. Continues after a failure and returns the first one; may be called again.
 * Removes the journal if everything was restored. A file or instance that no longer exists need not be restored. A
 * setting that a younger held journal has changed too (weft set) keeps its value: that journal gets the older value,
 * which `weft reset` then restores.
 */
int undo_restore(struct undo *undo, struct fail *fail);

/*
 * Whether a held journal in the same directory has this file: weft has set it, and `weft reset` can restore its old
 * value.
 */
bool undo_holds(const struct undo *undo, const char *instance, const char *file);

/*
 * Whether a held journal has this file whose process did not trace in the instance (undo_claim()): the user has chosen
 * this setting (weft set), for whatever traces there next.
 */
bool undo_is_chosen(const struct undo *undo, const char *instance, const char *file);

/*
 * Leaves the changes in place on purpose. The journal becomes "held-PID-START-NUMBER", which is never pending and waits
 * for undo_reset(). Afterwards the undo is as new.
 */
int must_check undo_hold(struct undo *undo, struct fail *fail);
/*
 * Restores what the last undo_hold() of this undo has kept, and removes its journal: for a caller that could not finish
 * what the changes were for.
 */
int undo_unhold(struct undo *undo, struct fail *fail);

/*
 * Finds the journals that ended processes have left in dir (NULL: UNDO_DIR), the newest first. Start with *at = 0.
 * Returns 1, 0 at the end, or -errno.
 */
struct undo_pending {
	char path[256];
	pid_t pid;
	/*
	 * Orders the journals of a boot: the time since boot at which the journal's last claim was taken, or else the
	 * process began.
	 */
	uint64_t since_ns;
	bool held;
	unsigned entries;   /* settings to restore */
	unsigned instances; /* private instances to remove */
	unsigned probes;    /* events of dynamic_events to remove */
};
int must_check undo_next_pending(const char *dir, unsigned *at, struct undo_pending *ret, struct fail *fail);
/* The recording to which a journal belongs: what undo_mark() was told. */
struct undo_recording {
	char *mark;        /* "SECRET PARTS" */
	const char *parts; /* in `mark`: the directory with its parts */
	char **instances;  /* those that it made or filled */
	size_t nr;
};
/* -ENOENT: the journal belongs to no recording. On success the caller releases *ret. */
int must_check undo_recording(const char *path, struct undo_recording *ret);
void undo_recording_release(struct undo_recording *recording);
/* Whether it was marked with this secret. Nothing was marked with "". */
bool undo_recording_is(const struct undo_recording *recording, const char *secret);
/* Whether a journal in `dir` says that an ended recording marked with this secret made or filled this instance. */
bool undo_knows_instance(const char *dir, const char *instance, const char *secret);

/* All journals that undo_reset() would replay, held and pending, the newest first. The caller frees *ret. */
int must_check undo_list(const char *dir, struct undo_pending **ret, size_t *ret_nr, struct fail *fail);

/*
 * Restores the settings of all held and pending journals as if they were one: each setting gets its oldest value. With
 * `instance` ("" is the top instance) it restores only the settings of that instance, and the journals keep the others.
 * Continues after failures and returns the first one; settings that could not be restored stay in the journals. -EBUSY:
 * nothing is done, because a running weft has changed one of these settings and would later restore the value that it
 * found. Trusts only files that root or this user owns and that no other user can write.
 */
struct undo_sum {
	unsigned entries, instances, probes, journals;
};
int must_check undo_reset(const struct tracing *tracing, const char *dir, const char *instance, struct undo_sum *ret,
			  struct fail *fail);

/*
 * The same, but only with the journals of killed processes. Held journals stay, because the user wants their changes;
 * so do journals for which `waits` returns true.
 */
int must_check undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
			    void *data, struct undo_sum *ret, struct fail *fail);

/* The same, but only with the journal of this process, which has ended. */
int must_check undo_recover_of(const struct tracing *tracing, const char *dir, pid_t pid, struct undo_sum *ret,
			       struct fail *fail);

/*
 * Removes files that are not journals because a kill left them empty or cut before their first entry. Returns their
 * number.
 */
unsigned undo_sweep(const char *dir);

/*
 * Removes an instance. The kernel keeps one whose histograms have variables or actions, so their triggers are removed
 * before it, in the order that their references ask for. The tracing of branches is ended before. -EBUSY: something
 * else keeps it. Returns 0 or -errno.
 */
int must_check undo_remove_instance(const char *dir);

/*
 * If an instance has the option `branch` set: clears it, and sets the tracer to nop. From the next tracer on, the
 * kernel no longer traces branches; it would go on tracing them into an instance that is removed, and panic (6.12).
 */
void undo_end_branches(const char *dir);

/* Removes all journals that undo_reset() would replay, for a caller that cleans up tracefs by other means. */
int must_check undo_discard(const char *dir, struct fail *fail);

/*
 * Calls `each` for each probe in any journal, of ended and of running processes, held or not. Skips journals that
 * belong to another user, are damaged or no longer exist. Any other failure (no memory, no file descriptor, a failing
 * disk) is an error.
 */
int must_check undo_each_probe(const char *dir, void (*each)(const char *probe, void *data), void *data,
			       struct fail *fail);
/* Removes a probe from held journals, because a user has removed the probe on purpose. */
void undo_drop_probe(const char *dir, const char *probe);

#endif
