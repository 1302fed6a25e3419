/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_ASSEMBLY_PIECE_INTERNAL_H
#define WEFT_KERNEL_RECORD_ASSEMBLY_PIECE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/* A CPU's pages may lie in several places if these are no spools to be given up. */
enum { ASSEMBLY_RUNS = 3 };

/*
 * A place of one CPU's pages before they are in the file: chunks or raw pages, in the form that they will have there.
 * Offset and size are in bytes.
 */
struct assembly_piece {
	uint32_t buffer, cpu;
	uint32_t run; /* orders the places of a CPU */
	int fd;
	uint64_t offset, size;
	uint32_t chunks;
	bool is_part; /* a spool that may be given up; false: a part of an unfinished output */
};

#endif
