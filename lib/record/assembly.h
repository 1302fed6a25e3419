/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_ASSEMBLY_H
#define WEFT_RECORD_ASSEMBLY_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;
struct parts;

/*
 * Makes the trace.dat from the parts: the metadata, then the pages of each CPU, appended inside the kernel. It is written
 * in the directory of the parts, where nobody else can be, and takes the output's name when it is whole: what was there before
 * is replaced by nothing less. A spool is given up as soon as it is in the new file, so that the disk holds the data about
 * once, and the metadata says where its pages are now: a kill in between leaves what recovery needs. An output on another
 * filesystem is made there at once, under a random name, and no spool is given up before it is whole.
 */
struct assembly_piece {
	uint32_t buffer, cpu;
	int fd;
	uint64_t offset, size;
	uint32_t chunks;
	bool is_part; /* may be given up; otherwise a region of an unfinished output */
};

struct assembly_options {
	const char *output; /* "-": standard output */
	mode_t mode;        /* of a new file */
	bool keep;          /* an output that exists is not replaced: -EEXIST */
	bool synced;        /* what is given up is on the disk, not only in its cache */
};

/* On failure the parts remain. Sorts the pieces. */
int must_check assembly_write(struct parts *parts, struct assembly_piece *pieces, size_t nr,
			      const struct assembly_options *options, uint64_t *ret_size, struct fail *fail);

/* Writes what the metadata tells, without any pages, to an empty file. */
int must_check assembly_describe(struct parts *parts, int fd, struct fail *fail);

#endif
