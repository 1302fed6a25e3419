/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_MAPS_COPY_INTERNAL_H
#define WEFT_RECORD_MAPS_COPY_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/record/target.h"

#include <stddef.h>
#include <sys/types.h>

struct fail;
struct ledger;
struct tracing;

/*
 * Saves the maps of processes (lib/tracefs/process_maps.h) for a recording with user stacks. A thread reads the maps of
 * the command and its descendants repeatedly, at first every millisecond, because many processes do not live longer.
 * The maps of other processes are read once at the end, when the kernel would also read them. Invariant: no maps are
 * read and no thread runs unless a target has the option userstacktrace or sym-userobj.
 */
struct maps_copy;

/* `command` 0: there is none. *ret is NULL if no maps are needed. */
int must_check maps_copy_start(const struct target *targets, size_t nr, pid_t command, struct maps_copy **ret,
			       struct fail *fail);

/* The thread's id; 0: there is no thread. */
pid_t maps_copy_tid(const struct maps_copy *copy);

/*
 * Ends the thread, reads the maps of the other processes and adds all maps to the ledger (NULL: drops them). Frees
 * `copy`, which may be NULL.
 */
int maps_copy_finish(struct maps_copy *copy, struct ledger *ledger, const struct tracing *tracing, struct fail *fail);

#endif
