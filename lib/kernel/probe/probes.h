/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_PROBES_H
#define WEFT_KERNEL_PROBE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/refusals/probe.h"

struct buf;
struct fail;
struct instance;
struct tracing;
struct undo;

/*
 * The kernel's list of probes, dynamic_events, which only the top instance has: all functions take that instance.
 * Invariant: a probe is journaled before it is made (undo_remember_probe()), and only a probe that was named is
 * removed. dynamic_events is never opened with truncation, because that would remove all probes.
 */
struct probe_state {
	struct probe probe;
	bool ours;    /* a weft process made the probe and has it in its journal */
	bool counted; /* `hits` and `missed` are known, as for kprobes and uprobes only */
	/* the sums over all probes of that name, because the kernel's counts do not name the group */
	uint64_t hits, missed;
};

struct probe_list {
	struct probe_state *probes;
	size_t nr;
};

/* Lines that weft does not know are left out. The list is empty if the kernel has no dynamic_events. */
int must_check probe_list_read(const struct instance *top, struct probe_list *ret, struct fail *fail);
void probe_list_release(struct probe_list *list);

/* Makes the probe. An error contains the kernel's own message with its caret (error_log.h). */
int must_check probe_add(struct instance *top, struct undo *undo, const struct probe *probe, struct fail *fail);

/* Removes the probe. -EBUSY: it is enabled; the text names the instances. */
int must_check probe_remove(const struct instance *top, const char *group, const char *name, struct fail *fail);

/*
 * Sets wanted[i] for each probe that a name means: "NAME", "GROUP:NAME", "GROUP/NAME", globs. If several groups have
 * NAME, weft's own probe is meant; without one, the error is -ENOTUNIQ. -ENOENT with similar names: no such probe.
 */
int must_check probe_list_find(const struct probe_list *list, const char *name, bool *wanted, struct fail *fail);

#endif
