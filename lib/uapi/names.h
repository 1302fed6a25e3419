/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UAPI_NAMES_H
#define WEFT_UAPI_NAMES_H

#include <stdint.h>

/*
 * Names of the numbers that programs and the kernel exchange: system calls and errors. They depend on the machine that
 * was traced, which is given as `uname -m` names it, and never on the one that runs weft.
 */

/*
 * NULL when the number is none, or the machine is not known. The number tells which table of system calls it is from on
 * mips and for x32; nothing tells that a task calls by the 32-bit table of another 64-bit kernel: the name is then that
 * of the kernel's own table.
 */
const char *system_call_name(const char *machine, int64_t number);

/*
 * Of a positive number, as errno has it, and of those that only the kernel itself sees (ERESTARTSYS). NULL when there
 * is none.
 */
const char *error_name(const char *machine, int64_t error);

#endif
