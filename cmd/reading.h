/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_READING_H
#define WEFT_CMD_READING_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct pool;
struct reader;
struct trace;

/* What the commands that read a recording share. */

/*
 * Opens the file. With `sandbox`, it then gives up all rights that reading does not need: nothing can be opened
 * afterwards.
 */
int must_check reading_open(const char *input, bool sandbox, struct trace **ret, struct fail *fail);

/* The second half of reading_open(), for a trace that is open but not read. After an error the trace is freed. */
int must_check reading_load(struct trace *trace, bool sandbox, struct trace **ret, struct fail *fail);

/*
 * Starts a reader of one trace with as many threads as pay. `in_batches`: only struct batches reads, as in pass_run().
 * The caller frees the pool after the reader; it is NULL where there is none.
 */
int must_check reading_start(struct reader *reader, struct trace *trace, bool in_batches, struct pool **ret_pool,
			     struct fail *fail);

/* A killed recording of this very name may hold what the reader is looking for: a note. */
void reading_tell_left_behind(const char *input);

#endif
