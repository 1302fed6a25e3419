/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_BOOT_H
#define WEFT_SETUP_BOOT_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;

/*
 * What the settings of an instance are when nobody has touched them since boot, and which of them differ.
 * The values are those of the initialisers in kernel/trace/trace.c, trace_hwlat.c, trace_osnoise.c, trace_stack.c and ring_buffer.c;
 * boot parameters (trace_event=, ftrace=...) count as somebody's touch. Files that a kernel does not have are passed by.
 */
enum boot_what {
	BOOT_SETTING,  /* a value or a list */
	BOOT_OPTION,   /* options/NAME: "1" or "0" */
	BOOT_SYSTEM,   /* events/SYSTEM/enable: "1", or "X" when some of its events are on */
	BOOT_EVENT,    /* events/SYSTEM/EVENT/enable of a system that is "X": "1", "1*", "0*" */
	BOOT_FILTER,   /* of an event */
	BOOT_TRIGGER,  /* of an event: all its lines */
	BOOT_DYNAMIC,  /* kprobe_events...: all their lines; of the top instance */
	BOOT_SNAPSHOT, /* the snapshot buffer is allocated */
	BOOT_SYSCTL,   /* /proc/sys/kernel/...; only with the top instance */
};

struct boot_difference {
	enum boot_what what;
	const char *file; /* relative to the instance; a whole path for BOOT_SYSCTL */
	const char *now;  /* the text of the file; lines that name nothing are left in */
	const char *boot; /* what control_restore() takes to bring it back */
};

/*
 * Calls `each` for every difference: settings and options, then events, filters, triggers, then what is dynamic. Stops at the
 * first non-zero that it returns. The strings are valid during the call only.
 */
int must_check boot_each(const struct instance *instance,
			 int (*each)(const struct boot_difference *difference, void *data), void *data,
			 struct fail *fail);

#endif
