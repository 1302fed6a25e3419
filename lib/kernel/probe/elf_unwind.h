/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_ELF_UNWIND_H
#define WEFT_KERNEL_PROBE_ELF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/kernel/probe/elf_functions.h"

struct buf;

/*
 * Adds a line "START SIZE RULES" for each piece of code of a program or library of x86-64 for which its .eh_frame says
 * how to find the caller, ascending, as lib/meaning/names/unwind.h reads them. Adds at most `most` bytes. False: no
 * memory. It calls no library; the bytes are untrusted.
 */
bool elf_unwind_put(const struct elf_image *file, size_t most, struct buf *into);

#endif
