/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_ASSEMBLY_INTERNAL_H
#define WEFT_KERNEL_RECORD_ASSEMBLY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/assembly_piece_internal.h"

struct fail;
struct parts;

/*
 * Makes the trace.dat from the parts: the metadata, then the pages of each CPU, which the kernel copies.
 *
 * The file is written in the directory of the parts, where no other user can write, and renamed to the output when it
 * is complete. So an existing output is replaced only by a complete file. A spool is given up as soon as its pages are
 * in the new file, so that the disk holds the data about once. The metadata then says where the pages are, so a kill in
 * between leaves everything that recovery needs. If the output is on another filesystem, the file is made there under a
 * random name, and no spool is given up before it is complete.
 */
struct assembly_options {
	const char *output; /* "-": standard output */
	mode_t mode;        /* of a new file */
	bool keep;          /* fail with -EEXIST instead of replacing an existing output */
	bool synced;        /* sync to disk before a spool is given up */
	struct stat *stat;  /* of a new file, by the descriptor that wrote it; NULL: nobody asks */
};

/* After an error the parts remain. Sorts the pieces by buffer and CPU. *ret_size: bytes of the file. */
int must_check assembly_write(struct parts *parts, struct assembly_piece *pieces, size_t nr,
			      const struct assembly_options *options, uint64_t *ret_size, struct fail *fail);

/* Writes the whole file into an open one, and opens nothing. The metadata must be loaded (ledger_load()). */
int must_check assembly_write_to(struct parts *parts, struct assembly_piece *pieces, size_t nr, int fd,
				 uint64_t *ret_size, struct fail *fail);

/* Writes the metadata without any pages to an empty file. */
int must_check assembly_describe(struct parts *parts, int fd, struct fail *fail);

#endif
