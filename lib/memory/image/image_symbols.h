/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_IMAGE_SYMBOLS_H
#define WEFT_MEMORY_IMAGE_IMAGE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct memory;

/*
 * The kernel's own table of symbols, out of its memory (kernel/kallsyms.c, scripts/kallsyms.c). Kernels since 6.0 say
 * in VMCOREINFO where it is; older ones are searched for its shape.
 */
struct image_symbols {
	struct image_symbol {
		uint64_t address;
		uint32_t name; /* place in `names` */
		char type;
	} * items; /* in the table's order: by address */
	size_t nr;
	struct buf names; /* NUL-terminated each */
};

enum { IMAGE_SYMBOLS_MAX = 4 << 20, IMAGE_SYMBOL_NAME_MAX = 512 };

/* The caller calls image_symbols_release() also after an error. */
int must_check image_symbols_read(struct image_symbols *symbols, struct memory *memory, struct fail *fail);
void image_symbols_release(struct image_symbols *symbols);

static inline const char *image_symbol_name(const struct image_symbols *symbols, const struct image_symbol *symbol)
{
	return symbols->names.data + symbol->name;
}

/* The address of the first symbol of this name. */
bool image_symbol(const struct image_symbols *symbols, const char *name, uint64_t *ret);

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
