/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_ELF_FUNCTIONS_H
#define WEFT_KERNEL_PROBE_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The bytes of an ELF file. */
struct elf_image {
	const void *data;
	size_t len;
};

/*
 * The build-id of a program or library, as hexadecimal digits; "" if the bytes have none. A few bytes from the
 * beginning of the file are enough. It calls no library, so that it may look at any file with all rights.
 */
enum { BUILD_ID_TEXT = 129 };
void elf_build_id(const struct elf_image *file, char into[BUILD_ID_TEXT]);

/*
 * Adds a line "START SIZE NAME" for each function of a program or library, ascending: the place in the file and the
 * size are hexadecimal; names of C++ and Rust are readable if weft was built with libiberty. `debug` has the symbols
 * that were taken out of the file (a package *-dbgsym); its data may be NULL. It adds at most `most` bytes; *ret_cut:
 * there are more. False: no memory. The bytes are untrusted, and libelf reads them: call it in a sandbox.
 */
bool elf_functions_put(const struct elf_image *file, const struct elf_image *debug, size_t most, struct buf *into,
		       bool *ret_cut);

#endif
