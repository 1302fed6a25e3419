/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_SETUP_PROBES_H
#define WEFT_SETUP_SETUP_PROBES_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct setup;
struct setup_event;
struct tracing;
struct undo;

/*
 * The probes that a setup asks for (--probe): made before anything looks at the kernel's events, removed by the undo that
 * journaled them, after the instances that had them on. Borrows the setup, whose lists must not grow meanwhile.
 */
struct setup_probe;

struct setup_probes {
	struct setup_probe *probes;
	size_t nr;
};

/* An error leaves those that were made so far: undo_restore() takes them back. */
int must_check setup_probes_make(const struct tracing *tracing, struct undo *undo, const struct setup *setup,
				 struct setup_probes *ret, struct fail *fail);
void setup_probes_release(struct setup_probes *probes);

/*
 * Hits that made no event (kprobe_profile: MISSED): calls of a function of which a kretprobe followed as many as it can already, and probes
 * inside of probes. Lines "GROUP:NAME HITS MISSED" of the probes that missed some, and how many all together. Before they are removed.
 */
int must_check setup_probes_missed(const struct tracing *tracing, const struct setup_probes *probes, struct buf *lines,
				   uint64_t *ret_missed, struct fail *fail);

/* "GROUP:NAME" of the probe that was made for this event; its pattern for others. NULL: nobody made it. */
const char *setup_probes_pattern(const struct setup_probes *probes, const struct setup_event *event);

#endif
