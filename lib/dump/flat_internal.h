/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_DUMP_FLAT_INTERNAL_H
#define WEFT_DUMP_FLAT_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/trace/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * A file as it would be after makedumpfile -R: a flattened one is a list of pieces, each with its place in the file
 * that it stands for (struct makedumpfile_data_header of makedumpfile, big-endian). The pieces come in any order, and
 * later ones replace what earlier ones wrote.
 */
struct flat {
	struct input input;
	bool flattened;
	struct flat_piece {
		uint64_t at, end; /* in the file that is meant */
		uint64_t from;    /* in the flattened file */
		uint64_t highest; /* the highest end of this piece and of those before it in the array */
		uint32_t number;  /* its place in the flattened file */
	} * pieces;               /* by `at` */
	size_t nr_pieces;
	uint64_t size; /* of the file that is meant */
};

/* The caller calls flat_release() also after an error. */
int must_check flat_open(struct flat *flat, int fd, const char *path, struct fail *fail);
void flat_release(struct flat *flat);

/*
 * The first place from here on that is not in a hole of a sparse file, or the end of the file; *ret_end: where the next
 * hole begins.
 */
uint64_t flat_data(const struct flat *flat, uint64_t at, uint64_t *ret_end);

/* Bytes that no piece wrote are 0. False: they are beyond the end, or cannot be read. */
bool flat_read(const struct flat *flat, uint64_t at, void *into, size_t len);

#endif
