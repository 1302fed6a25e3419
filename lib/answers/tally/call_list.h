/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TALLY_CALL_LIST_H
#define WEFT_ANSWERS_TALLY_CALL_LIST_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;

/*
 * The system calls of the traced machine: their numbers by its own table, and their arguments by the events of the
 * system `syscalls`, if the kernel or the file has them. Only `schema`, `machine` and `abi` of the context are used.
 */
struct call_row {
	int64_t number;        /* -1: the table has no call of this name */
	const char *name;      /* as programs name it */
	const char *arguments; /* "int dfd, const char * filename"; NULL: there is no event of this call */
};

/*
 * Calls `each` for each call, in the order of their numbers; then for events of calls that have no number. Stops at the
 * first value that is not 0, and returns it. The strings are valid during the call.
 */
int must_check call_list_each(const struct context *context, int (*each)(const struct call_row *row, void *data),
			      void *data, struct fail *fail);

#endif
