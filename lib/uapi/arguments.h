/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UAPI_ARGUMENTS_H
#define WEFT_UAPI_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct out;

/*
 * Arguments of system calls by the names that programs write: AT_FDCWD, O_RDONLY|O_CLOEXEC, SEEK_SET. The numbers are
 * those of most machines; where a machine has numbers of its own (mips, alpha, parisc, sparc) nothing is named, and
 * flags that differ between the others are left as numbers.
 */

/*
 * True, and the names, when the argument `name` of the call `call` ("openat") is one of those known, and the value has
 * a name.
 */
bool argument_put(const char *machine, const char *call, const char *name, uint64_t value, struct out *out);

#endif
