/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_MAPS_COPY_H
#define WEFT_RECORD_MAPS_COPY_H

#include "lib/base/cleanup.h"
#include "lib/record/target.h"

#include <stddef.h>
#include <sys/types.h>

struct fail;
struct ledger;
struct tracing;

/*
 * The maps of processes (lib/tracefs/process_maps.h) for a recording with user stacks: those of the command and of all that
 * descend from it are looked at again and again while they live, at first every millisecond, as many live no longer; those
 * of others once at the end, when the kernel would look at them, too.
 * Invariant: nothing is read, and no thread runs, unless a target has the option userstacktrace or sym-userobj.
 */
struct maps_copy;

/* `command` 0: none. *ret NULL: nobody needs them. */
int must_check maps_copy_start(const struct target *targets, size_t nr, pid_t command, struct maps_copy **ret,
			       struct fail *fail);

/* The thread's; 0 without one. */
pid_t maps_copy_tid(const struct maps_copy *copy);

/* Ends the thread, looks at the others and adds all to the ledger (NULL: throws them away). Frees; NULL is a no-op. */
int maps_copy_finish(struct maps_copy *copy, struct ledger *ledger, const struct tracing *tracing, struct fail *fail);

#endif
