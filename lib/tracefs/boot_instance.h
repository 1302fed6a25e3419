/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_BOOT_INSTANCE_H
#define WEFT_TRACEFS_BOOT_INSTANCE_H

#include <stdbool.h>

/*
 * Instances that the kernel made because its command line says so: trace_instance=NAME[=OTHER][^FLAG...][@MEMORY][,EVENT...], as often as
 * wanted. The memory of one may hold what the kernel before this one traced, and is lost for ever with the instance: weft never removes
 * or empties one unless it is named.
 */

/* Whether a command line, such as /proc/cmdline has it, asks for that instance. */
bool boot_instance_in(const char *cmdline, const char *name);
/* The same, of this kernel's; false when that cannot be read. */
bool boot_instance_is(const char *name);

#endif
