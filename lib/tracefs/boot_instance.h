/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TRACEFS_BOOT_INSTANCE_H
#define WEFT_TRACEFS_BOOT_INSTANCE_H

#include <stdbool.h>

/*
 * Instances that the kernel command line made: trace_instance=NAME[=OTHER][^FLAG...][@MEMORY][,EVENT...], which may be
 * given several times. Such an instance may hold the trace of the previous boot in reserved memory. That trace is lost
 * for ever when the instance is removed or emptied, so weft does so only if the user names the instance.
 */

/* Whether this command line (a text such as /proc/cmdline) makes that instance. */
bool boot_instance_in(const char *cmdline, const char *name);
/* The same for the command line of the running kernel. False if it cannot be read. */
bool boot_instance_is(const char *name);

#endif
