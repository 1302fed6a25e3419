/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_MAPS_COPY_INTERNAL_H
#define WEFT_KERNEL_RECORD_MAPS_COPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/target.h"

struct buf;
struct fail;
struct ledger;
struct settings;
struct tracing;

/*
 * Saves the maps of processes (lib/kernel/tracefs/process_maps.h) for a recording with user stacks. A thread reads the
 * maps of the command and its descendants repeatedly, at first every millisecond, because many processes do not live
 * longer. The maps of other processes are read once at the end, when the kernel would also read them. Invariant: no
 * maps are read and no thread runs unless a target has the option userstacktrace or sym-userobj.
 */
struct maps_copy;

/*
 * `command` 0: there is none. `watch`: tasks will be traced from now on, so the maps of programs that begin are needed,
 * too (maps_watch_internal.h). *ret is NULL if no maps are needed.
 */
int must_check maps_copy_start(const struct target *targets, size_t nr, bool watch, pid_t command,
			       struct maps_copy **ret, struct fail *fail);

/* The thread's id; 0: there is no thread. */
pid_t maps_copy_tid(const struct maps_copy *copy);

/*
 * Ends the thread, reads the maps of the other processes and adds all maps to the ledger (NULL: drops them). Frees
 * `copy`, which may be NULL.
 */
int maps_copy_finish(struct maps_copy *copy, struct ledger *ledger, const struct tracing *tracing, struct fail *fail);

/*
 * The functions of the programs and libraries that the settings "proc/PID/maps" name, as the text of the setting
 * weft/functions (lib/meaning/names/functions.h): so a recording names the addresses of user stacks on any machine, and
 * after an upgrade. Only a file that still is the mapped one is read. The bytes are parsed by a process without rights,
 * whose time and memory are limited; if a file ends it, that file is left out. Limits: FUNCTIONS_COPY_FILES files,
 * and about FUNCTIONS_COPY_SIZE bytes of text.
 */
enum { FUNCTIONS_COPY_FILES = 1024, FUNCTIONS_COPY_SIZE = 8 << 20 };

/* Whose files come first: the command, if any, and those of which the first `nr` of the maps are. */
struct functions_first {
	pid_t command;
	size_t nr;
};

/*
 * `watched`: the text of the setting weft/maps. `unwind`: gets the setting weft/unwind (lib/meaning/names/unwind.h) of
 * the same files, within the same limits; NULL: it is not needed.
 */
int must_check functions_copy(const struct settings *maps, const struct functions_first *first, struct buf *watched,
			      struct buf *into, struct buf *unwind, struct fail *fail);

#endif
