/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_ELF_SYMBOL_INTERNAL_H
#define WEFT_KERNEL_PROBE_ELF_SYMBOL_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct Elf;
struct fail;

/*
 * Opens a program or library for libelf. The caller gives *ret to elf_end() and then closes *ret_fd. After an error
 * *ret is NULL, and *ret_fd is -1 or a descriptor to close.
 */
int must_check elf_symbol_open(const char *path, int *ret_fd, struct Elf **ret, struct fail *fail);

/*
 * Finds the offset of a function in the file of a program or library. The kernel needs it for a probe of a user
 * function (PATH:OFFSET, Documentation/trace/uprobetracer.rst). Reads .symtab and .dynsym with libelf; a stripped file
 * has only the functions that it exports. `plus` is added to the function's address, in bytes. -ENOENT with similar
 * names: no such function. -ENOTUNIQ: several functions have that name. -EOPNOTSUPP: the function is an ifunc; its code
 * is chosen when the program starts and has another name.
 */
int must_check elf_symbol_offset(const char *path, const char *symbol, uint64_t plus, uint64_t *ret, struct fail *fail);

#endif
