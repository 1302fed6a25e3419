/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_ELF_SYMBOL_H
#define WEFT_PROBE_ELF_SYMBOL_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;

/*
 * Where a function of a program or library is in its file: what the kernel wants for a probe of a user function
 * (PATH:OFFSET, Documentation/trace/uprobetracer.rst). From .symtab and .dynsym, read by libelf; a stripped file has only
 * the functions that it exports.
 * -ENOENT: no such function; near names. -ENOTUNIQ: several functions of that name. -EOPNOTSUPP: the function is chosen when the
 * program starts (ifunc), its code stands under another name.
 */
int must_check elf_symbol_offset(const char *path, const char *symbol, uint64_t plus, uint64_t *ret, struct fail *fail);

#endif
