/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_PROBES_H
#define WEFT_PROBE_PROBES_H

#include "lib/base/cleanup.h"
#include "lib/explain/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct instance;
struct tracing;
struct undo;

/*
 * The probes that the kernel has: dynamic_events, which only the top instance has. All functions take that one.
 * Invariant: a probe is journaled before it is made (undo_remember_probe), and no probe but the named one is ever taken away:
 * dynamic_events is never opened with truncation, which would take all.
 */
struct probe_state {
	struct probe probe;
	bool ours;             /* some weft made it and has it in its journal */
	bool counted;          /* hits and missed are known: kprobes and uprobes */
	uint64_t hits, missed; /* of all probes of that name: the kernel's counts do not say the group */
};

struct probe_list {
	struct probe_state *probes;
	size_t nr;
};

/* Lines that weft does not know are left out. A kernel without dynamic_events has none: an empty list. */
int must_check probe_list_read(const struct instance *top, struct probe_list *ret, struct fail *fail);
void probe_list_release(struct probe_list *list);

/* Makes it; an error is the kernel's own, with the caret (error_log.h). */
int must_check probe_add(struct instance *top, struct undo *undo, const struct probe *probe, struct fail *fail);

/* Takes it away. -EBUSY: the text says which instances have it switched on. */
int must_check probe_remove(const struct instance *top, const char *group, const char *name, struct fail *fail);

/*
 * The probes that a name stands for: "NAME", "GROUP:NAME", "GROUP/NAME", globs. A NAME that several groups have is ours, or
 * else has to be told with its group (-ENOTUNIQ). -ENOENT with near names. Sets wanted[i] for each.
 */
int must_check probe_list_find(const struct probe_list *list, const char *name, bool *wanted, struct fail *fail);

#endif
