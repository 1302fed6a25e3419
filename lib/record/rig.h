/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RIG_H
#define WEFT_RECORD_RIG_H

#include "lib/base/cleanup.h"
#include "lib/record/switches.h"
#include "lib/record/target.h"
#include "lib/setup/setup.h"
#include "lib/setup/setup_probes.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog;
struct fail;
struct plan;
struct shared;
struct undo;

/*
 * The rig is everything in the kernel that one command works with: the mounted tracefs, the journal, the probes, and each instance, set
 * up as asked. record, stream, start, set and extract use it in the same order: rig_find(), rig_set_up() or rig_take(), rig_hold(), on, off,
 * rig_restore() or rig_keep(), rig_release().
 * Invariant: after rig_find() returned, whatever it said, rig_restore() puts back every setting that was changed; the journal
 * (lib/undo/undo) does so after a kill.
 * Not thread-safe, but for rig_restore(), which may run on a thread of its own (restoring.h).
 */
struct rig {
	struct tracing tracing;
	struct undo *undo;
	struct catalog *catalog;
	struct setup_probes probes;
	struct shared *cmdlines; /* saved_cmdlines_size, raised together with other recordings */
	struct target *targets;  /* one for each instance */
	size_t nr_targets;
	struct switches switches; /* of the targets, in their order, after rig_hold() */
};

struct rig_options {
	const struct setup *setup;
	enum setup_manner manner;
	pid_t command; /* the task that the setup's only_command means; 0: none */
	bool stays;    /* start and set: settings stay after weft has ended, and no buffer is read */
	/* Which of the setup's instances; NULL: setup_uses(). */
	bool (*uses)(const struct setup *setup, size_t index);
	/* Asked after each instance: an error ends the setting up. NULL: nothing is asked. */
	int (*check)(void *arg, struct fail *fail);
	void *arg;
};

/* Finds tracefs and begins the journal. plan: not NULL for a dry run, in which writes are only noted; borrowed. */
int must_check rig_find(struct rig *rig, struct plan *plan, struct fail *fail);

/* Makes the kernel as the setup asks, tracing off. After an error rig_restore() takes back what was done. */
int must_check rig_set_up(struct rig *rig, const struct rig_options *options, struct fail *fail);

/* Opens instances as they are and changes nothing. `wanted` has their names, NULL for the top one; borrowed. */
int must_check rig_take(struct rig *rig, const struct setup_instance *wanted, size_t nr, struct fail *fail);

/* Holds tracing_on of each instance open: switches.h. keeps_worst: also what a max-latency tracer needs to keep its worst case. */
int must_check rig_hold(struct rig *rig, bool keeps_worst, struct fail *fail);

/* Turns tracing off, and mounts tracefs again where somebody unmounted it meanwhile. */
int must_check rig_stop(struct rig *rig, struct fail *fail);

/* How often our probes were hit without making an event, and the lines that name them; *ret_lines NULL: none. Before rig_restore(). */
int must_check rig_missed(const struct rig *rig, uint64_t *ret, char **ret_lines, struct fail *fail);

/* Settings, then instances, then saved_cmdlines_size. The first error; the others are tried all the same. Twice is a no-op. */
int must_check rig_restore(struct rig *rig, struct fail *fail);

/* Instead of rig_restore(): everything stays, and the journal is held for `weft reset`. */
int must_check rig_keep(struct rig *rig, struct fail *fail);

/* Frees what is left, without another word to the kernel. All zero is an empty one. */
void rig_release(struct rig *rig);

#endif
