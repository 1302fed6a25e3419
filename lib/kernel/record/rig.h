/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_RIG_H
#define WEFT_KERNEL_RECORD_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/switches.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/setup_probes.h"
#include "lib/kernel/tracefs/tracing.h"

struct catalog;
struct clock_sampler;
struct fail;
struct plan;
struct shared;
struct undo;

/*
 * A rig is everything in the kernel that one command works with: the mounted tracefs, the journal, the probes, and each
 * instance with its settings. record, stream, start, set and extract use it in the same order: rig_find(); rig_set_up()
 * or rig_take(); rig_hold(); tracing on; tracing off; rig_restore() or rig_keep(); rig_release().
 *
 * Invariant: after rig_find() has returned, with or without an error, rig_restore() restores every changed setting;
 * after a kill the journal (lib/kernel/undo/undo) does. Not thread-safe, except that rig_restore() may run on another
 * thread (restoring.h).
 */
struct rig {
	struct tracing tracing;
	struct undo *undo;
	struct catalog *catalog;
	struct setup_probes probes;
	struct shared *cmdlines; /* saved_cmdlines_size, shared with other recordings */
	struct target *targets;  /* one for each instance; owned */
	size_t nr_targets;
	struct late late;              /* what switches_turn() sets after it has turned tracing on */
	struct switches switches;      /* tracing_on of the targets, in their order; valid after rig_hold() */
	struct clock_sampler *sampler; /* NULL: none; owned */
	bool kept;                     /* by rig_keep() */
};

struct rig_options {
	const struct setup *setup;
	enum setup_manner manner;
	pid_t command; /* the task of the setup's only_command; 0: none */
	/* for start and set: the settings stay after weft has ended, and no buffer is read */
	bool stays;
	/* Whether an instance of the setup is used. NULL: setup_uses(). */
	bool (*uses)(const struct setup *setup, size_t index);
	/* Called after each instance was set up. An error ends the setup. NULL: no check. */
	int (*check)(void *arg, struct fail *fail);
	void *arg;
};

/*
 * Finds tracefs and begins the journal. plan: not NULL for a dry run, in which writes are only noted (plan.h);
 * borrowed.
 */
int must_check rig_find(struct rig *rig, struct plan *plan, struct fail *fail);

/* Sets the kernel up as asked. Tracing stays off. After an error rig_restore() undoes what was done. */
int must_check rig_set_up(struct rig *rig, const struct rig_options *options, struct fail *fail);

/* Opens instances as they are and changes nothing. `wanted` has their names (NULL: the top instance); borrowed. */
int must_check rig_take(struct rig *rig, const struct setup_instance *wanted, size_t nr, struct fail *fail);

/* Holds only the files of `late` open: switches_turn() then arms its triggers, and does not touch tracing_on. */
int must_check rig_hold_late(struct rig *rig, struct fail *fail);

/*
 * Holds tracing_on of each instance open (switches.h), and the files of `late`. keeps_worst: also the limits with which
 * a max-latency tracer keeps its longest latency.
 */
int must_check rig_hold(struct rig *rig, bool keeps_worst, struct fail *fail);

/* Makes the sampler of the targets' clocks, which rig_restore() removes. */
void rig_sample(struct rig *rig);

/*
 * Gives the command the trace_marker whose marks the first target has: that of the top instance, if they are copied
 * from there, or its own, if it stays. That of an instance which weft removes is not given away: who has it open keeps
 * the instance.
 */
void rig_give_marker(struct rig *rig);

/* Turns tracing off. Mounts tracefs again if another program has unmounted it. */
int must_check rig_stop(struct rig *rig, struct fail *fail);

/*
 * The number of hits of weft's probes for which the kernel wrote no event, and the lines that name these probes (NULL:
 * none; the caller frees them). Call it before rig_restore().
 */
int must_check rig_missed(const struct rig *rig, uint64_t *ret, char **ret_lines, struct fail *fail);

/*
 * Restores settings, then instances, then saved_cmdlines_size. Continues after an error and returns the first one. A
 * second call does nothing.
 */
int must_check rig_restore(struct rig *rig, struct fail *fail);

/*
 * All changes stay after rig_release(), and the journal is held for `weft reset`. The switches can still be turned:
 * weft itself then does nothing more that they would record. rig_restore() takes it back.
 */
int must_check rig_keep(struct rig *rig, struct fail *fail);

/* Frees memory and closes files. Does not change settings of the kernel. All zero is an empty rig. */
void rig_release(struct rig *rig);

#endif
