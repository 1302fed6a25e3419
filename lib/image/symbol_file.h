/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMAGE_SYMBOL_FILE_H
#define WEFT_IMAGE_SYMBOL_FILE_H

#include "lib/base/cleanup.h"

struct fail;
struct image_symbols;
struct memory;

/*
 * Symbols that somebody has kept beside a kernel: a System.map, a copy of /proc/kallsyms, or a vmlinux (its .symtab).
 * They are moved to where the kernel is in memory (KASLR), by the address of _stext. `path` is for messages. The file
 * is of unknown origin: what cannot be read in it is left out, and memory is bounded by a cap.
 * -ENODATA: it has no symbols, or they are not of a kernel. The caller calls image_symbols_release() also after an
 * error.
 */
int must_check symbol_file_read(int fd, const char *path, const struct memory *memory, struct image_symbols *ret,
				struct fail *fail);

#endif
