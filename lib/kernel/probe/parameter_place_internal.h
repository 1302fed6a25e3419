/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_PARAMETER_PLACE_INTERNAL_H
#define WEFT_KERNEL_PROBE_PARAMETER_PLACE_INTERNAL_H

#include <stdbool.h>

/*
 * The register or stack slot of parameter `number` (from 1) when a function begins, as a probe fetches it, by the
 * calling convention of this machine; the names are those of regs_query_register_offset() in the kernel's
 * arch/X/kernel/ptrace.c. They are the kernel's, whose long has `long_size` bytes, not those of this program. `narrow`:
 * the function is in a program of 32 bits on a kernel of 64 bits. NULL: in no place that weft knows.
 */
const char *parameter_place(unsigned number, unsigned long_size, bool narrow);

/* Whether the file is a program of 32 bits. A file that cannot be read, or is no program, is none. */
bool program_is_narrow(const char *path);

#endif
