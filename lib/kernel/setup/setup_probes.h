/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_PROBES_H
#define WEFT_KERNEL_SETUP_SETUP_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct setup;
struct setup_event;
struct tracing;
struct undo;

/*
 * The probes of a setup (--probe). They are made before the kernel's events are read. The undo that journaled them
 * removes them, after the instances in which they were enabled. Borrows the setup, whose lists must not grow meanwhile.
 */
struct setup_probe;

struct setup_probes {
	struct setup_probe *probes;
	size_t nr;
};

/* Makes all probes of the setup. After an error the probes made so far remain; undo_restore() removes them. */
int must_check setup_probes_make(const struct tracing *tracing, struct undo *undo, const struct setup *setup,
				 struct setup_probes *ret, struct fail *fail);
void setup_probes_release(struct setup_probes *probes);

/*
 * Counts the hits for which the kernel wrote no event (MISSED in kprobe_profile): calls of a function while a kretprobe
 * already followed its maximum of calls, and hits of a probe inside another probe. Appends a line "GROUP:NAME HITS
 * MISSED" for each probe with such hits, and returns their total. Call it before the probes are removed.
 */
int must_check setup_probes_missed(const struct tracing *tracing, const struct setup_probes *probes, struct buf *lines,
				   uint64_t *ret_missed, struct fail *fail);

/*
 * "GROUP:NAME" of the probe that was made for this event, or the pattern of an event without a probe. NULL: the probe
 * was not made.
 */
const char *setup_probes_pattern(const struct setup_probes *probes, const struct setup_event *event);

#endif
