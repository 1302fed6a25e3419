/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_WITHHELD_SCAN_H
#define WEFT_KERNEL_TRACEFS_WITHHELD_SCAN_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct buf;

/*
 * What was withheld from tasks since the machine started, as the kernel counts it, as the lines of the setting
 * weft/withheld (weft-dat(5)): of each control group with a quota of CPU time how often and how long it was stopped
 * (cpu.stat), and of each CPU the time that a hypervisor took (/proc/stat), if it took any.
 */

/* What cannot be read is left out. False without memory. */
bool must_check withheld_scan(struct buf *into);

#endif
