/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_BOOT_RESET_H
#define WEFT_SETUP_BOOT_RESET_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>

struct fail;

/*
 * Brings all of tracefs to what it was at boot (boot.h): every other instance is removed (but for those of
 * the kernel's command line, which stay as they are: boot_instance.h), every setting of the top one put
 * to its boot value, buffers emptied, journals of weft thrown away, for what they know is no longer wanted. Dynamic events
 * (kprobes, uprobes, synthetic ones...) stay unless `probes`.
 * Nothing is remembered: there is no way back. Goes on after failures and returns the first; a process that still reads an instance
 * keeps it (-EBUSY names both).
 */
int must_check boot_reset(const struct tracing *tracing, bool probes, struct fail *fail);

#endif
