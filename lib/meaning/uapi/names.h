/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_UAPI_NAMES_H
#define WEFT_MEANING_UAPI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Names of the numbers that programs and the kernel exchange: system calls and errors. They depend on the machine that
 * was traced, which is given as `uname -m` names it, and never on the one that runs weft.
 */

/*
 * Returns NULL if there is no such number, or if the machine is unknown. On mips and for x32, the number itself shows
 * which table it belongs to. On other 64-bit kernels nothing shows that a task uses the 32-bit table: the name is then
 * that of the kernel's own table.
 */
const char *system_call_name(const char *machine, int64_t number);

/* Returns the lowest number with that name in the machine's own table, or -1. */
int32_t system_call_number(const char *machine, const char *name);

/*
 * Returns the name of a positive error number, as in errno, or of one that only the kernel itself uses (ERESTARTSYS).
 * NULL if there is none.
 */
const char *error_name(const char *machine, int64_t error);

/* The kernel's MAX_ERRNO: what fails returns -1 to -4095; no address is so close to the end of memory. */
enum { ERRNO_MAX = 4095 };

static inline bool returned_error(int64_t returned)
{
	return returned < 0 && returned >= -ERRNO_MAX;
}

/* Whether a call failed, as a program sees it: the errors that restart a call (-512 to -516) never reach one. */
static inline bool returned_failure(int64_t returned)
{
	return returned_error(returned) && (returned > -512 || returned < -516);
}

/* Whether what this call "returns" is a register that it restores, and no result. */
bool system_call_restores(const char *name);

#endif
