/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_FIT_H
#define WEFT_GROUND_BASE_FIT_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;

/* An answer of so many bytes at most: rows are left out from the last one on, and all else of it stays whole. */
struct fit {
	/* Appends the answer with the first rows of each of its tables. With more rows it is not shorter. */
	int (*write)(void *arg, uint64_t rows, struct out *out, struct fail *fail);
	void *arg;
	uint64_t rows;      /* of the longest table */
	uint64_t max_bytes; /* 0: any number */
};

/*
 * Makes `out`, which is emptied, the answer with as many rows as fit; *ret_left_out is the number of rows that the
 * longest table lacks. -EMSGSIZE: no row at all does not fit.
 */
int must_check fit_write(const struct fit *fit, struct out *out, uint64_t *ret_left_out, struct fail *fail);

#endif
