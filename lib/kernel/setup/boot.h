/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_BOOT_H
#define WEFT_KERNEL_SETUP_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"

struct fail;

/*
 * Finds the settings of an instance that differ from their state after boot. The boot values are those of the
 * initialisers in kernel/trace/trace.c, trace_hwlat.c, trace_osnoise.c, trace_stack.c and ring_buffer.c; a setting made
 * by a boot parameter (trace_event=, ftrace=...) counts as a difference. Files that this kernel does not have are
 * skipped.
 */
enum boot_what {
	BOOT_SETTING,  /* a value or a list */
	BOOT_OPTION,   /* options/NAME: "1" or "0" */
	BOOT_SYSTEM,   /* events/SYSTEM/enable: "1", or "X" if only some of its events are enabled */
	BOOT_EVENT,    /* events/SYSTEM/EVENT/enable, for a system that reads "X": "1", "1*", "0*" */
	BOOT_FILTER,   /* the filter of an event */
	BOOT_TRIGGER,  /* all lines of the event's `trigger` */
	BOOT_DYNAMIC,  /* all lines of dynamic_events, kprobe_events...; top instance only */
	BOOT_SNAPSHOT, /* the snapshot buffer is allocated */
	BOOT_SYSCTL,   /* /proc/sys/kernel/...; top instance only */
};

struct boot_difference {
	enum boot_what what;
	const char *file; /* relative to the instance; a whole path for BOOT_SYSCTL */
	const char *now;  /* the text of the file, including its comment lines */
	const char *boot; /* the text for control_restore() that restores the boot value */
};

/* The path of a sysctl of tracing, such as "stack_tracer_enabled", that boot_each() reads. NULL: there is none. */
const char *boot_sysctl(const char *name);

/*
 * Calls `each` for every difference: first settings and options, then events, filters and triggers, then dynamic
 * events. Stops at the first non-zero value that `each` returns, and returns it. The strings are valid only during the
 * call.
 */
int must_check boot_each(const struct instance *instance,
			 int (*each)(const struct boot_difference *difference, void *data), void *data,
			 struct fail *fail);

/*
 * Brings all of tracefs to its state after boot (boot.h). It removes all other instances except the instances of the
 * kernel command line, which stay unchanged (instance.h); sets every setting of the top instance to its boot
 * value; empties the buffers; and removes weft's journals in the directory `journals` (NULL: UNDO_DIR), which are
 * obsolete then. Dynamic events (kprobes, uprobes, synthetic events...) are removed only with `probes`. Nothing is
 * journaled, so nothing can be undone. Continues after a failure and returns the first one. -EBUSY: a process still
 * reads an instance, which therefore cannot be removed; the text names both.
 */
int must_check boot_reset(const struct tracing *tracing, const char *journals, bool probes, struct fail *fail);

/*
 * The same for one instance, which stays; "" is the top one, whose journals of weft are restored first. The buffers
 * keep their sizes. Of the dynamic events only those are removed whose kind has its bit, 1 << enum probe_kind,
 * in `kinds`.
 */
int must_check boot_reset_one(const struct tracing *tracing, const char *instance, unsigned kinds, struct fail *fail);

#endif
