/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_PERF_CALLER_INTERNAL_H
#define WEFT_IMPORT_PERF_CALLER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Makes the kernel's line of a stack, " => vfs_read" or " =>  <00007f3cd1dc35e0>", of one of perf script:
 * "	ffffffff8122ecb9 vfs_read+0x19 ([kernel.kallsyms])". The kernel's line has no offset, and no name of a program's
 * function. *ret_user: the caller is one of a program. Returns false if it is none, or when memory runs out.
 */
bool perf_caller(const char *line, size_t len, struct buf *ret, bool *ret_user);

#endif
